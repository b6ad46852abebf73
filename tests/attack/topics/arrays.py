"""Rows, labels and scores in every form: each entry point takes them and gives numbers to look at."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from pnulearn import (
    AutoPNU,
    LabeledOnly,
    PNUClassifier,
    PNUStratifiedGroupKFold,
    PNUStratifiedKFold,
    PriorAdjusted,
    estimate_prior,
    make_pnu_scorer,
)
from pnulearn.advice import advise_for, check_scar
from pnulearn.labeling import Labeler
from pnulearn.metrics import (
    compare,
    pnu_auc,
    pnu_average_precision,
    pnu_best_threshold,
    pnu_cost,
    pnu_f1,
    pnu_precision,
    pnu_recall,
    pnu_risk,
    pnu_roc_curve,
    pnu_specificity,
)
from pnulearn.priors import METHODS
from pnulearn.ranking import PNURanker
from pnulearn.streaming import fit_files
from tests.attack import rows as given
from tests.attack.models import BASELINES, QUICK, model, quick
from tests.attack.rows import SCORES, X, Y


def _folds(y: Any) -> Any:
    return np.concatenate([test for _, test in PNUStratifiedKFold(3, random_state=0).split(None, y)])


def _group_folds(y: Any) -> Any:
    groups = np.arange(len(Y)) // 2
    return np.concatenate([test for _, test in PNUStratifiedGroupKFold(3, random_state=0).split(None, y, groups)])


def _next_row(rows: Any, y: Any) -> Any:
    labeler = Labeler(rows, y, model=LogisticRegression(), n_random=0)
    labeler.refresh()
    return [labeler.next().row]


@cache
def _fitted(name: str) -> Any:
    return clone(OTHERS[name]).fit(X, Y)


OTHERS: dict[str, Any] = {
    "columns_both": PNUClassifier(columns="both", **QUICK),
    "PNURanker": PNURanker(bandwidth=1.0, **QUICK),
    "AutoPNU": AutoPNU(("pnu", "logistic"), quick(), prior=0.4, cv=2, random_state=0),
    "LabeledOnly": LabeledOnly(LogisticRegression()),
    "PriorAdjusted": PriorAdjusted(LogisticRegression(), 0.4, cv=2, random_state=0),
}
LEARN: dict[str, Callable[[Any, Any], Any]] = {
    "fit": lambda rows, y: quick().fit(rows, y).coef_,
    "fit_linear": lambda rows, y: PNUClassifier("pnu", kernel="linear", **QUICK).fit(rows, y).coef_,
    "fit_logistic": lambda rows, y: quick(loss="logistic").fit(rows, y).coef_,
    "Labeler": _next_row,
    "check_scar": lambda rows, y: check_scar(rows, y, prior=0.4).p_value,
    **{name: lambda rows, y, one=one: clone(one).fit(rows, y).decision_function(X) for name, one in OTHERS.items()},
    "partial_fit": lambda rows, y: quick().partial_fit(rows, y, classes=[0, 1]).decision_function(X),
    "fit_files": lambda rows, y: fit_files(quick(), (rows, y), dtype="float64").coef_,
    **{
        baseline.__name__: lambda rows, y, baseline=baseline: (
            baseline(prior=0.4, bandwidth=1.0, cv=2, random_state=0).fit(rows, y).decision_function(X)
        )
        for baseline in BASELINES
    },
    **{
        f"prior_{name}": lambda rows, y, name=name: (
            estimate_prior(rows, y, method=None if name == "auto" else name, random_state=0).value
        )
        for name in ("auto", *METHODS)
    },
}
FOREIGN = ("LabeledOnly", "PriorAdjusted", "LabeledOnly_answers", "PriorAdjusted_answers")
ANSWER: dict[str, Callable[[Any], Any]] = {
    "predict": lambda rows: model().predict(rows),
    "predict_proba": lambda rows: model().predict_proba(rows),
    "decision_function": lambda rows: model().decision_function(rows),
    **{f"{name}_answers": lambda rows, name=name: _fitted(name).decision_function(rows) for name in OTHERS},
}
JUDGE: dict[str, Callable[[Any, Any], Any]] = {
    "score": lambda rows, y: model().score(rows, y),
    "scorer": lambda rows, y: make_pnu_scorer(0.4)(model(), rows, y),
    "compare": lambda rows, y: compare(model(), model(), rows, y, 0.4).first.value,
    "advise_for": lambda rows, y: advise_for(model(), rows, y, prior=0.4).variance_ratio,
}
LABELS: dict[str, Callable[[Any], Any]] = {"folds": _folds, "group_folds": _group_folds}
DECISIONS = (pnu_risk, pnu_precision, pnu_recall, pnu_f1, pnu_specificity)
METRICS: dict[str, Callable[[Any, Any], Any]] = {
    **{
        metric.__name__: lambda y, s, metric=metric: metric(y, s, prior=0.4).value
        for metric in (*DECISIONS, pnu_auc, pnu_average_precision, pnu_best_threshold)
    },
    "pnu_cost": lambda y, s: pnu_cost(y, s, prior=0.4, costs=(5, 1)).value,
    "pnu_roc_curve": lambda y, s: pnu_roc_curve(y, s, prior=0.4).y,
}
HELPED: dict[str, Callable[[Any], Any]] = {"helper": lambda h: pnu_risk(Y, SCORES, prior=0.4, helper=h).value}


GROUPS = {
    "LEARN": LEARN,
    "ANSWER": ANSWER,
    "JUDGE": JUDGE,
    "LABELS": LABELS,
    "METRICS": METRICS,
    "RANKING": ("pnu_auc", "pnu_average_precision", "pnu_best_threshold", "pnu_roc_curve"),
    "HELPED": HELPED,
    "FOREIGN": FOREIGN,
}
FORMS: dict[str, Any] = {
    name: make
    for table in vars(given).values()
    if isinstance(table, dict)
    for name, make in table.items()
    if callable(make)
}


def answer(input: str, entry: str) -> Any:
    """What the entry point says when one of its arguments is replaced."""
    bad = FORMS[input]()
    if input.startswith("s_"):
        return _ask(entry, scores=bad)
    return _ask(entry, y=bad) if input.startswith("y_") else _ask(entry, rows=bad)


@cache
def expected(entry: str) -> Any:
    """The answer to the clean rows and labels."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _ask(entry)


def _ask(entry: str, rows: Any = X, y: Any = Y, scores: Any = SCORES) -> Any:
    if entry in ANSWER:
        return ANSWER[entry](rows)
    if entry in LABELS:
        return LABELS[entry](y)
    if entry in METRICS:
        return METRICS[entry](y, scores)
    if entry in HELPED:
        return HELPED[entry](scores)
    return (LEARN | JUDGE)[entry](rows, y)
