"""Columns of categories."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pnulearn._tables.columns import Column
from pnulearn._tables.table import Table


@dataclass(frozen=True)
class CategoryColumn:
    """A column that becomes one 0/1 feature per category; missing and unknown values are 0 in all of them."""

    name: str
    categories: tuple[str, ...]

    @property
    def feature_names(self) -> list[str]:
        return [f"{self.name}={value}" for value in self.categories]

    @classmethod
    def fit(cls, column: Column, scaling: str) -> CategoryColumn:
        return cls(column.name, tuple(sorted(column.levels)))

    def transform(self, table: Table) -> tuple[NDArray, list[str]]:
        """Cells are read as text even where all look like numbers: the model decides, not the new table."""
        column = table.column(self.name, "text")
        known = {value: place for place, value in enumerate(self.categories)}
        places = np.array([*(known.get(level, -1) for level in column.levels), -1])[column.data]
        X = np.zeros((table.n_rows, len(known)))
        hit = np.flatnonzero(places >= 0)
        X[hit, places[hit]] = 1.0
        strange = sorted(set(column.levels) - set(known))
        return X, [_strange_values(self.name, strange)] if strange else []


def _strange_values(name: str, strange: list[str]) -> str:
    shown = ", ".join(map(repr, strange[:3])) + (", ..." if len(strange) > 3 else "")
    return f"Column {name!r} has values the model has never seen ({shown}); they are treated as missing."
