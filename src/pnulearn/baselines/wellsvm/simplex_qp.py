"""Quadratic programmes of the squared-hinge SVM: over the non-negative orthant and over the simplex."""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError, lapack, solve

from pnulearn._arrays import AnyArray

PATIENCE = 3  # whole exchanges allowed without progress before single ones, which must end
NEARBY = 16  # an exchange of less than one in so many entries is solved by the factor at hand


def scratch_for(n: int) -> AnyArray:
    """Memory for programmes of n variables: to fill fresh memory takes longer than to factorise what is in it."""
    return np.empty((2, n * n))


def nonnegative_qp(Q: AnyArray, support: AnyArray | None = None, scratch: AnyArray | None = None) -> AnyArray:
    """arg min ½ b'Qb − 1'b over b ≥ 0, exact up to rounding, for a positive definite Q.

    Guess which entries are positive, solve for them, and exchange every entry that contradicts the guess (block
    principal pivoting); a good `support` to start from, such as that of a similar Q, saves most of the work, and so
    does one `scratch_for` many programmes.

    >>> nonnegative_qp(np.array([[2.0, 3.0], [3.0, 9.0]]))
    array([0.5, 0. ])
    """
    free = np.ones(len(Q), dtype=bool) if support is None else support.copy()
    scratch = scratch_for(len(Q)) if scratch is None else scratch
    fewest, patience = len(Q) + 1, PATIENCE
    face = _Face(Q, free.copy(), scratch)
    while True:
        if face.distance(free) * NEARBY > len(face.rows):
            face = _Face(Q, free.copy(), scratch)
        b = face.solve(free)
        slope = Q @ b - 1
        wrong = np.flatnonzero(np.where(free, b < 0, slope < -1e-10))
        if len(wrong) == 0:
            return b
        if len(wrong) < fewest:
            fewest, patience = len(wrong), PATIENCE
        elif patience:
            patience -= 1
        else:
            wrong = wrong[-1:]  # Murty's rule: one entry at a time, always the last, never cycles
        free[wrong] = ~free[wrong]


def simplex_qp(Q: AnyArray, support: AnyArray | None = None, scratch: AnyArray | None = None) -> tuple[AnyArray, float]:
    """arg min and min of ½ a'Qa over a ≥ 0, sum(a) = 1.

    The minimiser is that of the non-negative programme divided by its sum, and the minimum is 1 / (2 sum(b)).
    """
    b = nonnegative_qp(Q, support, scratch)
    return b / b.sum(), 1 / (2 * b.sum())


class _Face:
    """The programme with all but the `free` entries at zero: one Cholesky factor, good for similar sets too."""

    def __init__(self, Q: AnyArray, free: AnyArray, scratch: AnyArray):
        self.Q, self.free, self.rows = Q, free, np.flatnonzero(free)
        m, n = len(self.rows), len(Q)
        block = scratch[1, : m * m].reshape(m, m)
        if m == n:
            np.copyto(block, Q)
        else:  # "clip" never clips here; with the default, NumPy would fill fresh memory first.
            wide = np.take(Q, self.rows, axis=0, out=scratch[0, : m * n].reshape(m, n), mode="clip")
            np.take(wide, self.rows, axis=1, out=block, mode="clip")
        self.factor: AnyArray = block
        if m:
            self.factor, failed = lapack.dpotrf(block.T, lower=1, overwrite_a=1, clean=0)
            if failed:
                raise LinAlgError("The programme is not strictly convex.")
        self.centre = self._solved(np.ones((m, 1)))[:, 0]

    def distance(self, free: AnyArray) -> int:
        """How many entries are free in one of the two sets only."""
        return int(np.count_nonzero(free != self.free))

    def solve(self, free: AnyArray) -> AnyArray:
        """The solution for another set: added entries and multipliers that keep removed ones at zero border the
        system, and a Schur complement of their number solves it."""
        b = np.zeros(len(self.Q))
        b[self.rows] = self.centre
        added, removed = np.flatnonzero(free & ~self.free), np.flatnonzero(~free[self.rows])
        k, m = len(added), len(self.rows)
        if k + len(removed) == 0:
            return b
        border = np.zeros((m, k + len(removed)))
        border[:, :k] = self.Q[np.ix_(self.rows, added)]
        border[removed, np.arange(k, border.shape[1])] = 1
        inward = self._solved(border)
        schur = -border.T @ inward
        schur[:k, :k] += self.Q[np.ix_(added, added)]
        rest = solve(schur, (np.arange(border.shape[1]) < k) - border.T @ self.centre, check_finite=False)
        b[self.rows] -= inward @ rest
        b[added] = rest[:k]
        b[~free] = 0
        return b

    def _solved(self, right: AnyArray) -> AnyArray:
        return lapack.dpotrs(self.factor, right, lower=1)[0] if len(right) else right
