"""Every theorem and numbered formula of the paper, each by a route of its own.

Sakai, du Plessis, Niu and Sugiyama, "Semi-supervised classification based on classification from positive and
unlabeled data", ICML 2017. The risks of sections 2 and 3 are checked in test_risks.py.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pnulearn import risks
from pnulearn.losses import LOSSES
from pnulearn.theory import Psi, error_bound, helpful_mixes, nu_against_pn, pu_against_pn

PRIOR, SIZES, DELTA = 0.3, (40, 90, 700), 0.1
GRID = np.linspace(-1, 1, 20_001)


def pnnu(prior, gamma):
    return risks.pnu(prior, -gamma)


def bound_from_lemma(empirical, coefficients, *, factor, radius, n_events, width):
    """factor (R̂ + Σ c θ (C_w C_φ/√n + width √(ln(events/δ) / (2n)))): how the appendix proves Theorems 1 and 2."""
    priors = (PRIOR, 1 - PRIOR, 1)
    deviations = [radius / np.sqrt(n) + width * np.sqrt(np.log(n_events / DELTA) / (2 * n)) for n in SIZES]
    return factor * (empirical + sum(c * t * d for c, t, d in zip(coefficients, priors, deviations, strict=True)))


@pytest.mark.parametrize("gamma", [0.0, 0.2, 0.5, 0.9, 1.0])
@pytest.mark.parametrize(
    "risk, coefficients",
    [
        (risks.punu, lambda g: (2 - 2 * g, 2 * g, abs(2 * g - 1))),
        (risks.pnpu, lambda g: (1 + g, 1 - g, g)),
        (pnnu, lambda g: (1 - g, 1 + g, g)),
    ],
    ids=["PUNU", "PNPU", "PNNU"],
)
def test_theorem_1(risk, coefficients, gamma):
    """Ramp loss: values in [0, 1], Lipschitz constant 1/2, three deviations at once."""
    found = error_bound(0.1, risk(PRIOR, gamma), SIZES, loss="ramp", radius=1.7, delta=DELTA)
    expected = bound_from_lemma(0.1, coefficients(gamma), factor=2, radius=1.7, n_events=3, width=1)
    assert_allclose(found, expected)


@pytest.mark.parametrize("gamma", [0.0, 0.2, 0.5, 0.9, 1.0])
@pytest.mark.parametrize(
    "risk, coefficients",
    [
        (risks.punu, lambda g: (1 - g, g, 1)),
        (risks.pnpu, lambda g: (1, 1 - g, g)),
        (pnnu, lambda g: (1 - g, 1, g)),
    ],
    ids=["PUNU", "PNPU", "PNNU"],
)
def test_theorem_2(risk, coefficients, gamma):
    """Truncated squared loss: the composite loss lies in [-1/4, 1/4], a width of 1/2, and four deviations at once."""
    found = error_bound(0.1, risk(PRIOR, gamma), SIZES, loss="truncated_squared", radius=1.7, delta=DELTA)
    expected = bound_from_lemma(0.1, coefficients(gamma), factor=4, radius=1.7, n_events=4, width=1 / 2)
    assert_allclose(found, expected)


@pytest.mark.parametrize("name, factor, width", [("ramp", 2, 1), ("truncated_squared", 4, 1 / 4)])
def test_the_losses_have_the_constants_that_theorems_1_and_2_use(name, factor, width):
    loss, margin = LOSSES[name], np.linspace(-4, 4, 4001)
    assert (LOSSES["zero_one"](margin) <= factor * loss(margin) + 1e-12).all()
    composite = loss(margin) - loss(-margin)
    for values in (loss(margin), composite / (1 if name == "truncated_squared" else 2)):
        assert np.abs(np.diff(values) / np.diff(margin)).max() <= 1 / 2 + 1e-9
    assert_allclose([loss(margin).min(), loss(margin).max()], [0, width])
    assert_allclose(np.ptp(composite), 2 * width)


def simulated_losses(fnr, fpr, n_positive, n_negative, repeats=200_000, seed=0):
    """Mean zero-one losses of fixed g on P and N in many draws, and on unlimited U."""
    rng = np.random.default_rng(seed)
    said_positive = PRIOR * (1 - fnr) + (1 - PRIOR) * fpr
    on_p = rng.binomial(n_positive, fnr, repeats) / n_positive
    on_n = rng.binomial(n_negative, fpr, repeats) / n_negative
    return np.stack([on_p, 1 - on_p, 1 - on_n, on_n]), said_positive


def simulated_variance(risk, means, said_positive):
    p, n, u = risk.table
    return np.var(p @ means[:2] + n @ means[2:] + u @ [1 - said_positive, said_positive])


RATES = [(0.2, 0.3, 10, 20), (0.4, 0.1, 10, 20), (0.3, 0.05, 5, 30)]


@pytest.mark.parametrize("fnr, fpr, n_positive, n_negative", RATES)
def test_theorem_3(fnr, fpr, n_positive, n_negative):
    """γ_PUNU = ψ_P / (ψ_P + ψ_N) has the least variance, and PUNU beats PN between 1/2 and 2 γ_PUNU − 1/2."""
    psi = Psi(PRIOR**2 * fnr * (1 - fnr) / n_positive, (1 - PRIOR) ** 2 * fpr * (1 - fpr) / n_negative)
    means, said = simulated_losses(fnr, fpr, n_positive, n_negative)

    def variance(gamma):
        """Of (1 − γ) PU + γ NU, for any γ: the theorem's parabola goes on where no risk is asked for."""
        risk = (1 - gamma) * risks.pu(PRIOR) + gamma * risks.nu(PRIOR)
        return simulated_variance(risk, means, said)

    gamma = psi.positive / (psi.positive + psi.negative)
    assert_allclose(psi.best_punu_mix, gamma)
    assert variance(gamma) < min(variance(gamma - 0.05), variance(gamma + 0.05))
    assert_allclose(variance(1 / 2), simulated_variance(risks.pn(PRIOR), means, said))
    assert_allclose(variance(2 * gamma - 1 / 2), variance(1 / 2), rtol=0.02)
    assert_allclose(variance(gamma), 4 * psi.positive * psi.negative / psi.labeled, rtol=0.02)


