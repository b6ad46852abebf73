"""Basis functions around centres: the shared part of all kernels k(x, c) = f(h(x, c), σ)."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import pdist

from pnulearn._arrays import AnyArray
from pnulearn._kernels.basis import Basis, BlockFeatures, Graph, Kernel, PrefixedGraph, dense
from pnulearn._kernels.ranks import NormalRanks

AUTO_CENTERS = 500
MEDIAN_ROWS = 1000
ROUNDING = 1e-9  # relative to the largest distance: closer rows count as equal
AUTO, GIVEN, RANKS, BOTH = "auto", "given", "ranks", "both"
COLUMNS = {GIVEN: (False,), RANKS: (True,), BOTH: (False, True)}  # for every representation: is it ranks?


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

    Only distinct rows are used, in the order of `keys`, so the result depends neither on the order of rows nor on
    repetitions.
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
    # In one memory order: another one changes the last bits of the mean, and pickling may change the order.
    array = np.array(centers, dtype=float, order="C")
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


@dataclass(frozen=True, eq=False)
class View:
    """One representation of the columns: its centres, its bandwidths, and their indices among all bandwidths."""

    ranks: NormalRanks | None
    centers: AnyArray
    bandwidths: AnyArray
    places: AnyArray


def part_views(centers: AnyArray, bandwidths: AnyArray, ranked: AnyArray, ranks: NormalRanks) -> list[View]:
    """One view per distinct value of `ranked`, with the same rows as centres in each."""
    views = []
    for is_ranked in np.unique(ranked):
        places = np.flatnonzero(ranked == is_ranked)
        seen = ranks.apply(centers) if is_ranked else centers
        views.append(View(ranks if is_ranked else None, seen, bandwidths[places], places))
    return views


def learnt_views(learnt: Mapping[str, Any]) -> list[View]:
    """The representations used by a fitted model, from the attributes that `name_learnt` returned."""
    centers, bandwidths = learnt["centers_"], learnt["bandwidths_"]
    if "ranked_" not in learnt:
        return [View(None, centers, bandwidths, np.arange(len(bandwidths)))]
    ranks = NormalRanks(learnt["rank_values_"], learnt["rank_scores_"])
    return part_views(centers, bandwidths, learnt["ranked_"], ranks)


@dataclass(frozen=True, eq=False)
class ViewsBasis(Basis):
    """The bandwidths of one kernel in every representation, concatenated; `ranked` marks those for ranks.

    `given` is the kernel's basis for the columns as given.
    """

    given: CenterBasis
    ranks: NormalRanks
    bandwidths: AnyArray
    ranked: AnyArray
    intercept = False
    has_bandwidth = True

    @classmethod
    def choose(cls, chosen: Any, columns: str, ranks: NormalRanks, bandwidth: Any) -> ViewsBasis:
        """From the basis that was `chosen` for the columns as given."""
        found = []
        for is_ranked in COLUMNS[columns]:
            centers = ranks.apply(chosen.centers) if is_ranked else chosen.centers
            found.append(chosen.grid(centers) if bandwidth is None else chosen.bandwidths)
        ranked = np.repeat(COLUMNS[columns], [len(one) for one in found])
        return cls(chosen, ranks, np.concatenate(found), ranked)

    @property
    def centers(self) -> AnyArray:
        return self.given.centers

    @property
    def origin(self) -> AnyArray:
        return self.given.origin

    @property
    def numbers(self) -> tuple[AnyArray, ...]:
        """As of a `Kernel`, with the knots of the ranks."""
        return *self.given.numbers, self.ranks.values, self.ranks.scores, self.bandwidths, self.ranked

    @cached_property
    def _views(self) -> list[tuple[View, Any]]:
        """Every representation with the kernel's basis in it."""
        views = part_views(self.centers, self.bandwidths, self.ranked, self.ranks)
        return [(view, type(self.given)(view.centers, view.bandwidths)) for view in views]

    @property
    def remedy(self) -> str:  # type: ignore[override]  # the kernel's
        return str(self.given.remedy)

    @property
    def representations(self) -> tuple[str, ...]:
        return tuple(RANKS if is_ranked else GIVEN for is_ranked in self.ranked)

    @property
    def size(self) -> int:
        return len(self.centers)

    def prepare(self, X: Any) -> AnyArray:
        """The computation shared by the bandwidths of a view; views are along the second axis."""
        return np.stack(
            [basis.prepare(X if view.ranks is None else view.ranks.apply(X)) for view, basis in self._views], axis=1
        )

    def features(self, prepared: AnyArray, index: int) -> AnyArray:
        return next(features for _, features in self.every_features(prepared, [index]))

    def every_features(self, prepared: AnyArray, indices: Sequence[int]) -> Iterator[tuple[int, AnyArray]]:
        for number, (view, basis) in enumerate(self._views):
            asked = [own for own, place in enumerate(view.places) if place in indices]
            for own, features in basis.every_features(prepared[:, number], asked):
                yield int(view.places[own]), features

    def name_learnt(self, used: AnyArray, coef: AnyArray, intercept: AnyArray) -> dict[str, AnyArray]:
        """The kernel's attributes, and `ranked_`, `rank_values_` and `rank_scores_`."""
        plain = type(self.given)(self.centers, self.bandwidths).name_learnt(used, coef, intercept)
        ranks = {"rank_values_": self.ranks.values, "rank_scores_": self.ranks.scores}
        return plain | {"ranked_": self.ranked[used]} | ranks

    def block_features(self, n_rows: int, dtype: str) -> BlockFeatures:
        """As of a `Kernel`."""
        return ViewsBlock(self._views, self.origin, n_rows, dtype)


