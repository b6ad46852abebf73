"""Variance ratios."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from experiments import figure_1
from experiments.figure_1 import (
    draw_rates,
    mix_for,
    per_draw_mix,
    variance_ratios,
    zero_one_covariances,
)


@pytest.fixture
def many_draws(monkeypatch):
    monkeypatch.setattr(figure_1, "DRAWS", 40000)
    monkeypatch.setattr(figure_1, "UNLABELED_SIZES", (10, 50, 300))


@pytest.mark.parametrize("prior", [0.3, 0.5, 0.7])
@pytest.mark.parametrize("method", ["asymptotic", "finite"])
def test_measured_ratios_lie_on_the_theory(prior, method, many_draws):
    """With a pool so large that drawing without replacement does not show."""
    measured, theory = variance_ratios((200_000, 250_000), (10**6, 10**6), prior, method, np.random.default_rng(0))
    assert_allclose(measured, theory, rtol=0.03)


@pytest.mark.parametrize("prior", [0.3, 0.7])
def test_the_limit_for_equal_variances_is_the_papers(prior):
    """4 ψ_P ψ_N / (ψ_P + ψ_N)² = 0.524 at priors 0.3 and 0.7."""
    psi = np.array([prior**2, (1 - prior) ** 2])
    _, theory = variance_ratios((200, 200), (1000, 1000), prior, "asymptotic", np.random.default_rng(0))
    limit = 4 * psi.prod() / psi.sum() ** 2
    assert_allclose(limit, 0.524, atol=1e-3)
    assert limit < theory[-1] < limit + 0.06


def test_the_asymptotic_mix_hurts_with_few_unlabelled_rows_and_the_finite_one_never_does(many_draws):
    rng = np.random.default_rng(1)
    asymptotic, _ = variance_ratios((2000, 2500), (10**4, 10**4), 0.3, "asymptotic", rng)
    finite, _ = variance_ratios((2000, 2500), (10**4, 10**4), 0.3, "finite", rng)
    assert asymptotic[0] > 1.3
    assert (finite < 1).all()


def test_counts_have_the_law_of_rows_drawn_without_replacement(monkeypatch):
    """Against drawing actual rows from actual pools."""
    monkeypatch.setattr(figure_1, "DRAWS", 8000)
    errors, sizes, prior, n_u = (30, 10), (80, 60), 0.4, 25
    drawn = np.array(draw_rates(errors, sizes, prior, n_u, np.random.default_rng(2)))
    rng, direct = np.random.default_rng(3), []
    wrong_p, wrong_n = np.arange(80) < 30, np.arange(60) < 10
    for _ in range(8000):
        p, n = rng.permutation(wrong_p), rng.permutation(wrong_n)
        m = rng.binomial(n_u, prior)
        taken = (~p[10 : 10 + m]).sum() + n[10 : 10 + n_u - m].sum()
        direct.append((p[:10].mean(), n[:10].mean(), taken / n_u))
    assert_allclose(drawn.mean(axis=1), np.mean(direct, axis=0), atol=0.007)
    assert_allclose(np.cov(drawn), np.cov(np.transpose(direct)), atol=1e-3)


def test_mixes_are_those_of_the_formulas():
    rates, prior = np.array([0.2, 0.25]), 0.3
    psi_p, psi_n = prior**2 * 0.16 / 10, (1 - prior) ** 2 * 0.1875 / 10
    taken = prior * 0.8 + (1 - prior) * 0.25
    psi_u = taken * (1 - taken) / 40
    covariance = zero_one_covariances(rates, prior, 40)
    assert_allclose(mix_for("asymptotic", prior, covariance), (psi_n - psi_p) / (psi_n + psi_p))
    assert_allclose(mix_for("finite", prior, covariance), (psi_n - psi_p) / (psi_n + psi_p + psi_u))
    assert mix_for("per-draw", prior, covariance) is None
    assert_allclose(per_draw_mix(np.array([0.0]), np.array([0.0]), 0.5), 0)
