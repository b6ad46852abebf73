"""A column that marks rows which were labelled at random."""

from __future__ import annotations

from pnulearn._arrays import AnyArray
from pnulearn._tables.errors import TableError
from pnulearn._tables.table import Table
from pnulearn.tables.kinds.flag import read_flags

MARKS = "marks rows labelled at random"


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
