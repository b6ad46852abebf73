"""Normal equations of the squared loss: labelled rows, the population sample, a grid of shares and penalties."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._solvers.candidates import Training
from pnulearn._solvers.moments import LabeledMoments, Moments


@dataclass(frozen=True)
class Population:
    """The sample that represents the population: rows of a training problem, or only their moments."""

    training: Training | None = None
    moments: Moments | None = None

    @classmethod
    def of(cls, training: Training) -> Population:
        return cls(training, training.population_moments)

    @cached_property
    def rows(self) -> AnyArray:
        assert self.training is not None
        return self.training.features_of(self.training.population)

    @cached_property
    def weight(self) -> AnyArray:
        """Weights of the rows, which sum to one."""
        assert self.training is not None
        weight = self.training.weight[self.training.population]
        return weight / weight.sum()

    @cached_property
    def mean(self) -> AnyArray:
        return self.weight @ self.rows if self.moments is None else self.moments.mean

    def gram(self, origin: AnyArray | None) -> AnyArray:
        """E (φ − origin)(φ − origin)′, of shape (b, b)."""
        if self.moments is not None:
            return self.moments.gram if origin is None else self.moments.centered_at(origin)
        rows = self.rows if origin is None else self.rows - origin
        rows = rows * np.sqrt(self.weight)[:, None]
        return rows.T @ rows


@dataclass(frozen=True)
class RidgeProblem:
    """A grid of ascending shares and of penalties. Labelled rows come from a training problem or as their moments.

    Derived quantities are computed on first use, since not every solver needs all of them.
    """

    shares: AnyArray
    alphas: AnyArray
    intercept: bool
    population: Population | None
    training: Training | None = None
    moments: LabeledMoments | None = None

    @classmethod
    def of(cls, training: Training, shares: AnyArray) -> RidgeProblem:
        population = Population.of(training) if shares.any() else None
        labeled = training.labeled_moments
        return cls(shares, training.alphas, training.intercept, population, training, labeled)

    @cached_property
    def q(self) -> AnyArray:
        """sqrt(θ_c × the row's share of its class) of every labelled row."""
        assert self.training is not None
        codes, weight = self._codes, self.training.weight[self.training.labeled]
        class_weight = np.bincount(codes, weights=weight, minlength=len(self.training.prior))
        return np.sqrt(self.training.prior[codes] * weight / class_weight[codes])

    @property
    def signs(self) -> AnyArray:
        """±1 of every labelled row for every output, shape (r, K)."""
        assert self.training is not None
        return np.where(self._codes[:, None] == self.training.outputs, 1.0, -1.0)

    @cached_property
    def mean(self) -> AnyArray:
        """m_U, or without a population sample the mean of the labelled rows."""
        if self.population is not None:
            return self.population.mean
        return self.moments.total if self.moments is not None else self.q @ self._scaled_rows

    @property
    def origin(self) -> AnyArray | None:
        return self.mean if self.intercept else None

    @cached_property
    def rows(self) -> AnyArray:
        """F′: labelled rows times q, shape (r, b); with an intercept, rows of φ − m_U."""
        return self._scaled_rows - np.outer(self.q, self.mean) if self.intercept else self._scaled_rows

    @cached_property
    def total(self) -> AnyArray:
        """Σ θ_c E_c φ; with an intercept, of φ − m_U."""
        return self.q @ self.rows if self.moments is None else self.labeled.total

    @cached_property
    def labeled(self) -> LabeledMoments:
        """The labelled rows' moments of φ; with an intercept, of φ − m_U."""
        if self.moments is not None:
            return self.moments.about(self.mean) if self.intercept else self.moments
        signed = self.q[:, None] * self.signs
        share, signed_share = float(self.q @ self.q), self.q @ signed
        return LabeledMoments(self.rows.T @ self.rows, self.total, signed.T @ self.rows, share, signed_share)

    @cached_property
    def grid_points(self) -> tuple[AnyArray, AnyArray]:
        """s and 4 λ of every grid point, λ varying fastest."""
        return np.repeat(self.shares, len(self.alphas)), np.tile(4 * self.alphas, len(self.shares))

    @property
    def _codes(self) -> AnyArray:
        assert self.training is not None
        return self.training.codes[self.training.labeled]

    @cached_property
    def _scaled_rows(self) -> AnyArray:
        assert self.training is not None
        return self.training.features_of(self.training.labeled) * self.q[:, None]
