"""Quadratic programmes of the squared-hinge SVM: over the non-negative orthant and over the simplex."""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from pnulearn._arrays import AnyArray

PATIENCE = 3  # whole exchanges allowed without progress before single ones, which must end


def nonnegative_qp(Q: AnyArray, support: AnyArray | None = None) -> AnyArray:
    """arg min ½ b'Qb − 1'b over b ≥ 0, exact up to rounding, for a positive definite Q.

    Guess which entries are positive, solve for them, and exchange every entry that contradicts the guess (block
    principal pivoting); a good `support` to start from, such as that of a similar Q, saves most of the work.

    >>> nonnegative_qp(np.array([[2.0, 3.0], [3.0, 9.0]]))
    array([0.5, 0. ])
    """
    free = np.ones(len(Q), dtype=bool) if support is None else support.copy()
    fewest, patience = len(Q) + 1, PATIENCE
    while True:
        b, wrong = _solved_on(Q, free)
        if len(wrong) == 0:
            return b
        if len(wrong) < fewest:
            fewest, patience = len(wrong), PATIENCE
        elif patience:
            patience -= 1
        else:
            wrong = wrong[-1:]  # Murty's rule: one entry at a time, always the last, never cycles
        free[wrong] = ~free[wrong]


def simplex_qp(Q: AnyArray, support: AnyArray | None = None) -> tuple[AnyArray, float]:
    """arg min and min of ½ a'Qa over a ≥ 0, sum(a) = 1.

    The minimiser is that of the non-negative programme divided by its sum, and the minimum is 1 / (2 sum(b)).
    """
    b = nonnegative_qp(Q, support)
    return b / b.sum(), 1 / (2 * b.sum())


def _solved_on(Q: AnyArray, free: AnyArray) -> tuple[AnyArray, AnyArray]:
    """The solution with the other entries at zero, and the entries whose sign of b or of the slope is wrong."""
    rows = np.flatnonzero(free)
    b = np.zeros(len(Q))
    if len(rows):
        block = Q if free.all() else Q[np.ix_(rows, rows)]
        b[rows] = cho_solve(cho_factor(block, check_finite=False), np.ones(len(rows)), check_finite=False)
    slope = Q[:, rows] @ b[rows] - 1
    return b, np.flatnonzero(np.where(free, b < 0, slope < -1e-10))
