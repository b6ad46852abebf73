"""Problems on which the last bit of a number could decide: ties, repeated and near-repeated rows, few labels.

All are generated or come with scikit-learn, so that every machine has the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn import datasets

UNLABELED = np.nan


@dataclass(frozen=True)
class Problem:
    """Rows to learn from, their labels (NaN where missing), rows to score, and the class prior of both."""

    X: NDArray
    y: NDArray
    X_new: NDArray
    prior: float


PROBLEMS: dict[str, Callable[[], Problem]] = {}


def problem(function: Callable[[], tuple[NDArray, NDArray, int]]) -> Callable[[], Problem]:
    """Register a function that returns rows, their classes (0 or 1) and how many of them are labelled."""

    def build() -> Problem:
        X, truth, n_labeled = function()
        n_new = len(X) // 5
        y = truth[n_new:].astype(float)
        y[n_labeled:] = UNLABELED
        return Problem(X[n_new:], y, X[:n_new], float(truth.mean()))

    PROBLEMS[function.__name__] = build
    return build


def _classes(rng: np.random.Generator, n: int, share: float = 0.5) -> NDArray:
    """Random classes, the first rows alternating so that every class has labels."""
    truth = (rng.random(n) < share).astype(int)
    truth[n // 5 : n // 5 + 20] = np.arange(20) % 2
    return truth


def _gaussians(n: int, d: int, seed: int, gap: float = 1.5) -> tuple[NDArray, NDArray]:
    rng = np.random.default_rng(seed)
    truth = _classes(rng, n)
    return rng.normal(size=(n, d)) + gap * truth[:, None] * np.eye(1, d), truth


def _bundled(name: str, n: int, n_labeled: int) -> tuple[NDArray, NDArray, int]:
    X, truth = getattr(datasets, f"load_{name}")(return_X_y=True)
    rows = np.random.default_rng(0).permutation(np.flatnonzero(truth < 2))[:n]
    return X[rows], truth[rows], n_labeled


@problem
def gaussians():
    return *_gaussians(200, 3, 0), 20


@problem
def few_labels():
    return *_gaussians(150, 4, 1), 4


@problem
def one_label_of_a_class():
    X, truth = _gaussians(150, 2, 2)
    truth[30:40] = [1, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    return X, truth, 10


@problem
def one_column():
    return *_gaussians(150, 1, 3), 20


@problem
def one_binary_column():
    rng = np.random.default_rng(4)
    truth = _classes(rng, 150)
    return np.where(rng.random(150) < 0.85, truth, 1 - truth)[:, None].astype(float), truth, 20


@problem
def binary_columns():
    rng = np.random.default_rng(5)
    truth = _classes(rng, 200)
    return (rng.random((200, 6)) < 0.3 + 0.3 * truth[:, None]).astype(float), truth, 30


@problem
def discrete_columns():
    """Small integers, as in questionnaires."""
    rng = np.random.default_rng(6)
    truth = _classes(rng, 240)
    return rng.binomial(4, 0.35 + 0.25 * truth[:, None], size=(240, 5)).astype(float), truth, 40


@problem
def discrete_and_continuous_columns():
    """As in a screening: an age, and grades from one to five."""
    rng = np.random.default_rng(7)
    truth = _classes(rng, 240)
    grades = rng.binomial(4, 0.3 + 0.3 * truth[:, None], size=(240, 4))
    return np.column_stack([np.round(50 + 12 * truth + 12 * rng.normal(size=240)), grades]).astype(float), truth, 40


@problem
def one_hot_columns():
    rng = np.random.default_rng(8)
    truth = _classes(rng, 200)
    codes = np.where(rng.random((200, 3)) < 0.5, truth[:, None], rng.integers(0, 4, size=(200, 3)))
    return (codes[:, :, None] == np.arange(4)).reshape(200, -1).astype(float), truth, 30


@problem
def repeated_rows():
    X, truth = _gaussians(80, 3, 9)
    return np.tile(X, (3, 1)), np.tile(truth, 3), 60


@problem
def near_repeated_rows():
    """Every row twice, the copy with noise of 1e-13."""
    X, truth = _gaussians(100, 3, 10)
    copy = X + 1e-13 * np.random.default_rng(0).normal(size=X.shape)
    return np.stack([X, copy], axis=1).reshape(-1, 3), np.repeat(truth, 2), 40


@problem
def constant_column():
    X, truth = _gaussians(150, 3, 11)
    return np.column_stack([X, np.full(len(X), 0.1)]), truth, 20


@problem
def nearly_constant_column():
    X, truth = _gaussians(150, 2, 12)
    return np.column_stack([X, 0.1 + 1e-15 * (np.arange(len(X)) % 3)]), truth, 20


@problem
def equal_columns():
    X, truth = _gaussians(150, 2, 13)
    return np.column_stack([X, X[:, 0], X[:, 1]]), truth, 20


@problem
def symmetric_rows():
    """A grid around zero: distances tie in every direction."""
    steps = np.arange(-3.0, 4.0)
    X = np.array([[a, b] for a in steps for b in steps for _ in range(3)])
    rng = np.random.default_rng(14)
    order = rng.permutation(len(X))
    truth = (X[order].sum(axis=1) + rng.normal(size=len(X)) > 0).astype(int)
    truth[len(X) // 5 : len(X) // 5 + 2] = [0, 1]
    return X[order], truth, 30


@problem
def classes_without_overlap():
    return *_gaussians(150, 2, 15, gap=8.0), 20


@problem
def classes_without_difference():
    return *_gaussians(150, 2, 16, gap=0.0), 20


@problem
def long_tails():
    """Money and counts: columns of other scales, most cells zero."""
    rng = np.random.default_rng(17)
    truth = _classes(rng, 200)
    money = np.round(np.exp(rng.normal(size=200) * 2 + truth + 3), 2)
    counts = rng.poisson(0.5 + truth)
    return np.column_stack([money, counts, 1000 * rng.normal(size=200)]), truth, 30


@problem
def more_columns_than_rows():
    return *_gaussians(100, 150, 18, gap=4.0), 20


@problem
def rows_far_from_zero():
    X, truth = _gaussians(150, 2, 19)
    return X + 1e5, truth, 20


@problem
def breast_cancer():
    return _bundled("breast_cancer", 300, 40)


@problem
def digits():
    return _bundled("digits", 200, 20)


@problem
def iris():
    return _bundled("iris", 100, 10)


@problem
def wine():
    return _bundled("wine", 130, 20)
