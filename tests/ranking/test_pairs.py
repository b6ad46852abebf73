"""Risks of pairs: against brute force over all pairs, numerical derivatives and identities."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import approx_fprime

from pnulearn.losses import LOSSES
from pnulearn.metrics import pnu_auc
from pnulearn.ranking import (
    HOPELESS,
    Moments,
    PairTally,
    pair_weights,
    promising_mixes,
    quadratic_risk,
    side_variances,
    smooth_risk,
    solve_candidates,
    validation_mix,
)

rng = np.random.default_rng(0)
PRIOR = 0.3
FEATURES = rng.normal(size=(40, 4)) + np.array([1, 0.5, 0, 0]) * (np.arange(40) < 9)[:, None]
SAMPLES = [np.arange(9), np.arange(9, 16), np.arange(16, 40)]
MIXES = [-1.0, -0.4, 0.0, 0.7, 1.0]


def brute_force(loss, scores, mix):
    """Term by term as the paper writes it."""

    def mean(first, second, same=False):
        pairs = [(i, j) for i, j in product(range(len(first)), range(len(second))) if not (same and i == j)]
        return float(np.mean([loss(first[i] - second[j]) for i, j in pairs]))

    p, n, u = scores
    pn = mean(p, n)
    pu = (mean(p, u) - PRIOR * mean(p, p, same=True)) / (1 - PRIOR)
    nu = (mean(u, n) - (1 - PRIOR) * mean(n, n, same=True)) / PRIOR
    return (1 - abs(mix)) * pn + max(mix, 0) * pu + max(-mix, 0) * nu


@pytest.mark.parametrize("mix", MIXES)
def test_the_quadratic_form_is_the_mean_over_pairs(mix):
    w = rng.normal(size=4)
    H, h = quadratic_risk([Moments.of(FEATURES[rows]) for rows in SAMPLES], pair_weights(PRIOR, mix))
    expected = brute_force(LOSSES["squared"], [FEATURES[rows] @ w for rows in SAMPLES], mix)
    assert_allclose((1 - 2 * h @ w + w @ H @ w) / 4, expected, rtol=1e-12)


@pytest.mark.parametrize("mix", MIXES)
@pytest.mark.parametrize("loss", ["logistic", "squared", "sigmoid"])
def test_the_smooth_risk_and_its_slope(loss, mix):
    scores = [FEATURES[rows] @ [1.0, -0.5, 0.2, 0.1] for rows in SAMPLES]
    weights = pair_weights(PRIOR, mix)
    value, slopes = smooth_risk(LOSSES[loss], scores, weights)
    assert_allclose(value, brute_force(LOSSES[loss], scores, mix), rtol=1e-12)
    cuts = np.cumsum([len(part) for part in scores])[:-1]
    numerical = approx_fprime(
        np.concatenate(scores), lambda g: smooth_risk(LOSSES[loss], np.split(g, cuts), weights)[0], 1e-6
    )
    assert_allclose(np.concatenate(slopes), numerical, atol=1e-6)


@pytest.mark.parametrize("loss", ["squared", "logistic"])
@pytest.mark.parametrize("mix", [-0.5, 0.0, 0.5])
def test_solutions_are_where_the_slope_vanishes(loss, mix):
    alpha = 0.5
    w = solve_candidates(FEATURES, SAMPLES, PRIOR, np.array([mix]), np.array([alpha]), LOSSES[loss])[0, 0]
    _, slopes = smooth_risk(LOSSES[loss], [FEATURES[rows] @ w for rows in SAMPLES], pair_weights(PRIOR, mix))
    gradient = sum(FEATURES[rows].T @ part for rows, part in zip(SAMPLES, slopes, strict=True)) + 2 * alpha * w
    assert_allclose(gradient, 0, atol=1e-5)


def test_the_classes_may_change_places():
    """P <-> N, θ <-> 1 − θ and η <-> −η turn the scores round."""
    swapped = [SAMPLES[1], SAMPLES[0], SAMPLES[2]]
    one = solve_candidates(FEATURES, SAMPLES, PRIOR, np.array([0.6]), np.array([0.5]), LOSSES["squared"])
    other = solve_candidates(FEATURES, swapped, 1 - PRIOR, np.array([-0.6]), np.array([0.5]), LOSSES["squared"])
    assert_allclose(one, -other, rtol=1e-9)


def test_a_risk_without_a_minimum_has_no_solution():
    """Positives that lie further apart than the unlabelled rows: the risk falls for ever along that line."""
    rows = np.vstack([[[9.0, 0, 0, 0], [-9.0, 0, 0, 0]], FEATURES])
    few = [np.arange(2), np.arange(11, 13), np.arange(18, 42)]
    coef = solve_candidates(rows, few, 0.9, np.array([1.0]), np.array([1e-9, 1e3]), LOSSES["squared"])
    assert np.isnan(coef[0, 0]).all()
    assert np.isfinite(coef[0, 1]).all()


@pytest.mark.parametrize("mix", [-1.0, -0.3, 0.0, 0.6, 1.0])
def test_lost_pairs_are_what_pnu_auc_leaves(mix):
    scores = np.round(FEATURES @ [1.0, -0.5, 0.2, 0.1], 1)  # with ties
    y = np.repeat([1.0, 0.0, np.nan], [9, 7, 24])
    tally = PairTally.of(scores[None], SAMPLES)
    risk = tally.lost / tally.pairs @ pair_weights(PRIOR, mix)
    assert_allclose(risk, 1 - pnu_auc(y, scores, prior=PRIOR, mix=mix).value, rtol=1e-12)


def test_squared_sums_are_those_of_brute_force():
    scores = FEATURES @ [1.0, -0.5, 0.2, 0.1]
    tally = PairTally.of(scores[None], SAMPLES)
    found = tally.squared[0] / tally.pairs @ pair_weights(PRIOR, 0.6)
    assert_allclose(found, brute_force(LOSSES["squared"], [scores[rows] for rows in SAMPLES], 0.6), rtol=1e-12)


def test_the_validation_mix_has_the_least_variance():
    """(1 − γ)² / (n_P n_N) + γ² θ² / (θ_N² n_P (n_P − 1)) on the side of P."""
    sizes = np.array([6, 9, 1000])
    mixes = np.linspace(0, 1, 100_001)
    variance = (1 - mixes) ** 2 / 54 + mixes**2 * (0.2 / 0.8) ** 2 / 30
    assert_allclose(validation_mix(0.2, sizes), mixes[variance.argmin()], atol=1e-4)


def test_pairs_within_a_class_are_what_varies():
    """The spread of U-statistics over many draws, scores being normal and U unlimited."""
    draws = np.random.default_rng(0)
    prior, sizes = 0.3, np.array([6, 9, 1000])
    within = [draws.normal(size=(20_000, n)) for n in sizes[:2]]
    # The mean of s t over pairs of different rows has the variance 2 / (n (n − 1)), as products of pairs do.
    means = [(x.sum(axis=1) ** 2 - (x**2).sum(axis=1)) / (x.shape[1] * (x.shape[1] - 1)) for x in within]
    odds = prior / (1 - prior)
    seen = [(odds * means[0]).var() / 2, (means[1] / odds).var() / 2]
    assert_allclose(list(side_variances(prior, sizes).values()), seen, rtol=0.05)


@pytest.mark.parametrize("prior", [0.01, 0.1, 0.3, 0.4, 0.5, 0.7, 0.99])
def test_mixes_are_tried_on_the_side_of_the_rare_class(prior):
    sizes = np.array([12, 15, 300])
    found = promising_mixes(prior, sizes)
    assert_allclose(promising_mixes(1 - prior, sizes[[1, 0, 2]]), -found[::-1], atol=1e-15)
    sides = side_variances(prior, sizes)
    assert (found > 0).any() == (sides[1] <= HOPELESS * sides[-1])
    assert (found < 0).any() == (sides[-1] <= HOPELESS * sides[1])
    assert np.sum(found == 0) == 1
