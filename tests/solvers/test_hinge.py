"""Hinge and double hinge: exact by duality, unbeaten by cvxpy, and equal to scikit-learn's SVC."""

from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import lsq_linear
from sklearn.svm import SVC

from pnulearn import risks
from pnulearn._solvers import hinge
from pnulearn._solvers.candidates import FeatureMatrix
from pnulearn._solvers.hinge import minimize_hinge, minimize_pieces
from pnulearn._solvers.interior import interior_points
from pnulearn._solvers.low_rank import reduce_features
from pnulearn._solvers.objectives import Objective, objective
from pnulearn._solvers.piecewise_linear import convex_pieces
from pnulearn._solvers.pivoting import pivot
from pnulearn.losses import LOSSES, Loss

RISKS = ["pn", "pu", "nu", "punu", "pnpu", "pnnu"]


def distance_from_zero_subgradient(pieces, features, alpha, found, intercept):
    """The shortest 2αw − Φ'β over multipliers that the scores allow, kinks counted as such within 1e-10."""
    scores = features @ found.coef + found.intercept
    low, high = -pieces.slope.copy(), -pieces.slope.copy()
    for kink, jump in zip(pieces.kinks.T, pieces.jumps.T, strict=True):
        low += jump * (scores < kink - 1e-10)
        high += jump * (scores < kink + 1e-10)
    matrix = np.column_stack([features, np.ones(len(features))]) if intercept else features
    target = 2 * alpha * np.append(found.coef, 0.0) if intercept else 2 * alpha * found.coef
    free = high > low
    rest = target - matrix[~free].T @ low[~free]
    if not free.any():
        return np.linalg.norm(rest)
    best = lsq_linear(matrix[free].T, rest, bounds=(low[free], high[free]), tol=1e-14)
    return np.linalg.norm(matrix[free].T @ best.x - rest)


