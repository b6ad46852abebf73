"""Columns of numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pnulearn._tables.columns import Column
from pnulearn._tables.errors import TableError
from pnulearn._tables.table import Table
from pnulearn.tables.kinds.gaps import append_filled, often_missing
from pnulearn.tables.kinds.scale import Scale

REMEDY = "The model was fitted to numbers there: correct the cell, or name it with --missing if it means missing."


@dataclass(frozen=True)
class NumberColumn:
    """A scaled column, with a feature that says whether the cell is filled if many are not."""

    name: str
    scale: Scale
    flagged: bool = False
    decimal: str = ""

    @property
    def feature_names(self) -> list[str]:
        return [self.name, f"{self.name} filled"] if self.flagged else [self.name]

    @property
    def fate(self) -> str:
        shape = "number with a long tail, by normal ranks" if self.scale.is_ranked else "number"
        return f"{shape}; missing cells get the median {self.scale.fill:.4g}" + (" and a flag" if self.flagged else "")

    @classmethod
    def fit(cls, column: Column, scaling: str) -> NumberColumn:
        scale = Scale.fit(column.data, scaling)
        return cls(column.name, scale, often_missing(column.missing), column.decimal)

    def transform(self, table: Table) -> tuple[NDArray, list[str]]:
        values = table.numbers(self.name, REMEDY, self.decimal).data
        refuse_infinity(self.name, values, table)
        return append_filled(self.scale.apply(values), np.isnan(values), self.flagged), []


def refuse_infinity(name: str, values: NDArray, table: Table) -> None:
    infinite = np.flatnonzero(np.isinf(values))
    if len(infinite):
        row = table.start + int(infinite[0]) + 1
        raise TableError(f"Column {name!r} of {table.source} is infinite in row {row}. Correct the cell or empty it.")
