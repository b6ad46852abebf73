"""Reduction, tally and selection: the pieces of the search on their own."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pnulearn._learning.selection import SearchTable, Tally, average_weights, best_candidate, membership, validation_mix
from pnulearn._solvers.low_rank import reduce_features
from pnulearn._solvers.moments import Moments
from pnulearn.risks import empirical_risk, pnu

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("shape", [(30, 80), (60, 40), (40, 40), (500, 20)])
@pytest.mark.parametrize("rank", [5, None])
def test_reduced_coordinates_keep_every_inner_product(shape, rank):
    features = (
        RNG.normal(size=shape)
        if rank is None
        else RNG.normal(size=(shape[0], rank)) @ RNG.normal(size=(rank, shape[1]))
    )
    reduced = reduce_features(features)
    assert_allclose(reduced.coordinates @ reduced.coordinates.T, features @ features.T, atol=1e-9)
    if rank and shape[0] <= 3 * shape[1]:
        assert reduced.coordinates.shape[1] == rank
    w = RNG.normal(size=reduced.coordinates.shape[1])
    assert_allclose(features @ reduced.lift(w), reduced.coordinates @ w, atol=1e-9)
    assert_allclose(reduced.project(features), reduced.coordinates, atol=1e-9)


def test_moments_of_parts_add_up_and_forget():
    rows, weight = RNG.normal(size=(20, 3)), RNG.random(20)
    whole = Moments.of(rows, weight)
    parts = Moments.of(rows[:8], weight[:8]) + Moments.of(rows[8:], weight[8:])
    assert_allclose(parts.outer, whole.outer)
    assert_allclose((whole - Moments.of(rows[:8], weight[:8])).mean, np.average(rows[8:], axis=0, weights=weight[8:]))
    centered = rows - rows.mean(axis=0)
    assert_allclose(Moments.of(rows).centered_at(rows.mean(axis=0)), centered.T @ centered / 20, atol=1e-12)


def draw_scores(n=(6, 5, 30), n_outputs=1):
    codes = np.repeat([1, 0, -1], n)
    return RNG.normal(size=(n_outputs, 4, 3, len(codes))), codes


@pytest.mark.parametrize(("name", "loss"), [("zero_one", "zero_one"), ("squared", "squared")])
def test_pooled_risk_is_the_empirical_pnu_risk(name, loss):
    scores, codes = draw_scores()
    prior = np.array([0.7, 0.3])
    halves = [np.arange(0, 41, 2), np.arange(1, 41, 2)]
    tallies = [
        Tally.of(scores[..., rows], membership(codes[rows], np.ones(len(rows)), 2, np.flatnonzero(codes[rows] < 0)))
        for rows in halves
    ]
    pooled = getattr(tallies[0] + tallies[1], name)(prior)
    eta = validation_mix(prior, np.array([5, 6]), 30)
    assert eta > 0.1
    for place in np.ndindex(4, 3):
        groups = [scores[(0, *place)][codes == code] for code in (1, 0, -1)]
        assert_allclose(pooled[place], empirical_risk(pnu(0.3, eta), loss, groups))


def test_multi_class_error_equals_the_weighted_error_without_population():
    codes = RNG.integers(0, 3, size=60)
    scores = RNG.normal(size=(3, 2, 2, 60))
    prior = np.array([0.2, 0.3, 0.5])
    error = Tally.of(scores, membership(codes, np.ones(60), 3, np.array([], dtype=int))).zero_one(prior)
    for place in np.ndindex(2, 2):
        wrong = scores[(slice(None), *place)].argmax(axis=0) != codes
        assert_allclose(error[place], sum(prior[k] * wrong[codes == k].mean() for k in range(3)))


def test_multi_class_risk_is_unbiased_when_the_population_repeats_the_classes():
    """With U the exact mixture of the labelled rows the control variates vanish."""
    codes = np.repeat([0, 1, 2, -1], [10, 10, 20, 40])
    scores = RNG.normal(size=(3, 1, 1, 40))
    scores = np.concatenate([scores, scores], axis=-1)
    prior = np.array([0.25, 0.25, 0.5])
    groups = membership(codes, np.ones(80), 3, np.flatnonzero(codes < 0))
    without = membership(codes, np.ones(80), 3, np.array([], dtype=int))
    assert_allclose(Tally.of(scores, groups).zero_one(prior), Tally.of(scores, without).zero_one(prior))


def test_the_validation_mix_minimises_the_variance_for_equal_variances():
    prior, n, n_population = np.array([0.7, 0.3]), np.array([10.0, 5.0]), 40.0
    etas = np.linspace(-1, 1, 2001)
    variance = (1 + etas) ** 2 * 0.3**2 / 5 + (1 - etas) ** 2 * 0.7**2 / 10 + etas**2 / n_population
    assert_allclose(validation_mix(prior, n, n_population), etas[variance.argmin()], atol=1e-3)
    assert validation_mix(prior, np.array([0, 5]), 40) == 1.0
    assert validation_mix(prior, np.array([5, 0]), 40) == -1.0


ALPHAS, MIXES = np.array([0.1, 1.0]), np.array([-1.0, 0.0, 1.0])


def place_of(weight):
    return tuple(int(i) for i in np.argwhere(weight)[0])


def test_ties_are_settled_by_squared_risk_then_alpha_then_mix():
    zero_one, squared = np.zeros((2, 3, 2)), np.ones((2, 3, 2))
    options = {"alphas": ALPHAS, "mixes": MIXES, "n_labels": 10.0}
    squared[1, 2, 0] = 0.5
    assert place_of(best_candidate(zero_one, squared, tie_break="risk", **options)) == (1, 2, 0)
    assert place_of(best_candidate(zero_one, np.ones((2, 3, 2)), tie_break="risk", **options)) == (0, 1, 1)
    assert place_of(best_candidate(zero_one, squared, tie_break="first", **options)) == (0, 0, 0)
    zero_one[0, 0, 0] = 1
    assert place_of(best_candidate(zero_one, squared, tie_break="first", **options)) == (0, 1, 0)


def test_average_weights_sum_to_one_and_concentrate_with_more_labels():
    zero_one, squared = RNG.random((3, 4, 5)), RNG.random((3, 4, 5))
    few, many = (average_weights(zero_one, squared, n, shares=np.ones(4)) for n in (2.0, 2000.0))
    assert_allclose([few.sum(), many.sum()], 1)
    assert few.max() < 0.2
    assert many.max() > 0.99
    assert many.argmax() == (zero_one + squared).argmin()


def test_supervised_candidates_start_with_half_of_the_weight():
    equal = np.zeros((2, 5, 3))
    weight = average_weights(equal, equal, 10.0, shares=np.array([1.0, 0.5, 0.0, 0.5, 1.0]))
    assert_allclose(weight.sum(axis=(0, 2)), [1 / 8, 1 / 8, 1 / 2, 1 / 8, 1 / 8])


def test_the_table_lists_candidates_best_first():
    zero_one = np.array([[[0.3, 0.1]]])
    values = {"bandwidth": np.array([1.0]), "mix": np.array([0.5]), "alpha": ALPHAS}
    table = SearchTable(values, zero_one, zero_one, np.array([[[0.4, 0.6]]]))
    assert [row["alpha"] for row in table.rows()] == [1.0, 0.1]
    assert table.best == (0, 0, 1)


def test_effective_labels_fix_the_pn_risk_as_well_as_a_sample_of_that_size():
    """1 / Σ θ²/n: labels in the shares of the population count in full, a class in excess does not."""
    tally = Tally(np.array([30.0, 10.0, 100.0]), *(np.zeros((1, 1, 1, 3)),) * 3)
    assert tally.effective_labels(np.array([0.75, 0.25])) == pytest.approx(40)
    assert tally.effective_labels(np.array([0.4, 0.6])) == pytest.approx(1 / (0.4**2 / 30 + 0.6**2 / 10))


def test_equal_counts_that_differ_in_the_last_bit_are_a_tie():
    zero_one, squared = np.array([[[0.1, 0.1 + 1e-16 * 8]]]), np.array([[[0.5, 0.4]]])
    assert zero_one[0, 0, 0] < zero_one[0, 0, 1]
    weight = best_candidate(zero_one, squared, 1.0, alphas=ALPHAS, mixes=MIXES[:1], tie_break="risk")
    assert weight.tolist() == [[[0.0, 1.0]]]


def test_a_larger_alpha_comes_before_a_smaller_mix():
    """Ties in both risks: (mix 0, alpha 0.1) against (mix 1, alpha 1)."""
    risk = np.array([[[0.1, 0.3], [0.3, 0.1]]])
    weight = best_candidate(risk, risk, 1.0, alphas=ALPHAS, mixes=np.array([0.0, 1.0]), tie_break="risk")
    assert weight.tolist() == [[[0.0, 0.0], [0.0, 1.0]]]


def test_the_validation_mix_is_that_of_p_and_u_if_any_other_class_has_no_rows():
    prior = np.array([0.3, 0.3, 0.4])
    assert validation_mix(prior, np.array([0, 10, 10]), 100, own=1) == 1.0
    assert 0 < validation_mix(prior, np.array([10, 10, 10]), 100, own=1) < 1
