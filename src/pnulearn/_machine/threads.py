"""Work shared out over threads, each with a single BLAS thread: small matrices and many BLAS threads are poison."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import lru_cache
from numbers import Integral
from typing import Any, TypeVar

from joblib import effective_n_jobs
from threadpoolctl import OpenBLASController, ThreadpoolController

T = TypeVar("T")


def check_n_jobs(n_jobs: Any) -> None:
    """None or a whole number other than 0."""
    if n_jobs is not None and (not isinstance(n_jobs, Integral) or n_jobs == 0):
        raise ValueError(f"n_jobs must be a whole number other than 0, got {n_jobs!r}: 1 is one thread, -1 all cores.")


def map_in_threads(work: Callable[..., T], tasks: Sequence[tuple[Any, ...]], n_jobs: int | None = None) -> list[T]:
    """work(*task) of every task, in order, by `n_jobs` threads in joblib's sense.

    joblib itself looks only every hundredth of a second whether the last task is done: as long as a small fit.
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
    """Limit BLAS to one thread: more would fight with ours, and could change the last bits of the sums."""
    _LIMIT.enter()
    try:
        yield
    finally:
        _LIMIT.leave()


class _BlasLimit:
    """The limit is set by the first of several threads to ask for it and lifted by the last one to leave."""

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
    """Since threadpoolctl 3.8 OpenBLAS belongs to the thread that set a limit, and no other can lift it."""
    if hasattr(OpenBLASController, "clear_controlling_thread"):
        OpenBLASController.clear_controlling_thread(force=True)


_LIMIT = _BlasLimit()


@lru_cache(maxsize=1)
def _libraries() -> ThreadpoolController:
    return ThreadpoolController()  # finding them takes longer than a small fit
