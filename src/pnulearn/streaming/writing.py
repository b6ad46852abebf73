"""Tables to Parquet or CSV, a piece at a time."""

from __future__ import annotations

import csv
import io
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

KINDS = (".parquet", ".csv")


@contextmanager
def table_writer(file: BinaryIO, kind: str, *, header: bool = True) -> Iterator[Callable[[Any], None]]:
    """A function that appends tables to an open file; the first one fixes the columns."""
    import pyarrow.csv
    import pyarrow.parquet as pq

    writers: list[Any] = []

    def add(table: Any) -> None:
        if not writers and kind == ".parquet":
            writers.append(pq.ParquetWriter(file, table.schema, write_page_checksum=True))
        elif not writers:
            options = pyarrow.csv.WriteOptions(include_header=header)
            writers.append(pyarrow.csv.CSVWriter(file, table.schema, write_options=options))
        writers[0].write_table(table)

    try:
        yield add
    finally:
        for writer in writers:
            writer.close()


def join_parts(file: BinaryIO, kind: str, parts: Sequence[Path], header: Sequence[str]) -> None:
    """One file from several; CSV parts have no header lines."""
    if kind == ".csv":
        line = io.StringIO()
        csv.writer(line, lineterminator="\n").writerow(header)
        file.write(line.getvalue().encode())
        for path in parts:
            with open(path, "rb") as part:
                shutil.copyfileobj(part, file, 1 << 20)
        return
    import pyarrow as pa
    import pyarrow.parquet as pq

    with table_writer(file, kind) as add:
        tables = [pq.ParquetFile(path) for path in parts]
        if not any(table.metadata.num_rows for table in tables):
            add(tables[0].schema_arrow.empty_table())
        for table in tables:
            for batch in table.iter_batches():
                add(pa.Table.from_batches([batch]))
