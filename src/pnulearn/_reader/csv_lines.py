"""Conversion of cells to lines of CSV, whole columns at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pnulearn._reader.columns import is_text, plain_number
from pnulearn._reader.table import Table

PLAIN = (1e-3, 1e9)  # in this range Arrow and Python format numbers identically


def shown_cells(table: Table, name: str) -> Any:
    """The cells of a column as an Arrow array of text: unchanged if they are text, else in plain notation."""
    import pyarrow as pa
    import pyarrow.compute as pc

    array = table.cells.column(name)
    array = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
    if isinstance(array, pa.ChunkedArray):  # too many bytes for one chunk
        return pa.array([text or "" for text in array.to_pylist()], pa.large_string()).cast(pa.string())
    if pa.types.is_dictionary(array.type):
        array = array.cast(array.type.value_type)
    if is_text(array.type):
        return array.cast(pa.string()).fill_null("")
    if pa.types.is_integer(array.type):
        return pc.cast(array, pa.string()).fill_null("")
    if pa.types.is_float64(array.type):
        return _shown_numbers(array)
    if pa.types.is_decimal(array.type):
        return pa.array(["" if value is None else format(value, "f") for value in array.to_pylist()], pa.string())
    if pa.types.is_float32(array.type) or pa.types.is_float16(array.type):
        values = array.to_numpy(zero_copy_only=False)
        return pa.array(["" if value != value else str(value) for value in values], pa.string())
    return pa.array([text or "" for text in table.column(name).texts()], pa.string())


def _shown_numbers(array: Any) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    values = array.to_numpy(zero_copy_only=False) + 0.0  # −0 is 0
    texts = pc.cast(pa.array(values), pa.string())
    size = np.abs(values)
    odd = np.flatnonzero((values != values) | (size >= PLAIN[1]) | ((size < PLAIN[0]) & (size > 0)))
    if not len(odd):
        return texts
    mask = np.zeros(len(values), dtype=bool)
    mask[odd] = True
    replaced = ["" if value != value else plain_number(value) for value in values[odd].tolist()]
    return pc.replace_with_mask(texts, pa.array(mask), pa.array(replaced, pa.string()))


def holds_numbers(table: Table, name: str) -> bool:
    """Whether a column is stored as numbers, whose text needs no quotes and cannot be a formula."""
    import pyarrow as pa

    kind = table.cells.column(name).type
    return bool(pa.types.is_integer(kind) or pa.types.is_float64(kind))


def csv_bytes(columns: Sequence[Any], numbers: Sequence[bool] | None = None) -> memoryview:
    """Lines of CSV from Arrow arrays of text, quoted if necessary; `numbers` marks columns of numbers only."""
    import pyarrow.compute as pc

    plain = [False] * len(columns) if numbers is None else numbers
    cells = [column if bare else _quoted(column) for column, bare in zip(columns, plain, strict=True)]
    lines = pc.binary_join_element_wise(*cells, ",")
    lines = pc.binary_join_element_wise(lines, "", "\n")
    _, offsets, data = lines.buffers()
    ends = np.frombuffer(offsets, dtype=np.int32)[lines.offset : lines.offset + len(lines) + 1]
    return memoryview(data or b"")[int(ends[0]) : int(ends[-1])]


def _quoted(cells: Any) -> Any:
    import pyarrow.compute as pc

    special = pc.match_substring_regex(cells, '[",\r\n]')
    if not pc.any(special).as_py():
        return cells
    quoted = pc.binary_join_element_wise('"', pc.replace_substring(cells, '"', '""'), '"', "")
    return pc.if_else(special, quoted, cells)
