"""Tables from files, data frames of any library and Arrow streams, with labels in a column or a separate array."""

from __future__ import annotations

import os
from typing import Any

from pnulearn._reader.batches import Batches
from pnulearn._reader.columns import Reading
from pnulearn._reader.errors import TableError, need_arrow, refuse_doubled
from pnulearn._reader.table import Table

SOURCE = "the data frame"
LABEL = "label"  # the name of labels without a name


def open_data(data: Any, reading: Reading, large: int) -> Table | Batches:
    """A table, in batches if it is in files of more than `large` bytes.

    Parameters
    ----------
    data : path, paths, Table or data frame
        Paths may be patterns; for other types see `as_table`.
    reading : Reading
        Options for parsing the cells of files.
    large : int
        Total bytes above which files are read in batches.
    """
    if not is_paths(data):
        return data if isinstance(data, Batches) else as_table(data)
    batches = Batches.of(data, reading, large)
    return batches if batches.is_streamed else batches.whole()


def is_paths(data: Any) -> bool:
    """Whether this is a path or a sequence of paths."""
    if isinstance(data, str | os.PathLike):
        return True
    return isinstance(data, list | tuple) and len(data) > 0 and all(isinstance(one, str | os.PathLike) for one in data)


def as_table(data: Any) -> Table:
    """A table from pandas, polars, Arrow, DuckDB or any object with an Arrow stream; a `Table` is returned unchanged.

    Parameters
    ----------
    data : Table, data frame, lazy frame or relation
        With named columns.
    """
    if isinstance(data, Table):
        return data
    need_arrow()
    import pyarrow as pa

    if hasattr(data, "iloc") and hasattr(data, "columns"):
        refuse_doubled(SOURCE, map(str, data.columns))
        cells = pa.Table.from_pandas(data, preserve_index=False)
    elif isinstance(data, pa.Table):
        cells = data
    elif hasattr(data, "collect") and hasattr(data, "collect_schema"):  # a lazy frame of polars
        return as_table(data.collect())
    elif hasattr(data, "__arrow_c_stream__"):
        cells = _without_views(pa.table(data))
    elif hasattr(data, "__arrow_c_array__"):
        cells = pa.Table.from_batches([pa.record_batch(data)])
    else:
        raise TableError(
            f"A table with named columns is needed, got {type(data).__name__}. Read a file with "
            "pnulearn.tables.read_table, or pass a data frame; model.classifier takes arrays of features."
        )
    refuse_doubled(SOURCE, cells.column_names)
    return Table(cells, SOURCE)


def _without_views(cells: Any) -> Any:
    """String views of polars, in its categories too, as plain strings, which Arrow's functions need."""
    import pyarrow as pa

    for place, field in enumerate(cells.schema):
        column, kind, text = cells.column(place), field.type, pa.large_string()
        if pa.types.is_string_view(kind):
            cells = cells.set_column(place, field.name, column.cast(text))
        elif pa.types.is_dictionary(kind) and pa.types.is_string_view(kind.value_type):
            parts = [pa.DictionaryArray.from_arrays(one.indices, one.dictionary.cast(text)) for one in column.chunks]
            column = pa.chunked_array(parts, pa.dictionary(kind.index_type, text))
            cells = cells.set_column(place, field.name, column)
    return cells


def with_labels(table: Table, y: Any) -> tuple[Table, str]:
    """The table with separate labels added as a column, and the name of that column."""
    import pyarrow as pa

    name = str(getattr(y, "name", None) or LABEL)
    if name in table.names:
        raise TableError(f"{table.source} already has a column {name!r}, the name of the labels. Rename one of them.")
    labels = pa.array(y.to_list() if hasattr(y, "to_list") else list(y), from_pandas=True)
    if len(labels) != table.n_rows:
        raise TableError(f"There are {len(labels)} labels for {table.n_rows} rows of {table.source}.")
    cells = table.cells.append_column(name, labels)
    return Table(cells, table.source, table.reading, table.fingerprint, table.remarks), name
