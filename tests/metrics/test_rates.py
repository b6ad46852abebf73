"""Precision, recall and F1 from P, N and U."""

from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import brentq, minimize
from scipy.stats import binom
from sklearn.metrics import f1_score, precision_score, recall_score

from pnulearn._intervals.posterior_grids import DecisionRates
from pnulearn._intervals.score_tests import F1, PRECISION, RECALL, lower_tail
from pnulearn.metrics import pnu_cost, pnu_f1, pnu_precision, pnu_recall, pnu_specificity
from pnulearn.priors import PriorEstimate

METRICS = {pnu_precision: precision_score, pnu_recall: recall_score, pnu_f1: f1_score}


def population(n=4000, prior=0.3, seed=0):
    rng = np.random.default_rng(seed)
    truth = (rng.random(n) < prior).astype(int)
    return truth, rng.normal(size=n) + 2 * truth - 1


@pytest.mark.parametrize("metric", METRICS)
def test_with_all_labels_they_are_the_usual_ones(metric):
    truth, score = population()
    found = metric(truth, score, prior=truth.mean())
    assert_allclose(found.value, METRICS[metric](truth, score > 0))
    shifted = metric(truth, score, prior=truth.mean(), threshold=0.7)
    assert_allclose(shifted.value, METRICS[metric](truth, score > 0.7))


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("hidden", [None, 0, 1])
def test_few_labels_give_nearly_the_same_and_say_how_nearly(metric, hidden):
    """Also if one class has no labels at all: then the unlabelled rows stand in for it."""
    truth, score = population(20_000)
    shown = np.random.default_rng(1).random(len(truth)) < 0.03
    y = np.where(shown & (truth != hidden), truth, np.nan)
    estimate = metric(y, score, prior=0.3, pos_label=1)
    assert_allclose(estimate.value, METRICS[metric](truth, score > 0), atol=4 * estimate.stderr)
    assert estimate.low < estimate.value < estimate.high
    assert 0.001 < estimate.stderr < 0.06


def test_unlabeled_rows_narrow_the_interval():
    widths = []
    for seed in range(10):
        truth, score = population(1500, seed=seed)
        y = np.where(np.arange(1500) < 60, truth, np.nan)
        for rows in (slice(None), slice(60)):
            estimate = pnu_recall(y[rows], score[rows], prior=0.3)
            widths.append(estimate.high - estimate.low)
    assert np.mean(widths[::2]) < 0.9 * np.mean(widths[1::2])


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("sizes", [(10, 10, 100), (10, 10, 0), (40, 0, 300)])
def test_intervals_hold_what_their_tests_accept(metric, sizes):
    """The coverage of the tests themselves is in tests/intervals/test_score_tests.py."""
    measure = {pnu_recall: RECALL, pnu_precision: PRECISION, pnu_f1: F1}[metric]
    y = np.repeat([1.0, 0.0, np.nan], sizes)
    share = np.array([0.1, 0.2 if sizes[1] else 0.0, 0.41 if sizes[2] else 0.0])
    score = np.concatenate(
        [
            np.repeat([-s, s], [round(n * p), n - round(n * p)])
            for n, p, s in zip(sizes, share, (1.0, -1.0, -1.0), strict=True)
        ]
    )
    found = metric(y, score, prior=0.3)
    ends = np.array([found.high, found.low])
    p = lower_tail(measure, ends, share, np.array(sizes, dtype=float), np.array([0.3]))
    assert_allclose(p, [0.975, 0.025], atol=1e-4)


def test_the_fit_has_the_greatest_likelihood():
    called = DecisionRates(np.array([0.2, 0.3, 0.4]), np.array([50.0, 30.0, 400.0]), 0.35)

    def minus_log_likelihood(rates):
        tied = np.array([*rates, 0.35 * (1 - rates[0]) + 0.65 * rates[1]])
        return -np.sum(called.size * (called.share * np.log(tied) + (1 - called.share) * np.log1p(-tied)))

    best = minimize(minus_log_likelihood, [0.2, 0.3], method="Nelder-Mead", options={"xatol": 1e-8, "fatol": 1e-10}).x
    assert_allclose(called.fit(), best, atol=5e-3)


@pytest.mark.parametrize("sizes", [(50, 30, 400), (8, 300, 40), (300, 8, 40), (50, 0, 400)])
def test_the_posterior_is_that_of_rejection_sampling(sizes):
    rng = np.random.default_rng(0)
    prior, share = 0.35, np.array([0.2, 0.3, 0.48])
    size = np.array(sizes, dtype=float)
    rates, probability = DecisionRates(share, size, prior).posterior()
    errors = size * share
    third = np.argmax(np.where(size > 0, np.array([prior**2, (1 - prior) ** 2, 1]) / np.maximum(size, 1e-9), np.inf))
    a, b = (
        rng.beta(errors[i] + 0.5 + 0.5 * (i == third), size[i] - errors[i] + 0.5 + 0.5 * (i == third), 400_000)
        for i in (0, 1)
    )
    called = prior * (1 - a) + (1 - prior) * b
    flat = third == 2
    log = (errors[2] - 0.5 * (not flat)) * np.log(called) + (size[2] - errors[2] - 0.5 * (not flat)) * np.log1p(-called)
    weight = np.exp(log - log.max())
    expected = [np.average(r, weights=weight) for r in (a, b)]
    spread = [np.sqrt(np.average((r - m) ** 2, weights=weight)) for r, m in zip((a, b), expected, strict=True)]
    assert_allclose(rates @ probability, expected, atol=0.003)
    deviations = np.sqrt(((rates - (rates @ probability)[:, None]) ** 2) @ probability)
    assert_allclose(deviations, spread, rtol=0.05)


