"""The risk of any model's scores: value, standard error, interval and mix.

Long Monte Carlo tables are in benchmarks/judge_monte_carlo.py; here are short ones and exact properties.
"""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from pnulearn._intervals.posterior_grids import GRID
from pnulearn.losses import LOSSES
from pnulearn.metrics import RiskEstimate, estimate_risk, pnu_precision, pnu_risk
from pnulearn.metrics._risk import posterior_risk, unclipped_risk
from pnulearn.metrics._variance import LossSample, loss_pairs, loss_samples, pseudo_row_losses, smoothed_means
from pnulearn.priors import PriorEstimate
from pnulearn.risks import empirical_risk, nu, pn, pnu, pu
from pnulearn.theory import Psi, heuristic_mix

PRIOR = 0.3


def draw(n_positive, n_negative, n_unlabeled, seed=0):
    """Scores on P, N and U of a linear model on two overlapping Gaussians."""
    rng = np.random.default_rng(seed)
    positive = rng.random(n_unlabeled) < PRIOR
    return (
        rng.normal(0.9, 1, n_positive),
        rng.normal(-0.7, 1, n_negative),
        np.where(positive, rng.normal(0.9, 1, n_unlabeled), rng.normal(-0.7, 1, n_unlabeled)),
    )


def true_risk(loss):
    grid, step = np.linspace(-9, 9, 180_001, retstep=True)
    density = PRIOR * loss(grid) * stats.norm.pdf(grid, 0.9) + (1 - PRIOR) * loss(-grid) * stats.norm.pdf(grid, -0.7)
    return density.sum() * step


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("mix", [-1, -0.4, 0, 0.7, 1])
def test_value_is_the_empirical_risk_of_the_table(loss, mix):
    scores = draw(12, 15, 40)
    estimate, expected = estimate_risk(scores, PRIOR, mix, loss), empirical_risk(pnu(PRIOR, mix), loss, scores)
    assert_allclose(unclipped_risk(scores, PRIOR, mix, loss), expected)
    assert_allclose(estimate.value, max(expected, 0.0))
    assert 0 <= estimate.low <= estimate.value < estimate.high


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("mix", [-0.4, 0.7])
def test_standard_error_is_that_of_independent_sample_means(loss, mix):
    """By the textbook formula for each sample's weighted losses."""
    scores = draw(12, 15, 40)
    ell = LOSSES[loss]
    variance = sum(
        np.var(w[0] * ell(g) + w[1] * ell(-g), ddof=1) / len(g)
        for w, g in zip(pnu(PRIOR, mix).table, scores, strict=True)
    )
    assert_allclose(estimate_risk(scores, PRIOR, mix, loss).stderr, np.sqrt(variance))


@pytest.mark.parametrize("loss", LOSSES)
def test_the_optimal_mix_has_the_least_standard_error_of_all(loss):
    scores = draw(400, 300, 600)
    best = estimate_risk(scores, PRIOR, "optimal", loss)
    others = [estimate_risk(scores, PRIOR, mix, loss).stderr for mix in np.linspace(-1, 1, 41)]
    assert best.stderr <= min(others) * (1 + 2e-3)
    assert_allclose(estimate_risk(scores, PRIOR, best.mix, loss).value, best.value)


@pytest.mark.parametrize("loss, best_fixed, tolerance", [("zero_one", 0.55, 0.05), ("squared", 0.36, 0.1)])
def test_the_optimal_mix_leaves_no_bias_worth_the_name(loss, best_fixed, tolerance):
    """The naive plug-in is off by 0.11 and 0.17 standard errors; see spread.reconciled_covariances.

    A fixed mix near the best is unbiased and, on the same draws, takes most of the noise away.
    """
    draws = [draw(20, 20, 100, seed) for seed in range(400)]
    estimates = [estimate_risk(scores, PRIOR, "optimal", loss) for scores in draws]
    values = np.array([e.value for e in estimates])
    fixed = np.array([unclipped_risk(scores, PRIOR, best_fixed, loss) for scores in draws])
    difference = values - fixed
    assert abs(difference.mean()) < tolerance * values.std()
    assert difference.std() / np.sqrt(400) < 0.02 * values.std()
    assert values.std() < 1.03 * fixed.std()
    assert_allclose(np.sqrt(np.mean([e.stderr**2 for e in estimates])), values.std(), rtol=0.12)
    truth = true_risk(LOSSES[loss])
    assert 0.88 < np.mean([e.low <= truth <= e.high for e in estimates]) < 0.985


