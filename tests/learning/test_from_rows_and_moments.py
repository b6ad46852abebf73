"""One pipeline: rows and moments lead to the same thing, and a classifier accepts it whole or not at all."""

import pickle
from dataclasses import fields

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from tests.problems import mixture, splits_of

from pnulearn import PNUClassifier
from pnulearn._estimators.classifier import accept
from pnulearn._kernels.registry import KERNELS
from pnulearn._learning.from_moments import design_from_rows, learn_from_moments
from pnulearn._learning.from_rows import learn_from_rows
from pnulearn._learning.result import OPTIONAL, FitResult
from pnulearn._learning.settings import Settings
from pnulearn._moments import PNUStatistics, RowSample
from pnulearn._problem.labels import decode_labels
from pnulearn._problem.samples import Samples

SMALL = {"mix": [0.0, 0.4], "alpha": [0.01, 0.1], "bandwidth": [1.0, 3.0], "prior": 0.3, "random_state": 0}


def settings_of(**given) -> Settings:
    return Settings.of(PNUClassifier(**given).get_params(deep=False))


def by_both_roads(X, y, n_classes=2, **given) -> tuple[FitResult, FitResult]:
    """Learnt from rows with the folds of the statistics, and from the statistics."""
    settings = settings_of(**given)
    design = design_from_rows(settings, X, y, dtype="float64")
    statistics = PNUStatistics.of(design, X, y, name="x")
    splits = splits_of(design, "x", len(X))
    codes = decode_labels(y).codes
    samples = Samples(X, codes, np.ones(len(X)), n_classes, settings.sampling)
    rows = learn_from_rows(settings_of(**given | {"cv": splits}), samples, design.classes)
    places = np.arange(len(X))
    sample = RowSample(X, codes, places, np.full(len(X), "x"), places)
    return rows, learn_from_moments(settings, statistics, sample)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("sampling", ["by_class", "random"])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_rows_and_moments_lead_to_the_same_model(kernel, sampling, n_classes):
    """One candidate, so that selection, which cannot count errors in moments, has no say."""
    X, y, _ = mixture(900, n_classes=n_classes, labeled=0.2)
    prior = 0.3 if n_classes == 2 else {0: 0.5, 1: 0.3, 2: 0.2}
    given = {"mix": 0.4, "alpha": 0.01, "bandwidth": 2.0, "prior": prior, "random_state": 0, "centers": X[:12]}
    rows, moments = by_both_roads(X, y, n_classes, kernel=kernel, sampling=sampling, **given)
    by_rows, by_moments = (accept(PNUClassifier(kernel=kernel), learnt) for learnt in (rows, moments))
    assert_allclose(by_moments.decision_function(X), by_rows.decision_function(X), atol=1e-9)
    assert_allclose(moments.search.squared, rows.search.squared, atol=1e-10)
    assert_array_equal(moments.classes, rows.classes)
    assert_array_equal(moments.prior, rows.prior)
    for name in ("risk_used", "mix", "alpha", "n_features_in", "n_iter", "converged"):
        assert getattr(moments, name) == getattr(rows, name), name
    assert (rows.calibration is None) == (moments.calibration is None) == (n_classes > 2)
    if n_classes == 2:
        assert_allclose(moments.calibration, rows.calibration, rtol=1e-8)


def test_many_candidates_have_the_same_validation_by_both_roads():
    X, y, _ = mixture(900, labeled=0.2)
    rows, moments = by_both_roads(X, y, centers=X[:12], **SMALL)
    assert_allclose(moments.search.squared, rows.search.squared, atol=1e-9)
    assert np.isnan(moments.search.zero_one).all()
    assert_allclose(moments.search.weight.sum(), 1)


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_fitted_classifier_has_what_was_learnt_and_nothing_else(kernel):
    X, y, _ = mixture(300, labeled=0.3)
    settings = settings_of(kernel=kernel, centers=9, **SMALL)
    codes = decode_labels(y).codes
    learnt = learn_from_rows(settings, Samples(X, codes, np.ones(len(X))), np.array([0.0, 1.0]))
    model = PNUClassifier(kernel=kernel, centers=9, **SMALL).fit(X, y)
    found = {name for name in vars(model) if name.endswith("_")}
    assert found == set(learnt.attributes())
    known = {f"{field.name}_" for field in fields(FitResult) if field.name != "function"} | set(learnt.function)
    assert known - found <= {f"{name}_" for name in OPTIONAL}
    assert_array_equal(model.coef_, learnt.function["coef_"])


