"""Finding data files, noticing when they change, and errors that name them."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pnulearn._machine.extras import import_extra

PARQUET, CSV = (".parquet", ".pq"), (".csv", ".csv.gz", ".tsv", ".txt")
HINTS = {
    "UTF8": "Save it as UTF-8.",
    "conversion error": "Encode text as numbers first, or choose columns with columns=[...].",
    "Expected": "A line has more or fewer cells than the header.",
}


class DataFileError(ValueError):
    """A file that cannot be used: unreadable, incomplete, changed, or without the columns that are needed."""


def find_files(data: str | os.PathLike | Sequence[str | os.PathLike]) -> list[Path]:
    """Files named by a path, a folder, a pattern, or several of them; always in the same order."""
    if not isinstance(data, str | os.PathLike):
        return list(dict.fromkeys(file for one in data for file in find_files(one)))  # a file counts once
    path = Path(data)
    if path.is_dir():
        found = sorted(file for file in path.rglob("*") if _is_table(file))
        if not found:
            raise FileNotFoundError(f"The folder {str(data)!r} holds no Parquet or CSV files.")
        return found
    if path.exists():
        return [path]
    found = [Path(name) for name in sorted(glob.glob(str(data), recursive=True)) if Path(name).is_file()]
    if not found:
        what = "Nothing matches" if glob.has_magic(str(data)) else "There is no file or folder"
        raise FileNotFoundError(f"{what} {str(data)!r}.")
    return found


def _is_table(file: Path) -> bool:
    """Hidden files and those that start with _ (Spark's markers) are not data."""
    return file.is_file() and file.name[0] not in "._" and file.name.lower().endswith(PARQUET + CSV)


@dataclass(frozen=True)
class FileState:
    """Size and time of a file, to notice when it is no longer the one that was looked at first."""

    path: str
    size: int
    modified: int

    @classmethod
    def of(cls, path: str | os.PathLike) -> FileState:
        state = os.stat(path)
        return cls(str(path), state.st_size, state.st_mtime_ns)

    @property
    def name(self) -> str:
        return Path(self.path).name

    def refuse_change(self) -> None:
        now = FileState.of(self.path)
        if now != self:
            raise DataFileError(
                f"{self.path} was changed while in use: it had {self.size} bytes and now has {now.size}, written at "
                "another time. Start over, with files that nobody writes to."
            )


@contextmanager
def naming(path: str | os.PathLike) -> Iterator[None]:
    """Turn whatever goes wrong with a file into an error that names it."""
    with import_extra("io", "Reading files in parts"):
        import pyarrow as pa
    try:
        yield
    except DataFileError:
        raise
    except UnicodeDecodeError as error:
        raise DataFileError(f"{path} is not UTF-8 text. {HINTS['UTF8']}") from error
    except pa.ArrowInvalid as error:
        hint = next((hint for word, hint in HINTS.items() if word in str(error)), "Is it complete?")
        raise DataFileError(f"{path} cannot be read: {_first_line(error)} {hint}") from error
    except PermissionError as error:
        raise PermissionError(f"No permission to read {path}.") from error
    except (pa.ArrowException, OSError) as error:
        raise OSError(f"{path} cannot be read: {_first_line(error)}") from error


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
