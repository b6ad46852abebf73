"""What an unknown prior costs and what labels drawn at random would tell, against simulation."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import beta, norm

from pnulearn._intervals.posterior_grids import GRID, normal_mass
from pnulearn.priors import Narrowing, PriorEstimate
from pnulearn.priors._sensitivity import WORTH_SAYING, after_random_labels, prior_cost, shift_probability

DISTANCE = 1.5


def posterior(x, prior):
    positive, negative = prior * norm.pdf(x - DISTANCE), (1 - prior) * norm.pdf(x)
    return positive / (positive + negative)


@pytest.mark.parametrize("n_labels", [1, 15, 60])
def test_labels_to_come_narrow_the_prior_as_simulated_labels_do(n_labels):
    """From 3 of 10, where the distribution after k more positives of n is a Beta distribution."""
    rng = np.random.default_rng(0)
    theta = rng.beta(3.5, 7.5, size=40_000)
    k = rng.binomial(n_labels, theta)
    after = beta(3.5 + k, 7.5 + n_labels - k)
    found = after_random_labels(PriorEstimate.of_counts([7, 3]), n_labels)
    assert found.interval_after == pytest.approx((after.ppf(0.05).mean(), after.ppf(0.95).mean()), abs=0.003)
    assert found.sd_after == pytest.approx(np.sqrt(after.var().mean()), rel=0.01)
    assert found.sd_after < found.sd


def test_what_is_known_cannot_be_narrowed():
    assert after_random_labels(PriorEstimate.known(0.3)) is None
    assert after_random_labels(PriorEstimate.of_counts([3, 4, 5])) is None


@pytest.mark.parametrize("truth", [0.15, 0.6])
def test_the_cost_of_a_wrong_prior_is_the_error_it_adds(truth):
    """Two Gaussians, decided at 0.3: the errors of drawn labels, against those of the best decision."""
    rng = np.random.default_rng(1)
    label = rng.random(400_000) < truth
    x = rng.normal(size=len(label)) + DISTANCE * label
    used = replace(PriorEstimate.of_mass(normal_mass(truth, 1e-4), "test"), value=0.3)
    added = np.mean((posterior(x, 0.3) > 0.5) != label) - np.mean((posterior(x, truth) > 0.5) != label)
    assert prior_cost(posterior(x, 0.3), used) == pytest.approx(added, abs=0.001)
    assert added > 0.005


def test_the_cost_is_averaged_over_the_distribution():
    rng = np.random.default_rng(2)
    estimate = PriorEstimate.of_range(0.1, 0.5)
    x = rng.normal(size=300) + DISTANCE * (rng.random(300) < estimate.value)
    p = posterior(x, estimate.value)
    thetas = rng.choice(GRID, p=estimate.mass, size=2000)
    label = rng.random((2000, 300)) < posterior(x, thetas[:, None])
    best = posterior(x, thetas[:, None]) > 0.5
    added = np.mean((p > 0.5) != label) - np.mean(best != label)
    assert prior_cost(p, estimate, 200) == pytest.approx(added, abs=0.0015)
    assert prior_cost(p, estimate) == pytest.approx(prior_cost(p, estimate, 200), rel=0.15)


def test_a_prior_that_is_known_costs_nothing():
    assert prior_cost(np.linspace(0, 1, 11), PriorEstimate.known(0.3)) == 0


def test_probabilities_under_another_prior_are_those_of_the_densities():
    x = np.linspace(-3, 5, 50)
    np.testing.assert_allclose(shift_probability(posterior(x, 0.3), 0.3, 0.8), posterior(x, 0.8))


def test_the_sentence_says_what_it_costs_only_if_that_is_counted():
    estimate = PriorEstimate.of_range(0.1, 0.7)
    p = posterior(np.linspace(-2, 3, 100), estimate.value)
    found = after_random_labels(estimate, 15, p)
    assert found.is_costly
    assert 0 < found.cost_after < found.cost
    assert str(found).startswith(f"Not knowing the prior may cost about {100 * found.cost:.1f} points of error; 15")
    without = after_random_labels(estimate)
    assert not without.is_costly
    assert "cost" not in str(without)


@pytest.mark.parametrize("probability", [[], [0.2, 1.1], [-0.1, 0.5], [0.5, np.nan], ["a"], None])
def test_what_is_no_probability_is_refused(probability):
    with pytest.raises(ValueError, match="probability must be numbers between 0 and 1"):
        prior_cost(probability, PriorEstimate.known(0.3))


def test_a_cost_is_worth_a_sentence_from_the_least_that_is_said_on():
    told = after_random_labels(PriorEstimate.of_range(0.1, 0.5), 15)
    assert replace(told, cost=WORTH_SAYING).is_costly
    assert not replace(told, cost=WORTH_SAYING / 2).is_costly


def test_the_cost_falls_with_the_variance_of_the_prior():
    assert Narrowing(15, (0.1, 0.5), (0.2, 0.4), sd=0.1, sd_after=0.05, cost=0.04).cost_after == pytest.approx(0.01)
