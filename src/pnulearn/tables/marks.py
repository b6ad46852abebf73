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
    values, strange = read_flags(table.column(name))
    if strange:
        raise TableError(
            f"Column {name!r} of {table.source} is to say which rows were labelled at random, with yes and no or 1 and "
            f"0; it holds {strange[0]!r}."
        )
    marked = values[rows] == 1
    if not (marked & (codes >= 0)).any():
        raise TableError(f"Column {name!r} of {table.source} marks no labelled row as labelled at random.")
    return marked
