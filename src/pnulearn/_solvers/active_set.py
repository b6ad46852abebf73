"""The exact end of a piecewise linear problem: an active-set method, which goes down from wherever it starts.

It holds some scores on their kinks, finds the minimiser among all models that leave them there while no other score
meets a kink, and walks towards it for as long as the objective falls. A score that ends the walk is held from then on;
where the walk reaches its end, a held score whose multiplier is out of range is let go. Held rows never depend on each
other, so repeated rows, and more scores on kinks than there are features, are no obstacle.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import qr, solve_triangular

from pnulearn._arrays import AnyArray
from pnulearn._solvers.candidates import FeatureMatrix
from pnulearn._solvers.piecewise_linear import BALANCED, IN_RANGE, Pieces, Solution

INDEPENDENT = 1e-8  # of the longest row: what rows that are held at first have to differ by
MOVING = 1e-10  # of a row's length times that of a move: below, the row depends on those that are held
ROUNDING = 1e-13
MAX_STEPS = 10_000


class ActiveSet:
    """A vector (w and the intercept, if there is one), the rows whose scores it holds, and where the others are.

    A row's place is the number of kinks that its score lies below, or, if it is held, the number of its kink.
    """

    def __init__(self, pieces: Pieces, matrix: FeatureMatrix, alpha: float, vector: AnyArray, state: AnyArray) -> None:
        self.pieces, self.rows, self.intercept = pieces, matrix.augmented, matrix.intercept
        self.penalty = np.full(self.rows.shape[1], 2 * alpha)
        if self.intercept:
            self.penalty[-1] = 0
        self.lengths = np.linalg.norm(self.rows, axis=1)
        self.held = _independent(self.rows, np.flatnonzero(state % 2))
        self.basis, self.triangle = self._factorize()
        self.vector = vector
        if len(self.held):
            off = pieces.kinks[self.held, state[self.held] // 2] - self.rows[self.held] @ vector
            self.vector = vector + self.basis @ solve_triangular(self.triangle, off, trans=1)
        self.place = ((self.rows @ self.vector)[:, None] < pieces.kinks).sum(axis=1)
        self.place[self.held] = state[self.held] // 2

    def settle(self) -> tuple[int, bool]:
        """Go to the minimiser: the number of steps, and whether they led there."""
        for n_steps in range(1, MAX_STEPS + 1):
            if len(self.held) or not self.intercept or not self._shift():
                target = self._face_minimiser()
                if self._walk(target) and not self._let_go():
                    return n_steps, True
        return n_steps, False

    @property
    def beta(self) -> AnyArray:
        """Multipliers of all rows."""
        beta = self.pieces.levels[np.arange(len(self.place)), self.place]
        if len(self.held):
            beta[self.held] = 0
            missing = self.penalty * self.vector - beta @ self.rows
            beta[self.held] = solve_triangular(self.triangle, self.basis.T @ missing)
        return beta

    def _factorize(self) -> tuple[AnyArray, AnyArray]:
        return qr(self.rows[self.held].T, mode="economic", check_finite=False)

    def _face_minimiser(self) -> AnyArray:
        """The minimiser where held scores stay and all others keep their slopes.

        Of α w'w − pull·v on the vectors p + Pz, with P the projection that moves no held score: every row has a one
        for the intercept, so that a held row settles that as well.
        """
        beta = self.pieces.levels[np.arange(len(self.place)), self.place]
        beta[self.held] = 0
        pull = beta @ self.rows
        if not len(self.held):
            return np.divide(pull, self.penalty, out=self.vector.copy(), where=self.penalty > 0)
        kinks = self.pieces.kinks[self.held, self.place[self.held]]
        particular = self.basis @ solve_triangular(self.triangle, kinks, trans=1)
        step = self._project(pull - self.penalty * particular)
        if self.intercept:
            unit = -self.basis @ self.basis[-1]
            unit[-1] += 1
            step += unit * (step[-1] / (self.basis[-1] @ self.basis[-1]))
        return particular + step / self.penalty[0]

    def _project(self, vector: AnyArray) -> AnyArray:
        """What moves no held score; twice, since once leaves rounding behind."""
        for _ in range(2 if len(self.held) else 0):
            vector = vector - self.basis @ (self.basis.T @ vector)
        return vector

    def _walk(self, target: AnyArray) -> bool:
        """Walk towards the minimiser of the face; whether it was reached."""
        move = self._project(target - self.vector)
        fall = float(self.penalty @ move**2)
        if np.linalg.norm(move) <= ROUNDING * np.linalg.norm(target) or self._go(move, -fall, fall):
            self.vector = target
            return True
        return False

    def _shift(self) -> bool:
        """Where nothing is held, move the intercept until something is; False where it may stay."""
        total = float(self.pieces.levels[np.arange(len(self.place)), self.place].sum())
        if abs(total) <= BALANCED * self.pieces.jumps.sum():
            return False
        scores = self.rows @ self.vector
        move = np.zeros_like(self.vector)
        move[-1] = np.copysign(np.abs(self.pieces.kinks - scores[:, None]).max() + 1, total)
        self._go(move, -abs(total * move[-1]), 0.0)
        return True

    def _go(self, move: AnyArray, slope: float, bend: float) -> bool:
        """Move until the objective, with this slope and second derivative at first, falls no more.

        Scores that cross kinks on the way add their jumps to the slope. True if none is crossed.
        """
        along = self.rows @ move
        moving = np.abs(along) > MOVING * self.lengths * np.linalg.norm(move)
        moving[self.held] = False
        column = np.arange(self.pieces.kinks.shape[1])
        ahead = np.where(along[:, None] < 0, self.place[:, None] <= column, self.place[:, None] > column)
        row, kink = np.nonzero(ahead & moving[:, None] & (self.pieces.jumps > 0))
        way = self.pieces.kinks[row, kink] - self.rows[row] @ self.vector
        when = np.maximum(way / along[row], 0)
        order = np.lexsort([row, when])
        order = order[when[order] <= 1]
        row, kink, when = row[order], kink[order], when[order]
        after = slope + bend * when + np.cumsum(self.pieces.jumps[row, kink] * np.abs(along[row]))
        stop = int(np.argmax(after >= 0)) if (after >= 0).any() else len(after)
        crossed = after[stop - 1] - bend * when[stop - 1] if stop else slope
        between = -crossed / bend if bend > 0 else np.inf
        self.place[row[:stop]] = kink[:stop] + (along[row[:stop]] < 0)
        if stop < len(after) and when[stop] <= between:
            self.vector = self.vector + when[stop] * move
            self.held, self.place[row[stop]] = np.append(self.held, row[stop]), kink[stop]
            self.basis, self.triangle = self._factorize()
        else:
            self.vector = self.vector + min(between, 1.0) * move
        return not len(after)

    def _let_go(self) -> bool:
        """Let the held score go whose multiplier is farthest out of range; False if all are in range."""
        if not len(self.held):
            return False
        beta, place = self.beta[self.held], self.place[self.held]
        low, high = self.pieces.levels[self.held, place], self.pieces.levels[self.held, place + 1]
        beyond = np.maximum(low - beta, beta - high) / (high - low)
        worst = int(beyond.argmax())
        if beyond[worst] <= IN_RANGE:
            return False
        self.place[self.held[worst]] += beta[worst] > high[worst]
        self.held = np.delete(self.held, worst)
        self.basis, self.triangle = self._factorize()
        return True


def settle(pieces: Pieces, matrix: FeatureMatrix, alpha: float, vector: AnyArray, state: AnyArray) -> Solution:
    """The minimiser, from a vector near to it and a guess of which scores rest."""
    end = ActiveSet(pieces, matrix, alpha, vector, state)
    n_iter, converged = end.settle()
    states = 2 * end.place
    states[end.held] += 1
    coef, offset = (end.vector[:-1], float(end.vector[-1])) if matrix.intercept else (end.vector, 0.0)
    return Solution(coef, offset, end.beta, states, n_iter, converged)


def _independent(rows: AnyArray, some: AnyArray) -> AnyArray:
    """As many of some rows as do not depend on each other."""
    if not len(some):
        return some
    triangle, order = qr(rows[some].T, mode="r", pivoting=True, check_finite=False)
    size = np.abs(np.diag(triangle))
    return some[order[: len(size)][size > INDEPENDENT * size[0]]]
