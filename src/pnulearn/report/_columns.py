"""Permutation importance and effects of the columns of a table.

All features made from one column are shuffled or set together. Rows are scored out of fold by the candidate with the
largest weight, which is refitted in every fold.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._estimators.classifier import PNUClassifier
from pnulearn._problem.folds import PNUStratifiedKFold
from pnulearn._problem.labels import Labels
from pnulearn._reader.dates import read_dates
from pnulearn.inspection import (
    ColumnImportance,
    Effect,
    Group,
    Scored,
    as_value,
    choose_rows,
    measure_importance,
    trace_effect,
)
from pnulearn.report._ablation import best_candidate
from pnulearn.tables._model import Fitted

MOST_UNLABELED = 1_000
MOST_REPEATS, SHUFFLES = 3, 120  # at most so many per column, and about so many in total
N_EFFECTS, N_VALUES, N_AVERAGED = 6, 10, 100
N_FOLDS = 5


@dataclass(frozen=True, eq=False)
class ColumnFindings:
    """Importances of all columns in decreasing order, and the effects of the most important ones."""

    importances: list[ColumnImportance]
    effects: list[Effect]


def look_at_columns(fitted: Fitted) -> ColumnFindings:
    """Permutation importance of every column, and the effects of the most important ones."""
    rows = _chosen_rows(fitted)
    X, labels = fitted.X[rows], Labels(fitted.model.classifier.classes_, fitted.codes[rows])
    groups = column_groups(fitted)
    folds = _fit_folds(fitted, X, labels)
    importances = measure_importance(
        folds,
        X,
        labels,
        fitted.model.classifier.prior_estimate_,
        groups,
        n_repeats=int(np.clip(SHUFFLES // len(groups), 1, MOST_REPEATS)),
        random_state=np.random.RandomState(0),
    )
    models = [model for model, _ in folds]
    kinds = fitted.model.plan.kinds
    shown = [one.column for one in importances if kinds[one.column] != "text" and one.changed > 0][:N_EFFECTS]
    return ColumnFindings(importances, [_effect(fitted, models, X, rows, name, groups[name]) for name in shown])


def column_groups(fitted: Fitted) -> dict[str, Group]:
    """The positions of the features of every column."""
    groups: dict[str, Group] = {}
    place = 0
    for column in fitted.model.plan.columns:
        width = len(column.feature_names)
        groups[column.name] = range(place, place + width)
        place += width
    return groups


def _chosen_rows(fitted: Fitted) -> AnyArray:
    """All labelled rows and a random sample of the others."""
    unlabeled = np.flatnonzero(fitted.codes < 0)
    if len(unlabeled) > MOST_UNLABELED:
        unlabeled = np.random.default_rng(0).choice(unlabeled, MOST_UNLABELED, replace=False)
    return np.sort(np.concatenate([np.flatnonzero(fitted.codes >= 0), unlabeled]))


def _fit_folds(fitted: Fitted, X: AnyArray, labels: Labels) -> list[Scored]:
    folds = PNUStratifiedKFold(N_FOLDS, random_state=0).split_codes(labels.codes)
    found: list[Scored] = []
    for train, test in folds:
        part = Labels(labels.classes, labels.codes[train])
        if np.min(part.counts[labels.counts > 0]) < 2:  # too few rows of a class to fit a model
            continue
        model: PNUClassifier = best_candidate(fitted.model.classifier, cv=2)
        found.append((model.fit(X[train], part), test))
    return found or [(fitted.model.classifier, np.arange(len(X)))]


def _effect(
    fitted: Fitted, models: list[PNUClassifier], X: AnyArray, rows: AnyArray, name: str, places: Group
) -> Effect:
    """The effect of a column at values that occur in it. Dates are in chronological order."""
    column = fitted.table.column(name)
    values = column.values[fitted.rows[rows]]
    order = values
    if fitted.model.plan.kinds[name] == "date":
        days = np.append(read_dates(column.as_text().levels).days, np.nan)[column.as_text().data]
        order = days[fitted.rows[rows]]
    elif fitted.model.plan.kinds[name] != "number":
        order = values = np.array(column.texts(), dtype=object)[fitted.rows[rows]]
    shown = choose_rows(order, N_VALUES)
    some = np.sort(np.random.default_rng(0).choice(len(X), min(len(X), N_AVERAGED), replace=False))
    return trace_effect(models, X, some, name, places, shown, [as_value(values[row]) for row in shown])
