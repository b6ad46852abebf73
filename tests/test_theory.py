"""Variances and mixes for a limited number of unlabelled rows, and for every loss."""

from math import inf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from pnulearn.losses import LOSSES
from pnulearn.risks import nu, pn, pnu, pu, punu
from pnulearn.theory import (
    Psi,
    best_mix,
    best_share,
    confidence_term,
    error_bound,
    heuristic_mix,
    risk_variance,
    unlabeled_enough,
    unlabeled_to_help,
)

PRIOR = 0.3
positive_numbers = st.floats(1e-4, 10)


def zero_one_covariance(rates, sizes):
    """(3, 2, 2): that of the mean zero-one losses, whose sum is one."""
    spread = np.array([p * (1 - p) / n for p, n in zip(rates, sizes, strict=True)])
    return spread[:, None, None] * np.array([[1, -1], [-1, 1]])


def test_variance_for_limited_unlabeled_rows_agrees_with_simulation():
    fnr, fpr, sizes, repeats = 0.2, 0.25, (10, 10, 30), 200_000
    rng = np.random.default_rng(0)
    said = PRIOR * (1 - fnr) + (1 - PRIOR) * fpr
    errors = [rng.binomial(n, p, repeats) / n for n, p in zip(sizes, (fnr, fpr, said), strict=True)]
    means = np.stack([[errors[0], 1 - errors[0]], [1 - errors[1], errors[1]], [1 - errors[2], errors[2]]])
    psi = Psi.of_rates(fnr, fpr, prior=PRIOR, sizes=sizes)
    for mix in (-1, -0.4, 0, psi.best_mix, 1):
        drawn = np.einsum("ci,cir->r", pnu(PRIOR, mix).table, means)
        assert_allclose(drawn.var(), psi.variance(mix), rtol=0.02)
        assert_allclose(drawn.mean(), PRIOR * fnr + (1 - PRIOR) * fpr, atol=4 * drawn.std() / np.sqrt(repeats))


@settings(max_examples=40, deadline=None)
@given(positive_numbers, positive_numbers, positive_numbers)
def test_the_best_mix_is_the_least_of_all_and_never_worse_than_pn(a, b, c):
    psi = Psi(a, b, c)
    assert -1 < psi.best_mix < 1
    grid = np.linspace(-1, 1, 401)
    assert psi.variance(psi.best_mix) <= min(psi.variance(mix) for mix in grid) + 1e-12
    assert_allclose(psi.variance(psi.best_mix), a + b - (b - a) ** 2 / (a + b + c))
    assert psi.ratio(psi.best_mix) <= 1


@settings(max_examples=40, deadline=None)
@given(st.floats(0.05, 0.95), st.floats(0.05, 0.95), st.floats(0.05, 0.95))
def test_the_weight_table_gives_the_same_as_the_closed_form(fnr, fpr, prior):
    sizes = (8, 30, 100)
    psi = Psi.of_rates(fnr, fpr, prior=prior, sizes=sizes)
    said = prior * (1 - fnr) + (1 - prior) * fpr
    covariance = zero_one_covariance((fnr, fpr, said), sizes)
    assert_allclose(best_mix(prior, covariance), psi.best_mix, atol=1e-9)
    assert_allclose(best_share(pu(prior), nu(prior), covariance), psi.best_punu_mix, atol=1e-9)
    for mix in (-0.7, 0.2):
        assert_allclose(risk_variance(pnu(prior, mix), covariance), psi.variance(mix))
        assert_allclose(risk_variance(punu(prior, (1 - mix) / 2), covariance), psi.variance(mix))


@pytest.mark.parametrize("loss", LOSSES)
def test_the_best_mix_for_any_loss_is_the_best_of_a_fine_grid(loss):
    rng = np.random.default_rng(0)
    scores = rng.normal(1, 1, 10), rng.normal(-0.5, 1, 25), rng.normal(0, 1.5, 60)
    pairs = [np.stack([LOSSES[loss](g), LOSSES[loss](-g)]) for g in scores]
    covariance = np.array([np.cov(pair) / pair.shape[1] for pair in pairs])
    grid = np.linspace(-1, 1, 2001)
    least = min(grid, key=lambda mix: risk_variance(pnu(PRIOR, mix), covariance))
    assert_allclose(best_mix(PRIOR, covariance), least, atol=1e-3)


