"""The interface of a family of basis functions φ(x)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from pnulearn._arrays import AnyArray
from pnulearn._machine import map_in_threads

FEWEST_FOR_THREADS = 8  # chunks
DENSE_AT_MOST = 2**20  # size of a sparse X that is made dense: 8 MB
ROW_CHUNK = 512  # small enough for the features of a chunk to stay in the processor's cache


def dense(X: Any) -> AnyArray:
    """X as a dense array."""
    return X.toarray() if sparse.issparse(X) else np.asarray(X)


def stays_sparse(X: Any) -> bool:
    """Whether X is sparse and too large to be made dense, which is faster for smaller ones."""
    return sparse.issparse(X) and X.shape[0] * X.shape[1] > DENSE_AT_MOST


class BlockFeatures(ABC):
    """φ(x) followed by the constant 1 for a block of rows, shape (n, b + 1).

    With the constant, the sum of outer products contains sums and counts too.
    """

    def __init__(self, n_rows: int, n_features: int, size: int, dtype: str):
        self.dtype = np.dtype(dtype)
        self._rows = np.empty((n_features, n_rows), self.dtype)
        self._features = np.empty((n_rows, size + 1), self.dtype)
        self._n = 0

    def load(self, rows: AnyArray, order: AnyArray) -> None:
        """Take rows (d, n), from which the basis' origin has been subtracted, in the given order."""
        self._n = len(order)
        np.take(rows, order, axis=1, out=self._rows[: len(rows), : self._n], mode="clip")
        self._prepare(self._rows[:, : self._n])

    @abstractmethod
    def _prepare(self, rows: AnyArray) -> None:
        """The computation that all bandwidths share; `rows` has shape (d, n)."""

    @abstractmethod
    def features(self, index: int) -> AnyArray:
        """Features under bandwidth number `index`; the array is overwritten by the next call."""


class Graph(Protocol):
    """The methods of an ONNX graph builder that a basis uses; values are referred to by name."""

    dtype: np.dtype

    def constant(self, name: str, value: AnyArray) -> str: ...

    def apply(self, operator: str, *inputs: str, name: str, **attributes: Any) -> str: ...


class PrefixedGraph:
    """A graph that adds a prefix to all new names, so that the same subgraph can be built twice."""

    def __init__(self, graph: Graph, prefix: str):
        self.dtype = graph.dtype
        self._graph, self._prefix = graph, prefix

    def constant(self, name: str, value: AnyArray) -> str:
        return self._graph.constant(self._prefix + name, value)

    def apply(self, operator: str, *inputs: str, name: str, **attributes: Any) -> str:
        return self._graph.apply(operator, *inputs, name=self._prefix + name, **attributes)


class Basis(ABC):
    """Basis functions for one or several bandwidths, as used by the search. A subclass is a frozen dataclass.

    Attributes
    ----------
    intercept
        whether an unpenalised intercept joins the basis functions.
    remedy
        advice for the error message if the basis functions need too much memory.
    has_bandwidth
        whether there is a bandwidth to choose; if not, `bandwidths` is a single NaN.
    bandwidths
        all bandwidths to be tried.
    representations
        representation of the columns for each bandwidth, "given" or "ranks"; None if all use the columns as given.
    """

    intercept: ClassVar[bool]
    remedy: ClassVar[str]
    has_bandwidth: ClassVar[bool]
    bandwidths: AnyArray

    @property
    def representations(self) -> tuple[str, ...] | None:
        return None

    @property
    @abstractmethod
    def size(self) -> int:
        """The number of basis functions."""

    @abstractmethod
    def prepare(self, X: Any) -> AnyArray:
        """The part of the features' computation that all bandwidths share."""

    @abstractmethod
    def features(self, prepared: AnyArray, index: int) -> AnyArray:
        """Features under bandwidth number `index`, shape (n_rows, size)."""

    def every_features(self, prepared: AnyArray, indices: Sequence[int]) -> Iterator[tuple[int, AnyArray]]:
        """Iterate over (bandwidth number, features) in any order; the array may be overwritten by the next step."""
        for index in indices:
            yield index, self.features(prepared, index)

    @abstractmethod
    def name_learnt(self, used: AnyArray, coef: AnyArray, intercept: AnyArray) -> dict[str, AnyArray]:
        """A model's fitted attributes by name, from coefficients (K, used, size) and intercepts (K,).

        `used` are the indices of the bandwidths of nonzero weight.
        """


class Kernel(Basis):
    """A family of basis functions registered in `KERNELS`.

    It also chooses its parameters from data, supports one-pass learning, predicts and exports to ONNX.

    Attributes
    ----------
    origin
        a point near the centre of the data, which is subtracted to avoid rounding errors.
    """

    origin: AnyArray

    @classmethod
    @abstractmethod
    def choose(
        cls, X: Any, is_labeled: AnyArray, keys: AnyArray, centers: str | int | ArrayLike, bandwidth: ArrayLike | None
    ) -> Kernel:
        """The basis for these rows and the estimator's parameters `centers` and `bandwidth`."""

    @classmethod
    @abstractmethod
    def grid(cls, centers: AnyArray) -> AnyArray:
        """The bandwidths to try if none is given."""

    @classmethod
    @abstractmethod
    def gram(cls, X: Any, centers: Any, bandwidth: float) -> AnyArray:
        """k(x, c) for every row and centre, dense or sparse; positive semi-definite if rows equal centres."""

    @abstractmethod
    def block_features(self, n_rows: int, dtype: str) -> BlockFeatures:
        """A feature computation for blocks of at most `n_rows` rows, for one-pass learning."""

    @property
    @abstractmethod
    def numbers(self) -> tuple[AnyArray, ...]:
        """The arrays that identify this basis among those of its class; they enter fingerprints of files."""

    @classmethod
    @abstractmethod
    def respond(cls, learnt: Mapping[str, Any], X: Any) -> AnyArray:
        """Scores (n, K) of at most ROW_CHUNK rows, from the fitted attributes that `name_learnt` names."""

    @classmethod
    def scores(cls, learnt: Mapping[str, Any], X: Any, n_jobs: int | None = None) -> AnyArray:
        """Scores (n, K) of any number of rows; the result does not depend on the number of threads."""
        if 0 < X.shape[0] <= ROW_CHUNK:
            return cls.respond(learnt, X)
        chunks = [X[start : start + ROW_CHUNK] for start in range(0, X.shape[0], ROW_CHUNK)]
        if len(chunks) < FEWEST_FOR_THREADS or n_jobs in (None, 1):
            parts = [cls.respond(learnt, rows) for rows in chunks]
        else:
            parts = map_in_threads(cls.respond, [(learnt, rows) for rows in chunks], n_jobs)
        return np.concatenate([np.zeros((0, len(learnt["coef_"]))), *parts])

    @classmethod
    @abstractmethod
    def draw(cls, graph: Graph, learnt: Mapping[str, Any]) -> str:
        """Add the computation of scores (n, K) from the input "X" to the graph; returns the name of the scores."""
