"""Dask: arrays and data frames as parts, and distribution of parts over a cluster, with errors instead of hangs."""

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
from itertools import accumulate
from typing import Any, TypeVar

from pnulearn._extras import import_extra
from pnulearn._moments import ArrayBatch, Batch
from pnulearn.streaming._sources import ArrayPart, ArrowBatch, Part, Source, StreamPart, choose_columns, open_source
from pnulearn.streaming._threads import Runner, run_on

# Dask arrays and data frames as parts, one per partition.

GROUP = 32  # partitions per group: adding all statistics to one total would be sequential


@dataclass(frozen=True)
class CollectionPart:
    """A partition: a delayed object on the client, its rows on a worker.

    `token` is Dask's name of the collection, which identifies its content. Rows are numbered through all partitions, as
    those of an array are, so that the division into partitions does not change a row's fold; see `number_rows`.
    """

    index: int
    data: Any
    target: str | None = None
    token: str = ""
    start: int = 0
    name: str = ArrayPart.name

    def __str__(self) -> str:
        return f"partition {self.index} of the Dask data"

    def __repr__(self) -> str:
        return f"{self} {self.token}"

    def bare(self) -> CollectionPart:
        """A copy without the delayed object, which is sent separately."""
        return replace(self, data=None)

    def with_data(self, data: Any) -> CollectionPart:
        """A copy with the rows."""
        return replace(self, data=data)

    def batches(self, columns: Sequence[str], as_text: Sequence[str] = ()) -> Iterator[Batch]:
        if isinstance(self.data, tuple | list):
            yield ArrayBatch.of(*self.data)
            return
        import pyarrow as pa

        yield ArrowBatch(pa.Table.from_pandas(self.data[list(columns)], preserve_index=False), self.target)

    def glimpse(self) -> CollectionPart:
        return self


def number_rows(source: Source, run: Runner, lengths: Sequence[int] | None = None) -> Source:
    """The source with the rows of Dask partitions numbered from the first to the last, and without empty partitions.

    `lengths` are the numbers of rows of all parts, which are counted if they are not given.
    """
    if not all(isinstance(part, CollectionPart) for part in source.parts):
        return source
    lengths = list(run(_length, source.parts)) if lengths is None else lengths
    if not any(lengths):
        return source
    starts = accumulate(lengths, initial=0)
    numbered = zip(source.parts, starts, lengths, strict=False)  # there is one start more
    parts = [replace(part, start=start) for part, start, length in numbered if length]  # type: ignore[type-var]
    return replace(source, parts=tuple(parts))


def _length(part: Part) -> int:
    assert isinstance(part, CollectionPart)
    return len(part.data[0] if isinstance(part.data, tuple | list) else part.data)


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


# Distribution of parts over a Dask cluster, with errors instead of hangs.

T = TypeVar("T")
POLL_SECONDS = 0.2
NO_WORKERS_SECONDS = 60.0


class ClusterError(RuntimeError):
    """The cluster could not process a part; the message names it."""


