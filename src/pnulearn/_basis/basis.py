"""What a family of basis functions φ(x) must be able to do for everything else to work with it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import ArrayLike

from pnulearn._arrays import AnyArray
from pnulearn._basis.block import BlockFeatures
from pnulearn._machine.threads import map_in_threads

FEWEST_FOR_THREADS = 8  # chunks
ROW_CHUNK = 512  # features of a chunk stay in the cache


class Graph(Protocol):
    """The part of an ONNX graph under construction that a basis draws on; values are known by their names."""

    def constant(self, name: str, value: AnyArray) -> str: ...

    def apply(self, operator: str, *inputs: str, name: str, **attributes: Any) -> str: ...


class Basis(ABC):
    """Basis functions for one or several bandwidths. A subclass is a frozen dataclass and stands in `KERNELS`.

    Attributes
    ----------
    intercept
        whether an unpenalised intercept joins the basis functions.
    remedy
        what to type if there are too many basis functions for the memory.
    has_bandwidth
        whether there is a bandwidth to choose; if not, `bandwidths` is a single NaN.
    bandwidths
        all bandwidths to be tried.
    origin
        a point amid the data.
    """

    intercept: ClassVar[bool]
    remedy: ClassVar[str]
    has_bandwidth: ClassVar[bool]
    bandwidths: AnyArray
    origin: AnyArray

    @classmethod
    @abstractmethod
    def choose(
        cls, X: Any, is_labeled: AnyArray, keys: AnyArray, centers: str | int | ArrayLike, bandwidth: ArrayLike | None
    ) -> Basis:
        """The basis for these rows, as the parameters `centers` and `bandwidth` of an estimator ask for it."""

    @classmethod
    @abstractmethod
    def grid(cls, centers: AnyArray) -> AnyArray:
        """The bandwidths to try where none is given."""

    @classmethod
    @abstractmethod
    def gram(cls, X: Any, centers: Any, bandwidth: float) -> AnyArray:
        """k(x, c) for every row and centre, dense or sparse; positive semi-definite where rows and centres agree."""

    @property
    @abstractmethod
    def size(self) -> int:
        """The number of basis functions."""

    @abstractmethod
    def prepare(self, X: Any) -> AnyArray:
        """All of the features' work that bandwidths share."""

    @abstractmethod
    def features(self, prepared: AnyArray, index: int) -> AnyArray:
        """Features under bandwidth number `index`, shape (n_rows, size)."""

    def every_features(self, prepared: AnyArray, indices: Sequence[int]) -> Iterator[tuple[int, AnyArray]]:
        """Features under several bandwidths with their numbers, in any order; each is valid until the next."""
        for index in indices:
            yield index, self.features(prepared, index)

    @abstractmethod
    def block_features(self, n_rows: int, dtype: str) -> BlockFeatures:
        """A worker for blocks of at most `n_rows` rows, for one-pass learning."""

    @property
    @abstractmethod
    def numbers(self) -> tuple[AnyArray, ...]:
        """The arrays that tell this basis from others of its kind."""

    @abstractmethod
    def name_learnt(self, bandwidths: AnyArray, coef: AnyArray, intercept: AnyArray) -> dict[str, AnyArray]:
        """A model's fitted attributes by name, from coefficients (K, bandwidths, size) and intercepts (K,)."""

    @classmethod
    @abstractmethod
    def respond(cls, model: Any, X: Any) -> AnyArray:
        """Scores (n, K) of at most ROW_CHUNK rows, from the fitted attributes that `name_learnt` names."""

    @classmethod
    def scores(cls, model: Any, X: Any) -> AnyArray:
        """Scores (n, K) of any number of rows, by as many threads as the model has `n_jobs`; they change no bit."""
        chunks = [X[start : start + ROW_CHUNK] for start in range(0, X.shape[0], ROW_CHUNK)]
        if len(chunks) < FEWEST_FOR_THREADS or getattr(model, "n_jobs", None) in (None, 1):
            parts = [cls.respond(model, rows) for rows in chunks]
        else:
            parts = map_in_threads(cls.respond, [(model, rows) for rows in chunks], model.n_jobs)
        return np.concatenate([np.zeros((0, len(model.coef_))), *parts])

    @classmethod
    @abstractmethod
    def draw(cls, graph: Graph, model: Any) -> str:
        """Draw the way from the input "X" to scores (n, K) and name the value that holds them."""
