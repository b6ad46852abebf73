"""Spreadsheets (the first non-empty sheet) and JSON (one object per line, or one array of objects)."""

from __future__ import annotations

import datetime
import io
import json
import re
import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from pnulearn._extras import import_extra
from pnulearn._reader.columns import join_names
from pnulearn._reader.errors import Caution, TableError

# JSON: one object per line, or one array of objects.


def looks_like_json(raw: bytes) -> bool:
    """
    >>> looks_like_json(b'{"a": 1}'), looks_like_json(b' [\\n {"a": 1}]'), looks_like_json(b"[a],b")
    (True, True, False)
    """
    text = raw[:1000].lstrip()
    return text[:1] == b"{" or (text[:1] == b"[" and text[1:].lstrip()[:1] in (b"{", b"]"))


def read_records(text: str, source: str) -> Any:
    """An Arrow table with a column for every key."""
    import pyarrow as pa

    records = _array(text, source) if text.lstrip()[:1] == "[" else _lines(text, source)
    names = list(dict.fromkeys(name for record in records for name in record))
    return pa.table({name: _column(name, [record.get(name) for record in records], source) for name in names})


def _lines(text: str, source: str) -> list[dict[str, Any]]:
    lines = [(f"Line {i} of {source}", line) for i, line in enumerate(text.splitlines(), start=1) if line.strip()]
    return [_record(_load(line, where), where) for where, line in lines]


def _array(text: str, source: str) -> list[dict[str, Any]]:
    return [_record(value, f"Item {i} of {source}") for i, value in enumerate(_load(text, source), start=1)]


