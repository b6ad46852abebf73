"""A primal active-set method for convex piecewise linear risks with a ridge penalty.

The active set is the rows whose scores are held on a kink. Each step computes the minimiser subject to these
constraints, with the slopes of all other rows fixed, and moves towards it while the objective decreases. A row whose
kink ends the move joins the active set. If the minimiser is reached, the row whose multiplier is farthest out of range
leaves the active set. Active rows are always linearly independent, so repeated rows, or more scores on kinks than
features, cause no problem.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import qr, solve_triangular

from pnulearn._arrays import AnyArray
from pnulearn._solvers.candidates import FeatureMatrix
from pnulearn._solvers.piecewise_linear import BALANCED, IN_RANGE, Pieces, Solution

INDEPENDENT = 1e-8  # relative tolerance for linear independence of the initial active set
MOVING = 1e-10  # relative to |row| |move|: a smaller change of score means that the row depends on active rows
ROUNDING = 1e-13
MAX_STEPS = 10_000


class ActiveSet:
    """The current vector (w, and the intercept if there is one), the active rows `held`, and the `place` of each row.

    A row's place is the number of kinks above its score or, for an active row, the number of its kink.
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
        """Iterate to the minimiser; returns the number of steps and whether it converged."""
        for n_steps in range(1, MAX_STEPS + 1):
            if len(self.held) or not self.intercept or not self._shift():
                target = self._face_minimiser()
                if self._walk(target) and not self._let_go():
                    return n_steps, True
        return n_steps, False

    @property
    def beta(self) -> AnyArray:
        """Multipliers β of all rows."""
        beta = self.pieces.levels[np.arange(len(self.place)), self.place]
        if len(self.held):
            beta[self.held] = 0
            missing = self.penalty * self.vector - beta @ self.rows
            beta[self.held] = solve_triangular(self.triangle, self.basis.T @ missing)
        return beta

    def _factorize(self) -> tuple[AnyArray, AnyArray]:
        return qr(self.rows[self.held].T, mode="economic", check_finite=False)

    def _face_minimiser(self) -> AnyArray:
        """The minimiser with active scores fixed and the slopes of all other rows constant.

        It minimises α w'w − pull·v over the vectors p + Pz, where P projects on the null space of the active rows.
        The intercept is a column of ones, so it is determined as soon as one row is active.
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
        """Projection on the null space of the active rows, applied twice to remove rounding errors."""
        for _ in range(2 if len(self.held) else 0):
            vector = vector - self.basis @ (self.basis.T @ vector)
        return vector

    def _walk(self, target: AnyArray) -> bool:
        """Move towards the minimiser of the face; returns whether it was reached."""
        move = self._project(target - self.vector)
        fall = float(self.penalty @ move**2)
        if np.linalg.norm(move) <= ROUNDING * np.linalg.norm(target) or self._go(move, -fall, fall):
            self.vector = target
            return True
        return False

    def _shift(self) -> bool:
        """With an empty active set, move the intercept until a row becomes active; False if it is optimal already."""
        total = float(self.pieces.levels[np.arange(len(self.place)), self.place].sum())
        if abs(total) <= BALANCED * self.pieces.jumps.sum():
            return False
        scores = self.rows @ self.vector
        move = np.zeros_like(self.vector)
        move[-1] = np.copysign(np.abs(self.pieces.kinks - scores[:, None]).max() + 1, total)
        self._go(move, -abs(total * move[-1]), 0.0)
        return True

    def _go(self, move: AnyArray, slope: float, bend: float) -> bool:
        """Exact line search along `move`, given the objective's initial slope and its second derivative `bend`.

        Each kink that a score crosses adds its jump to the slope. Returns True if none is crossed.
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
        """Remove the row whose multiplier is farthest out of range from the active set; False if all are in range."""
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
    """The minimiser, from a starting vector and a guess of the rows' states."""
    end = ActiveSet(pieces, matrix, alpha, vector, state)
    n_iter, converged = end.settle()
    states = 2 * end.place
    states[end.held] += 1
    coef, offset = (end.vector[:-1], float(end.vector[-1])) if matrix.intercept else (end.vector, 0.0)
    return Solution(coef, offset, end.beta, states, n_iter, converged)


def _independent(rows: AnyArray, some: AnyArray) -> AnyArray:
    """A maximal linearly independent subset of `some` rows, by pivoted QR."""
    if not len(some):
        return some
    triangle, order = qr(rows[some].T, mode="r", pivoting=True, check_finite=False)
    size = np.abs(np.diag(triangle))
    return some[order[: len(size)][size > INDEPENDENT * size[0]]]
