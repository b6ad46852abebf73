"""Tables with few distinct rows: one verdict, a few categories."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LogisticRegression

from pnulearn import PNUClassifier, PriorAdjusted
from pnulearn._problem.row_keys import fold_keys


def draw(seed, n=1000, labels=100):
    """A verdict with sensitivity .9 and specificity .8; 70 % of the rows are positive."""
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < 0.7
    verdict = np.where(truth, rng.random(n) < 0.9, rng.random(n) >= 0.8)
    y = np.full(n, np.nan)
    chosen = rng.choice(n, labels, replace=False)
    y[chosen] = truth[chosen]
    return verdict[:, None].astype(float), y, chosen, truth


@pytest.mark.parametrize("cv", ["auto", 5])
@pytest.mark.parametrize("seed", [0, 1])
def test_one_binary_column_is_as_good_as_logistic_regression(seed, cv):
    X, y, chosen, truth = draw(seed)
    other = LogisticRegression().fit(X[chosen], truth[chosen])
    model = PNUClassifier(cv=cv).fit(X, y)
    assert np.mean(model.predict(X) != truth) <= np.mean(other.predict(X) != truth)


def test_the_stated_risk_of_one_binary_column_holds():
    """Of 20 intervals that cover 95 %, fewer than 17 hold with a probability of 2 %."""
    held = []
    for seed in range(20):
        X, y, _, truth = draw(seed)
        model = PNUClassifier(cv=5).fit(X, y)
        held.append(model.risk_.low <= np.mean(model.predict(X) != truth) <= model.risk_.high)
    assert sum(held) >= 17


def test_the_risk_of_any_classifier_is_validated_within_its_values():
    X, y, _, truth = draw(2)
    model = PriorAdjusted(LogisticRegression(), prior=0.7).fit(X, y)
    assert model.risk_.low <= np.mean(model.predict(X) != truth) <= model.risk_.high


def test_the_order_of_rows_has_no_influence():
    X, y, _, _ = draw(3, 300, 60)
    order = np.random.default_rng(0).permutation(300)
    weight = np.random.default_rng(1).choice([1.0, 2.0], 300)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        one = PNUClassifier(random_state=0).fit(X, y, sample_weight=weight)
        other = PNUClassifier(random_state=0).fit(X[order], y[order], sample_weight=weight[order])
    assert_allclose(one.decision_function([[0], [1]]), other.decision_function([[0], [1]]), rtol=1e-9)
    assert_allclose([one.risk_.low, one.risk_.high], [other.risk_.low, other.risk_.high], rtol=1e-9)


def test_keys_are_kept_with_many_distinct_rows_with_one_and_with_few_labels():
    keys = np.repeat(np.arange(21), 10)
    codes, ones = np.tile([0, 1], 105), np.ones(210)
    assert fold_keys(keys, codes, ones) is keys
    assert fold_keys(np.zeros(210, dtype=int), codes, ones).max() == 0
    few = np.where(np.arange(210) < 50, codes, -1)
    assert fold_keys(keys % 11, few, ones).max() == 10
    assert len(np.unique(fold_keys(keys % 10, few, ones))) == 210
