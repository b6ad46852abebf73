"""The way from one piecewise linear problem to another ends where a solver without a start ends."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pnulearn import risks
from pnulearn._solvers import following
from pnulearn._solvers.feature_matrix import FeatureMatrix
from pnulearn._solvers.following import follow
from pnulearn._solvers.hinge import minimize_pieces
from pnulearn._solvers.objectives import objective
from pnulearn._solvers.pieces import convex_pieces
from pnulearn._solvers.pivoting import pivot
from pnulearn.losses import LOSSES


@pytest.fixture(scope="module")
def kernel_problem(problems):
    """Inner products of 120 rows under a smooth kernel, and the pieces of any mix."""
    rows, shares = problems.rows(20, 15, 85, 4, seed=5)
    kernel = np.exp(-((rows[:, None] - rows) ** 2).sum(axis=-1) / 8)

    def pieces(eta):
        return convex_pieces(objective(risks.pnu(problems.prior, eta), LOSSES["double_hinge"], shares))

    return FeatureMatrix(kernel), pieces


@pytest.mark.parametrize(("start", "end"), [(0.3, 0.4), (0.4, 0.3), (0.1, 1.0), (-0.2, -0.9)])
@pytest.mark.parametrize("alpha", [1e-4, 1e-2, 1e-1])
def test_the_way_ends_at_the_minimiser(kernel_problem, start, end, alpha):
    matrix, pieces = kernel_problem
    state = follow(minimize_pieces(pieces(start), matrix, alpha), pieces(end), matrix, alpha)
    assert state is not None
    cold = minimize_pieces(pieces(end), matrix, alpha)
    arrived = pivot(
        pieces(end), matrix, alpha, state, 3
    )  # a row that reaches its kink at the very end may need a round
    assert arrived is not None
    assert_allclose(matrix.scores(arrived.coef, 0.0), matrix.scores(cold.coef, 0.0), atol=1e-8)


def test_the_start_is_left_as_it_was(kernel_problem):
    matrix, pieces = kernel_problem
    near = minimize_pieces(pieces(0.3), matrix, 1e-2)
    beta, state = near.beta.copy(), near.state.copy()
    follow(near, pieces(0.9), matrix, 1e-2)
    assert_array_equal(near.beta, beta)
    assert_array_equal(near.state, state)


def test_there_is_no_way_between_problems_of_other_rows_or_kinks(kernel_problem, monkeypatch):
    matrix, pieces = kernel_problem
    near = minimize_pieces(pieces(0.3), matrix, 1e-2)
    no_unlabelled = minimize_pieces(pieces(0.0), matrix, 1e-2)
    assert follow(no_unlabelled, pieces(0.1), matrix, 1e-2) is None
    assert follow(near, replace(pieces(0.4), kinks=2 * near.pieces.kinks), matrix, 1e-2) is None
    assert follow(near, pieces(0.4), FeatureMatrix(matrix.features, intercept=True), 1e-2) is None
    assert follow(replace(near, pieces=None), pieces(0.4), matrix, 1e-2) is None
    monkeypatch.setattr(following, "MOST_EVENTS", 1)
    assert follow(near, pieces(0.9), matrix, 1e-2) is None


def test_rows_that_cannot_be_told_apart_end_the_way_and_not_the_search(problems):
    rows, shares = problems.rows(10, 8, 42, 70, seed=6)
    twice, halves = np.vstack([rows, rows]), np.hstack([shares, shares]) / 2
    near = None
    for eta in (0.3, 0.5, 0.9):
        pieces = convex_pieces(objective(risks.pnu(problems.prior, eta), LOSSES["double_hinge"], halves))
        once = convex_pieces(objective(risks.pnu(problems.prior, eta), LOSSES["double_hinge"], shares))
        near = minimize_pieces(pieces, FeatureMatrix(twice), 1e-2, near)
        assert_allclose(near.coef, minimize_pieces(once, FeatureMatrix(rows), 1e-2).coef, atol=1e-6)
