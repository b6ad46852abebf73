"""Objectives that are convex and piecewise linear in each row's score: hinge, double hinge, a step of CCCP."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._solvers.objectives import Minimum, Objective

SLACK = 1e-11  # tolerance for a score to lie on its kink
BALANCED = 1e-12  # relative to the sum of jumps: a smaller slope or sum of multipliers counts as zero
IN_RANGE = 1e-9  # tolerance for multipliers, relative to their range


@dataclass(frozen=True)
class Pieces:
    """Σ_i slope_i g_i + Σ_ij jumps_ij max(0, kinks_ij − g_i), with jumps ≥ 0 and kinks falling along each row.

    By duality the minimiser of this plus α w'w is w = Φ'β / 2α, where the multiplier β_i is minus a subgradient of
    row i's term: it equals one of `levels` if the score lies between two kinks, and lies between two levels if the
    score is on a kink.
    """

    slope: AnyArray
    kinks: AnyArray
    jumps: AnyArray

    @cached_property
    def levels(self) -> AnyArray:
        """Multipliers above the first kink, between the first and the second, and so on; shape (n, kinks + 1)."""
        steps = np.concatenate([-self.slope[:, None], self.jumps], axis=1)
        return np.cumsum(steps, axis=1)

    @cached_property
    def edges(self) -> tuple[AnyArray, AnyArray]:
        """Kinks minus and plus the tolerance, shape (kinks, n), because sums along a short last axis are slow."""
        slack = SLACK * (1 + np.abs(self.kinks.T))
        return self.kinks.T - slack, self.kinks.T + slack

    def value(self, scores: AnyArray) -> float:
        """The objective, without penalty and constants."""
        return float(self.slope @ scores + (self.jumps * np.maximum(0, self.kinks - scores[:, None])).sum())

    def best_shift(self, scores: AnyArray, shift: float) -> float:
        """The midpoint of the interval of b that minimises value(scores + b); `shift` if it is a point or unbounded.

        >>> two = Pieces(np.array([0.0, 1.0]), np.array([[1.0], [-1.0]]), np.ones((2, 1)))  # hinges of P and N
        >>> two.best_shift(np.array([4.0, -2.0]), 0.0)
        -1.0
        """
        row, column = np.nonzero(self.jumps)
        place = self.kinks[row, column] - scores[row]
        order = np.argsort(place)
        jump = self.jumps[row, column][order]
        slopes = self.slope.sum() - jump.sum() + np.append(0, np.cumsum(jump))
        flat = np.flatnonzero(np.abs(slopes) <= BALANCED * jump.sum())
        ends = np.concatenate([[-np.inf], place[order], [np.inf]])
        if not len(flat) or not np.isfinite(ends[[flat[0], flat[-1] + 1]]).all():
            return shift
        return float(ends[flat[0]] + ends[flat[-1] + 1]) / 2


@dataclass(frozen=True)
class Solution:
    """A minimiser with a warm start for similar problems: multipliers β and the state of every row.

    A row's state is 2j if its score lies below exactly j kinks, and 2j + 1 if it lies on kink number j.
    """

    coef: AnyArray
    intercept: float
    beta: AnyArray
    state: AnyArray
    n_iter: int
    converged: bool

    @property
    def minimum(self) -> Minimum:
        return Minimum(self.coef, self.intercept, self.n_iter, self.converged)


def convex_pieces(objective: Objective) -> Pieces:
    """The convex part of an objective whose loss declares its kinks: the terms with a positive jump."""
    return _pieces(objective, [(kink, jump) for kink, jump in objective.loss.kinks or () if jump > 0])


def _pieces(objective: Objective, kinks: list[tuple[float, float]]) -> Pieces:
    """Pieces of these kinks; rows of side −1 are rewritten by max(0, t + g) = max(0, −t − g) + g + t."""
    places, sizes = np.array(kinks, dtype=float).T
    positive = objective.side > 0
    turned = objective.weight * sizes.sum() * ~positive
    return Pieces(
        slope=objective.slope + turned,
        kinks=np.where(positive[:, None], places, -places[::-1]),
        jumps=objective.weight[:, None] * np.where(positive[:, None], sizes, sizes[::-1]),
    )
