"""Features in as few coordinates as they really need.

Smooth kernels have a small numerical rank: 350 Gaussians on two-dimensional data may span 30 dimensions to machine
precision, and wide data span no more dimensions than there are rows. All minimisers lie in the span of the training
rows, so the whole search can run in an orthonormal basis of it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack, solve_triangular

from pnulearn._arrays import AnyArray

WORTHWHILE = 0.9
TALL = 3


@dataclass(frozen=True)
class Reduced:
    """Coordinates Z (n, k) of features Φ ≈ Z Q′ with orthonormal Q (b, k); Q is None if nothing was gained.

    Then `products`, the inner products of all rows, may be known as well.
    """

    coordinates: AnyArray
    basis: AnyArray | None
    products: AnyArray | None = None

    def project(self, features: AnyArray) -> AnyArray:
        """Coordinates of other rows."""
        return features if self.basis is None else features @ self.basis

    def products_of(self, some: AnyArray, others: AnyArray) -> AnyArray | None:
        """Inner products of some rows with others, if they are known."""
        return None if self.products is None else self.products.take(some, axis=0).take(others, axis=1)

    def lift(self, coefficients: AnyArray) -> AnyArray:
        """Coefficients of the original basis functions, along the last axis."""
        return coefficients if self.basis is None else coefficients @ self.basis.T


def reduce_features(features: AnyArray) -> Reduced:
    """Rotate features into the span of their rows, by a pivoted Cholesky factorisation of the smaller Gram matrix."""
    n, b = features.shape
    if n > TALL * b or min(n, b) < 2:  # the Gram matrices of the folds cost more than what could be saved
        return Reduced(features, None)
    if n <= b:
        products = features @ features.T
        factor, pivots, rank = _pivoted_cholesky(products)
        if n == b and rank > WORTHWHILE * b:
            return Reduced(features, None, products)
        top, chosen = np.tril(factor[:rank, :rank]), features[pivots[:rank]]
        basis = solve_triangular(top, chosen, lower=True).T
        basis = np.linalg.qr(basis)[0]
    else:
        factor, pivots, rank = _pivoted_cholesky(features.T @ features)
        if rank > WORTHWHILE * b:
            return Reduced(features, None)
        basis = np.empty((b, rank))
        basis[pivots] = np.linalg.qr(np.tril(factor)[:, :rank])[0]
    return Reduced(features @ basis, basis)


def _pivoted_cholesky(gram: AnyArray) -> tuple[AnyArray, AnyArray, int]:
    """L (lower), the order of rows, and the rank at which nothing but rounding is left."""
    factor, pivots, rank, _ = lapack.dpstrf(gram, lower=1, tol=-1.0)
    return factor, pivots - 1, max(int(rank), 1)
