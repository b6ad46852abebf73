"""Our classifiers, splitters and scorer inside scikit-learn's tools."""

from pathlib import Path

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.feature_selection import RFE, SelectFromModel, SequentialFeatureSelector
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    KFold,
    TunedThresholdClassifierCV,
    cross_val_predict,
    cross_val_score,
    learning_curve,
    permutation_test_score,
    train_test_split,
    validation_curve,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import SelfTrainingClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import check_estimator

from pnulearn import (
    LabeledOnly,
    PNUClassifier,
    PNUStratifiedGroupKFold,
    PNUStratifiedKFold,
    PriorAdjusted,
    make_pnu_scorer,
)

rng = np.random.default_rng(0)
TRUTH = (rng.random(200) < 0.4).astype(int)
X = rng.normal(size=(200, 2)) + 2 * TRUTH[:, None]
Y = np.where(np.arange(200) < 80, TRUTH, np.nan)
WEIGHT = 1.0 + np.arange(200) % 3
PNU = PNUClassifier(kernel="linear", prior=0.4, mix=0.0, alpha=0.1, cv=3)
Y_AS = {
    "NaN": (Y, None),
    "None": (np.array([None if np.isnan(v) else int(v) for v in Y], dtype=object), None),
    "marker": (np.where(np.isnan(Y), -1, Y).astype(int), -1),
}


@pytest.mark.parametrize("inner", [DecisionTreeClassifier(), KNeighborsClassifier()], ids=lambda m: type(m).__name__)
def test_any_classifier_under_the_prior_passes_scikit_learns_checks(inner):
    """results/check_estimator.md has all estimators on the lowest and the newest scikit-learn."""
    results = check_estimator(PriorAdjusted(inner), on_fail=None, on_skip=None)
    assert [r["check_name"] for r in results if r["status"] not in ("passed", "skipped")] == []


@pytest.mark.parametrize("inner", [RandomForestClassifier(10), GaussianNB(), SVC()], ids=lambda m: type(m).__name__)
def test_a_row_of_weight_two_is_the_row_twice_for_any_classifier(inner):
    twice = np.repeat(np.arange(200), WEIGHT.astype(int))
    shuffled = rng.permutation(twice)
    weighted = PriorAdjusted(inner, 0.4, random_state=0).fit(X, Y, sample_weight=WEIGHT)
    repeated = PriorAdjusted(inner, 0.4, random_state=0).fit(X[shuffled], Y[shuffled])
    assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-9)


def test_weights_that_are_no_counts_reach_the_classifier():
    """Three quarters of every weight are the same as the weights, for a classifier that reads them."""
    tree, halves = DecisionTreeClassifier(max_depth=2, random_state=0), WEIGHT * 0.75
    by_hand = tree.fit(X[:80], TRUTH[:80], sample_weight=halves[:80])
    model = PriorAdjusted(tree, 0.4, random_state=0).fit(X, Y, sample_weight=halves)
    assert_array_equal(model.estimator_.predict_proba(X), by_hand.predict_proba(X))
    heavy = PriorAdjusted(tree, 0.4, random_state=0).fit(X, Y, sample_weight=WEIGHT * 1000)
    assert heavy.estimator_.tree_.n_node_samples[0] == 80
    with pytest.raises(TypeError, match="sample_weight"):
        PriorAdjusted(KNeighborsClassifier(), 0.4).fit(X, Y, sample_weight=halves)


def test_random_state_reaches_the_wrapped_model_unless_it_has_its_own():
    forest = RandomForestClassifier(10)
    first, again = (PriorAdjusted(forest, 0.4, random_state=3).fit(X, Y).decision_function(X) for _ in range(2))
    assert_array_equal(first, again)
    assert np.abs(first - PriorAdjusted(forest, 0.4, random_state=4).fit(X, Y).decision_function(X)).max() > 0.01
    assert forest.random_state is None
    pipeline = make_pipeline(StandardScaler(), RandomForestClassifier(10))
    assert PriorAdjusted(pipeline, 0.4, random_state=3).fit(X, Y).estimator_[-1].random_state is not None
    own = PriorAdjusted(RandomForestClassifier(10, random_state=7), 0.4, random_state=3).fit(X, Y)
    assert own.estimator_.random_state == 7
    assert PriorAdjusted(forest, 0.4).fit(X, Y).estimator_.random_state is None


