"""Arguments that mean nothing: the table holds them as they would be typed, such as `prior=50`."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score

from pnulearn import (
    AutoPNU,
    LabeledOnly,
    PNUStratifiedKFold,
    PriorAdjusted,
    advise,
    advise_for,
    check_scar,
    estimate_prior,
    make_pnu_scorer,
    priors,
    risks,
    theory,
)
from pnulearn.inspection import column_effect, column_importance
from pnulearn.labeling import Labeler
from pnulearn.metrics import (
    compare,
    estimate_risk,
    labels_for_difference,
    labels_for_width,
    pnu_auc,
    pnu_average_precision,
    pnu_best_threshold,
    pnu_confusion,
    pnu_cost,
    pnu_f1,
    pnu_precision,
    pnu_recall,
    pnu_reliability,
    pnu_risk,
    pnu_roc_curve,
    pnu_specificity,
    suspicious_rows,
)
from pnulearn.ranking import PNURanker
from pnulearn.streaming import fit_files, predict_files
from tests.attack.models import BASELINES, model, quick
from tests.attack.rows import SCORES, X, Y

NAMES = {"np": np, "pd": pd, "stats": stats, "X": X, "Y": Y, "priors": priors, "nan": np.nan, "inf": np.inf} | {
    "LogisticRegression": LogisticRegression
}
COUNTS = {"n_positive": 10, "n_negative": 10, "n_unlabeled": 100}
SIZED = {"prior": 0.4, "n_positive": 10.0, "n_negative": 10.0, "n_unlabeled": 100.0}
QUICK_PRIORS = ("scores", "energy", "kernel_mean", "em", "km1", "roc", "bbe", "dedpul", "pe", "penl1", "tice")


def _scores(classifier: Any) -> Any:
    return classifier.fit(X, Y).decision_function(X)


def _predict_files(**arguments: Any) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        table, out = Path(folder, "rows.csv"), Path(folder, "out.csv")
        pd.DataFrame(X, columns=list("abc")).to_csv(table, index=False)
        fitted = quick().fit(pd.DataFrame(X, columns=list("abc")), Y)
        given: dict[str, Any] = {"model": fitted, "data": table, "output": out} | arguments
        return pd.read_csv(predict_files(**given))["score"]


def _answer(**arguments: Any) -> Any:
    labeler = Labeler(X, Y, model=LogisticRegression(), n_random=0)
    labeler.next()
    labeler.answer(**({"label": 1.0} | arguments))
    return labeler.n_answers


CLASSIFIERS: dict[str, Callable[..., Any]] = {
    "PNUClassifier": lambda **given: _scores(quick(**given)),
    "fit_files": lambda **given: fit_files(quick(**given), (X, Y), dtype="float64").decision_function(X),
    "partial_fit": lambda **given: quick(**given).partial_fit(X, Y, classes=[0, 1]).decision_function(X),
}
WRAPPERS: dict[str, Callable[..., Any]] = {
    "PriorAdjusted": lambda **given: _scores(
        PriorAdjusted(**({"estimator": LogisticRegression(), "prior": 0.4, "cv": 2, "random_state": 0} | given))
    ),
    "AutoPNU": lambda **given: _scores(
        AutoPNU(**({"learners": ("pnu", "logistic"), "pnu": quick(), "prior": 0.4, "cv": 2, "random_state": 0} | given))
    ),
    "PNURanker": lambda **given: _scores(
        PNURanker(**({"prior": 0.4, "mix": 0.2, "alpha": 0.1, "bandwidth": 1.0, "random_state": 0} | given))
    ),
}
BASELINE_ENTRIES: dict[str, Callable[..., Any]] = {
    baseline.__name__: lambda baseline=baseline, **given: _scores(
        baseline(**({"prior": 0.4, "bandwidth": 1.0, "cv": 2, "random_state": 0} | given))
    )
    for baseline in BASELINES
}
PRIORS: dict[str, Callable[..., Any]] = {
    name: lambda name=name, **given: estimate_prior(X, Y, method=name, **({"random_state": 0} | given)).value
    for name in QUICK_PRIORS
}
METRICS: dict[str, Callable[..., Any]] = {
    metric.__name__: lambda metric=metric, **given: metric(Y, SCORES, **({"prior": 0.4} | given)).value
    for metric in (pnu_risk, pnu_precision, pnu_recall, pnu_f1, pnu_specificity)
} | {"pnu_cost": lambda **given: pnu_cost(Y, SCORES, **({"prior": 0.4, "costs": (5, 1)} | given)).value}
CURVES: dict[str, Callable[..., Any]] = {
    "pnu_auc": lambda **given: pnu_auc(Y, SCORES, **({"prior": 0.4} | given)).value,
    "pnu_average_precision": lambda **given: pnu_average_precision(Y, SCORES, **({"prior": 0.4} | given)).value,
    "pnu_best_threshold": lambda **given: pnu_best_threshold(Y, SCORES, **({"prior": 0.4} | given)).value,
    "pnu_roc_curve": lambda **given: pnu_roc_curve(Y, SCORES, **({"prior": 0.4} | given)).y,
    "pnu_reliability": lambda **given: pnu_reliability(Y, expit(SCORES), **({"prior": 0.4} | given)).y,
    "pnu_confusion": lambda **given: (
        pnu_confusion(Y, (SCORES > 0).astype(float), **({"prior": 0.4} | given)).error.value
    ),
}
PLANS: dict[str, Callable[..., Any]] = {
    "labels_for_width": lambda **given: labels_for_width(**({"width": 0.2, "prior": 0.4} | given)).total,
    "labels_for_difference": lambda **given: (
        labels_for_difference(**({"difference": 0.1, "prior": 0.4, "disagreement": 0.2} | given)).total
    ),
}
JUDGES: dict[str, Callable[..., Any]] = {
    "compare": lambda **given: compare(model(), model(), X, Y, **({"prior": 0.4} | given)).first.value,
    "advise_for": lambda **given: advise_for(model(), X, Y, **({"prior": 0.4} | given)).variance_ratio,
    "scorer": lambda **given: make_pnu_scorer(**({"prior": 0.4} | given))(model(), X, Y),
    "check_scar": lambda **given: check_scar(X, Y, **({"prior": 0.4} | given)).p_value,
}
ADVISE: dict[str, Callable[..., Any]] = {
    "advise": lambda **given: advise(**(COUNTS | {"prior": 0.4} | given)).variance_ratio,
}
CALLS: dict[str, Callable[..., Any]] = {
    "fit": lambda **given: quick().fit(X, Y, **given).decision_function(X),
    "score": lambda **given: model().score(X, Y, **given),
    "column_importance": lambda **given: [
        one.rise.value
        for one in column_importance(
            **({"model": model(), "X": X, "y": Y, "prior": 0.4, "n_repeats": 1, "random_state": 0} | given)
        )
    ],
    "column_effect": lambda **given: (
        column_effect(**({"model": model(), "X": X, "column": 0, "random_state": 0} | given)).average
    ),
    "suspicious_rows": lambda **given: suspicious_rows(Y, SCORES, **({"prior": 0.4} | given)).rows,
    "Labeler": lambda **given: Labeler(X, Y, **({"model": LogisticRegression(), "n_random": 0} | given)).next().row,
    "answer": _answer,
    "estimate_prior": lambda **given: estimate_prior(X, Y, **({"random_state": 0} | given)).value,
    "LabeledOnly": lambda **given: LabeledOnly(LogisticRegression()).fit(X, Y, **given).decision_function(X),
    "LabeledOnly_new": lambda **given: _scores(LabeledOnly(**({"classifier": LogisticRegression()} | given))),
    "folds": lambda **given: cross_val_score(quick(), X, Y, cv=PNUStratifiedKFold(**({"random_state": 0} | given))),
    "fit_files_call": lambda **given: fit_files(quick(), (X, Y), **given).decision_function(X),
    "predict_files": _predict_files,
    "estimate_risk": lambda **given: (
        estimate_risk(**({"scores": (SCORES[:12], SCORES[12:24], SCORES[24:]), "prior": 0.4} | given)).value
    ),
    "prior_cost": lambda **given: priors.prior_cost(**({"probability": [0.2, 0.6], "estimate": _estimate()} | given)),
    "after_random_labels": lambda **given: priors.after_random_labels(**({"estimate": _estimate()} | given)).sd_after,
}
RISKS: dict[str, Callable[..., Any]] = {
    name: lambda name=name, **given: getattr(risks, name)(**({"prior": 0.4} | given)).table
    for name in ("pn", "pu", "nu")
} | {
    name: lambda name=name, **given: (
        getattr(risks, name)(**({"prior": 0.4, "eta" if name == "pnu" else "gamma": 0.2} | given)).table
    )
    for name in ("pnu", "punu", "pnpu", "pnnu")
}
THEORY: dict[str, Callable[..., Any]] = {
    "pu_against_pn": lambda **given: theory.pu_against_pn(**(SIZED | given)),
    "nu_against_pn": lambda **given: theory.nu_against_pn(**(SIZED | given)),
}
MORE_THEORY: dict[str, Callable[..., Any]] = {
    "heuristic_mix": lambda **given: theory.heuristic_mix(
        **({"prior": 0.4, "n_positive": 10.0, "n_negative": 10.0} | given)
    ),
    "error_bound": lambda **given: theory.error_bound(
        **({"empirical": 0.1, "risk": risks.pn(0.4), "sizes": (10, 10, 0), "radius": 1.0} | given)
    ),
}
GROUPS: dict[str, Any] = {
    "CLASSIFIERS": CLASSIFIERS,
    "BASELINES": BASELINE_ENTRIES,
    "PRIORS": PRIORS,
    "WRAPPERS": WRAPPERS,
    "DECISIONS": METRICS,
    "CURVES": CURVES,
    "METRICS": METRICS | CURVES,
    "PLANS": PLANS,
    "JUDGES": JUDGES,
    "RISKS": RISKS,
    "THEORY": THEORY,
}
ENTRIES = (
    CLASSIFIERS
    | WRAPPERS
    | BASELINE_ENTRIES
    | PRIORS
    | METRICS
    | CURVES
    | PLANS
    | JUDGES
    | ADVISE
    | CALLS
    | RISKS
    | THEORY
    | MORE_THEORY
)


@cache
def _estimate() -> Any:
    return estimate_prior(X, Y, random_state=0)


def answer(input: str, entry: str) -> Any:
    """What the entry point says when it is given these arguments, as in Python."""
    return ENTRIES[entry](**eval(f"dict({input})", dict(NAMES)))  # the table is ours


@cache
def expected(entry: str) -> Any:
    """The answer to arguments that are in order."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ENTRIES[entry]()
