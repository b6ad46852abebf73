"""The Laplacian SVM against the full-size problem, brute force and its special cases."""

import cvxpy as cp
import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.svm import SVC

from pnulearn.baselines import LaplacianSVM
from pnulearn.baselines._base import gram
from pnulearn.baselines._lapsvm import DeformedPath, deformed_once, laplacian, neighbor_graph, pivoted_cholesky

rng = np.random.default_rng(0)
N_LABELED, N = 20, 70
TRUTH = rng.integers(0, 2, N)
TRUTH[:4] = 0, 1, 0, 1
X = rng.normal(size=(N, 2)) + 1.5 * TRUTH[:, None]
Y = np.where(np.arange(N) < N_LABELED, TRUTH, np.nan)
SIGNS = 2.0 * TRUTH[:N_LABELED] - 1
K = gram("rbf", X, X, 1.0)
LABELED = np.arange(N_LABELED)
NEW = rng.normal(size=(40, 2)) + 0.7


def penalty(normalized=False):
    return laplacian(neighbor_graph(X, 6), normalized).toarray() / N**2


def fitted(**options):
    return LaplacianSVM(**{"alpha": 0.01, "manifold": 3.0, "bandwidth": 1.0, "prior": "labeled"} | options).fit(X, Y)


@pytest.mark.parametrize("bandwidth", [0.3, 1.0, 4.0])
@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("alpha, manifold", [(1e-5, 1e2), (1e-5, 1e-5), (1e2, 1e2), (1e-2, 1.0), (1e-3, 0.0)])
def test_one_factorisation_serves_every_penalty(alpha, manifold, normalized, bandwidth):
    """The reduced form agrees with a full-size solve for that penalty alone."""
    smoothness = laplacian(neighbor_graph(X, 6), normalized) / N**2
    kernel_matrix = gram("rbf", X, X, bandwidth)
    kernel, expand = deformed_once(kernel_matrix, smoothness, LABELED, alpha, manifold)
    reduced, reduced_expand = DeformedPath.factorize(kernel_matrix.copy(), smoothness, LABELED).at(alpha, manifold)
    assert_allclose(reduced, kernel, rtol=1e-6, atol=1e-9 * np.abs(kernel).max())
    outside = gram("rbf", NEW, X, bandwidth)
    expected = outside @ expand(SIGNS)
    assert_allclose(outside @ reduced_expand(SIGNS), expected, atol=1e-6 * np.abs(expected).max())


def test_the_pivoted_factor_gives_back_the_kernel():
    smooth = gram("rbf", X, X, 4.0)
    factor, pivots, top = pivoted_cholesky(smooth.copy())
    assert factor.shape[1] < N  # a smooth kernel has few directions
    assert_allclose(factor @ factor.T, smooth, atol=1e-10)
    assert_allclose(factor[pivots], top)
    assert_allclose(top, np.tril(top))


@pytest.mark.parametrize("normalized", [False, True])
def test_the_squared_hinge_solution_is_stationary_in_the_full_problem(normalized):
    model = fitted(normalized=normalized)
    a, scores = model.dual_coef_, K @ model.dual_coef_
    slack = np.zeros(N)
    slack[LABELED] = -2 / N_LABELED * SIGNS * np.maximum(0, 1 - SIGNS * (scores[LABELED] + model.intercept_))
    gradient = K @ (slack + 2 * 0.01 * a + 2 * 3.0 * (penalty(normalized) @ scores))
    assert np.abs(gradient).max() < 1e-8
    assert abs(slack.sum()) < 1e-8


def test_full_size_newton_of_the_reference_code_agrees():
    """Its objective has no 1/l and no 1/n², so the weights are rescaled."""
    gamma_a, gamma_i, L = 0.01 * N_LABELED, 3.0 * N_LABELED, penalty()
    y = np.concatenate([SIGNS, np.zeros(N - N_LABELED)])
    active = np.arange(N) < N_LABELED
    for _ in range(50):
        system = np.zeros((N + 1, N + 1))
        system[0, 1:] = 1
        system[1:, 0] = active
        system[1:, 1:] = gamma_a * np.eye(N) + active[:, None] * K + gamma_i * L @ K
        bias, *a = np.linalg.solve(system, np.concatenate([[0], active * y]))
        before, active = active, (np.arange(N) < N_LABELED) & (y * (K @ a + bias) < 1)
        if np.array_equal(before, active):
            break
    expected = gram("rbf", NEW, X, 1.0) @ a + bias
    assert_allclose(fitted().decision_function(NEW), expected, atol=1e-8)


