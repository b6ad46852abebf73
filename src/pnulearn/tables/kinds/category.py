"""Columns of few categories."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._tables.columns import Column
from pnulearn._tables.table import Table
from pnulearn.tables.kinds.gaps import say_unknown

RARE, OF_ROWS = 5, 100  # a category of fewer rows is rare, in a small table one of less than a hundredth of them
OTHER = "(other)"


@dataclass(frozen=True)
class CategoryColumn:
    """One 0/1 feature per category, one for all rare ones if there are any; a missing value is 0 in all of them."""

    name: str
    categories: tuple[str, ...]
    has_other: bool = False

    @property
    def feature_names(self) -> list[str]:
        return [f"{self.name}={value}" for value in (*self.categories, OTHER)[: len(self.categories) + self.has_other]]

    @property
    def fate(self) -> str:
        return f"{len(self.categories)} categories, one feature each" + (
            ", and the rare ones" if self.has_other else ""
        )

    @classmethod
    def fit(cls, column: Column, scaling: str) -> CategoryColumn:
        frequent, n_rare = frequent_levels(column)
        return cls(column.name, tuple(sorted(frequent)), n_rare > 0)

    def transform(self, table: Table) -> tuple[AnyArray, list[str]]:
        """Cells are read as text even where all look like numbers: the model decides, not the new table."""
        column = table.column(self.name, "text")
        X = encode_levels(column, self.categories, self.has_other)
        strange = [] if self.has_other else sorted(set(column.levels) - set(self.categories))
        return X, say_unknown(self.name, strange)


def frequent_levels(column: Column) -> tuple[list[str], int]:
    """Levels that are not rare, most frequent first, and how many are; a single rare one is not worth a pool."""
    least = min(RARE, len(column.data) // OF_ROWS)
    order = sorted(zip(column.counts.tolist(), column.levels, strict=True), key=lambda pair: (-pair[0], pair[1]))
    frequent = [level for count, level in order if count >= least]
    if len(order) - len(frequent) < 2 or not frequent:
        return [level for _, level in order], 0
    return frequent, len(order) - len(frequent)


def encode_levels(column: Column, known: tuple[str, ...], has_other: bool) -> AnyArray:
    """0/1 features of the known levels, and a last one for all others if there is one."""
    place = {level: k for k, level in enumerate(known)}
    absent = len(known) if has_other else -1
    places = np.array([*(place.get(level, absent) for level in column.levels), -1])[column.data]
    X = np.zeros((len(places), len(known) + has_other))
    hit = np.flatnonzero(places >= 0)
    X[hit, places[hit]] = 1.0
    return X
