"""A primal-dual interior point method (Mehrotra) for rows that are convex and piecewise linear in their score.

The dual has one variable per kink, 0 ≤ u ≤ jump, and gradient score − kink. Newton's equations reduce to one symmetric
positive definite system in either the rows or the features, whichever is cheaper.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.linalg.blas import dsyrk

from pnulearn.solvers.design import Design
from pnulearn.solvers.pieces import Pieces, Solution

SHARE_OF_STEP = 0.995
SMALLEST_WIDTH = 4.0  # kinks are about two apart, so that the first guess is a ridge fit to all of them

WARM_SLACK = 0.1

Solve = Callable[[NDArray, float], tuple[NDArray, float]]
Factorise = Callable[[NDArray], Solve]


@dataclass
class InteriorPoint:
    """An iterate: scores with the primal multipliers γ behind them, and 0 < u < jump with its two slacks."""

    row: NDArray
    column: NDArray
    u: NDArray
    room: NDArray
    above: NDArray
    below: NDArray
    scores: NDArray
    gamma: NDArray
    offset: float

    @property
    def gap(self) -> float:
        """The duality gap, once γ and u agree."""
        return float(self.above @ self.u + self.below @ self.room)

    def state(self, pieces: Pieces) -> NDArray:
        """Where each score will end, as `pivoting.pivot` reads it: on a kink if u is farther inside than it is off."""
        state = 2 * (self.scores[:, None] < pieces.kinks).sum(axis=1)
        inside = np.minimum(self.u, self.room) / (self.u + self.room)
        rests = inside > np.maximum(self.above, self.below)
        state[self.row[rests]] = 2 * self.column[rests] + 1
        return state


def interior_points(
    pieces: Pieces, design: Design, alpha: float, near: Solution | None = None
) -> Iterator[InteriorPoint]:
    """Iterates that approach the minimiser, usually 5 to 20 until the gap is lost in rounding."""
    factorise = _newton_system(design, alpha)
    point = _ridge_start(pieces, design, alpha, factorise) if near is None else _warm_start(pieces, design, near)
    row, n = point.row, len(pieces.slope)
    kink = pieces.kinks[row, point.column]
    while True:
        yield point
        stiffness = point.above / point.u + point.below / point.room
        give = np.bincount(row, 1 / stiffness, n)
        try:
            solve = factorise(give)
        except LinAlgError:  # the end of what double precision allows
            return
        mismatch = np.bincount(row, point.u, n) - pieces.slope - point.gamma
        newton = _Newton(point, kink, stiffness, give, mismatch, solve)
        point = newton.step()


@dataclass
class _Newton:
    """Newton's equations at one point: a prediction towards the solution, then a step corrected for its curvature."""

    at: InteriorPoint
    kink: NDArray
    stiffness: NDArray
    give: NDArray
    mismatch: NDArray
    solve: Solve

    def direction(self, target_above: NDArray, target_below: NDArray) -> InteriorPoint:
        """Changes that bring above·u and below·room to their targets, in the shape of a point."""
        at = self.at
        pull = target_above / at.u - target_below / at.room - (at.scores[at.row] - self.kink)
        push = np.bincount(at.row, pull / self.stiffness, len(at.scores)) + self.mismatch
        scores, offset = self.solve(push, float(at.gamma.sum()))
        u = (pull - scores[at.row]) / self.stiffness
        above = target_above / at.u - at.above - at.above * u / at.u
        below = target_below / at.room - at.below + at.below * u / at.room
        return InteriorPoint(at.row, at.column, u, -u, above, below, scores, push - self.give * scores, offset)

    def step(self) -> InteriorPoint:
        at, gap = self.at, self.at.gap
        nothing = np.zeros_like(at.u)
        guess = self.direction(nothing, nothing)
        ahead = _moved(at, guess, _longest(at, guess, 1.0)).gap
        centre = gap / (2 * len(at.u)) * (ahead / gap) ** 3
        change = self.direction(centre - guess.u * guess.above, centre + guess.u * guess.below)
        return _moved(at, change, _longest(at, change, SHARE_OF_STEP))


def _moved(at: InteriorPoint, change: InteriorPoint, step: float) -> InteriorPoint:
    return InteriorPoint(
        at.row,
        at.column,
        at.u + step * change.u,
        at.room + step * change.room,
        at.above + step * change.above,
        at.below + step * change.below,
        at.scores + step * change.scores,
        at.gamma + step * change.gamma,
        at.offset + step * change.offset,
    )