@pytest.mark.parametrize("loss, power", [("hinge", 1), ("squared_hinge", 2)])
def test_no_solver_goes_lower(loss, power):
    weight = np.where(SIGNS > 0, 0.3 / (SIGNS > 0).sum(), 0.7 / (SIGNS < 0).sum())
    model = fitted(loss=loss, prior=0.3)
    scores = K @ model.dual_coef_
    margin = SIGNS * (scores[LABELED] + model.intercept_)
    value = weight @ np.maximum(0, 1 - margin) ** power + 0.01 * model.dual_coef_ @ scores
    value += 3.0 * scores @ penalty() @ scores

    factor = np.linalg.cholesky(K + 1e-10 * np.eye(N))
    smooth = np.linalg.cholesky(penalty() + 1e-12 * np.eye(N))
    c, b = cp.Variable(N), cp.Variable()
    slack = cp.pos(1 - cp.multiply(SIGNS, factor[LABELED] @ c + b))
    objective = weight @ (slack if power == 1 else cp.square(slack))
    objective += 0.01 * cp.sum_squares(c) + 3.0 * cp.sum_squares(smooth.T @ factor @ c)
    assert_allclose(value, cp.Problem(cp.Minimize(objective)).solve(solver="CLARABEL"), rtol=1e-4)


def test_without_the_manifold_it_is_the_supervised_machine():
    model = fitted(loss="hinge", manifold=0.0)
    supervised = SVC(C=1 / (2 * 0.01 * N_LABELED), gamma=0.5, tol=1e-6).fit(X[LABELED], SIGNS)
    assert_allclose(model.decision_function(NEW), supervised.decision_function(NEW), atol=1e-4)
    assert not model.dual_coef_[N_LABELED:].any()


def test_a_known_prior_weighs_the_classes():
    counts = np.bincount(TRUTH[:N_LABELED])
    balance = {-1.0: 0.8 / counts[0], 1.0: 0.2 / counts[1]}
    supervised = SVC(C=1 / (2 * 0.01), class_weight=balance, gamma=0.5, tol=1e-6).fit(X[LABELED], SIGNS)
    model = fitted(loss="hinge", manifold=0.0, prior=0.2)
    assert_allclose(model.decision_function(NEW), supervised.decision_function(NEW), atol=1e-4)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_swapping_the_classes_flips_the_scores(loss):
    other = LaplacianSVM(alpha=0.01, manifold=3.0, bandwidth=1.0, loss=loss, prior="labeled").fit(X, 1 - Y)
    assert_allclose(other.decision_function(NEW), -fitted(loss=loss).decision_function(NEW), atol=1e-4)


def test_a_strong_manifold_makes_neighbours_agree():
    """Two rings of U, one label each: the manifold carries the label around."""
    angle = np.linspace(0, 2 * np.pi, 60, endpoint=False)
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    rows = np.concatenate([ring, 3 * ring])
    y = np.full(120, np.nan)
    y[0], y[60] = 0, 1
    model = LaplacianSVM(alpha=1e-5, manifold=100.0, bandwidth=0.5, n_neighbors=4, prior=0.5).fit(rows, y)
    assert_allclose(model.predict(rows), np.repeat([0, 1], 60))


def test_the_threshold_can_follow_the_prior():
    model = fitted(threshold="prior", prior=0.3)
    assert (model.predict(X[N_LABELED:]) == 1).mean() == pytest.approx(0.3, abs=0.01)


def test_duplicates_and_a_disconnected_graph_do_no_harm():
    rows = np.concatenate([X, X[:10], X[:20] + 50])
    y = np.concatenate([Y, np.full(30, np.nan)])
    for alpha in (0.01, [0.01, 0.1]):
        model = LaplacianSVM(alpha=alpha, manifold=1.0, bandwidth=1.0, prior="labeled").fit(rows, y)
        assert np.isfinite(model.decision_function(NEW)).all()


@pytest.mark.parametrize(
    "options, message", [({"loss": "log"}, "loss must be one of"), ({"threshold": 1}, "threshold")]
)
def test_unknown_options_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        fitted(**options)