def test_a_million_unlabeled_rows_are_no_trouble():
    called = DecisionRates(np.array([0.2, 0.3, 0.475]), np.array([20.0, 20.0, 1e6]), 0.35)
    rates, probability = called.posterior()
    tied = 0.35 * (1 - rates[0]) + 0.65 * rates[1]
    assert_allclose(probability @ tied, 0.475, atol=1e-3)
    assert np.sqrt(probability @ (tied - 0.475) ** 2) < 2e-3


def test_impossible_priors_and_too_few_samples_are_refused():
    y = [1] * 50 + [None] * 500
    with pytest.raises(ValueError, match="contradicts"):
        pnu_precision(y, [1] * 50 + [1] * 5 + [-1] * 495, prior=0.9)
    with pytest.raises(ValueError, match="Two of positive"):
        pnu_precision([1, 1], [1, -1], prior=0.5)
    with pytest.raises(ValueError, match="prior is needed"):
        pnu_recall([0, 0, None], [1, -1, 1])
    with pytest.raises(ValueError, match="prior is needed"):
        pnu_specificity([1, 1, None], [1, -1, 1])


@pytest.mark.parametrize(("metric", "label"), [(pnu_recall, 1), (pnu_specificity, 0)])
@pytest.mark.parametrize("others", [[], [None] * 7], ids=["no other rows", "unlabelled rows"])
@pytest.mark.parametrize("sampling", ["by_class", "random"])
def test_rates_of_one_class_need_no_prior_and_no_other_rows(metric, label, others, sampling):
    """A binomial proportion: the ends are where the mid-p value, from scipy's distribution function, is 2.5 %."""
    sign = 2 * label - 1
    y, score = [label] * 10 + others, sign * np.array([1] * 8 + [-1] * 2 + [1] * len(others))
    found = metric(y, score, sampling=sampling, threshold=0)

    def below(rate):
        return binom.cdf(8, 10, rate) - binom.pmf(8, 10, rate) / 2

    ends = [brentq(lambda rate, p=p: below(rate) - p, 1e-6, 1 - 1e-6) for p in (0.975, 0.025)]
    assert_allclose([found.value, found.low, found.high], [0.8, *ends], atol=1e-5)
    weighted = metric(y, score, sampling=sampling, threshold=0, sample_weight=np.full(len(y), 3.0))
    assert_allclose([weighted.low, weighted.high], [found.low, found.high])
    assert metric([label] * 3, [sign] * 3, threshold=0).high == 1


@pytest.mark.parametrize("given", [{"prior": 50}, {"prior": "third"}, {"sampling": "quota"}])
def test_what_rates_of_one_class_do_not_need_is_checked_nevertheless(given):
    with pytest.raises((ValueError, TypeError), match=next(iter(given))):
        pnu_recall([1, 1, 1], [1, 1, -1], **given)


def test_rates_of_one_class_use_unlabelled_rows_if_a_prior_is_given():
    truth, score = population()
    y = [int(t) if k < 40 else None for k, t in enumerate(truth)]
    alone, helped = pnu_recall(y, score), pnu_recall(y, score, prior=0.3)
    assert helped.high - helped.low < alone.high - alone.low


def test_nothing_called_positive_has_precision_zero():
    estimate = pnu_precision([1, 1, 0, 0], [-1, -1, -1, -1], prior=0.3)
    assert estimate.value == 0
    assert estimate.high > 0.1


def test_random_labels_count_the_prior_in_every_metric_with_weights_and_groups():
    """As with the prior that `estimate_prior` counts on the labels of a column that says nothing of its own."""
    rng = np.random.default_rng(0)
    truth = rng.random(400) < 0.3
    y, score = (
        np.where(np.arange(400) < 80, truth.astype(float), np.nan),
        np.where(truth, 1.0, -1.0) + rng.normal(size=400),
    )
    weight = np.where(truth & (np.arange(400) < 80), 0.2, 1.0)
    hits, others = (weight[:80] @ (y[:80] == side) for side in (1, 0))
    share = hits / (hits + others)  # the variance of a weighted mean, by linearisation
    size = share * (1 - share) * weight[:80].sum() ** 2 / (weight[:80] ** 2 @ (y[:80] - share) ** 2)
    for metric in (pnu_precision, pnu_recall, pnu_f1, pnu_specificity, partial(pnu_cost, costs=(5, 1))):
        found, hundred = (
            metric(y, score, sampling="random", sample_weight=k * weight, threshold=0.0) for k in (1, 100)
        )
        assert_allclose([found.value, found.low, found.high], [hundred.value, hundred.low, hundred.high])
        counted = PriorEstimate.of_counts([size * (1 - share), size * share])
        given = metric(y, score, prior=counted, sample_weight=weight, threshold=0.0)
        assert_allclose([found.value, found.low, found.high], [given.value, given.low, given.high], rtol=0.15)
    alone, together = (
        pnu_precision(y, score, sampling="random", groups=group, threshold=0.0) for group in (None, np.arange(400) // 8)
    )
    assert together.high - together.low > alone.high - alone.low
    with pytest.raises(ValueError, match="prior is needed"):
        pnu_precision(y, score, threshold=0.0)