class ViewsBlock(BlockFeatures):
    """The features of all views, each computed by the block of its own basis."""

    def __init__(self, views: Sequence[tuple[View, CenterBasis]], origin: AnyArray, n_rows: int, dtype: str):
        super().__init__(n_rows, len(origin), views[0][1].size, dtype)
        self._origin = origin
        self._parts = [(view, basis, basis.block_features(n_rows, dtype)) for view, basis in views]

    def _prepare(self, rows: AnyArray) -> None:
        given = rows.T + self._origin
        for view, basis, block in self._parts:
            seen = given if view.ranks is None else view.ranks.apply(given)
            block.load((seen - basis.origin).T, np.arange(self._n))

    def features(self, index: int) -> AnyArray:
        view, _, block = next(part for part in self._parts if index in part[0].places)
        return block.features(int(np.flatnonzero(view.places == index)[0]))


@dataclass(frozen=True)
class CenterBasis(Kernel):
    """φ_j(x) = k(x, c_j) for several bandwidths σ, without intercept.

    A kernel defines `prepare`, which compares rows with centres (e.g. by distances), and `transform`, which turns the
    result into features; `transform` must map 0 to 1. The grid of bandwidths is `factors` times the median distance
    between centres in `metric`.
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
    def transform(prepared: AnyArray, /, bandwidth: float, out: AnyArray | None = None) -> AnyArray:
        """Features from the result of `prepare`."""

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
    def respond(cls, learnt: Mapping[str, Any], X: Any) -> AnyArray:
        total = np.zeros((X.shape[0], len(learnt["coef_"])))
        for view in learnt_views(learnt):
            basis = cls(view.centers, view.bandwidths)
            prepared = basis.prepare(X if view.ranks is None else view.ranks.apply(X))
            for index, features in basis.every_features(prepared, range(len(view.places))):
                total += features @ learnt["coef_"][:, view.places[index]].T
        return total + learnt["intercept_"]

    @classmethod
    def draw(cls, graph: Graph, learnt: Mapping[str, Any]) -> str:
        total = graph.constant("intercept", np.atleast_1d(learnt["intercept_"]).astype(float))
        for view in learnt_views(learnt):
            own = graph if view.ranks is None else PrefixedGraph(graph, "ranks_")
            total = cls._draw_view(own, view, learnt["coef_"][:, view.places], total)
        return total

    @classmethod
    def _draw_view(cls, graph: Graph, view: View, coef: AnyArray, total: str) -> str:
        """Add the scores of one view; the centres' mean is subtracted first to avoid cancellation."""
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
        """Add `prepare` to the graph, for rows and centres relative to a common origin."""

    @staticmethod
    @abstractmethod
    def draw_kernel(graph: Graph, prepared: str, bandwidth: float, k: int) -> str:
        """Add `transform` to the graph; new names must end in k."""


class CenterBlock(BlockFeatures):
    """Features by `prepare` and `transform`; a 0 in the last prepared column becomes the constant 1."""

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
