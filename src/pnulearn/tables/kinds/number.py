"""Columns of numbers and flags."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pnulearn._tables.columns import Column
from pnulearn._tables.errors import TableError
from pnulearn._tables.table import Table

REMEDY = "The model was fitted to numbers there: correct the cell, or name it with --missing if it means missing."


@dataclass(frozen=True)
class NumberColumn:
    """A column used as (x − offset) / scale, with `fill` in place of missing values."""

    name: str
    fill: float
    offset: float
    scale: float

    @property
    def feature_names(self) -> list[str]:
        return [self.name]

    @classmethod
    def fit(cls, column: Column, scaling: str) -> NumberColumn:
        """Fill with the median; standard scaling gives mean 0 and variance 1, minmax the range [0, 1]."""
        values = column.data[~column.missing]
        fill = float(np.median(values))
        if scaling == "none":
            return cls(column.name, fill, 0.0, 1.0)
        if scaling == "minmax":
            offset, scale = float(values.min()), float(values.max() - values.min())
        else:
            filled = np.where(column.missing, fill, column.data)
            offset, scale = float(filled.mean()), float(filled.std())
        return cls(column.name, fill, offset, scale or 1.0)

    def transform(self, table: Table) -> tuple[NDArray, list[str]]:
        values = table.numbers(self.name, REMEDY).data
        refuse_infinity(self.name, values, table)
        return ((np.where(np.isnan(values), self.fill, values) - self.offset) / self.scale)[:, None], []


def refuse_infinity(name: str, values: NDArray, table: Table) -> None:
    infinite = np.flatnonzero(np.isinf(values))
    if len(infinite):
        row = table.start + int(infinite[0]) + 1
        raise TableError(f"Column {name!r} of {table.source} is infinite in row {row}. Correct the cell or empty it.")
