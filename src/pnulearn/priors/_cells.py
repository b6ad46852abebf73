"""The class prior from rows that take few different values: verdicts, grades, a few categories."""

from __future__ import annotations

from typing import Any

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._intervals.post_stratification import mixture_mass
from pnulearn._problem.labels import UNLABELED
from pnulearn._problem.row_keys import LABELS_PER_CELL, MOST_CELLS, row_keys
from pnulearn.priors._estimate import PriorEstimate
from pnulearn.priors._groups import KEY_SEED

FIRST_ROWS = 200


def cell_prior(X: Any, codes: AnyArray, weight: AnyArray | None, confidence: float) -> PriorEstimate | None:
    """Class prior of two classes from the shares of every distinct row in P, N and U; None if these are too many.

    With one binary column this is the confusion-matrix method (adjusted count, Rogan and Gladen) with an interval that
    is wide if the column does not tell the classes apart.

    >>> X = np.repeat([1, 0, 1, 0, 1, 0], [45, 5, 10, 40, 600, 400]).reshape(-1, 1)
    >>> print(cell_prior(X, np.repeat([1, 0, -1], [50, 50, 1000]), None, 0.9))
    0.57 [0.48, 0.66] (cells, 90% interval)
    """
    weight = np.ones(len(codes)) if weight is None else np.asarray(weight, dtype=float)
    kept = np.flatnonzero(weight > 0)
    X, codes, weight = X[kept], codes[kept], weight[kept]
    cell = _cells(X, min(MOST_CELLS, int(np.sum(codes != UNLABELED)) // LABELS_PER_CELL))
    if cell is None or not cell.any():
        return None
    counts = [_effective_counts(cell, weight, codes == code) for code in (1, 0, UNLABELED)]
    mass, best = mixture_mass(*counts)
    return PriorEstimate(best, "cells", best, confidence, mass)


def _cells(X: Any, most: int) -> AnyArray | None:
    """Number of the distinct row that each row is, up to rounding; None if there are more than `most` of them."""
    for some in (X[:FIRST_ROWS], X):  # most tables are told by a few rows
        values, cell = np.unique(row_keys(some, KEY_SEED), return_inverse=True)
        if len(values) > most:
            return None
    return cell


def _effective_counts(cell: AnyArray, weight: AnyArray, rows: AnyArray) -> AnyArray:
    """Rows by cell; weights of one or more count copies, smaller ones only compare rows."""
    w = weight[rows]
    size = float(w.sum() ** 2 / np.minimum(w, w**2).sum())
    return np.bincount(cell[rows], weights=w, minlength=int(cell.max()) + 1) * size / w.sum()