@pytest.mark.parametrize("y, weight", [(np.where(Y == 0, np.nan, Y), None), (Y, np.where(Y == 0, 0.0, 1.0))])
def test_one_labelled_class_is_refused_by_fit_with_the_remedy(y, weight):
    with pytest.raises(ValueError, match=r"all labelled rows are of class 1\.0.*PNUClassifier"):
        PriorAdjusted(LogisticRegression(), 0.4).fit(X, y, sample_weight=weight)


@pytest.mark.parametrize("kind", Y_AS)
@pytest.mark.parametrize("method", ["decision_function", "predict_proba"])
@pytest.mark.parametrize("splitter", ["ours", "any"])
@pytest.mark.parametrize("model", [PNU, LabeledOnly(LogisticRegression())], ids=lambda m: type(m).__name__)
def test_cross_val_predict_does_not_make_missing_labels_a_class(kind, method, splitter, model):
    y, marker = Y_AS[kind]
    ours = PNUStratifiedKFold(3, train_on_unlabeled=True, unlabeled=marker, random_state=0)
    cv = ours if splitter == "ours" else KFold(3, shuffle=True, random_state=0)
    with pytest.raises(ValueError, match=r"class of their own.*validation_scores_.*clone\(model\)"):
        cross_val_predict(sklearn.base.clone(model).set_params(unlabeled=marker), X, y, cv=cv, method=method)


def test_cross_val_predict_works_for_predict_and_for_complete_labels():
    folds = PNUStratifiedKFold(3, train_on_unlabeled=True, random_state=0)
    assert set(cross_val_predict(PNU, X, Y, cv=folds)) == {0.0, 1.0}
    complete = LabeledOnly(LogisticRegression())
    assert cross_val_predict(complete, X, TRUTH, cv=folds, method="predict_proba").shape == (200, 2)


def test_the_loop_that_the_error_recommends_is_what_cross_val_predict_should_have_done():
    folds = list(PNUStratifiedKFold(3, train_on_unlabeled=True, random_state=0).split(X, Y))
    scores = np.empty(200)
    for train, test in folds:
        scores[test] = sklearn.base.clone(PNU).fit(X[train], Y[train]).decision_function(X[test])
    labels = cross_val_predict(PNU, X, Y, cv=folds)
    assert_array_equal(labels == 1, scores > 0)


GROUPS = np.arange(200) // 4


def test_groups_reach_the_splitter_and_weights_the_scorer_when_routing_is_enabled():
    folds = PNUStratifiedGroupKFold(3, train_on_unlabeled=True, random_state=0)
    scorer, model = make_pnu_scorer(prior=0.4), sklearn.base.clone(PNU)
    by_hand = [
        scorer(sklearn.base.clone(PNU).fit(X[train], Y[train]), X[test], Y[test], sample_weight=WEIGHT[test])
        for train, test in folds.split(X, Y, GROUPS)
    ]
    given = {"groups": GROUPS, "sample_weight": WEIGHT}
    with sklearn.config_context(enable_metadata_routing=True):
        model.set_fit_request(groups=False, sample_weight=False)
        asked = make_pnu_scorer(prior=0.4).set_score_request(sample_weight=True)
        assert_allclose(cross_val_score(model, X, Y, cv=folds, scoring=asked, params=given), by_hand)
        with pytest.raises(sklearn.exceptions.UnsetMetadataPassedError, match="sample_weight"):
            cross_val_score(model, X, Y, cv=folds, scoring=scorer, params=given)
        search = GridSearchCV(model, {"alpha": [0.1]}, cv=folds, scoring=asked).fit(X, Y, **given)
        assert search.best_score_ == pytest.approx(np.mean(by_hand))


