"""Smooth losses: stationary, unbeaten, and equal to scikit-learn where both solve the same problem."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression

from pnulearn import risks
from pnulearn._solvers import newton as smooth
from pnulearn._solvers.candidates import FeatureMatrix
from pnulearn._solvers.newton import SmoothProblem
from pnulearn._solvers.objectives import objective
from pnulearn.losses import LOSSES, Loss

RISKS = ["pn", "pu", "nu", "punu", "pnpu", "pnnu"]


def gradient(terms, features, alpha, found, intercept):
    by_score = terms.derivative(features @ found.coef + found.intercept)
    return np.append(by_score @ features + 2 * alpha * found.coef, by_score.sum() if intercept else 0.0)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("risk", RISKS)
@pytest.mark.parametrize("loss", ["logistic", "hyperbolic", "sigmoid"])
def test_every_minimiser_is_stationary_and_a_minimum_of_the_plain_risk(problems, loss, risk, intercept):
    for seed, alpha in enumerate([1e-4, 1e-2, 1.0]):
        terms, features = problems.random(LOSSES[loss], risk, seed)
        found = SmoothProblem(FeatureMatrix(features, intercept)).minimize(terms, alpha)
        assert found.converged
        # of a convex objective: coefficients off by at most 1e-9, since its second derivatives are 2 alpha or more
        short = 1e-9 * 2 * alpha * np.linalg.norm(np.append(found.coef, found.intercept))
        assert np.linalg.norm(gradient(terms, features, alpha, found, intercept)) < short

        def plain(w, terms=terms, features=features, alpha=alpha):
            return problems.penalised(terms, features, alpha, w[:-1], w[-1] if intercept else 0.0)

        ours = np.append(found.coef, found.intercept)
        starts = [ours] if loss == "sigmoid" else [ours, np.zeros_like(ours)]  # not convex: no better place nearby
        for start in starts:
            assert plain(ours) <= minimize(plain, start, method="BFGS").fun + 1e-9


@pytest.mark.parametrize("intercept", [False, True])
def test_no_unlabelled_share_equals_weighted_logistic_regression(problems, intercept):
    features, shares = problems.rows(20, 30, 10, 4, seed=3)
    for alpha in (1e-3, 1e-1):
        terms = objective(risks.pnu(problems.prior, 0.0), LOSSES["logistic"], shares)
        found = SmoothProblem(FeatureMatrix(features, intercept)).minimize(terms, alpha)
        labeled = np.arange(50)
        peer = LogisticRegression(C=1 / (2 * alpha), fit_intercept=intercept, tol=1e-10, max_iter=10_000)
        weight = problems.prior * shares[0] + (1 - problems.prior) * shares[1]
        peer.fit(features[labeled], shares[0, labeled] > 0, sample_weight=weight[labeled])
        assert_allclose(found.coef, peer.coef_[0], atol=1e-5)
        assert_allclose(found.intercept, peer.intercept_[0] if intercept else 0.0, atol=1e-5)


def test_newton_and_lbfgs_agree_and_neither_depends_on_the_start(problems, monkeypatch):
    terms, features = problems.random(LOSSES["logistic"], "pnpu", 0, size=12)
    problem = SmoothProblem(FeatureMatrix(features, True))
    first = problem.minimize(terms, 1e-3)
    far = problem.minimize(terms, 1e-3, start=(np.full(12, 5.0), -3.0))
    monkeypatch.setattr(smooth, "WIDEST_NEWTON", 0)
    other = problem.minimize(terms, 1e-3)
    assert far.converged
    assert other.converged
    assert_allclose(far.coef, first.coef, atol=1e-11)
    assert_allclose(other.coef, first.coef, atol=1e-10)


def test_a_start_at_the_minimum_needs_no_step(problems):
    terms, features = problems.random(LOSSES["logistic"], "pu", 1)
    problem = SmoothProblem(FeatureMatrix(features))
    found = problem.minimize(terms, 1e-2)
    assert problem.minimize(terms, 1e-2, start=(found.coef, 0.0)).n_iter == 0


def test_the_minimum_of_a_loss_that_is_not_convex_does_not_depend_on_what_was_solved_before(problems):
    features, shares = problems.rows(9, 7, 30, 5, seed=4)
    fresh, used = SmoothProblem(FeatureMatrix(features)), SmoothProblem(FeatureMatrix(features))
    used.minimize(objective(problems.risks["pnnu"], LOSSES["sigmoid"], shares), 1e-4)
    terms = objective(problems.risks["pnpu"], LOSSES["sigmoid"], shares)
    np.testing.assert_array_equal(fresh.minimize(terms, 1e-3).coef, used.minimize(terms, 1e-3).coef)


def test_an_unscaled_problem_still_converges(problems):
    features, shares = problems.rows(9, 7, 30, 5, seed=5)
    features = features * [1, 1e3, 1e-3, 1e5, 1] + 1e4
    terms = objective(problems.risks["pnpu"], LOSSES["logistic"], shares)
    found = SmoothProblem(FeatureMatrix(features - features.mean(axis=0), True)).minimize(terms, 1e-3)
    assert found.converged


class Exponential(Loss):
    """exp(−m): smooth, convex, no gap and no second derivative declared."""

    name, convex, smooth = "exponential", True, True

    def __call__(self, margin):
        return np.exp(-np.asarray(margin))

    def derivative(self, margin):
        return -np.exp(-np.asarray(margin))


def test_a_loss_of_ones_own_needs_a_derivative_and_no_more(problems):
    terms, features = problems.random(Exponential(), "pn", 0)
    found = SmoothProblem(FeatureMatrix(features)).minimize(terms, 1e-2)
    assert found.converged
    assert np.abs(gradient(terms, features, 1e-2, found, False)).max() < 1e-6


def test_rows_that_separate_perfectly_are_no_trouble(problems):
    features = np.array([[1.0], [2.0], [-1.0], [-2.0]])
    shares = np.array([[0.5, 0.5, 0, 0], [0, 0, 0.5, 0.5], [0, 0, 0, 0]])
    found = SmoothProblem(FeatureMatrix(features, True)).minimize(
        objective(problems.risks["pn"], LOSSES["logistic"], shares), 1e-8
    )
    assert found.converged
    assert found.coef[0] > 5


@pytest.mark.parametrize("risk", RISKS)
def test_few_rows_are_solved_in_their_span_with_the_same_minimum(problems, risk):
    """Twice as many features as rows: Newton's method runs on a number per row, L-BFGS on all coefficients."""
    features, shares = problems.rows(6, 5, 9, 40, seed=2)
    terms = objective(problems.risks[risk], LOSSES["logistic"], shares)
    problem = SmoothProblem(FeatureMatrix(features))
    for alpha in (1e-3, 1e-1):
        found = problem.minimize(terms, alpha)
        assert found.converged
        assert len(found.vector) == len(features)
        assert_allclose(found.vector @ features, found.coef, atol=1e-12)
        assert np.abs(gradient(terms, features, alpha, found, False)).max() < 1e-7
        in_coefficients = problem.minimize(terms, alpha, start=(np.zeros(40), 0.0))
        assert_allclose(found.coef, in_coefficients.coef, atol=1e-5)
        assert problem.minimize(terms, alpha, start=found.vector).n_iter == 0


def test_a_hessian_of_another_penalty_sends_no_intercept_away(problems):
    """Few positive rows pull scores so far that no other row bends."""
    for seed in range(20):
        features, shares = problems.rows(2, 2, 76, 4, seed)
        terms = objective(risks.pu(0.99), LOSSES["logistic"], shares)
        matrix = FeatureMatrix(features, True)
        used = SmoothProblem(matrix)
        used.minimize(terms, 0.1)
        found, fresh = used.minimize(terms, 0.01), SmoothProblem(matrix).minimize(terms, 0.01)
        assert found.converged
        scores = matrix.scores(fresh.coef, fresh.intercept)
        assert_allclose(matrix.scores(found.coef, found.intercept), scores, atol=1e-8 * np.abs(scores).max())
