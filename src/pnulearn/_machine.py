"""Free memory and threads of the machine."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import lru_cache
from numbers import Integral
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from joblib import effective_n_jobs
from threadpoolctl import OpenBLASController, ThreadpoolController

# Memory.

UNKNOWN = 2**34  # assumed if the system does not report it
# Files with limit, usage and details of the container that this process may run in: cgroups version 2, then version 1
CONTAINERS = (
    ("memory.max", "memory.current", "memory.stat"),
    ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes", "memory/memory.stat"),
)


def physical_memory() -> int:
    """Bytes of memory of this machine, or a default if unknown."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else UNKNOWN


def free_memory(processes: Path = Path("/proc"), groups: Path = Path("/sys/fs/cgroup")) -> int:
    """Bytes that are available now: those of the machine, or of the container if it allows less."""
    kilobytes = _entry(processes / "meminfo", "MemAvailable:")  # without swapping
    rooms = [physical_memory(), None if kilobytes is None else 1024 * kilobytes]
    rooms += [_room(*(groups / name for name in names)) for names in CONTAINERS]
    return max(0, min(room for room in rooms if room is not None))


@lru_cache(maxsize=1)
def keep_freed_memory() -> None:
    """Make the C library keep freed memory, so that temporary arrays do not request the same pages again.

    glibc keeps up to twice the largest block ever freed, if that was at most 32 MB. The block here is freed unused.
    """
    np.empty(2**22 - 2**12)


def _room(limit: Path, used: Path, details: Path) -> int | None:
    """Available memory of a container; None if it has no limit ("max") or there is no container.

    The file cache counts as used, but is available, because it is released on demand.
    """
    numbers = [_text(path).strip() for path in (limit, used)]
    if not all(map(str.isdigit, numbers)):
        return None
    return int(numbers[0]) - int(numbers[1]) + (_entry(details, "inactive_file") or 0)


def _entry(path: Path, name: str) -> int | None:
    """The number that follows a name in a file with one name and number per line."""
    for line in _text(path).splitlines():
        if line.split()[:1] == [name]:
            return int(line.split()[1])
    return None


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""


# Threads, each with a single BLAS thread: many BLAS threads are slow for small matrices.

T = TypeVar("T")


def check_n_jobs(n_jobs: Any) -> None:
    """Raise a ValueError unless n_jobs is None or a whole number other than 0."""
    if n_jobs is not None and (not isinstance(n_jobs, Integral) or n_jobs == 0):
        raise ValueError(f"n_jobs must be a whole number other than 0, got {n_jobs!r}: 1 is one thread, -1 all cores.")


def map_in_threads(work: Callable[..., T], tasks: Sequence[tuple[Any, ...]], n_jobs: int | None = None) -> list[T]:
    """Results of work(*task) for all tasks, in order, computed by `n_jobs` threads (with joblib's meaning).

    joblib itself is not used, because it polls for results every 10 ms, which is as long as a small fit.
    """
    workers = min(effective_n_jobs(n_jobs), len(tasks))
    with one_blas_thread():
        if workers <= 1:
            return [work(*task) for task in tasks]
        pool = ThreadPoolExecutor(workers, thread_name_prefix="pnulearn")
        try:
            return list(pool.map(lambda task: work(*task), tasks))
        finally:
            pool.shutdown(cancel_futures=True)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread. More would compete with our threads, and could change the last bits of sums."""
    _LIMIT.enter()
    try:
        yield
    finally:
        _LIMIT.leave()


class _BlasLimit:
    """A limit that is set when the first thread enters and restored when the last one leaves."""

    def __init__(self) -> None:
        self.lock, self.users = threading.Lock(), 0
        self.limit: Any = None

    def enter(self) -> None:
        with self.lock:
            if self.users == 0:
                self.limit = _libraries().limit(limits=1, user_api="blas")
            self.users += 1

    def leave(self) -> None:
        with self.lock:
            self.users -= 1
            if self.users == 0:
                _disown()
                self.limit.restore_original_limits()
                _disown()


def _disown() -> None:
    """Since threadpoolctl 3.8, only the thread that set a limit of OpenBLAS can restore it; this clears the owner."""
    if hasattr(OpenBLASController, "clear_controlling_thread"):
        OpenBLASController.clear_controlling_thread(force=True)


_LIMIT = _BlasLimit()


@lru_cache(maxsize=1)
def _libraries() -> ThreadpoolController:
    return ThreadpoolController()  # cached, since finding the libraries takes longer than a small fit
