"""kernel="rbf": Gaussians around centres."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.utils.extmath import row_norms

from pnulearn._arrays import AnyArray
from pnulearn._kernels.basis import BlockFeatures, Graph
from pnulearn._kernels.centers import CenterBasis

BANDWIDTH_FACTORS = (1 / 8, 1 / 4, 1 / 2, 1.0, 3 / 2, 2.0)
MOST_HALVED = 4
CLOSE = 1e-6  # relative to the largest squared distance
PAIRS_AT_ONCE = 10_000
LEAST_EXPONENT = {"float32": -80.0, "float64": -700.0}  # smaller results are denormal numbers, which are slow


def squared_distances(X: Any, centers: AnyArray) -> AnyArray:
    """|x − c|² of shape (n_rows, n_centers); the centres' mean is subtracted first to avoid cancellation."""
    if sparse.issparse(X):
        return euclidean_distances(X, centers, squared=True) if X.shape[0] else np.zeros((0, centers.shape[0]))
    origin = centers.mean(axis=0)
    X, centers = X - origin, centers - origin
    # The steps of sklearn's euclidean_distances, with identical results but without its input checks, which take longer
    # than the computation for a single row.
    distances = X @ centers.T
    distances *= -2
    distances += np.einsum("ij,ij->i", X, X)[:, None]
    distances += np.einsum("ij,ij->i", centers, centers)
    return np.maximum(distances, 0, out=distances)


def distances(X: Any, Y: Any) -> AnyArray:
    """|x − y| of dense or CSR rows; distances of close rows are computed from differences.

    The expansion into products is faster, but for equal rows it leaves a rounding error whose square root is 1e-8.
    """
    squared = squared_distances(X, Y)
    left, right = np.nonzero(squared < CLOSE * squared.max(initial=0))
    for start in range(0, len(left), PAIRS_AT_ONCE):
        one, other = left[start : start + PAIRS_AT_ONCE], right[start : start + PAIRS_AT_ONCE]
        squared[one, other] = row_norms(X[one] - Y[other], squared=True)
    return np.sqrt(squared, out=squared)


def gaussian(distances: AnyArray, bandwidth: float, out: AnyArray | None = None) -> AnyArray:
    """φ_j(x) = exp(−|x − c_j|² / (2 σ²)) from squared distances.

    >>> gaussian(np.array([[0.0, 2.0]]), bandwidth=1.0).round(3).tolist()
    [[1.0, 0.368]]
    """
    features = np.multiply(distances, -0.5 / bandwidth**2, out=out)
    return np.exp(features, out=features)


def halving_order(bandwidths: AnyArray, indices: Sequence[int]) -> Iterator[tuple[int, bool]]:
    """Iterate over (bandwidth number, whether it is half of the previous bandwidth), in an order that favours halves.

    Each fourth power multiplies the relative rounding error by four: 6e-14 after MOST_HALVED = 4 of them.

    >>> list(halving_order(np.array([1.0, 2.0, 4.0, 3.0]), range(4)))
    [(2, False), (1, True), (0, True), (3, False)]
    """
    numbers = np.array(indices, dtype=int)
    left = numbers[np.argsort(-bandwidths[numbers], kind="stable")].tolist()
    while left:
        index, n_halved = left.pop(0), 0
        yield index, False
        while n_halved < MOST_HALVED:
            half = np.flatnonzero(np.abs(2 * bandwidths[left] - bandwidths[index]) <= 1e-15 * bandwidths[index])
            if not len(half):
                break
            index, n_halved = left.pop(half[0]), n_halved + 1
            yield index, True


