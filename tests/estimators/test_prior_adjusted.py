"""Any classifier under the population's prior."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import check_estimator

from pnulearn import PriorAdjusted
from pnulearn._estimators.prior_adjusted import (
    SLOPES,
    USUAL_DISTANCE,
    adjust,
    cautious,
    class_scores,
    label_slope,
    matching_shift,
)
from pnulearn._intervals.posterior_grids import GRID
from pnulearn._learning.calibration import PENALTY
from pnulearn._problem.samples import Samples
from pnulearn.priors._estimate import PriorEstimate


def draw(seed, prior=0.2, share=0.7, n_labeled=60, n_unlabeled=600, distance=2.0):
    """Labels whose share of positives is not the population's; the truth of all rows comes last."""
    rng = np.random.default_rng(seed)
    n_positive = round(share * n_labeled)
    truth = np.concatenate([np.repeat([1, 0], [n_positive, n_labeled - n_positive]), rng.random(n_unlabeled) < prior])
    X = rng.normal(size=(len(truth), 2)) + distance / np.sqrt(2) * truth[:, None]
    return X, np.where(np.arange(len(truth)) < n_labeled, truth, np.nan), truth


def test_scikit_learn_finds_nothing_to_complain_about():
    results = check_estimator(PriorAdjusted(LogisticRegression()), on_fail=None, on_skip=None)
    assert [r["check_name"] for r in results if r["status"] not in ("passed", "skipped")] == []


@pytest.mark.parametrize("model", [LogisticRegression(), RandomForestClassifier(20, random_state=0), SVC()], ids=str)
@pytest.mark.parametrize("prior", [0.1, 0.5, 0.8])
def test_errors_fall_when_labels_have_other_shares_than_the_population(model, prior):
    share, alone, adjusted = 0.9 if prior < 0.5 else 0.2, [], []
    for seed in range(4):
        X, y, truth = draw(seed, prior, share)
        rows = slice(60, None)
        alone.append(np.mean(clone(model).fit(X[:60], y[:60]).predict(X[rows]) != truth[rows]))
        adjusted.append(np.mean(PriorAdjusted(model, prior).fit(X, y).predict(X[rows]) != truth[rows]))
    assert np.mean(adjusted) < np.mean(alone)


def test_probabilities_are_those_of_the_population():
    """Two normals at distance 2 have the log-odds √2 (x₁ + x₂) − 2 and those of the prior."""
    X, y, _ = draw(0, 0.2, n_labeled=400, n_unlabeled=2000)
    model = PriorAdjusted(LogisticRegression(C=100), 0.2).fit(X, y)
    known = expit(np.sqrt(2) * X.sum(axis=1) - 2 + np.log(0.2 / 0.8))
    assert np.abs(model.predict_proba(X)[:, 1] - known).mean() < 0.03
    assert model.predict_proba(X[400:])[:, 1].mean() == pytest.approx(0.2, abs=0.02)
    assert_array_equal(model.predict(X) == 1, model.predict_proba(X)[:, 1] > 0.5)
    assert_array_equal(model.predict(X) == 1, model.decision_function(X) > 0)


def test_with_as_many_labels_as_rows_the_odds_are_corrected_and_nothing_else():
    """Without U the model keeps its own odds, times prior odds over label odds."""
    X, y, _ = draw(1)
    X, y = X[:60], y[:60]
    plain = LogisticRegression().fit(X, y).predict_proba(X)
    wanted = plain * [0.8 / 0.3, 0.2 / 0.7]
    found = PriorAdjusted(LogisticRegression(), 0.2).fit(X, y).predict_proba(X)
    assert_allclose(found, wanted / wanted.sum(axis=1, keepdims=True), atol=2e-3)
    assert_allclose(PriorAdjusted(LogisticRegression()).fit(X, y).predict_proba(X), plain, atol=2e-3)


def test_the_shift_is_where_the_mean_probability_is_the_prior():
    """By brute force, for a prior that is certain beside a handful of labels."""
    rng = np.random.default_rng(0)
    codes = np.repeat([1, 0, -1], [6, 6, 5000])
    g = rng.normal(size=len(codes)) + 2 * ((codes == 1) | ((codes < 0) & (rng.random(len(codes)) < 0.3)))
    scores = np.column_stack([np.zeros_like(g), g])
    rows = Samples(np.zeros((len(codes), 1)), codes, np.ones(len(codes)))
    found = adjust(scores, rows, PriorEstimate.known(0.3), with_odds=False)
    grid = np.linspace(-8, 8, 16001)
    means = [expit(found.slope * g[12:] + b).mean() for b in grid]
    best = grid[np.argmin(np.abs(np.array(means) - 0.3))]
    assert found.weight > 0.9
    corrected = np.log(0.3 / 0.7)  # what the prior says before U is asked, as labels are balanced
    assert found.shift[1] - found.shift[0] == pytest.approx(corrected + found.weight * (best - corrected), abs=2e-3)


