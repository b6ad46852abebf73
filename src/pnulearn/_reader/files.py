"""Finding data files, recognising their formats, and detecting changes while they are read."""

from __future__ import annotations

import glob
import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pnulearn._reader.errors import TableError

PARQUET, CSV = (".parquet", ".pq"), (".csv", ".csv.gz", ".tsv", ".txt")
PACKED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}


def find_files(data: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> list[Path]:
    """Files given by a path, a folder, a pattern, or several of them, in a deterministic order."""
    if not isinstance(data, str | os.PathLike):
        return list(dict.fromkeys(file for one in data for file in find_files(one)))  # a file counts once
    path = Path(data)
    if not str(data):
        raise FileNotFoundError("The name of the file is empty.")
    if path.is_dir():
        found = sorted(file for file in path.rglob("*") if _is_table(file))
        if not found:
            raise FileNotFoundError(f"The folder {str(data)!r} holds no Parquet or CSV files.")
        return found
    if path.exists():
        refuse_special(path)
        return [path]
    found = [Path(name) for name in sorted(glob.glob(str(data), recursive=True)) if Path(name).is_file()]
    if not found:
        what = "Nothing matches" if glob.has_magic(str(data)) else "There is no file or folder"
        raise FileNotFoundError(f"{what} {str(data)!r}.")
    return found


def expand(paths: str | Path | Sequence[str | Path]) -> list[str | Path]:
    """Files given by paths or patterns such as data/*.csv; the path of an existing file is never a pattern."""
    if isinstance(paths, str | Path):
        if Path(paths).exists() or not glob.has_magic(str(paths)):
            return [paths]
        found: list[str | Path] = [
            name for name in sorted(glob.glob(str(paths), recursive=True)) if Path(name).is_file()
        ]
        if not found:
            raise TableError(f"Nothing matches {str(paths)!r}.")
        return found
    return list(dict.fromkeys(path for one in paths for path in expand(one)))  # a file counts once


def refuse_absent(path: str | Path) -> None:
    """Raise an error for a folder or a missing file, with the tables that exist; "-" is standard input."""
    file = Path(path)
    if str(path) == "-" or (file.exists() and not file.is_dir()):
        return
    if file.is_dir():
        raise TableError(f"{str(path)!r} is a folder. Name one file in it.")
    place = file.parent if file.parent.is_dir() else Path()
    there = sorted(
        p.name for p in place.iterdir() if p.suffix in (".csv", ".tsv", ".xlsx", ".ods", ".parquet", ".jsonl")
    )
    hint = f" There is {', '.join(there[:5])}." if there else ""
    raise TableError(f"There is no file {str(path)!r}.{hint}")


def _is_table(file: Path) -> bool:
    """Whether this is a data file; hidden files and those that start with _ (Spark's markers) are not."""
    return file.is_file() and file.name[0] not in "._" and file.name.lower().endswith(PARQUET + CSV)


def read_plain(path: Path) -> bytes:
    """The bytes of a file, or of a pipe with a writer; devices are refused."""
    refuse_special(path, pipes=True)
    if not stat.S_ISFIFO(path.stat().st_mode):
        return path.read_bytes()
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as pipe:  # does not block without a writer
        try:
            first = os.read(pipe.fileno(), 1)
        except BlockingIOError:  # there is a writer, but no data yet
            first = None
        if first == b"":
            raise TableError(f"{str(path)!r} is a pipe without a writer.")
        os.set_blocking(pipe.fileno(), True)
        return (first or b"") + pipe.read()


def refuse_special(path: Path, *, pipes: bool = False) -> None:
    """Raise an error for devices, which may have no end, and for pipes, which cannot be read twice."""
    mode = path.stat().st_mode
    if not (stat.S_ISREG(mode) or (pipes and stat.S_ISFIFO(mode))):
        raise TableError(f"{str(path)!r} is a device, a pipe or a socket, not a plain file.")


@dataclass(frozen=True)
class FileState:
    """Size and modification time of a file, to detect changes while it is in use."""

    path: str
    size: int
    modified: int

    @classmethod
    def of(cls, path: str | os.PathLike[str]) -> FileState:
        state = os.stat(path)
        return cls(str(path), state.st_size, state.st_mtime_ns)

    @property
    def name(self) -> str:
        return Path(self.path).name

    def refuse_change(self) -> None:
        now = FileState.of(self.path)
        if now != self:
            raise TableError(
                f"{self.path} changed while it was in use: it had {self.size} bytes and now has {now.size}, with "
                "another modification time. Start again when the files do not change any more."
            )


def open_stream(path: str | os.PathLike[str]) -> Any:
    """A stream of the decompressed bytes of a file."""
    import pyarrow as pa

    with open(path, "rb") as file:
        kind = packing(file.read(4))
    return pa.input_stream(str(path), compression=kind)


def packing(head: bytes) -> str | None:
    """The compression of a file, from its first bytes."""
    return next((kind for mark, kind in PACKED.items() if head.startswith(mark)), None)


def refuse_other_formats(head: bytes, source: str) -> None:
    """Raise an error if the first bytes are not those of a table."""
    if not head.strip():
        raise TableError(f"{source} is empty.")
    if head.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0")):  # read_table can read spreadsheets, streams cannot
        raise TableError(f"{source} looks like a spreadsheet or an archive. Save the table as CSV first.")
