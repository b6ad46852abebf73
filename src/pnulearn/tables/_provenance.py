"""How rows were sampled: columns of weights and groups, of rows labelled at random, and of `pnulearn label`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._intervals.closed_forms import effective_counts
from pnulearn._reader.errors import TableError
from pnulearn._reader.table import Table
from pnulearn.tables._kinds import read_flags

WEIGHTS = "holds weights of rows"
GROUPS = "holds groups of rows"
MARKS = "marks rows labelled at random"
DROPPED, LABEL = "by request", "the label"
NAMED = (WEIGHTS, GROUPS, MARKS, DROPPED, LABEL)  # reasons for columns that the user named


class Origins(NamedTuple):
    """Columns about the labels: marks of random draws, weights, and all columns that are not features."""

    at_random: str | None
    weights: str | None
    drop: list[str]
    remark: str = ""


def export_names(label: str) -> tuple[str, str, str, str]:
    """Names of the columns of an export of `pnulearn label`.

    >>> export_names("bought")
    ('bought', 'bought_origin', 'bought_at_random', 'bought_weight')
    """
    return label, f"{label}_origin", f"{label}_at_random", f"{label}_weight"


def find_origins(
    table: Table,
    label: str,
    at_random: str | None,
    weights: str | None,
    drop: Sequence[str],
    groups: str | None = None,
    *,
    said: bool = False,
) -> Origins:
    """The columns that the user named; if none, those of an export if the table has all of them.

    `said` is whether the user gave the sampling of the labels in another way.
    """
    named = ((at_random, "marks rows labelled at random"), (weights, "holds weights"), (groups, "holds groups"))
    for name, what in named:
        if name == label:
            raise TableError(f"Column {label!r} holds the labels, so it is not the one that {what}. Name another one.")
    _, origin, marks, weight = export_names(label)
    if at_random is None and weights is None and not said and {origin, marks, weight} <= set(table.names):
        remark = f"Columns {marks!r} and {weight!r}, written by `pnulearn label`, are used."
        return Origins(marks, weight, [*drop, origin], remark)
    return Origins(at_random, weights, list(drop))


def columns_without(
    label: str | None,
    drop: Sequence[str],
    at_random: str | None = None,
    weights: str | None = None,
    groups: str | None = None,
) -> dict[str, str]:
    """Columns that are not features, with the reasons."""
    named = {at_random: MARKS, label: LABEL, weights: WEIGHTS, groups: GROUPS}
    return dict.fromkeys(drop, DROPPED) | {name: reason for name, reason in named.items() if name is not None}


def read_weights(table: Table, name: str | None) -> AnyArray | None:
    """Weights of all rows; an empty cell means one."""
    if name is None:
        return None
    column = table.numbers(name, "Weights must be numbers of at least 0.")
    weights = np.where(np.isnan(column.data), 1.0, column.data)
    bad = np.flatnonzero(~np.isfinite(weights) | (weights < 0))
    if len(bad):
        row = int(bad[0])
        raise TableError(
            f"Column {name!r} of {table.source} must hold weights of at least 0; row {row + 1} holds {weights[row]:g}."
        )
    return weights


def read_row_groups(table: Table, name: str | None) -> AnyArray | None:
    """Group numbers of all rows; a row with an empty cell is a group of its own."""
    if name is None:
        return None
    column = table.column(name, "text")
    alone = np.flatnonzero(column.missing)
    groups = column.data.astype(int)
    groups[alone] = len(column.levels) + np.arange(len(alone))
    return groups


def count_labels(codes: AnyArray, weight: AnyArray | None = None, groups: AnyArray | None = None) -> AnyArray:
    """Labelled rows of each of two classes, scaled to the effective sample size of weights and groups."""
    rows = np.flatnonzero(codes >= 0)
    weight = np.ones(len(codes)) if weight is None else weight
    return effective_counts(codes[rows], weight[rows], 2, None if groups is None else groups[rows])


def read_marks(table: Table, name: str, rows: AnyArray | slice, codes: AnyArray) -> AnyArray:
    """True where the column says yes, for these rows with these class codes; an empty cell means no.

    Raises an error for other words, and if the column marks no labelled row.
    """
    marked: AnyArray = marked_rows(table, name)[rows]
    if not (marked & (codes >= 0)).any():
        raise no_labeled(table.source, name)
    return marked


def marked_rows(table: Table, name: str) -> AnyArray:
    """True where the column says yes; raises an error for words other than yes and no."""
    values, strange = read_flags(table.column(name))
    if strange:
        raise TableError(
            f"Column {name!r} of {table.source} must mark rows labelled at random with yes and no or 1 and "
            f"0; it holds {strange[0]!r}."
        )
    marked: AnyArray = values == 1
    return marked


def no_labeled(source: str, name: str) -> TableError:
    """The error for a column that marks rows without labels only."""
    return TableError(f"Column {name!r} of {source} marks no labelled row as labelled at random.")
