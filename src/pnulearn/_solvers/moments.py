"""Total weight, sum and sum of outer products of features: sufficient statistics for the squared loss."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg.blas import dsyrk

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
        sums = MomentSums(features.shape[1])
        sums.add(features, weight)
        return sums.moments()

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


@dataclass(frozen=True)
class LabeledMoments:
    """Moments of the labelled rows, each class weighted by its prior θ_c.

    outer : L = Σ θ_c E_c φφ′, of shape (b, b).
    total, share : Σ θ_c E_c φ and Σ θ_c, over the classes that have rows.
    signed, signed_share : the same with ±θ_c, one row per output (K, b) and (K,).
    """

    outer: AnyArray
    total: AnyArray
    signed: AnyArray
    share: float
    signed_share: AnyArray

    @classmethod
    def of(cls, classes: Sequence[Moments], prior: AnyArray, outputs: AnyArray) -> LabeledMoments:
        """From the moments of every class, which may be empty; `outputs` are the classes of the outputs."""
        present = [code for code, moments in enumerate(classes) if moments.weight > 0]
        scale = {code: prior[code] / classes[code].weight for code in present}
        signs = np.where(np.array(present) == outputs[:, None], 1.0, -1.0)  # (K, classes)
        means = np.stack([scale[code] * classes[code].total for code in present])
        outer = sum(scale[code] * classes[code].outer for code in present)
        return cls(
            np.asarray(outer), means.sum(axis=0), signs @ means, float(prior[present].sum()), signs @ prior[present]
        )

    def about(self, origin: AnyArray) -> LabeledMoments:
        """The moments of φ − origin."""
        cross = np.outer(self.total, origin)
        outer = self.outer - cross - cross.T + self.share * np.outer(origin, origin)
        signed = self.signed - np.outer(self.signed_share, origin)
        return LabeledMoments(outer, self.total - self.share * origin, signed, self.share, self.signed_share)


class MomentSums:
    """Moments accumulated by block; of the symmetric sum of outer products only one triangle is computed (syrk)."""

    def __init__(self, size: int):
        self._weight, self._total = 0.0, np.zeros(size)
        self._outer = np.zeros((size, size), order="F")

    def add(self, features: AnyArray, weight: AnyArray | None = None) -> None:
        """Add rows of features, each with its `weight`."""
        if not features.size:
            return
        root = features
        if weight is not None and not (weight == 1).all():
            self._total += weight @ features
            root = features * np.sqrt(weight)[:, None]
        else:
            self._total += features.sum(axis=0)
        self._weight += float(len(features) if weight is None else weight.sum())
        self._outer = dsyrk(1.0, root.T, beta=1.0, c=self._outer, overwrite_c=1, lower=1)

    def moments(self) -> Moments:
        """The moments of all rows added so far."""
        lower = np.tril(self._outer)
        return Moments(self._weight, self._total.copy(), lower + np.tril(lower, -1).T)
