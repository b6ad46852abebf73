"""How much memory there is, and how much of it may be used."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path

import numpy as np

UNKNOWN = 2**34  # a guess where the system tells nothing
# (limit, in use, details) of the container that this process may run in: version 2 of control groups, then version 1
CONTAINERS = (
    ("memory.max", "memory.current", "memory.stat"),
    ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes", "memory/memory.stat"),
)


def physical_memory() -> int:
    """Bytes of memory of this machine, or a guess."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else UNKNOWN


def free_memory(processes: Path = Path("/proc"), groups: Path = Path("/sys/fs/cgroup")) -> int:
    """Bytes that can be had now: what the machine has left, or the container if it allows less."""
    kilobytes = _entry(processes / "meminfo", "MemAvailable:")  # without swapping
    rooms = [physical_memory(), None if kilobytes is None else 1024 * kilobytes]
    rooms += [_room(*(groups / name for name in names)) for names in CONTAINERS]
    return max(0, min(room for room in rooms if room is not None))


@lru_cache(maxsize=1)
def keep_freed_memory() -> None:
    """Let the C library keep what temporaries give back, or every problem waits for the same pages of memory again.

    glibc keeps as much as twice the largest block ever freed, if that had at most 32 MB. This one is never touched.
    """
    np.empty(2**22 - 2**12)


def _room(limit: Path, used: Path, details: Path) -> int | None:
    """What a container has left; None if it has no limit ("max") or there is no container.

    Files that were read stay in memory until something else needs it: they count as used and are free all the same.
    """
    numbers = [_text(path).strip() for path in (limit, used)]
    if not all(map(str.isdigit, numbers)):
        return None
    return int(numbers[0]) - int(numbers[1]) + (_entry(details, "inactive_file") or 0)


def _entry(path: Path, name: str) -> int | None:
    """The number that follows a name in a file of one pair a line."""
    for line in _text(path).splitlines():
        if line.split()[:1] == [name]:
            return int(line.split()[1])
    return None


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""