class OnCluster:
    """Run on the workers of a Dask client.

    Parameters
    ----------
    client : dask.distributed.Client, optional
        The client; by default that of this process.
    no_workers_seconds : float
        Time to wait for workers when there are none. If more workers die while processing a part than Dask allows
        (`distributed.scheduler.allowed-failures`), the part is repeated alone; if it happens again, an error names it.
    """

    def __init__(self, client: Any = None, no_workers_seconds: float = NO_WORKERS_SECONDS):
        self.client = _default_client() if client is None else client
        self.no_workers_seconds = no_workers_seconds
        self._alone_since: float | None = None

    def __call__(self, work: Callable[[Part], T], parts: Sequence[Part]) -> Iterator[T]:
        from distributed import KilledWorker

        waiting, window = deque(parts), deque[tuple[Part, Any]]()
        shared = self._share(work)
        if all(isinstance(part, CollectionPart) for part in parts):  # one graph, so that common ancestors run only once
            window.extend(zip(parts, self._submit_all(shared, parts), strict=True))
            waiting.clear()
        try:
            while waiting or window:
                self._refill(shared, waiting, window)
                part, future = window[0]
                refill = partial(self._refill, shared, waiting, window)
                try:
                    result = self._result(part, future, refill)
                except KilledWorker:  # the cause may be another part on the same worker: repeat this part alone
                    result = self._result_alone(work, window)
                yield result
                window.popleft()
        finally:
            with suppress(Exception):  # a scheduler or client that is gone; the reason is on its way already
                self.client.cancel([shared, *(future for _, future in window)])

    def add_up(self, work: Callable[[Part], T], parts: Sequence[Part], group: int) -> T | None:
        """The sum of all results in the order of the parts, computed on the workers; None if that fails.

        All partitions of a collection form one graph, so that common ancestors are computed once, and the client
        fetches one result. The sum is bitwise equal to that of results fetched one by one.

        Parameters
        ----------
        work : function
            The function to apply to each part.
        parts : sequence of Part
            The parts, in their order.
        group : int
            Number of results per group; groups are summed in parallel, then added.
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
        except KilledWorker:  # the caller then runs the parts one by one, which identifies the cause
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
        """The work as a separate task, which is recomputed if its worker dies; scattered data are not."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Sending large graph")
            return self.client.submit(_same, work, key=f"pnulearn-work-{uuid.uuid4().hex}")

    def _refill(self, shared: Any, waiting: deque[Part], window: deque[tuple[Part, Any]]) -> None:
        """Submit one part per worker thread and no more. Dask also counts the death of a worker against parts that only
        wait on it."""
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
                "Start workers, or look in their logs for why they stopped (usually memory)."
            )

    def _result(self, part: Part, future: Any, meanwhile: Callable[[], None]) -> Any:
        """The result of a part, or an error that names it."""
        from distributed import CancelledError

        try:
            fetched = _in_background(future.result)  # may block for ever
            while not wait([fetched], POLL_SECONDS).done:
                self._refuse_to_wait_alone(part)
                meanwhile()
            self._alone_since = None
            return fetched.result()
        except ClusterError:
            raise
        except KeyError as error:  # of Dask, which selects columns before a partition comes here
            if not isinstance(part, CollectionPart):
                raise
            raise ValueError(
                f"A partition of the Dask data lacks a column that the whole has ({error}). Every partition needs all "
                "columns."
            ) from error
        except (Exception, CancelledError) as error:
            if self.client.status == "running" and not isinstance(error, CancelledError):
                raise  # what the work itself says
            raise ClusterError(f"The client or the cluster was closed during the work on {part}.") from error

    def _result_alone(self, work: Any, window: deque[tuple[Part, Any]]) -> Any:
        """Repeat the first part while nothing else runs: if workers die now, this part is the cause."""
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
                f"{part} killed {error.allowed_failures + 1} workers in a row while nothing else was running, most "
                "likely for lack of memory. Give workers more memory or fewer threads, or pass a smaller part_rows "
                "(for Parquet files, write smaller row groups)."
            ) from error


def open_for_cluster(data: Any, target: str | None, columns: Sequence[str] | None, part_rows: int) -> Source:
    """The parts of files, which workers must find under the same paths, or of a Dask collection."""
    if is_collection(data):
        return collection_source(data, target, columns)
    source = open_source(data, target, columns, part_rows)
    if any(isinstance(part, ArrayPart | StreamPart) for part in source.parts):
        raise TypeError(
            "Arrays and iterators are local to this process and are not sent to a cluster. Pass paths of files that "
            "all workers can read, Dask arrays or a Dask data frame; or leave out client=..."
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
    """Run the call in a daemon thread."""
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
    """A task that sums results in their order."""
    from dask import delayed

    total = tasks[0]
    for task in tasks[1:]:
        total = delayed(_add)(total, task, dask_key_name=f"pnulearn-sum-{uuid.uuid4().hex}")
    return total


def _add(total: Any, statistics: Any) -> Any:
    return total + statistics  # not in place: the old total is needed again if a worker is lost
