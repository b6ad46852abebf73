"""What becomes of every column: used as a number, one-hot encoded, left out, or refused with advice.

The plan is learnt from the table a model is fitted to and stored with the model, so that new rows are treated alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pnulearn.tables.cells import Column, Table, TableError, as_numbers, suggestion

Scaling = Literal["standard", "minmax", "none"]

MOST_CATEGORIES = 50  # beyond, a text column is more likely an identifier or free text
MOSTLY_NUMBERS = 0.8


@dataclass(frozen=True)
class NumberColumn:
    """A column used as (x − offset) / scale, with `fill` in place of missing values."""

    name: str
    fill: float
    offset: float
    scale: float


@dataclass(frozen=True)
class CategoryColumn:
    """A column that becomes one 0/1 feature per category; missing and unknown values are 0 in all of them."""

    name: str
    categories: tuple[str, ...]


@dataclass(frozen=True)
class ColumnPlan:
    """How rows of a table become features, in the order numbers, then categories."""

    numbers: tuple[NumberColumn, ...]
    categories: tuple[CategoryColumn, ...]
    left_out: dict[str, str]
    scaling: str = "standard"
    remarks: list[str] = field(default_factory=list)

    @property
    def feature_names(self) -> list[str]:
        names = [column.name for column in self.numbers]
        return names + [f"{column.name}={value}" for column in self.categories for value in column.categories]

    def features(self, table: Table) -> tuple[NDArray, list[str]]:
        """An array (rows, features) and remarks about cells that the plan does not know."""
        self._refuse_other_columns(table)
        remarks: list[str] = []
        X = np.zeros((table.n_rows, len(self.feature_names)))
        for place, number in enumerate(self.numbers):
            values = _as_number_column(table.column(number.name), table.source).values
            X[:, place] = (np.where(np.isnan(values), number.fill, values) - number.offset) / number.scale
        place = len(self.numbers)
        for category in self.categories:
            known = {value: place + i for i, value in enumerate(category.categories)}
            texts = table.column(category.name).texts()
            places = np.array([-1 if text is None else known.get(text, -1) for text in texts])
            hit = np.flatnonzero(places >= 0)
            X[hit, places[hit]] = 1.0
            strange = {t for t in texts if t is not None and t not in known}
            if strange:
                remarks.append(_strange_values(category.name, strange))
            place += len(category.categories)
        return X, remarks

    def _refuse_other_columns(self, table: Table) -> None:
        needed = [*(column.name for column in self.numbers), *(column.name for column in self.categories)]
        absent = [name for name in needed if name not in table.columns]
        if absent:
            listed = ", ".join(map(repr, absent[:8])) + (f" and {len(absent) - 8} more" if len(absent) > 8 else "")
            raise TableError(
                f"The model needs {'columns' if len(absent) > 1 else 'column'} {listed}, which {table.source} does "
                f"not have. {suggestion(absent[0], [n for n in table.columns if n not in needed] or table.columns)}"
            )


def learn_plan(table: Table, *, without: Mapping[str, str] | None = None, scaling: Scaling = "standard") -> ColumnPlan:
    """A plan for all columns but those `without`, a mapping from names to reasons.

    scaling: "standard" gives numbers mean 0 and variance 1, "minmax" the range [0, 1], "none" leaves them.
    """
    left_out = dict(without or {})
    for name in left_out:
        table.column(name)
    numbers, categories, remarks = [], [], []
    for name, column in table.columns.items():
        if name in left_out:
            continue
        column = _usable(column, table.source)
        reason = _useless(column, table.n_rows)
        if reason:
            left_out[name] = reason
        elif column.kind == "text":
            categories.append(CategoryColumn(name, tuple(sorted({t for t in column.texts() if t is not None}))))
        else:
            numbers.append(_scaled(column, scaling))
            remarks += _counter_remark(column)
    if not numbers and not categories:
        why = "; ".join(f"{name!r}: {reason}" for name, reason in list(left_out.items())[:6])
        raise TableError(f"{table.source} has no column left to learn from ({why}).")
    return ColumnPlan(tuple(numbers), tuple(categories), left_out, scaling, remarks)


def _usable(column: Column, source: str) -> Column:
    """The column itself; dates, infinities and numbers with stray cells are refused."""
    if column.kind == "date":
        shown = next(value for value in column.values if value is not None)
        raise TableError(
            f"Column {column.name!r} of {source} holds dates or times (such as {shown}), which say nothing as they "
            f"stand. Leave it out with --drop {column.name!r}, or turn it into numbers first, e.g. days since an event."
        )
    if column.kind == "number" and np.isinf(column.values).any():
        row = int(np.flatnonzero(np.isinf(column.values))[0]) + 1
        raise TableError(f"Column {column.name!r} of {source} is infinite in row {row}. Correct the cell or empty it.")
    if column.kind == "text":
        _refuse_stray_cells(column, source)
    return column


def _refuse_stray_cells(column: Column, source: str) -> None:
    present = [(i, cell) for i, cell in enumerate(column.values) if cell is not None]
    stray = [(i, cell) for i, cell in present if as_numbers([cell], frozenset()) is None]
    if present and len(stray) < (1 - MOSTLY_NUMBERS) * len(present):
        raise TableError(
            f"Column {column.name!r} of {source} holds numbers except in {len(stray)} cells, first {stray[0][1]!r} in "
            f"row {stray[0][0] + 1}. If that means missing, pass --missing {stray[0][1]!r}; otherwise correct it or "
            f"pass --drop {column.name!r}."
        )


def _useless(column: Column, n_rows: int) -> str:
    """Why a column cannot help, or nothing."""
    present = column.values[~column.missing]
    if len(present) == 0:
        return "empty"
    distinct = len(set(present.tolist()))
    if distinct == 1 and len(present) == n_rows:
        return "the same value in every row"
    if column.kind == "text" and distinct > min(MOST_CATEGORIES, max(n_rows / 2, 2)):
        return f"free text or an identifier ({distinct} different values)"
    return ""


def _scaled(column: Column, scaling: Scaling) -> NumberColumn:
    values = column.values[~np.isnan(column.values)]
    fill = float(np.median(values))
    if scaling == "none":
        return NumberColumn(column.name, fill, 0.0, 1.0)
    if scaling == "minmax":
        offset, scale = float(values.min()), float(values.max() - values.min())
    else:
        filled = np.where(np.isnan(column.values), fill, column.values)
        offset, scale = float(filled.mean()), float(filled.std())
    return NumberColumn(column.name, fill, offset, scale or 1.0)


def _counter_remark(column: Column) -> list[str]:
    steps = np.diff(column.values)
    if len(steps) > 1 and np.all(steps == steps[0]) and steps[0] != 0:
        return [f"Column {column.name!r} counts the rows. If it is an identifier, pass --drop {column.name!r}."]
    return []


def _as_number_column(column: Column, source: str) -> Column:
    if column.kind in ("number", "flag"):
        return _usable(column, source)
    cell = next(
        (value for value in column.values if value is not None and as_numbers([value], frozenset()) is None), ""
    )
    raise TableError(f"The model needs numbers in column {column.name!r}; {source} has {cell!r} there.")


def _strange_values(name: str, strange: set[str]) -> str:
    shown = ", ".join(map(repr, sorted(strange)[:3])) + (", ..." if len(strange) > 3 else "")
    return f"Column {name!r} has values the model has never seen ({shown}); they are treated as missing."
