"""Shares from labels in strata, and from mixtures of two classes."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pnulearn._intervals.post_stratification import matched_beta_interval, mixture_mass, stratified_share
from pnulearn._intervals.posterior_grids import GRID, mass_quantiles


def test_one_stratum_is_the_beta_posterior():
    found = stratified_share(np.array([3.0]), np.array([10.0]), np.array([1.0]), 1e9)
    assert found.mean == pytest.approx(3.5 / 11)
    assert found.variance == pytest.approx(3.5 * 7.5 / (11**2 * 12))


def test_sizes_that_are_estimated_add_the_variance_between_strata():
    parts = np.array([9.0, 1.0]), np.array([10.0, 10.0]), np.array([0.5, 0.5])
    known, estimated = stratified_share(*parts, 1e12), stratified_share(*parts, 50)
    gap = 0.5 * (9.4 - 1.4) / 10.8
    assert estimated.variance - known.variance == pytest.approx(gap**2 / 50)


@pytest.mark.parametrize("share", [0.5, 0.9, 0.97])
@pytest.mark.parametrize("right", [0.6, 0.9])
@pytest.mark.parametrize("n", [50, 300])
def test_stratified_intervals_cover(share, right, n):
    """Counts are drawn directly, so that thousands of draws cost little."""
    rng, n_rows = np.random.default_rng(0), 2000
    cells = [(1 - share) * right, share * (1 - right), (1 - share) * (1 - right), share * right]
    labeled, rest = rng.multinomial(n, cells, 4000), rng.multinomial(n_rows - n, cells, 4000)
    held = []
    for own, other in zip(labeled, rest, strict=True):
        count = own[[0, 2]] + own[[1, 3]]
        size = (count + other[[0, 2]] + other[[1, 3]]) / n_rows
        found = stratified_share(own[[1, 3]].astype(float), count.astype(float), size, n_rows)
        low, high = matched_beta_interval(found.mean, found.variance, 0.95)
        held.append(low <= share <= high)
    assert 0.92 <= np.mean(held) <= 0.975


def test_the_mixture_posterior_agrees_with_simulated_data():
    """Approximate Bayesian computation: shares whose simulated counts are near the observed ones."""
    rng = np.random.default_rng(0)
    theta, p, q = rng.beta(0.5, 0.5, 400_000), rng.beta(45.5, 5.5, 400_000), rng.beta(10.5, 40.5, 400_000)
    seen = rng.binomial(1000, theta * p + (1 - theta) * q)
    kept = theta[np.abs(seen - 600) <= 3]
    mass, best = mixture_mass(np.array([5.0, 45.0]), np.array([40.0, 10.0]), np.array([400.0, 600.0]))
    assert best == pytest.approx((0.6 - 0.2) / (0.9 - 0.2), abs=0.001)
    assert float(mass @ GRID) == pytest.approx(kept.mean(), abs=0.015)
    assert_allclose(mass_quantiles(mass, [0.05, 0.95]), np.quantile(kept, [0.05, 0.95]), atol=0.03)


def test_cells_that_do_not_tell_the_classes_apart_say_nothing():
    even = np.array([50.0, 50.0])
    low, high = mass_quantiles(mixture_mass(even, even, 10 * even)[0], [0.05, 0.95])
    assert low < 0.05
    assert high > 0.95
    assert_allclose(mixture_mass(np.array([9.0]), np.array([9.0]), np.array([9.0]))[0], 1 / len(GRID))


def test_more_cells_agree_with_merged_ones_that_hold_the_same_evidence():
    """Splitting a cell at random adds nothing."""
    two, _ = mixture_mass(np.array([20.0, 180.0]), np.array([160.0, 40.0]), np.array([900.0, 1100.0]))
    three, _ = mixture_mass(
        np.array([20.0, 90.0, 90.0]), np.array([160.0, 20.0, 20.0]), np.array([900.0, 550.0, 550.0])
    )
    assert float(two @ GRID) == pytest.approx(float(three @ GRID), abs=0.01)
