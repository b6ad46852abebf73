"""Delimited text: encoding and delimiter are recognised, or an error says why they cannot be."""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from pnulearn._reader.columns import Reading, is_number, join_names
from pnulearn._reader.errors import TableError, rename_doubled

DELIMITERS = ",;\t|"
HEAD_BYTES = 1 << 20  # read to recognise names and delimiter
_BOMS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
_SAMPLE = 50  # records used to recognise the delimiter


@dataclass(frozen=True)
class Dialect:
    """The format of a file: `cells` are the column names in the file, `names` the same without duplicates.

    `skip` is the number of header lines to skip if the file has duplicate names.
    """

    encoding: str
    delimiter: str
    header: bool
    cells: tuple[str, ...]
    names: tuple[str, ...]
    skip: int = 0
    remarks: tuple[str, ...] = ()

    @classmethod
    def of(cls, head: bytes, source: str, encoding: str, reading: Reading) -> Dialect:
        """From the beginning of a file."""
        text = codecs.getincrementaldecoder(encoding)().decode(head)
        delimiter, header = reading.delimiter or recognize_delimiter(text), reading.header
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        try:
            lines = list(islice((record for record in reader if record), max(1, reading.n_names)))
        except csv.Error as error:
            raise TableError(f"{source} cannot be read as CSV: {error}.") from None
        if not lines:
            raise TableError(f"{source} is empty.")
        if len({len(line) for line in lines}) > 1:
            raise TableError(f"The first {len(lines)} lines of {source} hold names, but not the same number of cells.")
        first = lines[0] if len(lines) == 1 else join_names(lines)
        cells = first if header else [f"f{place}" for place in range(len(first))]  # Arrow's own names
        names, remarks = rename_doubled(source, _names(first, source, header))
        if len(set(cells)) == len(cells) and len(lines) == 1:
            return cls(encoding, delimiter, header, tuple(cells), tuple(names), remarks=tuple(remarks))
        return cls(encoding, delimiter, header, tuple(names), tuple(names), reader.line_num, tuple(remarks))

    def options(self, columns: Sequence[str], block_size: int, bad_row: Any) -> dict[str, Any]:
        """Arguments of Arrow's readers for some columns, all as strings."""
        import pyarrow as pa
        from pyarrow import csv as reader

        cells = [self.cells[self.names.index(name)] for name in columns]
        encoding = "utf8" if self.encoding.startswith("utf-8") else self.encoding
        read = reader.ReadOptions(
            use_threads=False,  # a thread that still holds `bad_row` can abort the process at its end (arrow 34314)
            block_size=block_size,
            encoding=encoding,
            autogenerate_column_names=not self.header,
            column_names=self.names if self.skip else None,
            skip_rows=self.skip,
        )
        return {
            "read_options": read,
            "parse_options": reader.ParseOptions(
                delimiter=self.delimiter, newlines_in_values=True, invalid_row_handler=bad_row
            ),
            "convert_options": reader.ConvertOptions(
                column_types=dict.fromkeys(cells, pa.string()), include_columns=cells
            ),
        }


def read_delimited(raw: bytes, source: str, dialect: Dialect) -> Any:
    """All cells of a file in memory as an Arrow table of strings."""
    import pyarrow as pa
    from pyarrow import csv as reader

    bad: list[TableError] = []
    for block_size in (1 << 20, max(1 << 20, min(len(raw), (1 << 31) - 1))):  # the second is for very long cells
        options = dialect.options(dialect.names, block_size, _noting(bad, source, dialect))
        try:
            return reader.read_csv(pa.BufferReader(raw), **options).rename_columns(list(dialect.names))
        except (pa.ArrowInvalid, pa.ArrowKeyError) as error:
            problem = bad[-1] if bad else TableError(f"{source} is not readable as CSV: {error}. Check its quotes.")
    raise problem