FOLDS, SCORER = PNUStratifiedKFold(3, train_on_unlabeled=True, random_state=0), make_pnu_scorer(prior=0.4)
OURS = {"cv": FOLDS, "scoring": SCORER, "error_score": "raise"}
WORKS = {
    "Pipeline": lambda: make_pipeline(StandardScaler(), PNU).fit(X, Y).predict(X),
    "SelectFromModel": lambda: SelectFromModel(PNU, importance_getter="coef_").fit(X, Y).transform(X),
    "partial_dependence": lambda: partial_dependence(sklearn.base.clone(PNU).fit(X, Y), X, [0])["average"],
    "GridSearchCV": lambda: GridSearchCV(PNU, {"alpha": [0.1, 1.0]}, **OURS).fit(X, Y).best_score_,
    "GridSearchCV without scoring": lambda: GridSearchCV(PNU, {"alpha": [0.1]}, cv=FOLDS).fit(X, Y).best_score_,
    "cross_val_score": lambda: cross_val_score(PNU, X, Y, **OURS),
    "validation_curve": lambda: validation_curve(PNU, X, Y, param_name="alpha", param_range=[0.1, 1], **OURS)[1],
    "learning_curve": lambda: learning_curve(PNU, X, Y, train_sizes=[0.5, 1.0], **OURS)[2],
    "permutation_test_score": lambda: permutation_test_score(PNU, X, Y, cv=FOLDS, scoring=SCORER, n_permutations=2)[0],
    "SequentialFeatureSelector": lambda: (
        SequentialFeatureSelector(PNU, cv=FOLDS, scoring=SCORER, n_features_to_select=1).fit(X, Y).transform(X)
    ),
    "permutation_importance": lambda: (
        permutation_importance(sklearn.base.clone(PNU).fit(X, Y), X, Y, scoring=SCORER, n_repeats=2).importances_mean
    ),
    "PriorAdjusted around an ensemble": lambda: (
        PriorAdjusted(BaggingClassifier(LogisticRegression(), 3), 0.4).fit(X, Y).predict(X)
    ),
}
STOPS = {
    "GridSearchCV with cv=3": lambda: GridSearchCV(PNU, {"alpha": [0.1]}, cv=3).fit(X, Y),
    "GridSearchCV by accuracy": lambda: GridSearchCV(PNU, {}, cv=FOLDS, scoring="accuracy", error_score="raise").fit(
        X, Y
    ),
    "train_test_split": lambda: train_test_split(X, Y, stratify=Y),
    "CalibratedClassifierCV": lambda: CalibratedClassifierCV(PNU, cv=3).fit(X, Y),
    "TunedThresholdClassifierCV": lambda: TunedThresholdClassifierCV(PNU, cv=3).fit(X, Y),
    "FixedThresholdClassifier": lambda: FixedThresholdClassifier(PNU, threshold=0.3).fit(X, Y),
    "VotingClassifier": lambda: VotingClassifier([("a", PNU), ("b", PNU)]).fit(X, Y),
    "StackingClassifier": lambda: StackingClassifier([("a", PNU)], cv=3).fit(X, Y),
    "BaggingClassifier": lambda: BaggingClassifier(PNU, 2).fit(X, Y),
    "AdaBoostClassifier": lambda: AdaBoostClassifier(PNU, n_estimators=2).fit(X, Y),
    "OneVsRestClassifier": lambda: OneVsRestClassifier(PNU).fit(X, Y),
    "SelfTrainingClassifier": lambda: SelfTrainingClassifier(PNU).fit(X, Y),
    "RFE": lambda: RFE(PNU, importance_getter="coef_").fit(X, Y),
}


@pytest.mark.parametrize("tool", WORKS)
def test_what_the_guide_says_works_with_missing_labels_does(tool):
    assert np.isfinite(np.asarray(WORKS[tool](), dtype=float)).all()


@pytest.mark.filterwarnings("ignore:invalid value encountered in cast")  # scikit-learn casts NaN before it stops
@pytest.mark.parametrize("tool", STOPS)
def test_what_the_guide_says_stops_at_missing_labels_does(tool):
    with pytest.raises(ValueError, match="contains NaN"):
        STOPS[tool]()


def test_the_guide_names_every_tool_of_these_tests():
    page = (Path(__file__).parents[2] / "docs/guide/scikit-learn.md").read_text(encoding="utf-8")
    tools = {tool.split()[0] for tool in (*WORKS, *STOPS)}
    assert [tool for tool in tools if tool not in page] == []
