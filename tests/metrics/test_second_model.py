"""A second model's opinion: unbiased whatever it says, surer if it is good, harmless if it is not."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit, logit

from pnulearn.metrics import HelpedEstimate, pnu_risk
from pnulearn.metrics._second_model import best_weights, calibrate_opinion, helped_table, read_opinions

RATES = np.array([[0.75, 0.25], [0.2, 0.8]])  # called positive and negative, among positives and among negatives
CLASSES = np.array([0, 1])


def draw(rng, prior, n_labels, accuracy, n_unlabeled=1000, random=False):
    """Labels (NaN if hidden), a model's decisions and a helper's labels that are right in that share of rows."""
    labeled = rng.random(2 * n_labels) < prior if random else np.repeat([True, False], n_labels)
    truth = np.append(labeled, rng.random(n_unlabeled) < prior)
    score = np.where(rng.random(len(truth)) < RATES[1 - truth.astype(int), 0], 1.0, -1.0)
    helper = np.where(rng.random(len(truth)) < accuracy, truth, ~truth).astype(int)
    y = np.where(np.arange(len(truth)) < 2 * n_labels, truth, np.nan)
    return y, score, helper


def simulate(accuracy, prior=0.5, n_labels=20, repeats=100, **options):
    rng = np.random.default_rng(0)
    truth = prior * 0.25 + (1 - prior) * 0.2
    found = []
    for _ in range(repeats):
        y, score, helper = draw(rng, prior, n_labels, accuracy, random=bool(options))
        given = options or {"prior": prior}
        alone, plain, helped = (
            pnu_risk(y, score, mix=0, **given),
            pnu_risk(y, score, **given),
            pnu_risk(y, score, helper=helper, **given),
        )
        assert helped.high - helped.low <= 1.05 * (plain.high - plain.low) + 1e-12
        hit = helped.low <= truth <= helped.high
        found.append((alone.value, plain.value, helped.value, hit))
    return truth, np.array(found)


@pytest.mark.parametrize("accuracy, most", [(0.95, 0.45), (0.8, 0.85)])
def test_a_good_helper_makes_the_error_surer(accuracy, most):
    truth, found = simulate(accuracy)
    spread = found[:, :3].std(axis=0)
    assert spread[2] ** 2 < most * spread[0] ** 2
    assert abs(found[:, 2].mean() - truth) < 0.3 * spread[2]
    assert found[:, 3].mean() > 0.87


@pytest.mark.thorough
def test_a_helper_that_knows_nothing_does_no_harm():
    _, found = simulate(0.5, n_labels=10)
    spread = found[:, :3].std(axis=0)
    assert spread[2] < 1.1 * spread[1]
    assert found[:, 3].mean() > 0.87


@pytest.mark.thorough
def test_labels_drawn_at_random_tell_the_prior_as_well():
    truth, found = simulate(0.9, repeats=60, sampling="random")
    spread = found[:, :3].std(axis=0)
    assert spread[2] ** 2 < 0.75 * spread[0] ** 2
    assert abs(found[:, 2].mean() - truth) < 0.3 * spread[2]
    assert found[:, 3].mean() > 0.87


def test_the_weights_are_those_of_least_variance():
    """Brute force over a grid of mixes and weights."""
    rng = np.random.default_rng(0)
    roots = rng.normal(size=(3, 3, 3))
    covariance = roots @ roots.transpose(0, 2, 1)
    mix, helper, variance = best_weights(0.3, covariance, 0.0, np.zeros((3, 3)))
    grid = [(m, h) for m in np.linspace(-1, 1, 81) for h in np.linspace(0, 1, 41)]
    least = min(np.einsum("ci,cij,cj->", t, covariance, t) for t in (helped_table(0.3, m, h) for m, h in grid))
    table = helped_table(0.3, mix, helper)
    assert_allclose(variance, np.einsum("ci,cij,cj->", table, covariance, table), rtol=1e-6)
    assert least * 0.99 <= variance <= least * (1 + 1e-9)


def test_every_weight_leaves_the_mean_as_it_is():
    """U = θ P + (1 − θ) N turns every table into θ E_P[a] + (1 − θ) E_N[b]."""
    for mix, helper in ((0.0, 1.0), (0.4, 0.7), (-0.6, 0.2)):
        p, n, u = helped_table(0.3, mix, helper)
        assert_allclose(p + 0.3 * u, [0.3, 0, 0], atol=1e-12)
        assert_allclose(n + 0.7 * u, [0, 0.7, 0], atol=1e-12)


def test_probabilities_for_another_prior_are_brought_to_this_one():
    rng = np.random.default_rng(1)
    truth = np.concatenate([np.ones(4000), np.zeros(4000), rng.random(20000) < 0.2]).astype(bool)
    odds = np.where(truth, 1.0, -1.0) + rng.normal(size=len(truth))  # log-odds of equal shares are 2 x
    groups = [slice(0, 4000), slice(4000, 8000), slice(8000, None)]
    opinions = [2 * odds[g, None] for g in groups]
    found = calibrate_opinion(opinions, [np.ones(len(o)) for o in opinions], 0.2)
    assert_allclose(found.slopes, 1, atol=0.06)
    assert_allclose(found.shift, logit(0.2), atol=0.1)
    assert_allclose(found(opinions[2]).mean(), 0.2, atol=1e-6)


def test_order_of_rows_does_not_matter():
    y, score, helper = draw(np.random.default_rng(2), 0.4, 15, 0.9)
    order = np.random.default_rng(3).permutation(len(y))
    one, other = (pnu_risk(y[o], score[o], prior=0.4, helper=helper[o]) for o in (slice(None), order))
    assert isinstance(one, HelpedEstimate)
    assert one.helper > 0.3
    assert_allclose(one.value, other.value, rtol=1e-9)


def test_several_helpers_and_other_losses():
    rng = np.random.default_rng(4)
    y, score, helper = draw(rng, 0.4, 15, 0.85)
    truth = np.where(np.isnan(y), helper, y)
    second = expit(rng.normal(2 * truth - 1, 1))
    one = pnu_risk(y, score, prior=0.4, helper=helper)
    both = pnu_risk(y, score, prior=0.4, helper={"llm": helper, "old": second})
    assert both.stderr < 1.1 * one.stderr
    assert pnu_risk(y, score, prior=(0.3, 0.5), helper=helper).stderr > 0
    squared = pnu_risk(y, score, prior=0.4, helper=helper, loss="squared")
    assert squared.low < squared.value < squared.high


@pytest.mark.parametrize(
    "helper, message",
    [
        (["yes", "maybe"], "neither a number nor one of the labels"),
        ([0.2, np.nan], "no finite value in row 1"),
        ([0.2], "1 rows and y has 2"),
    ],
)
def test_opinions_that_cannot_be_read(helper, message):
    with pytest.raises(ValueError, match=message):
        read_opinions(helper, np.array(["no", "yes"]), 2)


def test_a_helper_needs_all_three_samples_and_the_prior_is_asked_for():
    with pytest.raises(ValueError, match="no unlabelled ones"):
        pnu_risk([1, 1, 0, 0], [1, 1, -1, -1], prior=0.5, helper=[1, 1, 0, 0])
    with pytest.raises(ValueError, match="sampling='random'"):
        pnu_risk([1, 1, 0, 0], [1, 1, -1, -1])
