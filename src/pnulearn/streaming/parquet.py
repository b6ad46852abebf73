"""Parquet files as parts that can be read independently."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pnulearn._moments import BLOCK_ROWS
from pnulearn._tables.errors import naming, refuse_doubled
from pnulearn._tables.files import FileState
from pnulearn.streaming.batches import ArrowBatch


@dataclass(frozen=True)
class ParquetPart:
    """Some row groups of a Parquet file."""

    state: FileState
    row_groups: tuple[int, ...]
    start: int
    n_rows: int
    target: str | None = None

    @property
    def name(self) -> str:
        return self.state.name

    def __str__(self) -> str:
        return f"{self.state.path}, rows {self.start} to {self.start + self.n_rows - 1}"

    def schema(self) -> dict[str, Any]:
        """Types of the columns by name."""
        with naming(self.state.path):
            schema = _open(self.state.path).schema_arrow
        refuse_doubled(self.state.path, schema.names)
        return dict(zip(schema.names, schema.types, strict=True))

    def batches(self, columns: Sequence[str], as_text: Sequence[str] = ()) -> Iterator[ArrowBatch]:
        """Batches of at most BLOCK_ROWS rows with these columns."""
        with naming(self.state.path):
            self.state.refuse_change()
            for batch in _open(self.state.path).iter_batches(
                BLOCK_ROWS, row_groups=list(self.row_groups), columns=list(columns), use_threads=False
            ):
                yield ArrowBatch(batch, self.target)

    def glimpse(self) -> ParquetPart:
        """The first of its row groups, to draw a sample from."""
        if len(self.row_groups) == 1:
            return self
        rows = _open(self.state.path).metadata.row_group(self.row_groups[0]).num_rows
        return replace(self, row_groups=self.row_groups[:1], n_rows=rows)


def parquet_parts(path: Path, target: str | None, part_rows: int) -> list[ParquetPart]:
    """Runs of row groups with about `part_rows` rows each; empty ones are left out."""
    with naming(path):
        metadata = _open(str(path)).metadata
        state = FileState.of(path)
    parts: list[ParquetPart] = []
    groups: list[int] = []
    start = rows = 0
    for index in range(metadata.num_row_groups):
        groups.append(index)
        rows += metadata.row_group(index).num_rows
        if rows >= part_rows or index == metadata.num_row_groups - 1:
            if rows:
                parts.append(ParquetPart(state, tuple(groups), start, rows, target))
            start, rows, groups = start + rows, 0, []
    return parts


def _open(path: str) -> Any:
    import pyarrow.parquet as pq

    # whole row groups in memory would be too much
    return pq.ParquetFile(path, pre_buffer=False, page_checksum_verification=True)
