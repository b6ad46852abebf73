"""Effects are partial dependence, over values that occur."""

import numpy as np
import pandas as pd
import pytest
from sklearn.inspection import PartialDependenceDisplay, partial_dependence
from sklearn.linear_model import RidgeClassifier

from pnulearn import PNUClassifier
from pnulearn.inspection import column_effect


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    positive = rng.random(200) < 0.4
    X = rng.normal(size=(200, 2)) + 2 * positive[:, None] * [1, 0]
    y = np.where(np.arange(200) < 50, positive.astype(float), np.nan)
    return X, y, PNUClassifier(prior=0.4, cv=3, random_state=0).fit(X, y)


def test_an_effect_is_scikit_learns_partial_dependence(problem):
    X, _, model = problem
    effect = column_effect(model, X, 0, n_points=6)
    expected = partial_dependence(model, X, [0], custom_values={0: np.array(effect.values)}, kind="average")
    np.testing.assert_allclose(effect.average, expected["average"])
    assert effect.is_ordered
    assert effect.span > 0.5
    assert column_effect(model, X, 1).span < effect.span


def test_values_lie_within_the_column_and_not_in_its_tails(problem):
    X, _, model = problem
    values = column_effect(model, X, 0, n_points=5).values
    assert values == sorted(values)
    assert set(values) <= set(X[:, 0].tolist())
    assert np.quantile(X[:, 0], 0.01) < values[0]
    assert values[-1] < np.quantile(X[:, 0], 0.99)


def test_categories_come_most_frequent_first_and_classes_each_have_a_curve():
    frame = pd.DataFrame({"city": ["Rom"] * 30 + ["Bern"] * 60 + ["Graz"] * 10 + [None] * 5, "size": range(105)})
    frame["code"] = frame["city"].fillna("?").astype("category").cat.codes

    class Coded:
        classes_ = np.array(["a", "b", "c"])

        def predict_proba(self, X):
            return np.column_stack([X["city"] == "Rom", X["city"] == "Bern", X["city"] == "Graz"]).astype(float)

    effect = column_effect(Coded(), frame, "city")
    assert effect.values == ["Bern", "Rom", "Graz"]
    assert not effect.is_ordered
    np.testing.assert_array_equal(effect.average, [[0, 1, 0], [1, 0, 0], [0, 0, 1]])
    assert effect.classes == ["a", "b", "c"]


def test_a_random_choice_of_rows_is_repeatable(problem):
    X, _, model = problem
    one, two = (column_effect(model, X, 0, n_rows=20, random_state=1).average for _ in range(2))
    np.testing.assert_array_equal(one, two)
    assert not np.array_equal(one, column_effect(model, X, 0).average)


def test_a_model_without_probabilities_is_refused(problem):
    X, y, _ = problem
    with pytest.raises(TypeError, match="RidgeClassifier has no predict_proba"):
        column_effect(RidgeClassifier().fit(X[:50], y[:50]), X, 0)


def test_scikit_learns_own_inspection_takes_the_classifier(problem):
    pytest.importorskip("matplotlib")
    from matplotlib.figure import Figure

    X, _, model = problem
    display = PartialDependenceDisplay.from_estimator(model, X, [0, 1], grid_resolution=5, ax=Figure().subplots())
    assert display.axes_.shape == (1, 2)
