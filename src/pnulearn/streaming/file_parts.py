"""Parts of Parquet and CSV files, on the reader of tables: features are numbers, labels are whatever they are."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pnulearn._moments import BLOCK_ROWS
from pnulearn._tables.batches import BatchPart, Reading
from pnulearn._tables.errors import naming, refuse_doubled
from pnulearn._tables.files import PARQUET
from pnulearn._tables.table import Table
from pnulearn.streaming.batches import ArrowBatch

BYTES_AT_ONCE = 1 << 22
REMEDY = "Encode text as numbers first, or choose columns with columns=[...]."


@dataclass(frozen=True)
class FilePart:
    """Some row groups of a Parquet file, or a CSV file, with the column of labels if one is needed."""

    part: BatchPart
    target: str | None = None

    @property
    def name(self) -> str:
        return self.part.name

    @property
    def path(self) -> str:
        return self.part.state.path

    @property
    def start(self) -> int:
        return self.part.start

    @property
    def is_untyped(self) -> bool:
        """Whether labels are text that may stand for numbers."""
        return self.part.dialect is not None

    def __str__(self) -> str:
        return str(self.part)

    def schema(self) -> dict[str, Any]:
        """Types of the columns by name; those of a CSV file are not known."""
        if self.is_untyped:
            return dict.fromkeys(self.part.names)
        with naming(self.path):
            schema = self.part.open_parquet().schema_arrow
        refuse_doubled(self.part.source, schema.names)
        return dict(zip(schema.names, schema.types, strict=True))

    def batches(self, columns: Sequence[str], as_text: Sequence[str] = ()) -> Iterator[ArrowBatch]:
        """Batches with these columns: numbers, text as it stands, or labels, null where missing."""
        for table, _ in self.part.tables(columns, BLOCK_ROWS, BYTES_AT_ONCE):
            cells = self._typed(table, columns, as_text) if self.is_untyped else table.cells
            yield ArrowBatch(cells, self.target, self.is_untyped)

    def _typed(self, table: Table, columns: Sequence[str], as_text: Sequence[str]) -> Any:
        """Features as numbers and labels as text, whatever they look like."""
        import pyarrow as pa

        def array(name: str) -> Any:
            if name in as_text:
                return table.cells.column(name)
            if name == self.target:
                return pa.array(table.column(name, "text").texts(), pa.string())
            return pa.array(table.numbers(name, REMEDY).data)

        return pa.table([array(name) for name in columns], names=list(columns))

    def glimpse(self) -> FilePart:
        """The first of its row groups, to draw a sample from."""
        if len(self.part.row_groups) < 2:
            return self
        rows = self.part.open_parquet().metadata.row_group(self.part.row_groups[0]).num_rows
        return replace(self, part=replace(self.part, row_groups=self.part.row_groups[:1], n_rows=rows))


def file_parts(path: Path, target: str | None, part_rows: int) -> list[FilePart]:
    """Parts of a file with about so many rows each; a CSV file is one part."""
    with naming(path):
        is_parquet = path.name.lower().endswith(PARQUET)
        whole = BatchPart.of(path, Reading(), source=str(path), is_parquet=is_parquet)
        if whole.dialect is not None:
            for remark in whole.remarks:
                warnings.warn(remark, stacklevel=2)
        return [FilePart(part, target) for part in whole.split(part_rows)]