def stream_delimited(
    stream: Any, source: str, dialect: Dialect, columns: Sequence[str], block_size: int
) -> Iterator[Any]:
    """Some columns of an open file, as record batches of strings."""
    import pyarrow as pa
    from pyarrow import csv as reader

    bad: list[TableError] = []
    try:
        yield from (
            batch.rename_columns(list(columns))
            for batch in reader.open_csv(stream, **dialect.options(columns, block_size, _noting(bad, source, dialect)))
        )
    except (pa.ArrowInvalid, UnicodeDecodeError) as error:
        if "UTF8" in str(error) or isinstance(error, UnicodeDecodeError):
            raise TableError(f"{source} is not valid {dialect.encoding}. Save it as UTF-8.") from error
        raise bad[-1] if bad else error from None


def _noting(bad: list[TableError], source: str, dialect: Dialect) -> Any:
    """Callback of Arrow for a row with too many or too few cells; it appends the error to `bad`."""

    def note(row: Any) -> str:
        where = "A row" if row.number is None else f"Row {row.number - int(dialect.header)}"
        bad.append(
            TableError(
                f"{where} of {source} has {row.actual_columns} cells, but the first line has {row.expected_columns}: "
                f"{row.text[:80]}. Check its quotes and delimiters."
            )
        )
        return "error"

    return note


def as_utf8(raw: bytes, source: str, encoding: str | None = None) -> tuple[bytes, list[str]]:
    """The text in UTF-8, and a remark if its encoding was inferred.

    >>> as_utf8("a;b".encode("utf-16"), "x.csv")
    (b'a;b', [])
    """
    guess, remarks = recognize_encoding(raw, source, encoding, cut=False)
    if guess == "utf-8":
        return raw, remarks
    return raw.decode(guess).encode(), remarks


def recognize_encoding(head: bytes, source: str, encoding: str | None, *, cut: bool) -> tuple[str, list[str]]:
    """An encoding that can decode the bytes, and remarks. `cut`: the last character may be incomplete."""
    if encoding is None and b"\0" in head[:4096] and not head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise TableError(
            f"{source} looks like a binary file, not a table. Save it as CSV, Parquet or JSON lines; if it is text, "
            'pass its encoding, e.g. encoding="utf-16-le".'
        )
    guess = encoding or next((name for mark, name in _BOMS if head.startswith(mark)), "utf-8")
    try:
        codecs.getincrementaldecoder(guess)().decode(head, not cut)
        return guess, []
    except LookupError:
        raise TableError(f"There is no encoding called {encoding!r}. Try utf-8, utf-16, cp1252 or latin-1.") from None
    except UnicodeDecodeError as error:
        place = f"byte {error.start + 1} of {source} is not valid {guess}"
    if encoding is None:
        try:
            head.decode("cp1252")
            return "cp1252", [f"{source} is not UTF-8 and was read as Windows-1252 (encoding=... overrides)."]
        except UnicodeDecodeError:
            pass
    raise TableError(f"The encoding was not recognised: {place}. Pass it, e.g. encoding='shift_jis'.")


def recognize_delimiter(text: str) -> str:
    """The delimiter that splits the first records into the same number of cells, preferring more cells.

    >>> recognize_delimiter("name;size\\nA, B;1,5\\n")
    ';'
    """
    found = [(_width(text, delimiter), delimiter) for delimiter in DELIMITERS]
    return max(found, key=lambda pair: pair[0])[1]  # a comma if no delimiter occurs


def _width(text: str, delimiter: str) -> tuple[bool, int]:
    try:
        widths = [len(record) for record in islice(_records(text, delimiter), _SAMPLE)]
    except csv.Error:
        return False, 0
    return len(set(widths)) == 1 and widths[0] > 1, min(widths, default=0)


def _records(text: str, delimiter: str) -> Iterator[list[str]]:
    """Records of cells, without empty lines."""
    return (record for record in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if record)


def _names(first: list[str], source: str, header: bool) -> list[str]:
    if not header:
        return [f"column {place + 1}" for place in range(len(first))]
    if all(map(is_number, first)):
        raise TableError(
            f"The first line of {source} holds numbers ({', '.join(first[:4])}, ...), not column names. Add a line "
            "with names, or pass header=False to call the columns 'column 1', 'column 2', ..."
        )
    return [name.strip() or f"column {place + 1}" for place, name in enumerate(first)]
