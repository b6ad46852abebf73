"""Errors about tables: what was found, where, and how to correct it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from pnulearn._extras import import_extra


class TableError(ValueError):
    """A file cannot be read as a table, or a column cannot be used. The message says how to correct it."""


class Caution(str):
    """A remark that is a warning: it is shown even where notes are not."""


def need_arrow() -> None:
    """Raise an error with the install command if pyarrow is missing."""
    with import_extra("io", "Reading tables"):
        import pyarrow  # noqa: F401


def suggestion(name: str, names: Iterable[str], listed: str = "Its columns are") -> str:
    """The most similar name, or the names that exist after the words `listed`; empty without any."""
    from difflib import get_close_matches

    names = list(names)
    folded = {other.casefold(): other for other in names}
    close = get_close_matches(name.casefold(), folded, n=1, cutoff=0.7)
    if close:
        return f"Did you mean {folded[close[0]]!r}?"
    return f"{listed} {', '.join(map(repr, names[:12]))}{', ...' if len(names) > 12 else ''}." if names else ""


def refuse_doubled(source: str, names: Iterable[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise TableError(f"{source} has more than one column {name!r}. Rename one of them.")
        seen.add(name)


def rename_doubled(source: str, names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Unique names, and a remark for each name that got a number.

    >>> rename_doubled("t.csv", ["a", "b", "a"])
    (['a', 'b', 'a 2'], ["t.csv has more than one column 'a'; a further one is called 'a 2'."])
    """
    taken, unique, remarks = set(names), [], []
    seen: set[str] = set()
    for name in names:
        new, number = name, 2
        while new in seen or (new != name and new in taken):
            new, number = f"{name} {number}", number + 1
        if new != name:
            remarks.append(f"{source} has more than one column {name!r}; a further one is called {new!r}.")
        seen.add(new)
        unique.append(new)
    return unique, remarks


@contextmanager
def naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Convert errors while reading a file to errors that name it. Errors of the storage stay OSErrors, for retries."""
    import pyarrow as pa

    try:
        yield
    except TableError:
        raise
    except pa.ArrowInvalid as error:
        raise TableError(f"{path} cannot be read: {_first_line(error)} Is it complete?") from error
    except PermissionError as error:
        raise PermissionError(f"No permission to read {path}.") from error
    except (pa.ArrowException, OSError) as error:
        raise OSError(f"{path} cannot be read: {_first_line(error)}") from error


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__


# Decompression bombs: refused before memory is used.

# Limit of the decompressed bytes: a constant, plus a ratio per compressed byte. Ordinary tables have ratios of 3 to 50.
FREE_BYTES, RATIO = 16 << 20, 200
FREE_CELLS, CELLS_PER_BYTE = 8 << 20, 125  # Parquet stores constant columns in almost no space
CHUNK = 1 << 20


def read_bounded(stream: Any, n_packed: int, source: str) -> bytes:
    """All bytes of a stream that decompresses a file of `n_packed` bytes."""
    most = FREE_BYTES + RATIO * n_packed
    pieces: list[bytes] = []
    n_bytes, buffer = 0, bytearray(CHUNK)  # read() of Arrow's streams leaks a chunk of memory if a file is damaged
    while length := stream.readinto(buffer):
        pieces.append(bytes(memoryview(buffer)[:length]))
        n_bytes += length
        if n_bytes > most:
            raise TableError(
                f"{source} unpacks to more than {RATIO} times its {n_packed} bytes, which looks like a decompression "
                "bomb. If it is the right file, unpack it first."
            )
    return b"".join(pieces)


def refuse_vast_parquet(metadata: Any, n_packed: int, source: str) -> None:
    """Raise an error if the number of cells in the metadata is implausible for the size of the file."""
    n_cells = metadata.num_rows * metadata.num_columns
    if n_cells > FREE_CELLS + CELLS_PER_BYTE * n_packed:
        raise TableError(
            f"{source} claims {n_cells} cells in {n_packed} bytes, which looks like a decompression bomb. If it is the "
            "right file, leave constant columns out or save it as CSV."
        )
