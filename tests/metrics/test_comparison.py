"""The paired difference of two models: unbiased, with the standard error it claims."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from pnulearn.advice import advise_for
from pnulearn.losses import as_loss
from pnulearn.metrics._comparison import compare, compare_scores
from pnulearn.metrics._risk import pnu_risk
from pnulearn.risks import empirical_risk, pnu

PRIOR, MIX, SIZES = 0.3, 0.4, (60, 50, 400)


def draw(rng):
    truth = [np.ones(SIZES[0]), np.zeros(SIZES[1]), rng.random(SIZES[2]) < PRIOR]
    x = [rng.normal(2 * part - 1, 1.5) for part in truth]
    return x, [part + rng.normal(0, 1, len(part)) for part in x]


@pytest.mark.parametrize("loss", ["zero_one", "logistic"])
def test_the_difference_is_that_of_the_risks_and_varies_as_claimed(loss):
    rng = np.random.default_rng(1)
    differences, stderrs = [], []
    for _ in range(200):
        scores, others = draw(rng)
        comparison = compare_scores(scores, others, PRIOR, MIX, loss=loss)
        differences.append(comparison.difference)
        stderrs.append(comparison.stderr)
    risks = [empirical_risk(pnu(PRIOR, MIX), as_loss(loss), groups) for groups in (scores, others)]
    assert_allclose(differences[-1], risks[0] - risks[1], atol=1e-12)
    assert_allclose(np.sqrt(np.mean(np.square(stderrs))), np.std(differences), rtol=0.12)


def test_pairing_beats_two_separate_intervals():
    comparison = compare_scores(*draw(np.random.default_rng(0)), PRIOR, MIX)
    assert comparison.stderr < np.hypot(comparison.first.stderr, comparison.second.stderr)


@pytest.mark.thorough
def test_intervals_hold_the_truth_where_one_model_calls_nearly_all_rows_negative():
    """Ten rows of a class on which both models agree are no proof that they always do."""
    rng, prior, hits, right = np.random.default_rng(0), 0.1, [], 0
    rates = {"eager": (0.7, 0.08), "cautious": (0.1, 0.005)}  # called positive among positives, among negatives
    truth = {name: prior * (1 - hit) + (1 - prior) * false for name, (hit, false) in rates.items()}
    for _ in range(400):
        draws = [rng.random(10), rng.random(10), rng.random(1000)]
        side = [np.zeros(10, int), np.ones(10, int), (rng.random(1000) > prior).astype(int)]
        eager, cautious = (
            [np.where(u < np.array(rates[name])[k], 1.0, -1.0) for u, k in zip(draws, side, strict=True)]
            for name in ("eager", "cautious")
        )
        found = compare_scores(eager, cautious, prior)
        hits.append(found.low <= truth["eager"] - truth["cautious"] <= found.high)
        right += found.verdict == ("first" if truth["eager"] < truth["cautious"] else "second")
    assert np.mean(hits) > 0.92


@pytest.mark.parametrize(
    ("prior", "n", "n_unlabeled", "wrong"), [(0.3, 10, 0, (0.2, 0.0)), (0.5, 50, 1000, (0.05, 0.05))]
)
def test_intervals_hold_where_the_models_differ_on_few_rows(prior, n, n_unlabeled, wrong):
    """The second model errs on some rows that the first gets right; most samples of labels hold few of them or none."""
    rng, hits, truth = np.random.default_rng(0), [], -prior * wrong[0] - (1 - prior) * wrong[1]
    for _ in range(80):
        sides = [np.ones(n), -np.ones(n), np.where(rng.random(n_unlabeled) < prior, 1.0, -1.0)]
        others = [np.where(rng.random(len(side)) < np.where(side > 0, *wrong), -side, side) for side in sides]
        found = compare_scores(sides, others, prior)
        hits.append(found.low <= truth <= found.high)
    assert np.mean(hits) > 0.92


def test_the_default_mix_is_the_one_of_the_least_variable_difference():
    differences = {mix: [] for mix in (0.0, 0.4, 1.0, "optimal")}
    rng = np.random.default_rng(3)
    for _ in range(80):
        scores, others = draw(rng)
        for mix, found in differences.items():
            found.append(compare_scores(scores, others, PRIOR, mix).difference)
    spread = {mix: np.std(found) for mix, found in differences.items()}
    assert spread["optimal"] <= 1.06 * min(spread.values())


def test_equal_models_are_not_told_apart():
    scores, _ = draw(np.random.default_rng(0))
    comparison = compare_scores(scores, [g.copy() for g in scores], PRIOR, MIX)
    assert comparison.difference == 0
    assert comparison.verdict == "undecided"
    assert "do not show which is better" in str(comparison)


def test_a_real_model_beats_a_constant_one(gaussians):
    X, y = gaussians(60, 60, 300)
    labeled = ~np.isnan(y)
    good = LogisticRegression().fit(X[labeled], y[labeled])
    bad = DummyClassifier(strategy="constant", constant=[1.0]).fit(X[labeled], y[labeled])
    X_new, y_new = gaussians(60, 60, 300, seed=1)
    assert compare(good, bad, X_new, y_new, 0.4).verdict == "first"
    assert compare(bad, good, X_new, y_new, 0.4).verdict == "second"
    found = compare(bad, good, X_new, y_new, 0.4)
    assert "points higher with it than without" in found.sentence("with it", "without")
    assert f"95 % interval {100 * found.low:.1f} to {100 * found.high:.1f} points" in found.sentence(
        "with it", "without"
    )
    turned = compare(good, bad, X_new, y_new, 0.4)
    assert f"interval {-100 * turned.high:.1f} to {-100 * turned.low:.1f} points" in turned.sentence(
        "with it", "without"
    )


@pytest.mark.parametrize("words", [{1.0: "yes", 0.0: "no"}, {1.0: "1", 0.0: "0"}, {1.0: 2, 0.0: 1}])
def test_labels_that_a_model_does_not_know_are_refused(gaussians, words):
    X, y = gaussians(40, 40, 100)
    labeled = ~np.isnan(y)
    model = LogisticRegression().fit(X[labeled], y[labeled])
    strange = np.array([words.get(label) for label in y], dtype=object)
    with pytest.raises(ValueError, match="not a class of LogisticRegression: its classes are"):
        compare(model, model, X, strange, 0.4)
    with pytest.raises(ValueError, match="not a class of"):
        advise_for(model, X, strange, prior=0.4)


def test_one_class_alone_is_read_in_the_models_labels(gaussians):
    """With no label "ham" in y the other class is ham all the same, not "not spam"."""
    X, y = gaussians(40, 40, 200)
    words = np.array([{1.0: "spam", 0.0: "ham"}.get(label) for label in y], dtype=object)
    labeled = ~np.isnan(y)
    model = GaussianNB().fit(X[labeled], words[labeled].astype(str))
    kept = (words == "spam") | ~labeled
    found = compare(model, model, X[kept], words[kept], 0.4).first.value
    assert found == pytest.approx(
        pnu_risk(words[kept], model.predict_proba(X[kept])[:, 1], prior=0.4, threshold=0.5).value
    )


def test_rows_that_do_not_match_are_refused(gaussians):
    X, y = gaussians(40, 40, 100)
    labeled = ~np.isnan(y)
    model = LogisticRegression().fit(X[labeled], y[labeled])
    with pytest.raises(ValueError, match="inconsistent numbers"):
        compare(model, model, X[:-1], y, 0.4)
    with pytest.raises(ValueError, match="inconsistent numbers"):
        advise_for(model, X[:-1], y, prior=0.4)


def test_more_than_two_classes_are_refused(gaussians):
    X, _ = gaussians()
    with pytest.raises(ValueError, match="Two classes"):
        compare(None, None, X, np.arange(len(X)) % 3, 0.5)


def drawn_apart(rng, prior=0.4, n=20, n_unlabeled=600, size=1):
    """Two models right in .9 and .7 of rows, in groups that are right together, and the rows' classes."""
    side = [np.ones(n * size), np.zeros(n * size), np.repeat(rng.random(n_unlabeled) < prior, size).astype(float)]
    group = [np.repeat(np.arange(len(s) // size) + 10_000 * k, size) for k, s in enumerate(side)]
    scores = []
    for share in (0.9, 0.7):
        right = [np.repeat(rng.random(len(s) // size) < share, size) for s in side]
        scores.append([np.where(r, 1.0, -1.0) * (2 * s - 1) for r, s in zip(right, side, strict=True)])
    return side, group, scores


def test_groups_weights_and_helpers_count_in_a_comparison():
    rng, truth = np.random.default_rng(5), -0.2
    hits = {"groups": [], "alone": [], "helper": [], "plain": []}
    widths = []
    for _ in range(50):
        _, group, (first, second) = drawn_apart(rng, size=5, n=8, n_unlabeled=120)
        for name, given in (("alone", {}), ("groups", {"groups": group})):
            found = compare_scores(first, second, 0.4, **given)
            hits[name].append(found.low <= truth <= found.high)
        side, _, (first, second) = drawn_apart(rng)
        odds = [np.where(rng.random(len(s)) < 0.95, 1.5, -1.5)[:, None] * (2 * s - 1)[:, None] for s in side]
        plain, helped = (compare_scores(first, second, 0.4, opinions=o) for o in (None, odds))
        assert_allclose(helped.difference, helped.first.value - helped.second.value)
        widths.append((plain.high - plain.low, helped.high - helped.low))
        hits["plain"].append(plain.low <= truth <= plain.high)
        hits["helper"].append(helped.low <= truth <= helped.high)
    assert np.mean(hits["alone"]) < 0.85 < np.mean(hits["groups"])
    assert min(np.mean(hits["plain"]), np.mean(hits["helper"])) > 0.87
    plain, helped = np.mean(widths, axis=0)
    assert helped < 0.92 * plain


def test_an_interval_of_a_smooth_loss_holds_where_models_differ_on_two_rows_in_a_hundred_and_few_are_labelled():
    """Ten labels of each class and no U: in two of three samples both models have the same losses in all rows."""
    rng, truth, hits = np.random.default_rng(0), -0.02, []
    for _ in range(200):
        side, size = np.repeat([1.0, -1.0], 10), rng.uniform(0.5, 1.5, 20)
        scores = [size * np.where(rng.random(20) < share, -side, side) for share in (0.0, 0.02)]
        first, second = ([score[:10], score[10:], score[:0]] for score in scores)
        found = compare_scores(first, second, 0.3, loss="squared")  # a wrong sign costs the size, 1 on the mean
        hits.append(found.low <= truth <= found.high)
    assert np.mean(hits) > 0.91


def test_a_weight_of_two_is_a_row_twice_and_a_row_of_weight_zero_is_absent(gaussians):
    X, y = gaussians(30, 30, 200)
    narrow = make_pipeline(FunctionTransformer(lambda X: X[:, :1]), GaussianNB()).fit(X[:60], y[:60])
    model = GaussianNB().fit(X[:60], y[:60])
    odd = np.arange(len(y)) % 2 == 1
    zero = compare(model, narrow, X, y, 0.4, sample_weight=odd.astype(float))
    fewer = compare(model, narrow, X[odd], y[odd], 0.4)
    assert_allclose([zero.difference, zero.low, zero.high], [fewer.difference, fewer.low, fewer.high])
    even = compare(model, narrow, X, y, 0.4, sample_weight=np.full(len(y), 2.0))
    assert_allclose(even.stderr, compare(model, narrow, X, y, 0.4).stderr)
    helped = compare(model, narrow, X, y, 0.4, helper=np.where(X[:, 0] > 0, 1.0, 0.0), groups=np.arange(len(y)))
    assert helped.low <= helped.difference <= helped.high
