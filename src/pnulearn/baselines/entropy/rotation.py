"""Features in orthogonal coordinates, no more of them than the rows span."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg, sparse

from pnulearn._arrays import AnyArray

ROUNDING = 1e-12  # relative to the largest entry, by which a kernel matrix may differ from its transpose
SMALLEST = 1e-10  # directions shorter than this, relative to the longest, are rounding


@dataclass(frozen=True)
class Rotated:
    """Coordinates Z = ΦQ with Z'Z diagonal: `lengths` are the norms of its columns, longest first; Q (b, k) is
    orthonormal."""

    coordinates: AnyArray
    lengths: AnyArray
    basis: Any

    def lift(self, coefficients: AnyArray) -> AnyArray:
        """Coefficients of the original features; their norm is unchanged."""
        return np.asarray(self.basis @ coefficients)

    def lower(self, coefficients: AnyArray) -> AnyArray:
        """What `lift` would turn into these coefficients of the original features, but for what the rows do not see."""
        return np.asarray(self.basis.T @ coefficients)


def rotate(features: Any) -> Rotated:
    """Dense or sparse features, tall or wide: one eigendecomposition of the smaller Gram matrix.

    >>> rotated = rotate(np.array([[3.0, 0.0, 4.0], [6.0, 0.0, 8.0]]))
    >>> rotated.coordinates.shape, np.abs(rotated.basis).round(2).tolist()
    ((2, 1), [[0.6], [0.0], [0.8]])
    """
    n, b = features.shape
    if n == b and not sparse.issparse(features) and _symmetric(features):
        # A kernel matrix: no need to square it.
        values, vectors = linalg.eigh(features, check_finite=False, driver="evd")
        return _keep(vectors * values, np.abs(values), vectors)
    product = features.T @ features if b <= n else features @ features.T
    dense = product.toarray() if sparse.issparse(product) else product
    squares, vectors = linalg.eigh(dense, check_finite=False, driver="evd")
    lengths = np.sqrt(np.maximum(squares, 0))
    if b <= n:
        return _keep(np.asarray(features @ vectors), lengths, vectors)
    safe = np.where(lengths > 0, lengths, 1)
    return _keep(vectors * lengths, lengths, np.asarray(features.T @ vectors) / safe)


def _symmetric(features: AnyArray) -> bool:
    return bool(np.abs(features - features.T).max(initial=0) <= ROUNDING * np.abs(features).max(initial=0))


def _keep(coordinates: AnyArray, lengths: AnyArray, basis: AnyArray) -> Rotated:
    # Squaring the features halves the digits of the short directions; 1e-7 would be rounding there, and what lies
    # between does no harm: such directions are short and the penalty keeps them out.
    order = np.argsort(-lengths)
    kept = order[lengths[order] > SMALLEST * lengths.max(initial=0)]
    return Rotated(coordinates[:, kept], lengths[kept], basis[:, kept])
