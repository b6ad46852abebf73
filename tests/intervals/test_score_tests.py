"""Intervals of error rates by inverting score tests: the test against brute force, and their coverage."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import binom, norm

from pnulearn._intervals.score_tests import (
    F1,
    PRECISION,
    RECALL,
    cost_interval,
    cost_measure,
    difference_interval,
    gain_measure,
    lift_measure,
    lower_tail,
    other_class,
    prior_nodes,
    rate_interval,
)
from pnulearn.priors import PriorEstimate

KNOWN = PriorEstimate.known(0.3)
MEASURES = {
    "error": (cost_measure(KNOWN), lambda a, b, t: t * a + (1 - t) * b),
    "cost": (cost_measure(KNOWN, (5.0, 1.0)), lambda a, b, t: 5 * t * a + (1 - t) * b),
    "recall": (RECALL, lambda a, b, t: 1 - a),
    "specificity": (other_class(RECALL), lambda a, b, t: 1 - b),
    "precision": (PRECISION, lambda a, b, t: t * (1 - a) / (t * (1 - a) + (1 - t) * b)),
    "precision of N": (other_class(PRECISION), lambda a, b, t: (1 - t) * (1 - b) / ((1 - t) * (1 - b) + t * a)),
    "F1": (F1, lambda a, b, t: 2 * t * (1 - a) / (2 * t * (1 - a) + t * a + (1 - t) * b)),
    "lift": (lift_measure(KNOWN), lambda a, b, t: (1 - a) / (t * (1 - a) + (1 - t) * b)),
    "lift of N": (lift_measure(KNOWN, False), lambda a, b, t: (1 - b) / ((1 - t) * (1 - b) + t * a)),
    "gain": (gain_measure(KNOWN, False), lambda a, b, t: t - t * a - (1 - t) * b),
}


@pytest.mark.parametrize("name", MEASURES)
def test_the_pairs_of_rates_of_one_value_are_its_line(name):
    measure, value = MEASURES[name]
    for a, b in ((0.1, 0.2), (0.3, 0.05), (0.7, 0.6)):
        c0, c1, c2 = measure.line(np.array([value(a, b, 0.3)]), np.array([0.3]))
        assert_allclose(c1 * a + c2 * b, c0, atol=1e-12)
    assert_allclose([value(1e-9, 1e-9, 0.3), value(1 - 1e-9, 1 - 1e-9, 0.3)], [measure.best, measure.worst], atol=1e-6)


def brute_force_p(share, size, prior, value):
    """Mid-p value of an error rate by enumeration of all counts of P and N, and U as a normal share."""
    a = np.linspace(1e-9, min(1, value / prior) - 1e-9, 400_001)
    b = (value - prior * a) / (1 - prior)
    a, b = a[(b > 0) & (b < 1)], b[(b > 0) & (b < 1)]
    q = prior * (1 - a) + (1 - prior) * b
    counts = np.asarray(share) * size
    logs = sum(binom.logpmf(k, n, p) for k, n, p in zip(np.round(counts), size, (a, b, q), strict=True))
    best = int(np.argmax(logs))
    a, b, q = a[best], b[best], q[best]
    information = np.diag([size[0] / (a * (1 - a)), size[1] / (b * (1 - b))])
    step = np.array([-prior, 1 - prior])
    information += size[2] / (q * (1 - q)) * np.outer(step, step)
    d = np.linalg.solve(information, [prior, 1 - prior])
    score = [d[0] / (a * (1 - a)), d[1] / (b * (1 - b)), step @ d / (q * (1 - q))]
    observed = sum(w * (k - n * p) for w, k, n, p in zip(score, counts, size, (a, b, q), strict=True))
    total, deviation = 0.0, abs(score[2]) * np.sqrt(size[2] * q * (1 - q))
    skewness = np.sign(score[2]) * (1 - 2 * q) / np.sqrt(size[2] * q * (1 - q))
    for i, j in product(range(size[0] + 1), range(size[1] + 1)):
        z = (observed - score[0] * (i - size[0] * a) - score[1] * (j - size[1] * b)) / deviation
        below = np.clip(norm.cdf(z) - norm.pdf(z) * skewness * (z**2 - 1) / 6, 0, 1)
        total += binom.pmf(i, size[0], a) * binom.pmf(j, size[1], b) * below
    return total


@pytest.mark.parametrize("value", [0.01, 0.05, 0.15, 0.3])
def test_the_mid_p_value_is_that_of_the_efficient_score_by_enumeration(value):
    """Restricted likelihood on a grid, the score from Fisher's information, and all counts of both classes."""
    share, size = np.array([0.1, 0.2, 0.4]), np.array([10, 5, 200])
    measure = cost_measure(KNOWN)
    found = lower_tail(measure, np.array([value]), share, size.astype(float), np.array([0.3]))
    assert_allclose(found, brute_force_p(share, size, 0.3, value), atol=2e-4)


