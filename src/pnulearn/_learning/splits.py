"""Which rows are held out together when candidates are judged by cross-validation."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._learning.search import Split
from pnulearn._problem.folds import PNUStratifiedKFold, assign_folds
from pnulearn._problem.samples import Samples


def own_splits(cv: Any, codes: AnyArray, kept: AnyArray) -> list[Split]:
    """The user's splits of all rows, renumbered for the rows that are kept; none if cv is a number."""
    if isinstance(cv, numbers.Integral):
        return []
    if isinstance(cv, PNUStratifiedKFold):
        splits = cv.split_codes(codes)
    elif hasattr(cv, "split"):
        splits = cv.split(np.zeros(len(codes)), codes)
    else:
        splits = cv
    return [(np.flatnonzero(np.isin(kept, train)), np.flatnonzero(np.isin(kept, test))) for train, test in splits]


def content_splits(n_folds: int, samples: Samples, keys: AnyArray, classes: AnyArray, n_candidates: int) -> list[Split]:
    """Folds by the rows' content; none if there is nothing to choose and too little to validate with."""
    distinct = [len(np.unique(keys[samples.codes == code])) for code in range(samples.n_classes)]
    lonely = [name for name, count in zip(classes.tolist(), distinct, strict=True) if count == 1]
    if lonely and n_candidates == 1:
        return []
    if lonely:
        raise ValueError(
            f"Class {lonely[0]!r} has a single labelled row, too few to cross-validate. Label one more, pass "
            "X_val and y_val, or fix mix, alpha and bandwidth."
        )
    fold = assign_folds(samples.codes, min(n_folds, len(samples.codes)), keys, samples.weight)
    return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in np.unique(fold)]
