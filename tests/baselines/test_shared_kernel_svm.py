"""The batched SVM against scikit-learn's, one labelling at a time."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel
from sklearn.svm import SVC

from pnulearn.baselines import _s4vm as shared_kernel_svm
from pnulearn.baselines._s4vm import RELAXATION, STIFF, SharedKernelSVM, _iterate, best_bias

rng = np.random.default_rng(0)
N, N_LABELED, N_LABELINGS = 90, 20, 6
X = rng.random((N, 3))
LABELS = np.where(rng.random((N_LABELINGS, N)) < 0.4, 1.0, -1.0)
LABELS[:, :N_LABELED] = LABELS[0, :N_LABELED]


def costs(labeled, unlabeled):
    return np.where(np.arange(N) < N_LABELED, labeled, unlabeled)


def one_by_one(kernel, cost, labels):
    """Objectives and scores of scikit-learn's SVC."""
    objectives, scores = [], []
    for y in labels:
        machine = SVC(kernel="precomputed", tol=1e-6).fit(kernel, y, sample_weight=cost)
        coef = np.zeros(N)
        coef[machine.support_] = machine.dual_coef_[0]
        f = kernel @ coef + machine.intercept_
        objectives.append(coef @ kernel @ coef / 2 + cost @ np.maximum(0, 1 - y * f))
        scores.append(f)
    return np.array(objectives), np.array(scores)


CASES = [(rbf_kernel(X, gamma=2.0), cost) for cost in [(1.0, 1e-5), (1.0, 0.1), (1.0, 10.0), (100.0, 0.1)]]
CASES += [(linear_kernel(X), cost) for cost in [(1.0, 1e-5), (1.0, 0.1), (1.0, 1.0)]]  # libsvm needs minutes for more


@pytest.mark.parametrize("kernel, cost", CASES, ids=lambda v: str(v) if isinstance(v, tuple) else "")
def test_objectives_are_those_of_libsvm(kernel, cost):
    machine = SharedKernelSVM(kernel, costs(*cost))
    expected, _ = one_by_one(kernel, machine.cost, LABELS)
    found = machine.solve(LABELS)
    assert_allclose(machine.objective(found, LABELS), expected, rtol=2e-3)
    exact = machine.solve(LABELS, tol=1e-6, max_iter=20_000)
    assert_allclose(machine.objective(exact, LABELS), expected, rtol=2e-5)


def test_scores_are_those_of_libsvm():
    kernel = rbf_kernel(X, gamma=2.0)
    machine = SharedKernelSVM(kernel, costs(1.0, 0.1))
    _, expected = one_by_one(kernel, machine.cost, LABELS)
    found = machine.solve(LABELS, tol=1e-9, max_iter=50_000)
    assert_allclose(found.scores, expected, atol=1e-3)
    assert_allclose(found.scores, found.coef @ kernel + found.bias[:, None])


def test_a_warm_start_reaches_the_same_objective():
    machine = SharedKernelSVM(rbf_kernel(X, gamma=2.0), costs(1.0, 1.0))
    moved = LABELS.copy()
    moved[:, N_LABELED::9] *= -1
    cold = machine.objective(machine.solve(moved, tol=1e-6, max_iter=20_000), moved)
    warm = machine.objective(machine.solve(moved, machine.solve(LABELS), tol=1e-6, max_iter=20_000), moved)
    assert_allclose(warm, cold, rtol=1e-5)


def test_a_warm_start_saves_steps(monkeypatch):
    machine = SharedKernelSVM(rbf_kernel(X, gamma=2.0), costs(1.0, 0.1))
    first = machine.solve(LABELS)
    calls = []
    iterate = shared_kernel_svm._iterate
    monkeypatch.setattr(shared_kernel_svm, "_iterate", lambda *args: calls.append(1) or iterate(*args))
    moved = LABELS.copy()
    moved[:, -1] *= -1
    machine.solve(moved)
    cold = len(calls)
    machine.solve(moved, first)
    assert len(calls) - cold < cold


