"""Atomic writing of files with locks, and protection of CSV cells against spreadsheet formulas."""

from __future__ import annotations

import errno
import os
import re
import secrets
import stat
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

# Locks that are released when the process ends, so that temporary files of killed runs can be recognised.

try:
    import fcntl
except ImportError:  # Windows, where a file in use cannot be deleted anyway
    fcntl = None  # type: ignore[assignment]

HAS_LOCKS = fcntl is not None


def take_lock(file: BinaryIO, *, shared: bool = False) -> bool:
    """Lock an open file without waiting; False if another process or thread has the lock."""
    if not HAS_LOCKS:
        return True
    try:
        fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def is_still_at(file: BinaryIO, path: str | os.PathLike[str]) -> bool:
    """Whether the path still refers to this open file, which may have been moved or deleted."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), os.stat(path))
    except (FileNotFoundError, NotADirectoryError):
        return False


# Atomic writing, with the permissions that the user expects.

LONGEST = 200  # bytes of an output's name that its temporaries repeat; file systems allow 255 in all
OUT_OF_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}


def write_atomically(path: str | os.PathLike[str], write: Callable[[BinaryIO], Any]) -> None:
    """Call `write` on a temporary file in the same folder, then move it to `path` in one step.

    Links are followed. An existing file keeps its mode, a new one gets the mode of the umask. Temporary files that
    killed runs left for the same path are deleted.
    """
    target = Path(os.path.realpath(path))
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
    temporary, file = _open_temporary(target, private=mode is not None)
    try:
        with file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
            if mode is not None:
                os.chmod(temporary, mode)
            if HAS_LOCKS:  # before closing the file releases the lock
                os.replace(temporary, target)
        if not HAS_LOCKS:
            os.replace(temporary, target)
    except BaseException as error:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno in OUT_OF_ROOM and error.filename is None:
            raise OSError(error.errno, error.strerror, str(path)) from None
        raise


def _open_temporary(target: Path, private: bool) -> tuple[Path, BinaryIO]:
    """A new file beside the target, under a name that nobody can foresee, locked; abandoned ones are deleted."""
    stem = target.name.encode()[:LONGEST].decode(errors="ignore")
    ours = re.compile(rf"\.{re.escape(stem)}\.([0-9a-f]{{16}}|\d\d?)\.tmp")  # digits: as 0.1 named them
    with suppress(OSError), os.scandir(target.parent) as entries:
        for entry in entries:
            if ours.fullmatch(entry.name):
                _delete_abandoned(Path(entry.path))
    while True:
        place = target.with_name(f".{stem}.{secrets.token_hex(8)}.tmp")
        file = _create(place, target, 0o600 if private else 0o666)
        if file is not None:
            return place, file


def _create(place: Path, target: Path, mode: int) -> BinaryIO | None:
    """The new file, or None if it exists. Retries if another process deletes it before it is locked."""
    while True:
        try:
            handle = os.open(place, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode)
        except FileExistsError:
            return None
        except OSError as error:
            raise type(error)(error.errno, error.strerror, str(target)) from None
        file = os.fdopen(handle, "w+b")
        if take_lock(file) and is_still_at(file, place):
            return file
        file.close()


def _delete_abandoned(place: Path) -> None:
    """Delete a plain file that nobody has locked; a pipe or a link under its name is not ours and stays."""
    if not HAS_LOCKS:
        with suppress(OSError):
            place.unlink()
        return
    with suppress(OSError):
        handle = os.open(place, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)  # a pipe would wait for its other end
        with os.fdopen(handle, "rb") as file:
            if stat.S_ISREG(os.fstat(handle).st_mode) and take_lock(file) and is_still_at(file, place):
                place.unlink()


# Text that a spreadsheet would run as a formula gets an apostrophe in front; numbers do not.

FORMULA = r"^[=+\-@\t\r]"
NUMBER = r"^[+-]?([\d.,]*\d[\d.,]*([eE][+-]?\d+)?|inf|infinity|nan)$"  # syntax that both Python and Arrow support


def guard_cell(cell: str) -> str:
    """The cell, with an apostrophe in front if a spreadsheet would read it as a formula.

    >>> [guard_cell(cell) for cell in ("=1+1", "-5.3", "+1e-3", "@SUM(A1)", "a=b", "")]
    ["'=1+1", '-5.3', '+1e-3', "'@SUM(A1)", 'a=b', '']
    """
    return f"'{cell}" if re.match(FORMULA, cell) and not re.match(NUMBER, cell) else cell


def guard_table(table: Any, numbers: Sequence[bool] | None = None) -> Any:
    """The same for the text columns of an Arrow table, except those marked in `numbers`."""
    import pyarrow as pa
    import pyarrow.compute as pc

    columns = list(table.columns)
    for place, field in enumerate(table.schema):
        if numbers is not None and numbers[place]:
            continue
        if pa.types.is_string(field.type) or pa.types.is_large_string(field.type):
            cells = columns[place]
            risky = pc.match_substring_regex(cells, FORMULA)
            if pc.any(risky).as_py():
                risky = pc.and_not(risky, pc.match_substring_regex(cells, NUMBER))
                guarded = pc.binary_join_element_wise(pa.scalar("'", field.type), cells, pa.scalar("", field.type))
                columns[place] = pc.if_else(risky, guarded, cells)
    return pa.Table.from_arrays(columns, schema=table.schema)