def test_an_unsure_prior_draws_the_threshold_less():
    X, y, _ = draw(2)
    weights = [PriorAdjusted(LogisticRegression(), p).fit(X, y).weight_ for p in (0.2, (0.15, 0.25), (0.02, 0.6))]
    assert 1 > weights[0] > weights[1] > weights[2] > 0


def way_gone(prior, labeled):
    """Of the log-odds between all pairs of neighbouring classes."""
    found = cautious(prior, np.asarray(labeled))
    moved, whole = (np.diff(np.log(p.shares)) - np.diff(np.log(labeled)) for p in (found, prior))
    return moved / whole


@pytest.mark.parametrize("ends", [(0.18, 0.22), (0.1, 0.4), (0.02, 0.9)])
def test_an_estimate_leaves_the_share_of_the_labels_as_far_as_pays_over_many_populations(ends):
    """How far priors that vary around the labels' share go with estimates of them, by regression."""
    prior, rng = PriorEstimate.of_range(*ends), np.random.default_rng(0)
    spread = rng.choice(GRID, 400_000, p=prior.mass).std()
    truth = rng.normal(0.0, USUAL_DISTANCE, 400_000)
    estimate = truth + rng.normal(0.0, spread, 400_000)
    assert way_gone(prior, [0.4, 0.6]) == pytest.approx(np.cov(truth, estimate)[0, 1] / estimate.var(), abs=0.01)


def test_more_classes_are_as_cautious_as_two():
    two = PriorEstimate.of_range(0.1, 0.4)
    theta = two.value
    concentration = theta * (1 - theta) / two.sd**2 - 1
    same = PriorEstimate(np.array([1 - theta, theta]), "given as shares", concentration=concentration)
    assert_allclose(way_gone(same, [0.5, 0.5]), way_gone(two, [0.5, 0.5]))
    vague, sure = (PriorEstimate.of_counts(n * np.array([5, 3, 1])) for n in (1, 100))
    assert np.ptp(way_gone(vague, [0.3, 0.3, 0.4])) == pytest.approx(0, abs=1e-12)
    assert way_gone(vague, [0.3, 0.3, 0.4]).mean() < 0.8 < 0.98 < way_gone(sure, [0.3, 0.3, 0.4]).mean() < 1
    known = PriorEstimate.known(np.array([0.6, 0.3, 0.1]))
    assert cautious(known, np.full(3, 1 / 3)) is known


@pytest.mark.parametrize("factor", [0.2, 1.0, 30.0])
def test_the_slope_of_held_out_labels_is_that_of_logistic_regression(factor):
    """Whose penalty is C = 1 / (2 n λ) for scores of size one, which is the unit here."""
    rng = np.random.default_rng(0)
    codes, weight = rng.integers(0, 2, 90), rng.integers(1, 4, 90).astype(float)
    g = rng.normal(codes - 0.5)
    g /= np.sqrt(np.average(g**2, weights=weight) / 2)  # then (−g/2, g/2) have the size one
    model = LogisticRegression(C=1 / (2 * PENALTY * weight.sum()), fit_intercept=False, tol=1e-10)
    wanted = model.fit(g[:, None], codes, weight).coef_[0, 0] / factor
    found = label_slope(factor * np.column_stack([-g / 2, g / 2]), codes, weight)
    assert found == pytest.approx(wanted, rel=1e-3)
    others = rng.normal(size=90)  # what is common to all classes says nothing
    assert label_slope(factor * np.column_stack([others, others + g]), codes, weight) == pytest.approx(found, rel=1e-3)


def test_held_out_rows_that_say_nothing_do_not_erase_the_order_of_a_model():
    rng = np.random.default_rng(0)
    codes, g = np.repeat([1, 0, -1], [6, 6, 40]), rng.normal(size=52)
    g[:6], g[6:12] = -1.0, 1.0  # worse than a coin
    rows = Samples(g[:, None], codes, np.ones(52), 2)
    slope = adjust(np.column_stack([np.zeros(52), g]), rows, PriorEstimate.of_range(0.1, 0.9), True).slope
    assert slope == pytest.approx(SLOPES[0] * np.sqrt(2), rel=1e-3)


