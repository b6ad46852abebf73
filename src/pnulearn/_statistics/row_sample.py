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
        return whole.take(thin(whole.keys, whole.codes))

    def take(self, rows: AnyArray) -> RowSample:
        return RowSample(*(part[rows] for part in vars(self).values()))

    def folds(self, design: Design) -> AnyArray:
        """The folds these rows have in a design."""
        pairs = zip(self.names, self.places, strict=True)
        return np.array([design.folds(str(name), int(place), 1)[0] for name, place in pairs], dtype=int)


def thin(keys: AnyArray, codes: AnyArray) -> AnyArray:
    """Rows with the smallest keys, smallest first: at most MOST_UNLABELED of code −1 and MOST_LABELED of every other.

    >>> thin(np.array([3, 1, 2]), np.array([0, -1, 1])).tolist()
    [1, 2, 0]
    """
    order = np.argsort(keys, kind="stable")
    rank = np.empty(len(order), dtype=int)
    for group in np.unique(codes):
        members = order[codes[order] == group]
        rank[members] = np.arange(len(members))
    kept: AnyArray = order[rank[order] < np.where(codes[order] < 0, MOST_UNLABELED, MOST_LABELED)]
    return kept
