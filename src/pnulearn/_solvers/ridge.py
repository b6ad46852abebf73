r"""Squared loss: every (mix, alpha) of the grid from one factorisation.

With L = Σ_c θ_c G_c over the labelled classes, G_U the Gram matrix of the population sample and

    b0 = θ m_P − (1 − θ) m_N,    b1 = θ m_P + (1 − θ) m_N − m_U,

the minimiser of a risk with share s = |η| of unlabelled data and tilt t = η (PUNU: s = 1, t = 1 − 2γ) plus λ w′w is

    w(s, t, λ) = ((1 − s) L + s G_U + 4 λ I)⁻¹ (b0 + t b1).

Three facts make a grid cheap. The matrix depends on the mix only through s. The right-hand side is affine in t,
so w = base + t · slope covers both signs of η and every γ. The rank of L is at most the number of labelled rows. If
these are few, G_U is diagonalised once and L is a low-rank update (`low_rank`); otherwise the systems are solved one by
one (`solve_one_by_one`).

An unpenalised intercept is eliminated by centring at m_U. This subtracts (1 − s)² b1 b1′ from the matrix and changes
the tilt to t − (2θ − 1)(1 − s); the rest is unchanged.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from pnulearn._arrays import AnyArray
from pnulearn._solvers import low_rank
from pnulearn._solvers.candidates import Training
from pnulearn._solvers.linear_algebra import FEWEST_SHIFTS, solve_shifted
from pnulearn._solvers.low_rank import Frame, rows_times
from pnulearn._solvers.moments import LabeledMoments
from pnulearn._solvers.ridge_problem import Population, RidgeProblem
from pnulearn._solvers.sparse_ridge import solve_sparse

STACKED_AT_ONCE = 2**17  # entries of all matrices solved in one call: 1 MB
WIDE = 64  # with at least this many basis functions, all penalties share one tridiagonal form


@dataclass(frozen=True)
class Grid:
    """Coefficients w = base + t · slope in a frame: base (K, S, J, f), slope (S, J, f), intercepts (..., J)."""

    base: AnyArray
    slope: AnyArray
    base_intercept: AnyArray
    slope_intercept: AnyArray
    frame: Frame | None  # None means the identity


@dataclass(frozen=True)
class RidgeCandidates:
    """The candidates of a grid: mix number c uses share number place[c] and tilt tilts[c]."""

    grid: Grid
    place: AnyArray
    tilts: AnyArray

    def scores(self, features: AnyArray, products: AnyArray | None = None) -> AnyArray:
        """g on rows of features, shape (K, C, J, n); for sparse rows computed by share of U to limit memory."""
        if sparse.issparse(features):
            return self._sparse_scores(features)
        if self.grid.frame is not None:
            features = self.grid.frame.coordinates(features, products)
        base = rows_times(self.grid.base, features.T) + self.grid.base_intercept[..., None]
        slope = rows_times(self.grid.slope, features.T) + self.grid.slope_intercept[..., None]
        return base[:, self.place] + self.tilts[:, None, None] * slope[self.place]

    def _sparse_scores(self, rows: Any) -> AnyArray:
        base, slope = (np.empty((*part.shape[:-1], rows.shape[0])) for part in (self.grid.base, self.grid.slope))
        for s in range(len(slope)):
            for part, out in ((self.grid.base[:, s], base[:, s]), (self.grid.slope[s], slope[s])):
                vectors = part if self.grid.frame is None else self.grid.frame.lift(part)
                out[:] = (rows @ vectors.reshape(-1, rows.shape[1]).T).T.reshape(out.shape)
        base += self.grid.base_intercept[..., None]
        slope += self.grid.slope_intercept[..., None]
        return base[:, self.place] + self.tilts[:, None, None] * slope[self.place]

    def lifted(self) -> RidgeCandidates:
        """The same with coefficients of the features themselves, which is faster for scoring many rows."""
        frame = self.grid.frame
        if frame is None:
            return self
        grid = replace(self.grid, base=frame.lift(self.grid.base), slope=frame.lift(self.grid.slope), frame=None)
        return replace(self, grid=grid)

    def times(self, unit: float) -> RidgeCandidates:
        """The same with scores multiplied by `unit`."""
        if unit == 1:
            return self
        names = ("base", "slope", "base_intercept", "slope_intercept")
        scaled = {name: unit * getattr(self.grid, name) for name in names}
        return replace(self, grid=replace(self.grid, **scaled))

    def average(self, weights: AnyArray) -> tuple[AnyArray, AnyArray]:
        """Weighted sum over candidates, weights (C, J): coefficients (K, b) and intercepts (K,)."""
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
    """Fit every candidate of a training problem under the squared loss."""
    shares, place = np.unique(training.mixes.shares, return_inverse=True)
    centre = 2 * training.prior[training.outputs] - 1 if training.intercept else None
    if sparse.issparse(training.table):
        coefficients, rows, beta = solve_sparse(training, shares)
        middle = np.vstack([rows.origin, rows.lift(beta)])
        grid = arrange(shares, training.alphas, middle, coefficients, rows, centre)
    else:
        problem = RidgeProblem.of(training, shares)
        grid = arrange(shares, training.alphas, _middle(problem, centre), *_solve(problem, training), centre)
    return RidgeCandidates(grid, place, training.mixes.tilts)


def natural_unit(quadratic: tuple[float, float, float]) -> float:
    """−b / 2a, the margin that minimises ℓ(m) = a m² + b m + c: 1 for the squared loss."""
    a, b, _ = quadratic
    return -b / (2 * a)


def quadratic_candidates(training: Training, quadratic: tuple[float, float, float]) -> RidgeCandidates:
    """Fit every candidate under ℓ(m) = a m² + b m + c with a > 0 > b.

    With g = u h and u = −b / 2a, a row's term is 4 a u² times the squared loss of h up to a constant, and the penalty
    is λ u² |w_h|². Therefore h is the squared-loss solution at λ / 4a.
    """
    unit, alphas = natural_unit(quadratic), training.alphas / (4 * quadratic[0])
    return squared_candidates(replace(training, alphas=alphas)).times(unit)


def _solve(problem: RidgeProblem, training: Training) -> tuple[AnyArray, Frame | None]:
    """Solve by the method with the fewest operations."""
    if training.labeled_moments is not None:
        return solve_one_by_one(problem)
    n = 0 if problem.population is None else len(training.population)
    r, b = len(training.labeled), training.table.shape[1]
    points, apart = len(problem.shares) * len(problem.alphas), _flops_one_by_one(problem, b)
    if training.population_moments is None and n < b and low_rank.flops(points, r, side=n) < apart:
        return low_rank.solve_from_rows(problem, training)
    if problem.population is not None and low_rank.flops(points, r, side=b) < apart:
        return low_rank.solve_from_gram(problem, problem.population)
    return solve_one_by_one(problem)


def _flops_one_by_one(problem: RidgeProblem, b: int) -> float:
    """Operations for one system per grid point, or for one tridiagonal form per share, which counts as 3 b³."""
    alphas = len(problem.alphas)
    each = alphas * 2 / 3 if b < WIDE else alphas / 2 if alphas < FEWEST_SHIFTS else 3
    return len(problem.shares) * each * b**3


def moment_grid(
    labeled: LabeledMoments,
    population: Population | None,
    shares: AnyArray,
    alphas: AnyArray,
    centre: AnyArray | None = None,
) -> Grid:
    """Solve for every share s of unlabelled data and every λ from moments alone.

    If `centre`, 2θ − 1 of each output, is given, there is an unpenalised intercept. Without a population s must be 0.
    """
    problem = RidgeProblem(shares, alphas, centre is not None, population, moments=labeled)
    return arrange(shares, alphas, _middle(problem, centre), *solve_one_by_one(problem), centre)


def solve_one_by_one(problem: RidgeProblem) -> tuple[AnyArray, Frame | None]:
    """Solve a b × b system per grid point, for many labelled rows or few basis functions."""
    L = problem.labeled.outer
    G = np.zeros(()) if problem.population is None else problem.population.gram(problem.origin)
    slope = problem.total - (0 if problem.intercept else problem.mean)
    right = np.vstack([problem.labeled.signed, slope]).T
    at_once = 1 if len(L) >= WIDE else max(1, STACKED_AT_ONCE // (len(problem.alphas) * L.size))
    solutions = []
    for start in range(0, len(problem.shares), at_once):
        s = problem.shares[start : start + at_once, None, None]
        A = (1 - s) * L + s * G
        if problem.intercept:
            A -= (1 - s) ** 2 * np.outer(slope, slope)
        solutions.append(_solve_penalized(A, 4 * problem.alphas, right))
    return np.concatenate(solutions).reshape(-1, *right.shape).swapaxes(1, 2), None


def _solve_penalized(matrices: AnyArray, penalties: AnyArray, right: AnyArray) -> AnyArray:
    """(A + p I)⁻¹ right of every matrix and penalty, shape (matrices, penalties, b, columns)."""
    if len(right) >= WIDE:
        try:
            return np.stack([solve_shifted(A, penalties, right) for A in matrices])
        except np.linalg.LinAlgError:  # not positive definite by rounding errors at a tiny penalty; use LU instead
            pass
    diagonal = np.arange(len(right))
    stack = np.repeat(matrices[:, None], len(penalties), axis=1)
    stack[..., diagonal, diagonal] += penalties[:, None]
    return np.linalg.solve(stack, right)


def _middle(problem: RidgeProblem, centre: AnyArray | None) -> AnyArray | None:
    """m_U and b1, from which the intercept is recovered; None without intercept."""
    return None if centre is None else np.vstack([problem.mean, problem.total])


def arrange(
    shares: AnyArray,
    alphas: AnyArray,
    middle: AnyArray | None,
    coefficients: AnyArray,
    frame: Frame | None,
    centre: AnyArray | None,
) -> Grid:
    """Arrange (points, K + 1, f) as a grid and recover w0 = (2θ − 1) − a(s)′w from the middle (m_U, b1)."""
    shape = (len(shares), len(alphas))
    slope = coefficients[:, -1].reshape(*shape, -1)
    base = np.moveaxis(coefficients[:, :-1], 1, 0).reshape(-1, *shape, slope.shape[-1])
    if centre is None or middle is None:
        return Grid(base, slope, np.zeros(base.shape[:-1]), np.zeros(shape), frame)
    rest = (1 - shares)[:, None]
    base = base - centre[:, None, None, None] * rest[..., None] * slope
    mean, b1 = middle if frame is None else frame.coordinates(middle)
    offsets = [part @ mean + rest * (part @ b1) for part in (base, slope)]
    return Grid(base, slope, centre[:, None, None] - offsets[0], -offsets[1], frame)