def test_no_errors_in_ten_rows_is_not_certainty():
    scores = np.ones(10), -np.ones(10), np.repeat([1.0, -1.0], [30, 70])
    estimate = estimate_risk(scores, PRIOR, 0)
    assert estimate.value == 0 == estimate.low
    assert estimate.stderr > 0.05
    # ten of ten: the upper limit for one sample alone is about 0.22
    assert 0.15 < estimate.high < 0.25


def test_one_row_of_each_class_gives_a_wide_interval():
    for loss in LOSSES:
        estimate = estimate_risk(([0.5], [-0.2], [0.3, -0.1, -2.0]), PRIOR, "optimal", loss)
        assert np.isfinite([estimate.value, estimate.stderr, estimate.low, estimate.high]).all()
        assert estimate.high - estimate.low > 0.05


def test_arrays_and_labels_give_the_same_answer():
    scores = draw(12, 15, 40)
    y = np.repeat([1.0, 0.0, np.nan], [12, 15, 40])
    shuffled = np.random.default_rng(1).permutation(67)
    apart = estimate_risk(scores, PRIOR)
    together = pnu_risk(y[shuffled], np.concatenate(scores)[shuffled] + 0.5, prior=PRIOR, threshold=0.5)
    assert_allclose([apart.value, apart.stderr, apart.low], [together.value, together.stderr, together.low])
    words = pd.Series(np.where(y == 1, "yes", "no")).where(~np.isnan(y))
    named = pnu_risk(words, -np.concatenate(scores), prior=1 - PRIOR, pos_label="no")
    assert_allclose([named.value, named.stderr, named.mix], [apart.value, apart.stderr, -apart.mix])
    marked = np.where(np.isnan(y), -1, y).astype(int)
    assert pnu_risk(marked, np.concatenate(scores), prior=PRIOR, unlabeled=-1) == apart


@pytest.mark.parametrize("mix, expected", [(0.0, 0.0), ("heuristic", heuristic_mix(PRIOR, 12, 15)), (0.25, 0.25)])
def test_the_mix_used_is_reported(mix, expected):
    assert_allclose(estimate_risk(draw(12, 15, 40), PRIOR, mix).mix, expected)


def test_the_optimal_mix_follows_the_closed_form_for_many_rows():
    scores = draw(4000, 4000, 9000)
    said = PRIOR * stats.norm.cdf(0.9) + (1 - PRIOR) * stats.norm.cdf(-0.7)
    psi = Psi(
        *(
            w * p * (1 - p) / n
            for w, p, n in zip(
                (PRIOR**2, (1 - PRIOR) ** 2, 1),
                (stats.norm.cdf(-0.9), stats.norm.cdf(-0.7), said),
                (4000, 4000, 9000),
                strict=True,
            )
        )
    )
    assert_allclose(estimate_risk(scores, PRIOR).mix, psi.best_mix, atol=0.02)


@pytest.mark.parametrize("missing, risk", [(0, nu), (1, pu), (2, pn)])
def test_a_missing_sample_leaves_the_risk_that_does_without(missing, risk):
    scores = list(draw(12, 15, 40))
    scores[missing] = np.array([])
    for mix in ("optimal", "heuristic"):
        estimate = estimate_risk(scores, PRIOR, mix)
        assert_allclose(estimate.value, empirical_risk(risk(PRIOR), "zero_one", scores))
        assert np.isfinite([estimate.stderr, estimate.low, estimate.high]).all()
    needed = 0.5 if missing == 1 else (-0.5 if missing == 0 else 0.5)
    with pytest.raises(ValueError, match="rows and found none"):
        estimate_risk(scores, PRIOR, needed)


