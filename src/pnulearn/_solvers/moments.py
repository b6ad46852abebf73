"""Total weight, sum and sum of outer products of a sample's features: all that the squared loss needs to know."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pnulearn._arrays import AnyArray


@dataclass(frozen=True)
class Moments:
    """Σ w, Σ w φ and Σ w φφ′ over rows. Moments add and subtract, so folds, files and workers can be merged.

    >>> a, b = Moments.of(np.eye(2)), Moments.of(np.ones((1, 2)))
    >>> (a + b).mean.tolist(), (a + b - b).gram.tolist()
    ([0.666, 0.666], [[0.5, 0.0], [0.0, 0.5]])
    """

    weight: float
    total: AnyArray
    outer: AnyArray

    @classmethod
    def of(cls, features: AnyArray, weight: AnyArray | None = None) -> Moments:
        """The moments of rows of features, each counted `weight` times."""
        weighted = features if weight is None else features * weight[:, None]
        total_weight = float(len(features) if weight is None else weight.sum())
        return cls(total_weight, weighted.sum(axis=0), weighted.T @ features)

    @classmethod
    def zero(cls, size: int) -> Moments:
        """The moments of no rows."""
        return cls(0.0, np.zeros(size), np.zeros((size, size)))

    def __add__(self, other: Moments) -> Moments:
        return Moments(self.weight + other.weight, self.total + other.total, self.outer + other.outer)

    def __sub__(self, other: Moments) -> Moments:
        return Moments(self.weight - other.weight, self.total - other.total, self.outer - other.outer)

    @property
    def mean(self) -> AnyArray:
        """E φ, of shape (b,)."""
        return self.total / self.weight

    @property
    def gram(self) -> AnyArray:
        """E φφ′, of shape (b, b)."""
        return self.outer / self.weight

    def centered_at(self, point: AnyArray) -> AnyArray:
        """E (φ − c)(φ − c)′ about a point c."""
        shift = np.outer(self.mean, point)
        return self.gram - shift - shift.T + np.outer(point, point)
