"""Piecewise linear objectives by smoothing: Newton's method with rounded corners of decreasing width.

A corner of width h replaces max(0, t) by the parabola (t + h/2)² / 2h for |t| < h/2. Only rows on a parabola have
curvature. Their number falls with the width, so that linear systems are cheap even for many rows. For small widths
these are the rows on a kink, which is a starting guess for `pivoting.pivot`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError
from scipy.linalg.blas import dsyrk

from pnulearn._arrays import AnyArray
from pnulearn._solvers.candidates import FeatureMatrix
from pnulearn._solvers.linear_algebra import factorize, solve_factorized
from pnulearn._solvers.piecewise_linear import Pieces, Solution

WIDEST, WIDE_NEARBY = 4.0, 0.1  # initial width without and with a warm start; kinks are about two apart
SHARPER = 0.2
SHARPEST = 1e-7
MOST_STEPS = 30  # at one width
CLOSE = 1e-2  # tolerance of the gradient, relative to the gradient at zero and to the width
STEPS = 0.5 ** np.arange(30)
LOOSE = 1e-3  # of one row's curvature, added for the intercept to keep the system regular


def sharpen(pieces: Pieces, matrix: FeatureMatrix, alpha: float, near: Solution | None) -> Iterator[AnyArray]:
    """Iterate over guesses of every row's state, for corners of decreasing width."""
    problem = _Rounded(pieces, matrix, alpha)
    w = np.zeros(problem.features.shape[1])
    width = WIDEST
    if near is not None:
        w = np.append(near.coef, near.intercept) if matrix.intercept else near.coef
        width = WIDE_NEARBY
    scores = problem.features @ w
    while width > SHARPEST:
        w, scores, ended = problem.minimize(w, scores, width)
        if not ended:
            return
        yield problem.state(scores, width)
        width *= SHARPER


class _Terms(NamedTuple):
    """The rounded objective without its penalty, and its derivatives by each row's score."""

    value: float
    slope: AnyArray
    bend: AnyArray


class _Rounded:
    """Σ_i slope_i g_i + Σ_ij jumps_ij rounded(kinks_ij − g_i) + α w'w."""

    def __init__(self, pieces: Pieces, matrix: FeatureMatrix, alpha: float):
        self.pieces, self.features, self.alpha = pieces, matrix.augmented, alpha
        self.penalty = np.full(self.features.shape[1], 2 * alpha)
        self.intercept = matrix.intercept
        if matrix.intercept:
            self.penalty[-1] = 0
        flat = np.abs(pieces.slope - pieces.jumps.sum(axis=1) / 2) @ np.abs(self.features)
        self.tolerance = CLOSE * float(flat.max(initial=0))

    def terms(self, scores: AnyArray, width: float) -> _Terms:
        short = self.pieces.kinks - scores[:, None]
        part = np.clip(short / width + 0.5, 0, 1)  # the derivative of a rounded corner
        rounded = np.where(part < 1, width / 2 * part**2, short)
        value = self.pieces.slope @ scores + np.sum(self.pieces.jumps * rounded)
        slope = self.pieces.slope - (self.pieces.jumps * part).sum(axis=1)
        bend = (self.pieces.jumps * ((part > 0) & (part < 1))).sum(axis=1) / width
        return _Terms(float(value), slope, bend)

    def minimize(self, w: AnyArray, scores: AnyArray, width: float) -> tuple[AnyArray, AnyArray, bool]:
        """The minimiser for corners of one width, its scores, and whether it was found."""
        at = self.terms(scores, width)
        for _ in range(MOST_STEPS):
            gradient = at.slope @ self.features + self.penalty * w
            if np.abs(gradient).max() <= self.tolerance * width:
                return w, scores, True
            try:
                step = -solve_factorized(self._factor(at.bend, width), gradient)
            except LinAlgError:
                break
            along, promised = self.features @ step, float(gradient @ step)
            linear, square = (self.penalty * w) @ step, (self.penalty * step) @ step / 2
            for length in STEPS:
                there = self.terms(scores + length * along, width)
                change = there.value - at.value + length * linear + length**2 * square
                if change <= 1e-4 * length * promised:
                    break
            else:
                return w, scores, abs(promised) < 1e-12
            w, scores, at = w + length * step, scores + length * along, there
        return w, scores, False

    def _factor(self, bend: AnyArray, width: float) -> AnyArray:
        rows = np.flatnonzero(bend)
        hessian = dsyrk(1.0, (self.features[rows] * np.sqrt(bend[rows])[:, None]).T, lower=True)
        hessian.flat[:: len(hessian) + 1] += self.penalty
        if self.intercept:
            hessian[-1, -1] += LOOSE * self.pieces.jumps.max() / width
        return factorize(hessian)

    def state(self, scores: AnyArray, width: float) -> AnyArray:
        """The state of each row for `pivoting.pivot`: on the kink whose parabola the score is on, or between kinks."""
        short = self.pieces.kinks - scores[:, None]
        state = 2 * (short > 0).sum(axis=1)
        row, column = np.nonzero((np.abs(short) < width / 2) & (self.pieces.jumps > 0))
        state[row] = 2 * column + 1
        return state
