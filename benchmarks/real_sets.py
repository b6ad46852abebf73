"""Real data sets for the benchmarks, where the folder PNULEARN_DATA has them (npz files with X and y)."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from sklearn.preprocessing import minmax_scale


def real_set(name: str) -> tuple[np.ndarray, np.ndarray] | None:
    """Rows scaled to [0, 1] and labels ±1, or None if the set is not at hand."""
    file = Path(os.environ.get("PNULEARN_DATA", "")) / f"{name}.npz"
    if "PNULEARN_DATA" not in os.environ or not file.is_file():
        return None
    with np.load(file) as data:
        return minmax_scale(data["X"].astype(float)), data["y"].astype(int)


def real_or_gaussian_set(name: str, dimension: int) -> tuple[np.ndarray, np.ndarray]:
    """The named set if it is at hand, else two Gaussian classes in as many dimensions."""
    found = real_set(name)
    if found is not None:
        return found
    print(f"{name}: not at hand (set PNULEARN_DATA to a folder with {name}.npz), generated data instead")
    rng = np.random.default_rng(0)
    y = rng.choice([-1, 1], size=1000)
    return minmax_scale(rng.normal(size=(1000, dimension)) + 0.5 * y[:, None]), y


def partly_labeled(X: np.ndarray, y: np.ndarray, unlabeled: float = 0) -> tuple[np.ndarray, np.ndarray]:
    """35 + 15 labelled and 150 + 150 unlabelled rows, as in the paper; `unlabeled` marks the latter."""
    rng = np.random.default_rng(0)
    positive, negative = (rng.permutation(np.flatnonzero(y == label)) for label in (1, -1))
    rows = np.concatenate([positive[:35], negative[:15], positive[35:185], negative[15:165]])
    return X[rows], np.repeat([1, -1, unlabeled], [35, 15, 300])
