"""Closed-form intervals: how often they cover, by simulation with known truth."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import ndtri
from scipy.stats import beta, binom, norm, skew, t

from pnulearn._intervals.closed_forms import (
    borrowed_variance,
    cluster_design_effect,
    delong_covariance,
    dkw_half_width,
    effective_counts,
    effective_jeffreys_interval,
    effective_size,
    jeffreys_distances,
    mixture_z,
    mover,
    power_of_z_test,
    prior_distances,
    skewed_t_distances,
    t_half_width,
    wald_interval,
    welch_freedom,
    widen_for_bias,
    widen_for_unseen,
)
from pnulearn.metrics._curves import count_beaten
from pnulearn.priors import PriorEstimate

Z = float(ndtri(0.975))


def cover(interval, truth, draw, n_draws=2000):
    """Share of simulated data sets whose 95 % interval holds the truth."""
    rng = np.random.default_rng(0)
    ends = np.array([interval(*draw(rng)) for _ in range(n_draws)])
    return float(np.mean((ends[:, 0] <= truth) & (truth <= ends[:, 1])))


def around(value, distances):
    return value - distances[0], value + distances[1]


def test_wald_intervals_cover():
    held = cover(lambda x: wald_interval(x, 2.0, 0.95), 1.0, lambda rng: [rng.normal(1.0, 2.0)])
    assert 0.94 < held < 0.96


def binomial_cover(interval, n, shares):
    """Exactly: the probabilities of the counts whose 95 % interval holds the share, for every share."""
    held = np.zeros(len(shares))
    for count in range(n + 1):
        low, high = interval(count)
        held += binom.pmf(count, n, shares) * ((low <= shares) & (shares <= high))
    return held


@pytest.mark.parametrize("n", [10, 30, 100])
def test_jeffreys_intervals_cover_on_average_over_shares(n):
    """The average over Jeffreys' prior is 95 % for equal tails; where no row errs, or all do, they are wider."""
    shares = np.sin((np.arange(2000) + 0.5) / 2000 * np.pi / 2) ** 2
    held = binomial_cover(lambda count: around(count / n, jeffreys_distances(count / n, n, 0.95)), n, shares)
    assert 0.95 <= held.mean() < 0.97
    assert held.min() > 0.83


def test_jeffreys_distances_are_scaled_and_a_negative_factor_exchanges_them():
    down, up = jeffreys_distances(0.1, 20, 0.9)
    assert_allclose(jeffreys_distances(0.1, 20, 0.9, 2.0), [2 * down, 2 * up])
    assert_allclose(jeffreys_distances(0.1, 20, 0.9, -0.5), [0.5 * up, 0.5 * down])
    assert jeffreys_distances(0.0, 20, 0.9)[0] == 0 == jeffreys_distances(1.0, 20, 0.9)[1]


@pytest.mark.parametrize(("rates", "least"), [((0.1, 0.2), 0.935), ((0.4, 0.3), 0.935), ((0.02, 0.05), 0.89)])
@pytest.mark.parametrize("join", ["mover", "effective size"])
def test_intervals_of_a_weighted_error_rate_cover(rates, least, join):
    """θ FNR + (1 − θ) FPR from 30 rows of one class and 40 of the other.

    With three errors expected in all MOVER covers; the interval at the effective size does in 90 % only.
    """
    weight, sizes = np.array([0.3, 0.7]), np.array([30, 40])

    def interval(counts):
        shares = counts / sizes
        if join == "mover":
            parts = [jeffreys_distances(p, n, 0.95, w) for p, n, w in zip(shares, sizes, weight, strict=True)]
            return around(weight @ shares, mover(parts))
        smooth = (counts + 1) / (sizes + 2)
        stderr = float(np.sqrt(weight**2 @ (smooth * (1 - smooth) / sizes)))
        return effective_jeffreys_interval(weight @ shares, weight @ smooth, stderr, 0.95)

    held = cover(interval, weight @ rates, lambda rng: [rng.binomial(sizes, rates)])
    assert (least if join == "effective size" else 0.935) < held < 0.985


def test_the_correction_for_skewness_brings_the_cover_nearer_to_the_promised_one():
    """Means of 20 values of an exponential distribution: 92.2 % instead of 91.4 %."""
    n = 20

    def corrected(x):
        return around(x.mean(), skewed_t_distances(x, np.full(n, 1 / n), n, x.std(ddof=1) / n**0.5, 0.95))

    def plain(x):
        half = t_half_width(x.std(ddof=1) / n**0.5, n - 1, 0.95)
        return around(x.mean(), (half, half))

    with_it, without = (cover(one, 1.0, lambda rng: [rng.exponential(size=n)], 10_000) for one in (corrected, plain))
    assert without + 0.005 < with_it < 0.95
    even = cover(corrected, 0.0, lambda rng: [rng.normal(size=n)])
    assert 0.94 < even < 0.96


