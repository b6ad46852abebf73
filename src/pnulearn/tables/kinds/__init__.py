"""The kinds of columns a model can use, each in a file of its own.

A kind is a frozen dataclass of plain values, saved with the model. It is learnt from all rows of a column and turns the
same column of any batch of rows into features. A new kind is a new file and a line in `KINDS`.
"""

from __future__ import annotations

from typing import Protocol

from numpy.typing import NDArray

from pnulearn._tables.columns import Column, Kind
from pnulearn._tables.table import Table
from pnulearn.tables.kinds.category import CategoryColumn
from pnulearn.tables.kinds.number import NumberColumn


class UsedColumn(Protocol):
    """A column of a model."""

    @property
    def name(self) -> str: ...

    @property
    def feature_names(self) -> list[str]: ...

    @classmethod
    def fit(cls, column: Column, scaling: str) -> UsedColumn:
        """From all rows."""

    def transform(self, table: Table) -> tuple[NDArray, list[str]]:
        """Features (rows, len(feature_names)) of some rows, and remarks about cells that are not known."""


KINDS: dict[Kind, type[UsedColumn]] = {"number": NumberColumn, "flag": NumberColumn, "text": CategoryColumn}
TYPES = tuple(dict.fromkeys(KINDS.values()))

__all__ = ["KINDS", "TYPES", "CategoryColumn", "NumberColumn", "UsedColumn"]
