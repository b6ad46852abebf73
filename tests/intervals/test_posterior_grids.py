"""Posteriors on a grid: of a class share, and of both error rates under all that the prior may be."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import beta, binom, norm, t

from pnulearn import pnu_risk
from pnulearn._intervals.posterior_grids import (
    PRIOR_EVIDENCE_POWER,
    DecisionRates,
    beta_mass,
    combine_masses,
    decision_rates_posterior,
    dirichlet_interval,
    distribution_mass,
    error_posterior,
    jeffreys_mass,
    mass_deviation,
    mass_mean,
    mass_quantiles,
    normal_mass,
    range_mass,
    ratio_mass,
    temper_mass,
    weighted_interval,
)
from pnulearn.metrics._risk import estimate_risk, unclipped_risk
from pnulearn.priors import PriorEstimate

SHARE, SIZE = np.array([0.2, 0.25, 0.41]), np.array([20.0, 24.0, 200.0])


@pytest.mark.parametrize(("positive", "negative"), [(3, 7), (0, 12), (400, 9600)])
def test_counts_have_a_beta_posterior(positive, negative):
    mass, exact = beta_mass(positive, negative), beta(positive + 0.5, negative + 0.5)
    assert_allclose([mass_mean(mass), mass_deviation(mass)], [exact.mean(), exact.std()], rtol=2e-3)
    assert_allclose(mass_quantiles(mass, [0.025, 0.5, 0.975]), exact.ppf([0.025, 0.5, 0.975]), rtol=2e-3, atol=1e-6)
    assert_allclose(mass_quantiles(distribution_mass(exact), [0.1, 0.9]), exact.ppf([0.1, 0.9]), rtol=2e-3, atol=1e-6)


def hold(mass, truth):
    low, high = mass_quantiles(mass, [0.025, 0.975])
    return low <= truth <= high


def test_posteriors_of_a_share_cover_what_their_prior_draws():
    """Shares from Jeffreys' prior, then counts, a normal estimate, and both at once."""
    rng, held = np.random.default_rng(0), []
    for truth in rng.beta(0.5, 0.5, 1500):
        count, center = rng.binomial(30, truth), rng.normal(truth, 0.1)
        counted, seen = beta_mass(count, 30 - count), normal_mass(center, 0.1)
        held.append([hold(mass, truth) for mass in (counted, seen, combine_masses([counted, seen]))])
    assert_allclose(np.mean(held, axis=0), 0.95, atol=0.02)


def test_a_prior_with_known_means_of_the_classes_is_as_uncertain_as_the_mean_of_u():
    mass = ratio_mass(np.array([1.0, 3.0, 1.8]), np.array([0, 0, 0.04**2]), np.full(2, 1e9))
    assert_allclose(mass_quantiles(mass, [0.05, 0.5, 0.95]), norm(0.4, 0.02).ppf([0.05, 0.5, 0.95]), atol=4e-4)


def test_a_prior_from_few_labels_has_the_likelihood_of_students_t_and_jeffreys_prior():
    low, high, unlabeled = 0.1, 0.7, 0.3
    variances = np.array([0.01, 0.02, 0.002])
    theta = beta(0.5, 0.5).ppf((np.arange(100_000) + 0.5) / 100_000)  # evenly spread under the prior
    deviation = np.sqrt(0.002 + theta**2 * (0.02 + (0.6 / 5) ** 2) + (1 - theta) ** 2 * (0.01 + (0.6 / 9) ** 2))
    likelihood = t(4).pdf((unlabeled - theta * high - (1 - theta) * low) / deviation) / deviation
    reached = np.cumsum(likelihood)
    expected = np.interp([0.025, 0.5, 0.975], reached / reached[-1], theta)
    found = mass_quantiles(
        ratio_mass(np.array([low, high, unlabeled]), variances, np.array([9, 5])), [0.025, 0.5, 0.975]
    )
    assert_allclose(found, expected, atol=1e-4)


@pytest.mark.parametrize("lead", [4.0, 1.0, 0.5])
@pytest.mark.parametrize("theta", [0.05, 0.5])
def test_the_distribution_of_a_ratio_covers_although_the_difference_of_the_classes_is_uncertain(lead, theta):
    """90 % intervals from normal scores whose classes lie `lead` standard deviations apart."""
    rng, held, sizes = np.random.default_rng(0), [], (20, 10, 300)
    for _ in range(2000):
        center = np.where(rng.random(sizes[2]) < theta, lead, 0.0)
        rows = [rng.normal(middle, 1, n) for middle, n in zip((0.0, lead, center), sizes, strict=True)]
        means, variances = (np.array([f(x) for x in rows]) for f in (np.mean, lambda x: x.var(ddof=1) / len(x)))
        if means[1] <= means[0]:
            continue
        low, high = mass_quantiles(ratio_mass(means, variances, np.array(sizes[:2])), [0.05, 0.95])
        held.append(low <= theta <= high)
    assert np.mean(held) > 0.885


def test_a_power_of_the_evidence_counts_as_a_part_of_the_rows_and_none_as_jeffreys_prior():
    assert_allclose(temper_mass(beta_mass(20, 40), 0.25), beta_mass(5, 10), atol=1e-12)
    assert_allclose(temper_mass(beta_mass(20, 40), 0.0), jeffreys_mass(), atol=1e-12)


