"""What becomes of every column: used as a number, one-hot encoded, left out, or refused with advice.

The plan is learnt from the table a model is fitted to and stored with the model, so that new rows are treated alike,
whether they come as one table or in batches.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pnulearn._tables.columns import Column, stray_cells
from pnulearn._tables.errors import TableError, suggestion
from pnulearn._tables.table import Table
from pnulearn.tables.kinds import KINDS, CategoryColumn, NumberColumn, UsedColumn
from pnulearn.tables.kinds.number import refuse_infinity

Scaling = Literal["standard", "minmax", "none"]

MOST_CATEGORIES = 50  # beyond, a text column is more likely an identifier or free text
MOSTLY_NUMBERS = 0.8


@dataclass(frozen=True)
class ColumnPlan:
    """How rows of a table become features, in the order numbers, categories, then columns of other kinds."""

    numbers: tuple[NumberColumn, ...]
    categories: tuple[CategoryColumn, ...]
    left_out: dict[str, str]
    scaling: str = "standard"
    remarks: list[str] = field(default_factory=list)
    others: tuple[UsedColumn, ...] = ()

    @property
    def columns(self) -> tuple[UsedColumn, ...]:
        return (*self.numbers, *self.categories, *self.others)

    @property
    def feature_names(self) -> list[str]:
        return [name for column in self.columns for name in column.feature_names]

    def features(self, table: Table) -> tuple[NDArray, list[str]]:
        """An array (rows, features) and remarks about cells that the plan does not know."""
        self._refuse_other_columns(table)
        remarks: list[str] = []
        X = np.empty((table.n_rows, len(self.feature_names)))
        place = 0
        for column in self.columns:
            part, notes = column.transform(table)
            X[:, place : place + part.shape[1]] = part
            place += part.shape[1]
            remarks += notes
        return X, remarks

    def _refuse_other_columns(self, table: Table) -> None:
        needed = [column.name for column in self.columns]
        absent = [name for name in needed if name not in table.names]
        if absent:
            listed = ", ".join(map(repr, absent[:8])) + (f" and {len(absent) - 8} more" if len(absent) > 8 else "")
            raise TableError(
                f"The model needs {'columns' if len(absent) > 1 else 'column'} {listed}, which {table.source} does "
                f"not have. {suggestion(absent[0], [n for n in table.names if n not in needed] or table.names)}"
            )


def learn_plan(table: Table, *, without: Mapping[str, str] | None = None, scaling: Scaling = "standard") -> ColumnPlan:
    """A plan for all columns but those `without`, a mapping from names to reasons.

    scaling: "standard" gives numbers mean 0 and variance 1, "minmax" the range [0, 1], "none" leaves them.
    """
    left_out = dict(without or {})
    for name in left_out:
        table.refuse_absent(name)
    used: list[UsedColumn] = []
    remarks: list[str] = []
    for name in [name for name in table.names if name not in left_out]:
        column = table.column(name)
        _refuse_unusable(column, table)
        reason = _useless(column, table.n_rows)
        if reason:
            left_out[name] = reason
            continue
        used.append(KINDS[column.kind].fit(column, scaling))
        remarks += _counter_remark(column)
    if not used:
        why = "; ".join(f"{name!r}: {reason}" for name, reason in list(left_out.items())[:6])
        raise TableError(f"{table.source} has no column left to learn from ({why}).")
    numbers = tuple(column for column in used if isinstance(column, NumberColumn))
    categories = tuple(column for column in used if isinstance(column, CategoryColumn))
    others = tuple(column for column in used if not isinstance(column, NumberColumn | CategoryColumn))
    return ColumnPlan(numbers, categories, left_out, scaling, remarks, others)


def _refuse_unusable(column: Column, table: Table) -> None:
    """Dates, infinities and numbers with stray cells are refused."""
    if column.kind == "date":
        raise TableError(
            f"Column {column.name!r} of {table.source} holds dates or times (such as {column.levels[0]}), which say "
            f"nothing as they stand. Leave it out with --drop {column.name!r}, or turn it into numbers first, e.g. "
            "days since an event."
        )
    if column.kind == "number":
        refuse_infinity(column.name, column.data, table)
    if column.kind == "text":
        _refuse_stray_cells(column, table)


def _refuse_stray_cells(column: Column, table: Table) -> None:
    stray = stray_cells(column, table.reading.decimal_comma)
    if 0 < len(stray) < (1 - MOSTLY_NUMBERS) * column.counts.sum():
        cell = column.values[stray[0]]
        raise TableError(
            f"Column {column.name!r} of {table.source} holds numbers except in {len(stray)} cells, first {cell!r} in "
            f"row {stray[0] + 1}. If that means missing, pass --missing {cell!r}; otherwise correct it or pass --drop "
            f"{column.name!r}."
        )


def _useless(column: Column, n_rows: int) -> str:
    """Why a column cannot help, or nothing."""
    present = column.data[~column.missing]
    if len(present) == 0:
        return "empty"
    if len(present) == n_rows and np.all(present == present[0]):
        return "the same value in every row"
    if column.kind == "text" and len(column.levels) > min(MOST_CATEGORIES, max(n_rows / 2, 2)):
        return f"free text or an identifier ({len(column.levels)} different values)"
    return ""


def _counter_remark(column: Column) -> list[str]:
    steps = np.diff(column.data)
    if column.is_numeric and len(steps) > 1 and np.all(steps == steps[0]) and steps[0] != 0:
        return [f"Column {column.name!r} counts the rows. If it is an identifier, pass --drop {column.name!r}."]
    return []
