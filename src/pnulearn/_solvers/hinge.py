"""Hinge and double hinge: exact minimisers of convex piecewise linear risks with a ridge penalty.

The methods are tried in this order. Block pivoting (`pivoting`) guesses which scores lie on a kink, from the solution
of a similar problem if there is one. If it fails, an interior point method, or for many rows Newton's method with
rounded corners (`rounded_hinge`), approaches the solution until pivoting succeeds from there. If pivoting still fails,
because rows are linearly dependent, an active-set method continues from the last interior point.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._solvers.active_set import settle
from pnulearn._solvers.candidates import FeatureMatrix
from pnulearn._solvers.interior import held_coefficients, interior_points
from pnulearn._solvers.objectives import Minimum, Objective
from pnulearn._solvers.piecewise_linear import Pieces, Solution, convex_pieces
from pnulearn._solvers.pivoting import pivot
from pnulearn._solvers.rounded_hinge import sharpen

WARM_ROUNDS = 12  # a round costs a fifth of an interior point step, of which about ten are needed
POLISH_ROUNDS = 4
SETTLED = 0.05  # pivoting is tried if at most this share of states changed since the last interior point
LARGE = 1e8  # operations of an interior point step above which rounded corners are faster
PROMISING_GAP = 1e-2
SMALLEST_GAP = 1e-13
MAX_STEPS = 100


def minimize_hinge(objective: Objective, features: AnyArray, alpha: float, *, intercept: bool = False) -> Minimum:
    """The minimiser of a convex objective whose loss declares its kinks.

    >>> from pnulearn import losses
    >>> two = Objective(losses.Hinge(), np.array([0.5, 0.5]), np.array([1.0, -1.0]), np.zeros(2))
    >>> minimize_hinge(two, np.array([[2.0], [-2.0]]), alpha=0.01).coef
    array([0.5])
    """
    return minimize_pieces(convex_pieces(objective), FeatureMatrix(features, intercept), alpha).minimum


def minimize_pieces(pieces: Pieces, matrix: FeatureMatrix, alpha: float, near: Solution | None = None) -> Solution:
    """The minimiser of pieces(Φw + w₀) + α w'w; `near` is the solution of a similar problem with the same α.

    If an interval of intercepts is optimal, its midpoint is returned.
    """
    found = _minimize(pieces, matrix, alpha, near)
    if not matrix.intercept:
        return found
    return replace(found, intercept=pieces.best_shift(matrix.features @ found.coef, found.intercept))


def _minimize(pieces: Pieces, matrix: FeatureMatrix, alpha: float, near: Solution | None) -> Solution:
    guess = between_kinks(pieces) if near is None else near.state
    found = pivot(pieces, matrix, alpha, guess, WARM_ROUNDS)
    if found is None and not matrix.wide and matrix.features.size * matrix.features.shape[1] > LARGE:
        found = _sharpened(pieces, matrix, alpha, near)
    if found is not None:
        return found
    for n_iter, point in enumerate(interior_points(pieces, matrix, alpha), start=1):
        last, guess = guess, point.state(pieces)
        if point.gap < PROMISING_GAP and np.mean(guess != last) <= SETTLED:
            found = pivot(pieces, matrix, alpha, guess, POLISH_ROUNDS)
            if found is not None:
                return replace(found, n_iter=n_iter)
        if n_iter >= MAX_STEPS or point.gap < SMALLEST_GAP:
            break
    vector = held_coefficients(point, matrix, alpha)
    found = settle(pieces, matrix, alpha, np.append(vector, point.offset) if matrix.intercept else vector, guess)
    return replace(found, n_iter=n_iter)


def between_kinks(pieces: Pieces) -> AnyArray:
    """The states of rows with score 0, the limit for large α."""
    return 2 * (pieces.kinks > 0).sum(axis=1)


def _sharpened(pieces: Pieces, matrix: FeatureMatrix, alpha: float, near: Solution | None) -> Solution | None:
    """Minimise by rounded corners, which is cheap for many rows: only those near a kink enter a linear system."""
    for n_iter, guess in enumerate(sharpen(pieces, matrix, alpha, near), start=1):
        found = pivot(pieces, matrix, alpha, guess, POLISH_ROUNDS)
        if found is not None:
            return replace(found, n_iter=n_iter)
    return None
