"""PNUClassifier with every loss: the same promises as with the squared one."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from pnulearn import PNUClassifier, load
from pnulearn._solvers import cccp
from pnulearn._solvers import newton as smooth
from pnulearn.losses import LOSSES, Loss

ITERATIVE = ["logistic", "double_hinge", "hyperbolic", "ramp", "sigmoid"]
FEW = {"alpha": [1e-3, 1e-1], "mix": [-0.5, 0.0, 0.5], "prior": 0.4, "random_state": 0}


def candidates(kernel, risk="pnu", **changes):
    options = FEW | ({"bandwidth": [1.0, 3.0]} if kernel == "rbf" else {}) | changes
    if risk == "punu":
        options["mix"] = [0.2, 0.5, 0.8]
    return options if risk in ("pnu", "punu") else {name: value for name, value in options.items() if name != "mix"}


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("risk", ["pnu", "punu", "pn", "pu", "nu"])
@pytest.mark.parametrize("loss", ITERATIVE)
def test_every_loss_learns_with_every_risk_and_kernel(gaussians, loss, risk, kernel):
    X, y = gaussians(40, 30, 120)
    X_test, y_test = gaussians(300, 300, 0, seed=1)
    few = candidates(kernel, risk, cv=3, **({"bandwidth": 2.0} if kernel == "rbf" else {}))
    model = PNUClassifier(risk, loss, kernel, **few).fit(X, y)
    assert model.score(X_test, y_test) > 0.75
    assert model.converged_
    assert model.n_iter_ >= 1


def test_the_hinge_learns_with_the_pn_risk_and_says_what_else_there_is(gaussians):
    X, y = gaussians(40, 30, 50)
    X_test, y_test = gaussians(300, 300, 0, seed=1)
    model = PNUClassifier("pn", "hinge", **candidates("rbf", "pn")).fit(X, y)
    assert model.score(X_test, y_test) > 0.75
    with pytest.raises(
        ValueError, match=r"hinge.*'logistic', 'double_hinge', 'hyperbolic', 'ramp', 'sigmoid'.*risk='pn'"
    ):
        PNUClassifier(loss="hinge", **candidates("rbf")).fit(X, y)


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("loss", ["logistic", "double_hinge"])
def test_weights_equal_repeated_rows_in_any_order(gaussians, loss, kernel):
    X, y = gaussians(n_unlabeled=40)
    rng = np.random.default_rng(0)
    weight = rng.integers(0, 3, size=len(y))
    rows = rng.permutation(np.repeat(np.arange(len(y)), weight))
    model = PNUClassifier(loss=loss, kernel=kernel, **candidates(kernel))
    weighted = model.fit(X, y, sample_weight=weight).decision_function(X)
    repeated = model.fit(X[rows], y[rows]).decision_function(X)
    assert_allclose(weighted, repeated, atol=1e-4)


@pytest.mark.parametrize("loss", ITERATIVE)
def test_swapping_classes_with_prior_and_mix_mirrored_flips_the_sign(gaussians, loss):
    X, y = gaussians()
    options = {"alpha": 1e-2, "bandwidth": 2.0, "random_state": 0, "loss": loss}
    model = PNUClassifier(prior=0.25, mix=0.5, **options).fit(X, y)
    mirror = PNUClassifier(prior=0.75, mix=-0.5, **options).fit(X, 1 - y)
    assert_allclose(model.decision_function(X), -mirror.decision_function(X), atol=1e-6)


@pytest.mark.parametrize("loss", ["ramp", "sigmoid"])
def test_symmetric_losses_make_pnu_and_punu_one_family(gaussians, loss):
    X, y = gaussians()
    options = {"alpha": 1e-3, "bandwidth": 2.0, "prior": 0.4, "random_state": 0, "loss": loss}
    for eta in (-0.6, 0.2):
        pnu = PNUClassifier("pnu", mix=eta, **options).fit(X, y)
        punu = PNUClassifier("punu", mix=(1 - eta) / 2, **options).fit(X, y)
        assert_allclose(pnu.decision_function(X), punu.decision_function(X), atol=1e-6)


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_logistic_pn_is_weighted_logistic_regression(gaussians, kernel):
    X, y = gaussians(30, 20, 0)
    options = {"alpha": 1e-2, "prior": 0.4, "random_state": 0} | ({"bandwidth": 2.0} if kernel == "rbf" else {})
    model = PNUClassifier("pn", "logistic", kernel, **options).fit(X, y)
    features = X
    if kernel == "rbf":
        features = np.exp(-((X[:, None] - model.centers_) ** 2).sum(axis=-1) / (2 * 2.0**2))
    peer = LogisticRegression(C=1 / (2 * 1e-2), fit_intercept=kernel == "linear", tol=1e-10, max_iter=10_000)
    peer.fit(features, y, sample_weight=np.where(y == 1, 0.4 / 30, 0.6 / 20))
    assert_allclose(model.decision_function(X), peer.decision_function(features), atol=1e-5)
    assert_allclose(model.predict_proba(X), peer.predict_proba(features), atol=1e-5)


def test_the_answer_does_not_depend_on_n_jobs(gaussians):
    X, y = gaussians()
    for loss in ("logistic", "ramp"):
        few = candidates("rbf", mix=[0.0, 0.5], cv=2)
        one, two = (PNUClassifier(loss=loss, n_jobs=n, **few).fit(X, y) for n in (1, 2))
        assert_array_equal(one.decision_function(X), two.decision_function(X))


@pytest.mark.parametrize("loss", ITERATIVE)
def test_more_than_two_classes(loss):
    X, y = load_iris(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    partly = y.astype(float)
    partly[np.random.default_rng(0).permutation(150)[:90]] = np.nan
    prior = {0: 1 / 3, 1: 1 / 3, 2: 1 / 3}
    model = PNUClassifier(loss=loss, prior=prior, alpha=1e-3, bandwidth=[1.0, 2.0], mix=[0.0, 0.3], random_state=0)
    model.fit(X, partly)
    assert model.score(X, y) > 0.9
    probability = model.predict_proba(X)
    assert probability.shape == (150, 3)
    assert_allclose(probability.sum(axis=1), 1)
    assert np.mean(probability.argmax(axis=1) == y) > 0.85


@pytest.mark.parametrize("loss", ["squared", *ITERATIVE])
def test_probabilities_are_those_of_the_population(gaussians, loss):
    """The labels are half positive, the population 20 %; the true probability is known."""
    rng = np.random.default_rng(0)
    truth = np.concatenate([np.ones(150), np.zeros(150), rng.random(600) < 0.2])
    X = rng.normal(size=(900, 1)) + 2 * truth[:, None]
    y = np.where(np.arange(900) < 300, truth, np.nan)
    model = PNUClassifier(loss=loss, prior=0.2, alpha=1e-3, bandwidth=1.5, mix=0.2, centers=40, random_state=0)
    grid = np.linspace(-1.5, 3.5, 30)[:, None]
    known = expit(2 * grid[:, 0] - 2 + np.log(0.2 / 0.8))
    probability = model.fit(X, y).predict_proba(grid)[:, 1]
    assert np.abs(probability - known).mean() < 0.07
    assert model.predict_proba(X[300:])[:, 1].mean() == pytest.approx(0.2, abs=0.04)


def test_logistic_probabilities_are_the_scores_as_log_odds(gaussians):
    X, y = gaussians()
    model = PNUClassifier(loss="logistic", **candidates("rbf")).fit(X, y)
    assert_allclose(model.predict_proba(X)[:, 1], expit(model.decision_function(X)))


def test_the_selection_of_one_candidate_reports_its_own_values(gaussians):
    X, y = gaussians()
    model = PNUClassifier(loss="logistic", selection="best", **candidates("rbf")).fit(X, y)
    again = PNUClassifier(
        loss="logistic", mix=model.mix_, alpha=model.alpha_, bandwidth=model.bandwidth_, prior=0.4, random_state=0
    ).fit(X, y)
    assert_allclose(model.decision_function(X), again.decision_function(X), atol=1e-6)


def test_candidates_are_compared_on_squashed_scores(gaussians):
    """Scores of a barely penalised logistic fit are huge; the risk that settles ties must not be."""
    X, y = gaussians()
    model = PNUClassifier(loss="logistic", **candidates("rbf", alpha=[1e-5, 1e-2])).fit(X, y)
    assert np.abs(model.search_.squared).max() < 2


@pytest.mark.parametrize(("loss", "module", "limit"), [("logistic", smooth, "MAX_STEPS"), ("ramp", cccp, "MAX_ROUNDS")])
def test_fits_that_stop_early_are_reported_with_a_remedy(gaussians, monkeypatch, loss, module, limit):
    X, y = gaussians()
    monkeypatch.setattr(module, limit, 1)
    with pytest.warns(ConvergenceWarning, match=r"did not converge.*alpha \(0\.001\).*standardise"):
        model = PNUClassifier(loss=loss, kernel="linear", **candidates("linear")).fit(X, y)
    assert not model.converged_
    assert np.isfinite(model.decision_function(X)).all()


@pytest.mark.parametrize("loss", ["squared", *ITERATIVE])
def test_no_penalty_is_refused_with_the_reason(gaussians, loss):
    X, y = gaussians()
    with pytest.raises(
        ValueError, match=r"alpha must be .*since without a penalty the risk may have no minimum, got 0"
    ):
        PNUClassifier(loss=loss, alpha=0.0, prior=0.4).fit(X, y)


def test_losses_that_only_evaluate_are_refused(gaussians):
    X, y = gaussians()
    with pytest.raises(ValueError, match="zero_one loss cannot be trained"):
        PNUClassifier(loss="zero_one", prior=0.4).fit(X, y)


class Smoothed(Loss):
    """sqrt(1 + m²)/2 − m/2: convex, smooth, and ℓ(m) − ℓ(−m) = −m."""

    name, gap, convex, smooth = "smoothed", "linear", True, True

    def __call__(self, margin):
        margin = np.asarray(margin)
        return np.sqrt(1 + margin**2) / 2 - margin / 2

    def derivative(self, margin):
        margin = np.asarray(margin)
        return margin / np.sqrt(1 + margin**2) / 2 - 0.5


def test_a_loss_of_ones_own(gaussians):
    X, y = gaussians(40, 30, 120)
    model = PNUClassifier(loss=Smoothed(), **candidates("rbf")).fit(X, y)
    X_test, y_test = gaussians(300, 300, 0, seed=1)
    assert model.score(X_test, y_test) > 0.75


@pytest.mark.parametrize("loss", ["logistic", "ramp", Smoothed()], ids=str)
def test_saved_models_keep_their_probabilities(gaussians, tmp_path, loss):
    X, y = gaussians()
    model = PNUClassifier(loss=loss, **candidates("rbf")).fit(X, y)
    model.save(tmp_path / "model.npz")
    assert_array_equal(load(tmp_path / "model.npz").predict_proba(X), model.predict_proba(X))


def test_held_out_rows_serve_all_losses(gaussians):
    X, y = gaussians(20, 15, 60)
    X_val, y_val = gaussians(20, 20, 0, seed=2)
    for loss in ITERATIVE:
        model = PNUClassifier(loss=loss, **candidates("rbf")).fit(X, y, X_val=X_val, y_val=y_val)
        assert model.score(X_val, y_val) > 0.7
        assert 0 <= model.predict_proba(X).min() <= model.predict_proba(X).max() <= 1


def test_nothing_to_validate_with_is_no_reason_to_have_no_probabilities(gaussians):
    X, y = gaussians(1, 1, 40)
    model = PNUClassifier(loss="double_hinge", prior=0.4, mix=0.5, alpha=0.1, bandwidth=1.0).fit(X, y)
    assert np.isfinite(model.predict_proba(X)).all()


def test_progress_is_shown_for_every_bandwidth_and_fold(gaussians, capsys):
    X, y = gaussians()
    PNUClassifier(loss="logistic", verbose=1, cv=3, **candidates("rbf")).fit(X, y)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 6
    assert "6 of 6 grids solved" in lines[-1]


def test_every_name_that_can_be_trained_is_tested_here():
    trained = {name for name, loss in LOSSES.items() if loss.smooth or loss.kinks}
    assert trained == {"squared", "hinge", *ITERATIVE}