def test_odds_are_scaled_before_they_are_corrected():
    """Timid odds that are as wrong as can be about their own sureness, not about the order of rows."""
    X, y, _ = draw(0, 0.2, share=0.5, n_labeled=400, n_unlabeled=2000)
    bold, timid = (PriorAdjusted(LogisticRegression(C=c), 0.2).fit(X, y) for c in (100, 1e-4))
    assert np.abs(bold.predict_proba(X)[:, 1] - timid.predict_proba(X)[:, 1]).mean() < 0.05
    assert np.mean(bold.predict(X) == timid.predict(X)) > 0.95
    assert timid.adjustment_.slope > 10 * bold.adjustment_.slope


def test_mean_probabilities_of_three_classes_become_the_shares():
    rng = np.random.default_rng(0)
    scores, weight, shares = 3 * rng.normal(size=(200, 3)), rng.random(200), np.array([0.1, 0.3, 0.6])
    shift = matching_shift(scores, weight, shares)
    assert_allclose(np.average(softmax(scores + shift, axis=1), axis=0, weights=weight), shares, atol=1e-6)
    two = matching_shift(scores[:, :2], weight, np.array([0.1, 0.9]))
    assert np.average(softmax(scores[:, :2] + two, axis=1)[:, 1], weights=weight) == pytest.approx(0.9)
    assert shift[0] == two[0] == 0


def test_three_classes_have_the_shares_of_the_population():
    rng = np.random.default_rng(3)
    shares = np.array([0.6, 0.3, 0.1])
    truth = np.concatenate([np.repeat([0, 1, 2], 30), rng.choice(3, size=900, p=shares)])
    X = rng.normal(size=(990, 2)) + 2.5 * np.array([[0, 0], [1, 0], [0, 1]])[truth]
    y = np.where(np.arange(990) < 90, np.array(["a", "b", "c"])[truth], None)
    model = PriorAdjusted(LogisticRegression(), {"a": 0.6, "b": 0.3, "c": 0.1}).fit(X, y)
    assert_allclose(model.predict_proba(X[90:]).mean(axis=0), shares, atol=0.03)
    assert model.risk_ is None
    alone = LogisticRegression().fit(X[:90], truth[:90]).predict(X[90:])
    adjusted = model.predict(X[90:])
    assert np.mean(adjusted == np.array(["a", "b", "c"])[truth[90:]]) > np.mean(alone == truth[90:])


def test_the_stated_risk_holds_the_truth():
    held = []
    for seed in range(12):
        X, y, _ = draw(seed, 0.3)
        model = PriorAdjusted(LogisticRegression(), 0.3).fit(X, y)
        fresh, _, known = draw(seed + 100, 0.3, n_labeled=0, n_unlabeled=4000)
        held.append(model.risk_.low <= np.mean(model.predict(fresh) != known) <= model.risk_.high)
    assert np.mean(held) > 0.9


class Counting(ClassifierMixin, BaseEstimator):
    fits = 0

    def fit(self, X, y):
        type(self).fits += 1
        self.model_ = LogisticRegression().fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X):
        return self.model_.predict(X)

    def predict_proba(self, X):
        return self.model_.predict_proba(X)


def test_it_takes_at_most_six_fits():
    X, y, _ = draw(4)
    Counting.fits = 0
    PriorAdjusted(Counting()).fit(X, y)
    assert Counting.fits <= 6


def test_the_order_of_rows_and_the_name_of_the_positive_class_do_not_matter():
    X, y, _ = draw(5)
    order = np.random.default_rng(0).permutation(len(y))
    model = PriorAdjusted(make_pipeline(StandardScaler(), LogisticRegression()), 0.3, random_state=0)
    scores = clone(model).fit(X, y).decision_function(X)
    assert_allclose(clone(model).fit(X[order], y[order]).decision_function(X), scores, atol=1e-4)
    swapped = clone(model).set_params(prior=0.7, pos_label=0.0).fit(X, y)
    assert swapped.classes_.tolist() == [1.0, 0.0]
    assert_allclose(swapped.decision_function(X), -scores, atol=1e-4)


def test_weights_reach_the_estimator_and_the_shares():
    X, y, _ = draw(6)
    model = PriorAdjusted(LogisticRegression(), 0.3, random_state=0)
    twice = clone(model).fit(np.vstack([X, X[:60]]), np.append(y, y[:60]))
    weighted = clone(model).fit(X, y, np.where(np.isnan(y), 1, 2))
    assert_allclose(twice.predict_proba(X), weighted.predict_proba(X), atol=1e-3)


