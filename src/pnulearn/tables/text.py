"""Delimited text: the encoding and the delimiter are recognised, and what cannot be is refused with a reason."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from pnulearn.tables.cells import Column, Table, TableError, as_numbers, text_column

DELIMITERS = ",;\t|"
BLOCK = 20_000  # rows at once: bounds the memory that strings take
_BOMS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
_SAMPLE = 50  # records that decide on the delimiter


def read_delimited(
    raw: bytes, source: str, missing: frozenset[str], *, encoding: str | None, delimiter: str | None, header: bool
) -> Table:
    """A table from the bytes of a CSV file."""
    text, remarks = decode(raw, source, encoding)
    delimiter = delimiter or recognise_delimiter(text)
    records = _records(text, delimiter)
    first = next(records, None)
    if first is None:
        raise TableError(f"{source} is empty: it holds no line at all.")
    names = _names(first, source, header)

    def rows() -> Iterator[list[str]]:
        again = _records(text, delimiter)
        if header:
            next(again)
        return again

    columns, n_rows = _columns(rows, names, source, missing, decimal_comma=delimiter != ",")
    if n_rows == 0:
        raise TableError(f"{source} has column names but no rows below them.")
    return Table(columns, n_rows, source, rows, remarks=remarks)


def decode(raw: bytes, source: str, encoding: str | None = None) -> tuple[str, list[str]]:
    """The text and a remark if the encoding had to be inferred from the bytes.

    >>> decode("a;b".encode("utf-16"), "x.csv")
    ('a;b', [])
    """
    if encoding is None and b"\0" in raw[:4096] and not raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise TableError(
            f"{source} looks like a binary file, not a table. CSV, Parquet or JSON lines is needed; if it is text, "
            "name its encoding, e.g. --encoding utf-16-le."
        )
    guess = encoding or next((name for mark, name in _BOMS if raw.startswith(mark)), "utf-8")
    try:
        return raw.decode(guess), []
    except LookupError:
        raise TableError(f"There is no encoding called {encoding!r}. Try utf-8, utf-16, cp1252 or latin-1.") from None
    except UnicodeDecodeError as error:
        place = f"byte {error.start + 1} of {source} does not fit {guess}"
    if encoding is None:
        try:
            return raw.decode("cp1252"), [f"{source} is not UTF-8 and was read as Windows-1252 (--encoding overrides)."]
        except UnicodeDecodeError:
            pass
    raise TableError(f"The encoding was not recognised: {place}. Name it with --encoding, e.g. --encoding shift_jis.")


def recognise_delimiter(text: str) -> str:
    """The delimiter that cuts the first records into the same number of cells, the more the better.

    >>> recognise_delimiter("name;size\\nA, B;1,5\\n")
    ';'
    """
    found = [(_width(text, delimiter), delimiter) for delimiter in DELIMITERS]
    return max(found, key=lambda pair: pair[0])[1]  # a comma if nothing cuts


def _width(text: str, delimiter: str) -> tuple[bool, int]:
    try:
        widths = [len(record) for record in islice(_records(text, delimiter), _SAMPLE)]
    except csv.Error:
        return False, 0
    return len(set(widths)) == 1 and widths[0] > 1, min(widths, default=0)


def _records(text: str, delimiter: str) -> Iterator[list[str]]:
    """Cells line by line, without empty lines."""
    return (record for record in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if record)


def _names(first: list[str], source: str, header: bool) -> list[str]:
    if not header:
        return [f"column {i + 1}" for i in range(len(first))]
    names = [name.strip() or f"column {i + 1}" for i, name in enumerate(first)]
    if as_numbers(first, frozenset()) is not None:
        raise TableError(
            f"The first line of {source} holds numbers ({', '.join(first[:4])}, ...), not column names. Add a line "
            "with names, or pass --no-header to call the columns 'column 1', 'column 2', ..."
        )
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise TableError(f"{source} has more than one column {twice[0]!r}. Rename one of them.")
    return names


Rows = Callable[[], Iterator[list[str]]]


def _columns(
    rows: Rows, names: list[str], source: str, missing: frozenset[str], decimal_comma: bool
) -> tuple[dict[str, Column], int]:
    """First the numbers, a block of rows at a time; then, in a second pass, the columns that are something else."""
    blocks: dict[int, list[NDArray]] = {place: [] for place in range(len(names))}
    n_rows = 0
    for block in _blocks(rows(), len(names), source):
        n_rows += len(block)
        cells = list(zip(*block, strict=True))
        for place in list(blocks):
            values = as_numbers(cells[place], missing, decimal_comma)
            if values is None:
                del blocks[place]
            else:
                blocks[place].append(values)
    texts = _texts(rows, [place for place in range(len(names)) if place not in blocks])
    columns = {}
    for place, name in enumerate(names):
        if place in blocks:
            columns[name] = Column(name, "number", np.concatenate([np.zeros(0), *blocks[place]]))
        else:
            columns[name] = text_column(name, texts[place], missing)
    return columns, n_rows


def _texts(rows: Rows, places: list[int]) -> dict[int, list[str]]:
    """The cells of some columns; equal cells share one string."""
    known: dict[str, str] = {}
    found: dict[int, list[str]] = {place: [] for place in places}
    if places:
        for record in rows():
            for place in places:
                found[place].append(known.setdefault(record[place], record[place]))
    return found


def _blocks(records: Iterator[list[str]], width: int, source: str) -> Iterator[list[list[str]]]:
    done = 0
    try:
        while block := list(islice(records, BLOCK)):
            for i, record in enumerate(block):
                if len(record) != width:
                    raise TableError(
                        f"Row {done + i + 1} of {source} has {len(record)} cells where the first line has {width}: "
                        f"{' | '.join(record[:6])[:80]}. Check its quotes and delimiters."
                    )
            done += len(block)
            yield block
    except csv.Error as error:
        raise TableError(f"{source} is not readable as CSV near row {done + 1}: {error}.") from None
