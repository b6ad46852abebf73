"""Large tables in batches: every batch is a table with its row offset in the whole table."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pnulearn._reader.columns import Cells, Reading
from pnulearn._reader.delimited import HEAD_BYTES, Dialect, recognize_encoding, stream_delimited
from pnulearn._reader.errors import TableError, naming, need_arrow, refuse_vast_parquet, rename_doubled
from pnulearn._reader.files import FileState, expand, open_stream, packing, refuse_other_formats
from pnulearn._reader.formats import looks_like_json, looks_like_spreadsheet
from pnulearn._reader.in_memory import read_tables
from pnulearn._reader.table import Table

LARGE = 32 << 20  # total bytes of files above which they are read in batches
BATCH_ROWS = 1 << 15
BYTES_AT_ONCE = 1 << 23
PART_ROWS = 250_000  # takes a few seconds


@dataclass(frozen=True)
class Batches:
    """The rows of one or several files, in batches if the files are large. Can be iterated repeatedly."""

    paths: tuple[str | Path, ...]
    reading: Reading
    large: int

    @classmethod
    def of(cls, path: str | Path | Sequence[str | Path], reading: Reading, large: int | None = None) -> Batches:
        """From a path, a pattern or several of them."""
        need_arrow()
        return cls(tuple(expand(path)), reading, LARGE if large is None else large)

    @property
    def is_streamed(self) -> bool:
        """Whether the files are read in batches; spreadsheets, JSON and standard input are read at once."""
        files = [Path(path) for path in self.paths]
        if not all(file.is_file() for file in files) or sum(file.stat().st_size for file in files) <= self.large:
            return False
        return all(_is_streamable(file) for file in files)

    def whole(self) -> Table:
        """All rows in memory."""
        return read_tables(list(self.paths), self.reading)

    def __iter__(self) -> Iterator[tuple[Table, float]]:
        """Tables, each with the share of all bytes read so far."""
        if not self.is_streamed:
            yield self.whole(), 1.0
            return
        sizes = [Path(path).stat().st_size for path in self.paths]
        parts = self._open_all()
        names = parts[0].names
        for number, part in enumerate(parts):
            n_rows = 0
            for table, share in self._refuse_others(part, names).tables(names):
                n_rows += table.n_rows
                yield table, (sum(sizes[:number]) + share * sizes[number]) / sum(sizes)
            if not n_rows:
                raise TableError(f"{part.name} has column names but no rows below them.")

    @property
    def source(self) -> str:
        """The name of the table, the same as from `read_table`."""
        more = f" and {len(self.paths) - 1} more" if len(self.paths) > 1 else ""
        return Path(self.paths[0]).name + more

    def fingerprint(self) -> str:
        """The fingerprint of the table, the same as from `read_table`. Reads all files."""
        each = [_digest(Path(path)) for path in self.paths]
        return each[0] if len(each) == 1 else hashlib.sha256("".join(each).encode()).hexdigest()[:16]

    def head(self) -> Table:
        """The first batch, or the whole table if it is not streamed."""
        return next(iter(self))[0]

    def parts(self) -> tuple[BatchPart, ...]:
        """Parts of streamed files that can be read in parallel: consecutive row groups, or a whole text file."""
        whole = self._open_all()
        names = whole[0].names
        return tuple(
            replace(part, names=names) for one in whole for part in self._refuse_others(one, names).split(PART_ROWS)
        )

    def _open_all(self) -> list[BatchPart]:
        """Every file as one part. If only some of them have decimal commas, all are read with decimal points."""
        parts = [self._open(path) for path in self.paths]
        mixed = len({part.cells.decimal_comma for part in parts}) > 1
        return [replace(part, with_points=mixed) for part in parts]

    def _open(self, path: str | Path) -> BatchPart:
        """A file as one part; the format is recognised by content."""
        with naming(path):
            part = BatchPart.of(Path(path), self.reading, source=Path(path).name, is_parquet=_is_parquet(path))
            if part.dialect is None:
                refuse_vast_parquet(part.open_parquet().metadata, part.state.size, part.name)
        return part

    def _refuse_others(self, part: BatchPart, names: Sequence[str]) -> BatchPart:
        """The file, if it has the same columns as the first one, in any order; otherwise an error."""
        odd = sorted(set(names) ^ set(part.names))
        if odd:
            first = Path(self.paths[0]).name
            has, lacks = (first, part.name) if odd[0] in names else (part.name, first)
            raise TableError(f"{has} has a column {odd[0]!r}, {lacks} has none. Give all files the same.")
        return part


def read_batches(
    path: str | Path | Sequence[str | Path],
    *,
    missing: Sequence[str] = (),
    encoding: str | None = None,
    delimiter: str | None = None,
    header: bool = True,
    header_rows: int = 1,
    decimal: str | None = None,
    large: int = LARGE,
) -> Batches:
    """A table in files, read in batches if they are large. Rows are read when the result is iterated.

    Parameters
    ----------
    path : str, Path or several
        The file, a pattern such as ``data/*.csv``, or a list of them.
    missing : tuple of str
        Further markers of missing cells.
    encoding : str, optional
        Encoding of text files; recognised by default.
    delimiter : str, optional
        Delimiter of CSV files; recognised by default.
    header : bool
        Whether the first line holds column names.
    header_rows : int
        Number of lines that hold column names.
    decimal : str, optional
        Decimal mark, "." or ","; recognised by default.
    large : int
        Total bytes above which CSV and Parquet files are read in batches; other formats are always read at once.
    """
    return Batches.of(path, Reading(tuple(missing), encoding, delimiter, header, header_rows, decimal), large)


@dataclass(frozen=True)
class BatchPart:
    """Consecutive rows of a file that can be read repeatedly: row groups of Parquet, or a whole text file.

    A text file is always one part, because a quoted cell may contain line breaks. `source` is the name of the file in
    error messages, `stored` are the column names in the file, and `names` the same without duplicates.
    """

    state: FileState
    source: str
    cells: Cells
    stored: tuple[str, ...]
    names: tuple[str, ...]
    dialect: Dialect | None = None
    row_groups: tuple[int, ...] = ()
    start: int = 0
    n_rows: int | None = None
    remarks: tuple[str, ...] = ()
    with_points: bool = False

    @classmethod
    def of(cls, path: Path, reading: Reading, *, source: str, is_parquet: bool) -> BatchPart:
        """All rows of a file as one part; only the head is read."""
        state = FileState.of(path)
        if is_parquet:
            return cls._of_parquet(state, reading, source)
        with open_stream(path) as stream:
            head = stream.read(HEAD_BYTES)
        refuse_other_formats(head, source)
        encoding, remarks = recognize_encoding(head, source, reading.encoding, cut=len(head) == HEAD_BYTES)
        dialect = Dialect.of(head, source, encoding, reading)
        cells = replace(reading.cells, decimal_comma=dialect.delimiter != ",")
        remarks += dialect.remarks
        return cls(state, source, cells, dialect.names, dialect.names, dialect, remarks=tuple(remarks))

    @classmethod
    def _of_parquet(cls, state: FileState, reading: Reading, source: str) -> BatchPart:
        part = cls(state, source, reading.cells, (), ())
        file = part.open_parquet()
        stored = tuple(file.schema_arrow.names)
        names, remarks = rename_doubled(source, stored)
        groups = tuple(range(file.metadata.num_row_groups))
        n_rows = file.metadata.num_rows
        found = replace(part, stored=stored, names=tuple(names), remarks=tuple(remarks))
        return replace(found, row_groups=groups, n_rows=n_rows)

    @property
    def name(self) -> str:
        return self.state.name

    def __str__(self) -> str:
        if self.n_rows is None:
            return self.state.path
        return f"{self.state.path}, rows {self.start} to {self.start + self.n_rows - 1}"

    def open_parquet(self) -> Any:
        from pyarrow import parquet as pq

        # pre-buffering would hold whole row groups in memory
        return pq.ParquetFile(self.state.path, pre_buffer=False, page_checksum_verification=True)

    def split(self, part_rows: int) -> list[BatchPart]:
        """Parts of consecutive row groups with about `part_rows` rows each, without empty ones. Text is not split."""
        if self.dialect is not None:
            return [self]
        metadata = self.open_parquet().metadata
        parts: list[BatchPart] = []
        groups: list[int] = []
        start = rows = 0
        for index in self.row_groups:
            groups.append(index)
            rows += metadata.row_group(index).num_rows
            if rows >= part_rows or index == self.row_groups[-1]:
                if rows:
                    parts.append(replace(self, row_groups=tuple(groups), start=start, n_rows=rows))
                start, rows, groups = start + rows, 0, []
        return parts

    def tables(
        self, columns: Sequence[str] | None = None, batch_rows: int | None = None, block_bytes: int | None = None
    ) -> Iterator[tuple[Table, float]]:
        """Tables with these columns (default: all), each with the share of the file read so far."""
        wanted = self.names if columns is None else tuple(columns)
        read = self._parquet_batches if self.dialect is None else self._text_batches
        size = (batch_rows or BATCH_ROWS) if self.dialect is None else (block_bytes or BYTES_AT_ONCE)
        start, remarks = self.start, list(self.remarks) if self.start == 0 else []
        with naming(self.state.path):
            self.state.refuse_change()
            for batch, share in read(wanted, size):
                self.state.refuse_change()
                table = Table(batch, self.source, self.cells, remarks=remarks, start=start)
                yield table.with_points() if self.with_points else table, share
                start, remarks = start + batch.num_rows, []

    def _parquet_batches(self, columns: Sequence[str], batch_rows: int) -> Iterator[tuple[Any, float]]:
        file, done = self.open_parquet(), self.start
        plain = self.stored == tuple(dict.fromkeys(self.stored))  # otherwise columns cannot be selected by name
        for batch in file.iter_batches(
            batch_rows,
            row_groups=list(self.row_groups),
            columns=list(columns) if plain else None,
            use_threads=False,
        ):
            batch.validate(full=True)  # damaged lengths and offsets could crash the process later
            done += batch.num_rows
            named = batch if plain else batch.rename_columns(rename_doubled(self.source, self.stored)[0])
            yield named.select(list(columns)), min(1.0, done / max(1, file.metadata.num_rows))

    def _text_batches(self, columns: Sequence[str], block_bytes: int) -> Iterator[tuple[Any, float]]:
        assert self.dialect is not None
        with open_stream(self.state.path) as stream:
            for batch in stream_delimited(stream, self.source, self.dialect, columns, block_bytes):
                yield batch, min(1.0, _place(stream) / max(1, self.state.size))


def _is_parquet(path: str | Path) -> bool:
    with open(path, "rb") as file:
        return file.read(4) == b"PAR1"


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


def _place(stream: Any) -> int:
    """Current byte position in a file; 0 for compressed files, where it is unknown."""
    try:
        return int(stream.tell())
    except (OSError, ValueError):
        return 0
