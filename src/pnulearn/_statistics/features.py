"""Features of a block of rows in reused buffers: one matrix product for all bandwidths, one exponential for each."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pnulearn._basis.functions import GaussianBasis
from pnulearn._statistics.design import Design

BLOCK_ROWS = 8192  # larger blocks leave the cache and are slower
LEAST_EXPONENT = {"float32": -80.0, "float64": -700.0}  # below, numbers are denormal, on which processors crawl


class FeatureBlock:
    """φ(x) followed by the constant 1 for a block of rows, shape (n, b + 1).

    The constant makes sums and counts part of the sum of outer products. With x and c taken from a common origin,

        −|x − c|² / 2 = (x, −|x|²/2, 1) · (c, 1, −|c|²/2)

    is a single product of matrices, whose last column is zero so that its exponential is the constant.
    """

    def __init__(self, design: Design):
        self.design = design
        dtype = np.dtype(design.dtype)
        self._gaussian = isinstance(design.basis, GaussianBasis)
        self._rows = np.empty((design.n_features + 2, BLOCK_ROWS), dtype)
        self._rows[-1] = 1
        self._features = np.empty((BLOCK_ROWS, design.basis.size + 1), dtype)
        if isinstance(design.basis, GaussianBasis):
            self._exponents = np.empty_like(self._features)
            self._centers = _extended(design.basis.centers - design.origin).astype(dtype)
        self._n = 0
        self._least = 0.0

    def load(self, rows: NDArray, order: NDArray) -> None:
        """Take rows (d, n), already less the origin, in the given order."""
        d, self._n = len(rows), len(order)
        block = self._rows[:, : self._n]
        np.take(rows, order, axis=1, out=block[:d], mode="clip")
        if self._gaussian:
            np.multiply(np.einsum("dn,dn->n", block[:d], block[:d]), -0.5, out=block[d])
            np.matmul(block.T, self._centers, out=self._exponents[: self._n])
            self._least = float(self._exponents[: self._n].min(initial=0))

    def features(self, index: int) -> NDArray:
        """Features under bandwidth number `index`; valid until the next call."""
        features = self._features[: self._n]
        if not self._gaussian:
            features[:, :-1] = self._rows[:-2, : self._n].T
            features[:, -1] = 1
            return features
        scale = 1 / float(self.design.basis.bandwidths[index]) ** 2
        np.multiply(self._exponents[: self._n], scale, out=features)
        least = LEAST_EXPONENT[self.design.dtype]
        if self._least * scale < least:
            np.maximum(features, least, out=features)
        return np.exp(features, out=features)


def _extended(centers: NDArray) -> NDArray:
    """(c, 1, −|c|²/2) in columns, and a column of zeros: shape (d + 2, b + 1)."""
    b, d = centers.shape
    matrix = np.zeros((d + 2, b + 1))
    matrix[:d, :b], matrix[d, :b], matrix[d + 1, :b] = centers.T, 1, -0.5 * np.einsum("bd,bd->b", centers, centers)
    return matrix
