"""Interpretation of the cells of a column: numbers, flags, dates, categories or missing.

A column of text is parsed by its distinct cells, called levels, each of them once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._reader.dates import IN_WORDS
from pnulearn._reader.errors import TableError
from pnulearn._reader.numbers import (
    Written,
    are_codes,
    are_thousands,
    find_doubtful,
    is_written_number,
    read_written,
)

Kind = Literal["number", "flag", "text", "date"]

MISSING = ("", "na", "n/a", "#n/a", "<na>", "nan", "null", "none")
_DATE = (
    r"^(?s:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}([ T].*)?"  # 2024-01-31
    r"|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2})([ T].*)?"  # 31.1.2024
    r"|\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?)$"  # 23:59
)


@dataclass(frozen=True, eq=False)
class Column:
    """Numbers and flags: `data` is float64, NaN where missing. Text and dates: indices in `levels`, −1 where missing.

    `decimal` is the decimal mark if it had to be inferred, as in 1.234,50 €, and `doubtful` a cell for which that is a
    guess. `unit` is the unit in the cells, `has_unit` the rows whose cells have it, if others do not.
    """

    name: str
    kind: Kind
    data: AnyArray
    levels: Sequence[str] = ()
    decimal: str = ""
    doubtful: str = ""
    unit: str = ""
    has_unit: AnyArray | None = None

    @property
    def is_numeric(self) -> bool:
        return self.kind in ("number", "flag")

    @property
    def missing(self) -> AnyArray:
        return np.isnan(self.data) if self.is_numeric else self.data < 0

    @property
    def values(self) -> AnyArray:
        """Numbers as float64; text as an object array of str or None."""
        return self.data if self.is_numeric else np.array([*self.levels, None], dtype=object)[self.data]

    @property
    def counts(self) -> AnyArray:
        """Number of rows of each level."""
        return np.bincount(self.data[self.data >= 0], minlength=len(self.levels))

    def as_text(self) -> Column:
        """The same column as text, with 3 instead of 3.0."""
        if not self.is_numeric:
            return self
        words = {0.0: "false", 1.0: "true"} if self.kind == "flag" else {}
        distinct, places = np.unique(self.data, return_inverse=True)
        levels = [words.get(value) or plain_number(value) for value in distinct.tolist() if value == value]
        return Column(self.name, "text", np.where(self.missing, -1, places), levels)

    def texts(self) -> list[str | None]:
        """Every cell as text."""
        return self.as_text().values.tolist()


@dataclass(frozen=True)
class Cells:
    """How untyped cells are parsed: markers of missing cells in lower case, and whether 1,5 is a number.

    `decimal` is the decimal mark, if the user named it.
    """

    missing: tuple[str, ...] = MISSING
    decimal_comma: bool = False
    decimal: str = ""

    def column(self, name: str, array: Any, kind: Kind | None = None, decimal: str = "") -> Column:
        """A column of an Arrow table; `kind` "text" or "number" fixes the kind, which is otherwise recognised.

        `decimal` is the decimal mark if the cells are ambiguous.
        """
        import pyarrow as pa

        stored = array.type.value_type if pa.types.is_dictionary(array.type) else array.type
        if is_text(stored):
            return self._from_text(name, array, kind, decimal)
        column = _typed(name, array, stored)
        return column.as_text() if kind == "text" else column

    def _from_text(self, name: str, array: Any, kind: Kind | None, decimal: str) -> Column:
        import pyarrow as pa

        decimal = self.decimal or decimal
        if kind != "text" and pa.types.is_string(array.type) and not (self.decimal_comma or decimal):
            numbers = _plain_numbers(array)
            if numbers is not None and not (kind is None and _whole(numbers) and are_codes(_filled(array))):
                return Column(name, "number", numbers)
        places, levels = _encoded(array)
        cleaned = self._cleaned(levels)
        if kind == "text" or (kind is None and are_codes(cleaned)):
            return _text_column(name, places, cleaned)
        found = self._numbers(cleaned, decimal)
        if found is None:
            return _text_column(name, places, cleaned)
        has_unit = None if found.has_unit is None else np.append(found.has_unit, False)[places]
        doubtful = find_doubtful(cleaned) if self.decimal_comma and not decimal else ""
        values = np.append(found.values, np.nan)[places]
        if has_unit is not None and not (~has_unit & ~np.isnan(values)).any():
            has_unit = None
        return Column(name, "number", values, (), found.decimal, doubtful, found.unit, has_unit)

    def _cleaned(self, levels: Any) -> Any:
        """Levels without surrounding blanks, null for markers of missing values."""
        import pyarrow as pa
        import pyarrow.compute as pc

        bare = pc.utf8_trim_whitespace(levels)
        absent = pc.is_in(pc.utf8_lower(bare), value_set=pa.array(self.missing, bare.type))
        return pc.if_else(absent, pa.scalar(None, bare.type), bare)

    def _numbers(self, levels: Any, decimal: str) -> Written | None:
        """Numbers in plain notation, or with units and thousands separators; None if a level is not a number."""
        import pyarrow.compute as pc

        comma = decimal == "," or (self.decimal_comma and not decimal)
        mixed = (
            comma
            and pc.any(pc.match_substring(levels, ",")).as_py()
            and pc.any(pc.match_substring(levels, ".")).as_py()
        )
        if not mixed and not (comma and are_thousands(levels, ".", sure=bool(decimal))):
            shown = pc.replace_substring(levels, ",", ".", max_replacements=1) if comma else levels
            numbers = _plain_numbers(shown)
            if numbers is not None:
                return Written(numbers, "")
        return read_written(levels, comma)


@dataclass(frozen=True)
class Reading:
    """How the user says that files are to be read; see `read_table`."""

    missing: Sequence[str] = ()
    encoding: str | None = None
    delimiter: str | None = None
    header: bool = True
    header_rows: int = 1
    decimal: str | None = None

    @property
    def n_names(self) -> int:
        """Number of lines that hold column names."""
        return self.header_rows if self.header else 0

    @property
    def cells(self) -> Cells:
        """How cells are parsed in a file with decimal points."""
        return Cells((*MISSING, *(marker.strip().lower() for marker in self.missing)), decimal=self.decimal or "")


def join_names(lines: Sequence[Sequence[str]]) -> list[str]:
    """Column names of several lines. An empty cell above another line means the same as the cell to its left.

    >>> join_names([["", "Income", "", "Age"], ["id", "gross", "net", ""]])
    ['id', 'Income gross', 'Income net', 'Age']
    """
    filled = []
    for line in lines[:-1]:
        last, cells = "", []
        for cell in line:
            last = cell.strip() or last
            cells.append(last)
        filled.append(cells)
    return [" ".join(filter(None, map(str.strip, parts))) for parts in zip(*filled, lines[-1], strict=True)]


def is_text(kind: Any) -> bool:
    """Whether an Arrow type is one of strings."""
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def is_plain(kind: Any) -> bool:
    """Whether an Arrow type is one of numbers, text, dates or flags, and not of bytes, lists or records."""
    import pyarrow as pa

    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    binary = pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind)
    return not binary and not pa.types.is_nested(kind)


def stray_cells(column: Column, decimal_comma: bool = False) -> AnyArray:
    """Rows of a text column whose cell is neither missing nor a number."""
    numbers = (is_number(level, decimal_comma) or is_written_number(level) for level in column.levels)
    odd = [place for place, number in enumerate(numbers) if not number]
    return np.flatnonzero(np.isin(column.data, odd))


def is_number(text: str, decimal_comma: bool = False) -> bool:
    """
    >>> is_number("1e3"), is_number("1,5"), is_number("1,5", decimal_comma=True)
    (True, False, True)
    >>> is_number("1_000"), is_number("\N{FULLWIDTH DIGIT ONE}")
    (False, False)
    """
    try:
        float(text.replace(",", ".", 1) if decimal_comma else text)
    except ValueError:
        return False
    return "_" not in text and text.isascii()  # Python parses 1_000 as a number, but in a table it is a code


def plain_number(value: float) -> str:
    """
    >>> plain_number(3.0), plain_number(0.25)
    ('3', '0.25')
    """
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)


def _encoded(array: Any) -> tuple[AnyArray, Any]:
    """Index of each cell among the distinct cells, −1 for nulls, and the distinct cells."""
    import pyarrow as pa

    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    if isinstance(array, pa.ChunkedArray):  # no chunks, or too many bytes for one
        array = pa.concat_arrays([chunk.cast(pa.large_string()) for chunk in array.chunks] or [pa.array([], "string")])
    array = array if pa.types.is_dictionary(array.type) else array.dictionary_encode()
    return array.indices.cast(pa.int64()).fill_null(-1).to_numpy(), array.dictionary


def _text_column(name: str, places: AnyArray, cleaned: Any) -> Column:
    """A column of text, or of dates if more than 95 % of the cells are dates; equal cleaned levels are merged."""
    import pyarrow.compute as pc

    again, distinct = _encoded(cleaned)
    data = np.append(again, -1)[places]
    column = Column(name, "text", data, distinct.to_pylist())
    dated = pc.match_substring_regex(distinct, rf"{_DATE}|{IN_WORDS}").to_numpy(zero_copy_only=False).astype(bool)
    counts = column.counts
    is_date = counts[dated].sum() > 0.95 * counts.sum()
    return Column(name, "date", data, column.levels) if is_date else column


def _typed(name: str, array: Any, kind: Any) -> Column:
    """A column of a typed file such as Parquet."""
    import pyarrow as pa

    if pa.types.is_duration(kind):
        return Column(
            name, "number", _floats(array.cast(pa.duration("ns")).cast(pa.int64()).cast(pa.float64())) / 8.64e13
        )
    if pa.types.is_temporal(kind):
        places, levels = _encoded(array)
        return Column(name, "date", places, [str(level) for level in levels.to_pylist()])
    if pa.types.is_dictionary(array.type):
        array = array.cast(kind)
    if pa.types.is_boolean(kind):
        return Column(name, "flag", _floats(array.cast(pa.uint8()).cast(pa.float64())))
    if pa.types.is_null(kind):
        return Column(name, "number", np.full(len(array), np.nan))
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return Column(name, "number", _floats(array.cast(pa.float64(), safe=False)))
    raise TableError(f"Column {name!r} has type {kind}, neither numbers nor text. Split it into plain columns first.")


def _plain_numbers(array: Any) -> AnyArray | None:
    """All cells as numbers; None if one is not a number."""
    import pyarrow as pa

    try:
        return _floats(_filled(array).cast(pa.float64()))
    except pa.ArrowInvalid:
        return None


def _filled(array: Any) -> Any:
    """The cells with null in place of empty strings."""
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.if_else(pc.equal(array, ""), pa.scalar(None, array.type), array)


def _whole(numbers: AnyArray) -> bool:
    return bool(np.all(np.isnan(numbers) | (np.floor(numbers) == numbers)))


def _floats(array: Any) -> AnyArray:
    """Float64 with NaN for nulls."""
    import pyarrow as pa

    values = array.to_numpy() if isinstance(array, pa.ChunkedArray) else array.to_numpy(zero_copy_only=False)
    return np.asarray(values, dtype=float)
