"""Any classifier on y with missing labels, in scikit-learn's searches and outside."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.model_selection import GridSearchCV, HalvingGridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import check_estimator

from pnulearn import LabeledOnly, PNUStratifiedKFold, make_pnu_scorer

PRIOR = 0.4


@pytest.fixture
def problem(gaussians):
    return gaussians(25, 25, 150, prior=PRIOR)


@pytest.fixture
def known(problem):
    return ~np.isnan(problem[1])


def test_scikit_learn_finds_nothing_to_complain_about():
    results = check_estimator(LabeledOnly(LogisticRegression()), on_fail=None, on_skip=None)
    assert [r["check_name"] for r in results if r["status"] not in ("passed", "skipped")] == []


@pytest.mark.parametrize("train_on_unlabeled", [False, True])
def test_a_search_refits_its_winner_on_the_labelled_rows(problem, known, train_on_unlabeled):
    X, y = problem
    search = GridSearchCV(
        LabeledOnly(SVC()),
        {"classifier__gamma": [1e3, 0.3]},
        cv=PNUStratifiedKFold(5, random_state=0, train_on_unlabeled=train_on_unlabeled),
        scoring=make_pnu_scorer(prior=PRIOR),
        error_score="raise",
    ).fit(X, y)
    assert search.best_params_ == {"classifier__gamma": 0.3}
    expected = SVC(gamma=0.3).fit(X[known], y[known])
    assert_allclose(search.decision_function(X), expected.decision_function(X))
    assert_allclose(search.score(X, y), make_pnu_scorer(prior=PRIOR)(expected, X, y))


def test_without_it_the_refit_meets_the_missing_labels(problem):
    """What the guide says about `GridSearchCV(SVC(), ...)`: scores are fine, the refit is not."""
    X, y = problem
    search = GridSearchCV(
        SVC(), {"C": [0.1, 1]}, cv=PNUStratifiedKFold(5, random_state=0), scoring=make_pnu_scorer(prior=PRIOR)
    )
    with pytest.raises(ValueError, match="contains NaN"):
        search.fit(X, y)
    wrapped = GridSearchCV(LabeledOnly(SVC()), {"classifier__C": [0.1, 1]}, cv=search.cv, scoring=search.scoring)
    plain = clone(search).set_params(refit=False).fit(X, y)
    scores = [found.cv_results_["mean_test_score"] for found in (plain, wrapped.fit(X, y))]
    assert_allclose(*scores)


def test_halving_search_refits_too(problem, known):
    X, y = problem
    search = HalvingGridSearchCV(
        LabeledOnly(SVC()),
        {"classifier__C": [1e-3, 0.1, 1, 10]},
        cv=PNUStratifiedKFold(3, random_state=0),
        scoring=make_pnu_scorer(prior=PRIOR),
        min_resources=90,
        factor=2,
        random_state=0,
        error_score="raise",
    ).fit(X, y)
    assert search.n_iterations_ == 2
    best = search.best_estimator_.classifier_
    assert_allclose(best.decision_function(X), SVC(C=best.C).fit(X[known], y[known]).decision_function(X))


def test_cross_validation_is_that_of_the_classifier_itself(problem):
    X, y = problem
    cv, scoring = PNUStratifiedKFold(5, random_state=0), make_pnu_scorer(prior=PRIOR)
    scores = [cross_val_score(model, X, y, cv=cv, scoring=scoring) for model in (SVC(), LabeledOnly(SVC()))]
    assert_array_equal(*scores)


@pytest.mark.parametrize("shape", ["frame", "csr", "coo", "list"])
def test_every_shape_of_table_is_cut(problem, known, shape):
    X, y = problem
    table = {
        "frame": lambda: pd.DataFrame(X, columns=[f"x{k}" for k in range(X.shape[1])]),
        "csr": lambda: sparse.csr_matrix(X),
        "coo": lambda: sparse.coo_array(X),
        "list": X.tolist,
    }[shape]()
    model = LabeledOnly(make_pipeline(StandardScaler(with_mean=False), SVC())).fit(table, pd.Series(y))
    expected = make_pipeline(StandardScaler(with_mean=False), SVC()).fit(X[known], y[known])
    assert_allclose(model.decision_function(table), expected.decision_function(X))
    assert model.n_features_in_ == X.shape[1]
    assert hasattr(model, "feature_names_in_") == (shape == "frame")


def test_names_and_markers_are_those_of_y(problem):
    X, y = problem
    words = np.where(np.isnan(y), "?", np.where(y == 1, "spam", "ham"))
    model = LabeledOnly(SVC(), unlabeled="?").fit(X, words)
    assert model.classes_.tolist() == ["ham", "spam"]
    assert set(model.predict(X)) == {"ham", "spam"}
    assert model.score(X, words) == SVC().fit(X[words != "?"], words[words != "?"]).score(
        X[words != "?"], words[words != "?"]
    )


@pytest.mark.parametrize("routing", [False, True])
def test_weights_are_cut_to_the_labelled_rows(problem, known, routing):
    X, y = problem
    weight = np.random.default_rng(0).uniform(0.1, 5, len(y))
    expected = LogisticRegression().fit(X[known], y[known], sample_weight=weight[known])
    with sklearn.config_context(enable_metadata_routing=routing):
        inner = LogisticRegression().set_fit_request(sample_weight=True) if routing else LogisticRegression()
        model = LabeledOnly(inner).fit(X, y, sample_weight=weight)
    assert_allclose(model.predict_proba(X), expected.predict_proba(X))
    assert_allclose(
        model.score(X, y, sample_weight=weight), expected.score(X[known], y[known], sample_weight=weight[known])
    )


def test_methods_are_those_of_the_classifier():
    assert not hasattr(LabeledOnly(Perceptron()), "predict_proba")
    assert hasattr(LabeledOnly(Perceptron()), "decision_function")
    assert clone(LabeledOnly(SVC(C=3), unlabeled=-1)).get_params()["classifier__C"] == 3


def test_no_label_at_all_is_named():
    with pytest.raises(ValueError, match="no labelled row"):
        LabeledOnly(SVC()).fit(np.zeros((3, 1)), [None] * 3)


def test_a_pipeline_may_take_rows_that_are_no_table():
    tokens = [["red", "round"], ["blue"], ["red"], ["blue", "flat", "thin"], ["round"]]
    model = make_pipeline(CountVectorizer(analyzer=list), LogisticRegression())
    fitted = LabeledOnly(model).fit(tokens, [1, 0, 1, 0, None])
    assert fitted.predict([["red"], ["blue"]]).tolist() == [1, 0]
