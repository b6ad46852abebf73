"""Locks that end with the process that holds them, so that what a killed run left can be told from what is in use."""

from __future__ import annotations

import os
from typing import BinaryIO

try:
    import fcntl
except ImportError:  # Windows, where a file in use cannot be deleted anyway
    fcntl = None  # type: ignore[assignment]

HAS_LOCKS = fcntl is not None


def take_lock(file: BinaryIO, *, shared: bool = False) -> bool:
    """Lock an open file without waiting; False if another process or thread holds it."""
    if not HAS_LOCKS:
        return True
    try:
        fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def is_still_at(file: BinaryIO, path: str | os.PathLike[str]) -> bool:
    """Whether an open file is the one that this path names: it may have been moved or deleted meanwhile."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), os.stat(path))
    except FileNotFoundError:
        return False
