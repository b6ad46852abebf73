"""What a family of basis functions φ(x) must be able to do for everything else to work with it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pnulearn._basis.block import BlockFeatures

ROW_CHUNK = 4096


class Graph(Protocol):
    """The part of an ONNX graph under construction that a basis draws on; values are known by their names."""

    def constant(self, name: str, value: NDArray) -> str: ...

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
    bandwidths: NDArray
    origin: NDArray

    @classmethod
    @abstractmethod
    def choose(
        cls, X: Any, is_labeled: NDArray, keys: NDArray, centers: str | int | ArrayLike, bandwidth: ArrayLike | None
    ) -> Basis:
        """The basis for these rows, as the parameters `centers` and `bandwidth` of an estimator ask for it."""

    @classmethod
    @abstractmethod
    def grid(cls, centers: NDArray) -> NDArray:
        """The bandwidths to try where none is given."""

    @classmethod
    @abstractmethod
    def gram(cls, X: Any, centers: Any, bandwidth: float) -> NDArray:
        """k(x, c) for every row and centre, dense or sparse; positive semi-definite where rows and centres agree."""

    @property
    @abstractmethod
    def size(self) -> int:
        """The number of basis functions."""

    @abstractmethod
    def prepare(self, X: Any) -> NDArray:
        """All of the features' work that bandwidths share."""

    @abstractmethod
    def features(self, prepared: NDArray, index: int) -> NDArray:
        """Features under bandwidth number `index`, shape (n_rows, size)."""

    @abstractmethod
    def block_features(self, n_rows: int, dtype: str) -> BlockFeatures:
        """A worker for blocks of at most `n_rows` rows, for one-pass learning."""

    @property
    @abstractmethod
    def numbers(self) -> tuple[NDArray, ...]:
        """The arrays that tell this basis from others of its kind."""

    @abstractmethod
    def name_learnt(self, bandwidths: NDArray, coef: NDArray, intercept: NDArray) -> dict[str, NDArray]:
        """A model's fitted attributes by name, from coefficients (K, bandwidths, size) and intercepts (K,)."""

    @classmethod
    @abstractmethod
    def respond(cls, model: Any, X: Any) -> NDArray:
        """Scores (n, K) of at most ROW_CHUNK rows, from the fitted attributes that `name_learnt` names."""

    @classmethod
    def scores(cls, model: Any, X: Any) -> NDArray:
        """Scores (n, K) of any number of rows."""
        chunks = [X[start : start + ROW_CHUNK] for start in range(0, X.shape[0], ROW_CHUNK)]
        return np.concatenate([np.zeros((0, len(model.coef_))), *(cls.respond(model, rows) for rows in chunks)])

    @classmethod
    @abstractmethod
    def draw(cls, graph: Graph, model: Any) -> str:
        """Draw the way from the input "X" to scores (n, K) and name the value that holds them."""
