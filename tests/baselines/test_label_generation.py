"""WellSVM's algorithm: every claim of section G.4, against brute force and scikit-learn where they can be asked."""

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import LinearSVC

from pnulearn.baselines.wellsvm import label_generation as lg


def problem(seed=0, n_labeled=8, n_unlabeled=20, shift=0.7):
    rng = np.random.default_rng(seed)
    truth = np.where(np.arange(n_labeled + n_unlabeled) % 2, 1.0, -1.0)
    X = rng.normal(size=(len(truth), 2)) + shift * truth[:, None]
    signs = np.where(np.arange(len(truth)) < n_labeled, truth, 0.0)
    return rbf_kernel(X, gamma=0.5), signs, np.where(signs == 0, 0.1, 1.0), X


def first_labels(kernel, signs, cost, n_positive):
    return lg.with_top_positive(signs, signs == 0, lg._supervised_scores(kernel, signs, cost), n_positive)


def relaxed_value(kernel, labels, weight, cost):
    return lg.MarginDual(kernel, cost).mixed(labels, weight)[1]


def test_squared_hinge_svm_is_the_one_of_liblinear():
    """Linear kernel, no intercept; liblinear's C multiplies the squared hinge without our half."""
    _, signs, _, X = problem(n_unlabeled=0, n_labeled=40)
    weights = np.random.default_rng(1).uniform(0.1, 2, size=40)
    dual = lg.MarginDual(X @ X.T, weights).svm(signs)
    theirs = LinearSVC(C=0.5, fit_intercept=False, dual=True, tol=1e-10, max_iter=100_000)
    theirs.fit(X, signs, sample_weight=weights)
    assert_allclose(X.T @ (dual * signs), theirs.coef_[0], rtol=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_the_value_never_falls_as_label_vectors_are_added(seed):
    kernel, signs, cost, _ = problem(seed, n_unlabeled=60)
    noise = np.random.default_rng(seed).normal(size=len(signs))
    mixture = lg.generate_labels(
        lg.MarginDual(kernel, cost), lg.with_top_positive(signs, signs == 0, noise, 30), signs == 0
    )
    assert len(mixture.values) > 3
    assert (np.diff(mixture.values) > 0).all()
    assert_allclose(mixture.weight.sum(), 1)
    assert len(mixture.labels) == len(mixture.values) == len(mixture.weight)
    assert_allclose(mixture.values[-1], relaxed_value(kernel, mixture.labels, mixture.weight, cost))


def test_the_mixture_is_within_a_percent_of_the_best_one_on_a_grid():
    kernel, signs, cost, _ = problem(3)
    rng = np.random.default_rng(0)
    first = first_labels(kernel, signs, cost, 10)
    labels = np.array([lg.with_top_positive(first, signs == 0, rng.normal(size=len(first)), 10) for _ in range(2)])
    grid = [relaxed_value(kernel, labels, np.array([w, 1 - w]), cost) for w in np.linspace(0, 1, 101)]
    found = lg._mix_labelings(lg.MarginDual(kernel, cost), labels, np.array([0.9, 0.1]))
    assert found.values[0] >= 0.99 * max(grid)
    assert found.values[0] <= max(grid) * (1 + 1e-3)


def test_mixing_never_lowers_the_value():
    kernel, signs, cost, _ = problem(5)
    rng = np.random.default_rng(0)
    first = first_labels(kernel, signs, cost, 10)
    labels = np.array([lg.with_top_positive(first, signs == 0, rng.normal(size=len(first)), 10) for _ in range(4)])
    dual = lg.MarginDual(kernel, cost)
    values = [lg._mix_labelings(dual, labels, np.full(4, 0.25), steps=steps).values[0] for steps in range(6)]
    assert (np.diff(values) >= -1e-12).all()
    assert values[-1] > values[0]


@pytest.mark.parametrize("seed", range(4))
def test_violated_labels_climb_and_stay_balanced(seed, monkeypatch):
    """Every linearisation step increases y'Hy; the steps are watched through the function that proposes them."""
    kernel, signs, _, _ = problem(seed)
    unlabeled, alpha = signs == 0, np.random.default_rng(seed).random(len(signs))
    climbed = []
    propose = lg.with_top_positive
    monkeypatch.setattr(lg, "with_top_positive", lambda *args: climbed.append(propose(*args)) or climbed[-1])
    start = propose(signs, unlabeled, np.random.default_rng(seed).normal(size=len(signs)), 7)
    end = lg.violated_labels(lg.MarginDual(kernel, np.ones(len(signs))), alpha, start, unlabeled)
    H = np.outer(alpha, alpha) * kernel
    values = [y @ H @ y for y in [start, *climbed]]
    assert len(values) > 2
    assert (np.diff(values) >= -1e-12).all()
    assert_allclose(end @ H @ end, values[-1])
    assert np.sum(end[unlabeled] > 0) == 7
    assert_array_equal(end[~unlabeled], signs[~unlabeled])


@pytest.mark.parametrize("n_positive", [0, 3, 10, 20])
def test_exactly_so_many_unlabelled_rows_become_positive(n_positive):
    kernel, signs, cost, _ = problem(1)
    labels, _ = lg.complete_labels(kernel, signs, cost, n_positive)
    assert np.sum(labels[signs == 0] > 0) == n_positive
    assert_array_equal(labels[signs != 0], signs[signs != 0])


def test_without_cost_on_the_unlabelled_rows_it_is_the_supervised_svm():
    kernel, signs, _, _ = problem(2)
    known = np.flatnonzero(signs)
    supervised = lg.MarginDual(kernel[np.ix_(known, known)], np.ones(len(known))).svm(signs[known])
    _, coef = lg.complete_labels(kernel, signs, np.where(signs == 0, 1e-9, 1.0), 10)
    assert_allclose(coef[known], supervised * signs[known], atol=1e-6)
    assert_allclose(coef[signs == 0], 0, atol=1e-6)


def test_without_unlabelled_rows_it_is_the_supervised_svm():
    kernel, signs, cost, _ = problem(2, n_labeled=12, n_unlabeled=0)
    labels, coef = lg.complete_labels(kernel, signs, cost, 0)
    assert_array_equal(labels, signs)
    assert_allclose(coef, lg.MarginDual(kernel, cost).svm(signs) * signs)


def test_the_margin_is_not_narrower_than_that_of_the_supervised_labels_and_close_to_the_widest():
    """All C(8, 4) balanced labellings of eight rows can be tried."""
    ratios = []
    for seed in range(8):
        kernel, signs, cost, _ = problem(seed, n_labeled=4, n_unlabeled=8)

        def margin(y, kernel=kernel, cost=cost):
            return 1 / lg.MarginDual(kernel, cost).svm(y).sum()

        labels, coef = lg.complete_labels(kernel, signs, cost, 4)
        rows = np.flatnonzero(signs == 0)
        every = []
        for chosen in combinations(rows, 4):
            y = signs.copy()
            y[rows] = -1
            y[list(chosen)] = 1
            every.append(margin(y))
        assert_allclose(coef, labels * lg.MarginDual(kernel, cost).svm(labels), atol=1e-9)
        assert margin(labels) >= margin(first_labels(kernel, signs, cost, 4)) * (1 - 1e-9)
        ratios.append(margin(labels) / max(every))
    assert max(ratios) <= 1 + 1e-9
    assert np.mean(ratios) > 0.98


@pytest.mark.parametrize("rate, n_rows, expected", [(0.7, 300, 210), (0.1, 30, 3), (0.34, 10, 4), (0, 5, 0), (1, 5, 5)])
def test_shares_round_up_but_not_because_of_binary_fractions(rate, n_rows, expected):
    assert lg.share_of(rate, n_rows) == expected