def _load(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise TableError(f"{where} is not JSON ({error.msg}). Write one object per line.") from None
    except (RecursionError, ValueError) as error:  # ValueError: a number with thousands of digits
        raise TableError(
            f"{where} is not a plain JSON object ({error}). Flatten it into plain columns first."
        ) from None


def _record(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise TableError(f"{where} is not a JSON object such as {{'age': 30}}.")
    return value


def _column(name: str, values: list[Any], source: str) -> Any:
    import pyarrow as pa

    types = {type(value) for value in values if value is not None}
    if types & {dict, list}:
        # as nested columns of Parquet: whoever uses the column is told to split it, all others can ignore it
        return pa.array([None if value is None else [json.dumps(value)] for value in values], pa.list_(pa.string()))
    if types == {bool}:
        return pa.array(values, pa.bool_())
    if types <= {int, float}:
        try:
            numbers = [None if value is None else float(value) for value in values]
        except OverflowError:
            raise TableError(f"Column {name!r} of {source} holds a number too large for a float.") from None
        pairs = zip(values, numbers, strict=True)
        if all(value is None or number == value or value != value for value, number in pairs):
            return pa.array(numbers, pa.float64())
        # as text, so that no digit of an identifier is lost
    words = [value if value is None or isinstance(value, str) else json.dumps(value) for value in values]
    return pa.array(words, pa.string())


# Spreadsheets of Excel and LibreOffice: the first non-empty sheet.

ZIPPED, OLD = b"PK\x03\x04", b"\xd0\xcf\x11\xe0"
_DATES = {datetime.datetime, datetime.date}


def looks_like_spreadsheet(raw: bytes) -> bool:
    return raw.startswith((ZIPPED, OLD))


def read_spreadsheet(raw: bytes, source: str, n_names: int) -> tuple[list[str], list[list[Any]], list[str]]:
    """Names, which stand in the first `n_names` rows, columns of cells, and remarks."""
    with import_extra("excel", "Reading a spreadsheet"):
        from python_calamine import CalamineError, CalamineWorkbook
    try:
        book = CalamineWorkbook.from_filelike(io.BytesIO(raw))
        sheets = {name: book.get_sheet_by_name(name).to_python() for name in book.sheet_names}
    except (CalamineError, OSError) as error:
        raise TableError(f"{source} is not a readable table or spreadsheet ({error}).") from None
    filled = [name for name, rows in sheets.items() if rows]
    if not filled:
        raise TableError(f"{source} is empty: none of its sheets holds a cell.")
    remarks = [f"{source} has {len(filled)} sheets; {filled[0]!r} is read."] if len(filled) > 1 else []
    rows = sheets[filled[0]]
    if n_names:
        first = join_names([[_text(cell) or "" for cell in row] for row in rows[:n_names]])
    else:
        first = [f"column {k + 1}" for k in range(len(rows[0]))]
    sheet = book.get_sheet_by_name(filled[0])
    if raw.startswith(ZIPPED):
        place = book.sheet_names.index(filled[0])
        remarks += find_oddities(raw, source, place, first, sheet.start or (0, 0), n_names)
    remarks += _merged(sheet, source, first, n_names)
    return first, [list(cells) for cells in zip(*rows[n_names:], strict=True)] or [[] for _ in first], remarks


# What a spreadsheet shows and its cells do not hold: errors, formulas without values, hidden rows, merged cells.

_CELL = rb'<c\b(?=[^>]*?\br="([A-Z]{1,3})(\d{1,7})")'
_ERROR = re.compile(_CELL + rb'(?=[^>]*?\bt="e")[^>]*>(?:(?!</c>).)*?<v>([^<]{1,20})</v>', re.S)
_NO_VALUE = re.compile(_CELL + rb"[^>]*>\s*<f\b(?:[^>]*/>|[^>]*>[^<]*</f>)\s*(?:<v\s*/>|<v>\s*</v>)?\s*</c>")
_HIDDEN = re.compile(rb'<row\b(?=[^>]*?\br="(\d{1,7})")[^>]*?\bhidden="(?:1|true)"')
MOST_BYTES = 1 << 28  # a larger sheet is not searched


def find_oddities(
    raw: bytes, source: str, place: int, names: Sequence[str], start: tuple[int, int], n_names: int
) -> Iterator[Caution]:
    """Warnings about the cells of a sheet of an Excel file, the one at `place`, whose table begins at `start`."""
    sheet = _sheet(raw, place)
    first_row = start[0] + n_names  # rows above hold names

    def count(pattern: re.Pattern[bytes]) -> tuple[Counter[str], str]:
        found: Counter[str] = Counter()
        shown = ""
        for one in pattern.finditer(sheet):
            column = _column_number(one[1].decode()) - start[1]
            value = one[3].decode(errors="replace") if pattern is _ERROR else ""
            if int(one[2]) > first_row and 0 <= column < len(names) and value != "#N/A":
                found[names[column]] += 1
                shown = shown or value
        return found, shown

    errors, shown = count(_ERROR)
    for name, number in errors.items():
        yield Caution(
            f"Column {name!r} of {source} holds error cells such as {shown} ({number} in all); they count as missing."
        )
    for name, number in count(_NO_VALUE)[0].items():
        yield Caution(
            f"Column {name!r} of {source} holds formulas without a stored value ({number} in all); they count as "
            "missing. Open and save the file in a spreadsheet program, which computes them."
        )
    hidden = sum(int(row) > first_row for row in _HIDDEN.findall(sheet))
    if hidden:
        yield Caution(
            f"{source} has hidden rows ({hidden} in all), which are used like all others. Delete them if they should "
            "not be."
        )


def _merged(sheet: Any, source: str, names: Sequence[str], n_names: int) -> Iterator[Caution]:
    """Warnings about merged cells, of which only the first has the value."""
    emptied: Counter[str] = Counter()
    top, left = sheet.start or (0, 0)
    for (first, west), (last, east) in sheet.merged_cell_ranges or ():
        for column in range(west, east + 1):
            rows = last - max(first, top + n_names) + 1 - (column == west and first >= top + n_names)
            if rows > 0 and 0 <= column - left < len(names):
                emptied[names[column - left]] += rows
    for name, number in emptied.items():
        yield Caution(
            f"Column {name!r} of {source} has merged cells: {number} of them are empty, because only the first of "
            "merged cells holds the value. Unmerge them and fill in the values."
        )


def _sheet(raw: bytes, place: int) -> bytes:
    """The content of a sheet of an Excel file; nothing if it is not where such files have it."""
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            book, links = (archive.read(f"xl/{name}") for name in ("workbook.xml", "_rels/workbook.xml.rels"))
            ids = re.findall(rb'<sheet\b[^>]*?\br:id="([^"]+)"', book)
            link = next(one for one in re.findall(rb"<Relationship\b[^>]*>", links) if b'Id="%b"' % ids[place] in one)
            found = re.search(rb'Target="/?(?:xl/)?([^"]+)"', link)
            name = f"xl/{found[1].decode()}" if found else ""
            return archive.read(name) if archive.getinfo(name).file_size <= MOST_BYTES else b""
    except (KeyError, IndexError, StopIteration, ValueError, OSError, zipfile.BadZipFile, NotImplementedError):
        return b""


def _column_number(letters: str) -> int:
    """
    >>> [_column_number(letters) for letters in ("A", "Z", "AA")]
    [0, 25, 26]
    """
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - 64
    return number - 1


def typed_column(cells: list[Any]) -> Any:
    """An Arrow array of one type; text if the cells have several types."""
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
    """A cell as in a text file.

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
