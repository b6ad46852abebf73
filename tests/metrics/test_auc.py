"""AUC from P, N and U."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from sklearn.metrics import roc_auc_score

from pnulearn.metrics import pnu_auc

PRIOR, SHIFT = 0.3, 1.5
TRUE_AUC = stats.norm.cdf(SHIFT / np.sqrt(2))


def draw(n_positive, n_negative, n_unlabeled, seed=0):
    rng = np.random.default_rng(seed)
    positive = np.concatenate([np.ones(n_positive), np.zeros(n_negative), rng.random(n_unlabeled) < PRIOR])
    y = np.repeat([1.0, 0.0, np.nan], [n_positive, n_negative, n_unlabeled])
    return y, rng.normal(size=len(y)) + SHIFT * positive


def test_at_mix_zero_it_is_the_usual_auc():
    y, score = draw(30, 40, 50)
    score = np.round(score, 1)  # ties
    known = ~np.isnan(y)
    assert_allclose(pnu_auc(y, score, prior=PRIOR, mix=0).value, roc_auc_score(y[known], score[known]))


@pytest.mark.parametrize("mix", [-0.6, 0.4])
def test_other_mixes_are_the_pair_risks_by_brute_force(mix):
    """With every pair written out, and pairs of two different rows of one class subtracted."""
    y, score = draw(7, 9, 11)
    p, n, u = score[y == 1], score[y == 0], score[np.isnan(y)]

    def wins(a, b, same=False):
        won = (a[:, None] > b).astype(float) + 0.5 * (a[:, None] == b)
        return won[~np.eye(len(a), dtype=bool)].mean() if same else won.mean()

    pu = (wins(p, u) - PRIOR * wins(p, p, same=True)) / (1 - PRIOR)
    nu = (wins(u, n) - (1 - PRIOR) * wins(n, n, same=True)) / PRIOR
    expected = (1 - abs(mix)) * wins(p, n) + abs(mix) * (pu if mix > 0 else nu)
    assert_allclose(pnu_auc(y, score, prior=PRIOR, mix=mix).value, expected)


@pytest.mark.parametrize("mix", [-1, 0, "optimal", 1])
def test_estimates_are_unbiased_with_honest_errors_and_intervals(mix):
    """The estimate is unbiased before it is clipped to [0, 1], which shares of pairs won give again."""
    draws = [draw(25, 25, 150, seed) for seed in range(400)]
    estimates = [pnu_auc(y, score, prior=PRIOR, mix=mix) for y, score in draws]
    values = np.array([unclipped(*rows, found.mix) for rows, found in zip(draws, estimates, strict=True)])
    assert_allclose([e.value for e in estimates], np.clip(values, 0, 1), atol=1e-12)
    assert abs(values.mean() - TRUE_AUC) < (3 / np.sqrt(400) + 0.1 * (mix == "optimal")) * values.std()
    assert_allclose(np.sqrt(np.mean([e.stderr**2 for e in estimates])), values.std(), rtol=0.1)
    assert 0.92 < np.mean([e.low <= TRUE_AUC <= e.high for e in estimates]) <= 1


@pytest.mark.parametrize(("n_positive", "n_unlabeled", "prior"), [(2, 4, 0.9), (5, 20, 0.9), (20, 100, 0.98)])
def test_intervals_without_negatives_hold_where_unlabelled_rows_say_little(n_positive, n_unlabeled, prior):
    """A common positive class leaves few negatives among the rows of U: every value may look too low."""
    held, gap = [], np.sqrt(2) * stats.norm.ppf(0.8)
    for seed in range(100):
        rng = np.random.default_rng(seed)
        of_class = np.append(np.ones(n_positive), rng.random(n_unlabeled) < prior)
        y = np.append(np.ones(n_positive), np.full(n_unlabeled, np.nan))
        found = pnu_auc(y, rng.normal(gap * of_class, 1), prior=prior)
        held.append(found.low <= 0.8 <= found.high)
    assert np.mean(held) > 0.93


def test_an_impossible_prior_leaves_the_auc_unknown():
    rng = np.random.default_rng(0)
    score = np.append(rng.normal(4, 1, 200), rng.normal(0, 1, 300))
    y = np.append(np.ones(100), np.full(400, np.nan))  # a quarter of U is positive
    found = pnu_auc(y, score, prior=0.6)
    assert (found.low, found.high) == (0, 1)


def unclipped(y, score, mix):
    """(1 − |η|) PN + |η| PU or NU, with E over (P, U) = θ/2 + (1 − θ) AUC and E over (U, N) = (1 − θ)/2 + θ AUC."""
    p, n, u = score[y == 1][:, None], score[y == 0], score[np.isnan(y)]
    pn, pu, un = (p > n).mean(), (p > u).mean(), (u[:, None] > n).mean()
    other = (pu - PRIOR / 2) / (1 - PRIOR) if mix > 0 else (un - (1 - PRIOR) / 2) / PRIOR
    return (1 - abs(mix)) * pn + abs(mix) * other


def test_the_optimal_mix_has_the_least_standard_error():
    y, score = draw(60, 200, 3000)
    best = pnu_auc(y, score, prior=PRIOR)
    others = [pnu_auc(y, score, prior=PRIOR, mix=mix).stderr for mix in np.linspace(-1, 1, 21)]
    assert best.stderr <= min(others) * 1.01


def test_a_monotone_change_of_scores_changes_nothing():
    y, score = draw(20, 20, 60)
    assert pnu_auc(y, score, prior=PRIOR) == pnu_auc(y, np.exp(score) - 3, prior=PRIOR)


def test_perfect_separation_is_not_certainty():
    y = np.repeat([1.0, 0.0], 10)
    estimate = pnu_auc(y, y, prior=0.5)
    assert estimate.value == 1 == estimate.high
    assert 0.6 < estimate.low < 0.97


def test_missing_samples():
    y, score = draw(30, 30, 100)
    assert pnu_auc(y[y != 0], score[y != 0], prior=PRIOR, pos_label=1).mix == 1
    assert pnu_auc(y[y != 1], score[y != 1], prior=PRIOR, pos_label=1).mix == -1
    assert pnu_auc(y[:60], score[:60], prior=PRIOR).mix == 0
    with pytest.raises(ValueError, match="needs unlabelled rows"):
        pnu_auc(y[:60], score[:60], prior=PRIOR, mix=0.5)
    with pytest.raises(ValueError, match="mix must be a number"):
        pnu_auc(y, score, prior=PRIOR, mix="heuristic")


def test_who_does_not_know_the_prior_trusts_unlabelled_rows_less():
    """The mix of least variance counts in what the prior adds: by brute force over mixes it is the least one."""
    y, score = draw(40, 40, 2000)
    vague = (0.1, 0.5)
    chosen = pnu_auc(y, score, prior=vague)
    assert abs(chosen.mix) < abs(pnu_auc(y, score, prior=PRIOR).mix)
    others = [pnu_auc(y, score, prior=vague, mix=mix).stderr for mix in np.linspace(-1, 1, 81)]
    assert chosen.stderr == pytest.approx(min(others), rel=0.02)


def test_values_and_ends_lie_between_zero_and_one():
    """Mixes near ±1 and few labels, where the unbiased estimate often exceeds 1."""
    for seed in range(10):
        for mix in (-1, 1, "optimal"):
            found = pnu_auc(*draw(5, 5, 40, seed), prior=PRIOR, mix=mix)
            assert 0 <= found.low <= found.value <= found.high <= 1


@pytest.mark.parametrize("prior", [0.3, (0.2, 0.4)])
def test_an_end_is_one_where_the_labels_are_ranked_perfectly(prior):
    y = np.repeat([1.0, 0.0, np.nan], [10, 10, 100])
    score = np.concatenate([np.arange(10) + 5.0, np.arange(10) - 10.0, np.random.default_rng(0).normal(size=100)])
    found, turned = (pnu_auc(y, sign * score, prior=prior) for sign in (1, -1))
    assert found.high == 1
    assert found.low < 0.95
    assert turned.low == 0
    assert turned.high > 0.02
