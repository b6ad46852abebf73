"""Harmonic functions: against scikit-learn's label propagation, a plain linear system, and cases with known answers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist
from sklearn.semi_supervised import LabelPropagation

from pnulearn.baselines import HarmonicClassifier

rng = np.random.default_rng(3)
N_LABELED, N = 12, 80
TRUTH = np.arange(N) % 3
X = rng.normal(size=(N, 2)) + 3 * np.column_stack([TRUTH == 1, TRUTH == 2])
SHARES = {0: 0.5, 1: 0.3, 2: 0.2}
NEW = rng.normal(size=(20, 2)) * 2


def labels(n_classes):
    truth = TRUTH % n_classes
    return np.where(np.arange(N) < N_LABELED, truth, -1)


def fitted(n_classes=3, **options):
    prior = SHARES if n_classes == 3 else 0.3
    settings = {"bandwidth": 0.8, "leak": 1e-9, "prior": prior, "unlabeled": -1}
    return HarmonicClassifier(**settings | options).fit(X, labels(n_classes))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_without_a_leak_it_is_scikit_learns_label_propagation(n_classes):
    theirs = LabelPropagation(gamma=1 / (2 * 0.8**2), max_iter=100_000, tol=1e-12).fit(X, labels(n_classes))
    ours = fitted(n_classes)
    assert_allclose(ours.values_, theirs.label_distributions_, atol=1e-6)
    ours.scale_ = np.ones(n_classes)  # scikit-learn does not correct class masses
    assert_allclose(ours.predict_proba(NEW), theirs.predict_proba(NEW), atol=1e-6)


@pytest.mark.parametrize("leak", [1e-5, 0.1, 10.0])
def test_values_solve_the_linear_system(leak):
    model = fitted(leak=leak)
    weight = np.exp(-cdist(X, X, "sqeuclidean") / (2 * 0.8**2))
    np.fill_diagonal(weight, 0)
    degree, shares = weight.sum(axis=1)[:, None], np.array([0.5, 0.3, 0.2])
    left = (1 + leak) * degree * model.values_ - weight @ model.values_
    assert_allclose(left[N_LABELED:], (leak * degree * shares)[N_LABELED:], atol=1e-9)
    assert_allclose(model.values_[:N_LABELED], np.eye(3)[labels(3)[:N_LABELED]])


def test_class_masses_become_the_population_shares():
    model = fitted()
    assert_allclose((model.values_ * model.scale_)[N_LABELED:].mean(axis=0), [0.5, 0.3, 0.2])


def test_a_great_leak_leaves_the_class_shares():
    assert_allclose(fitted(leak=1e12).values_[N_LABELED:], np.tile([0.5, 0.3, 0.2], (N - N_LABELED, 1)), atol=1e-9)


def test_a_row_far_from_all_others_gets_the_class_shares():
    assert_allclose(fitted(leak=1.0).predict_proba([[1e6, 0.0]])[0], [0.5, 0.3, 0.2], atol=0.05)


def test_rows_that_no_label_reaches_get_the_class_shares():
    far = np.vstack([X, [[-1e3, 0.0], [1e3, 1e3], [1e3, 1e3 + 0.1]]])  # one alone, and a pair
    y = np.append(labels(2), [-1, -1, -1])
    model = HarmonicClassifier(bandwidth=0.8, leak=1e-5, prior=0.3, unlabeled=-1).fit(far, y)
    assert_allclose(model.values_[-3:], [[0.7, 0.3]] * 3, atol=1e-6)


def test_labels_alone_vote_by_the_kernel():
    with pytest.warns(UserWarning, match="kernel-weighted vote"):
        model = HarmonicClassifier(bandwidth=0.8, leak=0.1, prior={0: 1 / 3, 1: 1 / 3, 2: 1 / 3}).fit(X, TRUTH)
    weight = np.exp(-cdist(NEW, X, "sqeuclidean") / (2 * 0.8**2))
    votes = np.column_stack([weight[:, k == TRUTH].sum(axis=1) / np.mean(k == TRUTH) for k in range(3)])
    assert_allclose(model.predict_proba(NEW), votes / votes.sum(axis=1, keepdims=True), atol=1e-6)
