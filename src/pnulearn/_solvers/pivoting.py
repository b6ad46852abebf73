"""Block pivoting: guess which scores lie on a kink, solve for their multipliers, correct the guess, repeat.

It is exact after a few small linear systems if the guess is good. Termination is not guaranteed, so it stops early
and leaves the problem to the interior point method.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError

from pnulearn._arrays import AnyArray
from pnulearn._solvers.candidates import FeatureMatrix
from pnulearn._solvers.linear_algebra import factorize, solve_factorized
from pnulearn._solvers.piecewise_linear import IN_RANGE, SLACK, Pieces, Solution

JITTER = 1e-13
REFINEMENTS = 2
MOST_PER_FEATURE = 2  # scores on kinks per feature; more than one per feature is possible only for dependent rows
PROMISING = 0.3  # give up if more than this share of the states is wrong


def pivot(pieces: Pieces, matrix: FeatureMatrix, alpha: float, state: AnyArray, max_iter: int) -> Solution | None:
    """The exact minimiser, or None if `max_iter` corrections of `state` did not find it."""
    most_wrong = int(PROMISING * len(state)) + 2
    for n_iter in range(1, max_iter + 1):
        guess = _try(pieces, matrix, alpha, state)
        if guess is None:
            return None
        n_wrong = np.count_nonzero(guess.corrected != state)
        if not n_wrong:
            return guess.solution(pieces, matrix, alpha, n_iter)
        if n_wrong > most_wrong:  # an increase of n_wrong between two rounds is no reason to stop
            return None
        state = guess.corrected
    return None


class _Guess(NamedTuple):
    """States of all rows, the resulting multipliers and scores, and the states corrected by these."""

    state: AnyArray
    beta: AnyArray
    scores: AnyArray
    offset: float
    corrected: AnyArray

    def solution(self, pieces: Pieces, matrix: FeatureMatrix, alpha: float, n_iter: int) -> Solution | None:
        """The solution if all states are correct; None if a score is not on its kink within the tolerance."""
        resting = np.flatnonzero(self.state % 2)
        kink = pieces.kinks[resting, self.state[resting] // 2]
        if np.any(np.abs(self.scores[resting] - kink) > SLACK * (1 + np.abs(kink))):
            return None
        coef = self.beta @ matrix.features / (2 * alpha)
        return Solution(coef, self.offset, self.beta, self.state, n_iter, True)


def _try(pieces: Pieces, matrix: FeatureMatrix, alpha: float, state: AnyArray) -> _Guess | None:
    resting = np.flatnonzero(state % 2)
    if len(resting) > MOST_PER_FEATURE * (matrix.features.shape[1] + 1):
        return None
    beta = pieces.levels[np.arange(len(state)), state // 2]
    offset = _rest(matrix, alpha, beta, resting, pieces.kinks[resting, state[resting] // 2])
    if offset is None:
        return None
    scores = matrix.spread(beta) / (2 * alpha) + offset
    return _Guess(state, beta, scores, offset, _correct(pieces, state, resting, scores, beta))


def _rest(matrix: FeatureMatrix, alpha: float, beta: AnyArray, resting: AnyArray, kink: AnyArray) -> float | None:
    """Set in place the multipliers that put the `resting` scores on their kinks; returns the intercept.

    With an intercept the multipliers must sum to zero. None if the system cannot be solved.
    """
    beta[resting] = 0
    if not len(resting):
        return None if matrix.intercept else 0.0
    gram = matrix.products(resting) / (2 * alpha)
    jittered = gram.copy()
    jittered.flat[:: len(gram) + 1] += JITTER * gram.trace()
    try:
        factor = factorize(jittered)
    except LinAlgError:
        return None
    target = kink - matrix.spread(beta, resting) / (2 * alpha)
    right = np.column_stack([target, np.ones_like(target)]) if matrix.intercept else target[:, None]
    moved = solve_factorized(factor, right)
    for _ in range(REFINEMENTS):  # iterative refinement removes the effect of the jitter
        moved += solve_factorized(factor, right - gram @ moved)
    offset = 0.0
    if matrix.intercept:
        offset = float((moved[:, 0].sum() + beta.sum()) / moved[:, 1].sum())
        moved[:, 0] -= offset * moved[:, 1]
    beta[resting] = moved[:, 0]
    return offset


def _correct(pieces: Pieces, state: AnyArray, resting: AnyArray, scores: AnyArray, beta: AnyArray) -> AnyArray:
    """Corrected states: a score that crossed a kink is put on it; a multiplier out of range leaves the kink."""
    place = state // 2
    low_edge, high_edge = pieces.edges
    least, most = (scores < low_edge).sum(axis=0), (scores < high_edge).sum(axis=0)
    new = np.where(least > place, 2 * place + 1, np.where(most < place, 2 * place - 1, state))
    j = place[resting]
    low, high = pieces.levels[resting, j], pieces.levels[resting, j + 1]
    room = IN_RANGE * (high - low)
    inside = (beta[resting] >= low - room) & (beta[resting] <= high + room)
    new[resting] = np.where(inside, state[resting], 2 * j + 2 * (beta[resting] > high))
    return new
