"""Piecewise linear problems that are too different to start from one another, solved side by side.

Interior points of all of them, in as few coordinates as their penalties can tell apart, lead to guesses of the rows'
states; pivoting makes these exact, each in all coordinates. What it cannot settle is solved on its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np
from scipy.linalg import LinAlgError

from pnulearn._arrays import AnyArray
from pnulearn._solvers.cholesky import narrow_root
from pnulearn._solvers.feature_matrix import FeatureMatrix
from pnulearn._solvers.hinge import POLISH_ROUNDS, WARM_ROUNDS, between_kinks, minimize_pieces
from pnulearn._solvers.interior_batch import InteriorBatch, Member
from pnulearn._solvers.objectives import Objective
from pnulearn._solvers.pieces import Pieces, Solution, convex_pieces
from pnulearn._solvers.pivoting import PROMISING, pivot
from pnulearn._solvers.spaces import CoefficientSpace, RowSpace, Space

STRANGERS = 0.25  # tilts so far apart: the state of a row in one problem says little of another
MOST_ROWS = 2000  # whose inner products are kept
BLUR = 1.0  # of alpha: coordinates that move no inner product by more can wait until a guess is made exact
TOUCHING = 10  # inner products of a row with all others, over its own: below that rows are almost on their own
COLD_ROUNDS = 2
SETTLED = 0.01  # the share of rows whose state may still change from one interior point to the next
PROMISING_GAP, SMALLEST_GAP = 3e-2, 1e-9
MAX_STEPS = 30
NEGLIGIBLE = 0.1  # what a guess's Hessian may miss, relative to the rest of it
One = tuple[Pieces, float]


def suits_side_by_side(tilts: AnyArray, n_rows: int, intercept: bool) -> bool:
    """Whether mixes with these tilts are better solved together than one after the other."""
    gaps = np.diff(np.sort(tilts))
    return len(gaps) > 0 and bool(gaps.min() > STRANGERS) and n_rows <= MOST_ROWS and not intercept


def minimize_side_by_side(objectives: Sequence[Objective], features: AnyArray, alphas: AnyArray) -> list[Solution]:
    """The minimisers for every objective and alpha, in this order; each has the rows that it uses alone."""
    found: dict[tuple[int, int], Solution] = {}
    for members in _with_the_same_rows(objectives):
        rows = np.flatnonzero(objectives[members[0]].used)
        pieces = [convex_pieces(objectives[number].take(rows)) for number in members]
        places = [(number, alpha) for number in members for alpha in range(len(alphas))]
        problems = [(one, float(alpha)) for one in pieces for alpha in alphas]
        matrix = FeatureMatrix(features[rows])
        found.update(zip(places, _minimize_all(problems, matrix), strict=True))
    return [found[number, alpha] for number in range(len(objectives)) for alpha in range(len(alphas))]


def _with_the_same_rows(objectives: Sequence[Objective]) -> list[list[int]]:
    """Numbers of objectives that can be stacked: all risks that use U and both classes, and PN."""
    groups: dict[bytes, list[int]] = {}
    for number, terms in enumerate(objectives):
        groups.setdefault(terms.used.tobytes(), []).append(number)
    return list(groups.values())


def _minimize_all(problems: list[One], matrix: FeatureMatrix) -> list[Solution]:
    found = _without_guess(problems, matrix)
    missing = [number for number, solution in enumerate(found) if solution is None]
    for number, solution in _guided(problems, missing, matrix) if missing else ():
        found[number] = solution
    return [
        minimize_pieces(pieces, matrix, alpha) if known is None else known
        for (pieces, alpha), known in zip(problems, found, strict=True)
    ]


def _without_guess(problems: list[One], matrix: FeatureMatrix) -> list[Solution | None]:
    """What pivoting settles without a guess: the large alphas, and everything where rows are almost on their own."""
    if np.abs(matrix.gram).sum() < TOUCHING * matrix.gram.trace():
        rounds, promising = WARM_ROUNDS, 1.0
    else:
        rounds, promising = COLD_ROUNDS, PROMISING
    found: list[Solution | None] = [None] * len(problems)
    for alpha in sorted({alpha for _, alpha in problems}, reverse=True):
        members = [number for number, problem in enumerate(problems) if problem[1] == alpha]
        for number in members:
            pieces = problems[number][0]
            found[number] = pivot(pieces, matrix, alpha, between_kinks(pieces), rounds, promising)
        if promising < 1 and all(found[number] is None for number in members):
            break  # smaller ones would fail too
    return found


def _guided(problems: list[One], missing: list[int], matrix: FeatureMatrix) -> Iterator[tuple[int, Solution]]:
    """Solutions with their numbers, as soon as the states of interior points have settled and pivoting agrees."""
    spaces = _blurred_spaces(matrix, {problems[number][1] for number in missing})
    left, last = np.array(missing), np.full((len(missing), len(matrix.features)), -1)
    with suppress(LinAlgError):  # the end of what double precision allows
        batch = InteriorBatch([Member(*problems[number], spaces[problems[number][1]]) for number in missing])
        for n_iter in range(1, MAX_STEPS + 1):
            state, gap = batch.state, batch.gap
            going_on = gap > SMALLEST_GAP
            for place in np.flatnonzero((gap < PROMISING_GAP) & (np.mean(state != last, axis=1) <= SETTLED)):
                pieces, alpha = problems[left[place]]
                solution = pivot(pieces, matrix, alpha, state[place], POLISH_ROUNDS)
                if solution is not None:
                    going_on[place] = False
                    yield int(left[place]), replace(solution, n_iter=n_iter)
            if not going_on.any():
                return
            left, last = left[going_on], state[going_on]
            batch.keep(going_on)
            batch.step()


def _blurred_spaces(matrix: FeatureMatrix, alphas: set[float]) -> dict[float, Space]:
    """For every alpha the leading coordinates of the rows, or the rows themselves where these would be too many.

    If no inner product is off by more than δ, no score is by more than δ Σ|β| / 2α, and Σ|β| is about one.
    """
    coordinates = narrow_root(matrix.gram, BLUR * min(alphas))
    missed = coordinates.max(axis=0, initial=0) ** 2
    spaces: dict[float, Space] = {}
    by_rows = RowSpace(matrix, NEGLIGIBLE)
    for alpha in alphas:
        n_leading = int(np.count_nonzero(missed > BLUR * alpha))
        leading = FeatureMatrix(coordinates[:, :n_leading])
        spaces[alpha] = by_rows if leading.wide or not n_leading else CoefficientSpace(leading)
    return spaces
