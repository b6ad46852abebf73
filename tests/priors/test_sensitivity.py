"""Decisions between the ends of a prior's interval."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

from pnulearn import PNUClassifier
from pnulearn.priors import PriorEstimate, estimate_prior, prior_sensitivity


class Cut(ClassifierMixin, BaseEstimator):
    """Calls the largest `prior` of the values in [0, 1] positive."""

    def __init__(self, prior=None):
        self.prior = prior

    def fit(self, X, y):
        self.classes_ = np.array([0, 1])
        return self

    def predict(self, X):
        return (X[:, 0] >= 1 - self.prior).astype(int)


def test_decisions_that_differ_between_the_ends_are_counted():
    X = np.linspace(0.05, 0.95, 10)[:, None]
    found = prior_sensitivity(Cut(), X, None, PriorEstimate.of_range(0.2, 0.4))
    assert found.changed.tolist() == [False] * 6 + [True] * 2 + [False] * 2
    assert found.decisions.sum(axis=1).tolist() == [2, 3, 4]
    assert str(found) == "Between prior 0.200 and 0.400, 2 of 10 decisions change (20.0%)."


def test_our_own_classifier_is_refitted_at_both_ends():
    rng = np.random.default_rng(0)
    truth = rng.random(120) < 0.3
    X = rng.normal(size=(120, 2)) + 1.5 * truth[:, None]
    y = np.where(np.arange(120) < 40, truth, np.nan)
    estimate = estimate_prior(X, y, random_state=0)
    model = PNUClassifier(random_state=0, bandwidth=1.0, mix=0.0)
    found = prior_sensitivity(model, X, y, estimate)
    assert 0 < found.share < 0.5
    assert (found.decisions[0] <= found.decisions[2]).mean() > 0.95  # a larger prior makes more rows positive


def test_an_estimate_without_interval_has_no_ends():
    with pytest.raises(ValueError, match="n_bootstrap above 0"):
        prior_sensitivity(Cut(), np.zeros((2, 1)), None, PriorEstimate(0.3, "energy", 0.3))