def test_covariance_formulas_of_the_control_variates():
    """Var[R_PN + a C_P] spelt out term by term, as in the derivation, against the table."""
    rng = np.random.default_rng(1)
    parts = [np.cov(rng.normal(size=(2, 20))) / n for n in (5, 7, 50)]
    p, n, u = parts
    theta, rest = PRIOR, 1 - PRIOR
    var_pn = theta**2 * p[0, 0] + rest**2 * n[1, 1]
    var_c = u[1, 1] + theta**2 * p[1, 1] + rest**2 * n[1, 1]
    cov = -(theta**2) * p[0, 1] - rest**2 * n[1, 1]
    for a in (0.0, 0.3, 1.0):
        assert_allclose(risk_variance(pnu(PRIOR, a), np.array(parts)), var_pn + a**2 * var_c + 2 * a * cov)
    assert_allclose(best_share(pn(PRIOR), pu(PRIOR), np.array(parts)), np.clip(-cov / var_c, 0, 1))


def test_unlabeled_rows_help_from_23_with_the_papers_mix_and_always_with_ours():
    psi = Psi.of_rates(0.2, 0.25, prior=0.3, sizes=(10, 10, 1))
    paper = Psi(psi.positive, psi.negative).best_mix
    assert 22 < unlabeled_to_help(psi, 1, paper) < 24
    for n in range(1, 200):
        now = Psi(psi.positive, psi.negative, psi.unlabeled / n)
        assert now.ratio(now.best_mix) < 1
        assert (now.ratio(paper) < 1) == (n > unlabeled_to_help(psi, 1, paper))
    assert unlabeled_to_help(psi, 1, -0.5) == inf


def test_enough_rows_bring_the_share_asked_for():
    psi = Psi.of_rates(0.2, 0.25, prior=0.3, sizes=(10, 10, 1))
    n = unlabeled_enough(psi, 1, share=0.9)
    unlimited, now = Psi(psi.positive, psi.negative), Psi(psi.positive, psi.negative, psi.unlabeled / n)
    reduction = [1 - each.ratio(each.best_mix) for each in (now, unlimited)]
    assert_allclose(reduction[0], 0.9 * reduction[1])


@pytest.mark.parametrize("prior, ratio", [(0.3, 0.524), (0.5, 1.0), (0.7, 0.524), (0.73, 0.423)])
def test_limits_of_the_ratio_for_equal_variances(prior, ratio):
    psi = Psi(prior**2, (1 - prior) ** 2)
    assert_allclose(psi.ratio(heuristic_mix(prior, 10, 10)), ratio, atol=6e-4)


def test_missing_samples_lead_to_the_risk_that_does_without():
    assert Psi.of_rates(0.2, 0.2, prior=0.3, sizes=(5, 5, 0)).best_mix == 0
    assert Psi.of_rates(0.2, 0.2, prior=0.3, sizes=(5, 0, 50)).best_mix == 1
    assert Psi.of_rates(0.2, 0.2, prior=0.3, sizes=(0, 5, 50)).best_mix == -1
    assert np.isfinite(Psi.of_rates(0.2, 0.2, prior=0.3, sizes=(5, 0, 50)).variance(1))
    assert Psi(0, 0, 0).best_mix == 0


@pytest.mark.parametrize("loss", ["ramp", "truncated_squared"])
def test_bounds_shrink_with_every_sample_and_need_only_samples_with_weight(loss):
    risk = pnu(PRIOR, 0.5)
    base = error_bound(0.1, risk, (50, 50, 50), loss=loss, radius=1)
    for sizes in [(51, 50, 50), (50, 51, 50), (50, 50, 51)]:
        assert error_bound(0.1, risk, sizes, loss=loss, radius=1) < base
    assert np.isfinite(confidence_term(pu(PRIOR), (50, 0, 50), loss))
    assert confidence_term(pn(PRIOR), (50, 0, 50), loss) == inf


def test_bad_bounds_are_refused():
    with pytest.raises(ValueError, match="delta must be a number strictly"):
        error_bound(0.1, pn(0.3), (5, 5, 5), radius=1, delta=0)
    with pytest.raises(ValueError, match="loss must be one of 'ramp'"):
        error_bound(0.1, pn(0.3), (5, 5, 5), radius=1, loss="squared")
