"""Quadratic programmes of the squared-hinge SVM: over the non-negative orthant and over the simplex."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, lapack, solve

from pnulearn._arrays import AnyArray

PATIENCE = 3  # whole exchanges allowed without progress before single ones, which must end
NEARBY = 16  # an exchange of less than one in so many entries is solved by the factor at hand
NARROW = 0.4  # columns of a root per entry, below which it is faster than the matrix itself
RESIDUAL, REFINEMENTS = 1e-11, 4


def scratch_for(n: int) -> AnyArray:
    """Memory for programmes of n variables: to fill fresh memory takes longer than to factorise what is in it."""
    return np.empty((2, n * n))


class Root(NamedTuple):
    """Q = columns columns' + diag(diagonal), but for errors that are small against the diagonal."""

    columns: AnyArray
    diagonal: AnyArray


def nonnegative_qp(
    Q: AnyArray, support: AnyArray | None = None, scratch: AnyArray | None = None, root: Root | None = None
) -> AnyArray:
    """arg min ½ b'Qb − 1'b over b ≥ 0, exact up to rounding, for a positive definite Q.

    Guess which entries are positive, solve for them, and exchange every entry that contradicts the guess (block
    principal pivoting); a good `support` to start from, such as that of a similar Q, saves most of the work, and so
    do one `scratch_for` many programmes and a narrow `root`, whose solutions are refined with Q itself.

    >>> nonnegative_qp(np.array([[2.0, 3.0], [3.0, 9.0]]))
    array([0.5, 0. ])
    """
    return _minimize(Q, support, scratch, root)[0]


def _minimize(
    Q: AnyArray, support: AnyArray | None, scratch: AnyArray | None, root: Root | None
) -> tuple[AnyArray, _Face]:
    """The minimiser, and a face from which similar systems can be solved."""
    free = np.ones(len(Q), dtype=bool) if support is None else support.copy()
    scratch = scratch_for(len(Q)) if scratch is None else scratch
    fewest, patience = len(Q) + 1, PATIENCE
    face = _Face(Q, free.copy(), scratch, root)
    while True:
        if face.distance(free) * NEARBY > len(face.rows):
            face = _Face(Q, free.copy(), scratch, root)
        b, slope, exact = _refine(face, free)
        if not exact and face.root is not None:
            face, root = _Face(Q, free.copy(), scratch), None
            b, slope, _ = _refine(face, free)
        wrong = np.flatnonzero(np.where(free, b < 0, slope < -1e-10))
        if len(wrong) == 0:
            return b, face
        if len(wrong) < fewest:
            fewest, patience = len(wrong), PATIENCE
        elif patience:
            patience -= 1
        else:
            wrong = wrong[-1:]  # Murty's rule: one entry at a time, always the last, never cycles
        free[wrong] = ~free[wrong]


class SimplexMinimum(NamedTuple):
    """A minimiser, the minimum, and what solves systems of the entries that are not zero."""

    point: AnyArray
    value: float
    face: _Face

    def solve(self, right: AnyArray) -> AnyArray:
        """Of Q x = right (n, k) with x = 0 where the point is: how it gives way. Valid until the next programme."""
        return self.face.solve(self.point > 0, right)


def simplex_qp(
    Q: AnyArray, support: AnyArray | None = None, scratch: AnyArray | None = None, root: Root | None = None
) -> SimplexMinimum:
    """arg min and min of ½ a'Qa over a ≥ 0, sum(a) = 1.

    The minimiser is that of the non-negative programme divided by its sum, and the minimum is 1 / (2 sum(b)).
    """
    b, face = _minimize(Q, support, scratch, root)
    return SimplexMinimum(b / b.sum(), 1 / (2 * b.sum()), face)


def _refine(face: _Face, free: AnyArray) -> tuple[AnyArray, AnyArray, bool]:
    """The solution on a face, the slope Q b − 1, and whether that vanishes on the face, as far as it can."""
    b = face.solve(free)
    slope = face.slope(b)
    for _ in range(REFINEMENTS if face.root is not None else 0):
        if np.abs(slope[free]).max(initial=0) <= RESIDUAL:
            return b, slope, True
        b -= face.solve(free, slope)
        slope = face.slope(b)
    return b, slope, face.root is None