def test_an_interval_holds_the_values_that_are_not_rejected():
    share, size = np.array([0.1, 0.2, 0.4]), np.array([10.0, 5.0, 200.0])
    for measure, _ in MEASURES.values():
        ends = np.array(rate_interval(share, size, KNOWN, measure, 0.9))
        p = lower_tail(measure, ends, share, size, np.array([0.3]))
        assert_allclose(sorted(p), [0.05, 0.95], atol=2e-4)


@pytest.mark.parametrize("name", ["error", "recall", "precision", "F1"])
@pytest.mark.parametrize("error", [0.001, 0.02, 0.1, 0.4])
def test_intervals_cover_near_zero_and_in_the_middle(name, error):
    """1,000 draws of 5 + 5, 10 + 10 and 50 + 50 labels with U of 0, 300 and 10,000 rows, by the test at the truth."""
    measure, value = MEASURES[name]
    rng, truth = np.random.default_rng(0), value(error, error, 0.3)
    for n, n_unlabeled in ((5, 300), (10, 0), (10, 10_000), (50, 300)):
        called = 0.3 * (1 - error) + 0.7 * error
        rates, size = (error, error, called), np.array([n, n, n_unlabeled])
        share = np.array([rng.binomial(m, p, 1000) / max(m, 1) for m, p in zip(size, rates, strict=True)])
        p = lower_tail(measure, np.full(1000, truth), share, size.astype(float), np.full(1000, 0.3))
        clean = (share[0] == 0 if name != "precision" else True) & (share[1] == 0 if name != "recall" else True)
        assert 0.915 < np.mean((p > 0.025) & ((p < 0.975) | clean)) <= 1


@pytest.mark.parametrize("error", [0.01, 0.1, 0.3])
@pytest.mark.parametrize("size", [(10, 10, 10_000), (10, 10, 300), (0, 20, 1000), (20, 0, 1000)])
def test_intervals_of_a_cost_cover_under_an_uncertain_prior_and_from_one_class(size, error):
    """2,000 draws with a prior from its distribution: the mean of the p-values under its quantiles at the truth."""
    belief, rng = PriorEstimate.of_counts([30, 30]), np.random.default_rng(0)
    theta = rng.choice(belief.points(500), 2000)
    rates = (error, error, theta + (1 - 2 * theta) * error)
    share = np.array([rng.binomial(m, p, 2000) / max(m, 1) for m, p in zip(size, rates, strict=True)])
    measure, (points, weight) = cost_measure(belief, (5.0, 1.0)), prior_nodes(belief)
    p = lower_tail(
        measure, (5 * theta + 1 - theta) * error, share, np.array(size, float), points[:, None], belief.spread
    )
    p = weight @ p / weight.sum()
    clean = ((share[0] == 0) | (size[0] == 0)) & ((share[1] == 0) | (size[1] == 0)) & (min(size[:2]) > 0)
    assert 0.93 < np.mean((p > 0.025) & ((p < 0.975) | clean)) < 0.99


def test_an_end_is_the_best_value_without_errors_and_the_worst_without_a_right_call():
    size = np.array([10.0, 8.0, 500.0])
    for share, end in ((np.array([0.0, 0.0, 0.37]), "best"), (np.array([1.0, 1.0, 0.62]), "worst")):
        for prior in (KNOWN, PriorEstimate.of_range(0.2, 0.4)):
            for measure in (cost_measure(prior), RECALL, PRECISION, F1):
                low, high = rate_interval(share, size, prior, measure, 0.95)
                assert getattr(measure, end) in (low, high)
                assert low < high


