"""Spreadsheets of Excel and LibreOffice: the first sheet that holds something."""

from __future__ import annotations

import datetime
import io
from typing import Any

from pnulearn._extras import import_extra
from pnulearn._tables.errors import TableError

ZIPPED, OLD = b"PK\x03\x04", b"\xd0\xcf\x11\xe0"
_DATES = {datetime.datetime, datetime.date}


def looks_like_spreadsheet(raw: bytes) -> bool:
    return raw.startswith((ZIPPED, OLD))


def read_spreadsheet(raw: bytes, source: str, header: bool) -> tuple[list[str], list[list[Any]], list[str]]:
    """Names as they stand there, columns of cells, and remarks."""
    with import_extra("excel", "Reading a spreadsheet"):
        from python_calamine import CalamineError, CalamineWorkbook
    try:
        book = CalamineWorkbook.from_filelike(io.BytesIO(raw))
        sheets = {name: book.get_sheet_by_name(name).to_python() for name in book.sheet_names}
    except (CalamineError, OSError) as error:
        raise TableError(f"{source} is neither a table nor a spreadsheet that can be read ({error}).") from None
    filled = [name for name, rows in sheets.items() if rows]
    if not filled:
        raise TableError(f"{source} is empty: none of its sheets holds a cell.")
    remarks = [f"{source} has {len(filled)} sheets; {filled[0]!r} is read."] if len(filled) > 1 else []
    rows = sheets[filled[0]]
    first = [_text(cell) or "" for cell in rows[0]] if header else [f"column {k + 1}" for k in range(len(rows[0]))]
    return first, [list(cells) for cells in zip(*rows[header:], strict=True)] or [[] for _ in first], remarks


def typed_column(cells: list[Any]) -> Any:
    """An Arrow array of one type, of text if the cells have several."""
    import pyarrow as pa

    values = [None if cell == "" else cell for cell in cells]
    kinds = {type(value) for value in values if value is not None}
    if kinds == {bool}:
        return pa.array(values, pa.bool_())
    if kinds <= {int, float}:
        return pa.array(values, pa.float64())
    if kinds and kinds <= _DATES:
        return pa.array([value and datetime.datetime(*value.timetuple()[:6]) for value in values], pa.timestamp("us"))
    return pa.array([_text(value) for value in values], pa.string())


def _text(cell: Any) -> str | None:
    """A cell as it would stand in a text file.

    >>> _text(3.0), _text(True), _text(datetime.date(2024, 1, 31)), _text("")
    ('3', 'true', '2024-01-31', None)
    """
    if cell is None or cell == "":
        return None
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell)