class _Face:
    """The programme with all but the `free` entries at zero: one Cholesky factor, good for similar sets too.

    With a narrow root it is that of 1 + columns' diagonal⁻¹ columns.
    """

    def __init__(self, Q: AnyArray, free: AnyArray, scratch: AnyArray, root: Root | None = None):
        self.Q, self.free, self.rows = Q, free, np.flatnonzero(free)
        m, n = len(self.rows), len(Q)
        self.border: _Border | None = None
        self.root, self.wide = None, Q
        if root is not None and root.columns.shape[1] < NARROW * m:
            self.root = Root(root.columns[self.rows], root.diagonal[self.rows])
            scaled = self.root.columns / np.sqrt(self.root.diagonal)[:, None]
            block = scaled.T @ scaled
            block.flat[:: len(block) + 1] += 1
        else:
            block = scratch[1, : m * m].reshape(m, m)
            if m == n:
                np.copyto(block, Q)
            else:  # "clip" never clips here; with the default, NumPy would fill fresh memory first.
                self.wide = np.take(Q, self.rows, axis=0, out=scratch[0, : m * n].reshape(m, n), mode="clip")
                np.take(self.wide, self.rows, axis=1, out=block, mode="clip")
        self.factor: AnyArray = block
        if m:
            self.factor, failed = lapack.dpotrf(block.T, lower=1, overwrite_a=1, clean=0)
            if failed:
                raise LinAlgError("The programme is not strictly convex.")
        self.centre = self._solved(np.ones(m))

    def distance(self, free: AnyArray) -> int:
        """How many entries are free in one of the two sets only."""
        return int(np.count_nonzero(free != self.free))

    def slope(self, b: AnyArray) -> AnyArray:
        """Q b − 1 from the rows of Q that are at hand, where most of the others do not count."""
        if len(self.wide) == len(self.Q):
            return self.Q @ b - 1
        added = np.flatnonzero((b != 0) & ~self.free)
        slope = b[self.rows] @ self.wide - 1
        return slope + b[added] @ self.Q[added] if len(added) else slope

    def solve(self, free: AnyArray, right: AnyArray | None = None) -> AnyArray:
        """The solution of Q b = right, or 1, for another set of free entries; `right` may have columns."""
        centre = self.centre if right is None else self._solved(right[self.rows])
        b = np.zeros((len(self.Q), *centre.shape[1:]))
        b[self.rows] = centre
        if not self.distance(free):
            return b
        if self.border is None or (self.border.free != free).any():
            self.border = self._bordered(free)
        _, added, columns, inward, schur = self.border
        wanted = np.zeros((len(schur), *centre.shape[1:]))
        wanted[: len(added)] = 1 if right is None else right[added]
        rest = solve(schur, wanted - columns.T @ centre, check_finite=False)
        b[self.rows] -= inward @ rest
        b[added] = rest[: len(added)]
        b[~free] = 0
        return b

    def _bordered(self, free: AnyArray) -> _Border:
        """Added entries and multipliers that keep removed ones at zero border the system, and a Schur complement of
        their number solves it."""
        added, removed = np.flatnonzero(free & ~self.free), np.flatnonzero(~free[self.rows])
        k = len(added)
        columns = np.zeros((len(self.rows), k + len(removed)))
        columns[:, :k] = self.Q[np.ix_(self.rows, added)]
        columns[removed, np.arange(k, columns.shape[1])] = 1
        inward = self._solved(columns)
        schur = -columns.T @ inward
        schur[:k, :k] += self.Q[np.ix_(added, added)]
        return _Border(free.copy(), added, columns, inward, schur)

    def _solved(self, right: AnyArray) -> AnyArray:
        if not len(right):
            return right
        if self.root is None:
            return lapack.dpotrs(self.factor, right, lower=1)[0]
        columns, diagonal = self.root
        light = (right.T / diagonal).T
        return light - ((columns @ lapack.dpotrs(self.factor, columns.T @ light, lower=1)[0]).T / diagonal).T


class _Border(NamedTuple):
    """What a set of free entries adds to a face: columns, their solutions on the face, and the Schur complement."""

    free: AnyArray
    added: AnyArray
    columns: AnyArray
    inward: AnyArray
    schur: AnyArray
