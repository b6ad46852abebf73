"""Sharing parts out over threads, each with a single BLAS thread; results come in the order of the parts."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Protocol, TypeVar

from joblib import cpu_count

from pnulearn._machine import check_n_jobs, one_blas_thread
from pnulearn.streaming.reading import persistently
from pnulearn.streaming.sources import Part

T = TypeVar("T")


class Runner(Protocol):
    """Does the same work on every part and yields the results in the order of the parts."""

    def __call__(self, work: Callable[[Part], T], parts: Sequence[Part]) -> Iterator[T]: ...


class InThreads:
    """Run on this machine. The results do not depend on the number of threads."""

    def __init__(self, n_jobs: int | None = None):
        check_n_jobs(n_jobs)
        n_jobs = 2 if n_jobs is None else n_jobs
        self.n_jobs = n_jobs if n_jobs > 0 else max(1, cpu_count() + 1 + n_jobs)

    def __call__(self, work: Callable[[Part], T], parts: Sequence[Part]) -> Iterator[T]:
        executor = ThreadPoolExecutor(min(self.n_jobs, max(len(parts), 1)), thread_name_prefix="pnulearn")
        running: deque[Future[T]] = deque()
        try:
            for part in parts:
                running.append(executor.submit(run_on, work, part))
                if len(running) > self.n_jobs:  # one waits its turn, so that no thread does
                    yield running.popleft().result()
            while running:
                yield running.popleft().result()
        finally:
            executor.shutdown(wait=True, cancel_futures=True)


def run_on(work: Callable[[Part], T], part: Part) -> T:
    """The work on one part, with one BLAS thread."""
    with one_blas_thread():
        return persistently(work, part)
