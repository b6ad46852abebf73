"""Small fixed data for the golden numbers: generated, or bundled with scikit-learn."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import datasets
from sklearn.preprocessing import minmax_scale


@dataclass(frozen=True)
class Problem:
    """Rows to learn from, most of them unlabelled (NaN), the truth about them, and a few new rows."""

    X: NDArray
    y: NDArray
    truth: NDArray
    X_new: NDArray
    truth_new: NDArray
    prior: Any = 0.4

    def named(self, *names: str) -> NDArray:
        """Labels as words, None where they are missing."""
        return np.array([None if np.isnan(label) else names[int(label)] for label in self.y], dtype=object)


@cache
def gaussians(n_labeled: int = 20, n_unlabeled: int = 80, n_classes: int = 2, seed: int = 0) -> Problem:
    """Overlapping Gaussian classes in three dimensions; 40 % positives in U if there are two."""
    rng = np.random.default_rng(seed)
    shares = np.array([0.6, 0.4]) if n_classes == 2 else np.full(n_classes, 1 / n_classes)
    codes = np.arange(n_labeled) % n_classes
    truth = np.concatenate([codes, rng.choice(n_classes, p=shares, size=n_unlabeled + 12)]).astype(float)
    places = rng.normal(size=(n_classes, 3)) * 1.5
    X = rng.normal(size=(len(truth), 3)) + places[truth.astype(int)]
    prior = 0.4 if n_classes == 2 else {float(code): 1 / n_classes for code in range(n_classes)}
    return _split(X, truth, n_labeled, prior)


@cache
def bundled(name: str, n_labeled: int, n_unlabeled: int, n_classes: int) -> Problem:
    """The first classes of a set that comes with scikit-learn, shuffled and scaled to [0, 1]."""
    X, truth = getattr(datasets, f"load_{name}")(return_X_y=True)
    kept = np.flatnonzero(truth < n_classes)
    rows = np.random.default_rng(0).permutation(kept)[: n_labeled + n_unlabeled + 12]
    truth = truth[rows].astype(float)
    shares = np.bincount(truth.astype(int)) / len(truth)
    prior = float(shares[1]) if n_classes == 2 else dict(enumerate(shares.tolist()))
    return _split(minmax_scale(X[kept])[np.searchsorted(kept, rows)], truth, n_labeled, prior)


def _split(X: NDArray, truth: NDArray, n_labeled: int, prior: Any) -> Problem:
    y = truth[:-12].copy()
    y[n_labeled:] = np.nan
    return Problem(X[:-12], y, truth[:-12], X[-12:], truth[-12:], prior)


def messy_table(decimal: str = ".") -> str:
    """A CSV of customers: a category, missing cells of two kinds, a constant column, half-empty labels."""
    rng = np.random.default_rng(3)
    separator = ";" if decimal == "," else ","
    lines = [["id", "age", "income", "town", "country", "bought"]]
    for number in range(140):
        bought = rng.random() < 0.4
        age = f"{30 + 15 * bought + 8 * rng.normal():.1f}" if rng.random() > 0.1 else ""
        income = f"{2000 + 900 * bought + 600 * rng.normal():.2f}" if rng.random() > 0.1 else "NA"
        town = str(rng.choice(["Oslo", "Bergen", "Tromsø"], p=[0.6, 0.3, 0.1] if bought else [0.2, 0.4, 0.4]))
        label = ("yes" if bought else "no") if number < 50 else ""
        cells = [age.replace(".", decimal), income.replace(".", decimal)]
        lines.append([f"c{number:03d}", *cells, town, "NO", label])
    return "\n".join(separator.join(line) for line in lines) + "\n"
