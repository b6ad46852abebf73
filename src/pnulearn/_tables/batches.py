"""Large tables batch by batch: every batch is a table of its own that knows where in the whole it stands."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pnulearn._tables.bounds import refuse_vast_parquet
from pnulearn._tables.columns import MISSING, Cells
from pnulearn._tables.delimited import HEAD_BYTES, Dialect, recognize_encoding, stream_delimited
from pnulearn._tables.errors import TableError, naming, need_arrow, rename_doubled
from pnulearn._tables.files import FileState, expand, open_stream, packing
from pnulearn._tables.reading import read_table
from pnulearn._tables.records import looks_like_json
from pnulearn._tables.spreadsheets import looks_like_spreadsheet
from pnulearn._tables.table import Table

LARGE = 32 << 20  # bytes of all files from which on they are read in batches
BATCH_ROWS = 1 << 15
BYTES_AT_ONCE = 1 << 23
PART_ROWS = 250_000  # a few seconds of work for whoever shares parts out


@dataclass(frozen=True)
class Reading:
    """How cells are written, where the user says so; see `read_table`."""

    missing: Sequence[str] = ()
    encoding: str | None = None
    delimiter: str | None = None
    header: bool = True

    @property
    def markers(self) -> frozenset[str]:
        return MISSING | frozenset(marker.strip().lower() for marker in self.missing)


@dataclass(frozen=True)
class Batches:
    """The tables of one or several files, batch by batch if they are large; they may be read any number of times."""

    paths: tuple[str | Path, ...]
    reading: Reading
    large: int

    @classmethod
    def of(cls, path: str | Path | Sequence[str | Path], reading: Reading, large: int | None = None) -> Batches:
        """The files that a path, a pattern or several of them name."""
        need_arrow()
        return cls(tuple(expand(path)), reading, LARGE if large is None else large)

    @property
    def is_streamed(self) -> bool:
        """Whether batches are read one after the other; spreadsheets, JSON and standard input are read whole."""
        files = [Path(path) for path in self.paths]
        if not all(file.is_file() for file in files) or sum(file.stat().st_size for file in files) <= self.large:
            return False
        return all(_is_streamable(file) for file in files)

    def __iter__(self) -> Iterator[tuple[Table, float]]:
        """Tables, each with the share of all bytes that have been read by then."""
        options = {
            "encoding": self.reading.encoding,
            "delimiter": self.reading.delimiter,
            "header": self.reading.header,
        }
        if not self.is_streamed:
            yield read_table(list(self.paths), missing=self.reading.missing, **options), 1.0  # type: ignore[arg-type]
            return
        sizes = [Path(path).stat().st_size for path in self.paths]
        names: list[str] = []
        for number, path in enumerate(self.paths):
            for table, share in _stream(Path(path), self.reading):
                names = names or table.names
                done = (sum(sizes[:number]) + share * sizes[number]) / sum(sizes)
                yield _in_order(table, names, str(self.paths[0])), done

    @property
    def source(self) -> str:
        """The name of the whole, as `read_table` has it."""
        more = f" and {len(self.paths) - 1} more" if len(self.paths) > 1 else ""
        return Path(self.paths[0]).name + more

    def fingerprint(self) -> str:
        """The same as that of the whole table; all bytes are read for it, and none are kept."""
        each = [_digest(Path(path)) for path in self.paths]
        return each[0] if len(each) == 1 else hashlib.sha256("".join(each).encode()).hexdigest()[:16]

    def head(self) -> Table:
        """The first batch, or the whole table if it is not streamed."""
        return next(iter(self))[0]

    def parts(self) -> tuple[BatchPart, ...]:
        """Parts of streamed files that may be read side by side: runs of row groups, or a whole text file."""
        names = tuple(self.head().names)
        first = str(self.paths[0])
        return tuple(
            BatchPart(Path(path), self.reading, names, first, *place)
            for path in self.paths
            for place in (_row_groups(Path(path)) if _is_parquet(path) else [((), 0)])
        )


def read_batches(
    path: str | Path | Sequence[str | Path],
    *,
    missing: Sequence[str] = (),
    encoding: str | None = None,
    delimiter: str | None = None,
    header: bool = True,
    large: int = LARGE,
) -> Batches:
    """The table in files, to be read in batches if they are large; nothing is read yet.

    Parameters
    ----------
    path : str, Path or several
        The file, a pattern such as ``data/*.csv``, or a list of them.
    missing : tuple of str
        Further markers of missing cells.
    encoding : str, optional
        Found out by default.
    delimiter : str, optional
        Found out by default.
    header : bool
        Whether the first line holds names.
    large : int
        Bytes of all files from which on CSV and Parquet are read in batches; other formats are always read whole.
    """
    return Batches.of(path, Reading(tuple(missing), encoding, delimiter, header), large)


@dataclass(frozen=True)
class BatchPart:
    """Consecutive rows of a file: some row groups of Parquet, or all of a text file."""

    path: Path
    reading: Reading
    names: tuple[str, ...]
    first: str
    row_groups: tuple[int, ...] = ()
    start: int = 0

    @property
    def name(self) -> str:
        return self.path.name

    def __str__(self) -> str:
        return f"{self.path}, from row {self.start + 1} on"

    def __iter__(self) -> Iterator[Table]:
        for table, _ in _stream(self.path, self.reading, self.row_groups, self.start):
            yield _in_order(table, list(self.names), self.first)


def _is_parquet(path: str | Path) -> bool:
    with open(path, "rb") as file:
        return file.read(4) == b"PAR1"


def _row_groups(path: Path) -> Iterator[tuple[tuple[int, ...], int]]:
    """Runs of row groups with about PART_ROWS rows each, and the number of the first row of each run."""
    from pyarrow import parquet as pq

    metadata = pq.ParquetFile(path).metadata
    groups: list[int] = []
    start = rows = 0
    for index in range(metadata.num_row_groups):
        groups.append(index)
        rows += metadata.row_group(index).num_rows
        if rows >= PART_ROWS or index == metadata.num_row_groups - 1:
            yield tuple(groups), start
            start, rows, groups = start + rows, 0, []


def _digest(path: Path) -> str:
    with open_stream(path) as stream:
        digest = hashlib.sha256()
        while piece := stream.read(BYTES_AT_ONCE):
            digest.update(piece)
    return digest.hexdigest()[:16]


def _is_streamable(file: Path) -> bool:
    with open(file, "rb") as opened:
        head = opened.read(64)
    if packing(head) is None and (head.startswith(b"ARROW1") or looks_like_spreadsheet(head)):
        return False
    with open_stream(file) as stream:
        return not looks_like_json(stream.read(4096))


def _stream(
    path: Path, reading: Reading, row_groups: Sequence[int] = (), start: int = 0
) -> Iterator[tuple[Table, float]]:
    """All batches of a file, or those of some row groups, of which the first begins with row `start`."""
    state = FileState.of(path)
    n_rows = 0
    with naming(path):
        found = (
            _parquet_batches(path, state.size, reading, row_groups, start)
            if _is_parquet(path)
            else _text_batches(path, state.size, reading)
        )
        for table, share in found:
            state.refuse_change()
            n_rows += table.n_rows
            yield table, share
    if not n_rows and not row_groups:
        raise TableError(f"{path.name} has column names but no rows below them.")


def _parquet_batches(
    path: Path, size: int, reading: Reading, row_groups: Sequence[int] = (), start: int = 0
) -> Iterator[tuple[Table, float]]:
    from pyarrow import parquet as pq

    file = pq.ParquetFile(path, pre_buffer=False)
    refuse_vast_parquet(file.metadata, size, path.name)
    names, remarks = rename_doubled(path.name, file.schema_arrow.names)
    cells, wanted = Cells(reading.markers), list(row_groups) or None
    for batch in file.iter_batches(BATCH_ROWS, row_groups=wanted, use_threads=False):
        batch.validate(full=True)  # damaged lengths and offsets would end the process when they are used
        yield (
            Table(batch.rename_columns(names), path.name, cells, remarks=[] if start else remarks, start=start),
            min(1.0, (start + batch.num_rows) / max(1, file.metadata.num_rows)),
        )
        start += batch.num_rows


def _text_batches(path: Path, size: int, reading: Reading) -> Iterator[tuple[Table, float]]:
    with open_stream(path) as stream:
        head = stream.read(HEAD_BYTES)
    encoding, remarks = recognize_encoding(head, path.name, reading.encoding, cut=len(head) == HEAD_BYTES)
    dialect = Dialect.of(head, path.name, encoding, reading.delimiter, reading.header)
    remarks += dialect.remarks
    start, cells = 0, Cells(reading.markers, dialect.delimiter != ",")
    with open_stream(path) as stream:
        for batch in stream_delimited(stream, path.name, dialect, dialect.names, BYTES_AT_ONCE):
            yield (
                Table(batch, path.name, cells, remarks=[] if start else remarks, start=start),
                min(1.0, _place(stream) / max(1, size)),
            )
            start += batch.num_rows


def _place(stream: Any) -> int:
    """How far a file has been read; of a packed one that is not known."""
    try:
        return int(stream.tell())
    except (OSError, ValueError):
        return 0


def _in_order(table: Table, names: list[str], first: str) -> Table:
    """The columns in the order of the first file, which must be the same ones."""
    odd = sorted(set(names) ^ set(table.names))
    if odd:
        has, lacks = (Path(first).name, table.source) if odd[0] in names else (table.source, Path(first).name)
        raise TableError(f"{has} has a column {odd[0]!r}, {lacks} has none. Give all files the same.")
    if table.names == names:
        return table
    return Table(table.cells.select(names), table.source, table.reading, remarks=table.remarks, start=table.start)