@pytest.mark.parametrize("fnr, fpr, n_positive, n_negative", RATES)
def test_theorem_4(fnr, fpr, n_positive, n_negative):
    """γ_PNPU = (ψ_N − ψ_P) / (ψ_P + ψ_N) = −γ_PNNU, and PNU beats PN between 0 and twice that."""
    psi = Psi(PRIOR**2 * fnr * (1 - fnr) / n_positive, (1 - PRIOR) ** 2 * fpr * (1 - fpr) / n_negative)
    means, said = simulated_losses(fnr, fpr, n_positive, n_negative, seed=1)

    def variance(eta):
        return simulated_variance(risks.pnu(PRIOR, eta), means, said)

    eta = (psi.negative - psi.positive) / (psi.positive + psi.negative)
    assert_allclose(psi.best_mix, eta)
    assert_allclose(psi.variance(eta), 4 * psi.positive * psi.negative / psi.labeled)
    assert variance(eta) < min(variance(eta - 0.05), variance(eta + 0.05))
    assert_allclose([variance(e) for e in (0, eta, 0.9)], [psi.variance(e) for e in (0, eta, 0.9)], rtol=0.02)
    low, high = helpful_mixes(psi)
    helpful = [psi.variance(e) < psi.labeled for e in GRID]
    assert_allclose([GRID[helpful].min(), GRID[helpful].max()], [low, high], atol=2e-4)
    assert_allclose(high - low, min(2 * abs(psi.positive - psi.negative) / psi.labeled, 1), atol=1e-12)


def test_three_times_the_variance_makes_every_mix_of_that_side_helpful():
    """The remarks after Theorems 3 and 4: if 3 ψ_P ≤ ψ_N, any γ in (0, 1) reduces the variance."""
    assert_allclose(helpful_mixes(Psi(1.0, 3.0)), (0, 1))
    assert_allclose(helpful_mixes(Psi(3.0, 1.0)), (-1, 0))
    assert helpful_mixes(Psi(1.0, 2.9))[1] < 1


@pytest.mark.parametrize("sizes", [(10, 20, 50), (100, 10, 10**12)])
def test_finite_sample_comparisons_of_section_4_3(sizes):
    n_positive, n_negative, n_unlabeled = sizes
    alpha = (0.3 / np.sqrt(n_positive) + 1 / np.sqrt(n_unlabeled)) / (0.7 / np.sqrt(n_negative))
    assert_allclose(pu_against_pn(0.3, *sizes), alpha)
    beta = (0.7 / np.sqrt(n_negative) + 1 / np.sqrt(n_unlabeled)) / (0.3 / np.sqrt(n_positive))
    assert_allclose(nu_against_pn(0.3, *sizes), beta)
    if n_unlabeled == 10**12:
        assert_allclose(alpha * beta, 1, rtol=1e-4)
