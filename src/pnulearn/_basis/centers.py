"""Which rows serve as centres of basis functions, and how far apart they are."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.spatial.distance import pdist

from pnulearn._arrays import AnyArray

AUTO_CENTERS = 500
MEDIAN_ROWS = 1000
ROUNDING = 1e-9  # of the largest distance: rows that are closer are equal


def dense(X: Any) -> AnyArray:
    """Rows as an ordinary array."""
    return X.toarray() if sparse.issparse(X) else np.asarray(X)


def median_distance(centers: AnyArray, metric: str = "euclidean") -> float:
    """The median distance between distinct centres (i < j), the unit of the bandwidth grid."""
    distances = pdist(centers[:MEDIAN_ROWS], metric)
    positive = distances[distances > ROUNDING * distances.max(initial=0)]
    if len(positive) == 0:
        raise ValueError(
            "All rows of X that can serve as centres are identical, so there is no distance to take a bandwidth from. "
            "Check the columns of X, or pass bandwidth=1.0."
        )
    return float(np.median(distances if 2 * len(positive) > len(distances) else positive))


def choose_centers(X: Any, is_labeled: AnyArray, keys: AnyArray, centers: str | int | ArrayLike) -> AnyArray:
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


def _given_centers(centers: ArrayLike, n_features: int) -> AnyArray:
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