def test_nonnegative_clips_the_part_read_off_the_unlabeled_rows():
    scores = np.ones(20), -np.ones(20), np.repeat([1.0, -1.0], [10, 90])
    clipped = estimate_risk(scores, PRIOR, 1, nonnegative=True)
    assert unclipped_risk(scores, PRIOR, 1, "zero_one") < 0
    assert clipped.value == 0 == clipped.low
    # (1 − η) PN + η max(0, PU part), as the first author's code has it
    half = estimate_risk(scores, PRIOR, 0.5, nonnegative=True)
    assert half.value == 0
    worse = -np.ones(20), np.ones(20), scores[2]
    assert_allclose(estimate_risk(worse, PRIOR, 0.5, nonnegative=True).value, 0.5 * 1 + 0.5 * (PRIOR + max(0, 0.1 - 0)))


def test_weights_count_like_rows_and_only_in_proportion():
    p, n, u = draw(12, 15, 40)
    y, g = np.repeat([1.0, 0.0, np.nan], [12, 15, 40]), np.concatenate([p, n, u])
    weight = np.ones(67)
    weight[:3] = 2
    heavy = pnu_risk(y, g, prior=PRIOR, mix=0.3, sample_weight=weight)
    assert_allclose(heavy.value, estimate_risk((np.r_[p[:3], p], n, u), PRIOR, 0.3).value)
    assert pnu_risk(y, g, prior=PRIOR, mix=0.3, sample_weight=7 * weight).stderr == pytest.approx(heavy.stderr)
    weight[:12] = 0
    assert pnu_risk(y, g, prior=PRIOR, sample_weight=weight).mix == -1


def test_confidence_widens_the_interval():
    narrow, wide = (estimate_risk(draw(12, 15, 40), PRIOR, confidence=c) for c in (0.8, 0.99))
    assert wide.low < narrow.low < narrow.value < narrow.high < wide.high


def test_estimates_read_well():
    estimate = estimate_risk(draw(12, 15, 40), PRIOR, confidence=0.9)
    assert isinstance(estimate, RiskEstimate)
    assert float(estimate) == estimate.value
    assert "90 % interval" in str(estimate)


