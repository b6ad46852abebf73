"""Entropy regularisation: its derivatives, its convex limit, and what the entropy does."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import optimize, sparse
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from pnulearn.baselines import EntropyRegularizedClassifier
from pnulearn.baselines import _entropy as confidence
from pnulearn.baselines import _entropy as descent
from pnulearn.baselines._base import BaselineTraining, gram
from pnulearn.baselines._entropy import ConfidenceObjective, entropy, minimize_confidence, rotate

rng = np.random.default_rng(0)
N_LABELED, N = 20, 60
TRUTH = rng.integers(0, 2, N)
TRUTH[:4] = 0, 1, 0, 1
X = rng.normal(size=(N, 3)) + 0.8 * TRUTH[:, None]
Y = np.where(np.arange(N) < N_LABELED, TRUTH, np.nan)
SIGNS = 2.0 * TRUTH[:N_LABELED] - 1


def training(features, prior=0.3):
    codes = np.where(np.arange(N) < N_LABELED, TRUTH, -1)
    return BaselineTraining(X, features, codes, np.array([1 - prior, prior]))


def objective(intercept=True):
    problem = training(X)
    return ConfidenceObjective(rotate(X), problem, problem.outputs[0][0], intercept)


def at(target, w, alpha, mu):
    return target.at(w[None], np.array([alpha]), np.array([mu]))


def value_and_gradient(target, w, alpha, mu):
    point = at(target, w, alpha, mu)
    return point.value[0], point.gradient[0]


def minimum(target, start, alpha, mu):
    return minimize_confidence(target, start[None], np.array([alpha]), np.array([mu]))[0]


def test_entropy_is_its_definition_even_and_at_most_log_two():
    g = np.linspace(-30, 30, 601)
    p = expit(g)
    middle = np.abs(g) < 20  # beyond, 1 − p has no digits left
    direct = -p[middle] * np.log(p[middle]) - (1 - p[middle]) * np.log1p(-p[middle])
    assert_allclose(entropy(g)[middle], direct, atol=1e-7)
    assert_allclose(entropy(g), entropy(-g))
    assert entropy(g).max() == entropy(np.zeros(1))[0] == pytest.approx(np.log(2))
    assert (entropy(np.array([1e4, -1e4])) == 0).all()


@pytest.mark.parametrize("intercept", [True, False])
def test_value_and_derivatives_are_the_formula(intercept):
    target = objective(intercept)
    w = rng.normal(size=target.size)
    g = target.features @ w
    margin, free = SIGNS * g[:N_LABELED], g[N_LABELED:]
    weight = np.where(SIGNS > 0, 0.3 / (SIGNS > 0).sum(), 0.7 / (SIGNS < 0).sum())
    penalty = 0.1 * np.sum(w[:3] ** 2)
    value, gradient = value_and_gradient(target, w, 0.1, 0.5)
    p = expit(free)
    uncertain = np.mean(-p * np.log(p) - (1 - p) * np.log(1 - p))
    assert value == pytest.approx(weight @ np.log1p(np.exp(-margin)) + 0.5 * uncertain + penalty)
    assert_allclose(
        gradient, optimize.approx_fprime(w, lambda v: value_and_gradient(target, v, 0.1, 0.5)[0]), atol=1e-6
    )
    numerical = optimize.approx_fprime(w, lambda v: value_and_gradient(target, v, 0.1, 0.5)[1])
    bend = at(target, w, 0.1, 0.5).bend[0]
    hessian = target.features.T @ (bend[:, None] * target.features) + 0.2 * np.diag(target.penalized)
    assert_allclose(hessian, numerical, atol=1e-5)


def kernel_objective(bandwidth=0.7):
    problem = training(gram("rbf", X, X, bandwidth))
    return ConfidenceObjective(rotate(problem.gram), problem, problem.outputs[0][0], intercept=False)


@pytest.mark.parametrize("mu, convex", [(0.0, True), (1e-3, True), (0.1, False), (100.0, False)])
@pytest.mark.parametrize("many, accuracy", [(N + 1, 1e-10), (1, 1e-6)])
def test_newton_solves_for_the_coupled_directions_and_goes_downhill_in_all(mu, convex, many, accuracy, monkeypatch):
    monkeypatch.setattr(confidence, "MANY", many)  # from which on directions are solved for in single precision
    target, alpha = kernel_objective(), 1e-3
    w = 0.1 * rng.normal(size=target.size)
    point = at(target, w, alpha, mu)
    gradient, bend = point.gradient[0], point.bend[0]
    (r,) = target.n_coupled(point)
    assert 0 < r < target.size
    direction = target.newton_directions(point)[0]
    assert gradient @ direction < 0
    Z = target.features[:, :r]
    hessians = [Z.T @ (b[:, None] * Z) + 2 * alpha * np.eye(r) for b in (bend, np.abs(bend))]
    assert (np.linalg.eigvalsh(hessians[0])[0] > 0) == convex
    assert_allclose(hessians[0 if convex else 1] @ direction[:r], -gradient[:r], atol=accuracy)


@pytest.mark.parametrize("scores", [1e3, 720.0])  # whose curvature is zero, or has no digits left
def test_where_every_row_is_decided_no_direction_is_coupled(scores):
    target = kernel_objective()
    point = at(target, target.features.T @ np.full(N, scores) / target.squares, 100.0, 1.0)
    assert target.n_coupled(point).tolist() == [0]
    assert_allclose(target.newton_directions(point), -point.gradient / 200)


def test_what_single_precision_cannot_factor_is_solved_in_double(monkeypatch):
    monkeypatch.setattr(confidence, "MANY", 1)
    target, alpha = kernel_objective(), 1e-10
    point = at(target, np.zeros(target.size), alpha, 0.0)  # where labelled rows alone bend, so that the rank is theirs
    (r,) = target.n_coupled(point)
    Z = target.features[:, :r]
    hessian = Z.T @ (point.bend[0][:, None] * Z) + 2 * alpha * np.eye(r)
    with pytest.raises(np.linalg.LinAlgError):
        np.linalg.cholesky(hessian.astype(np.float32))
    direction = target.newton_directions(point)[0]
    assert_allclose(hessian @ direction[:r], -point.gradient[0, :r], atol=1e-8)


@pytest.mark.parametrize("mu", [0.1, 1.0])
def test_newton_and_descent_end_in_the_same_minimum_from_nearby(mu, monkeypatch):
    target = kernel_objective()
    start = minimum(target, np.zeros(target.size), 1e-2, mu)
    start = start + 1e-3 * rng.normal(size=target.size)
    by_newton = minimum(target, start, 1e-2, mu)
    monkeypatch.setattr(descent, "MOST_STEPS", 0)
    by_descent = minimum(target, start, 1e-2, mu)
    assert_allclose(target.features @ by_newton, target.features @ by_descent, atol=1e-4)


@pytest.mark.parametrize("alpha, mu", [(1e-5, 0.0), (1e-3, 0.1), (1e-2, 10.0), (1.0, 100.0)])
def test_the_minimiser_is_stationary_and_no_higher_than_its_start(alpha, mu):
    target = objective()
    start = rng.normal(size=target.size)
    w = minimum(target, start, alpha, mu)
    value, gradient = value_and_gradient(target, w, alpha, mu)
    assert value <= value_and_gradient(target, start, alpha, mu)[0]
    assert np.abs(gradient).max() < 1e-5 * max(1, mu)


@pytest.mark.parametrize("wide", [confidence.WIDE, 0.1])
def test_problems_side_by_side_have_the_minima_that_each_has_alone(wide, monkeypatch):
    monkeypatch.setattr(confidence, "WIDE", wide)  # the smaller one sends some to L-BFGS
    monkeypatch.setattr(confidence, "FEW", 5)
    target = kernel_objective()
    starts = rng.normal(size=(12, target.size))
    alphas, mus = np.tile([1e-4, 1e-2, 1.0], 4), np.repeat([0.0, 1e-3, 1.0, 100.0], 3)
    together = minimize_confidence(target, starts, alphas, mus)
    alone = np.array([minimum(target, *problem) for problem in zip(starts, alphas, mus, strict=True)])
    values = [target.at(w, alphas, mus).value for w in (together, alone)]
    assert_allclose(*values, rtol=1e-9)
    assert_allclose(together @ target.features.T, alone @ target.features.T, atol=1e-4)


def test_a_problem_starts_at_the_minimum_of_its_parent():
    target = kernel_objective()
    alphas, mus, parents = np.full(4, 1e-3), np.array([10.0, 0.1, 100.0, 1.0]), np.array([3, -1, 0, 1])
    starts = rng.normal(size=(4, target.size))
    chain = minimize_confidence(target, starts, alphas, mus, parents=parents)
    w = starts[1]
    for i in (1, 3, 0, 2):
        w = minimum(target, w, alphas[i], mus[i])
        assert_allclose(target.features @ chain[i], target.features @ w, atol=1e-3)


@pytest.mark.parametrize("alpha", [1e-4, 1e-2, 1.0])
@pytest.mark.parametrize("prior", ["labeled", 0.3])
def test_without_entropy_it_is_weighted_logistic_regression(alpha, prior):
    counts = np.bincount(TRUTH[:N_LABELED])
    shares = counts / N_LABELED if prior == "labeled" else np.array([0.7, 0.3])
    weight = (shares / counts)[TRUTH[:N_LABELED]]
    supervised = LogisticRegression(C=1 / (2 * alpha), tol=1e-10, max_iter=10000)
    supervised.fit(X[:N_LABELED], SIGNS, sample_weight=weight)
    model = EntropyRegularizedClassifier(kernel="linear", alpha=alpha, entropy=0.0, prior=prior).fit(X, Y)
    assert_allclose(model.coef_, supervised.coef_[0], atol=1e-4)
    assert_allclose(model.predict_proba(X), supervised.predict_proba(X), atol=1e-4)


def test_the_kernel_model_minimises_over_the_original_coefficients():
    features = gram("rbf", X, X, 1.5)
    model = EntropyRegularizedClassifier(alpha=1e-3, entropy=0.05, bandwidth=1.5, prior="labeled").fit(X, Y)

    def plain(w):
        g = features @ w
        return np.logaddexp(0, -SIGNS * g[:N_LABELED]).mean() + 0.05 * entropy(g[N_LABELED:]).mean() + 1e-3 * w @ w

    best = optimize.minimize(plain, model.coef_, method="BFGS", options={"gtol": 1e-6, "maxiter": 20})
    assert plain(model.coef_) <= best.fun + 1e-9
    assert np.abs(optimize.approx_fprime(model.coef_, plain)).max() < 1e-5


def test_more_weight_on_entropy_means_less_of_it():
    models = [
        EntropyRegularizedClassifier(alpha=1e-3, entropy=mu, bandwidth=1.5, prior=0.5).fit(X, Y)
        for mu in (0.0, 0.01, 0.1, 1.0, 10.0)
    ]
    means = [entropy(model.decision_function(X[N_LABELED:])).mean() for model in models]
    assert (np.diff(means) < 1e-6).all()
    assert means[-1] < 0.5 * means[0]


@pytest.mark.parametrize("mu", [1e-3, 0.05, 2.0])
def test_a_candidate_gives_the_same_model_alone_and_in_company(mu):
    problem = training(gram("rbf", X, X, 1.5))
    model = EntropyRegularizedClassifier()
    grid = [{"alpha": alpha, "entropy": value} for alpha in (1e-3, 1e-1) for value in (1e-5, mu, 10.0)]
    together = dict(zip(map(str, grid), model._learn(problem, grid), strict=True))
    for candidate in ({"alpha": 1e-3, "entropy": mu}, {"alpha": 1e-1, "entropy": mu}):
        alone = next(iter(model._learn(problem, [candidate])))
        assert_allclose(problem.gram @ together[str(candidate)]["coef"], problem.gram @ alone["coef"], atol=2e-3)


@pytest.mark.parametrize("n_features", [3, 200])
def test_sparse_and_wide_rows_have_the_same_linear_model(n_features):
    rows = rng.normal(size=(N, n_features)) * (rng.random((N, n_features)) < 0.3)
    options = {"kernel": "linear", "alpha": 0.01, "entropy": 0.1, "prior": 0.5}
    dense = EntropyRegularizedClassifier(**options).fit(rows, Y)
    thin = EntropyRegularizedClassifier(**options).fit(sparse.csr_matrix(rows), Y)
    assert dense.coef_.shape == (n_features,)
    assert_allclose(thin.coef_, dense.coef_, atol=1e-6)
    assert_allclose(thin.decision_function(rows), dense.decision_function(sparse.csr_matrix(rows)), atol=1e-5)


def test_without_unlabelled_rows_it_is_kernel_logistic_regression():
    labeled = slice(N_LABELED)
    with_price = EntropyRegularizedClassifier(alpha=0.01, entropy=10.0, bandwidth=1.0, prior=0.5)
    without = EntropyRegularizedClassifier(alpha=0.01, entropy=0.0, bandwidth=1.0, prior=0.5)
    with pytest.warns(UserWarning, match="is a plain logistic regression"):
        scores = [m.fit(X[labeled], Y[labeled]).decision_function(X) for m in (with_price, without)]
    assert_allclose(*scores, atol=1e-8)


def test_a_kernel_matrix_symmetric_up_to_rounding_is_not_squared():
    kernel = gram("rbf", X, X, 5.0)
    rounded = kernel * (1 + 1e-15 * rng.normal(size=kernel.shape))
    assert rotate(rounded).lengths.shape == rotate((kernel + kernel.T) / 2).lengths.shape


@pytest.mark.parametrize("shape", [(6, 6), (9, 4), (4, 9)])
def test_rotated_features_span_the_same_functions(shape):
    features = rng.normal(size=shape)
    rotated = rotate(features)
    product = rotated.coordinates.T @ rotated.coordinates
    assert_allclose(product, np.diag(rotated.lengths**2), atol=1e-8)
    coefficients = rng.normal(size=rotated.coordinates.shape[1])
    assert_allclose(features @ rotated.lift(coefficients), rotated.coordinates @ coefficients, atol=1e-8)
    assert np.linalg.norm(rotated.lift(coefficients)) == pytest.approx(np.linalg.norm(coefficients))
    assert_allclose(rotated.lower(rotated.lift(coefficients)), coefficients)
    assert (np.diff(rotated.lengths) <= 0).all()
