"""Reading a table from a file or from standard input: CSV, Parquet, Feather or JSON, told apart by content."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pnulearn._tables.columns import MISSING, Cells
from pnulearn._tables.delimited import HEAD_BYTES, Dialect, as_utf8, read_delimited
from pnulearn._tables.errors import TableError, need_arrow, refuse_doubled
from pnulearn._tables.files import packing, refuse_other_formats
from pnulearn._tables.records import looks_like_json, read_records
from pnulearn._tables.table import Table


def read_table(
    path: str | Path,
    *,
    missing: Sequence[str] = (),
    encoding: str | None = None,
    delimiter: str | None = None,
    header: bool = True,
) -> Table:
    """The table in a file, or on standard input if path is "-".

    Empty cells, NA, NaN, null and None are missing, and so is any further marker in `missing`.

    Parameters
    ----------
    path : str or Path
        The file.
    missing : tuple of str
        Further markers of missing cells.
    encoding : str, optional
        Found out by default.
    delimiter : str, optional
        Found out by default.
    header : bool
        Whether the first line holds names.
    """
    need_arrow()
    source = "standard input" if str(path) == "-" else Path(path).name
    raw = _unpack(_bytes(path), source)
    refuse_other_formats(raw, source)
    markers = MISSING | {marker.strip().lower() for marker in missing}
    remarks: list[str] = []
    decimal_comma = False
    if raw.startswith((b"PAR1", b"ARROW1")):
        cells = _read_typed(raw, source)
    else:
        text, remarks = as_utf8(raw, source, encoding)
        if looks_like_json(text):
            cells = read_records(text.decode(), source)
        else:
            dialect = Dialect.of(text[:HEAD_BYTES], source, "utf-8-sig", delimiter, header)
            cells, decimal_comma = read_delimited(text, source, dialect), dialect.delimiter != ","
    if cells.num_rows == 0:
        raise TableError(f"{source} has column names but no rows below them.")
    return Table(cells, source, Cells(markers, decimal_comma), hashlib.sha256(raw).hexdigest()[:16], remarks)


def _bytes(path: str | Path) -> bytes:
    if str(path) == "-":
        return sys.stdin.buffer.read()
    file = Path(path)
    if file.is_dir():
        raise TableError(f"{str(path)!r} is a folder. Name one file in it.")
    if not file.exists():
        place = file.parent if file.parent.is_dir() else Path()
        there = sorted(p.name for p in place.iterdir() if p.suffix in (".csv", ".tsv", ".parquet", ".jsonl"))
        hint = f" There is {', '.join(there[:5])}." if there else ""
        raise TableError(f"There is no file {str(path)!r}.{hint}")
    try:
        return file.read_bytes()
    except PermissionError:
        raise TableError(f"No permission to read {str(path)!r}.") from None


def _unpack(raw: bytes, source: str) -> bytes:
    import pyarrow as pa

    kind = packing(raw)
    if kind is None:
        return raw
    try:
        return pa.CompressedInputStream(pa.BufferReader(raw), kind).read()
    except OSError as error:
        raise TableError(f"{source} cannot be unpacked: it was cut short or damaged ({error}).") from None


def _read_typed(raw: bytes, source: str) -> Any:
    """Parquet, or Feather, which is Arrow's own format."""
    import pyarrow as pa
    from pyarrow import ipc
    from pyarrow import parquet as pq

    kind = "Parquet" if raw.startswith(b"PAR1") else "Feather"
    file = pa.BufferReader(raw)
    try:
        table = pq.read_table(file) if kind == "Parquet" else ipc.open_file(file).read_all()
    except (pa.ArrowException, OSError) as error:
        raise TableError(f"{source} is not a complete {kind} file ({error}).") from None
    refuse_doubled(source, table.column_names)
    return table
