"""A table whose columns are parsed on access, and the concatenation of several tables."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from pnulearn._reader.columns import Cells, Column, Kind, is_text, plain_number, stray_cells
from pnulearn._reader.errors import TableError, suggestion


@dataclass(frozen=True, eq=False)
class Table:
    """An Arrow table or batch with its source and remarks about how it was read. Columns are parsed on access.

    Cells of a text file are strings. `start` is the row offset if this is a batch of a larger table.
    """

    cells: Any
    source: str
    reading: Cells = field(default_factory=Cells)
    fingerprint: str = ""
    remarks: list[str] = field(default_factory=list)
    start: int = 0
    _known: dict[str, Column] = field(default_factory=dict, init=False, repr=False)

    @property
    def n_rows(self) -> int:
        return int(self.cells.num_rows)

    @property
    def names(self) -> list[str]:
        return list(self.cells.schema.names)

    @property
    def columns(self) -> dict[str, Column]:
        """All columns, with recognised kinds."""
        return {name: self.column(name) for name in self.names}

    def column(self, name: str, kind: Kind | None = None, decimal: str = "") -> Column:
        """A column, with its recognised kind or with the given one ("text" or "number").

        `decimal` is the decimal mark for ambiguous cells such as 1,234.
        """
        self.refuse_absent(name)
        known = self._known.get(name)
        if known is not None and kind in (None, known.kind) and decimal in ("", known.decimal):
            return known
        try:
            column = self.reading.column(name, self.cells.column(name), kind, decimal)
        except TableError as error:
            raise TableError(f"{self.source}: {error}") from None
        if kind is None:
            self._known[name] = column
        return column

    def with_points(self) -> Table:
        """The table with decimal points, if it has decimal commas; numbers without marks keep all their digits."""
        import pyarrow as pa

        if not self.reading.decimal_comma:
            return self
        cells = self.cells
        for place, (name, column) in enumerate(self.columns.items()):
            if column.kind == "number" and is_text(cells.schema.field(name).type):
                texts = [_with_point(*cell) for cell in zip(cells.column(place).to_pylist(), column.data, strict=True)]
                cells = cells.set_column(place, name, pa.array(texts, pa.string()))
        return replace(self, cells=cells, reading=replace(self.reading, decimal_comma=False))

    def refuse_absent(self, name: str) -> None:
        if self.cells.schema.get_field_index(name) < 0:
            raise TableError(f"{self.source} has no column {name!r}. {suggestion(name, self.names)}")

    def numbers(self, name: str, remedy: str, decimal: str = "") -> Column:
        """A column of numbers. For a cell that is not a number, an error names it and ends with `remedy`."""
        column = self.column(name, "number", decimal)
        if column.is_numeric:
            return column
        stray = stray_cells(column, self.reading.decimal_comma)
        if not len(stray):
            raise TableError(
                f"Column {name!r} of {self.source} needs numbers; its cells are numbers in different units or with "
                f"different decimal marks, such as {', '.join(map(repr, column.levels[:3]))}. Write them all alike."
            )
        row = int(stray[0])
        raise TableError(
            f"Column {name!r} of {self.source} needs numbers; row {self.start + row + 1} holds {column.values[row]!r}. "
            + remedy
        )

    def rows(self) -> Iterator[Sequence[str]]:
        """Rows of cells as text, unchanged from a text file, to write them with their predictions."""
        for first in range(0, self.n_rows, 10_000):
            part = Table(self.cells.slice(first, 10_000), self.source, self.reading)
            yield from zip(*(part._show(name) for name in self.names), strict=True)

    def _show(self, name: str) -> list[str]:
        import pyarrow as pa

        array = self.cells.column(name)
        texts = array.to_pylist() if pa.types.is_string(array.type) else self.column(name).texts()
        return [text or "" for text in texts]


def _with_point(text: str | None, value: float) -> str | None:
    """
    >>> _with_point("1.234,50 €", 1234.5), _with_point("007", 7.0), _with_point("12,5 %", 12.5)
    ('1234.5 €', '007', '12.5 %')
    """
    if text is None or np.isnan(value) or not ("," in text or "." in text):
        return text
    unit = "".join(letter for letter in text if not (letter.isdigit() or letter in " \u00a0\u202f'’.,+-−()"))
    return f"{plain_number(float(value))} {unit}".rstrip()


# Several files as one table.


def stack(tables: Sequence[Table]) -> Table:
    """Tables concatenated vertically; they must have the same columns, in any order. Each has its own decimal mark."""
    import pyarrow as pa

    if len({table.reading.decimal_comma for table in tables}) > 1:
        tables = [table.with_points() for table in tables]
    first = tables[0]
    for other in tables[1:]:
        odd = sorted(set(first.names) ^ set(other.names))
        if odd:
            has, lacks = (first, other) if odd[0] in first.names else (other, first)
            raise TableError(f"{has.source} has a column {odd[0]!r}, {lacks.source} has none. Give all files the same.")
    try:
        cells = pa.concat_tables([table.cells.select(first.names) for table in tables], promote_options="permissive")
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise TableError(f"{first.source} and the other files cannot be combined: {error}.") from None
    more = f" and {len(tables) - 1} more"
    return Table(
        cells,
        first.source + more,
        first.reading,
        hashlib.sha256("".join(table.fingerprint for table in tables).encode()).hexdigest()[:16],
        [remark for table in tables for remark in table.remarks],
    )
