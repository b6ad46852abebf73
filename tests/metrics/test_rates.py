"""Error rates under all that the prior may be."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import binom

from pnulearn import pnu_risk
from pnulearn.metrics.belief import error_posterior
from pnulearn.metrics.rates import NEWS, Called, rates_under, weighted_quantiles
from pnulearn.metrics.risk import estimate_risk
from pnulearn.priors import PriorEstimate

SHARE, SIZE = np.array([0.2, 0.25, 0.41]), np.array([20.0, 24.0, 200.0])


def test_the_agreement_is_the_likelihood_of_the_calls_among_u_averaged_over_both_error_rates():
    """Against simulation, with labels enough for the normal law: Jeffreys' posteriors of both, then 82 of 200 calls."""
    rng = np.random.default_rng(0)
    fnr, fpr = rng.beta(16.5, 64.5, 400_000), rng.beta(20.5, 60.5, 400_000)
    priors = [0.2, 0.3, 0.4, 0.5]
    likelihood = [np.mean(binom.pmf(82, 200, t * (1 - fnr) + (1 - t) * fpr)) for t in priors]
    found = np.exp([Called(SHARE, np.array([80.0, 80.0, 200.0]), t).agreement for t in priors])
    assert_allclose(found / found.sum(), likelihood / np.sum(likelihood), atol=0.01)


def test_without_news_the_prior_keeps_its_distribution_and_with_it_moves_to_where_the_samples_agree():
    prior = PriorEstimate.of_range(0.1, 0.9)
    means = {}
    for news in (0.0, NEWS, 1.0):
        priors, _, probability = rates_under(SHARE, SIZE, prior, news=news)
        means[news] = priors @ probability
    agreeing = (0.41 - 0.25) / (1 - 0.2 - 0.25)  # share called = prior (1 - FNR) + (1 - prior) FPR
    assert means[0.0] == pytest.approx(prior.mean, abs=0.01)
    assert abs(means[1.0] - agreeing) < abs(means[NEWS] - agreeing) < abs(means[0.0] - agreeing)


def test_calls_say_nothing_new_of_the_prior_that_the_model_was_trained_with():
    prior = PriorEstimate.of_range(0.1, 0.9)
    fixed, trained = (error_posterior(SHARE, SIZE, prior, 32, own_prior=own) for own in (False, True))
    width = [np.ptp(weighted_quantiles(*found, 0.95)) for found in (fixed, trained)]
    assert width[0] < 0.9 * width[1]
    known = PriorEstimate.known(0.3)
    assert_allclose(*(error_posterior(SHARE, SIZE, known, 32, own_prior=own)[1] for own in (False, True)))


def test_an_estimate_under_an_unknown_prior_lies_within_its_interval():
    """Labels without an error, a prior around .4 and three tenths of U called positive: PU alone says -0.1."""
    y = np.repeat([1.0, 0.0, np.nan], [10, 10, 100])
    score = np.concatenate([np.ones(10), -np.ones(10), np.repeat([1.0, -1.0], [30, 70])])
    assert estimate_risk([score[y == 1], score[y == 0], score[np.isnan(y)]], 0.4, mix=1.0).value == pytest.approx(-0.1)
    found = pnu_risk(y, score, prior=(0.3, 0.5), mix=1.0)
    assert found.low <= found.value <= found.high
    assert found.value >= 0


@pytest.mark.thorough
def test_intervals_of_a_frozen_model_hold_with_few_labels_and_an_uncertain_prior():
    """600 draws of ten labels and a range that holds the prior in 90 % of draws, whatever the model."""
    rng = np.random.default_rng(1)
    held = []
    for _ in range(600):
        prior, fnr, fpr = rng.uniform(0.2, 0.8), rng.uniform(0.02, 0.4), rng.uniform(0.02, 0.4)
        center = float(np.clip(rng.normal(prior, 0.1), 0.05, 0.95))
        belief = PriorEstimate.of_range(max(center - 0.165, 0.01), min(center + 0.165, 0.99))
        called = rng.random(300) < prior * (1 - fnr) + (1 - prior) * fpr
        groups = [np.where(rng.random(5) < fnr, -1.0, 1.0), np.where(rng.random(5) < fpr, 1.0, -1.0)]
        found = estimate_risk([*groups, np.where(called, 1.0, -1.0)], belief)
        held.append(found.low <= prior * fnr + (1 - prior) * fpr <= found.high)
    assert 0.92 < np.mean(held) < 0.985
