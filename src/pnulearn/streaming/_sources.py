"""Data sources (files, arrays, iterators of batches) as sequences of parts."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._moments import BLOCK_ROWS, ArrayBatch, Batch
from pnulearn._numbers import read_count
from pnulearn._problem.labels import UNLABELED, decode_labels
from pnulearn._reader.batches import BatchPart
from pnulearn._reader.columns import Reading
from pnulearn._reader.errors import TableError, naming, need_arrow, refuse_doubled, suggestion
from pnulearn._reader.files import PARQUET, find_files
from pnulearn._reader.frames import is_paths
from pnulearn._reader.table import Table

# Feature columns of a table.

Schema = Mapping[str, Any]


def choose_columns(
    schemas: Sequence[tuple[str, Schema]], target: str | None, columns: Sequence[str] | None
) -> tuple[str, ...]:
    """The requested feature columns, or all but the target if all tables have the same. They must be numeric.

    `schemas` are pairs of a table's name and its types by column; None is an unknown type.
    """
    if target is not None:
        for where, types in schemas:
            _refuse_missing(where, types, [target])
    if columns is None:
        _refuse_differences(schemas)
        columns = [name for name in schemas[0][1] if name != target]
    if not columns:
        raise TableError(f"{schemas[0][0]} has no feature columns besides the target.")
    if target in columns:
        raise TableError(f"The target {target!r} is among columns=[...]: a label cannot be a feature.")
    for where, types in schemas:
        _refuse_missing(where, types, columns)
        for name in columns:
            _refuse_strange(where, name, types[name])
    return tuple(columns)


def _refuse_missing(where: str, types: Schema, needed: Sequence[str]) -> None:
    for name in needed:
        if name not in types:
            raise TableError(f"{where} has no column {name!r}. {suggestion(name, types)}")


def _refuse_differences(schemas: Sequence[tuple[str, Schema]]) -> None:
    """Raise an error if a column is missing from some tables."""
    first, known = schemas[0]
    for where, types in schemas[1:]:
        for poor, rich, name in [
            *((where, first, name) for name in known if name not in types),
            *((first, where, name) for name in types if name not in known),
        ]:
            raise TableError(
                f"{poor} has no column {name!r}, which {rich} has. Pass the features that all files have with "
                "columns=[...]."
            )


def _refuse_strange(where: str, name: str, kind: Any) -> None:
    import pyarrow as pa

    if kind is None or pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind):
        return
    if pa.types.is_temporal(kind):
        advice = "Turn dates into numbers first, e.g. days since a fixed day (`pnulearn fit` does)"
    elif pa.types.is_dictionary(kind) or pa.types.is_string(kind) or pa.types.is_large_string(kind):
        advice = "Encode categories first, e.g. with sklearn.preprocessing.OneHotEncoder (`pnulearn fit` does)"
    else:
        advice = "Convert it to a number"
    raise TableError(
        f"Column {name!r} of {where} is not numeric ({kind}). {advice}, or choose other columns with columns=[...]."
    )


# Batches of rows from Arrow tables.


@dataclass(frozen=True)
class ArrowBatch:
    """A pyarrow RecordBatch or Table; `target` names its label column, if one is needed.

    In a file without types (CSV), labels are text, or numbers if all of them look like numbers.
    """

    table: Any
    target: str | None
    untyped: bool = False

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def part(self, start: int, stop: int) -> ArrowBatch:
        return ArrowBatch(self.table.slice(start, stop - start), self.target, self.untyped)

    def fill(self, out: AnyArray, columns: tuple[str, ...] | None, origin: AnyArray) -> None:
        assert columns is not None
        for name, point, row in zip(columns, origin, out, strict=True):
            np.subtract(_numbers(self.table.column(name)), point, out=row, casting="same_kind")

    def label_counts(self) -> dict[Any, int]:
        import pyarrow.compute as pc

        found = pc.value_counts(self._labels())
        pairs = zip(found.field("values").to_pylist(), found.field("counts").to_pylist(), strict=True)
        counts: dict[Any, int] = {}
        for value, count in pairs:
            value = None if value != value else value
            counts[value] = counts.get(value, 0) + count
        return counts

    def codes(self, classes: AnyArray, unlabeled: Any) -> AnyArray:
        """Decode distinct labels only, which makes strings as fast as numbers."""
        encoded = self._labels().dictionary_encode()
        distinct = np.empty(len(encoded.dictionary), dtype=object)
        labels = encoded.dictionary.to_pylist()
        distinct[:] = [_number(label) for label in labels] if self.untyped and classes.dtype.kind != "U" else labels
        codes = np.append(decode_labels(distinct, unlabeled, classes=classes).codes, UNLABELED)
        places = encoded.indices.fill_null(len(distinct)).to_numpy(zero_copy_only=False)
        return codes[places]

    def _labels(self) -> Any:
        import pyarrow as pa

        column = self.table.column(self.target)
        if isinstance(column, pa.ChunkedArray):
            column = column.combine_chunks()
        return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def _numbers(column: Any) -> AnyArray:
    """A column as an array; missing values become NaN, which is reported later."""
    if column.null_count:
        column = column.cast("float64")
    return column.to_numpy() if hasattr(column, "chunks") else column.to_numpy(zero_copy_only=False)


def numbers_if_text(labels: list[Any], unlabeled: Any) -> list[Any]:
    """Labels from a file without types: numbers if all of them, except the marker, look like numbers.

    >>> numbers_if_text(["1", "0", "?"], "?"), numbers_if_text(["1", "x"], None), numbers_if_text(["2.0"], None)
    ([1, 0, '?'], ['1', 'x'], [2.0])
    """
    numbers = [_number(label) for label in labels]
    text = [number for number in numbers if isinstance(number, str) and number != unlabeled]
    return labels if text else numbers


def _number(label: Any) -> Any:
    """A label as a number if it looks like one."""
    for kind in (int, float):
        try:
            return kind(label)
        except (TypeError, ValueError):
            continue
    return label


# Parts of Parquet and CSV files: features are numbers, labels may have any type.

BYTES_AT_ONCE = 1 << 22
REMEDY = "Encode text as numbers first, or choose columns with columns=[...]."


@dataclass(frozen=True)
class FilePart:
    """Some row groups of a Parquet file, or a CSV file, with the label column if it is needed."""

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
        """Whether labels are text that may represent numbers."""
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
        """Batches with these columns: numbers, unchanged text, or labels; null where missing."""
        for table, _ in self.part.tables(columns, BLOCK_ROWS, BYTES_AT_ONCE):
            cells = self._typed(table, columns, as_text) if self.is_untyped else table.cells
            yield ArrowBatch(cells, self.target, self.is_untyped)

    def _typed(self, table: Table, columns: Sequence[str], as_text: Sequence[str]) -> Any:
        """Features parsed as numbers and labels as text."""
        import pyarrow as pa

        def array(name: str) -> Any:
            if name in as_text:
                return table.cells.column(name)
            if name == self.target:
                return pa.array(table.column(name, "text").texts(), pa.string())
            return pa.array(table.numbers(name, REMEDY).data)

        return pa.table([array(name) for name in columns], names=list(columns))

    def glimpse(self) -> FilePart:
        """The part with its first row group only, to draw a sample from."""
        if len(self.part.row_groups) < 2:
            return self
        rows = self.part.open_parquet().metadata.row_group(self.part.row_groups[0]).num_rows
        return replace(self, part=replace(self.part, row_groups=self.part.row_groups[:1], n_rows=rows))


def file_parts(path: Path, target: str | None, part_rows: int) -> list[FilePart]:
    """Parts of a file with about `part_rows` rows each; a CSV file is one part."""
    with naming(path):
        is_parquet = path.name.lower().endswith(PARQUET)
        whole = BatchPart.of(path, Reading(), source=str(path), is_parquet=is_parquet)
        if whole.dialect is not None:
            for remark in whole.remarks:
                warnings.warn(remark, stacklevel=2)
        return [FilePart(part, target) for part in whole.split(part_rows)]


# Sources of all kinds as sequences of parts.

PART_ROWS = 250_000  # one or two seconds of work, much more than the overhead of a part
HEAD_ROWS = 20_000  # rows of an iterator that are stored to choose centres from


class Part(Protocol):
    """Consecutive rows of a file or an array that are read by one worker."""

    @property
    def name(self) -> str:
        """Hashed with a row's number in the part, this determines the row's fold."""

    @property
    def start(self) -> int:
        """Number of the first row."""

    def batches(self, columns: Sequence[str], as_text: Sequence[str] = ()) -> Iterator[Batch]:
        """The rows with these columns; untyped columns are parsed as numbers, except those in `text`."""

    def glimpse(self) -> Part:
        """This part or a smaller one, to draw a sample from."""


@dataclass(frozen=True)
class Source:
    """All parts, in the order of summation, and the columns to read.

    The statistics of `group` parts are summed before they are added to the total, so that groups run in parallel.
    """

    parts: tuple[Part, ...]
    columns: tuple[str, ...] | None
    target: str | None
    n_features: int
    group: int = 1

    @property
    def is_one_shot(self) -> bool:
        """Whether the rows can be read only once."""
        return any(isinstance(part, StreamPart) for part in self.parts)

    @property
    def is_untyped(self) -> bool:
        """Whether labels are text that may represent numbers."""
        return any(isinstance(part, FilePart) and part.is_untyped for part in self.parts)

    def without_parts(self) -> Source:
        """A copy without the parts, to send to workers."""
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
    """The parts of the data.

    data : a path, folder or pattern of Parquet or CSV files, or several of them; a pair (X, y) of arrays or memory
        maps; a data frame; an iterator of batches, which are pairs (X, y) or data frames.
    target : the column of labels, for files and data frames.
    labels : whether labels are needed.
    """
    read_count("part_rows", part_rows)
    if is_paths(data):
        if labels and target is None:
            raise TableError("The label column is unknown. Pass it, e.g. target='label'.")
        return _file_source(data, target, columns, part_rows)
    if isinstance(data, tuple) and len(data) == 2 and hasattr(data[0], "shape"):
        if columns is not None:
            raise ValueError(f"columns={list(columns)!r} is for files and data frames; arrays have no column names.")
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
    """All column names of the first file."""
    if not is_paths(data):
        raise TypeError("Column names can be read from Parquet and CSV files only.")
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
    """An iterator of batches, whose first batches are stored."""

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
            raise TableError(f"A batch has no column {target!r}; target=... must be the label column.")
        return ArrowBatch(table, target)
    if isinstance(data, np.ndarray):
        raise TypeError("A batch is an array without labels: batches are pairs (X, y), or data frames with a target.")
    raise TypeError(f"A batch is a {type(data).__name__}: pairs (X, y) or data frames are needed.")
