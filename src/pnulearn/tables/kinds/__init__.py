"""The kinds of columns a model can use, each in a file of its own.

A kind is a frozen dataclass of plain values, saved with the model. It is learnt from all rows of a column, labelled or
not, and turns the same column of any batch of rows into features. A new kind is a new file and a line in `KINDS`.
"""

from __future__ import annotations

from typing import Protocol

from pnulearn._arrays import AnyArray
from pnulearn._tables.columns import Column, Kind
from pnulearn._tables.table import Table
from pnulearn.tables.kinds.category import CategoryColumn
from pnulearn.tables.kinds.codes import CodesColumn
from pnulearn.tables.kinds.date import DateColumn
from pnulearn.tables.kinds.flag import FlagColumn
from pnulearn.tables.kinds.number import NumberColumn
from pnulearn.tables.kinds.scale import Scale
from pnulearn.tables.kinds.text import TextColumn
from pnulearn.tables.kinds.unusable import Unusable


class UsedColumn(Protocol):
    """A column of a model."""

    @property
    def name(self) -> str: ...

    @property
    def feature_names(self) -> list[str]: ...

    @property
    def fate(self) -> str:
        """What becomes of the column, in words."""

    @classmethod
    def fit(cls, column: Column, scaling: str) -> UsedColumn:
        """From all rows; raises `Unusable` if there is nothing to learn."""

    def transform(self, table: Table) -> tuple[AnyArray, list[str]]:
        """Features (rows, len(feature_names)) of some rows, and remarks about cells that are not known."""


KINDS: dict[str, type[UsedColumn]] = {
    "number": NumberColumn,
    "flag": FlagColumn,
    "category": CategoryColumn,
    "codes": CodesColumn,
    "date": DateColumn,
    "text": TextColumn,
}
READ_AS: dict[str, Kind | None] = {"number": "number", "flag": None}  # all others read text
TYPES = (*KINDS.values(), Scale)


def kind_of(column: UsedColumn) -> str:
    """The name of a column's kind."""
    return next(name for name, kind in KINDS.items() if isinstance(column, kind))


__all__ = ["KINDS", "READ_AS", "TYPES", "Unusable", "UsedColumn", "kind_of"]
