"""Block pivoting: guess which scores rest on a kink, solve for their multipliers, correct the guess, repeat.

Nearly always exact after a few small linear systems when the guess is good, as it is next door on a grid of
penalties. Not guaranteed to end, so the caller checks the answer and has the interior point method to fall back on.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from pnulearn.objectives import Minimum
from pnulearn.solvers.pieces import Pieces

JITTER = 1e-13
REFINE = 2
SLACK = 1e-9  # how far a score may be from its kink, and a multiplier from its range as a share of it


def pivot(
    pieces: Pieces, features: NDArray, alpha: float, state: NDArray, *, intercept: bool, max_iter: int
) -> tuple[Minimum, NDArray] | None:
    """The exact minimiser and its state, or None if `max_iter` corrections did not settle.

    `state` says for each row where its score is: 2j for "below j kinks", 2j + 1 for "on kink j".
    """
    rows = np.arange(len(state))
    for n_iter in range(1, max_iter + 1):
        resting = np.flatnonzero(state % 2)
        beta = pieces.levels[rows, state // 2]
        kink = pieces.kinks[resting, state[resting] // 2]
        solved = _resting_multipliers(features, alpha, beta, resting, kink, intercept)
        if solved is None:
            return None
        coef, offset, beta = solved
        scores = features @ coef + offset
        new = _corrected(pieces, state, resting, scores, beta)
        if np.array_equal(new, state):
            settled = bool(np.all(np.abs(scores[resting] - kink) <= SLACK * (1 + np.abs(kink))))
            return (Minimum(coef, offset, n_iter, True), state) if settled else None
        state = new
    return None


def state_of(pieces: Pieces, scores: NDArray, beta: NDArray) -> NDArray:
    """The nearest guess for an approximate solution: a multiplier well inside a range means a score on a kink."""
    below = (scores[:, None] < pieces.kinks).sum(axis=1)
    state = 2 * below
    for j in range(pieces.kinks.shape[1]):
        room = 1e-6 * pieces.jumps[:, j]
        inside = (beta > pieces.levels[:, j] + room) & (beta < pieces.levels[:, j + 1] - room)
        state[inside & (pieces.jumps[:, j] > 0)] = 2 * j + 1
    return state


def _resting_multipliers(
    features: NDArray, alpha: float, beta: NDArray, resting: NDArray, kink: NDArray, intercept: bool
) -> tuple[NDArray, float, NDArray] | None:
    """Multipliers that put the resting scores on their kinks and, with an intercept, sum to zero."""
    if intercept and not len(resting):
        return None
    beta[resting] = 0
    outer = features.T @ beta / (2 * alpha)
    if not len(resting):
        return outer, 0.0, beta
    inner = features[resting]
    gram = inner @ inner.T / (2 * alpha)
    exact = gram.copy()
    gram.flat[:: len(resting) + 1] += JITTER * gram.trace()
    try:
        factor = cho_factor(gram, lower=True, overwrite_a=True, check_finite=False)
    except LinAlgError:
        return None
    target = kink - inner @ outer
    moved = cho_solve(factor, target, check_finite=False)
    for _ in range(REFINE):
        moved += cho_solve(factor, target - exact @ moved, check_finite=False)
    offset = 0.0
    if intercept:
        unit = cho_solve(factor, np.ones(len(resting)), check_finite=False)
        offset = float((moved.sum() + beta.sum()) / unit.sum())
        moved -= offset * unit
    beta[resting] = moved
    return outer + inner.T @ moved / (2 * alpha), offset, beta


def _corrected(pieces: Pieces, state: NDArray, resting: NDArray, scores: NDArray, beta: NDArray) -> NDArray:
    """Scores that crossed a kink rest on it; multipliers that left their range fall on its end."""
    place = state // 2
    slack = SLACK * (1 + np.abs(pieces.kinks))
    least = (scores[:, None] < pieces.kinks - slack).sum(axis=1)
    most = (scores[:, None] < pieces.kinks + slack).sum(axis=1)
    new = np.where(least > place, 2 * place + 1, np.where(most < place, 2 * place - 1, state))
    j = place[resting]
    low, high = pieces.levels[resting, j], pieces.levels[resting, j + 1]
    room = SLACK * (high - low)
    inside = (beta[resting] >= low - room) & (beta[resting] <= high + room)
    new[resting] = np.where(inside, state[resting], 2 * j + 2 * (beta[resting] > high))
    return new
