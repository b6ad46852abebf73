"""Ramp loss: the concave-convex procedure, each step of which is an exactly solved hinge problem.

A loss with kinks is a convex part (positive jumps) less another (negative jumps). Replacing the second by its
tangent at the current scores gives a convex bound that touches the objective there; minimising it can only go down,
and as there are finitely many tangents, it ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._solvers.candidates import FeatureMatrix
from pnulearn._solvers.hinge import minimize_pieces
from pnulearn._solvers.objectives import Minimum, Objective
from pnulearn._solvers.piecewise_linear import Solution, convex_pieces

MAX_ROUNDS = 50
SMALLEST_FALL = 1e-10
TIED = 1e-7  # below a kink: a margin so close lies on it, as that of a row with an equal row at rest does


def minimize_ramp(
    objective: Objective, matrix: FeatureMatrix, alpha: float, starts: Sequence[AnyArray], near: Solution | None = None
) -> Solution:
    """The best of the local minima found from several starting scores; `near` only saves time, as in `hinge`."""
    found: list[Solution] = []
    seen: set[bytes] = set()
    for scores in starts:
        if _tangent(objective, scores).tobytes() not in seen:  # else an earlier start has already come by
            near = descend(objective, matrix, alpha, scores, near, seen)
            found.append(near)
    return found[lowest([penalized_value(objective, matrix, alpha, solution) for solution in found])]


def descend(
    objective: Objective,
    matrix: FeatureMatrix,
    alpha: float,
    scores: AnyArray,
    near: Solution | None = None,
    seen: set[bytes] | None = None,
) -> Solution:
    """Rounds of CCCP from starting scores until the tangent stays; `n_iter` counts rounds, `seen` gathers tangents."""
    pieces, seen = convex_pieces(objective), set() if seen is None else seen
    tangent, value = _tangent(objective, scores), np.inf
    n_iter, done = 0, False
    while not done and n_iter < MAX_ROUNDS:
        n_iter += 1
        seen.add(tangent.tobytes())
        bound = replace(pieces, slope=pieces.slope + tangent)
        found = near = minimize_pieces(bound, matrix, alpha, near)
        previous, value = value, penalized_value(objective, matrix, alpha, found)
        last, tangent = tangent, _tangent(objective, matrix.scores(found.coef, found.intercept))
        done = np.array_equal(tangent, last) or previous - value <= SMALLEST_FALL * abs(value)
    return replace(found, n_iter=n_iter, converged=done and found.converged)


def _tangent(objective: Objective, scores: AnyArray) -> AnyArray:
    """Slope of the concave part by each row's score: −|a| max(0, t − m) rises by |a| while m < t."""
    margin = objective.side * scores
    slope = np.zeros_like(scores)
    for kink, jump in objective.loss.kinks or ():
        if jump < 0:
            slope -= jump * (margin < kink - TIED)
    return slope * objective.weight * objective.side


def penalized_value(objective: Objective, matrix: FeatureMatrix, alpha: float, found: Minimum | Solution) -> float:
    """The objective with its penalty, the quantity that CCCP never raises."""
    return objective.value(matrix.scores(found.coef, found.intercept)) + alpha * float(found.coef @ found.coef)


def lowest(values: Sequence[float]) -> int:
    """The place of the lowest value; the first of those that tie up to rounding.

    >>> lowest([0.3 + 1e-16, 0.3, 0.4])
    0
    """
    return int(np.argmin(np.round(values, 10)))
