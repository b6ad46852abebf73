"""A random sample of the rows that were read, small enough to keep."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._statistics.design import Design

MOST_UNLABELED = 10_000
MOST_LABELED = 2_000  # per class


@dataclass(frozen=True)
class RowSample:
    """Rows with class code and key; the rows with the smallest keys are a random sample of those that were seen."""

    X: AnyArray
    codes: AnyArray
    keys: AnyArray
    names: AnyArray  # of the part each row is from, and its number there: they decide its fold
    places: AnyArray

    @classmethod
    def merge(cls, samples: Iterable[RowSample]) -> RowSample:
        """The rows of all, thinned to at most MOST_UNLABELED unlabelled ones and MOST_LABELED of each class."""
        whole = cls(*(np.concatenate(parts) for parts in zip(*(vars(one).values() for one in samples), strict=True)))
        order = np.argsort(whole.keys, kind="stable")
        rank = np.empty(len(order), dtype=int)
        for group in np.unique(whole.codes):
            members = order[whole.codes[order] == group]
            rank[members] = np.arange(len(members))
        kept = np.flatnonzero(rank < np.where(whole.codes < 0, MOST_UNLABELED, MOST_LABELED))
        return whole.take(kept[np.argsort(whole.keys[kept], kind="stable")])

    def take(self, rows: AnyArray) -> RowSample:
        return RowSample(*(part[rows] for part in vars(self).values()))

    def folds(self, design: Design) -> AnyArray:
        """The folds these rows have in a design."""
        pairs = zip(self.names, self.places, strict=True)
        return np.array([design.folds(str(name), int(place), 1)[0] for name, place in pairs], dtype=int)
