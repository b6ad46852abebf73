"""The squared loss as normal equations: labelled rows, the population sample, a grid of shares and penalties."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pnulearn.moments import Moments


@dataclass(frozen=True)
class LabeledMoments:
    """Labelled rows known by their moments alone, each class weighted by its prior θ_c.

    outer : L = Σ θ_c E_c φφ′, of shape (b, b).
    total, share : Σ θ_c E_c φ and Σ θ_c, over the classes that have rows.
    signed, signed_share : the same with ±θ_c, one row per output (K, b) and (K,).
    """

    outer: NDArray
    total: NDArray
    signed: NDArray
    share: float
    signed_share: NDArray

    def about(self, origin: NDArray) -> LabeledMoments:
        """The moments of φ − origin."""
        cross = np.outer(self.total, origin)
        outer = self.outer - cross - cross.T + self.share * np.outer(origin, origin)
        signed = self.signed - np.outer(self.signed_share, origin)
        return LabeledMoments(outer, self.total - self.share * origin, signed, self.share, self.signed_share)


@dataclass(frozen=True)
class Population:
    """The sample that stands for the population: rows and weights (summing to one), or only their moments."""

    mean: NDArray
    rows: NDArray | None = None
    weight: NDArray | None = None
    moments: Moments | None = None

    @classmethod
    def of_rows(cls, rows: NDArray, weight: NDArray) -> Population:
        weight = weight / weight.sum()
        return cls(weight @ rows, rows, weight)

    @classmethod
    def of_moments(cls, moments: Moments) -> Population:
        return cls(moments.mean, moments=moments)

    def scaled_rows(self, origin: NDArray | None) -> NDArray:
        """R with R′R = E (φ − origin)(φ − origin)′."""
        assert self.rows is not None
        assert self.weight is not None
        root = np.sqrt(self.weight)[:, None]
        return self.rows * root if origin is None else (self.rows - origin) * root

    def gram(self, origin: NDArray | None) -> NDArray:
        """E (φ − origin)(φ − origin)′, of shape (b, b)."""
        if self.moments is not None:
            return self.moments.gram if origin is None else self.moments.centered_at(origin)
        rows = self.scaled_rows(origin)
        return rows.T @ rows


@dataclass(frozen=True)
class RidgeProblem:
    """One grid: labelled rows as F′ = rows × q, or their moments, and the population's mean m_U.

    With an intercept, rows and moments are those of φ − m_U.
    """

    rows: NDArray  # (r, b)
    q: NDArray
    signs: NDArray
    mean: NDArray
    intercept: bool
    shares: NDArray
    alphas: NDArray
    moments: LabeledMoments | None = None

    @property
    def origin(self) -> NDArray | None:
        return self.mean if self.intercept else None

    @property
    def labeled(self) -> LabeledMoments:
        if self.moments is not None:
            return self.moments
        signed = self.q[:, None] * self.signs
        share, signed_share = float(self.q @ self.q), self.q @ signed
        return LabeledMoments(self.rows.T @ self.rows, self.q @ self.rows, signed.T @ self.rows, share, signed_share)

    @property
    def grid_points(self) -> tuple[NDArray, NDArray]:
        """s and 4 λ of every grid point, λ running fastest."""
        return np.repeat(self.shares, len(self.alphas)), np.tile(4 * self.alphas, len(self.shares))
