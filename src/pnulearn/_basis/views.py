"""Basis functions of several representations of the columns: as they are given, as normal ranks, or both."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._basis.basis import Basis
from pnulearn._basis.ranks import NormalRanks

GIVEN, RANKS = "given", "ranks"
COLUMNS = {GIVEN: (False,), RANKS: (True,), "both": (False, True)}  # for every representation: is it ranks?


@dataclass(frozen=True, eq=False)
class View:
    """One representation of the columns: its centres, its bandwidths, and their numbers among all bandwidths."""

    ranks: NormalRanks | None
    centers: AnyArray
    bandwidths: AnyArray
    places: AnyArray

    def see(self, X: Any) -> Any:
        """Rows in this representation."""
        return X if self.ranks is None else self.ranks.apply(X)


def part_views(centers: AnyArray, bandwidths: AnyArray, ranked: AnyArray, ranks: NormalRanks) -> list[View]:
    """The representations that are `ranked` or not, with the same rows as centres in each."""
    views = []
    for is_ranked in np.unique(ranked):
        places = np.flatnonzero(ranked == is_ranked)
        seen = ranks.apply(centers) if is_ranked else centers
        views.append(View(ranks if is_ranked else None, seen, bandwidths[places], places))
    return views


def learnt_views(model: Any) -> list[View]:
    """The representations that a fitted model reads, from the attributes that `name_learnt` names."""
    if not hasattr(model, "ranked_"):
        return [View(None, model.centers_, model.bandwidths_, np.arange(len(model.bandwidths_)))]
    ranks = NormalRanks(model.rank_values_, model.rank_scores_)
    return part_views(model.centers_, model.bandwidths_, model.ranked_, ranks)


@dataclass(frozen=True, eq=False)
class ViewsBasis(Basis):
    """The bandwidths of one kernel in every representation, one after the other; `ranked` says which are of ranks."""

    kernel: type[Any]  # around centres
    centers: AnyArray  # as given
    ranks: NormalRanks
    bandwidths: AnyArray
    ranked: AnyArray
    intercept = False
    has_bandwidth = True

    @classmethod
    def choose(cls, chosen: Any, columns: str, ranks: NormalRanks, bandwidth: Any) -> ViewsBasis:
        """From the basis around centres that was `chosen` for the columns as given."""
        kernel, found = type(chosen), []
        for is_ranked in COLUMNS[columns]:
            centers = ranks.apply(chosen.centers) if is_ranked else chosen.centers
            found.append(kernel.grid(centers) if bandwidth is None else chosen.bandwidths)
        ranked = np.repeat(COLUMNS[columns], [len(one) for one in found])
        return cls(kernel, chosen.centers, ranks, np.concatenate(found), ranked)

    @cached_property
    def _views(self) -> list[tuple[View, Any]]:
        """Every representation with the kernel's basis in it."""
        views = part_views(self.centers, self.bandwidths, self.ranked, self.ranks)
        return [(view, self.kernel(view.centers, view.bandwidths)) for view in views]

    @property
    def remedy(self) -> str:  # type: ignore[override]  # the kernel's
        return str(self.kernel.remedy)

    @property
    def representations(self) -> tuple[str, ...]:
        return tuple(RANKS if is_ranked else GIVEN for is_ranked in self.ranked)

    @property
    def size(self) -> int:
        return len(self.centers)

    def prepare(self, X: Any) -> AnyArray:
        """What the bandwidths of a view share, views along the second axis."""
        return np.stack([basis.prepare(view.see(X)) for view, basis in self._views], axis=1)

    def features(self, prepared: AnyArray, index: int) -> AnyArray:
        return next(features for _, features in self.every_features(prepared, [index]))

    def every_features(self, prepared: AnyArray, indices: Sequence[int]) -> Iterator[tuple[int, AnyArray]]:
        for number, (view, basis) in enumerate(self._views):
            asked = [own for own, place in enumerate(view.places) if place in indices]
            for own, features in basis.every_features(prepared[:, number], asked):
                yield int(view.places[own]), features

    def name_learnt(self, used: AnyArray, coef: AnyArray, intercept: AnyArray) -> dict[str, AnyArray]:
        """What the kernel names, which of the bandwidths in use are of ranks, and the ranks."""
        plain = self.kernel(self.centers, self.bandwidths).name_learnt(used, coef, intercept)
        ranks = {"rank_values_": self.ranks.values, "rank_scores_": self.ranks.scores}
        return plain | {"ranked_": self.ranked[used]} | ranks
