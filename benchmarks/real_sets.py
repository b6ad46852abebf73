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