@pytest.mark.parametrize(("low", "high"), [(0.1, 0.3), (0.001, 0.02), (0.9, 0.95)])
def test_a_range_has_the_quantiles_that_it_states(low, high):
    assert_allclose(mass_quantiles(range_mass(low, high, 0.8), [0.1, 0.9]), [low, high], rtol=0.02)


def test_dirichlet_intervals_cover_what_their_prior_draws():
    rng, held = np.random.default_rng(0), []
    for shares in rng.dirichlet([0.5, 0.5, 0.5], 1500):
        alphas = rng.multinomial(40, shares) + 0.5
        low, high = dirichlet_interval(alphas / alphas.sum(), alphas.sum(), 0.95)
        held.append((low <= shares) & (shares <= high))
    assert_allclose(np.mean(held, axis=0), 0.95, atol=0.02)


@pytest.mark.parametrize("spread", [0.0, 0.1])
def test_posteriors_of_both_error_rates_cover_what_their_prior_draws(spread):
    """FNR, FPR and the error from 15 positive, 20 negative and 200 unlabelled rows; the prior known or normal."""
    rng, held = np.random.default_rng(0), []
    for _ in range(100 if spread else 300):
        prior = float(np.clip(0.4 + spread * rng.normal(), 0.05, 0.95))
        rates = rng.beta(0.5, 0.5, 2)
        called = prior * (1 - rates[0]) + (1 - prior) * rates[1]
        size = np.array([15.0, 20.0, 200.0])
        share = rng.binomial([15, 20, 200], [*rates, called]) / size
        known = PriorEstimate.of_mass(normal_mass(0.4, spread), "test") if spread else PriorEstimate.known(0.4)
        priors, found, probability = decision_rates_posterior(share, size, known, 64, prior_evidence=1.0)
        values = [*found, priors * found[0] + (1 - priors) * found[1]]
        truths = [*rates, prior * rates[0] + (1 - prior) * rates[1]]
        ends = [weighted_interval(value, probability, 0.95) for value in values]
        held.append([low <= truth <= high for (low, high), truth in zip(ends, truths, strict=True)])
    assert (np.mean(held, axis=0) > 0.91).all()
    assert 0.93 < np.mean(held) < 0.98


def test_the_agreement_is_the_likelihood_of_the_calls_among_u_averaged_over_both_error_rates():
    """Against simulation, with labels enough for the normal law: Jeffreys' posteriors of both, then 82 of 200 calls."""
    rng = np.random.default_rng(0)
    fnr, fpr = rng.beta(16.5, 64.5, 400_000), rng.beta(20.5, 60.5, 400_000)
    priors = [0.2, 0.3, 0.4, 0.5]
    likelihood = [np.mean(binom.pmf(82, 200, t * (1 - fnr) + (1 - t) * fpr)) for t in priors]
    found = np.exp([DecisionRates(SHARE, np.array([80.0, 80.0, 200.0]), t).agreement for t in priors])
    assert_allclose(found / found.sum(), likelihood / np.sum(likelihood), atol=0.01)


def test_without_news_the_prior_keeps_its_distribution_and_with_it_moves_to_where_the_samples_agree():
    prior = PriorEstimate.of_range(0.1, 0.9)
    means = {}
    for news in (0.0, PRIOR_EVIDENCE_POWER, 1.0):
        priors, _, probability = decision_rates_posterior(SHARE, SIZE, prior, prior_evidence=news)
        means[news] = priors @ probability
    agreeing = (0.41 - 0.25) / (1 - 0.2 - 0.25)  # share called = prior (1 - FNR) + (1 - prior) FPR
    assert means[0.0] == pytest.approx(prior.mean, abs=0.01)
    assert abs(means[1.0] - agreeing) < abs(means[PRIOR_EVIDENCE_POWER] - agreeing) < abs(means[0.0] - agreeing)


def test_calls_say_nothing_new_of_the_prior_that_the_model_was_trained_with():
    prior = PriorEstimate.of_range(0.1, 0.9)
    fixed, trained = (error_posterior(SHARE, SIZE, prior, 32, own_prior=own) for own in (False, True))
    width = [np.ptp(weighted_interval(*found, 0.95)) for found in (fixed, trained)]
    assert width[0] < 0.9 * width[1]
    known = PriorEstimate.known(0.3)
    assert_allclose(*(error_posterior(SHARE, SIZE, known, 32, own_prior=own)[1] for own in (False, True)))


def test_an_estimate_under_an_unknown_prior_lies_within_its_interval():
    """Labels without an error, a prior around .4 and three tenths of U called positive: PU alone says -0.1."""
    y = np.repeat([1.0, 0.0, np.nan], [10, 10, 100])
    score = np.concatenate([np.ones(10), -np.ones(10), np.repeat([1.0, -1.0], [30, 70])])
    groups = [score[y == 1], score[y == 0], score[np.isnan(y)]]
    assert unclipped_risk(groups, 0.4, 1.0, "zero_one") == pytest.approx(-0.1)
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
