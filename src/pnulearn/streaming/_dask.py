"""Dask: arrays and data frames as parts, and parts shared out over a cluster, with errors instead of hangs."""

from __future__ import annotations

import threading
import time
import uuid
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, wait
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

from pnulearn._extras import import_extra
from pnulearn._moments import ArrayBatch, Batch
from pnulearn.streaming._sources import ArrayPart, ArrowBatch, Part, Source, StreamPart, choose_columns, open_source
from pnulearn.streaming._threads import run_on

# Dask arrays and data frames as parts, one for every partition.

GROUP = 32  # partitions: the total is a queue in which every statistics of the cluster would have to wait


@dataclass(frozen=True)
class CollectionPart:
    """A partition: a delayed object on the client, the rows on a worker.

    `token` is Dask's name for what the whole collection holds.
    """

    index: int
    data: Any
    target: str | None = None
    token: str = ""
    start: int = 0

    @property
    def name(self) -> str:
        return f"partition-{self.index}"

    def __str__(self) -> str:
        return f"partition {self.index} of the Dask data"

    def __repr__(self) -> str:
        return f"{self} {self.token}"

    def bare(self) -> CollectionPart:
        """Without the recipe, which is sent apart."""
        return replace(self, data=None)

    def with_data(self, data: Any) -> CollectionPart:
        """With the rows."""
        return replace(self, data=data)

    def batches(self, columns: Sequence[str], as_text: Sequence[str] = ()) -> Iterator[Batch]:
        if isinstance(self.data, tuple | list):
            yield ArrayBatch.of(*self.data)
            return
        import pyarrow as pa

        yield ArrowBatch(pa.Table.from_pandas(self.data[list(columns)], preserve_index=False), self.target)

    def glimpse(self) -> CollectionPart:
        return self


def is_collection(data: Any) -> bool:
    """Whether this is a Dask data frame, or a pair of Dask arrays."""
    first = data[0] if isinstance(data, tuple) and data else data
    return type(first).__module__.startswith("dask")


def collection_source(data: Any, target: str | None, columns: Sequence[str] | None) -> Source:
    """The partitions of a Dask data frame with a target, or of a pair (X, y) of Dask arrays."""
    if isinstance(data, tuple):
        return _arrays(*data)
    import pyarrow as pa
    from dask.base import tokenize

    schema = pa.Schema.from_pandas(data._meta, preserve_index=False)
    types = dict(zip(schema.names, schema.types, strict=True))
    chosen = choose_columns([("the Dask data frame", types)], target, columns)
    names = [*chosen, *([] if target is None else [target])]
    frames, token = data[names].to_delayed(), tokenize(data)
    parts = tuple(CollectionPart(i, frame, target, token) for i, frame in enumerate(frames))
    return Source(parts, chosen, target, len(chosen), GROUP)


def _arrays(X: Any, y: Any) -> Source:
    if X.ndim != 2 or y.ndim != 1:
        raise ValueError(f"X needs two dimensions and y one, got {X.ndim} and {y.ndim}.")
    X = X.rechunk({1: -1})
    if len(X.chunks[0]) != len(y.chunks[0]) or X.chunks[0] != y.chunks[0]:
        if X.shape[0] != y.shape[0]:
            raise ValueError(f"X has {X.shape[0]} rows and y has {y.shape[0]}: they must agree.")
        y = y.rechunk((X.chunks[0],))
    pairs, token = zip(X.to_delayed().ravel(), y.to_delayed().ravel(), strict=True), f"{X.name} {y.name}"
    parts = tuple(CollectionPart(i, pair, token=token) for i, pair in enumerate(pairs))
    return Source(parts, None, None, X.shape[1], GROUP)


# Sharing parts out over a Dask cluster, with errors instead of hangs.

T = TypeVar("T")
POLL_SECONDS = 0.2
NO_WORKERS_SECONDS = 60.0


class ClusterError(RuntimeError):
    """The cluster could not do the work; the message names the part."""