def test_labels_of_one_class_give_a_separator_of_that_class():
    machine = SharedKernelSVM(rbf_kernel(X, gamma=2.0), costs(1.0, 0.1))
    for sign in (1.0, -1.0):
        found = machine.solve(np.full((1, N), sign))
        assert (sign * found.scores > 0.99).all()
        assert_allclose(machine.objective(found, found.labels), 0, atol=1e-6)


def test_the_best_bias_is_the_best_on_a_fine_grid():
    scores = rng.normal(size=(8, 15))
    labels = np.where(rng.random((8, 15)) < 0.5, 1.0, -1.0)
    cost = rng.uniform(0.1, 2, size=15)

    def loss(bias):
        return np.maximum(0, 1 - labels * (scores + bias[:, None])) @ cost

    grid = np.min([loss(np.full(8, b)) for b in np.linspace(-5, 5, 4001)], axis=0)
    assert_allclose(loss(best_bias(scores, labels, cost)), grid, atol=1e-2)
    assert (loss(best_bias(scores, labels, cost)) <= grid + 1e-12).all()


def test_the_best_bias_is_the_middle_of_a_gap():
    """Scores −3 and 5 have every bias in [−4, 2] with zero loss."""
    assert_allclose(best_bias(np.array([[-3.0, 5.0]]), np.array([[-1.0, 1.0]]), np.ones(2)), [-1.0])


@pytest.mark.parametrize("bandwidth", [0.3, 10.0])
def test_a_step_by_few_columns_is_the_step_of_the_whole_kernel(bandwidth):
    rows = np.random.default_rng(0).normal(size=(60, 2))
    machine = SharedKernelSVM(rbf_kernel(rows, gamma=0.5 / bandwidth**2), np.repeat([1.0, 10.0], 30))
    target = np.random.default_rng(1).normal(size=(3, 60))
    found = np.empty((3, 60), dtype=np.float32)
    for step, rho in ((machine._soft, machine.rho), (machine._stiff, STIFF * machine.rho)):
        step.apply(target.astype(np.float32), found)
        assert len(step.matrix) == (2 if bandwidth == 10.0 else 1)
        assert_allclose(found, target @ machine._double(rho).matrix[0], atol=1e-4)
        assert_allclose(step.smooth(target.astype(np.float32)), target @ machine.kernel, atol=1e-4)


def test_a_step_is_one_of_over_relaxed_admm():
    """c minimises ½ c'Kc − y'c + ½ Σ ρ (c − b + s)² on sum(c) = 0, b the box's nearest point to the relaxed c + s."""
    rng = np.random.default_rng(3)
    rows, labels = rng.normal(size=(12, 2)), np.sign(rng.normal(size=(1, 12)))
    machine = SharedKernelSVM(rbf_kernel(rows), np.repeat([1.0, 5.0], 6))
    step, box = machine._exact, labels * machine.cost
    coef, price = np.clip(rng.normal(size=(1, 12)), np.minimum(box, 0), np.maximum(box, 0)), np.zeros((1, 12))
    system = np.block([[machine.kernel + np.diag(step.rho), np.ones((12, 1))], [np.ones((1, 12)), 0]])
    b, s = coef[0].copy(), price[0] / step.rho
    for _ in range(3):
        c = np.linalg.solve(system, np.append(labels[0] + step.rho * (b - s), 0))[:-1]
        relaxed = RELAXATION * c + (1 - RELAXATION) * b + s
        b = np.clip(relaxed, np.minimum(box, 0)[0], np.maximum(box, 0)[0])
        s = relaxed - b
    found, found_price = _iterate(step, labels, coef, price, 3)
    assert_allclose(found[0], b, atol=1e-10)
    assert_allclose(found_price[0], step.rho * s, atol=1e-10)


def test_boxes_that_are_not_wide_need_one_factor():
    machine = SharedKernelSVM(np.eye(4), np.full(4, 0.1))
    assert machine._stiff is machine._soft
