"""Corners rounded off: Newton's method with ever smaller roundings, until it is plain which scores rest on a kink.

A corner of jump a at t becomes a parabola from t − width to t + width. Only rows on a parabola bend the objective, and
they are soon few, so that all Newton systems but the first are small. That beats the interior point method, whose
systems never shrink, where there are about as many features as rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError

from pnulearn._solvers.cholesky import factorize, solve_factorized
from pnulearn._solvers.feature_matrix import FeatureMatrix
from pnulearn._solvers.pieces import Pieces

SMALLEST_FIRST_WIDTH = 4.0  # kinks are about two apart, so that at first most rows lie on a parabola
MAX_STEPS, MAX_SHORT_STEPS = 40, 5
LONG_STEP, SHORT_STEP = 0.25, 0.125
AFTER_LONG_STEP, AFTER_SHORT_STEP = 0.4, 0.8  # what becomes of the width
CROWDED, NARROW = 0.15, 0.03  # with a larger share of rows on wider parabolas, no guess is worth a try
SLOPE_LEFT = 0.1  # a search along a line ends when this share of the first slope is left


def rounded_states(pieces: Pieces, matrix: FeatureMatrix, alpha: float) -> Iterator[tuple[int, NDArray]]:
    """Steps taken and a guess of the rows' states, as `pivoting.pivot` reads them; ends when nothing moves any more."""
    at = _start(pieces, matrix, alpha)
    n_short = 0
    for n_iter in range(1, MAX_STEPS + 1):
        step = at.newton_step()
        if step is None:
            return
        length = _line_minimum(at.slope_along(*step))
        n_short = n_short + 1 if length < SHORT_STEP else 0
        if n_short > MAX_SHORT_STEPS:
            return
        at = at.move(*step, length)
        state, crowd = at.state()
        if at.width < (1 if crowd < CROWDED else NARROW):
            yield n_iter, state
        at = replace(at, width=at.width * (AFTER_LONG_STEP if length >= LONG_STEP else AFTER_SHORT_STEP))


def _start(pieces: Pieces, matrix: FeatureMatrix, alpha: float) -> _Rounded:
    """Zero, and a width that grows with how far a weak penalty lets scores roam from there.

    A similar problem's solution is no better start: other rows lie on its kinks, and small widths lose them slowly.
    """
    n, b = matrix.features.shape
    unheld = pieces.jumps.sum(axis=1) / 2 - pieces.slope
    width = max(SMALLEST_FIRST_WIDTH, matrix.reach(unheld, alpha))
    return _Rounded(pieces, matrix, alpha, width, np.zeros(b), 0.0, np.zeros(n))


@dataclass(frozen=True)
class _Rounded:
    """The problem with corners rounded to some width, at one choice of coefficients and intercept."""

    pieces: Pieces
    matrix: FeatureMatrix
    alpha: float
    width: float
    coef: NDArray
    offset: float
    scores: NDArray

    def passed(self, scores: NDArray) -> NDArray:
        """For every kink, how much of its jump is in force: 0 above its parabola, 1 below."""
        return np.clip((self.pieces.kinks + self.width - scores[:, None]) / (2 * self.width), 0, 1)

    def beta(self, passed: NDArray) -> NDArray:
        """Minus the slope of every row's term."""
        return np.einsum("ij,ij->i", self.pieces.jumps, passed) - self.pieces.slope

    def newton_step(self) -> tuple[NDArray, float] | None:
        """Changes of coefficients and intercept.

        With bending rows R and their curvatures c, the unknown q = c (change of their scores) obeys
        (1/c + K_RR / 2α) q = change of intercept − Φ_R gradient / 2α, and w changes by −(gradient + Φ_R′q) / 2α.
        """
        matrix, alpha, passed = self.matrix, self.alpha, self.passed(self.scores)
        bent = np.einsum("ij,ij->i", self.pieces.jumps, (passed > 0) & (passed < 1))
        bending = np.flatnonzero(bent)
        beta = self.beta(passed)
        gradient = 2 * alpha * self.coef - beta @ matrix.features
        if not len(bending):
            return None if matrix.intercept else (-gradient / (2 * alpha), 0.0)
        inner = matrix.features[bending]
        system = matrix.gram[np.ix_(bending, bending)]
        system /= 2 * alpha
        system.flat[:: len(bending) + 1] += 2 * self.width / bent[bending]
        try:
            factor = factorize(system)
        except LinAlgError:
            return None
        q, shift = -solve_factorized(factor, inner @ gradient / (2 * alpha)), 0.0
        if matrix.intercept:
            unit = solve_factorized(factor, np.ones(len(bending)))
            shift = float((beta.sum() - q.sum()) / unit.sum())
            q += shift * unit
        return -(gradient + q @ inner) / (2 * alpha), shift

    def slope_along(self, change: NDArray, shift: float) -> Callable[[float], float]:
        """The slope of the objective after a share t of a step."""
        along = self.matrix.scores(change, shift)
        linear, square = 2 * self.alpha * float(self.coef @ change), 2 * self.alpha * float(change @ change)
        return lambda t: linear + t * square - float(self.beta(self.passed(self.scores + t * along)) @ along)

    def move(self, change: NDArray, shift: float, length: float) -> _Rounded:
        coef, offset = self.coef + length * change, self.offset + length * shift
        return replace(self, coef=coef, offset=offset, scores=self.matrix.scores(coef, offset))

    def state(self) -> tuple[NDArray, float]:
        """States of the rows, those on a parabola taken to rest on its kink, and the share of these."""
        resting = (np.abs(self.scores[:, None] - self.pieces.kinks) < self.width) & (self.pieces.jumps > 0)
        state = 2 * (self.scores[:, None] < self.pieces.kinks).sum(axis=1)
        row, column = np.nonzero(resting)
        state[row] = 2 * column + 1
        return state, len(row) / len(state)


def _line_minimum(slope: Callable[[float], float]) -> float:
    """Where a rising slope crosses zero in (0, 1], by false position; 1 if it does not."""
    low, high, slope_low, slope_high = 0.0, 1.0, slope(0.0), slope(1.0)
    enough, length, last = SLOPE_LEFT * abs(slope_low), 1.0, 0
    if slope_high <= enough:
        return 1.0
    for _ in range(12):
        length = (low * slope_high - high * slope_low) / (slope_high - slope_low)
        here = slope(length)
        if abs(here) <= enough:
            break
        # the end that stays twice in a row counts half, else false position may creep
        if here > 0:
            high, slope_high, slope_low = length, here, slope_low / (2 if last > 0 else 1)
        else:
            low, slope_low, slope_high = length, here, slope_high / (2 if last < 0 else 1)
        last = 1 if here > 0 else -1
    return length