class OnCluster:
    """Run on the workers of a Dask client.

    Parameters
    ----------
    client : dask.distributed.Client, optional
        By default the client of this process.
    no_workers_seconds : float
        How long to wait for workers when none is left. A part that has killed as many workers as Dask allows
        (`distributed.scheduler.allowed-failures`) is tried again alone, and blamed if it kills as many again.
    """

    def __init__(self, client: Any = None, no_workers_seconds: float = NO_WORKERS_SECONDS):
        self.client = _default_client() if client is None else client
        self.no_workers_seconds = no_workers_seconds
        self._alone_since: float | None = None

    def __call__(self, work: Callable[[Part], T], parts: Sequence[Part]) -> Iterator[T]:
        from distributed import KilledWorker

        waiting, window = deque(parts), deque[tuple[Part, Any]]()
        shared = self._share(work)
        if all(isinstance(part, CollectionPart) for part in parts):  # one graph, in which common ancestors run once
            window.extend(zip(parts, self._submit_all(shared, parts), strict=True))
            waiting.clear()
        try:
            while waiting or window:
                self._refill(shared, waiting, window)
                part, future = window[0]
                refill = partial(self._refill, shared, waiting, window)
                try:
                    result = self._result(part, future, refill)
                except KilledWorker:  # by itself, or by a part that was with it on a worker: try it alone
                    result = self._result_alone(work, window)
                yield result
                window.popleft()
        finally:
            with suppress(OSError, TimeoutError):  # a scheduler that is gone; the reason is on its way already
                self.client.cancel([shared, *(future for _, future in window)])

    def add_up(self, work: Callable[[Part], T], parts: Sequence[Part], group: int) -> T | None:
        """The sum of all results in the order of the parts, added on the workers; None if that cannot be had.

        One graph for all partitions of a collection, so that what they have in common is computed once, and one result
        for the client. Sums have the bits of results that are fetched one by one.

        Parameters
        ----------
        work : function
            What to do with a part.
        parts : sequence of Part
            The parts, in their order.
        group : int
            So many results are added up first, groups side by side.
        """
        from distributed import KilledWorker

        if not parts or not all(isinstance(part, CollectionPart) for part in parts):
            return None
        shared = self._share(work)
        tasks = self._tasks(shared, parts)
        groups = [_sum(tasks[first : first + group]) for first in range(0, len(tasks), group)]
        future = self.client.compute(_sum(groups))
        try:
            return self._result(parts[-1], future, _nothing)
        except KilledWorker:  # running the parts one by one identifies the cause
            return None

    def _submit_all(self, shared: Any, parts: Sequence[Part]) -> list[Any]:
        return list(self.client.compute(self._tasks(shared, parts)))

    def _tasks(self, shared: Any, parts: Sequence[Part]) -> list[Any]:
        from dask import delayed

        return [
            delayed(_run_on_data)(shared, part.bare(), part.data, dask_key_name=f"pnulearn-part-{uuid.uuid4().hex}")
            for part in parts
            if isinstance(part, CollectionPart)
        ]

    def _share(self, work: Any) -> Any:
        """The work as a task of its own: unlike scattered data it is made again if its worker dies."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Sending large graph")
            return self.client.submit(_same, work, key=f"pnulearn-work-{uuid.uuid4().hex}")

    def _refill(self, shared: Any, waiting: deque[Part], window: deque[tuple[Part, Any]]) -> None:
        """Keep every worker thread busy with one part and no more: a part that waits on a worker counts as a suspect
        when the worker dies."""
        threads = max(1, sum(self.client.nthreads().values())) if waiting else 0
        busy = sum(not future.done() for _, future in window)
        while waiting and busy < threads and len(window) < 2 * threads + 2:
            part = waiting.popleft()
            window.append((part, self._submit(shared, part)))
            busy += 1

    def _submit(self, shared: Any, part: Part) -> Any:
        if isinstance(part, CollectionPart):
            return self._submit_all(shared, [part])[0]
        return self.client.submit(run_on, shared, part, key=f"pnulearn-part-{uuid.uuid4().hex}")

    def _refuse_to_wait_alone(self, part: Part) -> None:
        """Raise if there has been no worker for too long."""
        if self.client.nthreads():
            self._alone_since = None
            return
        self._alone_since = self._alone_since or time.monotonic()
        if time.monotonic() - self._alone_since > self.no_workers_seconds:
            raise ClusterError(
                f"The Dask cluster has had no workers for {self.no_workers_seconds:g} s, while waiting for {part}. "
                "Start workers, or look in their logs for why they stopped (memory is the usual reason)."
            )

    def _result(self, part: Part, future: Any, meanwhile: Callable[[], None]) -> Any:
        """What the cluster made of a part."""
        from distributed import CancelledError

        fetched = _in_background(future.result)  # may block for ever
        while not wait([fetched], POLL_SECONDS).done:
            self._refuse_to_wait_alone(part)
            meanwhile()
        self._alone_since = None
        try:
            return fetched.result()
        except CancelledError as error:
            raise ClusterError(f"The work on {part} was cancelled: was the client or the cluster closed?") from error

    def _result_alone(self, work: Any, window: deque[tuple[Part, Any]]) -> Any:
        """The first part again, once nothing else is under way: if workers die now, it is this part that kills them."""
        from distributed import KilledWorker

        part = window[0][0]
        while not all(future.done() for _, future in window):
            self._refuse_to_wait_alone(part)
            time.sleep(POLL_SECONDS)
        future = self._submit(self._share(work), part)
        window[0] = part, future
        try:
            return self._result(part, future, _nothing)
        except KilledWorker as error:
            raise ClusterError(
                f"{part} killed {error.allowed_failures + 1} workers in a row, with nothing else under way, most "
                "likely for lack of memory. Give workers more memory or fewer threads, or pass a smaller part_rows "
                "(for Parquet files, write smaller row groups)."
            ) from error


def open_for_cluster(data: Any, target: str | None, columns: Sequence[str] | None, part_rows: int) -> Source:
    """The parts of files (workers must see them under the same paths) or of a Dask collection."""
    if is_collection(data):
        return collection_source(data, target, columns)
    source = open_source(data, target, columns, part_rows)
    if any(isinstance(part, ArrayPart | StreamPart) for part in source.parts):
        raise TypeError(
            "Arrays and iterators live in this process and are not sent to a cluster. Pass paths of files that all "
            "workers see, Dask arrays or a Dask data frame; or leave out client=..."
        )
    return source


def _default_client() -> Any:
    with import_extra("dask", "A cluster"):
        from distributed import get_client

    try:
        return get_client()
    except ValueError:
        raise ValueError(
            "Dask data need a client: from dask.distributed import Client; fit_files(..., client=Client())."
        ) from None


def _in_background(call: Callable[[], T]) -> Future[T]:
    """The call in a thread of its own that does not keep the process alive."""
    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(call())
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=run, name="pnulearn-fetch", daemon=True).start()
    return future


def _nothing() -> None:
    pass


def _same(work: T) -> T:
    return work


def _run_on_data(work: Any, part: CollectionPart, data: Any) -> Any:
    return run_on(work, part.with_data(data))


def _sum(tasks: Sequence[Any]) -> Any:
    """A task that adds results up in their order."""
    from dask import delayed

    total = tasks[0]
    for task in tasks[1:]:
        total = delayed(_add)(total, task, dask_key_name=f"pnulearn-sum-{uuid.uuid4().hex}")
    return total


def _add(total: Any, statistics: Any) -> Any:
    return total + statistics  # never in place: a worker that is lost may ask for the old total again
