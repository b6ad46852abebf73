"""Ramp loss: CCCP goes down, ends soon, and ends where nothing nearby is better."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from sklearn.svm import SVC

from pnulearn import risks
from pnulearn._solvers import cccp
from pnulearn._solvers.candidates import FeatureMatrix
from pnulearn._solvers.cccp import descend, minimize_ramp, penalized_value
from pnulearn._solvers.hinge import minimize_pieces
from pnulearn._solvers.objectives import Objective, objective
from pnulearn.losses import LOSSES

RISKS = ["pn", "pu", "nu", "punu", "pnpu", "pnnu"]
RAMP = LOSSES["ramp"]


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("risk", RISKS)
def test_the_end_is_stationary_and_nothing_nearby_is_better(problems, risk, intercept):
    for seed, alpha in enumerate([1e-3, 1e-2, 1e-1]):
        terms, features = problems.random(RAMP, risk, seed)
        found = descend(terms, FeatureMatrix(features, intercept), alpha, np.zeros(len(features)))
        assert found.converged
        scores = features @ found.coef + found.intercept
        # minus a subgradient of every row's term, from the last convex problem
        assert_allclose(2 * alpha * found.coef, features.T @ found.beta, atol=1e-6)
        flat = np.abs(terms.side * scores) > 1 + 1e-6
        assert_allclose(found.beta[flat], 0, atol=1e-9)
        inside = np.abs(terms.side * scores) < 1 - 1e-6
        assert_allclose(found.beta[inside], (terms.weight * terms.side / 2)[inside], atol=1e-9)

        def plain(w, terms=terms, features=features, alpha=alpha):
            return problems.penalised(terms, features, alpha, w[:-1], w[-1] if intercept else 0.0)

        ours = np.append(found.coef, found.intercept)
        assert plain(ours) <= minimize(plain, ours, method="BFGS").fun + 1e-8
        around = 1e-4 * np.random.default_rng(seed).normal(size=(300, len(ours)))
        assert plain(ours) <= min(plain(ours + move) for move in around)


def test_the_objective_never_rises_and_few_rounds_are_needed(problems, monkeypatch):
    rounds, ends = [], []

    def watched(*args):
        ends.append(minimize_pieces(*args))
        return ends[-1]

    monkeypatch.setattr(cccp, "minimize_pieces", watched)
    for seed in range(6):
        features, shares = problems.rows(30, 20, 100, 8, seed)
        terms, matrix = objective(problems.risks["pnpu"], RAMP, shares), FeatureMatrix(features)
        start = 3 * features @ np.random.default_rng(seed).normal(size=8)
        ends.clear()
        found = descend(terms, matrix, 1e-3, start)
        assert found.converged
        assert found.n_iter == len(ends)
        values = [penalized_value(terms, matrix, 1e-3, end) for end in ends]
        assert (np.diff(values) <= 1e-12).all()
        rounds.append(found.n_iter)
    assert max(rounds) <= 15
    assert np.mean(rounds) >= 2  # else this test would show nothing


def test_rounds_that_run_out_are_not_called_converged(problems, monkeypatch):
    features, shares = problems.rows(30, 20, 100, 8, seed=0)
    terms, start = objective(problems.risks["pnpu"], RAMP, shares), 3 * features @ np.arange(-4, 4)
    assert descend(terms, FeatureMatrix(features), 1e-3, start).n_iter > 1
    monkeypatch.setattr(cccp, "MAX_ROUNDS", 1)
    assert not descend(terms, FeatureMatrix(features), 1e-3, start).converged


def test_the_first_round_from_zero_is_a_weighted_support_vector_machine(problems, monkeypatch):
    monkeypatch.setattr(cccp, "MAX_ROUNDS", 1)
    features, shares = problems.rows(20, 30, 10, 4, seed=3)
    terms = objective(risks.pn(problems.prior), RAMP, shares)
    found = descend(terms, FeatureMatrix(features, True), 1e-2, np.zeros(60))
    peer = SVC(kernel="linear", C=1 / (4 * 1e-2), tol=1e-9)
    peer.fit(features[:50], shares[0, :50] > 0, sample_weight=terms.weight[:50])
    assert_allclose(found.coef, peer.coef_[0], atol=1e-5)
    assert_allclose(found.intercept, peer.intercept_[0], atol=1e-5)


def test_the_better_of_two_starts_is_kept(problems):
    better = 0
    for seed in range(8):
        features, shares = problems.rows(9, 7, 30, 5, seed)
        terms, matrix = objective(problems.risks["pu"], RAMP, shares), FeatureMatrix(features)
        starts = [np.zeros(46), 5 * features @ np.random.default_rng(seed).normal(size=5)]
        values = [penalized_value(terms, matrix, 1e-3, descend(terms, matrix, 1e-3, start)) for start in starts]
        best = penalized_value(terms, matrix, 1e-3, minimize_ramp(terms, matrix, 1e-3, starts))
        assert best == pytest.approx(min(values), abs=1e-10)
        better += values[1] < values[0] - 1e-6
    assert better > 0  # the second start is not there for show


def test_margins_that_lie_on_a_kink_up_to_rounding_have_one_tangent():
    """As that of a negative row whose positive copy rests on its margin of one."""
    terms = Objective(RAMP, np.ones(2), np.array([1.0, -1.0]), np.zeros(2))
    tangents = [cccp._tangent(terms, np.array([1.0, 1.0 + off])).tolist() for off in (-1e-12, 0.0, 1e-12)]
    assert tangents[0] == tangents[1] == tangents[2]
    assert cccp._tangent(terms, np.array([1.0, 1.1])).tolist() != tangents[0]
