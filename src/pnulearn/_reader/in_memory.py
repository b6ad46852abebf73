"""Reading a table from files or standard input: CSV, spreadsheet, Parquet, Feather or JSON, recognised by content."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pnulearn._reader.columns import Reading
from pnulearn._reader.delimited import HEAD_BYTES, Dialect, as_utf8, read_delimited
from pnulearn._reader.errors import TableError, need_arrow, read_bounded, refuse_vast_parquet, rename_doubled
from pnulearn._reader.files import expand, packing, read_plain, refuse_absent, refuse_other_formats
from pnulearn._reader.formats import (
    looks_like_json,
    looks_like_spreadsheet,
    read_records,
    read_spreadsheet,
    typed_column,
)
from pnulearn._reader.table import Table, stack


def read_table(
    path: str | Path | Sequence[str | Path],
    *,
    missing: Sequence[str] = (),
    encoding: str | None = None,
    delimiter: str | None = None,
    header: bool = True,
    header_rows: int = 1,
    decimal: str | None = None,
) -> Table:
    """Read a table from a file, from several files with the same columns, or from standard input if path is "-".

    Empty cells, NA, NaN, null and None are missing, and so is any further marker in `missing`.

    Parameters
    ----------
    path : str, Path or several
        The file, a pattern such as ``data/*.csv``, or a list of them.
    missing : tuple of str
        Further markers of missing cells.
    encoding : str, optional
        Encoding of text files; recognised by default.
    delimiter : str, optional
        Delimiter of CSV files; recognised by default.
    header : bool
        Whether the first line holds column names.
    header_rows : int
        Number of lines that hold column names.
    decimal : str, optional
        Decimal mark, "." or ","; recognised by default.
    """
    return read_tables(path, Reading(tuple(missing), encoding, delimiter, header, header_rows, decimal))


def read_tables(path: str | Path | Sequence[str | Path], reading: Reading) -> Table:
    """The same with all options in one object."""
    need_arrow()
    tables = [_read_one(one, reading) for one in expand(path)]
    return tables[0] if len(tables) == 1 else stack(tables)


def _read_one(path: str | Path, reading: Reading) -> Table:
    source = "standard input" if str(path) == "-" else Path(path).name
    raw = _unpack(_bytes(path), source)
    cells, remarks, decimal_comma = _read_cells(raw, source, reading)
    if cells.num_rows == 0:
        raise TableError(f"{source} has column names but no rows below them.")
    parsing = replace(reading.cells, decimal_comma=decimal_comma)
    return Table(cells, source, parsing, hashlib.sha256(raw).hexdigest()[:16], remarks)


def _read_cells(raw: bytes, source: str, reading: Reading) -> tuple[Any, list[str], bool]:
    """An Arrow table, remarks, and whether the decimal mark is a comma."""
    import pyarrow as pa

    if looks_like_spreadsheet(raw):
        first, columns, remarks = read_spreadsheet(raw, source, reading.n_names)
        names, doubled = rename_doubled(source, [name.strip() or f"column {k + 1}" for k, name in enumerate(first)])
        return pa.table(dict(zip(names, map(typed_column, columns), strict=True))), remarks + doubled, False
    refuse_other_formats(raw, source)
    if raw.startswith((b"PAR1", b"ARROW1")):
        cells = _read_typed(raw, source)
        names, remarks = rename_doubled(source, cells.column_names)
        return cells.rename_columns(names), remarks, False
    text, remarks = as_utf8(raw, source, reading.encoding)
    if looks_like_json(text):
        return read_records(text.decode(), source), remarks, False
    dialect = Dialect.of(text[:HEAD_BYTES], source, "utf-8-sig", reading)
    return read_delimited(text, source, dialect), [*remarks, *dialect.remarks], dialect.delimiter != ","


def _bytes(path: str | Path) -> bytes:
    if str(path) == "-":
        return sys.stdin.buffer.read()
    refuse_absent(path)
    try:
        return read_plain(Path(path))
    except PermissionError:
        raise TableError(f"No permission to read {str(path)!r}.") from None


def _unpack(raw: bytes, source: str) -> bytes:
    import pyarrow as pa

    kind = packing(raw)
    if kind is None:
        return raw
    try:
        return read_bounded(pa.CompressedInputStream(pa.BufferReader(raw), kind), len(raw), source)
    except OSError as error:
        raise TableError(f"{source} cannot be decompressed: it is incomplete or damaged ({error}).") from None


def _read_typed(raw: bytes, source: str) -> Any:
    """Parquet, or Feather, which is Arrow's own format."""
    import pyarrow as pa
    from pyarrow import ipc
    from pyarrow import parquet as pq

    kind = "Parquet" if raw.startswith(b"PAR1") else "Feather"
    file = pa.BufferReader(raw)
    try:
        parquet = pq.ParquetFile(file, page_checksum_verification=True) if kind == "Parquet" else None
        if parquet is not None:
            refuse_vast_parquet(parquet.metadata, len(raw), source)
        table = ipc.open_file(file).read_all() if parquet is None else parquet.read()
        table.validate(full=True)  # damaged lengths and offsets could crash the process later
        return table
    except (pa.ArrowException, OSError) as error:
        raise TableError(f"{source} is not a complete {kind} file ({error}).") from None
