"""Dask arrays and data frames as parts, one for every partition."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pnulearn._moments import ArrayBatch, Batch
from pnulearn.streaming.batches import ArrowBatch
from pnulearn.streaming.columns import choose_columns
from pnulearn.streaming.sources import Source

GROUP = 32  # partitions: the total is a queue in which every statistics of the cluster would have to wait


@dataclass(frozen=True)
class CollectionPart:
    """A partition: on the client a recipe (`data` is delayed), on a worker the rows themselves.

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
