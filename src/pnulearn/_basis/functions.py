"""Basis functions φ(x): linear with an unpenalised intercept, or Gaussians around chosen centres."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.spatial.distance import pdist
from sklearn.metrics.pairwise import euclidean_distances

BANDWIDTH_FACTORS = (1 / 8, 1 / 4, 1 / 2, 1.0, 3 / 2, 2.0)
AUTO_CENTERS = 500
MEDIAN_ROWS = 1000


def dense(X: Any) -> NDArray:
    """Rows as an ordinary array."""
    return X.toarray() if sparse.issparse(X) else np.asarray(X)


def squared_distances(X: Any, centers: NDArray) -> NDArray:
    """|x − c|² of shape (n_rows, n_centers); the centres' mean is taken off first so that offsets cost no digits."""
    if sparse.issparse(X):
        return euclidean_distances(X, centers, squared=True)
    origin = centers.mean(axis=0)
    return euclidean_distances(X - origin, centers - origin, squared=True)


def gaussian(distances: NDArray, bandwidth: float) -> NDArray:
    """φ_j(x) = exp(−|x − c_j|² / (2 σ²)) from squared distances.

    >>> gaussian(np.array([[0.0, 2.0]]), bandwidth=1.0).round(3).tolist()
    [[1.0, 0.368]]
    """
    features = distances * (-0.5 / bandwidth**2)
    return np.exp(features, out=features)


@dataclass(frozen=True)
class LinearBasis:
    """φ(x) = x less an origin, with an unpenalised intercept."""

    origin: NDArray
    intercept = True
    bandwidths = np.array([np.nan])

    @property
    def size(self) -> int:
        return len(self.origin)

    def prepare(self, X: Any) -> NDArray:
        """All of the features' work that bandwidths share."""
        return dense(X) - self.origin

    def features(self, prepared: NDArray, index: int) -> NDArray:
        """Features under bandwidth number `index`, shape (n_rows, size)."""
        return prepared


@dataclass(frozen=True)
class GaussianBasis:
    """φ_j(x) = exp(−|x − c_j|² / (2 σ²)) for several bandwidths σ, without intercept."""

    centers: NDArray
    bandwidths: NDArray
    intercept = False

    @property
    def size(self) -> int:
        return len(self.centers)

    def prepare(self, X: Any) -> NDArray:
        """Squared distances, which all bandwidths share."""
        return squared_distances(X, self.centers)

    def features(self, prepared: NDArray, index: int) -> NDArray:
        """Features under bandwidth number `index`, shape (n_rows, size)."""
        return gaussian(prepared, float(self.bandwidths[index]))


Basis = LinearBasis | GaussianBasis


def median_distance(centers: NDArray) -> float:
    """The median distance between distinct centres (i < j), the unit of the bandwidth grid."""
    distances = pdist(centers[:MEDIAN_ROWS])
    positive = distances[distances > 0]
    if len(positive) == 0:
        raise ValueError(
            "All rows of X that can serve as centres are identical, so there is no distance to take a bandwidth from. "
            "Check the columns of X, or pass bandwidth=1.0."
        )
    median = float(np.median(distances))
    return median if median > 0 else float(np.median(positive))


def choose_centers(X: Any, is_labeled: NDArray, keys: NDArray, centers: str | int | ArrayLike) -> NDArray:
    """Centres as an array of shape (n_centers, n_features).

    Only distinct rows are used and they come in the order of `keys`, so neither the order of the rows nor how
    often a row is repeated matters.
    """
    if not isinstance(centers, str | int | np.integer):
        return _given_centers(centers, X.shape[1])
    distinct = np.unique(keys, return_index=True)[1]
    labeled = np.isin(keys[distinct], keys[is_labeled])
    if isinstance(centers, str):
        limit = {"auto": AUTO_CENTERS, "all": len(distinct), "labeled": int(labeled.sum())}.get(centers)
        if limit is None:
            raise ValueError(f"centers must be 'auto', 'labeled', 'all', a number or an array, got {centers!r}.")
    else:
        limit = _checked_number(int(centers), len(distinct))
    if len(distinct) > limit >= labeled.sum():  # keep every labelled row, fill up with random unlabelled ones
        distinct = np.concatenate([distinct[labeled], distinct[~labeled]])
    return dense(X[distinct[:limit]])


def _given_centers(centers: ArrayLike, n_features: int) -> NDArray:
    array = np.asarray(centers, dtype=float)
    if array.ndim != 2 or array.shape[1] != n_features or len(array) == 0:
        raise ValueError(f"centers must have shape (n_centers, {n_features}) to match X, got {array.shape}.")
    if not np.isfinite(array).all():
        raise ValueError("centers holds NaN or infinity.")
    return array


def _checked_number(centers: int, available: int) -> int:
    if centers < 1:
        raise ValueError(f"centers must be at least 1, got {centers}.")
    if centers > available:
        warnings.warn(
            f"centers={centers}, but X has {available} distinct rows: all are used.", UserWarning, stacklevel=2
        )
    return min(centers, available)
