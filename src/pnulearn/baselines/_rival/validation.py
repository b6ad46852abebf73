"""One judge for all rivals: folds, a held-out set, and the pooled PNU zero-one risk (section E.1)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import check_cv

from pnulearn._arrays import AnyArray
from pnulearn._learning.selection import SearchTable, Tally, membership
from pnulearn._problem.folds import assign_folds, read_pairs
from pnulearn._problem.labels import UNLABELED
from pnulearn._problem.row_keys import row_keys
from pnulearn.baselines._rival.grid import Axes


@dataclass(frozen=True)
class Split:
    """Rows to learn from, and the rows to be judged on."""

    train: AnyArray
    X_test: Any
    codes_test: AnyArray


def split_folds(X: Any, codes: AnyArray, cv: Any, seed: int) -> list[Split]:
    """Splits for a number of folds, a scikit-learn splitter, or an iterable of (train, test)."""
    return [Split(train, X[test], codes[test]) for train, test in _with_every_class(codes, _pairs(X, codes, cv, seed))]


def _pairs(X: Any, codes: AnyArray, cv: Any, seed: int) -> Iterator[tuple[AnyArray, AnyArray]]:
    if isinstance(cv, (int, np.integer)):
        fold = assign_folds(codes, int(cv), row_keys(X, seed))
        return ((np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(int(cv)))
    return iter(read_pairs(check_cv(cv, codes, classifier=True).split(X, codes), len(codes)))


def _with_every_class(
    codes: AnyArray, pairs: Iterator[tuple[AnyArray, AnyArray]]
) -> Iterator[tuple[AnyArray, AnyArray]]:
    """A class whose only rows would be held out stays in training: nothing can be learnt without it."""
    classes = np.unique(codes[codes != UNLABELED])
    for train, test in pairs:
        stay = np.isin(codes[test], np.setdiff1d(classes, codes[train]))
        yield np.concatenate([train, test[stay]]), test[~stay]


def judge(scores: Sequence[AnyArray], codes: AnyArray, shares: AnyArray) -> tuple[AnyArray, AnyArray]:
    """The pooled PNU risks of every candidate, zero-one and squared.

    Scores are cut at ±1 for the squared risk, so that it compares confidence and not the scale of the scores.
    """
    outputs = [np.atleast_2d(s.T) for s in scores]
    cut = np.clip(np.stack(outputs, axis=1)[:, :, None, :], -1, 1)
    population = np.flatnonzero(codes == UNLABELED)
    tally = Tally.of(cut, membership(codes, np.ones(len(codes)), len(shares), population))
    return tally.zero_one(shares)[:, 0], tally.squared(shares)[:, 0]


def tabulate(axes: Axes, zero_one: AnyArray, squared: AnyArray) -> SearchTable:
    """All weight on the least zero-one risk; ties, which few labels make the rule, go to the least squared risk."""
    shape = tuple(map(len, axes.values()))
    weight = np.zeros(len(zero_one))
    weight[np.lexsort((squared, zero_one.round(12)))[0]] = 1.0
    values = {name: np.array(axis, dtype=float) for name, axis in axes.items()}  # no bandwidth becomes NaN
    return SearchTable(values, zero_one.reshape(shape), squared.reshape(shape), weight.reshape(shape))
