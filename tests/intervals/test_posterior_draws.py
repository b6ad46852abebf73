"""Posterior draws: their distribution, and how often intervals and bands that are read off them cover."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import norm

from pnulearn._intervals.posterior_draws import (
    bayesian_bootstrap,
    curve_band,
    dirichlet_concentration,
    draw_bins,
    draw_confusion,
    draw_decisions,
    draw_scores,
    least_cost_set,
    mean_distance_interval,
    percentile_interval,
    rank_envelope,
    robust_deviation,
)
from pnulearn.priors import PriorEstimate

PRIOR, GAP = 0.3, 1.4  # of normal scores; their AUC is .84
GRID = np.linspace(0, 1, 51)
SHARES = np.array([0.5, 0.3, 0.2])


def sample_scores(rng, sizes=(40, 40, 300)):
    center = GAP * (rng.random(sizes[2]) < PRIOR)
    return rng.normal(GAP, 1, sizes[0]), rng.normal(0, 1, sizes[1]), rng.normal(center, 1)


def draw_repeatedly(n_draws, **options):
    rng, known = np.random.default_rng(0), PriorEstimate.known(PRIOR)
    for _ in range(n_draws):
        scores = sample_scores(rng)
        yield draw_scores(scores, known, [np.ones(len(group)) for group in scores], **options)


def test_bootstrap_weights_are_dirichlet_and_copies_stay_apart():
    """A row of weight w has mean share w/W and variance of a Beta; `apart` is E of Σ_{i≠j} over copies."""
    draws = bayesian_bootstrap(np.array([1.0, 2.0, 3.0]), 40000, np.random.default_rng(0))
    replicates = draws.share[:, 1:]
    assert_allclose(draws.share.sum(axis=0), 1)
    assert_allclose(replicates.mean(axis=1), [1 / 6, 2 / 6, 3 / 6], atol=0.01)
    assert_allclose(replicates.var(axis=1), [w / 6 * (1 - w / 6) / 7 for w in (1, 2, 3)], rtol=0.05)
    assert draws.apart[0] == pytest.approx(1 - 1 / 6)  # W² − W pairs out of W²
    copies = np.random.default_rng(1).dirichlet(np.ones(6), 40000)
    assert_allclose(draws.apart[1:].mean(), 1 - (copies**2).sum(axis=1).mean(), rtol=0.01)


def test_percentile_intervals_of_the_bayesian_bootstrap_cover():
    """The mean of 60 exponential values; percentile intervals are a little narrow."""
    rng, held = np.random.default_rng(0), []
    for _ in range(1000):
        values = rng.exponential(size=60)
        low, high = percentile_interval(values @ bayesian_bootstrap(np.ones(60), 400, rng).share, 0.95)
        held.append(low <= 1.0 <= high)
    assert 0.91 < np.mean(held) < 0.96


def test_robust_deviation_and_concentration_are_those_of_known_distributions():
    rng = np.random.default_rng(0)
    outliers = np.append(rng.normal(0.3, 0.1, 20_000), np.full(100, 1e6))
    assert_allclose(robust_deviation(outliers), 0.1, rtol=0.03)
    shares = np.array([0.2, 0.3, 0.5])
    assert_allclose(dirichlet_concentration(shares, rng.dirichlet(40 * shares, 20_000)), 40, rtol=0.03)
    assert dirichlet_concentration(shares, rng.dirichlet(0.1 * shares, 20_000)) == 1.5


def test_an_envelope_holds_the_share_of_curves_it_is_to_hold():
    rng = np.random.default_rng(0)
    curves = np.cumsum(rng.normal(size=(2000, 30)), axis=1)
    low, high = rank_envelope(curves[:1000], 0.9)
    assert 0.85 < np.mean(((low <= curves[1000:]) & (curves[1000:] <= high)).all(axis=1)) < 0.95


def test_error_rates_and_the_area_and_the_band_of_a_roc_curve_cover():
    """At an AUC of .84. A rate of .08 from 40 rows covers in 90 %."""
    cuts = np.array([0.0, 0.7, 1.4])
    truth, area = norm.sf(norm.isf(GRID) - GAP), float(norm.cdf(GAP / 2**0.5))
    rates, band, areas = [], [], []
    for draws in draw_repeatedly(100):
        place = np.searchsorted(draws.thresholds, cuts, "right") - 1
        for rate, center in ((draws.fnr, GAP), (1 - draws.fpr, 0.0)):
            low, high = percentile_interval(rate[:, place], 0.95)
            rates.append((low <= norm.cdf(cuts - center)) & (norm.cdf(cuts - center) <= high))
        pairs = zip(draws.fpr[:, ::-1], draws.recall[:, ::-1], strict=True)
        curves = np.array([np.interp(GRID, fpr, recall) for fpr, recall in pairs])
        low, high = curve_band(curves, 0.95)
        band.append(((low <= truth + 1e-9) & (truth <= high + 1e-9)).all())
        low, high = percentile_interval(np.sum((curves[:, 1:] + curves[:, :-1]) / 2 * np.diff(GRID), axis=1), 0.95)
        areas.append(low <= area <= high)
    assert (np.mean(rates, axis=0) > 0.88).all()
    assert 0.915 < np.mean(rates) < 0.98
    assert np.mean(band) > 0.89
    assert 0.9 < np.mean(areas) < 0.995


def test_the_confidence_set_holds_the_threshold_of_least_cost():
    """Thresholds within the outermost ones of the set; it is conservative."""
    best = GAP / 2 + float(np.log((1 - PRIOR) / PRIOR)) / GAP
    held = []
    for draws in draw_repeatedly(60, pseudo_rows=1.0):
        kept = least_cost_set(draws.cost((1.0, 1.0)), 0.95)
        ends = np.concatenate([[-np.inf], draws.thresholds, [np.inf]])
        held.append(ends[kept.min()] <= best <= ends[kept.max() + 2])
    assert np.mean(held) > 0.93


def test_shares_of_positives_in_bins_cover_and_so_does_the_mean_distance():
    edges = np.array([-np.inf, 0.0, 1.0, 2.0, np.inf])
    masses = [np.diff(norm.cdf(edges, center)) for center in (GAP, 0.0)]
    truth = PRIOR * masses[0] / (PRIOR * masses[0] + (1 - PRIOR) * masses[1])
    share = PRIOR * masses[0] + (1 - PRIOR) * masses[1]
    target = np.array([0.1, 0.2, 0.4, 0.7])
    rng, held = np.random.default_rng(0), []
    for _ in range(200):
        scores = sample_scores(rng)
        weights = [np.ones(len(group)) for group in scores]
        drawn = draw_bins(scores, PriorEstimate.known(PRIOR), weights, edges)
        low, high = curve_band(drawn, 0.95)
        least, most = mean_distance_interval(low, high, target, share)
        inside = bool(((low <= truth) & (truth <= high)).all())
        error = bool(least <= share @ np.abs(target - truth) <= most)
        assert error or not inside  # a projection of the band
        held.append((inside, error))
    assert 0.87 < np.mean(held, axis=0)[0] < 0.99  # .90 measured
    assert np.mean(held, axis=0)[1] > 0.95


@pytest.mark.parametrize("n_unlabeled", [0, 300])
def test_cells_of_a_confusion_matrix_cover_what_their_prior_draws(n_unlabeled):
    """Three classes, 40 labels each; shares known. Rates are drawn from the prior that the posterior starts from."""
    start, rng, held = np.full((3, 3), 0.25) + 0.25 * np.eye(3), np.random.default_rng(0), []
    for _ in range(150):
        rates = np.array([rng.dirichlet(row) for row in start])
        truth = SHARES[:, None] * rates
        rows = [rng.multinomial(40, rate) for rate in rates]
        table = np.array([*rows, rng.multinomial(n_unlabeled, SHARES @ rates)], dtype=float)
        low, high = percentile_interval(draw_confusion(table, PriorEstimate.known(SHARES)), 0.95)
        held.append((low <= truth) & (truth <= high))
    assert 0.93 < np.mean(held) < 0.97


def test_rates_of_decisions_cover_with_counted_shares():
    """The error rate over three classes, whose shares are known from 150 rows drawn at random."""
    rates = np.array([[0.8, 0.15, 0.05], [0.1, 0.7, 0.2], [0.05, 0.15, 0.8]])
    truth, rng, held = 1 - float(SHARES @ np.diag(rates)), np.random.default_rng(0), []
    for _ in range(200):
        counts = rng.multinomial(150, SHARES)
        rows = [rng.multinomial(count, rate) for count, rate in zip(counts, rates, strict=True)]
        drawn, found = draw_decisions(np.array([*rows, np.zeros(3)]), PriorEstimate.of_counts(counts))
        low, high = np.quantile(1 - np.einsum("kn,kkn->n", drawn, found), [0.025, 0.975])
        held.append(low <= truth <= high)
    assert 0.91 < np.mean(held) < 0.98