@pytest.mark.parametrize("label", [1, 0])
def test_a_prior_beyond_what_one_class_and_u_allow_is_told(label):
    """A quarter of U is predicted as the labelled class, as are all labelled rows."""
    sign = 2 * label - 1
    y, score = [label] * 100 + [None] * 400, sign * np.repeat([1, 1, -1], [100, 100, 300])
    share = {1: 0.6, 0: 0.4}[label]
    with pytest.warns(UserWarning, match=f"suggest about 0.{25 if label else 75}"):
        pnu_risk(y, score, prior=share, threshold=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for possible in (0.25, 0.1, 0.2):
            pnu_risk(y, score, prior=possible if label else 1 - possible, threshold=0)


@pytest.mark.parametrize(
    "change, message",
    [
        ({"prior": 30}, "Did you mean 0.3"),
        ({"prior": "0.3"}, "prior must be a number"),
        ({"prior": None}, "prior is needed"),
        ({"prior": np.nan}, "prior must lie"),
        ({"mix": 1.2}, "mix must be a number"),
        ({"mix": np.nan}, "mix must be a number"),
        ({"mix": "best"}, "mix must be a number"),
        ({"loss": "zero-one"}, "loss must be one of"),
        ({"confidence": 95}, "confidence must lie"),
        ({"y_score": [0.1, np.nan, 1, 2]}, "contains NaN"),
        ({"y_score": [[0.1, 0.9]] * 4}, r"shape \(4, 2\)"),
        ({"y_score": [1.0, 2.0]}, "inconsistent numbers"),
        ({"y_true": [0, 1, 2, None]}, "y has 3"),
        ({"y_true": [None] * 4}, "no labelled row"),
        ({"sample_weight": [1, -1, 1, 1]}, "negative"),
    ],
)
def test_bad_input_is_named(change, message):
    arguments = {"y_true": [1, 0, None, None], "y_score": [1.0, -1.0, 0.5, -0.5], "prior": PRIOR, **change}
    with pytest.raises((ValueError, TypeError), match=message):
        pnu_risk(arguments.pop("y_true"), arguments.pop("y_score"), **arguments)


Y_TEN = [1] * 10 + [0] * 10


@pytest.mark.parametrize("score", [[1] * 9 + [0] + [0] * 10, [0.9] * 9 + [0.2] + [0.1] * 10])
@pytest.mark.parametrize("metric", [pnu_risk, pnu_precision])
def test_probabilities_without_a_threshold_are_noticed(metric, score):
    with pytest.warns(UserWarning, match=r"threshold=0\.5"):
        metric(Y_TEN, score, prior=0.5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        right = metric(Y_TEN, score, prior=0.5, threshold=0.5)
        metric(Y_TEN, score, prior=0.5, threshold=0)
        metric(Y_TEN, 2 * np.array(score) - 1, prior=0.5)
    if metric is pnu_risk:
        assert right.value == pytest.approx(0.05)


@pytest.mark.parametrize("threshold", [np.nan, np.inf, "half"])
def test_thresholds_that_are_no_numbers(threshold):
    with pytest.raises(ValueError, match="threshold must be a finite number"):
        pnu_risk(Y_TEN, np.arange(20), prior=0.5, threshold=threshold)


def test_scores_whose_loss_overflows_are_refused():
    score = np.where(np.arange(20) < 10, 1e300, -1e300)
    with pytest.raises(ValueError, match=r"Scores up to 1e\+300 are too large for the squared loss.*zero_one"):
        pnu_risk(Y_TEN, score, prior=0.5, loss="squared")
    assert pnu_risk(Y_TEN, score, prior=0.5).value == 0


def test_the_least_loss_that_is_refused():
    """Of the hinge loss, since 1 + 1e75 is 1e75."""
    below = np.nextafter(1e75, 0)
    assert loss_pairs([below, -below], LOSSES["hinge"]).max() == below
    with pytest.raises(ValueError, match="too large for the hinge loss"):
        loss_pairs([1e75, -1.0], LOSSES["hinge"])


def test_masked_scores_are_refused():
    with pytest.raises(ValueError, match="y_score is a masked array"):
        pnu_risk(Y_TEN, np.ma.masked_array(np.arange(20.0), np.arange(20) == 3), prior=0.5)


@pytest.mark.parametrize("missing", [0, 1], ids=["no P", "no N"])
def test_the_posterior_risk_without_a_class_is_that_of_simulated_rates(missing):
    """Jeffreys' posteriors of two shares by simulation; draws under which the third is impossible are thrown away."""
    rng = np.random.default_rng(0)
    scores = [np.repeat([1.0, -1.0], [18, 2]), np.repeat([1.0, -1.0], [3, 9]), np.repeat([1.0, -1.0], [40, 60])]
    scores[missing] = np.zeros(0)
    prior = PriorEstimate.of_range(0.2, 0.4)
    found = posterior_risk(scores, prior, weights=[np.ones(len(g)) for g in scores])
    theta = rng.choice(GRID, 400_000, p=prior.mass)
    called = rng.beta(40.5, 60.5, len(theta))
    if missing == 0:
        fpr = rng.beta(3.5, 9.5, len(theta))
        fnr = 1 - (called - (1 - theta) * fpr) / theta
    else:
        fnr = rng.beta(2.5, 18.5, len(theta))
        fpr = (called - theta * (1 - fnr)) / (1 - theta)
    tied = fnr if missing == 0 else fpr
    possible = (tied > 0) & (tied < 1)
    # every prior keeps its weight, however few of its draws are possible
    bins = np.digitize(theta, np.quantile(theta, np.linspace(0, 1, 41)[1:-1]))
    weight = np.where(possible, 1 / np.bincount(bins, possible, 40)[bins], 0)
    risk = theta * fnr + (1 - theta) * fpr
    order = np.argsort(risk)
    reached = np.cumsum(weight[order]) / weight.sum()
    low, high = risk[order][np.searchsorted(reached, [0.025, 0.975])]
    assert_allclose(found.value, np.average(risk, weights=weight), atol=0.005)
    held = np.average((found.low < risk) & (risk < found.high), weights=weight)
    assert 0.95 < held < 0.995  # the interval inverts a test, which is wider than the posterior near 0
    assert found.high - found.low < 1.3 * (high - low)


def test_a_range_that_the_rows_make_impossible_still_has_an_interval():
    """All of U called positive, none of N, and a prior of a tenth."""
    scores = [np.ones(30), -np.ones(30), np.ones(200)]
    found = estimate_risk(scores, (0.1, 0.11))
    assert np.isfinite([found.value, found.low, found.high]).all()
    assert found.low <= found.value <= found.high


def test_intervals_of_the_squared_loss_hold_for_models_that_are_too_sure():
    """Scores near ±1 and one error in fifty: ten rows of each class hold none in two of three samples."""
    rng, truth, hits = np.random.default_rng(0), (0.98 * 0.05**2 + 0.02 * 1.95**2) / 4, []
    for _ in range(200):
        sides = [np.ones(10), -np.ones(10), np.where(rng.random(100) < 0.4, 1.0, -1.0)]
        scores = [0.95 * np.where(rng.random(len(side)) < 0.02, -side, side) for side in sides]
        found = estimate_risk(scores, 0.4, "heuristic", "squared")
        hits.append(found.low <= truth <= found.high)
    assert np.mean(hits) > 0.92


@pytest.mark.parametrize("n", range(2, 61))
def test_equal_losses_are_not_certain_whatever_rounding_makes_of_them(n):
    found = pnu_risk([1] * n + [0] * n, [2.0] * n + [-2.0] * n, prior=0.5, mix=0, loss="ramp")
    assert found.stderr > 0.1 / n
    assert found.high > 0


def test_standard_errors_hold_where_errors_were_seldom_chosen():
    """Errors are four times less likely to be labelled and weigh four times as much."""
    rng, found = np.random.default_rng(0), []
    for _ in range(400):
        wrong = rng.random(300) < 0.2 / 4 / (0.2 / 4 + 0.8)
        y, weight = np.repeat([1, 0], 300), np.append(np.where(wrong, 4.0, 1.0), np.ones(300))
        score = np.append(np.where(wrong, -1.0, 1.0), np.full(300, -1.0))
        found.append(pnu_risk(y, score, prior=0.5, sample_weight=weight))
    values, stderrs = np.array([[each.value, each.stderr] for each in found]).T
    assert_allclose(values.mean(), 0.1, atol=0.004)
    assert_allclose(np.sqrt(np.mean(stderrs**2)), values.std(), rtol=0.12)


@pytest.mark.parametrize("factor", [4.0, 0.25])
def test_rows_chosen_with_known_unequal_probabilities(factor):
    """Two strata with other error rates, one of which is labelled more often; weights are 1 / probability."""
    rng, hits = np.random.default_rng(1), []
    share, rates, prior = 0.7, np.array([0.05, 0.45]), 0.4
    truth = share * rates[0] + (1 - share) * rates[1]
    for _ in range(200):
        groups, weights = [], []
        for sign in (1.0, -1.0):
            stratum = (rng.random(40) > share / (share + (1 - share) * factor)).astype(int)
            groups.append(np.where(rng.random(40) < rates[stratum], -sign, sign))
            weights.append(np.where(stratum == 0, factor, 1.0))
        called = prior * (1 - truth) + (1 - prior) * truth
        groups, weights = [*groups, np.where(rng.random(500) < called, 1.0, -1.0)], [*weights, np.ones(500)]
        found = estimate_risk(groups, prior, weights=weights)
        hits.append(found.low <= truth <= found.high)
    assert 0.9 < np.mean(hits) <= 1


def test_the_interval_of_an_error_rate_never_leaves_zero_to_one():
    rng = np.random.default_rng(0)
    below = 0
    for _ in range(20):
        groups = [np.ones(10), -np.ones(10), np.where(rng.random(100) < 0.3, 1.0, -1.0)]
        found = estimate_risk(groups, 0.3)
        below += unclipped_risk(groups, 0.3, "optimal", "zero_one") < 0
        assert 0 == found.low <= found.value <= found.high <= 1
    assert below  # an unbiased estimate of a small number is sometimes negative


def test_a_risk_of_labels_alone_does_not_look_at_the_unlabelled_rows():
    """Also where the prior is a range: mix 0 has nothing to do with U."""
    groups = [np.repeat([1.0, -1.0], [8, 2]), np.repeat([-1.0, 1.0], [9, 1])]
    one, other = (estimate_risk([*groups, np.full(50, sign)], (0.2, 0.4), mix=0) for sign in (1.0, -1.0))
    assert one == other


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("given, doubted", [(0.3, False), (0.6, True), ((0.5, 0.7), False)])
def test_a_prior_that_the_rows_contradict_does_not_go_unnoticed(given, doubted):
    """The truth is 0.3. C = mean_U − θ mean_P − (1 − θ) mean_N is many standard errors from zero under 0.6."""
    rng, found = np.random.default_rng(0), 0
    for _ in range(50):
        side = np.concatenate([np.ones(50), np.zeros(50), rng.random(1000) < 0.3])
        score = np.where(rng.random(len(side)) < 0.15, 1 - 2 * side, 2 * side - 1)
        y = np.append(side[:100], np.full(1000, np.nan))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            pnu_risk(y, score, prior=given)
        found += any("prior=0" in str(each.message) for each in caught)
    assert found >= 40 if doubted else found <= 2


def test_pseudo_rows_are_all_rows_or_two_hundred_evenly_spaced_ones():
    rng = np.random.default_rng(0)
    few, many = rng.random((7, 2)), rng.random((1000, 2))
    sample = [LossSample(part, np.full(len(part), 1 / len(part)), len(part)) for part in (few, many)]
    assert_allclose(pseudo_row_losses(sample[:1]), few[np.argsort(few[:, 0])])
    found = pseudo_row_losses(sample[1:])
    assert len(found) == 200
    assert_allclose(found[[0, -1]], many[np.argsort(many[:, 0])][[0, -1]])
    assert (np.diff(found[:, 0]) > 0).all()


def test_means_are_smoothed_if_no_sample_is_empty():
    samples = loss_samples([np.array([1.0, -1.0]), np.array([-1.0]), np.array([])])
    assert_allclose(smoothed_means(samples, 0.3), [[0.5, 0.5], [1, 0], [0, 0]])
    full = loss_samples([np.array([1.0, -1.0]), np.array([-1.0]), np.array([-1.0])])
    assert_allclose(smoothed_means(full, 0.3)[1], [2 / 3, 1 / 3])  # Laplace's rule


@pytest.mark.parametrize("scores", [[[1.0], [-1.0]], [[1.0], [-1.0], [np.nan]], [[1.0], [[-1.0]], [1.0]], 3])
def test_scores_must_be_three_arrays_of_finite_numbers(scores):
    with pytest.raises(ValueError, match="three arrays of finite numbers"):
        estimate_risk(scores, 0.3)
