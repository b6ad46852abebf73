"""CSV files, read in a stream."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pnulearn._tables.columns import Cells
from pnulearn._tables.delimited import HEAD_BYTES, Dialect, recognize_encoding, stream_delimited
from pnulearn._tables.errors import naming
from pnulearn._tables.files import FileState, open_stream, refuse_other_formats
from pnulearn._tables.table import Table
from pnulearn.streaming.batches import ArrowBatch

BYTES_AT_ONCE = 1 << 22
REMEDY = "Encode text as numbers first, or choose columns with columns=[...]."


@dataclass(frozen=True)
class CsvPart:
    """A CSV file with a header. It is one part, however long, because a quoted cell may hold line breaks."""

    state: FileState
    dialect: Dialect
    target: str | None = None
    start: int = 0
    n_rows: int | None = None

    @classmethod
    def of(cls, path: Path, target: str | None) -> CsvPart:
        """Recognise from its beginning how the file is written."""
        with naming(path), open_stream(path) as stream:
            head = stream.read(HEAD_BYTES)
        refuse_other_formats(head, str(path))
        encoding, remarks = recognize_encoding(head, str(path), None, cut=len(head) == HEAD_BYTES)
        dialect = Dialect.of(head, str(path), encoding, None, True)
        for remark in (*remarks, *dialect.remarks):
            warnings.warn(remark, stacklevel=2)
        return cls(FileState.of(path), dialect, target)

    @property
    def name(self) -> str:
        return self.state.name

    def __str__(self) -> str:
        return self.state.path

    def schema(self) -> dict[str, Any]:
        """Column names, with unknown types: features are read as numbers and labels as text, whatever they are."""
        return dict.fromkeys(self.dialect.names)

    def batches(self, columns: Sequence[str], as_text: Sequence[str] = ()) -> Iterator[ArrowBatch]:
        """Batches with these columns: numbers, text as it stands, or labels as text and null where missing."""
        import pyarrow as pa

        start, cells = 0, Cells(decimal_comma=self.dialect.delimiter != ",")
        with naming(self.state.path):
            self.state.refuse_change()
            with open_stream(self.state.path) as stream:
                for batch in stream_delimited(stream, self.state.path, self.dialect, columns, BYTES_AT_ONCE):
                    table = Table(batch, self.state.path, cells, start=start)
                    arrays = [self._array(table, name, as_text) for name in columns]
                    yield ArrowBatch(pa.table(arrays, names=list(columns)), self.target, untyped=True)
                    start += batch.num_rows

    def _array(self, table: Table, name: str, as_text: Sequence[str]) -> Any:
        import pyarrow as pa

        if name in as_text:
            return table.cells.column(name)
        if name == self.target:
            return pa.array(table.column(name, "text").texts(), pa.string())
        return pa.array(table.numbers(name, REMEDY).data)

    def glimpse(self) -> CsvPart:
        return self
