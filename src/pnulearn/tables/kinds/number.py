"""Columns of numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._tables.columns import Column
from pnulearn._tables.errors import TableError
from pnulearn._tables.table import Table
from pnulearn.tables.kinds.gaps import append_filled, often_missing
from pnulearn.tables.kinds.scale import Scale

GIANT = 1e8  # beyond, sixteen digits do not keep the usual values apart any more
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
        _refuse_giant(column, float(np.median(column.data[~column.missing])))
        scale = Scale.fit(column.data, scaling)
        return cls(column.name, scale, often_missing(column.missing), column.decimal)

    def transform(self, table: Table) -> tuple[AnyArray, list[str]]:
        values = table.numbers(self.name, REMEDY, self.decimal).data
        refuse_infinity(self.name, values, table)
        return append_filled(self.scale.apply(values), np.isnan(values), self.flagged), []


def _refuse_giant(column: Column, center: float) -> None:
    """One cell far beyond all others makes the scale so large that the others become one value."""
    distance = np.where(column.missing, 0.0, np.abs(column.data / 2 - center / 2))  # halves cannot overflow
    off = distance[distance > 0]
    row = int(np.argmax(distance))
    if len(off) and distance[row] / GIANT > max(float(np.median(off)), abs(center) / GIANT):
        raise TableError(
            f"Column {column.name!r} holds {column.data[row]:.3g} in row {row + 1}, more than {GIANT:g} times as far "
            "off as the other cells usually are: scaled to it, they would all look alike. Correct or empty the cell, "
            f"or name it with --missing {column.data[row]:g} if it means missing."
        )


def refuse_infinity(name: str, values: AnyArray, table: Table) -> None:
    infinite = np.flatnonzero(np.isinf(values))
    if len(infinite):
        row = table.start + int(infinite[0]) + 1
        raise TableError(f"Column {name!r} of {table.source} is infinite in row {row}. Correct the cell or empty it.")
