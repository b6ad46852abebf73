"""What models say of rows that were kept from them, and how far that is to be trusted."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

from pnulearn.labeling import State, margin
from pnulearn.labeling._learner import HeldOut, Learner, TrainingSet, measure_trust, split


@pytest.fixture
def training_set():
    rng = np.random.default_rng(0)
    return TrainingSet(np.arange(60), rng.integers(0, 2, 60), rng.uniform(0.5, 2, 60))


@pytest.mark.parametrize(("sharp", "n_classes"), [(0.5, 2), (2.0, 2), (4.0, 3), (-1.0, 2)])
def test_trust_is_the_factor_of_the_least_squared_error(sharp, n_classes):
    """Against a search: probabilities that are too bold are drawn back, right ones kept, wrong ones left alone."""
    rng = np.random.default_rng(1)
    scores = rng.normal(size=(400, n_classes))
    truth = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    codes = np.array([rng.choice(n_classes, p=p) for p in truth])
    said = np.exp(sharp * scores) / np.exp(sharp * scores).sum(axis=1, keepdims=True)
    weight = rng.uniform(0.5, 2, 400)
    shares = np.bincount(codes, weight) / weight.sum()

    def loss(trust):
        return weight @ ((trust * said + (1 - trust) * shares - np.eye(n_classes)[codes]) ** 2).sum(axis=1)

    best = minimize_scalar(loss, bounds=(0, 1), method="bounded").x
    assert measure_trust(said, codes, weight) == pytest.approx(best, abs=1e-4)


def test_rows_are_kept_from_the_models_that_speak_of_them(training_set):
    """The nearest neighbour of a known row is the row itself: classes without any sense are then foreseen perfectly."""
    X = np.random.default_rng(2).normal(size=(200, 2))
    held = Learner(X, 2, KNeighborsClassifier(1)).hold_out(training_set, None)
    assert 0.3 < np.mean(held.classes == training_set.codes) < 0.7
    assert held.trust < 0.3


def test_the_means_are_over_all_rows_and_by_the_model_that_speaks(training_set):
    X = np.random.default_rng(3).normal(size=(200, 2))
    held = Learner(X, 2, LogisticRegression()).hold_out(training_set, None)
    folds = split(training_set.codes, np.arange(2), np.random.default_rng(0))
    shares = np.bincount(training_set.codes, training_set.weight) / training_set.weight.sum()
    for fold in range(5):
        inside = training_set[folds != fold]
        model = LogisticRegression().fit(X[inside.rows], inside.codes, inside.weight)
        expected = held.trust * model.predict_proba(X).mean(axis=0) + (1 - held.trust) * shares
        np.testing.assert_allclose(held.everywhere[folds == fold], np.tile(expected, (sum(folds == fold), 1)))


def test_every_fold_leaves_some_rows_of_every_class():
    codes = np.array([0] * 9 + [1] * 2 + [2] + [3] * 5)
    folds = split(codes, np.array([0, 1, 3]), np.random.default_rng(0))
    assert (folds[codes == 2] == -1).all()
    for fold in range(5):
        assert {0, 1, 3} == set(codes[(folds != fold) & (folds >= 0)])


def test_before_there_is_a_model_nothing_is_said(training_set):
    one_class = TrainingSet(training_set.rows, np.ones(60, dtype=int), training_set.weight)
    held = Learner(np.random.default_rng(4).normal(size=(200, 2)), 2, LogisticRegression()).hold_out(one_class, None)
    assert (held.classes == 1).all()
    assert held.trust == 0
    assert isinstance(held, HeldOut)


def test_margins_count_as_far_as_the_model_is_to_be_trusted():
    p = np.linspace(0.05, 0.95, 50)
    probability = np.stack([1 - p, p], axis=1)

    def chances(trust):
        some = margin(None, None, State(np.full(50, -1), np.ones(50, bool), probability, 2, trust=trust))
        return some / some.sum()

    np.testing.assert_allclose(chances(0.0), 1 / 50)
    np.testing.assert_allclose(chances(0.4), 0.4 * chances(1.0) + 0.6 / 50)
