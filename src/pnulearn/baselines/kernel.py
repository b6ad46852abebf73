"""Kernel matrices and the paper's bandwidth candidates."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.metrics.pairwise import euclidean_distances, linear_kernel, rbf_kernel

BANDWIDTH_FACTORS = (1 / 8, 1 / 4, 1 / 2, 1.0, 3 / 2, 2.0)
KERNELS = ("rbf", "linear")
LARGEST_MEDIAN = 2000  # rows; a median of two million distances moves no candidate


def gram(kernel: str, X: Any, centers: Any, bandwidth: float | None) -> NDArray:
    """k(x, c) for every row and centre: exp(−|x − c|² / (2σ²)), or x'c for the linear kernel.

    >>> gram("rbf", np.array([[0.0], [1.0]]), np.array([[0.0]]), 1.0).round(3).tolist()
    [[1.0], [0.607]]
    """
    if kernel == "linear":
        return np.asarray(linear_kernel(X, centers, dense_output=True))
    if bandwidth is None:
        raise ValueError("The rbf kernel needs a bandwidth.")
    if not sparse.issparse(centers):
        # Distances do not change under a shift, and small numbers keep the digits that a large offset would eat.
        middle = centers.mean(axis=0)
        centers = centers - middle
        X = np.asarray(X - middle)
    return rbf_kernel(X, centers, gamma=1 / (2 * bandwidth**2))


def median_distance(X: Any, seed: int = 0) -> float:
    """The median distance between two different rows; of the non-zero distances if that is zero."""
    if X.shape[0] > LARGEST_MEDIAN:
        X = X[np.sort(np.random.default_rng(seed).choice(X.shape[0], LARGEST_MEDIAN, replace=False))]
    if not sparse.issparse(X):
        X = X - X.mean(axis=0)
    distances = euclidean_distances(X)[np.triu_indices(X.shape[0], k=1)]
    median = float(np.median(distances)) if distances.size else 0.0
    if median == 0 and distances.any():
        median = float(np.median(distances[distances > 0]))
    return median


def bandwidth_candidates(X: Any, seed: int = 0) -> NDArray:
    """The paper's candidates: the median distance times 1/8, 1/4, 1/2, 1, 3/2 and 2."""
    median = median_distance(X, seed)
    if median == 0:
        raise ValueError(
            f"All {X.shape[0]} rows of X are identical, so no bandwidth can be read off them. "
            "Check the columns of X, or pass bandwidth=1.0."
        )
    return median * np.array(BANDWIDTH_FACTORS)


def refuse_beyond_memory(n_rows: int) -> None:
    """A kernel method needs about four n × n matrices: say so before the machine runs out."""
    needed = 4 * n_rows**2 * 8
    installed = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else np.inf
    if needed > installed:
        raise ValueError(
            f"{n_rows} rows need about {needed / 1e9:.0f} GB for kernel matrices and this machine has "
            f"{installed / 1e9:.0f} GB. Take a random part of the unlabelled rows."
        )
