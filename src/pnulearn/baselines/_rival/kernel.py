"""Kernel matrices, dense or sparse rows alike, and the paper's bandwidth candidates."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.metrics.pairwise import linear_kernel

from pnulearn._basis.centers import MEDIAN_ROWS, dense, median_distance
from pnulearn._basis.gaussian import BANDWIDTH_FACTORS, gaussian, squared_distances
from pnulearn._machine.memory import free_memory

KERNELS = ("rbf", "linear")


def gram(kernel: str, X: Any, centers: Any, bandwidth: float | None) -> NDArray:
    """k(x, c) for every row and centre: exp(−|x − c|² / (2σ²)), or x'c for the linear kernel.

    >>> gram("rbf", np.array([[0.0], [1.0]]), np.array([[0.0]]), 1.0).round(3).tolist()
    [[1.0], [0.607]]
    """
    if X.shape[0] == 0:
        return np.empty((0, centers.shape[0]))
    if sparse.issparse(centers):
        X = sparse.csr_matrix(X)
    if kernel == "linear":
        return np.asarray(linear_kernel(X, centers, dense_output=True))
    if bandwidth is None:
        raise ValueError("The rbf kernel needs a bandwidth.")
    return gaussian(squared_distances(X, centers), bandwidth)


def bandwidth_candidates(X: Any, seed: int = 0) -> NDArray:
    """The median distance between rows (of a random thousand, if there are more) times 1/8, 1/4, 1/2, 1, 3/2 and 2."""
    if X.shape[0] > MEDIAN_ROWS:
        X = X[np.sort(np.random.default_rng(seed).choice(X.shape[0], MEDIAN_ROWS, replace=False))]
    return median_distance(dense(X)) * np.array(BANDWIDTH_FACTORS)


def refuse_beyond_memory(n_rows: int) -> None:
    """A kernel method needs about four n × n matrices: say so before the machine runs out."""
    needed = 4 * n_rows**2 * 8
    free = free_memory()
    if needed > free:
        raise ValueError(
            f"{n_rows} rows need about {needed / 1e9:.0f} GB for kernel matrices and "
            f"{free / 1e9:.1f} GB are free. Take a random part of the unlabelled rows."
        )