@dataclass(frozen=True)
class GaussianBasis(CenterBasis):
    """φ_j(x) = exp(−|x − c_j|² / (2 σ²))."""

    factors = BANDWIDTH_FACTORS
    transform = staticmethod(gaussian)

    def prepare(self, X: Any) -> AnyArray:
        """Squared distances."""
        return squared_distances(X, self.centers)

    def every_features(self, prepared: AnyArray, indices: Sequence[int]) -> Iterator[tuple[int, AnyArray]]:
        """Halving the bandwidth raises features to the fourth power, at a tenth of the cost of an exponential."""
        features = np.empty_like(prepared)
        for index, is_half in halving_order(self.bandwidths, indices):
            if is_half:
                np.square(np.square(features, out=features), out=features)
            else:
                gaussian(prepared, float(self.bandwidths[index]), out=features)
            yield index, features

    @classmethod
    def gram(cls, X: Any, centers: Any, bandwidth: float) -> AnyArray:
        """Kernel matrix; sparse centres stay sparse."""
        rows = sparse.csr_matrix(X) if sparse.issparse(centers) else X
        return gaussian(squared_distances(rows, centers), bandwidth)

    def block_features(self, n_rows: int, dtype: str) -> BlockFeatures:
        return GaussianBlock(self, n_rows, dtype)

    @staticmethod
    def draw_prepared(graph: Graph, rows: str, centers: AnyArray) -> str:
        """|x − c|² = |x|² + |c|² − 2 x′c, clipped at 0."""
        last = graph.constant("last", np.array([1]))
        square = graph.apply("ReduceSum", graph.apply("Mul", rows, rows, name="squares"), last, name="norm", keepdims=1)
        inner = graph.apply("MatMul", rows, graph.constant("centers", -2 * centers.T), name="inner")
        sums = graph.apply("Add", inner, square, name="inner_norm")
        raw = graph.apply("Add", sums, graph.constant("center_norms", (centers**2).sum(axis=1)), name="distance_raw")
        return graph.apply("Max", raw, graph.constant("zero", np.array(0.0)), name="distance")

    @staticmethod
    def draw_kernel(graph: Graph, prepared: str, bandwidth: float, k: int) -> str:
        factor = graph.constant(f"factor{k}", np.array(-0.5 / bandwidth**2))
        return graph.apply("Exp", graph.apply("Mul", prepared, factor, name=f"exponent{k}"), name=f"kernel{k}")


class GaussianBlock(BlockFeatures):
    """One matrix product for all bandwidths, one exponential for each.

    With x and c relative to a common origin,

        −|x − c|² / 2 = (x, −|x|²/2, 1) · (c, 1, −|c|²/2)

    is a single matrix product. Its last column is zero, so that its exponential is the constant 1.
    """

    def __init__(self, basis: GaussianBasis, n_rows: int, dtype: str):
        super().__init__(n_rows, basis.centers.shape[1] + 2, basis.size, dtype)
        self._rows[-1] = 1
        self._exponents = np.empty_like(self._features)
        self._centers = _extend(basis.centers - basis.origin).astype(self.dtype)
        self._bandwidths = basis.bandwidths
        self._lowest = LEAST_EXPONENT[dtype]
        self._least = 0.0

    def _prepare(self, rows: AnyArray) -> None:
        np.multiply(np.einsum("dn,dn->n", rows[:-2], rows[:-2]), -0.5, out=rows[-2])
        np.matmul(rows.T, self._centers, out=self._exponents[: self._n])
        self._least = float(self._exponents[: self._n].min(initial=0))

    def features(self, index: int) -> AnyArray:
        features = self._features[: self._n]
        scale = 1 / float(self._bandwidths[index]) ** 2
        np.multiply(self._exponents[: self._n], scale, out=features)
        if self._least * scale < self._lowest:
            np.maximum(features, self._lowest, out=features)
        return np.exp(features, out=features)


def _extend(centers: AnyArray) -> AnyArray:
    """(c, 1, −|c|²/2) in columns, and a column of zeros: shape (d + 2, b + 1)."""
    b, d = centers.shape
    matrix = np.zeros((d + 2, b + 1))
    matrix[:d, :b], matrix[d, :b], matrix[d + 1, :b] = centers.T, 1, -0.5 * np.einsum("bd,bd->b", centers, centers)
    return matrix
