"""Reading a table from a file or from standard input: CSV, Parquet or JSON lines, told apart by content."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from pnulearn.tables.cells import MISSING, Column, Table, TableError, looks_like_dates
from pnulearn.tables.text import decode, read_delimited


def read_table(
    path: str | Path,
    *,
    missing: tuple[str, ...] = (),
    encoding: str | None = None,
    delimiter: str | None = None,
    header: bool = True,
) -> Table:
    """The table in a file, or on standard input if path is "-".

    Empty cells, NA, NaN, null and None are missing, and so is any further marker in `missing`.
    """
    source = "standard input" if str(path) == "-" else Path(path).name
    raw = _bytes(path)
    if raw.startswith(b"\x1f\x8b"):
        raw = gzip.decompress(raw)
    if not raw.strip():
        raise TableError(f"{source} is empty.")
    markers = MISSING | {marker.strip().casefold() for marker in missing}
    if raw.startswith(b"PAR1"):
        table = _parquet(raw, source, markers)
    elif raw.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0")):
        raise TableError(f"{source} looks like a spreadsheet or an archive. Save the table as CSV first.")
    elif raw.lstrip()[:1] == b"{":
        table = _json_lines(raw, source, markers, encoding)
    else:
        table = read_delimited(raw, source, markers, encoding=encoding, delimiter=delimiter, header=header)
    return Table(table.columns, table.n_rows, source, table.rows, hashlib.sha256(raw).hexdigest()[:16], table.remarks)


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


def _parquet(raw: bytes, source: str, missing: frozenset[str]) -> Table:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise TableError(f"{source} is a Parquet file. Reading it needs: pip install 'pnulearn[io]'") from None
    try:
        table = pq.read_table(io.BytesIO(raw))
    except (pa.ArrowInvalid, OSError) as error:
        raise TableError(f"{source} is not a complete Parquet file ({error}).") from None
    if table.num_rows == 0:
        raise TableError(f"{source} has columns but no rows.")
    if len(set(table.column_names)) < len(table.column_names):
        raise TableError(f"{source} has two columns of the same name. Rename one of them.")
    columns = {name: _arrow_column(name, table.column(name), source, missing) for name in table.column_names}
    return _table(columns, table.num_rows, source)


def _arrow_column(name: str, values: Any, source: str, missing: frozenset[str]) -> Column:
    import pyarrow as pa

    kind = values.type.value_type if pa.types.is_dictionary(values.type) else values.type
    if pa.types.is_temporal(kind):
        return Column(name, "date", _objects([None if v is None else str(v) for v in values.to_pylist()]))
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return _text(name, values.to_pylist(), missing)
    if pa.types.is_boolean(kind):
        return Column(name, "flag", _floats(values.to_pylist()))
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return Column(name, "number", np.asarray(values.cast(pa.float64(), safe=False).to_numpy(), dtype=float))
    if pa.types.is_null(kind):
        return Column(name, "number", np.full(len(values), np.nan))
    raise TableError(
        f"Column {name!r} of {source} holds {kind}, neither numbers nor text. Split it into plain columns first."
    )


def _json_lines(raw: bytes, source: str, missing: frozenset[str], encoding: str | None) -> Table:
    text, remarks = decode(raw, source, encoding)
    records = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except json.JSONDecodeError as error:
            raise TableError(f"Line {number} of {source} is not JSON ({error.msg}). One object per line.") from None
        if not isinstance(record, dict):
            raise TableError(f"Line {number} of {source} is no JSON object such as {{'age': 30}}.")
        records.append(record)
    names = list(dict.fromkeys(name for record in records for name in record))
    columns = {name: _json_column(name, [r.get(name) for r in records], source, missing) for name in names}
    return _table(columns, len(records), source, remarks)


def _json_column(name: str, values: list[Any], source: str, missing: frozenset[str]) -> Column:
    types = {type(value) for value in values if value is not None}
    if types <= {bool} and types:
        return Column(name, "flag", _floats(values))
    if types <= {int, float}:
        return Column(name, "number", _floats(values))
    if types & {dict, list}:
        raise TableError(f"Column {name!r} of {source} holds nested values. Flatten it into plain columns first.")
    return _text(name, [_word(value) for value in values], missing)


def _word(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value)  # true rather than True


def _text(name: str, values: list[str | None], missing: frozenset[str]) -> Column:
    cleaned = _objects([None if v is None or v.strip().casefold() in missing else v.strip() for v in values])
    return Column(name, "date" if looks_like_dates(cleaned) else "text", cleaned)


def _objects(values: list[Any]) -> np.ndarray:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _floats(values: list[Any]) -> np.ndarray:
    return np.array([np.nan if value is None else float(value) for value in values], dtype=float)


def _table(columns: dict[str, Column], n_rows: int, source: str, remarks: list[str] | None = None) -> Table:
    def rows() -> Iterator[tuple[str, ...]]:
        texts = [[text or "" for text in column.texts()] for column in columns.values()]
        return zip(*texts, strict=True)

    return Table(columns, n_rows, source, rows, remarks=remarks or [])
