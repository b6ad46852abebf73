"""Problems solved side by side have the minimisers that they have alone."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pnulearn import risks
from pnulearn._solvers import blurred, side_by_side
from pnulearn._solvers.blurred import AllRows, LeadingCoordinates
from pnulearn._solvers.cholesky import narrow_root
from pnulearn._solvers.feature_matrix import FeatureMatrix
from pnulearn._solvers.hinge import minimize_pieces
from pnulearn._solvers.interior_batch import InteriorBatch, Member
from pnulearn._solvers.objectives import objective
from pnulearn._solvers.pieces import convex_pieces
from pnulearn._solvers.side_by_side import minimize_side_by_side, suits_side_by_side
from pnulearn.losses import LOSSES

ALPHAS = np.array([1e-4, 1e-2, 1.0])
MIXES = [-1.0, -0.4, 0.0, 0.4, 1.0]  # PN uses no U, PU and NU leave jumps out


def kernel_problem(problems, width, seed=5):
    X, shares = problems.rows(20, 15, 85, 4, seed=seed)
    features = np.exp(-((X[:, None] - X) ** 2).sum(axis=-1) / width)
    return [objective(risks.pnu(problems.prior, eta), LOSSES["double_hinge"], shares) for eta in MIXES], features


def alone(terms, features, alpha):
    return minimize_pieces(convex_pieces(terms), FeatureMatrix(features), alpha)


@pytest.mark.parametrize("width", [0.05, 2.0, 8.0, 100.0])  # rows on their own, by rows, by rows or coordinates, by few
def test_every_minimiser_is_the_one_found_alone(problems, width):
    objectives, features = kernel_problem(problems, width)
    found = iter(minimize_side_by_side(objectives, features, ALPHAS))
    for terms in objectives:
        for alpha in ALPHAS:
            one, known = next(found), alone(terms, features, alpha)
            assert one.converged
            assert_allclose(features @ one.coef, features @ known.coef, atol=1e-6)
            value = problems.penalised(terms, features, alpha, one.coef, 0.0)
            assert_allclose(value, problems.penalised(terms, features, alpha, known.coef, 0.0), rtol=1e-9)


def test_what_interior_points_do_not_settle_is_solved_alone(problems, monkeypatch):
    objectives, features = kernel_problem(problems, 8.0)
    expected = minimize_side_by_side(objectives, features, ALPHAS)
    monkeypatch.setattr(side_by_side, "MAX_STEPS", 1)
    for one, other in zip(minimize_side_by_side(objectives, features, ALPHAS), expected, strict=True):
        assert_allclose(features @ one.coef, features @ other.coef, atol=1e-7)


def test_what_single_precision_cannot_factorise_is_solved_alone(problems, monkeypatch):
    objectives, features = kernel_problem(problems, 8.0)
    expected = minimize_side_by_side(objectives, features, ALPHAS)
    monkeypatch.setattr(blurred, "_factorize", lambda matrix: None)
    for one, other in zip(minimize_side_by_side(objectives, features, ALPHAS), expected, strict=True):
        assert_allclose(features @ one.coef, features @ other.coef, atol=1e-7)


def test_features_beyond_single_precision_are_no_obstacle(problems):
    objectives, features = kernel_problem(problems, 8.0)
    found = minimize_side_by_side(objectives, 1e20 * features, 1e40 * ALPHAS)
    for one, other in zip(found, minimize_side_by_side(objectives, features, ALPHAS), strict=True):
        assert_allclose(1e20 * features @ one.coef, features @ other.coef, atol=1e-6)


@pytest.mark.parametrize("rows", [AllRows, lambda gram: LeadingCoordinates(narrow_root(gram, 1e-4))])
def test_a_batch_closes_its_gaps_and_ends_in_the_states_of_the_minimisers(problems, rows):
    objectives, features = kernel_problem(problems, 8.0)
    pieces, same = [convex_pieces(terms) for terms in objectives], rows(features @ features.T)
    batch = InteriorBatch([Member(one, 1e-2, same) for one in pieces])
    for _ in range(15):
        if (batch.gap < 1e-5).all():
            break
        batch.step()
    assert (batch.gap < 1e-5).all()
    for place, terms in enumerate(objectives):
        assert_allclose(batch.scores[place], features @ alone(terms, features, 1e-2).coef, atol=1e-2)


@pytest.mark.parametrize(
    "tilts, n_rows, intercept, suits",
    [
        ([-0.8, -0.4, 0.0, 0.4, 0.8], 300, False, True),
        (np.linspace(-1, 1, 21), 300, False, False),
        ([0.5], 300, False, False),
        ([-0.5, 0.5], 3000, False, False),
        ([-0.5, 0.5], 300, True, False),
    ],
)
def test_mixes_far_apart_of_few_rows_are_solved_together(tilts, n_rows, intercept, suits):
    assert suits_side_by_side(np.array(tilts), n_rows, intercept) == suits
