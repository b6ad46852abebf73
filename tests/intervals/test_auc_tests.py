"""Interval of the AUC by inverting a test: its parts against simulation, and how often the interval covers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import ndtri
from scipy.stats import binomtest

from pnulearn._intervals.auc_tests import _normal_covariances, auc_interval, auc_tail, best_pair_mix, pair_weights
from pnulearn.metrics._curves import count_beaten
from pnulearn.priors import PriorEstimate


def pairs_won(p, n, u):
    return [
        np.column_stack([count_beaten(p, n), count_beaten(p, u), 0 * p]),
        np.column_stack([1 - count_beaten(n, p), 0 * n, 1 - count_beaten(n, u)]),
        np.column_stack([0 * u, 1 - count_beaten(u, p), count_beaten(u, n)]),
    ]


def draw(rng, auc, sizes, prior, scale=1.0):
    """Normal scores; positive ones have this standard deviation."""
    gap = float(ndtri(auc)) * np.sqrt(1 + scale**2)
    positive = rng.random(sizes[2]) < prior
    of_u = np.where(positive, rng.normal(gap, scale, sizes[2]), rng.normal(0, 1, sizes[2]))
    return rng.normal(gap, scale, sizes[0]), rng.normal(0, 1, sizes[1]), of_u


def test_covariances_under_normal_scores_are_those_of_large_samples():
    rows = draw(np.random.default_rng(0), 0.85, (4000, 4000, 8000), 0.3)
    found = _normal_covariances(np.array(0.85), np.array(0.3))
    for won, covariance in zip(pairs_won(*rows), found, strict=True):
        assert_allclose(np.cov(won.T), covariance, atol=0.006)


def test_the_mix_of_least_variance_is_that_of_a_grid():
    rng = np.random.default_rng(1)
    for _ in range(20):
        root = rng.normal(size=(3, 3))
        covariance, prior, drifts = root @ root.T, rng.uniform(0.1, 0.9), rng.uniform(0, 1, 2)
        mixes = np.linspace(-1, 1, 20001)
        weights = pair_weights(mixes, prior)[0]
        drift = np.where(mixes > 0, drifts[0], drifts[1]) * mixes**2
        variances = np.einsum("mi,ij,mj->m", weights, covariance, weights) + drift
        found = best_pair_mix(covariance, np.array(prior), *drifts)
        assert_allclose(found, mixes[np.argmin(variances)], atol=2e-4)


def test_with_perfect_labels_alone_the_lower_end_is_that_of_as_many_right_answers_of_one_class():
    """A variance of A (1 − A) / 2 per row and class is that of one binomial count of n rows."""
    for n in (10, 30):
        wins = pairs_won(np.arange(n) + n, np.arange(n) * 1.0, np.zeros(0))
        low, high = auc_interval(wins, PriorEstimate.known(0.4), 0.95, mix=0.0)
        assert high == 1
        wilson = binomtest(n, n).proportion_ci(0.95, method="wilson").low
        assert_allclose(low, wilson, atol=0.05)


def test_an_interval_holds_the_values_that_are_not_rejected():
    wins = pairs_won(*draw(np.random.default_rng(2), 0.9, (20, 30, 200), 0.4))
    ends = np.array(auc_interval(wins, PriorEstimate.known(0.4), 0.9))
    assert_allclose(auc_tail(ends, wins, np.array(0.4)), [0.05, 0.95], atol=1e-3)


@pytest.mark.parametrize(
    ("auc", "sizes", "scale", "mix"),
    [
        (0.999, (10, 10, 1000), 1.0, None),
        (0.98, (50, 50, 300), 2.0, None),
        (0.8, (40, 40, 300), 1.0, 0.5),
        (0.8, (40, 40, 300), 1.0, -0.5),
        (0.7, (10, 10, 0), 1.0, None),
    ],
)
def test_intervals_of_the_auc_cover(auc, sizes, scale, mix):
    """By the test at the true AUC, 300 draws."""
    rng, p = np.random.default_rng(3), []
    for _ in range(300):
        wins = pairs_won(*draw(rng, auc, sizes, 0.4, scale))
        p.append(float(auc_tail(np.array(auc), wins, np.array(0.4), 0.0 if not sizes[2] else mix)))
    held = (np.array(p) > 0.025) & (np.array(p) < 0.975)
    assert 0.92 < held.mean() <= 1
