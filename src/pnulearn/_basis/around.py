"""Basis functions around centres: what every kernel k(x, c) = f(h(x, c), σ) shares."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from pnulearn._arrays import AnyArray
from pnulearn._basis.basis import Graph, Kernel, PrefixedGraph
from pnulearn._basis.block import BlockFeatures
from pnulearn._basis.centers import choose_centers, dense, median_distance
from pnulearn._basis.views import View, learnt_views


@dataclass(frozen=True)
class CenterBasis(Kernel):
    """φ_j(x) = k(x, c_j) for several bandwidths σ, without intercept.

    A kernel says how `prepare` measures rows against centres and how `transform` turns that into features; where
    the measure is 0, the feature must be 1. `metric` and `factors` make the grid of bandwidths: multiples of the
    median distance between centres.
    """

    centers: AnyArray
    bandwidths: AnyArray
    intercept = False
    remedy = "Pass fewer centers, e.g. centers=200"
    has_bandwidth = True
    metric: ClassVar[str] = "euclidean"
    factors: ClassVar[tuple[float, ...]]

    @classmethod
    def choose(
        cls, X: Any, is_labeled: AnyArray, keys: AnyArray, centers: str | int | ArrayLike, bandwidth: ArrayLike | None
    ) -> Self:
        chosen = choose_centers(X, is_labeled, keys, centers)
        bandwidths = cls.grid(chosen) if bandwidth is None else np.asarray(bandwidth, dtype=float)
        return cls(chosen, np.atleast_1d(bandwidths))

    @classmethod
    def grid(cls, centers: AnyArray) -> AnyArray:
        return median_distance(centers, cls.metric) * np.array(cls.factors)

    @classmethod
    def gram(cls, X: Any, centers: Any, bandwidth: float) -> AnyArray:
        basis = cls(dense(centers), np.array([bandwidth]))
        return basis.features(basis.prepare(X), 0)

    @cached_property
    def origin(self) -> AnyArray:  # type: ignore[override]  # read only, as the other fields of a frozen dataclass
        return self.centers.mean(axis=0)

    @property
    def size(self) -> int:
        return len(self.centers)

    @staticmethod
    @abstractmethod
    def transform(prepared: AnyArray, bandwidth: float, out: AnyArray | None = None) -> AnyArray:
        """Features from what `prepare` gives."""

    def features(self, prepared: AnyArray, index: int) -> AnyArray:
        return self.transform(prepared, float(self.bandwidths[index]))

    def block_features(self, n_rows: int, dtype: str) -> BlockFeatures:
        return CenterBlock(self, n_rows, dtype)

    @property
    def numbers(self) -> tuple[AnyArray, ...]:
        return self.origin, self.centers, self.bandwidths

    def name_learnt(self, used: AnyArray, coef: AnyArray, intercept: AnyArray) -> dict[str, AnyArray]:
        """`coef_` (K, bandwidths, centres), and the `bandwidths_` in use."""
        bandwidths = self.bandwidths[used]
        return {"centers_": self.centers, "bandwidths_": bandwidths, "coef_": coef, "intercept_": intercept}

    @classmethod
    def respond(cls, model: Any, X: Any) -> AnyArray:
        every = ((view, cls(view.centers, view.bandwidths)) for view in learnt_views(model))
        parts = (
            features @ model.coef_[:, view.places[index]].T
            for view, basis in every
            for index, features in basis.every_features(basis.prepare(view.see(X)), range(len(view.places)))
        )
        return sum(parts) + model.intercept_

    @classmethod
    def draw(cls, graph: Graph, model: Any) -> str:
        total = graph.constant("intercept", np.atleast_1d(model.intercept_).astype(float))
        for view in learnt_views(model):
            own = graph if view.ranks is None else PrefixedGraph(graph, "ranks_")
            total = cls._draw_view(own, view, model.coef_[:, view.places], total)
        return total

    @classmethod
    def _draw_view(cls, graph: Graph, view: View, coef: AnyArray, total: str) -> str:
        """Rows and centres are moved by the centres' mean first, so that an offset costs no digits."""
        basis = cls(view.centers, view.bandwidths)
        rows = "X" if view.ranks is None else view.ranks.draw(graph, "X")
        moved = graph.apply("Sub", rows, graph.constant("origin", basis.origin), name="moved")
        prepared = cls.draw_prepared(graph, moved, basis.centers - basis.origin)
        for k, bandwidth in enumerate(basis.bandwidths):
            kernel = cls.draw_kernel(graph, prepared, float(bandwidth), k)
            weights = graph.constant(f"coef{k}", np.ascontiguousarray(coef[:, k].T))
            part = graph.apply("MatMul", kernel, weights, name=f"part{k}")
            total = graph.apply("Add", part, total, name=f"sum{k}")
        return total

    @staticmethod
    @abstractmethod
    def draw_prepared(graph: Graph, rows: str, centers: AnyArray) -> str:
        """Draw `prepare` for rows and centres from a common origin."""

    @staticmethod
    @abstractmethod
    def draw_kernel(graph: Graph, prepared: str, bandwidth: float, k: int) -> str:
        """Draw `transform`; names must end in k."""


class CenterBlock(BlockFeatures):
    """Features by way of `prepare` and `transform`; a measure of 0 in the last column becomes the constant 1."""

    def __init__(self, basis: CenterBasis, n_rows: int, dtype: str):
        super().__init__(n_rows, basis.centers.shape[1], basis.size, dtype)
        self._bandwidths = basis.bandwidths
        self._moved = type(basis)(basis.centers - basis.origin, basis.bandwidths)
        self._prepared = np.zeros_like(self._features)

    def _prepare(self, rows: AnyArray) -> None:
        self._prepared[: self._n, :-1] = self._moved.prepare(rows.T)

    def features(self, index: int) -> AnyArray:
        bandwidth = float(self._bandwidths[index])
        return self._moved.transform(self._prepared[: self._n], bandwidth, out=self._features[: self._n])