def test_an_uncertain_prior_is_a_part_of_the_interval():
    """An estimate of 2 θ + 0.3 with its own error; θ = 0.3 is known from 60 rows drawn at random."""

    def interval(value, count):
        prior = PriorEstimate.of_counts([60 - count, count])
        own = Z * 0.05
        return around(value + 2 * prior.mean, mover([(own, own), prior_distances(2.0, prior, 0.95)]))

    held = cover(interval, 0.9, lambda rng: (rng.normal(0.3, 0.05), rng.binomial(60, 0.3)), 500)
    assert 0.92 < held < 0.98
    assert prior_distances(2.0, PriorEstimate.known(0.3), 0.95) == (0.0, 0.0)
    down, up = prior_distances(2.0, PriorEstimate.of_range(0.1, 0.5), 0.95)
    assert_allclose(prior_distances(-2.0, PriorEstimate.of_range(0.1, 0.5), 0.95), [up, down])


def test_an_interval_that_is_widened_for_a_bias_covers():
    def interval(value):
        return widen_for_bias(value, *wald_interval(value, 0.05, 0.95), 0.1, 0.95)[:2]

    held = cover(interval, 0.4, lambda rng: [0.4 + rng.uniform(-0.1, 0.1) + rng.normal(0, 0.05)])
    assert 0.95 < held < 0.99


def test_welch_intervals_cover():
    """A difference of means of 5 and of 12 rows with unequal variances; the normal law would be too narrow."""

    def interval(first, second, freedom=None):
        variances = np.array([x.var(ddof=1) / len(x) for x in (first, second)])
        freedom = welch_freedom(variances, np.array([4, 11])) if freedom is None else freedom
        half = t_half_width(np.sqrt(variances.sum()), freedom, 0.95)
        return around(first.mean() - second.mean(), (half, half))

    def draw(rng):
        return rng.normal(0, 3, 5), rng.normal(0, 1, 12)

    assert 0.935 < cover(interval, 0.0, draw) < 0.965
    assert cover(lambda *x: interval(*x, np.inf), 0.0, draw) < 0.91
    assert welch_freedom(np.zeros(2), np.ones(2)) == np.inf


def test_variances_with_borrowed_rows_cover_where_few_rows_differ():
    """Losses of two models differ on an eighth of rows; twelve rows often show no difference at all."""
    values, chances = np.array([-1.0, 0.0, 1.0]), [0.02, 0.88, 0.1]

    def interval(rows, usual, borrow):
        variance = borrowed_variance(rows, usual) if borrow else rows.var(ddof=1) / len(rows)
        half = t_half_width(np.sqrt(variance), 11, 0.95)
        return around(rows.mean(), (half, half))

    def draw(rng):
        return rng.choice(values, 12, p=chances), rng.choice(values, 300, p=chances)

    alone, borrowed = (cover(lambda *x, b=borrow: interval(*x, b), 0.08, draw) for borrow in (False, True))
    assert alone < 0.8
    assert borrowed > 0.95


@pytest.mark.parametrize("related", [False, True])
def test_the_effective_size_of_weighted_rows_gives_intervals_that_cover(related):
    """60 rows with weights 1 and 5; errors are as frequent everywhere, or more frequent where weights are great."""
    rates = np.array([0.1, 0.4]) if related else np.array([0.2, 0.2])
    heavy = np.array([0.7, 0.3])  # share of rows drawn with weights 1 and 5
    truth = float(heavy * [1, 5] @ rates / (heavy @ [1, 5]))

    def interval(wrong, weight):
        share = weight / weight.sum()
        return around(share @ wrong, jeffreys_distances(share @ wrong, effective_size(wrong, share), 0.95))

    def draw(rng):
        is_heavy = rng.random(60) < heavy[1]
        return (rng.random(60) < rates[is_heavy * 1]).astype(float), np.where(is_heavy, 5.0, 1.0)

    assert 0.92 < cover(interval, truth, draw) < 0.98


def test_the_design_effect_of_clusters_gives_intervals_that_cover():
    """40 groups of five rows whose errors are alike, against rows taken as independent."""
    group = np.repeat(np.arange(40), 5)
    share = np.full(200, 1 / 200)

    def interval(wrong, clusters):
        size = 200 / (cluster_design_effect(wrong, share, group) if clusters else 1.0)
        return around(wrong.mean(), jeffreys_distances(wrong.mean(), size, 0.95))

    def draw(rng):
        return [(rng.random(200) < np.repeat(rng.choice([0.05, 0.6], 40), 5)).astype(float)]

    assert 0.93 < cover(lambda x: interval(x, True), 0.325, draw) < 0.97
    assert cover(lambda x: interval(x, False), 0.325, draw) < 0.85


