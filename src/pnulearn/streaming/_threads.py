"""Parallel processing of parts in threads: reading ahead, and retries after storage errors."""

from __future__ import annotations

import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Protocol, TypeVar

from joblib import cpu_count

from pnulearn._machine import check_n_jobs, one_blas_thread
from pnulearn._moments import Block, Design, blocks_of
from pnulearn.streaming._sources import Part, Source, StreamPart

# Reading ahead, and retries after storage errors.

T = TypeVar("T")
AHEAD = 2  # batches to read ahead
ATTEMPTS = 3
PAUSE = 0.5


def ahead(items: Iterable[T]) -> Iterator[T]:
    """The same items, fetched in a separate thread while the caller processes earlier ones.

    >>> list(ahead(range(5)))
    [0, 1, 2, 3, 4]
    """
    waiting: queue.Queue[Any] = queue.Queue(maxsize=AHEAD)
    stopped, end = threading.Event(), object()
    thread = threading.Thread(target=_fetch, args=(items, waiting, stopped, end), name="pnulearn-reader", daemon=True)
    thread.start()
    try:
        while True:
            item, error = waiting.get()
            if error is not None:
                raise error
            if item is end:
                return
            yield item
    finally:
        stopped.set()
        thread.join()


def _fetch(items: Iterable[Any], waiting: queue.Queue[Any], stopped: threading.Event, end: object) -> None:
    """Put (item, None) for every item, and `end` last, with the error if there was one."""
    try:
        for item in items:
            if not _put((item, None), waiting, stopped):
                return
        _put((end, None), waiting, stopped)
    except BaseException as error:
        _put((end, error), waiting, stopped)


def _put(pair: object, waiting: queue.Queue[Any], stopped: threading.Event) -> bool:
    """Put an item into the queue; False if the caller stopped first."""
    while not stopped.is_set():
        try:
            waiting.put(pair, timeout=0.1)
            return True
        except queue.Full:
            continue
    return False


def part_blocks(part: Part, source: Source, design: Design, *, labels: bool = True) -> Iterator[Block]:
    """The blocks of a part, read ahead."""
    names = source.names if labels else (source.columns or ())
    yield from blocks_of(ahead(part.batches(names)), design, part.name, part.start, where=str(part), labels=labels)


def persistently(work: Callable[[Part], T], part: Part) -> T:
    """Process a part, again from the start if reading failed; the last error names the part."""
    for attempt in range(1, ATTEMPTS + 1):
        try:
            return work(part)
        except OSError as error:
            if attempt == ATTEMPTS or isinstance(part, StreamPart) or isinstance(error, PermissionError):
                raise
            time.sleep(PAUSE * attempt)
    raise AssertionError("unreachable")


# Distribution of parts over threads, each with a single BLAS thread; results are in the order of the parts.


class Runner(Protocol):
    """Applies a function to every part and yields the results in the order of the parts."""

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
                if len(running) > self.n_jobs:  # one more is queued, so that no thread is idle
                    yield running.popleft().result()
            while running:
                yield running.popleft().result()
        finally:
            executor.shutdown(wait=True, cancel_futures=True)


def run_on(work: Callable[[Part], T], part: Part) -> T:
    """Process one part, with one BLAS thread."""
    with one_blas_thread():
        return persistently(work, part)
