"""WellSVM's algorithm: every claim of section G.4, against brute force and scikit-learn where they can be asked."""

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import LinearSVC

from pnulearn.baselines import _wellsvm as lg


def problem(seed=0, n_labeled=8, n_unlabeled=20, shift=0.7):
    rng = np.random.default_rng(seed)
    truth = np.where(np.arange(n_labeled + n_unlabeled) % 2, 1.0, -1.0)
    X = rng.normal(size=(len(truth), 2)) + shift * truth[:, None]
    signs = np.where(np.arange(len(truth)) < n_labeled, truth, 0.0)
    return rbf_kernel(X, gamma=0.5), signs, np.where(signs == 0, 0.1, 1.0), X


def first_labels(kernel, signs, cost, n_positive):
    return lg.with_top_positive(signs, signs == 0, lg._supervised_scores(kernel, signs, cost), n_positive)


def relaxed_value(kernel, labels, weight, cost):
    return lg.MarginDual(kernel, cost).mixed(labels, weight).value


def random_labels(kernel, signs, cost, n_vectors, seed=0):
    rng = np.random.default_rng(seed)
    first = first_labels(kernel, signs, cost, 10)
    return np.array(
        [lg.with_top_positive(first, signs == 0, rng.normal(size=len(first)), 10) for _ in range(n_vectors)]
    )


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
    kernel, signs, _, _ = problem(seed, n_unlabeled=60)
    cost = np.ones(len(signs))
    noise = np.random.default_rng(seed).normal(size=len(signs))
    mixture = lg.generate_labels(
        lg.MarginDual(kernel, cost), lg.with_top_positive(signs, signs == 0, noise, 30), signs == 0
    )
    assert len(mixture.values) > 3
    assert (np.diff(mixture.values) > 0).all()
    assert_allclose(mixture.weight.sum(), 1)
    assert len(mixture.labels) == len(mixture.values) == len(mixture.weight)
    assert_allclose(mixture.values[-1], relaxed_value(kernel, mixture.labels, mixture.weight, cost))


@pytest.mark.parametrize("unlabeled_cost", [0.1, 10.0])
@pytest.mark.parametrize("seed", range(4))
def test_the_mixture_is_the_best_one_that_a_general_solver_finds(seed, unlabeled_cost):
    kernel, signs, _, _ = problem(seed)
    cost = np.where(signs == 0, unlabeled_cost, 1.0)
    labels = random_labels(kernel, signs, cost, 4, seed)
    dual = lg.MarginDual(kernel, cost)
    best = minimize(
        lambda weight: -1e3 * relaxed_value(kernel, labels, weight, cost),
        np.full(4, 0.25),
        bounds=[(0, 1)] * 4,
        constraints={"type": "eq", "fun": lambda weight: weight.sum() - 1},
        method="SLSQP",
        options={"ftol": 1e-10},
    )
    worst = np.argmin([relaxed_value(kernel, labels, unit, cost) for unit in np.eye(4)])
    start = dual.mixed(labels, np.where(np.arange(4) == worst, 0.97, 0.01))
    found = lg.mix_labelings(dual, start)
    assert start.value < 0.99 * found.value
    assert_allclose(found.weight.sum(), 1)
    assert found.value == pytest.approx(-best.fun / 1e3, rel=2e-3)


def test_mixing_never_lowers_the_value():
    kernel, signs, cost, _ = problem(5)
    dual, labels = lg.MarginDual(kernel, cost), random_labels(kernel, signs, cost, 4)
    values = [lg.mix_labelings(dual, dual.mixed(labels, np.full(4, 0.25)), steps).value for steps in range(6)]
    assert (np.diff(values) >= -1e-12).all()
    assert values[-1] > values[0]


def test_where_newtons_step_lowers_the_value_another_one_does_not():
    kernel, signs, cost, _ = problem(5)
    dual, labels = lg.MarginDual(kernel, cost), random_labels(kernel, signs, cost, 4)
    start = dual.mixed(labels, np.array([0.1, 0.3, 0.3, 0.3]))
    worst = np.argmin([relaxed_value(kernel, labels, unit, cost) for unit in np.eye(4)])
    bad = np.where(np.arange(4) == worst, 0.97, 0.01)
    moved = lg._moved(dual, start, bad, dual.slopes(start.alpha, labels) @ start.alpha)
    assert relaxed_value(kernel, labels, bad, cost) < start.value < moved.value


def test_newtons_step_rests_on_the_derivatives_of_the_label_values():
    """s_t'Q⁻¹s_u is minus half the derivative of q_t by μ_u, of the programme's b instead of a = b / sum(b)."""
    kernel, signs, cost, _ = problem(1)
    dual, labels = lg.MarginDual(kernel, cost), random_labels(kernel, signs, cost, 3)
    weight, step = np.array([0.5, 0.3, 0.2]), 1e-6

    def label_values(weight):
        found = dual.mixed(labels, weight)
        b = found.alpha / (2 * found.value)
        return dual.slopes(b, labels) @ b

    found = dual.mixed(labels, weight)
    slopes = dual.slopes(found.alpha / (2 * found.value), labels)
    give = slopes @ found.minimum.solve(slopes.T)
    numerical = np.array(
        [label_values(weight + step * unit) - label_values(weight - step * unit) for unit in np.eye(3)]
    )
    assert_allclose(-2 * give, numerical.T / (2 * step), rtol=1e-5)


def test_newtons_step_is_exact_for_label_vectors_that_have_nothing_to_do_with_one_another():
    """K = 0 between two halves of the rows, the second label vector all but zero on the first and vice versa."""
    halves = np.repeat([[1.0, 1e-9], [1e-9, 1.0]], 3, axis=1)  # no labels, but the algebra does not mind
    kernel = np.kron(np.diag([1.0, 4.0]), np.ones((3, 3)))
    dual = lg.MarginDual(kernel, np.full(6, 1e9))
    start = dual.mixed(halves, np.array([0.4, 0.6]))
    weight = lg.newton_weights(start, dual.slopes(start.alpha, halves))
    spread = dual.slopes((moved := dual.mixed(halves, weight)).alpha, halves) @ moved.alpha
    assert_allclose(weight, [2 / 3, 1 / 3], rtol=1e-4)  # 1/μ₁ + 1/(4 μ₂) is least there
    assert_allclose(spread[0], spread[1], rtol=1e-3)


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
