"""kernel="linear": the columns themselves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics.pairwise import linear_kernel
from sklearn.utils.extmath import safe_sparse_dot

from pnulearn._arrays import AnyArray
from pnulearn._kernels.basis import BlockFeatures, Graph, Kernel, dense


@dataclass(frozen=True)
class LinearBasis(Kernel):
    """φ(x) = x − origin, with an unpenalised intercept."""

    origin: AnyArray
    intercept = True
    remedy = "Keep fewer columns, e.g. by sklearn.decomposition.TruncatedSVD(200)"
    has_bandwidth = False
    bandwidths = np.array([np.nan])

    @classmethod
    def choose(
        cls, X: Any, is_labeled: AnyArray, keys: AnyArray, centers: str | int | ArrayLike, bandwidth: ArrayLike | None
    ) -> LinearBasis:
        """The origin is the mean of all rows; there are neither centres nor bandwidths."""
        return cls(np.asarray(X.mean(axis=0)).ravel())

    @classmethod
    def grid(cls, centers: AnyArray) -> AnyArray:
        return cls.bandwidths

    @classmethod
    def gram(cls, X: Any, centers: Any, bandwidth: float) -> AnyArray:
        """x′c."""
        return np.asarray(linear_kernel(X, centers, dense_output=True))

    @property
    def size(self) -> int:
        return len(self.origin)

    def prepare(self, X: Any) -> AnyArray:
        """Rows minus the origin."""
        return dense(X) - self.origin

    def features(self, prepared: AnyArray, index: int) -> AnyArray:
        return prepared

    def block_features(self, n_rows: int, dtype: str) -> BlockFeatures:
        return LinearBlock(n_rows, self.size, self.size, dtype)

    @property
    def numbers(self) -> tuple[AnyArray, ...]:
        return self.origin, self.origin, self.bandwidths  # the origin twice, for fingerprints of older files

    def name_learnt(self, used: AnyArray, coef: AnyArray, intercept: AnyArray) -> dict[str, AnyArray]:
        """`coef_` (K, d) and `intercept_` (K,) for rows without the origin subtracted."""
        return {"coef_": coef[:, 0], "intercept_": intercept - coef[:, 0] @ self.origin}

    @classmethod
    def respond(cls, learnt: Mapping[str, Any], X: Any) -> AnyArray:
        return safe_sparse_dot(X, learnt["coef_"].T, dense_output=True) + learnt["intercept_"]

    @classmethod
    def scores(cls, learnt: Mapping[str, Any], X: Any, n_jobs: int | None = None) -> AnyArray:
        """Scores (n, K) in one product, since no features need memory."""
        return cls.respond(learnt, X)

    @classmethod
    def draw(cls, graph: Graph, learnt: Mapping[str, Any]) -> str:
        product = graph.apply("MatMul", "X", graph.constant("coef", learnt["coef_"].T.copy()), name="product")
        return graph.apply(
            "Add", product, graph.constant("intercept", np.atleast_1d(learnt["intercept_"])), name="scores"
        )


class LinearBlock(BlockFeatures):
    """The rows themselves."""

    def _prepare(self, rows: AnyArray) -> None:
        features = self._features[: self._n]
        features[:, :-1], features[:, -1] = rows.T, 1

    def features(self, index: int) -> AnyArray:
        return self._features[: self._n]
