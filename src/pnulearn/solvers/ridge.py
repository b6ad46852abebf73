r"""Squared loss: every (mix, alpha) of the grid from one factorisation.

With L = Σ_c θ_c G_c over the labelled classes, G_U the Gram matrix of the population sample and

    b0 = θ m_P − (1 − θ) m_N,    b1 = θ m_P + (1 − θ) m_N − m_U,

the minimiser of a risk with share s = |η| of unlabelled data and tilt t = η (PUNU: s = 1, t = 1 − 2γ) plus λ w′w is

    w(s, t, λ) = ((1 − s) L + s G_U + 4 λ I)⁻¹ (b0 + t b1).

Three facts make a grid cheap. The matrix depends on the mix only through s. The right-hand side is affine in t,
so w = base + t · slope serves both signs of η and every γ. And L has the rank of the labelled rows, which are few:
G_U is diagonalised once and L enters as a low-rank update (`low_rank`), or, when labelled rows are many, the
matrices are solved one by one (`solve_one_by_one`).

An unpenalised intercept is eliminated by centring at m_U. In these coordinates the matrix loses
(1 − s)² b1 b1′, the tilt becomes t − (2θ − 1)(1 − s), and everything else stays.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pnulearn.solvers import low_rank
from pnulearn.solvers.candidates import Training
from pnulearn.solvers.low_rank import Frame, rows_times
from pnulearn.solvers.ridge_problem import LabeledMoments, Population, RidgeProblem


@dataclass(frozen=True)
class Grid:
    """Coefficients w = base + t · slope in a frame: base (K, S, J, f), slope (S, J, f), intercepts (..., J)."""

    base: NDArray
    slope: NDArray
    base_intercept: NDArray
    slope_intercept: NDArray
    frame: Frame | None  # None stands for the identity


@dataclass(frozen=True)
class RidgeCandidates:
    """The candidates of a grid: mix number c uses share number place[c] and tilt tilts[c]."""

    grid: Grid
    place: NDArray
    tilts: NDArray

    def scores(self, features: NDArray, products: NDArray | None = None) -> NDArray:
        """g on rows of features, shape (K, C, J, n)."""
        if self.grid.frame is not None:
            features = self.grid.frame.coordinates(features, products)
        base = rows_times(self.grid.base, features.T) + self.grid.base_intercept[..., None]
        slope = rows_times(self.grid.slope, features.T) + self.grid.slope_intercept[..., None]
        return base[:, self.place] + self.tilts[:, None, None] * slope[self.place]

    def average(self, weights: NDArray) -> tuple[NDArray, NDArray]:
        """Σ weights (C, J) × coefficients: shapes (K, b) and (K,)."""
        per_share, tilted = (np.zeros((self.grid.slope.shape[0], weights.shape[1])) for _ in range(2))
        np.add.at(per_share, self.place, weights)
        np.add.at(tilted, self.place, weights * self.tilts[:, None])
        coefficients = np.einsum("ksjb,sj->kb", self.grid.base, per_share)
        coefficients += np.einsum("sjb,sj->b", self.grid.slope, tilted)
        intercepts = np.einsum("ksj,sj->k", self.grid.base_intercept, per_share) + np.sum(
            self.grid.slope_intercept * tilted
        )
        return coefficients if self.grid.frame is None else self.grid.frame.lift(coefficients), intercepts


def squared_candidates(training: Training) -> RidgeCandidates:
    """Every candidate of a training problem under the squared loss."""
    shares, place = np.unique(training.mixes.shares, return_inverse=True)
    population = _population(training) if shares.any() else None
    problem = ridge_problem(training, shares, population)
    centre = 2 * training.prior[training.outputs] - 1 if training.intercept else None
    grid = _arranged(problem, *_solved(problem, population, training), centre)
    return RidgeCandidates(grid, place, training.mixes.tilts)


def ridge_problem(training: Training, shares: NDArray, population: Population | None) -> RidgeProblem:
    """Labelled rows scaled by q = sqrt(θ_c × the row's share of its class), centred if there is an intercept."""
    codes, weight = training.codes[training.labeled], training.weight[training.labeled]
    class_weight = np.bincount(codes, weights=weight, minlength=len(training.prior))
    q = np.sqrt(training.prior[codes] * weight / class_weight[codes])
    signs = np.where(codes[:, None] == training.outputs, 1.0, -1.0)
    rows = training.features[training.labeled] * q[:, None]
    mean = q @ rows if population is None else population.mean
    if training.intercept:
        rows = rows - np.outer(q, mean)
    return RidgeProblem(rows, q, signs, mean, training.intercept, shares, training.alphas)


def _population(training: Training) -> Population:
    if training.population_moments is not None:
        return Population.of_moments(training.population_moments)
    return Population.of_rows(training.features[training.population], training.weight[training.population])


def _solved(problem: RidgeProblem, population: Population | None, training: Training) -> tuple[NDArray, Frame | None]:
    """By the route that costs least."""
    rows = training.population if population is not None else training.population[:0]
    size = len(problem.mean)
    if len(rows) < size and low_rank.is_cheaper(problem, len(rows)):
        return low_rank.solve_from_rows(problem, training, rows)
    if population is not None and low_rank.is_cheaper(problem, size):
        return low_rank.solve_from_gram(problem, population)
    return solve_one_by_one(problem, population)


def moment_grid(
    labeled: LabeledMoments,
    population: Population | None,
    shares: NDArray,
    alphas: NDArray,
    centre: NDArray | None = None,
) -> Grid:
    """Solve for every share s of unlabelled data and every λ from moments alone.

    `centre`, the number 2θ − 1 of each output, asks for an unpenalised intercept. Without a population only s = 0
    makes sense.
    """
    mean = labeled.total if population is None else population.mean
    labeled = labeled if centre is None else labeled.about(mean)
    none = np.zeros(0)
    problem = RidgeProblem(none, none, none, mean, centre is not None, shares, alphas, labeled)
    return _arranged(problem, *solve_one_by_one(problem, population), centre)


def solve_one_by_one(problem: RidgeProblem, population: Population | None) -> tuple[NDArray, Frame | None]:
    """A b × b system per grid point, for when labelled rows are many or basis functions few."""
    labeled = problem.labeled
    L, G = labeled.outer, 0.0 if population is None else population.gram(problem.origin)
    slope = labeled.total - (0 if problem.intercept else problem.mean)
    right = np.vstack([labeled.signed, slope]).T
    coefficients = []
    for s in problem.shares:
        A = (1 - s) * L + s * G
        if problem.intercept:
            A -= (1 - s) ** 2 * np.outer(slope, slope)
        stack = A + 4 * problem.alphas[:, None, None] * np.eye(len(A))
        coefficients.append(np.linalg.solve(stack, right[None]).swapaxes(1, 2))
    return np.concatenate(coefficients), None


def _arranged(problem: RidgeProblem, coefficients: NDArray, frame: Frame | None, centre: NDArray | None) -> Grid:
    """Arrange (points, K + 1, f) as a grid and recover w0 = (2θ − 1) − a(s)′w."""
    shape = (len(problem.shares), len(problem.alphas))
    slope = coefficients[:, -1].reshape(*shape, -1)
    base = np.moveaxis(coefficients[:, :-1], 1, 0).reshape(-1, *shape, slope.shape[-1])
    if centre is None:
        return Grid(base, slope, np.zeros(base.shape[:-1]), np.zeros(shape), frame)
    rest = (1 - problem.shares)[:, None]
    base = base - centre[:, None, None, None] * rest[..., None] * slope
    total = problem.q @ problem.rows if problem.moments is None else problem.moments.total
    both = np.vstack([problem.mean, total])
    mean, b1 = both if frame is None else frame.coordinates(both)
    offsets = [part @ mean + rest * (part @ b1) for part in (base, slope)]
    return Grid(base, slope, centre[:, None, None] - offsets[0], -offsets[1], frame)
