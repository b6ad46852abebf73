"""Guesses of the rows' states that are nearly right lead to the minimiser that interior points find without them."""

import numpy as np
from numpy.testing import assert_allclose

from pnulearn import risks
from pnulearn._solvers.feature_matrix import FeatureMatrix
from pnulearn._solvers.hinge import minimize_pieces
from pnulearn._solvers.interior import interior_points
from pnulearn._solvers.objectives import objective
from pnulearn._solvers.pieces import convex_pieces
from pnulearn._solvers.pivoting import pivot
from pnulearn.losses import LOSSES

ALPHA = 0.1
ROUNDS = 12


def smooth_problem(problems, seed):
    """Few coordinates, so that one row moves all others."""
    X, shares = problems.rows(20, 15, 165, 3, seed=seed)
    features = np.exp(-((X[:, None] - X) ** 2).sum(axis=-1) / 30)
    pieces = convex_pieces(objective(risks.pnu(problems.prior, 0.4), LOSSES["double_hinge"], shares))
    return pieces, FeatureMatrix(features)


def rough_guess(pieces, matrix):
    return next(point for point in interior_points(pieces, matrix, ALPHA) if point.gap < 1e-3).state(pieces)


def test_row_by_row_more_guesses_are_settled_and_all_of_them_rightly(problems):
    at_once = row_by_row = 0
    for seed in range(20):
        pieces, matrix = smooth_problem(problems, seed)
        guess = rough_guess(pieces, matrix)
        at_once += pivot(pieces, matrix, ALPHA, guess, ROUNDS) is not None
        found = pivot(pieces, matrix, ALPHA, guess, ROUNDS, few=0.1)
        if found is not None:
            row_by_row += 1
            known = minimize_pieces(pieces, matrix, ALPHA)
            assert_allclose(matrix.features @ found.coef, matrix.features @ known.coef, atol=1e-6)
    assert row_by_row >= 10
    assert at_once <= row_by_row / 2