def test_frames_keep_their_names_and_text_needs_no_numbers():
    X, y, _ = draw(7)
    frame = pd.DataFrame(X, columns=["height", "weight"])
    assert PriorAdjusted(LogisticRegression()).fit(frame, y).feature_names_in_.tolist() == ["height", "weight"]
    rng = np.random.default_rng(0)
    truth = np.tile([1.0, 0.0], 150)
    words = np.array([["bad", "poor", "awful", "and", "the"], ["good", "fine", "great", "and", "the"]])
    text = pd.Series([" ".join(rng.choice(words[int(k)], size=4)) for k in truth])
    labels = np.where(np.arange(300) < 60, truth, np.nan)
    model = PriorAdjusted(make_pipeline(TfidfVectorizer(), LogisticRegression()), random_state=0).fit(text, labels)
    assert model.predict(["good fine", "bad poor"]).tolist() == [1.0, 0.0]
    assert model.prior_ == pytest.approx(0.5, abs=0.1)


def test_a_class_with_one_label_gives_a_risk_with_a_wide_interval():
    held = 0
    for seed in range(8, 16):
        X, y, truth = draw(seed)
        y[1:42] = np.nan  # one label of class 1 is left
        with pytest.warns(UserWarning, match="has a single labelled row"):
            model = PriorAdjusted(LogisticRegression(), 0.2, random_state=0).fit(X, y)
        assert np.isnan(model.validation_scores_).tolist() == (y == 1).tolist()  # it is in every training part
        assert model.risk_.high - model.risk_.low > 0.25
        assert np.isfinite(model.predict_proba(X)).all()
        held += model.risk_.low < np.mean((model.predict(X) != truth)[42:]) < model.risk_.high
    assert held >= 7  # of 8; 57 of 60 with seeds from 0 on
    y[np.flatnonzero(y == 0)[1:]] = np.nan
    assert PriorAdjusted(LogisticRegression(), 0.2, random_state=0).fit(X, y).risk_ is None  # no class can be held out


def test_rows_are_judged_by_adjustments_in_which_their_fold_had_no_part():
    X, y, _ = draw(3)
    folds = np.arange(len(y)) % 4
    pairs = [(np.flatnonzero(folds != k), np.flatnonzero(folds == k)) for k in range(4)]
    model = PriorAdjusted(LogisticRegression(), 0.3, cv=pairs).fit(X, y)
    raw = np.full((len(y), 2), np.nan)
    for train, test in pairs:
        known = train[~np.isnan(y[train])]
        raw[test] = LogisticRegression().fit(X[known], y[known]).predict_log_proba(X[test])
    codes = np.where(np.isnan(y), -1, np.nan_to_num(y)).astype(int)
    for train, test in pairs:
        alone = np.where(np.isin(np.arange(len(y)), train)[:, None], raw, np.nan)
        own = adjust(alone, Samples(X, codes, np.ones(len(y))), model.prior_estimate_, True)
        assert_allclose(model.judging_scores_[test], own.apply(raw[test]) @ [-1, 1], atol=1e-9)
    whole = adjust(raw, Samples(X, codes, np.ones(len(y))), model.prior_estimate_, True)
    assert_allclose(model.validation_scores_, whole.apply(raw) @ [-1, 1], atol=1e-9)


def test_groups_are_held_out_together_and_widen_the_interval():
    X, y, _ = draw(4)
    twice, groups = np.repeat(X, 2, axis=0), np.repeat(np.arange(len(y)), 2)
    model = PriorAdjusted(LogisticRegression(), 0.3, random_state=0).fit(twice, np.repeat(y, 2), groups=groups)
    alone = PriorAdjusted(LogisticRegression(), 0.3, random_state=0).fit(X, y)
    assert_allclose(model.validation_scores_[::2], model.validation_scores_[1::2])
    assert model.risk_.high - model.risk_.low > 0.8 * (alone.risk_.high - alone.risk_.low)


def test_skops_keeps_the_model(tmp_path):
    skops = pytest.importorskip("skops.io", reason="saving any estimator is the job of skops")
    X, y, _ = draw(9)
    model = PriorAdjusted(RandomForestClassifier(10, random_state=0), 0.3).fit(X, y)
    file = tmp_path / "model.skops"
    skops.dump(model, file)
    again = skops.load(file, trusted=skops.get_untrusted_types(file=file))
    assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_a_model_without_odds_is_refused_with_a_way_out():
    class Silent(ClassifierMixin, BaseEstimator):
        def fit(self, X, y):
            self.classes_ = np.unique(y)
            return self

    X, y, _ = draw(10)
    with pytest.raises(TypeError, match="CalibratedClassifierCV"):
        PriorAdjusted(Silent(), 0.3).fit(X, y)


def test_scores_come_in_the_order_of_our_classes():
    X, y, _ = draw(11)
    for model in (LogisticRegression(), SVC()):
        fitted = model.fit(X[:60], y[:60])
        one, other = (softmax(class_scores(fitted, X, np.array(c)), axis=1) for c in ([0.0, 1.0], [1.0, 0.0]))
        assert_allclose(one, other[:, ::-1])
