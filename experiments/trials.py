"""What an experiment is, and how one trial draws its labelled, unlabelled, validation and test rows."""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from experiments.datasets import load_data

MOST_TEST_ROWS = 2000  # per class; adds at most 0.8 points of standard deviation to a trial's error, and saves hours

Cell = dict[str, Any]  # what tells one trial from another: set, size, trial number
Row = dict[str, Any]  # a cell, the method, and what was measured


class TooFewRows(ValueError):
    """A set that is too small for a trial."""


@dataclass(frozen=True)
class Settings:
    """What every trial of a run shares."""

    data: str | None = None
    download: bool = False
    plugins: tuple[str, ...] = ()
    n_jobs: int = 1


@dataclass(frozen=True)
class Experiment:
    """A table or figure of the paper.

    sets, trials and methods are the full run, the quick ones a run of minutes that needs no data folder. `cells` lists
    trials, `run` gives one row per method of a trial, `write` turns rows into files named after the stem it is given.
    `rows_of` names another experiment whose rows are drawn. `one_process` keeps trials from disturbing each other's
    times.
    """

    title: str
    sets: tuple[str, ...]
    quick_sets: tuple[str, ...]
    trials: int
    quick_trials: int
    methods: tuple[str, ...]
    quick_methods: tuple[str, ...]
    cells: Callable[[Sequence[str], int], Iterator[Cell]]
    run: Callable[[Cell, Sequence[str], Settings], Iterator[Row]]
    write: Callable[[Iterable[Row], Path, str], list[Path]]
    rows_of: str = ""
    one_process: bool = False


@dataclass(frozen=True)
class Trial:
    """Rows of one trial. y holds 1, 0 or NaN (unlabelled); errors on test rows are weighted to `prior`."""

    X: np.ndarray
    y: np.ndarray
    X_val: np.ndarray | None
    y_val: np.ndarray | None
    X_test: np.ndarray
    y_test: np.ndarray
    prior: float
    seed: int

    def error(self, predicted: np.ndarray) -> float:
        """Prior-weighted error on the test rows."""
        return weighted_error(predicted, self.y_test, self.prior)


def weighted_error(predicted: np.ndarray, y: np.ndarray, prior: float) -> float:
    """θ × the error on positives + (1 − θ) × the error on negatives."""
    wrong, positive = np.asarray(predicted) != y, y == 1
    return float(prior * wrong[positive].mean() + (1 - prior) * wrong[~positive].mean())


@lru_cache(maxsize=16)
def load_scaled(
    name: str, folder: str | os.PathLike[str] | None, download: bool = False
) -> tuple[np.ndarray, np.ndarray]:
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
    """A random generator seeded by the key alone.

    >>> bool(generator("banana", 10, 3).random() == generator("banana", 10, 3).random())
    True
    """
    return np.random.default_rng(zlib.crc32(repr(key).encode()))


def counts(n: int, share: float) -> tuple[int, int]:
    """Positives and negatives among n rows: 7 and 3 of 10 for a share of 0.7."""
    positive = round(n * share)
    return positive, n - positive


class Pools:
    """The positive and the negative rows of a set in random order, drawn without replacement."""

    def __init__(self, positive: np.ndarray, rng: np.random.Generator):
        self._left = [rng.permutation(np.flatnonzero(positive)), rng.permutation(np.flatnonzero(~positive))]

    def take(self, n_positive: int, n_negative: int) -> tuple[np.ndarray, np.ndarray]:
        """Row numbers of fresh positives and negatives, and 1 or 0 for each."""
        wanted = (n_positive, n_negative)
        for kind, n, left in zip(("positive", "negative"), wanted, self._left, strict=True):
            if n > len(left):
                raise TooFewRows(f"needs {n} more {kind} rows, {len(left)} are left")
        rows = [left[:n] for n, left in zip(wanted, self._left, strict=True)]
        self._left = [left[n:] for n, left in zip(wanted, self._left, strict=True)]
        return np.concatenate(rows), np.repeat([1.0, 0.0], wanted)

    def rest(self, most: int = MOST_TEST_ROWS) -> tuple[np.ndarray, np.ndarray]:
        """What is left, at most so many rows per class, at least one."""
        sizes = [max(1, min(most, len(left))) for left in self._left]
        return self.take(sizes[0], sizes[1])


def draw_trial(
    X: np.ndarray,
    positive: np.ndarray,
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
