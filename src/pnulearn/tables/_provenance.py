"""How labels were sampled: columns that mark rows labelled at random, weights, and columns of `pnulearn label`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._reader.errors import TableError
from pnulearn._reader.table import Table
from pnulearn.tables._kinds import read_flags

WEIGHTS = "holds weights of rows"
MARKS = "marks rows labelled at random"
DROPPED, LABEL = "by request", "the label"
NAMED = (WEIGHTS, MARKS, DROPPED, LABEL)  # reasons to leave out a column that somebody named


class Origins(NamedTuple):
    """Columns about labels: which were drawn at random, how rows weigh, and all that are no features."""

    at_random: str | None
    weights: str | None
    drop: list[str]
    remark: str = ""


def export_names(label: str) -> tuple[str, str, str, str]:
    """Names of the columns that an export has for a label.

    >>> export_names("bought")
    ('bought', 'bought_origin', 'bought_at_random', 'bought_weight')
    """
    return label, f"{label}_origin", f"{label}_at_random", f"{label}_weight"


def find_origins(
    table: Table, label: str, at_random: str | None, weights: str | None, drop: Sequence[str], said: bool = False
) -> Origins:
    """The columns that were named; if none was, those of an export, where the table has all of them.

    `said` is whether it was said otherwise how labels were drawn.
    """
    _, origin, marks, weight = export_names(label)
    if at_random is None and weights is None and not said and {origin, marks, weight} <= set(table.names):
        remark = f"Columns {marks!r} and {weight!r}, written by `pnulearn label`, are used."
        return Origins(marks, weight, [*drop, origin], remark)
    return Origins(at_random, weights, list(drop))


def columns_without(
    label: str | None, drop: Sequence[str], at_random: str | None = None, weights: str | None = None
) -> dict[str, str]:
    """Columns that are no features, with the reasons."""
    named = {at_random: MARKS, label: LABEL, weights: WEIGHTS}
    return dict.fromkeys(drop, DROPPED) | {name: reason for name, reason in named.items() if name is not None}


def read_weights(table: Table, name: str | None) -> AnyArray | None:
    """Weights of all rows; an empty cell means one."""
    if name is None:
        return None
    column = table.numbers(name, "Weights are numbers from 0 on.")
    weights = np.where(np.isnan(column.data), 1.0, column.data)
    bad = np.flatnonzero(~np.isfinite(weights) | (weights < 0))
    if len(bad):
        row = int(bad[0])
        raise TableError(
            f"Column {name!r} of {table.source} is to hold weights, numbers from 0 on; row {row + 1} holds "
            f"{weights[row]:g}."
        )
    return weights


def read_marks(table: Table, name: str, rows: AnyArray | slice, codes: AnyArray) -> AnyArray:
    """True where the column says yes, for these rows, whose labels have these codes; an empty cell means no.

    Other words are refused, and a column that marks no labelled row.
    """
    marked: AnyArray = marked_rows(table, name)[rows]
    if not (marked & (codes >= 0)).any():
        raise no_labeled(table.source, name)
    return marked


def marked_rows(table: Table, name: str) -> AnyArray:
    """True where the column says yes; other words than yes and no are refused."""
    values, strange = read_flags(table.column(name))
    if strange:
        raise TableError(
            f"Column {name!r} of {table.source} is to say which rows were labelled at random, with yes and no or 1 and "
            f"0; it holds {strange[0]!r}."
        )
    marked: AnyArray = values == 1
    return marked


def no_labeled(source: str, name: str) -> TableError:
    """The error for a column that marks rows without labels only."""
    return TableError(f"Column {name!r} of {source} marks no labelled row as labelled at random.")
