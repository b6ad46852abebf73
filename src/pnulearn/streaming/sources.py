"""Whatever the data come as, parts that can be read one by one: files, arrays, iterators of batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, Protocol

import numpy as np

from pnulearn._moments import ArrayBatch, Batch
from pnulearn._numbers import read_count
from pnulearn._tables.errors import TableError, need_arrow
from pnulearn._tables.files import find_files
from pnulearn._tables.frames import is_paths
from pnulearn.streaming.batches import ArrowBatch
from pnulearn.streaming.columns import choose_columns
from pnulearn.streaming.file_parts import FilePart, file_parts

PART_ROWS = 250_000  # a second or two of work, far more than handing out a part costs
HEAD_ROWS = 20_000  # rows of an iterator that are kept to choose centres from


class Part(Protocol):
    """Consecutive rows of a file or an array that are read by one worker."""

    @property
    def name(self) -> str:
        """With a row's number in it, this decides the row's fold."""

    @property
    def start(self) -> int:
        """Number of the first row."""

    def batches(self, columns: Sequence[str], as_text: Sequence[str] = ()) -> Iterator[Batch]:
        """The rows with these columns; those without a type of their own are numbers, unless named as text."""

    def glimpse(self) -> Part:
        """A part not larger than this one, to draw a sample from."""


@dataclass(frozen=True)
class Source:
    """All parts, in the order in which their statistics are added, and the columns to read.

    Statistics of so many parts as make a `group` are added up before they join the total, so that groups need not wait
    for each other.
    """

    parts: tuple[Part, ...]
    columns: tuple[str, ...] | None
    target: str | None
    n_features: int
    group: int = 1

    @property
    def is_one_shot(self) -> bool:
        """Whether the rows can be read once only."""
        return any(isinstance(part, StreamPart) for part in self.parts)

    @property
    def is_untyped(self) -> bool:
        """Whether labels are text that may stand for numbers."""
        return any(isinstance(part, FilePart) and part.is_untyped for part in self.parts)

    def without_parts(self) -> Source:
        """What a worker has to know: not the other parts."""
        return replace(self, parts=())

    @property
    def names(self) -> tuple[str, ...]:
        """Columns to read, the target included."""
        return (*(self.columns or ()), *(() if self.target is None else (self.target,)))


def open_source(
    data: Any,
    target: str | None = None,
    columns: Sequence[str] | None = None,
    part_rows: int = PART_ROWS,
    *,
    labels: bool = True,
) -> Source:
    """Find the parts of the data.

    data : a path, folder or pattern of Parquet or CSV files, or several of them; a pair (X, y) of arrays or memory
        maps; a data frame; an iterator of batches, which are pairs (X, y) or data frames.
    target : the column of labels, for files and data frames.
    labels : whether labels are needed.
    """
    read_count("part_rows", part_rows)
    if is_paths(data):
        if labels and target is None:
            raise TableError("Which column holds the labels? Name it, e.g. target='label'.")
        return _file_source(data, target, columns, part_rows)
    if isinstance(data, tuple) and len(data) == 2 and hasattr(data[0], "shape"):
        if columns is not None:
            raise ValueError(
                f"columns={list(columns)!r} name columns of files or data frames, and arrays have no names."
            )
        return _array_source(*data, part_rows)
    if hasattr(data, "__arrow_c_stream__"):
        return _stream_source(iter([data]), target, columns)
    if isinstance(data, Iterable):
        return _stream_source(iter(data), target, columns)
    raise TypeError(
        f"Cannot read rows from {type(data).__name__}. Pass a path, folder or pattern, a pair (X, y) of arrays, or an "
        "iterator of such pairs or of data frames."
    )


def column_names(data: Any) -> list[str]:
    """All columns of the first file."""
    if not is_paths(data):
        raise TypeError("Names of columns are read from Parquet and CSV files, not from what is in memory.")
    found = file_parts(find_files(data)[0], None, PART_ROWS)
    return list(found[0].schema()) if found else []


def _file_source(data: Any, target: str | None, columns: Sequence[str] | None, part_rows: int) -> Source:
    need_arrow()
    parts: list[FilePart] = []
    schemas = []
    for path in find_files(data):
        found = file_parts(path, target, part_rows)
        schemas += [(str(path), found[0].schema())] if found else []
        parts += found
    if not parts:
        raise ValueError(f"The files of {data!r} hold no rows.")
    chosen = choose_columns(schemas, target, columns)
    return Source(tuple(parts), chosen, target, len(chosen))


@dataclass(frozen=True)
class ArrayPart:
    """Rows start to stop of arrays in memory or memory maps."""

    batch: ArrayBatch
    start: int
    stop: int
    name: str = "array"

    def __str__(self) -> str:
        return f"X, rows {self.start} to {self.stop - 1}"

    def batches(self, columns: Sequence[str], as_text: Sequence[str] = ()) -> Iterator[Batch]:
        yield self.batch.part(self.start, self.stop)

    def glimpse(self) -> ArrayPart:
        return self


def _array_source(X: Any, y: Any, part_rows: int) -> Source:
    batch = ArrayBatch.of(X, y)
    if len(batch) == 0:
        raise ValueError("X has no rows.")
    starts = range(0, len(batch), part_rows)
    parts = tuple(ArrayPart(batch, start, min(start + part_rows, len(batch))) for start in starts)
    return Source(parts, None, None, batch.X.shape[1])


@dataclass(frozen=True)
class StreamPart:
    """An iterator of batches, of which the first ones were kept."""

    head: tuple[Batch, ...]
    rest: Iterator[Batch] = field(repr=False)
    name: str = "stream"
    start: int = 0

    def __str__(self) -> str:
        return "the iterator of batches"

    def batches(self, columns: Sequence[str], as_text: Sequence[str] = ()) -> Iterator[Batch]:
        return chain(self.head, self.rest)

    def glimpse(self) -> StreamPart:
        return StreamPart(self.head, iter(()))


def _stream_source(data: Iterator[Any], target: str | None, columns: Sequence[str] | None) -> Source:
    batches = (as_batch(one, target) for one in data)
    head: list[Batch] = []
    while sum(map(len, head)) < HEAD_ROWS:
        batch = next(batches, None)
        if batch is None:
            break
        head.append(batch)
    if not sum(map(len, head)):
        raise ValueError("The iterator of batches holds no rows.")
    part = StreamPart(tuple(head), batches)
    first = head[0]
    if isinstance(first, ArrowBatch):
        schema = dict(zip(first.table.schema.names, first.table.schema.types, strict=True))
        chosen = choose_columns([("the first batch", schema)], target, columns)
        return Source((part,), chosen, target, len(chosen))
    assert isinstance(first, ArrayBatch)
    return Source((part,), None, None, first.X.shape[1])


def as_batch(data: Any, target: str | None) -> Batch:
    """A pair (X, y), an Arrow table or a data frame as a batch."""
    if isinstance(data, tuple | list) and len(data) == 2:
        return ArrayBatch.of(*data)
    if hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"):
        import pyarrow as pa

        table = data if isinstance(data, pa.Table | pa.RecordBatch) else pa.table(data)
        if target is None or target not in table.schema.names:
            raise TableError(f"A batch has no column {target!r}; target=... must name the column of labels.")
        return ArrowBatch(table, target)
    if isinstance(data, np.ndarray):
        raise TypeError("A batch is an array without labels: batches are pairs (X, y), or data frames with a target.")
    raise TypeError(f"A batch is a {type(data).__name__}: pairs (X, y) or data frames are needed.")
