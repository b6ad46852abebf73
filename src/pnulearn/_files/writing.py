"""Files that appear whole or not at all, with the permissions that the user expects."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from pnulearn._files.locks import HAS_LOCKS, is_still_at, take_lock

SLOTS = 64  # names of temporaries of one output, and so the number of processes that can write it at once
LONGEST = 200  # bytes of an output's name that its temporaries repeat; file systems allow 255 in all
OUT_OF_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}


def write_atomically(path: str | os.PathLike[str], write: Callable[[BinaryIO], Any]) -> None:
    """Call `write` on a temporary file beside `path`, then put it in place in one step.

    A link is followed and what it leads to is replaced. A file that was there keeps its mode, a new one has what the
    umask leaves. Temporaries of killed runs to the same path are cleared.
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
            if HAS_LOCKS:  # before the lock ends with the file
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
    """A new file beside the target, locked; files of the same name that nobody has locked are deleted."""
    stem = target.name.encode()[:LONGEST].decode(errors="ignore")
    places = [target.with_name(f".{stem}.{slot}.tmp") for slot in range(SLOTS)]
    for place in places:
        if place.exists():
            _delete_abandoned(place)
    for place in places:
        file = _create(place, target, 0o600 if private else 0o666)
        if file is not None:
            return place, file
    raise OSError(f"{target} is being written by {SLOTS} processes already. Wait until they have finished.")


def _create(place: Path, target: Path, mode: int) -> BinaryIO | None:
    """The file, or None if another process has it. A cleaner may come between making and locking: then once more."""
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
    with suppress(OSError), open(place, "rb") as file:
        if HAS_LOCKS and take_lock(file) and is_still_at(file, place):
            place.unlink()
    if not HAS_LOCKS:
        with suppress(OSError):
            place.unlink()
