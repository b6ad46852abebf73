"""kernel="polynomial": cubic polynomials in the columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from pnulearn._arrays import AnyArray
from pnulearn._kernels.basis import Graph
from pnulearn._kernels.centers import CenterBasis


@dataclass(frozen=True)
class PolynomialBasis(CenterBasis):
    """φ_j(x) = (1 + (x − o)′(c_j − o) / σ²)³ with o the mean of the centres.

    The 1 makes constants part of the function space, so there is no intercept; o makes the space invariant to
    translations of X. Every σ spans the same polynomials and only changes the relative penalty of the degrees, so
    three values are tried.

    >>> basis = PolynomialBasis(np.array([[-1.0], [1.0]]), np.array([1.0]))
    >>> basis.features(basis.prepare(np.array([[0.0], [1.0]])), 0).tolist()
    [[1.0, 1.0], [0.0, 8.0]]
    """

    factors = (1 / 2, 1.0, 2.0)

    def prepare(self, X: Any) -> AnyArray:
        """Inner products; sparse rows stay sparse."""
        centers = (self.centers - self.origin).T
        return X @ centers - self.origin @ centers if sparse.issparse(X) else (X - self.origin) @ centers

    @staticmethod
    def transform(prepared: AnyArray, bandwidth: float, out: AnyArray | None = None) -> AnyArray:
        base = prepared / bandwidth**2 + 1
        features = np.multiply(base, base, out=out)
        return np.multiply(features, base, out=features)

    @staticmethod
    def draw_prepared(graph: Graph, rows: str, centers: AnyArray) -> str:
        return graph.apply("MatMul", rows, graph.constant("centers", centers.T.copy()), name="inner")

    @staticmethod
    def draw_kernel(graph: Graph, prepared: str, bandwidth: float, k: int) -> str:
        factor, one = graph.constant(f"factor{k}", np.array(bandwidth**-2)), graph.constant(f"one{k}", np.array(1.0))
        base = graph.apply("Add", graph.apply("Mul", prepared, factor, name=f"scaled{k}"), one, name=f"base{k}")
        return graph.apply("Mul", graph.apply("Mul", base, base, name=f"square{k}"), base, name=f"kernel{k}")
