"""Ramp loss: the concave-convex procedure, each step of which is an exactly solved hinge problem.

A loss with kinks is the difference of two convex parts, those with positive and with negative jumps. Replacing the
second part by its tangent at the current scores gives a convex upper bound that is tight there. Minimising it never
increases the objective, and since there are finitely many tangents, the procedure terminates.
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
TIED = 1e-7  # a margin this close below a kink counts as lying on it


def minimize_ramp(
    objective: Objective, matrix: FeatureMatrix, alpha: float, starts: Sequence[AnyArray], near: Solution | None = None
) -> Solution:
    """The best of the local minima found from several starting scores; `near` only saves time, as in `hinge`."""
    found: list[Solution] = []
    seen: set[bytes] = set()
    for scores in starts:
        if _tangent(objective, scores).tobytes() not in seen:  # else an earlier start leads to the same minimum
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
    """Iterate CCCP from starting scores until the tangent is unchanged; all tangents met are added to `seen`."""
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
    """Derivative of the concave part by each row's score: that of −|a| max(0, t − m) is |a| if m < t."""
    margin = objective.side * scores
    slope = np.zeros_like(scores)
    for kink, jump in objective.loss.kinks or ():
        if jump < 0:
            slope -= jump * (margin < kink - TIED)
    return slope * objective.weight * objective.side


def penalized_value(objective: Objective, matrix: FeatureMatrix, alpha: float, found: Minimum | Solution) -> float:
    """The objective with its penalty, which CCCP never increases."""
    return objective.value(matrix.scores(found.coef, found.intercept)) + alpha * float(found.coef @ found.coef)


def lowest(values: Sequence[float]) -> int:
    """The index of the lowest value; the first among ties up to rounding.

    >>> lowest([0.3 + 1e-16, 0.3, 0.4])
    0
    """
    return int(np.argmin(np.round(values, 10)))
