"""How each column becomes features: its kind is recognised, or it is left out, or an error explains what to change.

The plan is fitted to the training table and stored with the model, so that new rows are transformed identically, in one
table or in batches.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._reader.columns import Column, is_plain, stray_cells
from pnulearn._reader.errors import TableError, suggestion
from pnulearn._reader.table import Table
from pnulearn.tables._kinds import (
    KINDS,
    READ_AS,
    Unusable,
    UsedColumn,
    are_flags,
    kind_of,
    often_missing,
    refuse_infinity,
)
from pnulearn.tables._new_rows import NewCells, NewRows
from pnulearn.tables._options import MOST_CATEGORIES, Scaling
from pnulearn.tables._provenance import NAMED

MOSTLY_NUMBERS = 0.8
LEAST_FILLED = 0.02  # share of filled cells; with fewer, a column tells of too few rows
WORDS_OF_TEXT = 3  # cells with more words on average are sentences rather than names
FEWEST_NUMBERED = 20  # smallest number of rows for consecutive integers to be recognised as an identifier
_IDENTIFIER = re.compile(
    r"(?i)(^|[\W_])(id|uuid|guid|key|index|nr|no|number|nummer)$|(?<=[a-z])(Id|ID|Nr|Number)$|^Unnamed: \d+$"
)
_POSTAL = re.compile(r"(?i)(^|[\W_])(zip|plz|postal|postcode|postleitzahl)([\W_]|$)|zipcode|zip_code|postalcode")


class NoColumnsLeft(TableError):
    """No column of a table can be used as a feature."""


@dataclass(frozen=True, eq=False)
class Excerpt:
    """The row numbers of a sample in a larger table, in order, and the number of rows of that table."""

    numbers: AnyArray
    n_rows: int


@dataclass(frozen=True)
class ColumnPlan:
    """How rows of a table become features, column by column in the order of the table."""

    columns: tuple[UsedColumn, ...]
    left_out: dict[str, str]

    @property
    def feature_names(self) -> list[str]:
        return [name for column in self.columns for name in column.feature_names]

    @property
    def kinds(self) -> dict[str, str]:
        """The kind of every column that is used."""
        return {column.name: kind_of(column) for column in self.columns}

    @property
    def unusable(self) -> dict[str, str]:
        """Columns left out because of their content, not on request, with the reasons."""
        return {name: reason for name, reason in self.left_out.items() if reason not in NAMED}

    @property
    def fates(self) -> dict[str, str]:
        """A description of the use of every column."""
        used = {column.name: column.fate for column in self.columns}
        return used | {name: f"left out: {reason}" for name, reason in self.left_out.items()}

    def features(self, table: Table) -> tuple[AnyArray, list[str]]:
        """An array (rows, features) and remarks about cells that differ from those of the fit."""
        X, found = self.transform(table)
        return X, found.remarks()

    def transform(self, table: Table) -> tuple[AnyArray, NewRows]:
        """An array (rows, features) and counts of the cells, to be added up over batches."""
        self._refuse_other_columns(table)
        cells: dict[str, NewCells] = {}
        X = np.empty((table.n_rows, len(self.feature_names)))
        place = 0
        for column in self.columns:
            part, cells[column.name] = column.transform(table)
            X[:, place : place + part.shape[1]] = part
            place += part.shape[1]
        return X, NewRows(cells, {column.name: column.seen for column in self.columns}, self.kinds)

    def _refuse_other_columns(self, table: Table) -> None:
        needed, names = [column.name for column in self.columns], set(table.names)
        absent = [name for name in needed if name not in names]
        if absent:
            listed = ", ".join(map(repr, absent[:8])) + (f" and {len(absent) - 8} more" if len(absent) > 8 else "")
            others = [name for name in table.names if name not in needed]
            hint = suggestion(absent[0], others, "Of its columns the model does not use")
            raise TableError(
                f"The model needs {'columns' if len(absent) > 1 else 'column'} {listed}, which {table.source} does "
                f"not have. {hint}".rstrip()
            )


def learn_plan(
    table: Table,
    *,
    without: Mapping[str, str] | None = None,
    scaling: Scaling = "standard",
    kinds: Mapping[str, str] | None = None,
    most_categories: int = MOST_CATEGORIES,
    excerpt: Excerpt | None = None,
) -> ColumnPlan:
    """Learn a plan for all columns except those in `without`.

    Parameters
    ----------
    table : Table
        As `read_table` returns it.
    without : mapping, optional
        Columns to leave out, with the reasons.
    scaling : str
        "standard" gives numbers mean 0 and variance 1, "minmax" the range [0, 1], "none" leaves them.
    kinds : mapping, optional
        Kinds of columns by name, if they differ from the recognised ones.
    most_categories : int
        Largest number of categories with a feature each; in columns with more, categories share features by hashing.
    excerpt : Excerpt, optional
        The row numbers, if the rows were drawn at random from a larger table.
    """
    left_out, wanted = dict(without or {}), dict(kinds or {})
    for name in (*left_out, *wanted):
        table.refuse_absent(name)
    for name in left_out.keys() & wanted.keys():
        raise TableError(f"Column {name!r} is left out ({left_out[name]}), so it cannot be used as {wanted[name]!r}.")
    used: list[UsedColumn] = []
    seen: dict[bytes, str] = {}
    for name in [name for name in table.names if name not in left_out]:
        try:
            if name in wanted:
                used.append(_fit_as(table, name, wanted[name], scaling))
            else:
                column = table.column(name)
                _refuse_unusable(column, table)
                kind = recognize(column, most_categories, excerpt)
                _refuse_twin(column, seen)
                used.append(_fit(table, column, kind, scaling))
        except Unusable as reason:
            left_out[name] = str(reason)
    if not used:
        why = "; ".join(f"{name!r}: {reason}" for name, reason in list(left_out.items())[:6])
        raise NoColumnsLeft(f"{table.source} has no column left to learn from ({why}).")
    return ColumnPlan(tuple(used), left_out)


def _fit_as(table: Table, name: str, kind: str, scaling: str) -> UsedColumn:
    """A column with a kind that the user chose."""
    if kind not in KINDS:
        raise TableError(f"Column {name!r} cannot be {kind!r}. Kinds are {', '.join(KINDS)}.")
    if kind == "number":
        table.numbers(name, "It cannot be used as numbers.")
    column = table.column(name, READ_AS.get(kind, "text"))
    if column.missing.all():
        raise Unusable("empty")
    return KINDS[kind].fit(column, scaling)


def _fit(table: Table, column: Column, kind: str, scaling: str) -> UsedColumn:
    wanted = READ_AS.get(kind, "text")
    return KINDS[kind].fit(column if wanted in (None, column.kind) else table.column(column.name, wanted), scaling)


def _refuse_unusable(column: Column, table: Table) -> None:
    """Raise an error for infinite values and for numbers with a few other cells."""
    if column.kind == "number":
        refuse_infinity(column.name, column.data, table)
    if column.kind == "text":
        _refuse_stray_cells(column, table)


def _refuse_stray_cells(column: Column, table: Table) -> None:
    stray = stray_cells(column, table.reading.decimal_comma)
    if 0 < len(stray) < (1 - MOSTLY_NUMBERS) * column.counts.sum():
        cell = column.values[stray[0]]
        raise TableError(
            f"Column {column.name!r} of {table.source} holds numbers except in {len(stray)} "
            f"{'cells' if len(stray) > 1 else 'cell'}, first {cell!r} in row {stray[0] + 1}. If that means missing, "
            f"pass missing=[{cell!r}]; otherwise correct it or pass drop=[{column.name!r}]."
            + (" If the table has two lines of names, pass header_rows=2." if stray.tolist() == [0] else "")
        )


def _refuse_twin(column: Column, seen: dict[bytes, str]) -> None:
    """Leave out a column that is equal to an earlier one."""
    digest = hashlib.sha1(np.ascontiguousarray(column.data).tobytes(), usedforsecurity=False)
    digest.update("\0".join(column.levels).encode())
    twin = seen.setdefault(digest.digest(), column.name)
    if twin != column.name:
        raise Unusable(f"the same as column {twin!r}")


def recognize(column: Column, most_categories: int = MOST_CATEGORIES, excerpt: Excerpt | None = None) -> str:
    """The kind of a column; raises `Unusable` with the reason if it cannot help.

    The rows may be a random sample of a larger table.
    """
    excerpt = excerpt or Excerpt(np.arange(len(column.data)), len(column.data))
    present = column.data[~column.missing]
    if len(present) == 0:
        raise Unusable("empty")
    if len(present) < LEAST_FILLED * len(column.data):
        raise Unusable(f"nearly empty ({len(present)} of {len(column.data)} cells are filled)")
    if np.all(present == present[0]) and not often_missing(column.missing):
        raise Unusable("the same value in every row")
    if column.kind == "flag":
        return "flag"
    if column.kind == "number":
        return _recognize_number(column, present, most_categories, excerpt)
    return "date" if column.kind == "date" else _recognize_text(column, len(present), most_categories)


def _recognize_number(column: Column, present: AnyArray, most_categories: int, excerpt: Excerpt) -> str:
    n_filled = excerpt.n_rows * len(present) / len(column.data)
    if len(present) >= FEWEST_NUMBERED and (_counts_rows(column, excerpt) or _is_numbering(present, n_filled)):
        raise Unusable("row numbers")
    whole = np.floor(present) == present
    if whole.all() and _IDENTIFIER.search(column.name) and len(present) >= FEWEST_NUMBERED:
        distinct = len(np.unique(present))
        if distinct > 0.95 * len(present):
            raise Unusable(f"an identifier ({distinct} different numbers)")
        if distinct > most_categories:
            return "codes"  # of other things, such as the host of a flat: their order means nothing
    if whole.all() and _POSTAL.search(column.name):
        return "category" if len(np.unique(present)) <= most_categories else "codes"
    return "number"


def _counts_rows(column: Column, excerpt: Excerpt) -> bool:
    steps = np.diff(column.data) / np.diff(excerpt.numbers)
    return steps[0] != 0 and bool(np.all(steps == steps[0])) and float(steps[0]).is_integer()


def _is_numbering(present: AnyArray, n_filled: float) -> bool:
    """Whether the values are all integers of a range, each once, in any order; or for a sample, some of them.

    The range of n random numbers is on average smaller by 2 / n of the full range, and rarely by ten times as much.
    """
    n = len(present)
    missed = 0.0 if n == n_filled else 20 / n * n_filled
    if abs(np.ptp(present) + 1 - n_filled) > missed or not np.all(np.floor(present) == present):
        return False
    return len(np.unique(present)) == n


def _recognize_text(column: Column, n_present: int, most_categories: int) -> str:
    n_levels = len(column.levels)
    if are_flags(list(column.levels)):
        return "flag"
    mostly_different = n_levels > max(n_present / 2, 2)
    if n_levels <= most_categories and not mostly_different:
        return "category"
    if np.mean([level.count(" ") for level in column.levels]) + 1 >= WORDS_OF_TEXT:
        return "text"
    if mostly_different:
        raise Unusable(f"an identifier or a name ({n_levels} different values)")
    return "codes"


def describe_columns(table: Table, plan: ColumnPlan) -> list[dict[str, Any]]:
    """One row per column: its kind, features, missing cells, and use."""
    n_features = {column.name: len(column.feature_names) for column in plan.columns}
    kinds, fates = plan.kinds, plan.fates
    return [
        {
            "column": name,
            "kind": kinds.get(name, "-"),
            "features": n_features.get(name, 0),
            "missing": int(table.column(name).missing.sum()) if is_plain(table.cells.schema.field(name).type) else 0,
            "treatment": fates[name],
        }
        for name in table.names
    ]