def test_many_unlabelled_rows_exclude_what_a_few_labels_allow():
    """Five right labels leave every recall possible; 10,000 rows of which 98 % are positive say that it is about .8."""
    share, size, prior = np.array([0.0, 0.2, 0.79]), np.array([5.0, 5.0, 10_000.0]), PriorEstimate.known(0.98)
    low, high = rate_interval(share, size, prior, RECALL, 0.95)
    assert 0.76 < low < high < 0.84


def test_an_uncertain_prior_widens_an_interval_and_a_nearly_certain_one_does_not():
    share, size = np.array([0.1, 0.2, 0.41]), np.array([50.0, 50.0, 1000.0])
    counted = [PriorEstimate.of_counts([0.7 * n, 0.3 * n]) for n in (30, 1e6)]
    for measure in (RECALL, PRECISION, F1):
        vague, sharp, known = (rate_interval(share, size, prior, measure, 0.95) for prior in (*counted, KNOWN))
        assert np.ptp(vague) > 1.02 * np.ptp(known)
        assert_allclose(sharp, known, atol=0.002)


@pytest.mark.thorough
def test_intervals_under_an_uncertain_prior_cover():
    """The prior is drawn from its distribution; 150 draws of 10 + 10 labels and 300 rows of U."""
    rng, held = np.random.default_rng(0), []
    for _ in range(150):
        prior = PriorEstimate.of_counts(rng.multinomial(40, [0.6, 0.4]))
        share = np.array([rng.binomial(10, 0.05) / 10, rng.binomial(10, 0.1) / 10, rng.binomial(300, 0.44) / 300])
        low, high = cost_interval(share, np.array([10.0, 10.0, 300.0]), prior, 0.95)
        held.append(low <= 0.4 * 0.05 + 0.6 * 0.1 <= high)
    assert np.mean(held) > 0.92


def test_effective_sizes_need_not_be_whole_and_a_class_may_be_missing():
    share = np.array([0.1, 0.0, 0.3])
    sizes = np.array([[10.0, 10.0, 100.0], [10.0 + 1e-7, 10.0 - 1e-7, 100.0], [10.5, 10.5, 100.0], [11.0, 11.0, 100.0]])
    ends = [rate_interval(share, size, KNOWN, cost_measure(KNOWN), 0.95) for size in sizes]
    assert_allclose(ends[1], ends[0], atol=1e-5)
    assert ends[0][1] > ends[2][1] > ends[3][1]
    for missing in range(3):
        size = sizes[0].copy()
        size[missing] = 0
        low, high = rate_interval(share, size, KNOWN, cost_measure(KNOWN), 0.95)
        assert 0 <= low < high <= 1


def test_the_difference_of_two_rules_is_the_gain_of_one_if_they_differ_in_one_direction_only():
    """Where only the first is ever positive alone, few rows leave the other side its rule of three."""
    share, size = np.array([0.1, 0.02, 0.05]), np.array([400.0, 400.0, 20_000.0])
    low, high = rate_interval(np.array([0.9, 0.02, 0.05]), size, KNOWN, gain_measure(KNOWN, False, (5.0, 1.0)), 0.95)
    found = difference_interval(np.array([share, 0 * share]), np.array([size, size]), KNOWN, 0.95, (5.0, 1.0))
    assert_allclose(found, (-high, -low), atol=2e-3)
    swapped = difference_interval(np.array([0 * share, share]), np.array([size, size]), KNOWN, 0.95, (5.0, 1.0))
    assert_allclose(swapped, (low, high), atol=2e-3)


def test_the_difference_of_two_rules_with_many_labels_is_that_of_paired_means():
    share, size = np.array([[0.12, 0.05, 0.0], [0.07, 0.08, 0.0]]), np.array([[4000.0, 4000.0, 0.0]] * 2)
    gaps = np.array([share[1, 0] - share[0, 0], share[0, 1] - share[1, 1]])
    variance = (share.sum(axis=0)[:2] - gaps**2) / 4000
    value, half = gaps @ (0.3, 0.7), 1.96 * np.sqrt(variance @ (0.09, 0.49))
    assert_allclose(difference_interval(share, size, KNOWN, 0.95), (value - half, value + half), atol=4e-4)
