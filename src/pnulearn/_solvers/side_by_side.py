"""Piecewise linear problems that are too different to start from one another, solved side by side.

Interior points of all of them, in single precision and as few coordinates as their penalties can tell apart, lead to
guesses of the rows' states; pivoting makes these exact, each in all coordinates. What it cannot settle is solved on its
own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._solvers.blurred import AllRows, BlurredRows, LeadingCoordinates
from pnulearn._solvers.cholesky import narrow_root
from pnulearn._solvers.feature_matrix import FeatureMatrix
from pnulearn._solvers.hinge import between_kinks, minimize_pieces
from pnulearn._solvers.interior_batch import InteriorBatch, Member
from pnulearn._solvers.objectives import Objective
from pnulearn._solvers.pieces import Pieces, Solution, convex_pieces
from pnulearn._solvers.pivoting import PROMISING, pivot

STRANGERS = 0.25  # tilts so far apart: the state of a row in one problem says little of another
MOST_ROWS = 2000  # whose inner products are kept
BLUR = 1.0  # of alpha: coordinates that move no inner product by more can wait until a guess is made exact
TOUCHING = 10  # inner products of a row with all others, over its own: below that rows are almost on their own
ALONE_ROUNDS, COLD_ROUNDS, GUESS_ROUNDS = 16, 2, 12  # of pivoting
FEW = 0.1  # the share of rows from which on a guess is corrected row by row where that has to be
SETTLED = 0.01  # the share of rows whose state may still change from one interior point to the next
PROMISING_GUESS = 0.05  # the share of rows that may then be wrong
PROMISING_GAP, SMALLEST_GAP = 3e-2, 1e-9
GROWTH = 2  # of a promising gap: more is rounding
MAX_STEPS = 30


def suits_side_by_side(tilts: AnyArray, n_rows: int, intercept: bool) -> bool:
    """Whether mixes with these tilts are better solved together than one after the other."""
    gaps = np.diff(np.sort(tilts))
    return len(gaps) > 0 and bool(gaps.min() > STRANGERS) and n_rows <= MOST_ROWS and not intercept


@dataclass(frozen=True)
class _Problem:
    """Pieces of all rows, and of those that it uses, with their features."""

    pieces: Pieces
    used: AnyArray
    own_pieces: Pieces
    own_matrix: FeatureMatrix
    alpha: float

    def pivot(self, state: AnyArray, rounds: int, promising: float) -> Solution | None:
        return pivot(self.own_pieces, self.own_matrix, self.alpha, state, rounds, promising, FEW)


Numbered = dict[int, _Problem]


def minimize_side_by_side(objectives: Sequence[Objective], features: AnyArray, alphas: AnyArray) -> list[Solution]:
    """The minimisers for every objective and alpha, in this order; each has the rows that it uses alone."""
    rows = np.flatnonzero(np.any([terms.used for terms in objectives], axis=0))
    matrix = FeatureMatrix(features[rows])
    problems = _number([terms.take(rows) for terms in objectives], matrix, alphas)
    found: dict[int, Solution] = {}
    for own_matrix in {id(one.own_matrix): one.own_matrix for one in problems.values()}.values():
        same = {number: one for number, one in problems.items() if one.own_matrix is own_matrix}
        found.update(_without_guess(same, own_matrix))
    found.update(_guided({number: one for number, one in problems.items() if number not in found}, matrix))
    return [
        found[number] if number in found else minimize_pieces(one.own_pieces, one.own_matrix, one.alpha)
        for number, one in problems.items()
    ]


def _number(objectives: Sequence[Objective], matrix: FeatureMatrix, alphas: AnyArray) -> Numbered:
    """Every objective with every alpha. PN leaves U out, PU leaves N out: they have features of their own."""
    matrices = {np.ones(len(matrix.features), dtype=bool).tobytes(): matrix}
    problems = []
    for terms in objectives:
        used, rows = terms.used, terms.used.tobytes()
        if rows not in matrices:
            matrices[rows] = FeatureMatrix(matrix.features[used])
        pieces, own_pieces = convex_pieces(terms), convex_pieces(terms.take(used))
        problems += [_Problem(pieces, used, own_pieces, matrices[rows], float(alpha)) for alpha in alphas]
    return dict(enumerate(problems))


def _without_guess(problems: Numbered, matrix: FeatureMatrix) -> Iterator[tuple[int, Solution]]:
    """What is settled from scores of zero: the large alphas, and most of it where rows are almost on their own."""
    ones = list(problems.values())
    states = np.stack([between_kinks(one.own_pieces) for one in ones])
    rows, scale = np.arange(states.shape[1]), np.array([[2 * one.alpha] for one in ones])
    beta = np.stack([one.own_pieces.levels[rows, state // 2] for one, state in zip(ones, states, strict=True)])
    scores, coef = beta @ matrix.gram / scale, beta @ matrix.features / scale
    alone = np.abs(matrix.gram).sum() < TOUCHING * matrix.gram.trace()
    rounds, promising = (ALONE_ROUNDS, 1.0) if alone else (COLD_ROUNDS, PROMISING)
    for place, (number, one) in enumerate(problems.items()):
        moved = 2 * (scores[place] < one.own_pieces.kinks.T).sum(axis=0) != states[place]
        solution = None
        if not moved.any():
            solution = Solution(coef[place], 0.0, beta[place], states[place], 1, True, one.own_pieces)
        elif moved.mean() <= promising:
            solution = one.pivot(states[place], rounds, promising)
        if solution is not None:
            yield number, solution


def _guided(problems: Numbered, matrix: FeatureMatrix) -> Iterator[tuple[int, Solution]]:
    """Solutions with their numbers, as soon as the states of interior points have settled and pivoting agrees."""
    if not problems:
        return
    with np.errstate(all="ignore"):
        batch = InteriorBatch(_members(list(problems.values()), matrix))
    left, used = np.array(list(problems)), np.stack([one.used for one in problems.values()])
    last = tried = np.full(used.shape, -1)
    last_gap = np.full(len(left), np.inf)
    for n_iter in range(1, MAX_STEPS + 1):
        state, gap = np.where(used, batch.state, 0), batch.gap
        going_on = (gap > PROMISING_GAP) | ((gap > SMALLEST_GAP) & (gap < GROWTH * last_gap))
        settled = (state != last).sum(axis=1) <= SETTLED * used.sum(axis=1)
        ready = (gap < PROMISING_GAP) & settled & (state != tried).any(axis=1)
        tried = np.where(ready[:, None], state, tried)
        for place in np.flatnonzero(ready):
            solution = problems[left[place]].pivot(state[place, used[place]], GUESS_ROUNDS, PROMISING_GUESS)
            if solution is not None:
                going_on[place] = False
                yield int(left[place]), replace(solution, n_iter=n_iter)
        if not going_on.any():
            return
        left, used, tried = left[going_on], used[going_on], tried[going_on]
        last, last_gap = state[going_on], gap[going_on]
        batch.keep(going_on)
        with np.errstate(all="ignore"):
            batch.step()


def _members(problems: Sequence[_Problem], matrix: FeatureMatrix) -> list[Member]:
    """Problems by the leading coordinates of the rows, or by the rows themselves where these would be too many.

    If no inner product is off by more than δ, no score is by more than δ Σ|β| / 2α, and Σ|β| is about one.
    """
    alphas = {one.alpha for one in problems}
    coordinates = narrow_root(matrix.gram, BLUR * min(alphas))
    missed = coordinates.max(axis=0, initial=0) ** 2
    n_leading = {alpha: int(np.count_nonzero(missed > BLUR * alpha)) for alpha in alphas}
    all_rows = AllRows(matrix.gram)
    leading = {alpha: LeadingCoordinates(coordinates[:, : n_leading[alpha]]) for alpha in alphas}

    def blurred(one: _Problem) -> BlurredRows:
        n, k = int(one.used.sum()), n_leading[one.alpha]
        return leading[one.alpha] if k > 0 and 3 * n * k**2 + k**3 <= n**3 else all_rows

    return [Member(one.pieces, one.alpha, blurred(one)) for one in problems]
