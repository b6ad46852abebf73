"""Curves with all rows labelled are scikit-learn's; bands hold the true curve; costs and thresholds follow."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import norm
from sklearn.metrics import average_precision_score, roc_auc_score

from pnulearn.metrics import (
    pnu_average_precision,
    pnu_best_threshold,
    pnu_cost,
    pnu_precision_recall_curve,
    pnu_reliability,
    pnu_risk,
    pnu_roc_curve,
    pnu_specificity,
)

PRIOR, GAP = 0.3, 1.6


def draw(rng, n_labels=20, n_unlabeled=400):
    truth = np.concatenate([np.ones(n_labels), np.zeros(n_labels), rng.random(n_unlabeled) < PRIOR])
    score = rng.normal(GAP * (truth - 0.5), 1)
    y = truth.copy()
    y[2 * n_labels :] = np.nan
    return y, score


def test_with_every_row_labelled_the_curves_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    y = np.repeat([1, 0], [30, 70])
    score = rng.normal(y, 1)
    assert_allclose(pnu_roc_curve(y, score, prior=0.3).area.value, roc_auc_score(y, score), atol=1e-9)
    found = pnu_average_precision(y, score, prior=0.3)
    assert_allclose(found.value, average_precision_score(y, score), atol=1e-9)
    assert found.low < found.value < found.high


def test_curves_tell_the_threshold_of_every_point():
    rng = np.random.default_rng(0)
    y = np.repeat([1, 0], [30, 70])
    score = rng.normal(y, 1)
    roc, pr = (curve(y, score, prior=0.3) for curve in (pnu_roc_curve, pnu_precision_recall_curve))
    tested = np.append(np.sort(score)[0] - 1, np.sort(score))
    fpr, recall = (np.mean(score[y == c] > tested[:, None], axis=1) for c in (0, 1))
    for x, t in zip(roc.x, roc.thresholds, strict=True):
        assert np.mean(score[y == 0] > t) == fpr[fpr <= x + 1e-9].max()
    for x, t in zip(pr.x, pr.thresholds, strict=True):
        assert np.mean(score[y == 1] > t) == recall[recall >= x - 1e-9].min()
    assert pnu_reliability(y, 1 / (1 + np.exp(-score)), prior=0.3).thresholds is None


@pytest.mark.thorough
def test_bands_hold_the_whole_true_curve():
    """Scores are normal, so that the curves are known."""
    rng, hits = np.random.default_rng(1), []
    grid = np.linspace(-6, 6, 4001)
    recall, fpr = norm.sf(grid - GAP / 2), norm.sf(grid + GAP / 2)
    precision = PRIOR * recall / (PRIOR * recall + (1 - PRIOR) * fpr)
    for _ in range(25):
        y, score = draw(rng)
        roc, pr = pnu_roc_curve(y, score, prior=PRIOR), pnu_precision_recall_curve(y, score, prior=PRIOR)
        true_roc = np.interp(roc.x, fpr[::-1], recall[::-1])
        true_pr = np.interp(pr.x, recall[::-1], precision[::-1])
        inside = [((c.low - 0.01 <= t) & (t <= c.high + 0.01)).all() for c, t in ((roc, true_roc), (pr, true_pr))]
        hits.append(inside)
    assert (np.mean(hits, axis=0) > 0.84).all()


def test_an_unknown_prior_widens_what_depends_on_it():
    y, score = draw(np.random.default_rng(2))
    known, vague = (pnu_average_precision(y, score, prior=p) for p in (PRIOR, (0.15, 0.5)))
    assert vague.high - vague.low > known.high - known.low


def test_costs_weigh_the_two_errors():
    y, score = draw(np.random.default_rng(3))
    equal = pnu_cost(y, score, prior=PRIOR, costs=(1, 1))
    assert_allclose(equal.value, pnu_risk(y, score, prior=PRIOR).value, atol=0.02)
    dear = pnu_cost(y, score, prior=PRIOR, costs=(5, 1))
    assert dear.value > equal.value
    specificity = pnu_specificity(y, score, prior=PRIOR)
    assert_allclose(specificity.value, norm.cdf(GAP / 2), atol=0.12)
    with pytest.raises(ValueError, match="two positive numbers"):
        pnu_cost(y, score, prior=PRIOR, costs=(1, -1))


def test_the_best_threshold_falls_as_missed_positives_grow_dear():
    """The truth: log(c_fp (1 − θ) / (c_fn θ)) / gap."""
    rng = np.random.default_rng(4)
    hits = []
    for _ in range(15):
        y, score = draw(rng, 30)
        even, dear = (pnu_best_threshold(y, score, prior=PRIOR, costs=c) for c in ((1, 1), (8, 1)))
        truth = np.log((1 - PRIOR) / PRIOR) / GAP
        hits.append(even.low <= truth <= even.high)
        assert dear.low <= even.low
    assert np.mean(hits) > 0.85


def test_probabilities_that_are_right_lie_within_the_band():
    rng, hits, errors = np.random.default_rng(5), [], []
    for _ in range(30):
        y, score = draw(rng, 40, 1000)
        p = 1 / (1 + np.exp(-(GAP * score + np.log(PRIOR / (1 - PRIOR)))))
        right = pnu_reliability(y, p, prior=PRIOR)
        hits.append(((right.low <= right.x + 0.02) & (right.x - 0.02 <= right.high)).all())
        errors.append((right.area.low, pnu_reliability(y, p**0.2, prior=PRIOR).area.low))
    assert np.mean(hits) > 0.84
    low, far = np.mean(errors, axis=0)
    assert low < 0.02 < far
    with pytest.raises(ValueError, match="probabilities between 0 and 1"):
        pnu_reliability([1, 0], [2.0, -1.0], prior=0.5)


def test_the_range_of_the_best_threshold_holds_it_with_five_labels_and_crowded_scores():
    """Scores crowd at both ends, as those of naive Bayes do; no stretch without a label is certain to be empty."""
    rng, hits = np.random.default_rng(6), []
    many = [np.tanh(4 * (rng.normal(size=200_000) + shift)) for shift in (0.8, -0.8)]
    cuts = np.quantile(np.concatenate(many), np.linspace(0, 1, 2001))
    fnr, fpr = (np.searchsorted(np.sort(part), cuts, "right") / len(part) for part in many)
    truth = cuts[np.argmin(5 * 0.3 * fnr + 0.7 * (1 - fpr))]
    for _ in range(20):
        y, score = draw(rng, 5, 300)
        found = pnu_best_threshold(y, np.tanh(4 * (score * 1.6 / GAP)), prior=PRIOR, costs=(5, 1))
        hits.append(found.low <= truth <= found.high)
    assert np.mean(hits) > 0.87


def test_the_range_is_open_where_every_row_may_have_to_be_called_positive():
    y, score = draw(np.random.default_rng(0))
    found = pnu_best_threshold(y, score, prior=PRIOR, costs=(1e4, 1))
    assert found.low == -np.inf
    assert np.isfinite(pnu_best_threshold(y, score, prior=PRIOR, costs=(1, 1)).low)


def test_a_reliability_band_holds_the_whole_curve_of_a_useless_model():
    """Scores that say nothing: the share of positives is the prior in every bin, and 50 labels fill ten bins."""
    rng, held = np.random.default_rng(0), []
    y = np.repeat([1.0, 0.0, np.nan], [50, 50, 300])
    for _ in range(100):
        curve = pnu_reliability(y, rng.random(len(y)), prior=0.3)
        held.append(bool(((curve.low <= 0.3) & (curve.high >= 0.3)).all()))
    assert np.mean(held) > 0.91


def test_an_end_of_a_reliability_band_is_zero_or_one_where_no_label_says_otherwise():
    rng = np.random.default_rng(1)
    y = np.repeat([1.0, 0.0, np.nan], [50, 50, 1000])
    score = np.concatenate([np.full(50, 0.95), np.full(50, 0.05), np.where(rng.random(1000) < 0.4, 0.95, 0.05)])
    curve = pnu_reliability(y, score + rng.uniform(-0.04, 0.04, len(y)), prior=0.4)
    assert set(curve.low[curve.x < 0.1].tolist()) == {0.0}
    assert set(curve.high[curve.x > 0.9].tolist()) == {1.0}


def test_a_reliability_band_allows_that_a_bin_holds_all_positives_if_it_holds_all_five_labelled_ones():
    """The top tenth of U, and a prior of .02: the share of positives there is .2 if all of them are there."""
    y = np.repeat([1.0, 0.0, np.nan], [5, 5, 10_000])
    score = np.concatenate([np.full(5, 0.95), np.linspace(0.1, 0.95, 5), np.linspace(0, 1, 10_000)])
    curve = pnu_reliability(y, score, prior=0.02)
    assert 0.195 < curve.high[-1] < 0.23
    assert curve.low[-1] < 0.1