def test_nothing_of_an_earlier_fit_stays():
    X, y, _ = mixture(300, labeled=0.3)
    model = PNUClassifier(centers=9, **SMALL).fit(X, y)
    model.set_params(kernel="linear").fit(X, y)
    assert not hasattr(model, "centers_")
    model.set_params(kernel="rbf").partial_fit(X, y, classes=[0, 1])
    assert not hasattr(model, "validation_scores_")


REFUSED = {
    "neither a number nor a method": ({"prior": "nonsense"}, lambda X, y: {"X": X, "y": _words(y)}),
    "is not a class of y": ({"prior": {0: 0.4, 5: 0.6}}, lambda X, y: {"X": X[:, :2], "y": y}),
    "1 features": ({}, lambda X, y: {"X": X, "y": _words(y), "X_val": X[:, :1], "y_val": _words(y)}),
    "centers must have shape": ({"centers": np.zeros((3, 99))}, lambda X, y: {"X": X, "y": _words(y)}),
}


def _words(y):
    return [None if np.isnan(label) else ("no", "yes")[int(label)] for label in y]


@pytest.mark.parametrize("reason", REFUSED)
def test_a_refused_refit_leaves_the_model_as_it_was(reason):
    X, y, _ = mixture(300, labeled=0.3)
    model = PNUClassifier(centers=9, **SMALL).partial_fit(X, y, classes=[0, 1])
    kept, before, answers = model.get_params(deep=False), pickle.dumps(model), model.predict(X)
    parameters, rows = REFUSED[reason]
    with pytest.raises(ValueError, match=reason):
        model.set_params(**parameters).fit(**rows(X, y))
    assert_array_equal(model.predict(X), answers)
    assert pickle.dumps(model.set_params(**kept)) == before


def test_a_batch_too_small_to_learn_from_leaves_an_earlier_model_in_charge():
    X, y, _ = mixture(300, labeled=0.3)
    model = PNUClassifier(centers=9, **SMALL).fit(X, y)
    answers = model.predict(X)
    unlabeled = np.flatnonzero(np.isnan(y))
    model.partial_fit(X[unlabeled][:, :2], y[unlabeled])
    assert_array_equal(model.predict(X), answers)
    with pytest.raises(ValueError, match=r"\b3 features"):
        model.partial_fit(X, y)
    model.partial_fit(X[:, :2], y)
    assert model.n_features_in_ == 2


def test_settings_travel_and_know_their_seed():
    settings = settings_of(**SMALL, loss="logistic")
    again = pickle.loads(pickle.dumps(settings))
    assert again.loss.name == "logistic"
    assert_array_equal(again.alphas, SMALL["alpha"])
    assert again.seed == settings.seed == settings_of(**SMALL).seed != settings_of(**SMALL | {"random_state": 1}).seed
    assert Settings.of(PNUClassifier().get_params(deep=False), seed=7).seed == 7


def test_rows_are_split_once():
    samples = Samples(np.zeros((5, 1)), np.array([1, 0, -1, 1, -1]), np.ones(5))
    assert [part.tolist() for part in samples.split()] == [[0, 3], [1], [2, 4]]
    assert samples.unlabeled.tolist() == [2, 4]
    everybody = Samples(samples.X, samples.codes, samples.weight, sampling="random")
    assert everybody.split()[2].tolist() == [0, 1, 2, 3, 4]