def _longest(at: InteriorPoint, change: InteriorPoint, share: float) -> float:
    """The greatest step up to 1 that keeps every variable positive, times `share` if it is cut short."""
    worst = max(
        float(np.max(-change.u / at.u)),
        float(np.max(-change.room / at.room)),
        float(np.max(-change.above / at.above)),
        float(np.max(-change.below / at.below)),
    )
    return 1.0 if worst <= share else share / worst


def _ridge_start(pieces: Pieces, design: Design, alpha: float, factorise: Factorise) -> InteriorPoint:
    """Every corner replaced by a parabola so wide that most rows lie on it: a weighted ridge fit.

    The weaker the penalty, the farther the scores roam before they are held, and the wider the parabola has to be.
    """
    row, column = np.nonzero(pieces.jumps)
    kink, jump = pieces.kinks[row, column], pieces.jumps[row, column]
    n = len(pieces.slope)
    unheld = np.bincount(row, jump / 2, n) - pieces.slope
    roaming = design.features @ (unheld @ design.features) / (2 * alpha)
    width = max(SMALLEST_WIDTH, float(np.sqrt(np.abs(roaming).mean())))
    stiffness = jump / (2 * width)
    give = np.bincount(row, stiffness, n)
    push = np.bincount(row, stiffness * (kink + width), n) - pieces.slope
    scores, offset = factorise(give)(push, 0.0)
    u = np.clip(stiffness * (kink + width - scores[row]), jump / 10, jump * 9 / 10)
    excess = scores[row] - kink
    above, below = np.maximum(excess, 0) + width / 4, np.maximum(-excess, 0) + width / 4
    return InteriorPoint(row, column, u, jump - u, above, below, scores, push - give * scores, offset)


def _warm_start(pieces: Pieces, design: Design, near: Solution) -> InteriorPoint:
    """The solution of a similar problem, drawn back a little from the walls."""
    row, column = np.nonzero(pieces.jumps)
    kink, jump = pieces.kinks[row, column], pieces.jumps[row, column]
    scores = design.scores(near.coef, near.intercept)
    u = np.clip(near.beta[row] - pieces.levels[row, column], jump / 10, jump * 9 / 10)
    excess = scores[row] - kink
    above, below = np.maximum(excess, 0) + WARM_SLACK, np.maximum(-excess, 0) + WARM_SLACK
    return InteriorPoint(row, column, u, jump - u, above, below, scores, near.beta, near.intercept)


def _newton_system(design: Design, alpha: float) -> Factorise:
    """give ↦ (push, Σγ ↦ change of scores, change of intercept): γ changes by push − give · change of scores."""
    n, b = design.features.shape
    by_rows = 3 * n * b * b + b**3 > n**3
    return partial(_RowSystem if by_rows else _FeatureSystem, design, alpha)


class _RowSystem:
    """(give⁻¹ + K / 2α) change of γ = push / give, in the symmetric form that small gives leave well conditioned."""

    def __init__(self, design: Design, alpha: float, give: NDArray):
        self.design, self.alpha = design, alpha
        self.root = np.sqrt(give)
        scale = self.root / np.sqrt(2 * alpha)
        matrix = design.gram * scale
        matrix *= scale[:, None]
        matrix.flat[:: len(scale) + 1] += 1
        self.factor = cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)

    def __call__(self, push: NDArray, unbalanced: float) -> tuple[NDArray, float]:
        gram, root, shift = self.design.gram, self.root, 0.0
        fixed = np.where(root > 0, 0.0, push)
        known = np.divide(push, root, out=np.zeros_like(push), where=root > 0)
        if fixed.any():
            known -= root * (gram @ fixed) / (2 * self.alpha)
        gamma = root * cho_solve(self.factor, known, check_finite=False) + fixed
        if self.design.intercept:
            unit = root * cho_solve(self.factor, root, check_finite=False)
            shift = float((gamma.sum() + unbalanced) / unit.sum())
            gamma -= shift * unit
        return gram @ gamma / (2 * self.alpha) + shift, shift


class _FeatureSystem:
    """(2α + Φ′ give Φ) change of w = Φ′ push, with an unpenalised column of ones for the intercept."""

    def __init__(self, design: Design, alpha: float, give: NDArray):
        self.design = design
        matrix = dsyrk(1.0, (design.augmented * np.sqrt(give)[:, None]).T, lower=True)
        penalised = np.arange(design.features.shape[1])
        matrix[penalised, penalised] += 2 * alpha
        self.factor = cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)

    def __call__(self, push: NDArray, unbalanced: float) -> tuple[NDArray, float]:
        target = push @ self.design.augmented
        if self.design.intercept:
            target[-1] += unbalanced
        change = cho_solve(self.factor, target, check_finite=False)
        return self.design.augmented @ change, float(change[-1]) if self.design.intercept else 0.0
