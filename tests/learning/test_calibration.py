"""Probabilities: what `predict` answers is the likeliest class, and the nearest distribution is nearest."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize, minimize_scalar
from scipy.special import expit

from pnulearn import PNUClassifier
from pnulearn._learning.calibration import PENALTY, fit_slope, nearest_distribution, probabilities
from pnulearn._learning.selection import validation_mix
from pnulearn._problem.samples import Samples
from pnulearn.baselines import EntropyRegularizedClassifier, SMIRClassifier
from pnulearn.losses import LOSSES, Logistic
from pnulearn.risks import pnu

TRAINABLE = [name for name, loss in LOSSES.items() if loss.trainable]
FAR = [[0.0, 0.0, 0.0], [9.0, 9.0, 9.0], [40.0, -40.0, 1.0], [300.0, 7.0, -2.0]]


def three_classes(gaussians):
    X, y = gaussians(30, 30, 90)
    y[(X[:, 0] > 0.8) & ~np.isnan(y)] = 2
    return X, y


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("loss", TRAINABLE)
def test_the_likelier_of_two_classes_is_the_one_predicted(gaussians, loss, kernel):
    """Labels are half positive, the population a fifth, which is where a shift used to disagree."""
    X, y = gaussians(25, 25, 100)
    risk = "pn" if loss == "hinge" else "pnu"
    model = PNUClassifier(risk, loss, kernel, prior=0.2, alpha=0.01, mix=[0.0, 0.4], cv=3, random_state=0)
    rows = np.vstack([X, 1.5 * np.random.default_rng(0).normal(size=(500, X.shape[1])), FAR])
    probability = model.fit(X, y).predict_proba(rows)
    assert (model.classes_[(probability[:, 1] > 0.5).astype(int)] == model.predict(rows)).all()
    assert (model.classes_[probability.argmax(axis=1)] == model.predict(rows)).all()


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("loss", TRAINABLE)
def test_the_likeliest_of_three_classes_is_the_one_predicted(gaussians, loss, kernel):
    X, y = three_classes(gaussians)
    risk = "pn" if loss == "hinge" else "pnu"
    model = PNUClassifier(
        risk, loss, kernel, prior={0.0: 0.2, 1.0: 0.5, 2.0: 0.3}, alpha=0.1, mix=0.3, cv=3, random_state=0
    )
    rows = np.vstack([X, 1.5 * np.random.default_rng(0).normal(size=(500, X.shape[1])), FAR])
    probability = model.fit(X, y).predict_proba(rows)
    assert (model.classes_[probability.argmax(axis=1)] == model.predict(rows)).all()
    assert_allclose(probability.sum(axis=1), 1)


@pytest.mark.parametrize("baseline", [EntropyRegularizedClassifier, SMIRClassifier])
def test_baselines_agree_with_themselves(gaussians, baseline):
    for X, y in (gaussians(25, 25, 60), three_classes(gaussians)):
        model = baseline(prior="labeled", bandwidth=1.0, alpha=0.1, cv=2, random_state=0).fit(X, y)
        rows = np.vstack([X, 2 * X, FAR])
        assert (model.classes_[model.predict_proba(rows).argmax(axis=1)] == model.predict(rows)).all()


def test_scores_that_rounding_cannot_tell_apart_keep_their_order():
    tiny, huge = np.array([1e-300, -1e-300]), np.array([[50.0, 60.0, -5.0], [-900.0, -950.0, -800.0]])
    for calibration in (None, np.array([[1.0, 0.0]])):
        assert (probabilities(tiny, calibration)[:, 1] > 0.5).tolist() == [True, False]
    for calibration in (None, np.tile([1.0, 0.0], (3, 1))):
        answer = probabilities(huge, calibration)
        assert answer.argmax(axis=1).tolist() == [1, 2]
        assert_allclose(answer.sum(axis=1), 1)


def test_no_distribution_is_nearer():
    rows = np.random.default_rng(0).normal(scale=0.8, size=(6, 4))
    for row, ours in zip(rows, nearest_distribution(rows), strict=True):
        sums = {"type": "eq", "fun": lambda p: p.sum() - 1}
        found = minimize(
            lambda p, row=row: np.sum((p - row) ** 2),
            np.full(4, 0.25),
            bounds=[(0, 1)] * 4,
            constraints=[sums],
            tol=1e-12,
        )
        assert_allclose(ours, found.x, atol=1e-5)


@pytest.mark.parametrize("prior", [(0.7, 0.3), (0.2, 0.5, 0.3)])
def test_the_slope_minimises_the_risk_of_the_logistic_loss(prior):
    """An optimiser of one number on the plain risk, with rows that have no score left out."""
    rng = np.random.default_rng(1)
    prior, n_classes = np.array(prior), len(prior)
    own_classes = [1] if n_classes == 2 else list(range(n_classes))
    codes = np.repeat([*range(n_classes), -1], [12] * n_classes + [40])
    scores = rng.normal(size=(len(own_classes), len(codes))) + (codes == np.array(own_classes)[:, None])
    scores[:, ::11] = np.nan
    rows = Samples(np.zeros((len(codes), 1)), codes, np.ones(len(codes)), n_classes, "by_class")
    counts = np.array([np.sum((codes == k) & ~np.isnan(scores[0])) for k in range(-1, n_classes)], dtype=float)
    unit = np.sqrt(np.nanmean(scores**2))

    def risk(slope):
        total = len(scores) * PENALTY * (slope * unit) ** 2
        for g, own in zip(scores, own_classes, strict=True):
            seen = {k: g[(codes == k) & ~np.isnan(g)] for k in (*range(n_classes), -1)}
            means = {k: Logistic()(np.outer([slope, -slope], one)).mean(axis=1) for k, one in seen.items()}
            others = sum(prior[k] * means[k] for k in range(n_classes) if k != own) / (1 - prior[own])
            table = pnu(prior[own], validation_mix(prior, counts[1:], counts[0], own)).table
            total += np.sum(table * [means[own], others, means[-1]])
        return total

    found = minimize_scalar(risk, bounds=(1e-6, 20), method="bounded", options={"xatol": 1e-10})
    assert fit_slope(scores, rows, prior) == pytest.approx(found.x, rel=1e-4)


def test_two_classes_of_the_squared_loss_have_a_slope_if_rows_were_held_out(gaussians):
    X, y = gaussians(25, 25, 100)
    model = PNUClassifier(prior=0.3, centers=20, random_state=0).fit(X, y)
    codes = np.where(np.isnan(y), -1, y == model.classes_[1]).astype(int)
    rows = Samples(X, codes, np.ones(len(y)), 2, "by_class")
    slope = fit_slope(model.validation_scores_[None], rows, np.array([0.7, 0.3]))
    assert_allclose(model.calibration_, [[slope, 0.0]])
    assert_allclose(model.predict_proba(X)[:, 1], expit(slope * model.decision_function(X)))
    single = {"mix": 0.3, "alpha": 0.1, "bandwidth": 1.0, "prior": 0.3}
    batches = PNUClassifier(centers=20, random_state=0, **single).partial_fit(X, y, classes=model.classes_)
    assert batches.calibration_ is None
    assert_allclose(batches.predict_proba(X)[:, 1], np.clip((1 + batches.decision_function(X)) / 2, 0, 1))
    assert PNUClassifier(alpha=0.1, mix=0.3, random_state=0).fit(*three_classes(gaussians)).calibration_ is None


def test_scores_that_point_the_wrong_way_say_nothing_much():
    codes = np.repeat([1, 0, -1], [10, 10, 20])
    scores = np.where(codes == 1, -1.0, 1.0)[None]
    rows = Samples(np.zeros((40, 1)), codes, np.ones(40), 2, "by_class")
    slope = fit_slope(scores, rows, np.array([0.5, 0.5]))
    assert 0 < slope < 0.01
