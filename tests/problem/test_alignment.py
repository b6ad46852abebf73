"""Indexes that disagree are refused wherever two arguments have an entry per row; positions count without an index."""

from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score

import pnulearn as pnu
from pnulearn import AutoPNU, PNUClassifier, PriorAdjusted, TableClassifier, metrics, plots
from pnulearn._problem.alignment import refuse_misaligned
from pnulearn.advice import advise_for
from pnulearn.baselines import HarmonicClassifier
from pnulearn.inspection import column_importance
from pnulearn.labeling import Labeler
from pnulearn.priors import EMPrior, estimate_prior
from pnulearn.ranking import PNURanker

N = 60
RNG = np.random.default_rng(0)
CLASS = RNG.integers(2, size=N)
ROWS = pd.DataFrame(RNG.normal(size=(N, 2)) + 2 * CLASS[:, None], columns=["a", "b"], index=np.arange(100, 100 + N))
LABELS = pd.Series(np.where(np.arange(N) < 30, CLASS, np.nan), index=ROWS.index)
SCORES = pd.Series(ROWS["a"] + ROWS["b"] - 2, index=ROWS.index)
ONES = pd.Series(1.0, index=ROWS.index)
GROUPS = pd.Series(np.arange(N) // 2, index=ROWS.index)
MARKS = pd.Series(np.arange(N) < 10, index=ROWS.index)
FITTED = PNUClassifier(prior=0.5, kernel="linear", random_state=0).fit(ROWS, LABELS)
NAMELESS = PNUClassifier(prior=0.5, kernel="linear", random_state=0).fit(ROWS.to_numpy(), LABELS.to_numpy())
LOGISTIC = LogisticRegression().fit(ROWS, CLASS)
SMALL = {"prior": 0.5, "kernel": "linear", "mix": 0.1, "alpha": 0.1}

# name -> (a function of the arguments, the arguments with an index)
ENTRIES = {
    "PNUClassifier.fit": (
        lambda **given: PNUClassifier(**SMALL).fit(**given),
        {"X": ROWS, "y": LABELS, "sample_weight": ONES, "groups": GROUPS, "at_random": MARKS},
    ),
    "PNUClassifier.fit, held out": (
        lambda **given: PNUClassifier(**SMALL).fit(ROWS, LABELS, **given),
        {"X_val": ROWS, "y_val": LABELS},
    ),
    "PNUClassifier.partial_fit": (
        lambda **given: PNUClassifier(**SMALL).partial_fit(**given, classes=[0, 1]),
        {"X": ROWS, "y": LABELS},
    ),
    "PNUClassifier.score": (FITTED.score, {"X": ROWS, "y": LABELS, "sample_weight": ONES}),
    "AutoPNU.fit": (lambda **given: AutoPNU(prior=0.5).fit(**given), {"X": ROWS, "y": LABELS, "sample_weight": ONES}),
    "PriorAdjusted.fit": (
        lambda **given: PriorAdjusted(LogisticRegression(), prior=0.5).fit(**given),
        {"X": ROWS, "y": LABELS, "sample_weight": ONES, "at_random": MARKS},
    ),
    "LabeledOnly.fit": (
        lambda **given: pnu.LabeledOnly(LogisticRegression()).fit(**given),
        {"X": ROWS, "y": LABELS, "sample_weight": ONES},
    ),
    "HarmonicClassifier.fit": (lambda **given: HarmonicClassifier().fit(**given), {"X": ROWS, "y": LABELS}),
    "PNURanker.fit": (lambda **given: PNURanker(prior=0.5).fit(**given), {"X": ROWS, "y": LABELS}),
    "TableClassifier.fit": (lambda **given: TableClassifier(prior=0.5).fit(**given), {"X": ROWS, "y": LABELS}),
    "Labeler": (lambda **given: Labeler(**given), {"X": ROWS, "y": LABELS}),
    "EMPrior.fit": (lambda **given: EMPrior().fit(**given), {"X": ROWS, "y": LABELS, "sample_weight": ONES}),
    "estimate_prior": (estimate_prior, {"X": ROWS, "y": LABELS}),
    "pnu_risk": (
        lambda **given: pnu.pnu_risk(**given, prior=0.5),
        {"y_true": LABELS, "y_score": SCORES, "sample_weight": ONES, "groups": GROUPS},
    ),
    "pnu_risk, helper": (
        lambda **given: pnu.pnu_risk(**given, prior=0.5, sampling="random"),
        {"y_true": LABELS, "y_score": SCORES, "helper": SCORES},
    ),
    "pnu_precision": (
        lambda **given: metrics.pnu_precision(**given, prior=0.5),
        {"y_true": LABELS, "y_score": SCORES, "sample_weight": ONES, "groups": GROUPS},
    ),
    "pnu_auc": (lambda **given: metrics.pnu_auc(**given, prior=0.5), {"y_true": LABELS, "y_score": SCORES}),
    "pnu_roc_curve": (
        lambda **given: metrics.pnu_roc_curve(**given, prior=0.5),
        {"y_true": LABELS, "y_score": SCORES, "sample_weight": ONES},
    ),
    "pnu_confusion": (
        lambda **given: metrics.pnu_confusion(**given, prior=0.5),
        {"y_true": LABELS, "y_pred": (SCORES > 0).astype(float)},
    ),
    "suspicious_rows": (
        lambda **given: metrics.suspicious_rows(**given, prior=0.5),
        {"y_true": LABELS, "y_score": SCORES},
    ),
    "compare": (
        lambda **given: metrics.compare(FITTED, LOGISTIC, **given, prior=0.5),
        {"X": ROWS, "y": LABELS, "sample_weight": ONES, "groups": GROUPS},
    ),
    "scorer": (
        lambda **given: pnu.make_pnu_scorer(prior=0.5)(FITTED, **given),
        {"X": ROWS, "y": LABELS, "sample_weight": ONES},
    ),
    "advise_for": (lambda **given: advise_for(FITTED, **given, prior=0.5), {"X": ROWS, "y": LABELS}),
    "column_importance": (lambda **given: column_importance(FITTED, **given, prior=0.5), {"X": ROWS, "y": LABELS}),
    "PNUStratifiedGroupKFold": (
        lambda **given: next(pnu.PNUStratifiedGroupKFold(2).split(**given)),
        {"y": LABELS, "groups": GROUPS},
    ),
}
if find_spec("matplotlib"):
    import matplotlib as mpl

    mpl.use("Agg")
    ENTRIES |= {
        "BoundaryDisplay": (
            lambda **given: plots.BoundaryDisplay.from_estimator(NAMELESS, **given, resolution=5),
            {"X": ROWS, "y": LABELS},
        ),
        "ScoreDisplay": (plots.ScoreDisplay.from_predictions, {"y_true": LABELS, "y_score": SCORES}),
    }
PAIRS = [(name, other) for name, (_, given) in ENTRIES.items() for other in list(given)[1:]]


@pytest.mark.parametrize(("name", "other"), PAIRS)
def test_an_index_in_another_order_is_refused_with_the_remedy(name, other):
    call, given = ENTRIES[name]
    first = next(iter(given))
    wrong = given[other].iloc[::-1]
    with pytest.raises(
        ValueError, match=f"indexes of {first} and {other} disagree: row 0 is 100 in {first} and 159 in"
    ):
        call(**{**given, other: wrong})


@pytest.mark.parametrize("name", [name for name in ENTRIES if name != "AutoPNU.fit"])  # which takes long
def test_equal_indexes_and_no_indexes_are_taken(name):
    call, given = ENTRIES[name]
    call(**given)
    first, *others = given
    call(**{first: given[first]}, **{other: given[other].to_numpy() for other in others})


def test_other_indexes():
    refuse_misaligned(X=ROWS, y=LABELS.to_numpy(), weight=None, groups=LABELS)
    refuse_misaligned(X=ROWS.reset_index(drop=True), y=pd.Series(LABELS.to_numpy()))
    refuse_misaligned(X=ROWS.set_index(pd.Index(["x"] * N)), y=LABELS.set_axis(["x"] * N))
    refuse_misaligned(X=ROWS, y=LABELS.iloc[:5])  # lengths are compared elsewhere
    refuse_misaligned()
    for index in (range(N), list(map(str, ROWS.index)), pd.MultiIndex.from_product([[0], range(N)])):
        with pytest.raises(ValueError, match=r"pass y.loc\[X.index\]; if the order does, pass y.to_numpy\(\)"):
            refuse_misaligned(X=ROWS, y=LABELS.set_axis(index))
    polars = pytest.importorskip("polars")
    refuse_misaligned(X=polars.DataFrame({"a": [1]}), y=polars.Series([1]))


def test_cross_validation_says_it_too():
    options = {"cv": pnu.PNUStratifiedKFold(3, train_on_unlabeled=True), "error_score": "raise"}
    with pytest.raises(ValueError, match="indexes of X and y disagree"):
        cross_val_score(PNUClassifier(**SMALL), ROWS, LABELS.iloc[::-1], **options)
    assert len(cross_val_score(PNUClassifier(**SMALL), ROWS, LABELS, **options)) == 3
