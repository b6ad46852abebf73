"""A primal-dual interior point method (Mehrotra) for rows that are convex and piecewise linear in their score.

The dual has one variable per kink, 0 ≤ u ≤ jump, and gradient score − kink. Newton's equations reduce to one symmetric
positive definite system in either the rows or the features, whichever is cheaper.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.linalg import LinAlgError
from scipy.linalg.blas import dsyrk

from pnulearn._arrays import AnyArray
from pnulearn._solvers.candidates import FeatureMatrix
from pnulearn._solvers.linear_algebra import factorize, solve_factorized
from pnulearn._solvers.piecewise_linear import Pieces

SHARE_OF_STEP = 0.995
SMALLEST_WIDTH = 4.0  # twice the distance between kinks, so that the start is a ridge fit to all of them

Solve = Callable[[AnyArray, float], tuple[AnyArray, float, AnyArray]]
Factorize = Callable[[AnyArray], Solve]


@dataclass
class InteriorPoint:
    """An iterate: scores, multipliers γ, and for every kink four positive slacks `walls` = (u, room, above, below).

    u is the dual variable, room = jump − u, and above and below are the score's distances from the kink. At the
    solution u · above = 0 and room · below = 0. `held` are the multipliers (row system) or coefficients (feature
    system) that have exactly these scores. In exact arithmetic γ would do too, but it suffers from cancellation: for
    equal rows it may consist of rounding errors.
    """

    row: AnyArray
    column: AnyArray
    walls: AnyArray
    scores: AnyArray
    gamma: AnyArray
    offset: float
    held: AnyArray

    @property
    def gap(self) -> float:
        """The complementarity gap; it is the duality gap if γ and u are consistent."""
        u, room, above, below = self.walls
        return float(above @ u + below @ room)

    def state(self, pieces: Pieces) -> AnyArray:
        """The predicted state of each row for `pivoting.pivot`: on a kink if u is farther from its bounds than the
        score from the kink."""
        u, room, above, below = self.walls
        state = 2 * (self.scores[:, None] < pieces.kinks).sum(axis=1)
        rests = np.minimum(u, room) > np.maximum(above, below) * (u + room)
        state[self.row[rests]] = 2 * self.column[rests] + 1
        return state

    def move(self, change: InteriorPoint, step: float) -> InteriorPoint:
        return InteriorPoint(
            self.row,
            self.column,
            self.walls + step * change.walls,
            self.scores + step * change.scores,
            self.gamma + step * change.gamma,
            self.offset + step * change.offset,
            self.held + step * change.held,
        )

    def longest(self, change: InteriorPoint, share: float) -> float:
        """The longest step up to 1 that keeps all slacks positive, times `share` if it is shortened."""
        worst = float((-change.walls / self.walls).max())
        return 1.0 if worst <= share else share / worst


def interior_points(pieces: Pieces, matrix: FeatureMatrix, alpha: float) -> Iterator[InteriorPoint]:
    """Iterates that approach the minimiser, usually 5 to 20 until the gap is of the order of rounding errors.

    They start from a ridge fit. The solution of a similar problem is a worse start, since it lies on the boundary.
    """
    factorize = _newton_system(matrix, alpha)
    point = _ridge_start(pieces, matrix, alpha, factorize)
    kink = pieces.kinks[point.row, point.column]
    while True:
        yield point
        newton = _newton(pieces, point, kink, factorize)
        if newton is None:  # the system is singular in double precision
            return
        point = newton.step()


def held_coefficients(point: InteriorPoint, matrix: FeatureMatrix, alpha: float) -> AnyArray:
    """w of an iterate."""
    return point.held @ matrix.features / (2 * alpha) if matrix.wide else point.held[: matrix.features.shape[1]]


@dataclass
class _Newton:
    """Newton's equations at one point, for Mehrotra's predictor and corrector steps."""

    at: InteriorPoint
    excess: AnyArray
    stiffness: AnyArray
    give: AnyArray
    mismatch: AnyArray
    solve: Solve

    def direction(self, targets: AnyArray) -> InteriorPoint:
        """The Newton direction, as an InteriorPoint, that brings above·u and below·room to their targets."""
        at, (u, room, above, below) = self.at, self.at.walls
        wanted_above, wanted_below = targets / at.walls[:2]
        pull = wanted_above - wanted_below - self.excess
        push = np.bincount(at.row, pull / self.stiffness, len(at.scores)) + self.mismatch
        scores, offset, held = self.solve(push, float(at.gamma.sum()))
        du = (pull - scores[at.row]) / self.stiffness
        walls = np.stack([du, -du, wanted_above - above * (1 + du / u), wanted_below - below * (1 - du / room)])
        return InteriorPoint(at.row, at.column, walls, scores, push - self.give * scores, offset, held)

    def step(self) -> InteriorPoint:
        at, gap = self.at, self.at.gap
        guess = self.direction(np.zeros((2, 1)))
        ahead = at.move(guess, at.longest(guess, 1.0)).gap
        centre = gap / at.walls[:2].size * (ahead / gap) ** 3
        change = self.direction(centre - guess.walls[:2] * guess.walls[2:])
        return at.move(change, at.longest(change, SHARE_OF_STEP))


def _newton(pieces: Pieces, at: InteriorPoint, kink: AnyArray, factorize: Factorize) -> _Newton | None:
    u, room, above, below = at.walls
    n = len(at.scores)
    stiffness = above / u + below / room
    give = np.bincount(at.row, 1 / stiffness, n)
    mismatch = np.bincount(at.row, u, n) - pieces.slope - at.gamma
    try:
        return _Newton(at, at.scores[at.row] - kink, stiffness, give, mismatch, factorize(give))
    except LinAlgError:
        return None


def _ridge_start(pieces: Pieces, matrix: FeatureMatrix, alpha: float, factorize: Factorize) -> InteriorPoint:
    """A weighted ridge fit: every corner is replaced by a parabola so wide that most rows lie on it.

    The smaller the penalty, the larger the scores, and the wider the parabola has to be.
    """
    row, column = np.nonzero(pieces.jumps)
    kink, jump = pieces.kinks[row, column], pieces.jumps[row, column]
    n = len(pieces.slope)
    unheld = np.bincount(row, jump / 2, n) - pieces.slope
    width = max(SMALLEST_WIDTH, matrix.reach(unheld, alpha))
    stiffness = jump / (2 * width)
    give = np.bincount(row, stiffness, n)
    push = np.bincount(row, stiffness * (kink + width), n) - pieces.slope
    scores, offset, held = factorize(give)(push, 0.0)
    u = np.clip(stiffness * (kink + width - scores[row]), jump / 10, jump * 9 / 10)
    excess = scores[row] - kink
    above, below = np.maximum(excess, 0) + width / 4, np.maximum(-excess, 0) + width / 4
    walls = np.stack([u, jump - u, above, below])
    return InteriorPoint(row, column, walls, scores, push - give * scores, offset, held)


def _newton_system(matrix: FeatureMatrix, alpha: float) -> Factorize:
    """A function of `give` that factorises Newton's system and returns its solver.

    The solver maps push and Σγ to the changes of scores, intercept and `held`; γ changes by push − give · Δscores.
    """
    return partial(_RowSystem if matrix.wide else _FeatureSystem, matrix, alpha)


class _RowSystem:
    """(give⁻¹ + K / 2α) Δγ = push / give, in a symmetric form that is well conditioned for small `give`."""

    def __init__(self, matrix: FeatureMatrix, alpha: float, give: AnyArray):
        self.matrix, self.alpha = matrix, alpha
        self.root = np.sqrt(give)
        scale = self.root / np.sqrt(2 * alpha)
        system = matrix.gram * scale
        system *= scale[:, None]
        system.flat[:: len(scale) + 1] += 1
        self.factor = factorize(system)

    def __call__(self, push: AnyArray, unbalanced: float) -> tuple[AnyArray, float, AnyArray]:
        gram, root, shift = self.matrix.gram, self.root, 0.0
        fixed = np.where(root > 0, 0.0, push)
        known = np.divide(push, root, out=np.zeros_like(push), where=root > 0)
        if fixed.any():
            known -= root * (gram @ fixed) / (2 * self.alpha)
        gamma = root * solve_factorized(self.factor, known) + fixed
        if self.matrix.intercept:
            unit = root * solve_factorized(self.factor, root)
            shift = float((gamma.sum() + unbalanced) / unit.sum())
            gamma -= shift * unit
        return gram @ gamma / (2 * self.alpha) + shift, shift, gamma


class _FeatureSystem:
    """(2α + Φ′ give Φ) Δw = Φ′ push, with an unpenalised column of ones for the intercept."""

    def __init__(self, matrix: FeatureMatrix, alpha: float, give: AnyArray):
        self.matrix = matrix
        system = dsyrk(1.0, (matrix.augmented * np.sqrt(give)[:, None]).T, lower=True)
        penalised = np.arange(matrix.features.shape[1])
        system[penalised, penalised] += 2 * alpha
        self.factor = factorize(system)

    def __call__(self, push: AnyArray, unbalanced: float) -> tuple[AnyArray, float, AnyArray]:
        target = push @ self.matrix.augmented
        if self.matrix.intercept:
            target[-1] += unbalanced
        change = solve_factorized(self.factor, target)
        return self.matrix.augmented @ change, float(change[-1]) if self.matrix.intercept else 0.0, change
