"""Kernel matrices of rivals, and the bandwidths to try."""

from __future__ import annotations

from typing import Any

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._basis.around import MEDIAN_ROWS
from pnulearn._basis.basis import dense
from pnulearn._basis.kernels import KERNELS
from pnulearn._machine.memory import free_memory


def gram(kernel: str, X: Any, centers: Any, bandwidth: float | None) -> AnyArray:
    """k(x, c) for every row and centre.

    >>> gram("rbf", np.array([[0.0], [1.0]]), np.array([[0.0]]), 1.0).round(3).tolist()
    [[1.0], [0.607]]
    """
    if X.shape[0] == 0:
        return np.empty((0, centers.shape[0]))
    return KERNELS[kernel].gram(X, centers, np.nan if bandwidth is None else bandwidth)


def bandwidth_candidates(kernel: str, X: Any, seed: int = 0) -> AnyArray:
    """The kernel's grid for these rows, or for a random thousand if there are more."""
    if X.shape[0] > MEDIAN_ROWS:
        X = X[np.sort(np.random.default_rng(seed).choice(X.shape[0], MEDIAN_ROWS, replace=False))]
    return KERNELS[kernel].grid(dense(X))


def refuse_beyond_memory(n_rows: int) -> None:
    """A kernel method needs about four n × n matrices: say so before the machine runs out."""
    needed = 4 * n_rows**2 * 8
    free = free_memory()
    if needed > free:
        raise ValueError(
            f"{n_rows} rows need about {needed / 1e9:.0f} GB for kernel matrices and "
            f"{free / 1e9:.1f} GB are free. Take a random part of the unlabelled rows."
        )
