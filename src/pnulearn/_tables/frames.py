"""Data frames as tables."""

from __future__ import annotations

from typing import Any

from pnulearn._tables.errors import TableError, need_arrow, refuse_doubled
from pnulearn._tables.table import Table

SOURCE = "the data frame"


def as_table(data: Any) -> Table:
    """A table from pandas, polars or Arrow; a `Table` stays as it is."""
    if isinstance(data, Table):
        return data
    need_arrow()
    import pyarrow as pa

    if isinstance(data, pa.Table):
        cells = data
    elif hasattr(data, "to_arrow"):
        cells = data.to_arrow()
    elif hasattr(data, "iloc") and hasattr(data, "columns"):
        refuse_doubled(SOURCE, map(str, data.columns))
        cells = pa.Table.from_pandas(data, preserve_index=False)
    else:
        raise TableError(
            f"A model of a table needs a table with named columns, got {type(data).__name__}. Read a file with "
            "pnulearn.tables.read_table, or pass a data frame; model.classifier takes arrays of features."
        )
    return Table(cells, SOURCE)
