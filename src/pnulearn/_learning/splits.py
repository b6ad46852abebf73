"""Which rows are held out together when candidates are judged by cross-validation."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._learning.search import Split
from pnulearn._problem.folds import PNUStratifiedGroupKFold, PNUStratifiedKFold, assign_folds, read_pairs
from pnulearn._problem.samples import Samples

NEVER = -1  # the fold of rows that are not held out


def own_splits(
    cv: Any, codes: AnyArray, kept: AnyArray, groups: AnyArray | None = None, seed: int | None = None
) -> list[Split]:
    """The user's splits of all rows, renumbered for the rows that are kept; none if cv is a number, without groups."""
    if isinstance(cv, numbers.Integral):
        if groups is None:
            return []
        cv = PNUStratifiedGroupKFold(int(cv), random_state=seed)
    if isinstance(cv, PNUStratifiedKFold):
        splits = cv.split_codes(codes) if groups is None else cv.split_groups(codes, groups)
    elif hasattr(cv, "split"):
        splits = cv.split(np.zeros(len(codes)), codes, groups)
    elif groups is not None:
        raise ValueError("groups and given splits exclude each other: pass cv as a number or a splitter with groups=.")
    else:
        splits = cv
    pairs = read_pairs(splits, len(codes))
    return [(np.flatnonzero(np.isin(kept, train)), np.flatnonzero(np.isin(kept, test))) for train, test in pairs]


def content_splits(n_folds: int, samples: Samples, keys: AnyArray, classes: AnyArray, n_candidates: int) -> list[Split]:
    """Folds by the rows' content; none if there is nothing to choose and too little to validate with.

    A class with a single labelled row keeps it in every training part, and is judged by U and the other classes.
    """
    distinct = [len(np.unique(keys[samples.codes == code])) for code in range(samples.n_classes)]
    lonely = [code for code, count in enumerate(distinct) if count == 1]
    if lonely and n_candidates == 1:
        return []
    if lonely:
        _refuse_unless_judged(classes[lonely].tolist(), distinct, len(samples.population))
    fold = assign_folds(samples.codes, min(n_folds, len(samples.codes)), keys, samples.weight)
    fold[np.isin(samples.codes, lonely)] = NEVER
    return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in np.unique(fold[fold != NEVER])]


def _refuse_unless_judged(lonely: list[Any], distinct: list[int], n_population: int) -> None:
    """A class may go without validation if U and another class have rows to hold out."""
    if n_population > 1 and max(distinct) > 1:
        return
    missing = "no other class has more" if n_population > 1 else "there are no unlabelled rows to judge it by"
    raise ValueError(
        f"Class {lonely[0]!r} has a single labelled row, too few to cross-validate, and {missing}. Label one more, "
        "pass X_val and y_val, or fix mix, alpha and bandwidth."
    )


def never_held_out(codes: AnyArray, splits: list[Split]) -> AnyArray:
    """Classes all of whose rows every split trains on.

    >>> never_held_out(np.array([1, 0, 0]), [(np.array([0, 1]), np.array([2])), (np.array([0, 2]), np.array([1]))])
    array([1])
    """
    held_out = [np.unique(codes[test]) for _, test in splits]
    return np.setdiff1d(codes[codes >= 0], np.concatenate(held_out)) if splits else np.zeros(0, dtype=int)
