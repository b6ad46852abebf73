"""Numbers of labels that keep what they promise, and labels that look wrong."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pnulearn import PNUClassifier, advise
from pnulearn.metrics import (
    compare_scores,
    estimate_risk,
    labels_for_difference,
    labels_for_width,
    pnu_risk,
    suspicious_rows,
)


def signs(rng, n, rate, sign):
    return np.where(rng.random(n) < rate, -sign, sign).astype(float)


@pytest.mark.parametrize("prior, rates, width", [(0.3, (0.2, 0.1), 0.12), (0.5, (0.1, 0.1), 0.15)])
def test_labels_by_class_bring_the_wished_width(prior, rates, width):
    rng, n_unlabeled = np.random.default_rng(0), 1000
    n = labels_for_width(width, prior, error_rates=rates, n_unlabeled=n_unlabeled).n_positive
    called, widths = prior * (1 - rates[0]) + (1 - prior) * rates[1], []
    for _ in range(80):
        groups = [signs(rng, n, rates[0], 1), signs(rng, n, rates[1], -1), signs(rng, n_unlabeled, 1 - called, 1)]
        found = estimate_risk(groups, prior)
        widths.append(found.high - found.low)
    assert_allclose(np.mean(widths), width, rtol=0.1)


def test_labels_at_random_bring_the_wished_width():
    rng, prior, rates = np.random.default_rng(1), 0.4, (0.2, 0.2)
    needed = labels_for_width(0.15, prior, error_rates=rates, n_unlabeled=500, sampling="random")
    widths = []
    for _ in range(60):
        truth = rng.random(needed.total + 500) < prior
        wrong = rng.random(len(truth)) < 0.2
        y = np.where(np.arange(len(truth)) < needed.total, truth, np.nan)
        found = pnu_risk(y, np.where(truth != wrong, 1.0, -1.0), prior=prior)
        widths.append(found.high - found.low)
    assert_allclose(np.mean(widths), 0.15, rtol=0.1)


def test_labels_for_a_difference_have_the_promised_power():
    rng, right = np.random.default_rng(2), 0
    difference, disagreement, prior = 0.1, 0.2, 0.5
    n = labels_for_difference(difference, prior, disagreement=disagreement).n_positive
    better = (disagreement + difference) / 2  # share of rows on which only the second model errs
    for _ in range(100):
        pairs = []
        for sign in (1.0, -1.0):
            u = rng.random(n)
            first, second = np.full(n, sign), np.full(n, sign)
            second[u < better] *= -1
            first[(u >= better) & (u < disagreement)] *= -1
            pairs.append((first, second))
        groups = [[pair[k] for pair in pairs] + [np.zeros(0)] for k in (0, 1)]
        right += compare_scores(*groups, prior).verdict == "first"
    assert 0.68 < right / 100 < 0.92


def test_more_unlabelled_rows_need_fewer_labels_and_advice_says_how_many():
    few, many = (labels_for_width(0.15, 0.2, n_unlabeled=n).total for n in (0, 5000))
    assert many < few
    advice = advise(10, 10, 5000, prior=0.2, width=0.15)
    assert advice.needed.total == many
    assert str(advice).endswith(str(advice.needed))


def test_a_prior_that_is_not_known_may_keep_any_number_from_it():
    with pytest.raises(ValueError, match="prior is not known well enough"):
        labels_for_width(0.02, (0.1, 0.6), error_rates=(0.4, 0.1), n_unlabeled=1000)
    with pytest.raises(ValueError, match="cannot differ"):
        labels_for_difference(0.2, 0.5, disagreement=0.1)


def test_flipped_labels_are_found_first():
    rng = np.random.default_rng(3)
    truth = np.append(np.repeat([1.0, 0.0], 40), rng.random(200) < 0.4)
    X, y = rng.normal(size=(280, 2)) + 2.5 * truth[:, None], np.where(np.arange(280) < 80, truth, np.nan)
    flipped = np.array([1, 5, 44, 50])
    noisy = y.copy()
    labeled = np.flatnonzero(~np.isnan(y))[flipped]
    noisy[labeled] = 1 - noisy[labeled]
    model = PNUClassifier(prior=0.4, random_state=0).fit(X, noisy)
    found = suspicious_rows(noisy, model.validation_scores_, prior=0.4)
    assert len(set(found.rows[:6]) & set(labeled)) >= 3
    assert (np.diff(found.disagreement) <= 0).all()
    assert str(found).startswith(f"row {found.rows[0]}")


@pytest.mark.thorough
@pytest.mark.parametrize(("right", "width"), [(0.8, 0.15), (0.95, 0.15), (0.9, 0.1)])
def test_with_a_helper_the_promised_width_is_reached(right, width):
    """Mean width of `pnu_risk(helper=)` with the planned number of random labels, to 8 %."""
    n = labels_for_width(
        width, 0.4, error_rates=(0.2, 0.2), n_unlabeled=2000, sampling="random", helper=(right, right)
    ).total
    rng, widths = np.random.default_rng(0), []
    for _ in range(25):
        truth = rng.random(n + 2000) < 0.4
        scores = np.where(rng.random(n + 2000) < 0.2, ~truth, truth) - 0.5
        helper = np.where(rng.random(n + 2000) < right, truth, ~truth).astype(float)
        y = np.where(np.arange(n + 2000) < n, truth, np.nan)
        found = pnu_risk(y, scores, prior=(0.1, 0.8), helper=helper, sampling="random")
        widths.append(found.high - found.low)
    assert abs(np.mean(widths) / width - 1) < 0.08


def test_a_helper_never_asks_for_more_labels():
    alone = labels_for_width(0.1, 0.3, n_unlabeled=2000).total
    found = [labels_for_width(0.1, 0.3, n_unlabeled=2000, helper=(r, r)).total for r in (0.55, 0.8, 0.9, 0.97)]
    assert found == sorted(found, reverse=True)
    assert found[0] <= alone
    with pytest.raises(ValueError, match="n_unlabeled"):
        labels_for_width(0.1, 0.3, helper=(0.9, 0.9))
    with pytest.raises(ValueError, match="helper must be two shares"):
        labels_for_width(0.1, 0.3, n_unlabeled=10, helper=(0.9, 1.5))
