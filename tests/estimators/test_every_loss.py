"""Training with every loss: the minimiser is not beaten by an independent optimiser on the plain risk."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

from pnulearn import PNUClassifier
from pnulearn._kernels.gaussian import gaussian, squared_distances
from pnulearn.losses import LOSSES
from pnulearn.risks import empirical_risk, nu, pn, pnu, pu, punu

PRIOR, ALPHA, BANDWIDTH = 0.4, 0.02, 2.0
RISKS = {"pn": pn(PRIOR), "pu": pu(PRIOR), "nu": nu(PRIOR), "pnu": pnu(PRIOR, 0.5), "punu": punu(PRIOR, 0.3)}
MIX = {"pnu": 0.5, "punu": 0.3}
CONVEX, OTHERS = ("squared", "logistic", "double_hinge", "hyperbolic"), ("ramp", "sigmoid")


def fitted(X, y, loss, risk, kernel="rbf", mix=None):
    options = {"centers": X[:15], "bandwidth": BANDWIDTH} if kernel == "rbf" else {}
    mix = MIX.get(risk) if mix is None else mix
    return PNUClassifier(risk, loss, kernel, prior=PRIOR, mix=mix, alpha=ALPHA, random_state=0, **options).fit(X, y)


def objective_of(X, y, loss, risk, kernel):
    """The paper's regularised empirical risk, and the coefficients of a fitted model as its argument."""
    Z = gaussian(squared_distances(X, X[:15]), BANDWIDTH) if kernel == "rbf" else np.column_stack([X, np.ones(len(X))])
    penalised = np.ones(Z.shape[1])
    if kernel == "linear":
        penalised[-1] = 0

    def value(w):
        g = Z @ w
        groups = (g[y == 1], g[y == 0], g[np.isnan(y)])
        return empirical_risk(RISKS[risk], LOSSES[loss], groups) + ALPHA * np.sum(penalised * w**2)

    return value


def coefficients(model, kernel):
    return model.coef_[0, 0] if kernel == "rbf" else np.append(model.coef_[0], model.intercept_[0])


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("risk", RISKS)
@pytest.mark.parametrize("loss", CONVEX)
def test_no_optimiser_beats_a_convex_minimiser(gaussians, loss, risk, kernel):
    X, y = gaussians(15, 12, 40)
    value = objective_of(X, y, loss, risk, kernel)
    ours = coefficients(fitted(X, y, loss, risk, kernel), kernel)
    for start in (ours, 0 * ours):
        found = minimize(value, start, method="BFGS" if loss != "double_hinge" else "Powell", options={"maxiter": 400})
        assert value(ours) <= found.fun + 1e-7
    if loss != "double_hinge":
        assert_allclose(found.x, ours, atol=2e-3)


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("risk", RISKS)
@pytest.mark.parametrize("loss", OTHERS)
def test_a_minimiser_of_a_bounded_loss_cannot_be_improved_nearby(gaussians, loss, risk, kernel):
    X, y = gaussians(15, 12, 40)
    value = objective_of(X, y, loss, risk, kernel)
    ours = coefficients(fitted(X, y, loss, risk, kernel), kernel)
    rng = np.random.default_rng(0)
    for scale in (1e-4, 1e-3, 1e-2):
        steps = scale * rng.normal(size=(200, len(ours)))
        assert value(ours) <= min(value(ours + step) for step in steps) + 1e-7


@pytest.mark.parametrize("loss", OTHERS)
@pytest.mark.parametrize("eta", [-0.6, 0.2, 0.8])
def test_pnu_is_punu_for_symmetric_losses(gaussians, loss, eta):
    X, y = gaussians(15, 12, 40)
    left = fitted(X, y, loss, "pnu", mix=eta).decision_function(X)
    right = fitted(X, y, loss, "punu", mix=(1 - eta) / 2).decision_function(X)
    assert_allclose(left, right, atol=1e-5)


def balanced(y):
    return np.where(y == 1, PRIOR / np.sum(y == 1), (1 - PRIOR) / np.sum(y == 0))


def test_supervised_logistic_is_weighted_logistic_regression(gaussians):
    X, y = gaussians(20, 16, 30)
    known = ~np.isnan(y)
    model = fitted(X, y, "logistic", "pn", "linear")
    peer = LogisticRegression(C=1 / (2 * ALPHA), tol=1e-12, max_iter=10_000)
    peer.fit(X[known], y[known], sample_weight=balanced(y[known]))
    assert_allclose(model.coef_, peer.coef_, atol=1e-5)
    assert_allclose(model.intercept_, peer.intercept_, atol=1e-5)


def test_supervised_hinge_is_a_weighted_svm(gaussians):
    X, y = gaussians(20, 16, 30)
    known = ~np.isnan(y)
    Z = gaussian(squared_distances(X, X[:15]), BANDWIDTH)
    peer = SVC(kernel="linear", C=1 / (2 * ALPHA), tol=1e-10)
    peer.fit(Z[known], y[known], sample_weight=balanced(y[known]))
    model = PNUClassifier("pn", "hinge", prior=PRIOR, alpha=ALPHA, bandwidth=BANDWIDTH, centers=X[:15]).fit(X, y)
    # libsvm has an offset and our kernel model has none, so objectives are compared on the offset-free problem
    signs = np.where(y[known] == 1, 1, -1)

    def value(w):
        return np.sum(balanced(y[known]) * np.maximum(0, 1 - signs * (Z[known] @ w))) + ALPHA * w @ w

    assert value(model.coef_[0, 0]) <= value(peer.coef_[0]) + 1e-8


def test_hinge_with_unlabelled_rows_names_the_losses_that_fit(gaussians):
    X, y = gaussians()
    with pytest.raises(ValueError, match="double_hinge"):
        PNUClassifier(loss="hinge", prior=PRIOR).fit(X, y)


@pytest.mark.parametrize("loss", ["logistic", "double_hinge", "ramp", "sigmoid"])
def test_search_averaging_and_probabilities_work(gaussians, loss):
    X, y = gaussians(30, 25, 100)
    options = {"alpha": [1e-2, 1e-1], "mix": [0.0, 0.5], "bandwidth": [1.0, 3.0], "prior": PRIOR, "random_state": 0}
    model = PNUClassifier(loss=loss, **options).fit(X, y)
    assert model.score(*gaussians(200, 200, 0, seed=1)) > 0.75
    assert model.converged_
    assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    assert abs(model.predict_proba(X[np.isnan(y)])[:, 1].mean() - PRIOR) < 0.15
