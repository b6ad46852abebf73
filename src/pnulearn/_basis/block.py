"""Features of blocks of rows, in buffers that are used again and again."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from pnulearn._arrays import AnyArray


class BlockFeatures(ABC):
    """φ(x) followed by the constant 1 for a block of rows, shape (n, b + 1).

    The constant makes sums and counts part of the sum of outer products.
    """

    def __init__(self, n_rows: int, n_features: int, size: int, dtype: str):
        self.dtype = np.dtype(dtype)
        self._rows = np.empty((n_features, n_rows), self.dtype)
        self._features = np.empty((n_rows, size + 1), self.dtype)
        self._n = 0

    def load(self, rows: AnyArray, order: AnyArray) -> None:
        """Take rows (d, n), already less the basis' origin, in the given order."""
        self._n = len(order)
        np.take(rows, order, axis=1, out=self._rows[: len(rows), : self._n], mode="clip")
        self._prepare(self._rows[:, : self._n])

    @abstractmethod
    def _prepare(self, rows: AnyArray) -> None:
        """The work that all bandwidths share, on rows in columns."""

    @abstractmethod
    def features(self, index: int) -> AnyArray:
        """Features under bandwidth number `index`; valid until the next call."""
