"""One trial: labelled, unlabelled, validation and test rows drawn from a set at chosen class shares."""

from __future__ import annotations

import os
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn.laboratory.datasets import load_data

MOST_TEST_ROWS = 2000  # per class; adds at most 0.8 points of standard deviation to a trial's error, and saves hours


class TooFewRows(ValueError):
    """A set that is too small for a trial."""


@dataclass(frozen=True)
class Trial:
    """Rows of one trial. y holds 1, 0 or NaN (unlabelled); errors on test rows are weighted to `prior`."""

    X: AnyArray
    y: AnyArray
    X_val: AnyArray | None
    y_val: AnyArray | None
    X_test: AnyArray
    y_test: AnyArray
    prior: float
    seed: int

    def error(self, predicted: AnyArray) -> float:
        """θ × the error on positives + (1 − θ) × the error on negatives."""
        wrong = np.asarray(predicted) != self.y_test
        positive = self.y_test == 1
        return float(self.prior * wrong[positive].mean() + (1 - self.prior) * wrong[~positive].mean())


@lru_cache(maxsize=16)
def load_scaled(name: str, folder: str | os.PathLike[str] | None, download: bool = False) -> tuple[AnyArray, AnyArray]:
    """A set with every feature in [0, 1], and whether each row is positive.

    Pixels (uint8) are divided by 255 and stay float32, everything else is scaled by its own range.
    """
    X, y = load_data(name, folder, download)
    if X.dtype == np.uint8:
        return X.astype(np.float32) / 255, y == 1
    X = X.astype(float)
    low, spread = X.min(axis=0), np.ptp(X, axis=0)
    return (X - low) / np.where(spread > 0, spread, 1), y == 1


def generator(*key: Any) -> np.random.Generator:
    """A random generator that depends on nothing but the key.

    >>> bool(generator("banana", 10, 3).random() == generator("banana", 10, 3).random())
    True
    """
    return np.random.default_rng(zlib.crc32(repr(key).encode()))


def counts(n: int, share: float) -> tuple[int, int]:
    """Positives and negatives among n rows: 7 and 3 of 10 for a share of 0.7."""
    positive = round(n * share)
    return positive, n - positive


class Pools:
    """The positive and the negative rows of a set in random order, handed out once each."""

    def __init__(self, positive: AnyArray, rng: np.random.Generator):
        self._left = [rng.permutation(np.flatnonzero(positive)), rng.permutation(np.flatnonzero(~positive))]

    def take(self, n_positive: int, n_negative: int) -> tuple[AnyArray, AnyArray]:
        """Row numbers of fresh positives and negatives, and 1 or 0 for each."""
        wanted = (n_positive, n_negative)
        for kind, n, left in zip(("positive", "negative"), wanted, self._left, strict=True):
            if n > len(left):
                raise TooFewRows(f"needs {n} more {kind} rows, {len(left)} are left")
        rows = [left[:n] for n, left in zip(wanted, self._left, strict=True)]
        self._left = [left[n:] for n, left in zip(wanted, self._left, strict=True)]
        return np.concatenate(rows), np.repeat([1.0, 0.0], wanted)

    def rest(self, most: int = MOST_TEST_ROWS) -> tuple[AnyArray, AnyArray]:
        """What is left, at most so many rows per class, at least one."""
        sizes = [max(1, min(most, len(left))) for left in self._left]
        return self.take(sizes[0], sizes[1])


def draw_trial(
    X: AnyArray,
    positive: AnyArray,
    *,
    labeled: Sequence[int],
    unlabeled: Sequence[int],
    validation: Sequence[int] = (0, 0),
    prior: float,
    key: tuple[Any, ...],
) -> Trial:
    """Draw without replacement; labeled, unlabeled and validation are numbers of (positives, negatives)."""
    rng = generator(*key)
    pools = Pools(positive, rng)
    rows_labeled, y_labeled = pools.take(*labeled)
    rows_unlabeled, _ = pools.take(*unlabeled)
    rows_val, labels_val = pools.take(*validation)
    rows_test, y_test = pools.rest()
    train = np.concatenate([rows_labeled, rows_unlabeled])
    y = np.concatenate([y_labeled, np.full(len(rows_unlabeled), np.nan)])
    X_val, y_val = (X[rows_val], labels_val) if len(rows_val) else (None, None)
    return Trial(X[train], y, X_val, y_val, X[rows_test], y_test, prior, int(rng.integers(2**31)))
