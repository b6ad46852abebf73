"""A scorer for scikit-learn's searches, with y that has missing labels."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.model_selection import GridSearchCV, HalvingGridSearchCV, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from pnulearn import LabeledOnly, PNUClassifier, PNUStratifiedKFold
from pnulearn.metrics import make_pnu_scorer, pnu_risk
from pnulearn.metrics._scorer import signed_scores, two_classes

PRIOR = 0.4


class PredictOnly(ClassifierMixin, BaseEstimator):
    """A classifier without decision_function and predict_proba."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return self.classes_[(X[:, 0] > 0.5).astype(int)]


CLASSIFIERS = [
    SVC(),
    LogisticRegression(),
    GaussianNB(),
    Perceptron(),
    PredictOnly(),
    DecisionTreeClassifier(random_state=0),
    make_pipeline(StandardScaler(), SVC()),
]


@pytest.fixture
def problem(gaussians):
    return gaussians(25, 25, 150, prior=PRIOR)


@pytest.mark.parametrize("classifier", CLASSIFIERS, ids=lambda c: type(c).__name__)
def test_any_classifier_is_scored_on_labels_it_was_fitted_with(classifier, problem):
    X, y = problem
    known = ~np.isnan(y)
    classifier.fit(X[known], y[known])
    score = make_pnu_scorer(PRIOR)(classifier, X, y)
    signs = np.where(classifier.predict(X) == 1, 1.0, -1.0)
    assert_allclose(score, -pnu_risk(y, signs, prior=PRIOR, mix="heuristic").value)


def test_grid_search_over_a_supervised_classifier_runs_on_y_with_missing_labels(problem):
    X, y = problem
    search = GridSearchCV(
        SVC(),
        {"gamma": [1e3, 0.3]},
        cv=PNUStratifiedKFold(5, random_state=0),
        scoring=make_pnu_scorer(prior=PRIOR),
        refit=False,
    )
    search.fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_params_ == {"gamma": 0.3}
    assert -0.4 < search.best_score_ < 0


def test_halving_search_runs_on_y_with_missing_labels(problem):
    X, y = problem
    search = HalvingGridSearchCV(
        SVC(),
        {"C": [1e-3, 0.1, 1]},
        cv=PNUStratifiedKFold(3, random_state=0),
        scoring=make_pnu_scorer(prior=PRIOR),
        min_resources=100,
        random_state=0,
        refit=False,
    )
    search.fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.n_iterations_ == 1


def test_halving_with_its_default_resource_runs_where_a_value_marks_unlabelled_rows(problem):
    """scikit-learn itself refuses a missing y there before any splitter or scorer is asked."""
    X, y = problem
    marked = np.where(np.isnan(y), -1, y)
    search = HalvingGridSearchCV(
        LabeledOnly(SVC(), unlabeled=-1),
        {"classifier__C": [1e-3, 0.1, 1]},
        cv=PNUStratifiedKFold(3, unlabeled=-1, random_state=0),
        scoring=make_pnu_scorer(prior=PRIOR, unlabeled=-1),
        random_state=0,
        error_score="raise",
    )
    assert search.fit(X, marked).best_params_ != {"classifier__C": 1e-3}
    assert search.n_iterations_ > 1


def test_our_classifier_sees_the_unlabeled_rows_if_the_splitter_says_so(problem):
    X, y = problem
    scores = cross_val_score(
        PNUClassifier(prior=PRIOR, random_state=0),
        X,
        y,
        cv=PNUStratifiedKFold(3, train_on_unlabeled=True, random_state=0),
        scoring=make_pnu_scorer(prior=PRIOR),
        error_score="raise",
    )
    assert -0.35 < scores.mean() < 0


def test_the_score_is_an_unbiased_estimate_over_folds(problem):
    """With equal folds and one mix, the mean over folds is the risk of all held-out scores together."""
    X, y = problem
    cv = PNUStratifiedKFold(5, random_state=0)
    scores = cross_val_score(LogisticRegression(), X, y, cv=cv, scoring=make_pnu_scorer(prior=PRIOR))
    held_out = np.empty(len(y))
    for train, test in cv.split(X, y):
        held_out[test] = LogisticRegression().fit(X[train], y[train]).decision_function(X[test])
    assert_allclose(scores.mean(), -pnu_risk(y, held_out, prior=PRIOR, mix="heuristic").value)


def test_the_positive_class_is_the_one_named():
    X = np.arange(6.0)[:, None]
    y = np.array(["ham", "ham", "ham", "spam", "spam", "spam"])
    model = LogisticRegression().fit(X, y)
    for pos_label in ("ham", "spam"):
        negative, positive = two_classes(model, pos_label=pos_label)
        assert positive == pos_label
        g = signed_scores(model, X, negative, positive)
        assert_allclose(g > 0, y == pos_label)
        assert make_pnu_scorer(0.2, pos_label=pos_label)(model, X, y) == 0


def test_a_marker_that_was_learnt_as_a_class_is_left_out_of_the_comparison():
    rng = np.random.default_rng(0)
    y = np.repeat([1, 0, -1], 30)
    X = rng.normal(size=(90, 2)) + 3 * (y == 1)[:, None]
    for model in (SVC(), GaussianNB()):
        model.fit(X, y)
        assert len(model.classes_) == 3
        assert make_pnu_scorer(0.5, unlabeled=-1, mix=0)(model, X, y) > -0.1


def test_a_classifier_of_one_class_still_has_a_side():
    X, y = np.zeros((4, 1)), np.array([0, 0, 0, 0])
    model = DummyClassifier().fit(X, y)
    assert_allclose(make_pnu_scorer(0.3, mix=0)(model, X, [1, 0, None, 0]), -0.3)


def test_the_scorer_survives_pickling():
    scorer = make_pnu_scorer(0.3, loss="squared", unlabeled="?")
    assert pickle.loads(pickle.dumps(scorer)) == scorer


def test_probabilities_of_two_classes_give_the_brier_score():
    """(1 − m)² / 4 with m = 2p − 1 is (1 − p)²."""
    X = np.random.default_rng(0).normal(size=(40, 2))
    y = (X[:, 0] > 0).astype(int)
    model = GaussianNB().fit(X, y)
    p = model.predict_proba(X)[:, 1]
    brier = 0.3 * np.mean((1 - p[y == 1]) ** 2) + 0.7 * np.mean(p[y == 0] ** 2)
    assert_allclose(make_pnu_scorer(0.3, mix=0, loss="squared")(model, X, y), -brier)


@pytest.mark.parametrize(
    "arguments, message",
    [({"prior": 30}, "Did you mean 0.3"), ({"prior": 0}, "strictly between"), ({"prior": "0.3"}, "got '0.3'")],
)
def test_bad_priors_are_named(arguments, message):
    with pytest.raises((ValueError, TypeError), match=message):
        make_pnu_scorer(**arguments)


def test_unfitted_or_many_class_models_are_refused():
    with pytest.raises(TypeError, match="no classes_"):
        make_pnu_scorer(0.3)(SVC(), np.zeros((2, 1)), [0, 1])
    model = GaussianNB().fit(np.arange(6.0)[:, None], [0, 0, 1, 1, 2, 2])
    with pytest.raises(ValueError, match="the classifier has 3"):
        make_pnu_scorer(0.3)(model, np.zeros((2, 1)), [0, 1])
