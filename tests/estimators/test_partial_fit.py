"""partial_fit: batches add up to what all rows at once give."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import NotFittedError
from tests.problems import COLUMNS, mixture

from pnulearn import PNUClassifier

SETTINGS = {"mix": [0.0, 0.4], "alpha": [0.01, 0.1], "bandwidth": [1.0, 3.0], "random_state": 0}


def batches(n, size):
    return [slice(start, start + size) for start in range(0, n, size)]


def test_the_size_of_the_batches_does_not_matter():
    X, y, truth = mixture(3000)
    models = []
    for size in (500, 1300):
        model = PNUClassifier(**SETTINGS, centers=X[:10])
        for rows in batches(3000, size):
            model.partial_fit(X[rows], y[rows], classes=[0, 1])
        models.append(model)
    assert_allclose(models[0].coef_, models[1].coef_, atol=1e-9)
    assert models[0].prior_ == pytest.approx(models[1].prior_)
    assert models[0].score(X, truth) > 0.85


def test_one_candidate_equals_fit():
    X, y, _ = mixture(2000)
    settings = {"mix": 0.4, "alpha": 0.01, "bandwidth": 2.0, "prior": 0.3, "centers": X[:10]}
    model = PNUClassifier(**settings)
    for rows in batches(2000, 600):
        model.partial_fit(X[rows], y[rows], classes=[0, 1])
    assert_allclose(model.decision_function(X), PNUClassifier(**settings).fit(X, y).decision_function(X), atol=1e-9)


def test_rows_count_from_the_start_even_before_a_model_is_possible():
    X, y, _ = mixture(1500)
    order = np.argsort(~np.isnan(y), kind="stable")  # unlabelled rows first
    X, y = X[order], y[order]
    late = PNUClassifier(**SETTINGS, centers=X[:10])
    late.partial_fit(X[:900], y[:900], classes=[0, 1])
    with pytest.raises(NotFittedError):
        late.predict(X)
    late.partial_fit(X[900:], y[900:])
    at_once = PNUClassifier(**SETTINGS, centers=X[:10]).partial_fit(X, y, classes=[0, 1])
    assert_allclose(late.coef_, at_once.coef_, atol=1e-9)


def test_columns_have_names_and_must_stay_the_same():
    X, y, _ = mixture(600)
    frame = pd.DataFrame(X, columns=COLUMNS)
    model = PNUClassifier(**SETTINGS, centers=9).partial_fit(frame, y, classes=[0, 1])
    assert model.feature_names_in_.tolist() == list(COLUMNS)
    with pytest.raises(ValueError, match="feature names"):
        model.partial_fit(frame.rename(columns={"a": "z"}), y)
    with pytest.raises(ValueError, match=r"\b2 features"):
        PNUClassifier(**SETTINGS, centers=9).partial_fit(X, y, classes=[0, 1]).partial_fit(X[:, :2], y)


def test_classes_are_needed_first_and_stay():
    X, y, _ = mixture(600)
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        PNUClassifier().partial_fit(X, y)
    model = PNUClassifier(**SETTINGS, centers=9).partial_fit(X, y, classes=[0, 1])
    with pytest.raises(ValueError, match="not among the classes"):
        model.partial_fit(X[:3], [0, 1, 2])
    with pytest.raises(ValueError, match="differs"):
        model.partial_fit(X, y, classes=[0, 1, 2])
    with pytest.raises(AttributeError) as error:
        PNUClassifier(loss="logistic").partial_fit(X, y, classes=[0, 1])
    assert "only loss='squared'" in str(error.value.__cause__)


def test_fit_starts_afresh():
    X, y, _ = mixture(600)
    model = PNUClassifier(**SETTINGS, centers=X[:9]).partial_fit(X + 5, y, classes=[0, 1])
    model.fit(X, y)
    model.partial_fit(X, y, classes=[0, 1])
    fresh = PNUClassifier(**SETTINGS, centers=X[:9]).partial_fit(X, y, classes=[0, 1])
    assert_allclose(model.coef_, fresh.coef_)
