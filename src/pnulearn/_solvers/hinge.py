"""Hinge and double hinge: exact minimisers of convex piecewise linear risks with a ridge penalty.

From a solution nearby, guessing which scores rest on a kink and correcting the guess is often enough. If not, the
interior point method comes close in a few steps, or, where rows are many, corners that are rounded at first. As soon as
it is known which scores rest, pivoting finishes exactly. Where it fails, because rows depend on each other, an
active-set method goes on from the interior point method's last iterate.
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

WARM_ROUNDS = 12  # a round costs a fifth of an interior step, of which there are about ten
POLISH_ROUNDS = 4
SETTLED = 0.05  # the share of rows whose state may still change from one interior point to the next
LARGE = 1e8  # operations of an interior step, from which on rounded corners are faster
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

    Where several intercepts are equally good, it has the middle one.
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
    """The states of rows whose scores are all zero, which is far from all kinks, as they are if α is large."""
    return 2 * (pieces.kinks > 0).sum(axis=1)


def _sharpened(pieces: Pieces, matrix: FeatureMatrix, alpha: float, near: Solution | None) -> Solution | None:
    """By rounded corners: cheap where rows are many, since only those at corners enter a system."""
    for n_iter, guess in enumerate(sharpen(pieces, matrix, alpha, near), start=1):
        found = pivot(pieces, matrix, alpha, guess, POLISH_ROUNDS)
        if found is not None:
            return replace(found, n_iter=n_iter)
    return None
