"""CSV files, read in a stream."""

from __future__ import annotations

import codecs
import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pnulearn.streaming.batches import ArrowBatch
from pnulearn.streaming.columns import refuse_doubled
from pnulearn.streaming.files import DataFileError, FileState, naming

BYTES_AT_ONCE = 1 << 22
HEAD_BYTES = 1 << 16
DELIMITERS = ",;\t|"


@dataclass(frozen=True)
class CsvPart:
    """A CSV file with a header. It is one part, however long, because a quoted cell may hold line breaks."""

    state: FileState
    delimiter: str
    header: tuple[str, ...]
    target: str | None = None
    start: int = 0
    n_rows: int | None = None

    @classmethod
    def of(cls, path: Path, target: str | None) -> CsvPart:
        """Read the header; the delimiter is the one under which it holds the target, or the most cells."""
        with naming(path):
            line = _first_line(path)
            delimiter = max(DELIMITERS, key=lambda mark: (target in _cells(line, mark), len(_cells(line, mark))))
            return cls(FileState.of(path), delimiter, tuple(_cells(line, delimiter)), target)

    @property
    def name(self) -> str:
        return self.state.name

    def __str__(self) -> str:
        return self.state.path

    def schema(self) -> dict[str, Any]:
        """Column names, with unknown types: features are read as numbers and labels as text, whatever they are."""
        refuse_doubled(self.state.path, self.header)
        return dict.fromkeys(self.header)

    def batches(self, columns: Sequence[str], as_text: Sequence[str] = ()) -> Iterator[ArrowBatch]:
        """Batches with these columns."""
        import pyarrow as pa
        from pyarrow import csv as reader

        text = (self.target, *as_text)
        types = {name: pa.string() if name in text else pa.float64() for name in columns}
        options = {
            "read_options": reader.ReadOptions(use_threads=False, block_size=BYTES_AT_ONCE),
            "parse_options": reader.ParseOptions(delimiter=self.delimiter, newlines_in_values=True),
            "convert_options": reader.ConvertOptions(
                column_types=types, include_columns=list(columns), strings_can_be_null=True
            ),
        }
        with naming(self.state.path):
            self.state.refuse_change()
            for batch in reader.open_csv(self.state.path, **options):
                yield ArrowBatch(batch, self.target, untyped=True)

    def glimpse(self) -> CsvPart:
        return self


def _first_line(path: Path) -> str:
    import pyarrow as pa

    with pa.input_stream(str(path)) as stream:  # which also unpacks .gz
        head = codecs.getincrementaldecoder("utf-8-sig")().decode(stream.read(HEAD_BYTES))
    lines = [line for line in head.splitlines() if line.strip()]
    if not lines:
        raise DataFileError(f"{path} is empty: a CSV file needs a header and rows.")
    return lines[0]


def _cells(line: str, delimiter: str) -> list[str]:
    return next(csv.reader([line], delimiter=delimiter))
