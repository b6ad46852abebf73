"""Hinge and double hinge: exact minimisers of convex piecewise linear risks with a ridge penalty.

The interior point method comes close in a few steps of fixed cost; as soon as it has told which scores rest on a kink,
pivoting finishes exactly.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pnulearn.objectives import Minimum, Objective
from pnulearn.solvers.interior import interior_points
from pnulearn.solvers.pieces import Pieces, convex_pieces
from pnulearn.solvers.pivoting import pivot

WARM_ROUNDS = 6
POLISH_ROUNDS = 4
PROMISING_GAP = 1e-2
ACCEPTABLE_GAP = 1e-10
SMALLEST_GAP = 1e-13
MAX_STEPS = 100


def minimize_hinge(objective: Objective, features: NDArray, alpha: float, *, intercept: bool = False) -> Minimum:
    """The minimiser of a convex objective whose loss declares its kinks.

    >>> from pnulearn import losses
    >>> two = Objective(losses.Hinge(), np.array([0.5, 0.5]), np.array([1.0, -1.0]), np.zeros(2))
    >>> minimize_hinge(two, np.array([[2.0], [-2.0]]), alpha=0.01).coef
    array([0.5])
    """
    return minimize_pieces(convex_pieces(objective), features, alpha, intercept=intercept)[0]


def minimize_pieces(
    pieces: Pieces, features: NDArray, alpha: float, *, intercept: bool = False, state: NDArray | None = None
) -> tuple[Minimum, NDArray]:
    """The minimiser of pieces(Φw + w₀) + α w'w, and the state of its rows, a warm start for the next problem."""
    if state is not None:
        found = pivot(pieces, features, alpha, state, intercept=intercept, max_iter=WARM_ROUNDS)
        if found is not None:
            return found
    for n_iter, point in enumerate(interior_points(pieces, features, alpha, intercept=intercept)):  # noqa: B007
        if point.gap < PROMISING_GAP:
            guess = point.state(pieces)
            found = pivot(pieces, features, alpha, guess, intercept=intercept, max_iter=POLISH_ROUNDS)
            if found is not None:
                minimum, state = found
                return minimum._replace(n_iter=n_iter + minimum.n_iter), state
        if n_iter >= MAX_STEPS or point.gap < SMALLEST_GAP:
            break
    coef = features.T @ point.gamma / (2 * alpha)
    return Minimum(coef, point.offset, n_iter, point.gap < ACCEPTABLE_GAP), point.state(pieces)
