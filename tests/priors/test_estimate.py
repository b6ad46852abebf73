"""The prior as a distribution, against closed forms and simulation."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from pnulearn._intervals.posterior_grids import normal_mass
from pnulearn.priors import PriorEstimate
from pnulearn.priors._resolve import read_prior


@pytest.mark.parametrize("counts", [(7, 3), (0, 5), (990, 10), (40_000, 160_000)])
def test_label_counts_give_the_beta_distribution_of_jeffreys(counts):
    found, exact = PriorEstimate.of_counts(counts), stats.beta(counts[1] + 0.5, counts[0] + 0.5)
    assert_allclose([found.value, found.sd], [exact.mean(), exact.std()], rtol=1e-4, atol=1e-6)
    assert_allclose(found.within(0.95), exact.ppf([0.025, 0.975]), rtol=2e-3, atol=1e-5)


def test_a_range_holds_ninety_percent_between_its_ends():
    for low, high in [(0.1, 0.3), (0.001, 0.01), (0.02, 0.9), (0.45, 0.46)]:
        found = PriorEstimate.of_range(low, high)
        assert_allclose([found.low, found.high], [low, high], atol=2e-4)


def test_independent_counts_combine_to_the_counts_of_all():
    both = PriorEstimate.of_counts([3, 1]).combine(PriorEstimate.of_counts([5, 4]), PriorEstimate.of_counts([2, 0]))
    assert_allclose(both.mass, PriorEstimate.of_counts([10, 5]).mass, atol=1e-12)


def test_a_normal_estimate_and_label_counts_combine_by_bayes_rule():
    """Against numerical integration of likelihood times Jeffreys' density."""
    scores = PriorEstimate.of_mass(normal_mass(0.35, 0.1), "scores")
    found = scores.combine(PriorEstimate.of_counts([8, 2]))
    theta = np.linspace(0, 1, 200_001)[1:-1]
    weight = stats.norm.pdf(theta, 0.35, 0.1) * stats.beta.pdf(theta, 2.5, 8.5)
    assert_allclose(found.value, np.sum(theta * weight) / np.sum(weight), atol=2e-4)


def test_several_classes_are_dirichlet():
    found = PriorEstimate.of_counts([6, 3, 1])
    assert_allclose(found.shares, np.array([6.5, 3.5, 1.5]) / 11.5)
    assert_allclose(found.low, stats.beta.ppf(0.05, [6.5, 3.5, 1.5], [5.0, 8.0, 10.0]))
    more = found.combine(PriorEstimate.of_counts([4, 4, 4]))
    assert_allclose(more.shares, PriorEstimate.of_counts([10, 7, 5]).shares)


def test_distributions_of_scipy_are_taken_as_they_are():
    found = read_prior(stats.uniform(0.2, 0.4))
    assert_allclose([found.mean, found.sd], [0.4, 0.4 / np.sqrt(12)], atol=1e-3)
    with pytest.raises(ValueError, match="no mass between 0 and 1"):
        read_prior(stats.uniform(3, 1))


def test_contradicting_evidence_is_refused():
    with pytest.raises(ValueError, match="contradicts the data"):
        read_prior(stats.uniform(0.1, 0.1)).combine(read_prior(stats.uniform(0.7, 0.1)))


def test_a_known_prior_stays_the_number_it_is():
    known = read_prior(0.3)
    assert (float(known), known.low, known.high, known.sd) == (0.3, 0.3, 0.3, 0.0)
    assert known.is_known


@pytest.mark.parametrize("prior", [(0.3, 0.1), (0.0, 0.2), (0.1,), (0.1, 0.2, 0.3), (10, 30)])
def test_ranges_that_are_none_are_refused(prior):
    with pytest.raises(ValueError, match="prior"):
        read_prior(prior)


def test_the_mode_is_that_of_the_density_over_the_prior():
    assert_allclose(PriorEstimate.of_counts([70, 30]).mode, (30.5 - 1) / (101 - 2), atol=1e-3)


def test_a_range_and_rows_that_disagree_still_give_an_answer():
    both = PriorEstimate.of_range(0.85, 0.99).combine(PriorEstimate.of_mass(normal_mass(-0.4, 0.01), "scores"))
    assert 0 < both.value < 1


def test_evidence_that_is_trusted_less_varies_more_by_that_factor():
    narrow = PriorEstimate.of_mass(normal_mass(0.4, 0.02), "scores")
    assert_allclose([narrow.widened(3).mean, narrow.widened(3).sd], [0.4, 0.06], rtol=0.02)
    assert narrow.widened(1).sd == pytest.approx(narrow.sd)
    three = PriorEstimate.of_counts([80, 40, 80])
    assert_allclose(three.widened(2).sd, 2 * three.sd, rtol=0.02)
    known = PriorEstimate.known(0.3)
    assert known.widened(2) == known
