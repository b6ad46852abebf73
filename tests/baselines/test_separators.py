"""Sampling separators: balance, descent, grouping."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics.pairwise import rbf_kernel

from pnulearn.baselines import _s4vm as sp
from pnulearn.baselines._s4vm import SharedKernelSVM


def problem(seed=0, n_labeled=10, n_unlabeled=60, cost=0.1):
    rng = np.random.default_rng(seed)
    truth = np.where(np.arange(n_labeled + n_unlabeled) % 2, 1.0, -1.0)
    X = rng.normal(size=(len(truth), 2)) + 0.8 * truth[:, None]
    signs = np.where(np.arange(len(truth)) < n_labeled, truth, 0.0)
    machine = SharedKernelSVM(rbf_kernel(X, gamma=0.5), np.where(signs == 0, cost, 1.0))
    return machine, signs, truth[n_labeled:], rng


def test_the_balance_rule_counts_as_the_method_says():
    """n = 350, 35 + 15 labels, mean label 0.4: top ⌈350 · 1.3/2⌉ = 228 positive, bottom ⌈350 · 0.5/2⌉ = 88 negative."""
    signs = np.repeat([1.0, -1.0, 0.0], [35, 15, 300])
    assert sp.Balance.around(0.4, signs) == sp.Balance(228 - 35, 350 - 88 - 35)


def test_the_balance_of_a_share_surrounds_that_share_of_the_unlabelled_rows():
    signs = np.repeat([1.0, -1.0, 0.0], [35, 15, 300])
    mean_label = (20 + 300 * (2 * 0.5 - 1)) / 350
    balance = sp.Balance.around(mean_label, signs)
    assert balance == sp.Balance(168 - 35, 350 - 148 - 35)
    assert balance.low + balance.high == 300


@pytest.mark.parametrize("mean_label", [-1.0, 0.99, 1.0])
def test_an_extreme_balance_stays_possible(mean_label):
    balance = sp.Balance.around(mean_label, np.repeat([1.0, -1.0, 0.0], [5, 5, 7]))
    assert 0 <= balance.low <= balance.high <= 7


def test_thresholds_keep_zero_if_they_can_and_else_cut_midway():
    scores = np.array([[3.0, 1.0, -1.0, -2.0], [4.0, 3.0, 2.0, 1.0], [-1.0, -2.0, -3.0, -5.0], [3.0, 2.0, -4.0, -6.0]])
    assert_allclose(sp.Balance(1, 2).thresholds(scores), [0.0, 2.5, -1.5, 0.0])
    assert_allclose(sp.Balance(3, 3).thresholds(scores), [-1.5, 1.5, -4.0, -5.0])


def test_thresholds_at_the_ends_put_all_rows_on_one_side():
    scores = np.array([[3.0, -1.0], [-2.0, -3.0], [1.0, 2.0]])
    assert (scores <= sp.Balance(0, 0).thresholds(scores)[:, None]).all()
    assert (scores > sp.Balance(2, 2).thresholds(scores)[:, None]).all()


def test_equal_scores_stay_together():
    threshold = sp.Balance(1, 1).thresholds(np.array([[2.0, 2.0, -1.0]]))
    assert_allclose(threshold, [2.0])


def test_starts_are_random_then_flipped_then_the_supervised_labels():
    supervised = np.ones(10_000)
    starts = sp.starting_labels(supervised, 10, np.random.default_rng(0))
    assert starts.shape == (11, 10_000)
    assert_allclose(starts[:8].mean(axis=1), 0, atol=0.05)
    assert_allclose(starts[8:10].mean(axis=1), 0.6, atol=0.05)
    assert_array_equal(starts[10], supervised)


@pytest.mark.parametrize("seed", range(3))
def test_every_separator_found_is_balanced_and_reproduces_its_labels(seed):
    machine, signs, truth, _ = problem(seed)
    balance = sp.Balance.around(0.0, signs)
    found = sp.sample_separators(machine, signs, truth, balance, n_starts=30, n_groups=10, seed=seed)
    n_positive = (found.labels > 0).sum(axis=1)
    assert ((n_positive >= balance.low) & (n_positive <= balance.high)).all()
    scores = found.coef @ machine.kernel[:, signs == 0] + found.offset[:, None]
    assert_array_equal(np.where(scores > 0, 1.0, -1.0), found.labels)
    assert (np.diff(found.objective) >= 0).all()
    assert len(np.unique(found.labels, axis=0)) == len(found.labels)


@pytest.mark.parametrize("seed", range(4))
def test_the_search_descends_once_all_rows_adopt_their_labels(monkeypatch, seed):
    """Up to the accuracy of the solver, which is 0.1 %."""
    monkeypatch.setattr(sp, "RANDOM_ROUNDS", 0)
    machine, signs, _, rng = problem(seed, cost=1.0)
    labels = np.where(signs == 0, rng.choice([-1.0, 1.0], size=len(signs)), signs)[None]
    history = []
    balanced = sp._rebalance

    def watched(*args):
        history.append(balanced(*args))
        return history[-1]

    monkeypatch.setattr(sp, "_rebalance", watched)
    found = sp.local_search(machine, labels, np.flatnonzero(signs == 0), sp.Balance.around(0.0, signs), 10, rng)
    objectives = np.concatenate([step.objective for step in history])
    assert len(objectives) > 2
    assert (objectives[1:] <= objectives[:-1] * 1.002).all()
    assert found.objective[0] < 0.9 * objectives[0]


def test_two_seeds_agree_with_themselves():
    machine, signs, truth, _ = problem()
    balance = sp.Balance.around(0.0, signs)
    first, again = (sp.sample_separators(machine, signs, truth, balance, 20, 10, seed=3) for _ in range(2))
    assert_array_equal(first.coef, again.coef)
    assert_array_equal(first.labels, again.labels)


def test_groups_of_well_separated_points_are_found():
    points = np.array([0.0, 0.1, 10.0, 10.1, 10.2, 20.0])
    group = sp.group_by_medoids(np.abs(points[:, None] - points), 3)
    assert len(set(group[:2])) == len(set(group[2:5])) == 1
    assert len(set(group)) == 3


def test_each_group_is_represented_by_its_lowest_objective():
    labels = np.array([[1, 1, 1, 1], [1, 1, 1, -1], [-1, -1, -1, -1], [-1, -1, -1, 1]], dtype=float)
    candidates = sp.FoundSeparators(labels, np.zeros((4, 2)), np.zeros(4), np.array([2.0, 1.0, 4.0, 3.0]))
    assert_allclose(sp.representatives(candidates, 2).objective, [1.0, 3.0])
    assert_allclose(sp.representatives(candidates, 9).objective, [2.0, 1.0, 4.0, 3.0])


def test_the_best_of_each_group_are_searched_to_the_end(monkeypatch):
    labels = np.array([[1, 1, 1, 1], [1, 1, 1, -1], [1, 1, 1, 1], [-1, -1, -1, -1], [-1, -1, -1, 1]], dtype=float)
    found = sp.FoundSeparators(labels, np.zeros((5, 2)), np.zeros(5), np.array([2.0, 1.0, 1.5, 4.0, 3.0]))
    assert_array_equal(sp._contenders(found, 2), [1, 2, 4, 3])  # best first; the first has the labels of the third
    monkeypatch.setattr(sp, "CONTENDERS", 1)
    assert_array_equal(sp._contenders(found, 2), [1, 4])


def test_starts_that_are_led_to_the_same_labels_go_on_as_one():
    labels = np.array([[1, -1, 1], [1, 1, 1], [1, -1, 1], [1, 1, 1], [-1, 1, 1]], dtype=float)
    assert_array_equal(sp._first_of_equals(labels, np.array([1, 2, 3, 4])), [1, 2, 4])
    assert_array_equal(sp._first_of_equals(labels, np.array([], dtype=int)), [])


def test_all_starts_end_as_one_where_unlabelled_rows_cost_next_to_nothing():
    machine, signs, truth, _ = problem(cost=1e-6)
    found = sp.sample_separators(machine, signs, truth, sp.Balance.around(0.0, signs), n_starts=30, n_groups=10, seed=0)
    assert len(found.labels) == 1


@pytest.mark.parametrize("cost", [0.1, 10.0])
def test_separators_found_are_solved_fully(cost):
    """The objective of each, trained on its own labels again, is at most a per cent lower."""
    machine, signs, truth, _ = problem(cost=cost)
    found = sp.sample_separators(machine, signs, truth, sp.Balance(0, 60), n_starts=30, n_groups=10, seed=0)
    labels = np.tile(signs, (len(found.labels), 1))
    labels[:, signs == 0] = found.labels
    exact = machine.solve(labels, tol=1e-6, max_iter=20_000)
    assert (found.objective < 1.01 * machine.objective(exact, labels)).all()