def by_cvxpy(terms, features, alpha, intercept):
    """The same minimum from the risk as it is written: c ℓ(±g) + h g, with ℓ built from maxima."""
    w, offset = cp.Variable(features.shape[1]), cp.Variable() if intercept else 0.0
    margin = cp.multiply(terms.side, features @ w + offset)
    loss = cp.pos(1 - margin) if terms.loss.name == "hinge" else cp.maximum(-margin, cp.pos((1 - margin) / 2))
    risk = terms.weight @ loss + terms.slope @ (features @ w + offset)
    problem = cp.Problem(cp.Minimize(risk + alpha * cp.sum_squares(w)))
    problem.solve(solver="CLARABEL", tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    return w.value, float(offset.value) if intercept else 0.0


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize(("loss", "risk"), [("hinge", "pn")] + [("double_hinge", risk) for risk in RISKS])
def test_every_minimiser_meets_its_subgradient_condition_and_is_unbeaten(problems, loss, risk, intercept):
    for seed, alpha in enumerate([1e-4, 1e-2, 1.0]):
        terms, features = problems.random(LOSSES[loss], risk, seed)
        found = minimize_hinge(terms, features, alpha, intercept=intercept)
        assert found.converged
        pieces = convex_pieces(terms)
        assert distance_from_zero_subgradient(pieces, features, alpha, found, intercept) < 1e-10
        ours = problems.penalised(terms, features, alpha, found.coef, found.intercept)
        assert ours <= problems.penalised(terms, features, alpha, *by_cvxpy(terms, features, alpha, intercept)) + 1e-8


@pytest.mark.parametrize("weak", [1e-3, 1e-1])
def test_the_hinge_equals_a_weighted_support_vector_machine(problems, weak):
    features, shares = problems.rows(20, 30, 10, 4, seed=3)
    found = minimize_hinge(objective(risks.pn(problems.prior), LOSSES["hinge"], shares), features, weak, intercept=True)
    weight = problems.prior * shares[0] + (1 - problems.prior) * shares[1]
    peer = SVC(kernel="linear", C=1 / (2 * weak), tol=1e-9)
    peer.fit(features[:50], shares[0, :50] > 0, sample_weight=weight[:50])
    assert_allclose(found.coef, peer.coef_[0], atol=1e-5)
    assert_allclose(found.intercept, peer.intercept_[0], atol=1e-5)


@pytest.mark.parametrize("intercept", [False, True])
def test_kernel_models_meet_their_subgradient_condition(problems, intercept):
    """As many features as rows, which the interior point method solves by rows."""
    features, shares = problems.rows(20, 15, 85, 4, seed=5)
    kernel = np.exp(-((features[:, None] - features) ** 2).sum(axis=-1) / 8)
    matrix = FeatureMatrix(kernel, intercept)
    for risk in problems.risks.values():
        pieces = convex_pieces(objective(risk, LOSSES["double_hinge"], shares))
        for alpha in (1e-4, 1e-2, 1e-1):
            found = minimize_pieces(pieces, matrix, alpha).minimum
            assert found.converged
            assert distance_from_zero_subgradient(pieces, kernel, alpha, found, intercept) < 1e-10


@pytest.mark.parametrize("size", [3, 60])  # solved by features, and by rows
@pytest.mark.parametrize("intercept", [False, True])
def test_the_interior_point_method_gets_there_by_itself(problems, size, intercept):
    features, shares = problems.rows(9, 7, 30, size, seed=1)
    terms = objective(problems.risks["pnpu"], LOSSES["double_hinge"], shares)
    pieces, matrix = convex_pieces(terms), FeatureMatrix(features, intercept)
    exact = minimize_pieces(pieces, matrix, 1e-2)
    point = next(point for point in interior_points(pieces, matrix, 1e-2) if point.gap < 1e-12)
    assert_allclose(point.scores, matrix.scores(exact.coef, exact.intercept), atol=1e-5)


@pytest.mark.parametrize("intercept", [False, True])
def test_without_pivoting_the_answer_is_as_exact(problems, monkeypatch, intercept):
    for seed, risk in enumerate(RISKS):
        terms, features = problems.random(LOSSES["double_hinge"], risk, seed)
        exact = minimize_hinge(terms, features, 1e-2, intercept=intercept)
        with monkeypatch.context() as patch:
            patch.setattr(hinge, "pivot", lambda *args: None)
            found = minimize_hinge(terms, features, 1e-2, intercept=intercept)
        assert found.converged
        assert_allclose(found.coef, exact.coef, atol=1e-12)
        assert_allclose(found.intercept, exact.intercept, atol=1e-11)


@pytest.mark.parametrize("intercept", [False, True])
def test_whole_numbers_of_which_many_rest_on_kinks_at_once_have_one_answer(problems, intercept):
    """In another order, turned, or with every row twice: scores depend on neither path nor rounding."""
    rng = np.random.default_rng(0)
    _, shares = problems.rows(20, 15, 85, 1, seed=0)
    features = rng.integers(-2, 3, size=(120, 3)).astype(float)
    order, turn = rng.permutation(120), np.linalg.qr(rng.normal(size=(3, 3)))[0]
    for risk in problems.risks.values():
        for alpha in (1e-4, 1e-2):
            terms = objective(risk, LOSSES["double_hinge"], shares)
            found = minimize_hinge(terms, features, alpha, intercept=intercept)
            assert distance_from_zero_subgradient(convex_pieces(terms), features, alpha, found, intercept) < 1e-10
            scores = features @ found.coef + found.intercept
            for rows, other in ((order, features), (np.arange(120), features @ turn), (np.repeat(order, 2), features)):
                again = objective(risk, LOSSES["double_hinge"], shares[:, rows] * 120 / len(rows))
                there = minimize_hinge(again, other[rows], alpha, intercept=intercept)
                assert_allclose(other @ there.coef + there.intercept, scores, atol=1e-10 * np.abs(scores).max())


@pytest.mark.parametrize("risk", RISKS)
def test_one_feature_is_minimised_as_by_trying_every_kink_and_every_piece(problems, risk):
    rng = np.random.default_rng(1)
    _, shares = problems.rows(9, 7, 30, 1, seed=1)
    feature = rng.integers(-3, 4, size=46).astype(float)
    terms = objective(problems.risks[risk], LOSSES["double_hinge"], shares)
    pieces = convex_pieces(terms)
    for alpha in (1e-3, 1e-1, 1.0):
        corners = np.unique((pieces.kinks[feature != 0] / feature[feature != 0, None]).ravel())
        middles = np.r_[corners[0] - 1, (corners[1:] + corners[:-1]) / 2, corners[-1] + 1]
        slopes = [
            pieces.slope @ feature - (pieces.jumps * (pieces.kinks > (feature * w)[:, None])).sum(1) @ feature
            for w in middles
        ]
        tried = np.r_[corners, -np.array(slopes) / (2 * alpha)]
        best = tried[np.argmin([pieces.value(feature * w) + alpha * w * w for w in tried])]
        assert_allclose(minimize_hinge(terms, feature[:, None], alpha).coef, [best], rtol=1e-12)


def test_of_equally_good_intercepts_the_middle_one_is_taken():
    features, side = np.array([[2.0], [3.0], [-2.0], [-5.0]]), np.array([1.0, 1.0, -1.0, -1.0])
    terms = Objective(LOSSES["hinge"], np.full(4, 0.25), side, np.zeros(4))
    found = minimize_hinge(terms, features, 10.0, intercept=True)
    assert_allclose(found.coef, [(0.25 * side @ features[:, 0]) / 20])  # every row is short of its margin
    low, high = (1 - features[:, 0] * found.coef)[2:].max() - 2, (1 - features[:, 0] * found.coef)[:2].min()
    assert_allclose(found.intercept, (low + high) / 2)


def test_a_nearby_solution_saves_steps_and_changes_nothing(problems):
    features, shares = problems.rows(20, 15, 120, 30, seed=6)
    matrix = FeatureMatrix(features)
    steps = {"cold": 0, "warm": 0}
    near = None
    for eta in np.linspace(0.3, 0.9, 13):
        pieces = convex_pieces(objective(risks.pnu(problems.prior, eta), LOSSES["double_hinge"], shares))
        cold = minimize_pieces(pieces, matrix, 1e-2)
        near = minimize_pieces(pieces, matrix, 1e-2, near)
        assert_allclose(near.coef, cold.coef, atol=1e-11)
        steps["cold"] += cold.n_iter
        steps["warm"] += near.n_iter
    assert steps["warm"] < 0.8 * steps["cold"]


def test_pivoting_from_the_solution_stays_there(problems):
    terms, features = problems.random(LOSSES["double_hinge"], "pnnu", 3)
    pieces, matrix = convex_pieces(terms), FeatureMatrix(features)
    found = minimize_pieces(pieces, matrix, 1e-3)
    again = pivot(pieces, matrix, 1e-3, found.state, 1)
    assert again is not None
    assert_allclose(again.coef, found.coef, atol=1e-12)


@pytest.mark.parametrize("seed", [1, 3])
def test_equal_rows_of_a_kernel_model_leave_the_minimum_as_it_is(problems, seed):
    """Pivoting gives up on rows that it cannot tell apart, and their multipliers may be all rounding."""
    rng = np.random.default_rng(seed)
    _, shares = problems.rows(15, 15, 120, 1, seed=seed)
    X = rng.normal(size=(100, 8))
    X = rng.permutation(np.r_[X, rng.choice(X, 50)])
    features = reduce_features(np.exp(-((X[:, None] - X) ** 2).sum(axis=-1) / 16)).coordinates
    for eta in (-0.6, -0.1, 0.3):
        terms = objective(risks.pnu(problems.prior, eta), LOSSES["double_hinge"], shares)
        found = minimize_hinge(terms, features, 1e-5)
        assert found.converged
        assert distance_from_zero_subgradient(convex_pieces(terms), features, 1e-5, found, False) < 1e-10


def test_repeated_rows_are_as_good_as_heavier_ones(problems):
    features, shares = problems.rows(9, 7, 30, 5, seed=7)
    twice = np.r_[features, features], np.hstack([shares, shares]) / 2
    coefs = [
        minimize_hinge(objective(problems.risks["pnpu"], LOSSES["double_hinge"], s), f, 1e-3).coef
        for f, s in ((features, shares), twice)
    ]
    assert_allclose(coefs[0], coefs[1], atol=1e-11)


def test_rows_with_side_minus_one_are_turned_round(problems):
    terms, _ = problems.random(LOSSES["double_hinge"], "pnpu", 0)
    pieces = convex_pieces(terms)
    scores = np.random.default_rng(0).normal(size=len(terms.side)) * 2
    shift = terms.value(np.zeros_like(scores)) - pieces.value(np.zeros_like(scores))
    assert_allclose(pieces.value(scores) + shift, terms.value(scores))
    assert (np.diff(pieces.kinks, axis=1) <= 0).all()


class ThreePieces(Loss):
    """A convex loss with three kinks of unequal size."""

    name, convex = "three_pieces", True
    kinks = ((2.0, 0.3), (0.5, 0.2), (-1.0, 1.0))

    def __call__(self, margin):
        return sum(jump * np.maximum(0, kink - np.asarray(margin)) for kink, jump in self.kinks)


def test_any_number_of_kinks_will_do(problems):
    terms, features = problems.random(ThreePieces(), "pn", 0)
    for alpha in (1e-3, 1e-1):
        found = minimize_hinge(terms, features, alpha, intercept=True)
        assert found.converged
        assert distance_from_zero_subgradient(convex_pieces(terms), features, alpha, found, True) < 1e-10


def test_scaling_the_features_and_the_penalty_together_changes_no_score(problems):
    terms, features = problems.random(LOSSES["double_hinge"], "pu", 4)
    one = minimize_hinge(terms, features, 1e-3)
    other = minimize_hinge(replace(terms), 100 * features, 1e-3 * 1e4)
    assert_allclose(features @ one.coef, 100 * features @ other.coef, atol=1e-11)
