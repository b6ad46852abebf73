"""Costs of the two errors: the same number by a change of the population, and by counting."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LogisticRegression

from pnulearn import make_pnu_scorer, pnu_risk
from pnulearn.metrics import compare_scores, estimate_risk, pnu_cost
from pnulearn.priors import PriorEstimate

COSTS, PRIOR = (5.0, 1.0), 0.3
TOTAL = COSTS[0] * PRIOR + COSTS[1] * (1 - PRIOR)


def draw(rng, n=40, n_unlabeled=1000):
    truth = np.repeat([1, 0], n).tolist() + (rng.random(n_unlabeled) < PRIOR).tolist()
    score = rng.normal(size=len(truth)) + 1.5 * np.array(truth) - 0.4
    return np.append(np.repeat([1.0, 0.0], n), np.full(n_unlabeled, np.nan)), score


@pytest.mark.parametrize("loss", ["zero_one", "squared", "logistic"])
def test_costs_of_labels_alone_are_the_error_under_the_prior_that_weighs_classes_so(loss):
    """c_fn θ FNR + c_fp (1 − θ) FPR = total (θ' FNR + (1 − θ') FPR) with θ' = c_fn θ / total."""
    y, score = draw(np.random.default_rng(0))
    cost = pnu_risk(y, score, prior=PRIOR, loss=loss, mix=0, costs=COSTS)
    moved = pnu_risk(y[:80], score[:80], prior=COSTS[0] * PRIOR / TOTAL, loss=loss, mix=0)
    for name in ("value", "stderr", "low", "high"):
        assert_allclose(getattr(cost, name), TOTAL * getattr(moved, name), rtol=1e-9)


@pytest.mark.parametrize("mix", [-1.0, -0.4, 0.5, 1.0])
def test_every_mix_has_the_mean_of_counted_costs(mix):
    rng, values = np.random.default_rng(1), []
    for _ in range(150):
        y, score = draw(rng)
        values.append(pnu_risk(y, score, prior=PRIOR, costs=COSTS, mix=mix, threshold=0).value)
    many = rng.normal(size=400_000)
    truth = COSTS[0] * PRIOR * np.mean(many + 1.1 < 0) + (1 - PRIOR) * np.mean(many - 0.4 > 0)
    assert abs(np.mean(values) - truth) < 4 * np.std(values) / np.sqrt(150)


@pytest.mark.parametrize("belief", [PRIOR, PriorEstimate.of_counts([21, 9])])
@pytest.mark.parametrize("helped", [False, True])
def test_intervals_of_costs_hold(belief, helped):
    rng, hits = np.random.default_rng(2), []
    many = rng.normal(size=400_000)
    truth = COSTS[0] * PRIOR * np.mean(many + 1.1 < 0) + (1 - PRIOR) * np.mean(many - 0.4 > 0)
    for _ in range(40):
        y, score = draw(rng, 20)
        helper = {"helper": np.where(score + rng.normal(size=len(score)) > 0, 1, 0)} if helped else {}
        found = pnu_risk(y, score, prior=belief, costs=COSTS, **helper)
        hits.append(found.low <= truth <= found.high)
        assert 0 <= found.low <= found.high <= max(COSTS)
    assert np.mean(hits) > 0.88


def test_they_agree_with_the_metric_and_scale():
    y, score = draw(np.random.default_rng(3))
    found, other = pnu_risk(y, score, prior=PRIOR, costs=COSTS), pnu_cost(y, score, prior=PRIOR, costs=COSTS)
    assert_allclose([found.value, found.low, found.high], [other.value, other.low, other.high], atol=0.03)
    twice = pnu_risk(y, score, prior=PRIOR, costs=(10, 2))
    assert_allclose(
        [twice.value, twice.stderr, twice.low, twice.high],
        2 * np.array([found.value, found.stderr, found.low, found.high]),
    )
    assert pnu_risk(y, score, prior=PRIOR, costs=(1, 1)) == pnu_risk(y, score, prior=PRIOR)
    with pytest.raises(ValueError, match="two positive numbers"):
        pnu_risk(y, score, prior=PRIOR, costs=(0, 1))


def test_comparisons_and_scorers_weigh_errors_alike():
    y, score = draw(np.random.default_rng(4))
    groups = [score[y == 1], score[y == 0], score[np.isnan(y)]]
    eager = [g + 0.6 for g in groups]
    found = compare_scores(eager, groups, PRIOR, 0.2, costs=COSTS)
    risks = [estimate_risk(each, PRIOR, 0.2, costs=COSTS).value for each in (eager, groups)]
    assert_allclose(found.difference, risks[0] - risks[1])
    assert found.difference < compare_scores(eager, groups, PRIOR, 0.2).difference
    model = LogisticRegression().fit(score[:80, None], y[:80])
    scorer = make_pnu_scorer(prior=PRIOR, costs=COSTS)
    expected = pnu_risk(y, model.decision_function(score[:, None]), prior=PRIOR, mix="heuristic", costs=COSTS)
    assert_allclose(scorer(model, score[:, None], y), -expected.value)