def test_counts_of_weighted_and_grouped_random_rows_give_intervals_that_cover():
    """Jeffreys' intervals of a share of .3 from 200 rows: positive ones drawn thrice as often, or groups of five."""
    rng, held = np.random.default_rng(0), {"weights": [], "groups": [], "neither": []}
    group = np.repeat(np.arange(40), 5)
    for _ in range(400):
        often = rng.random(200) < 0.3 * 3 / (0.3 * 3 + 0.7)
        together = (rng.random(200) < np.repeat(rng.choice([0.05, 0.55], 40), 5)).astype(int)
        counts = {
            "weights": effective_counts(often.astype(int), np.where(often, 1 / 3, 1.0), 2),
            "groups": effective_counts(together, np.ones(200), 2, group),
            "neither": effective_counts(together, np.ones(200), 2),
        }
        for name, (negative, positive) in counts.items():
            low, high = beta.ppf([0.025, 0.975], positive + 0.5, negative + 0.5)
            held[name].append(low <= 0.3 <= high)
    assert np.mean(held["weights"]) > 0.92
    assert np.mean(held["groups"]) > 0.91
    assert np.mean(held["neither"]) < 0.88


def test_counts_do_not_depend_on_a_constant_factor_of_the_weights_and_sum_to_the_rows_without_weights():
    codes, weight = np.repeat([0, 1, 2], [5, 3, 2]), np.linspace(1, 2, 10)
    assert_allclose(effective_counts(codes, 100 * weight, 3), effective_counts(codes, weight, 3))
    assert_allclose(effective_counts(codes, np.full(10, 7.0), 3), [5, 3, 2])


def test_delongs_variance_is_that_of_the_auc_over_samples():
    rng = np.random.default_rng(0)
    found, variances = [], []
    for _ in range(1000):
        p, n = rng.normal(1, 1, 30), rng.normal(0, 1, 20)
        won = count_beaten(p, n)
        zero = np.zeros((30, 2)), np.zeros((20, 2))
        lost = 1 - count_beaten(n, p)
        wins = [np.column_stack([won, zero[0]]), np.column_stack([lost, zero[1]]), np.zeros((0, 3))]
        found.append(won.mean())
        variances.append(delong_covariance(wins, 0.0)[0, 0])
    assert_allclose(np.mean(variances), np.var(found), rtol=0.1)


def test_the_test_of_a_prior_errs_as_often_as_it_may_and_finds_a_wrong_prior():
    rng = np.random.default_rng(0)
    right, wrong = [], []
    for _ in range(1000):
        center = np.where(rng.random(500) < 0.3, 2.0, 0.0)
        values = [rng.normal(2, 1, 30), rng.normal(0, 1, 30), rng.normal(center, 1)]
        weights = [np.ones(len(x)) for x in values]
        right.append(mixture_z(values, weights, 0.3)[1] > Z)
        wrong.append(mixture_z(values, weights, 0.6)[1] > Z)
    assert 0.02 < np.mean(right) < 0.06
    assert np.mean(wrong) > 0.9
    assert mixture_z([np.ones(1), *values[1:]], [np.ones(1), *weights[1:]], 0.3) is None
    assert mixture_z([values[1], values[0], values[2]], weights, 0.3) is None


def test_the_power_of_the_z_test_is_how_often_it_finds_a_difference():
    rng = np.random.default_rng(0)
    found = np.mean(rng.normal(0.05, 0.02, 20_000) - Z * 0.02 > 0)
    assert_allclose(power_of_z_test(0.05, 0.02**2, 0.95), found, atol=0.01)


@pytest.mark.parametrize("n", [20, 200])
def test_the_dkw_band_holds_the_whole_distribution_function(n):
    rng = np.random.default_rng(0)
    ordered = np.sort(norm.cdf(rng.normal(size=(4000, n))), axis=1)
    steps = np.arange(n + 1) / n
    distance = np.maximum(steps[1:] - ordered, ordered - steps[:-1]).max(axis=1)
    assert 0.95 <= np.mean(distance <= dkw_half_width(n, 0.05)) < 0.97


def test_an_unseen_row_below_the_mean_widens_the_lower_end():
    """By symmetry as much as one above the mean widens the upper end."""
    share = np.full(10, 0.1)
    up = widen_for_unseen((0.0, 0.0), np.zeros(10), share, 10, (np.ones(1), np.ones(1)), 0.95)
    down = widen_for_unseen((0.0, 0.0), np.ones(10), share, 10, (np.zeros(1), np.ones(1)), 0.95)
    assert_allclose(down, up[::-1])


def test_skewed_distances_are_those_of_johnson():
    x = np.random.default_rng(0).exponential(size=30)
    down, up = skewed_t_distances(x, np.full(30, 1 / 30), 30, 1.0, 0.95)
    student = t(29).ppf(0.975)
    assert_allclose((down + up) / 2, student)
    assert_allclose((up - down) / 2, skew(x) * (1 + 2 * student**2) / (6 * np.sqrt(30)))
