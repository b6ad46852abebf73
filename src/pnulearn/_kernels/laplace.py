"""kernel="laplace": Laplace kernels around centres, with a sharper peak and heavier tails than Gaussians."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from pnulearn._arrays import AnyArray
from pnulearn._kernels.basis import ROW_CHUNK, Graph, dense
from pnulearn._kernels.centers import CenterBasis
from pnulearn._kernels.gaussian import BANDWIDTH_FACTORS


@dataclass(frozen=True)
class LaplaceBasis(CenterBasis):
    """φ_j(x) = exp(−|x − c_j|₁ / σ), with the L1 distance.

    >>> basis = LaplaceBasis(np.zeros((1, 2)), np.array([2.0]))
    >>> basis.features(basis.prepare(np.array([[0.0, 0.0], [1.0, -1.0]])), 0).round(3).tolist()
    [[1.0], [0.368]]
    """

    metric = "cityblock"
    factors = BANDWIDTH_FACTORS

    def prepare(self, X: Any) -> AnyArray:
        """L1 distances; sparse rows are made dense in chunks."""
        starts = range(0, max(X.shape[0], 1), ROW_CHUNK)
        return np.concatenate([cdist(dense(X[i : i + ROW_CHUNK]), self.centers, self.metric) for i in starts])

    @staticmethod
    def transform(prepared: AnyArray, bandwidth: float, out: AnyArray | None = None) -> AnyArray:
        features = np.multiply(prepared, -1 / bandwidth, out=out)
        return np.exp(features, out=features)

    @staticmethod
    def draw_prepared(graph: Graph, rows: str, centers: AnyArray) -> str:
        """L1 distances column by column, so that no array is larger than rows × centres."""
        total = graph.constant("distance", np.zeros(1))
        for j, column in enumerate(centers.T):
            own = graph.apply("Gather", rows, graph.constant(f"place{j}", np.array([j])), name=f"column{j}", axis=1)
            difference = graph.apply("Sub", own, graph.constant(f"center{j}", column.copy()), name=f"difference{j}")
            total = graph.apply("Add", total, graph.apply("Abs", difference, name=f"size{j}"), name=f"distance{j}")
        return total

    @staticmethod
    def draw_kernel(graph: Graph, prepared: str, bandwidth: float, k: int) -> str:
        factor = graph.constant(f"factor{k}", np.array(-1 / bandwidth))
        return graph.apply("Exp", graph.apply("Mul", prepared, factor, name=f"exponent{k}"), name=f"kernel{k}")
