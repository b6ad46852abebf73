"""What a report says, as plain data: computed once, drawn and written elsewhere."""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from sklearn.base import clone

from pnulearn._arrays import AnyArray
from pnulearn._estimators.classifier import PNUClassifier
from pnulearn._tables.table import Table
from pnulearn.advice import Advice, advise
from pnulearn.metrics.comparison import Comparison, compare_scores
from pnulearn.priors.narrowing import Narrowing
from pnulearn.report.over_prior import AtPrior, look_over_prior
from pnulearn.tables.model import Fitted

N_TO_LABEL = 12
SHOWN_CELLS = 6
N_BINS = 5


@dataclass(frozen=True)
class Bin:
    """Rows with a probability between low and high: what was said, and what the labels suggest."""

    low: float
    high: float
    said: float
    found: float | None
    counts: tuple[int, int, int]


@dataclass(frozen=True)
class Findings:
    """All a report needs beside the model itself. Two-class findings are None for more classes."""

    fitted: Fitted
    scores: AnyArray
    comparison: Comparison | None
    advice: Advice | None
    to_label: list[dict[str, Any]]
    bins: list[Bin]
    over_prior: list[AtPrior]
    narrowing: Narrowing | None
    seconds: float


def investigate(fitted: Fitted) -> Findings:
    """Everything the report says about a fitted model."""
    start = time.perf_counter()
    classifier = fitted.model.classifier
    scores = classifier.validation_scores_
    two = len(classifier.classes_) == 2 and not np.isnan(scores).any()
    counts = [int(np.sum(fitted.codes == code)) for code in (1, 0, -1)]
    everything = two and min(counts) > 0
    return Findings(
        fitted,
        scores,
        _comparison(fitted, scores) if everything else None,
        _advice(fitted, scores, counts) if everything else None,
        _to_label(fitted, scores) if two and counts[2] else [],
        _bins(fitted) if two and counts[0] and counts[1] else [],
        look_over_prior(fitted, scores) if everything else [],
        fitted.narrow_prior(),
        time.perf_counter() - start,
    )


def _groups(codes: AnyArray, values: AnyArray) -> list[AnyArray]:
    return [values[codes == code] for code in (1, 0, -1)]


def _comparison(fitted: Fitted, scores: AnyArray) -> Comparison:
    """The model against one that learns from the labelled rows alone, on the same folds and with the same prior.

    To the supervised model every unlabelled row is new; labelled rows are scored out of fold by both. It is a fit of
    its own: the candidates of the search at mix 0 have centres at unlabelled rows too, so they have learnt from them.
    """
    classifier, codes = fitted.model.classifier, fitted.codes
    labeled = np.flatnonzero(codes >= 0)
    supervised: PNUClassifier = clone(classifier).set_params(risk="pn", prior=classifier.prior_, mix=None)
    supervised.fit(fitted.X[labeled], classifier.classes_[codes[labeled]])
    others = supervised.decision_function(fitted.X)
    others[labeled] = supervised.validation_scores_
    belief = classifier.prior_estimate_
    return compare_scores(_groups(codes, scores), _groups(codes, others), belief)


def _advice(fitted: Fitted, scores: AnyArray, counts: list[int]) -> Advice:
    """Error rates get one success and one failure extra, so that no class looks perfect for want of rows."""
    positive, negative, _ = _groups(fitted.codes, scores)
    rates = ((np.sum(positive <= 0) + 1) / (counts[0] + 2), (np.sum(negative > 0) + 1) / (counts[1] + 2))
    return advise(counts[0], counts[1], counts[2], float(fitted.model.classifier.prior_), error_rates=rates)


def _to_label(fitted: Fitted, scores: AnyArray) -> list[dict[str, Any]]:
    """The unlabelled rows whose label the model knows least: those nearest to its boundary, without repetitions."""
    unlabeled = np.flatnonzero(fitted.codes < 0)
    order = unlabeled[np.argsort(np.abs(scores[unlabeled]), kind="stable")]
    _, first = np.unique(fitted.X[order], axis=0, return_index=True)
    chosen = order[np.sort(first)[:N_TO_LABEL]]
    probability = fitted.probability()
    cells = _cells(fitted.table, fitted.rows[chosen], fitted.model.label)
    return [
        {"row": int(fitted.rows[i]) + 1, "probability": float(probability[i]), "cells": cells[j]}
        for j, i in enumerate(chosen)
    ]


def _cells(table: Table, rows: AnyArray, label: str) -> list[dict[str, str]]:
    """The first cells of some rows by column name, without the label."""
    shown = {place: name for place, name in enumerate(table.names) if name != label}
    names = dict(islice(shown.items(), SHOWN_CELLS))
    wanted = {int(row): place for place, row in enumerate(rows)}
    found: list[dict[str, str]] = [{}] * len(wanted)
    for number, cells in enumerate(islice(table.rows(), max(wanted, default=-1) + 1)):
        if number in wanted:
            found[wanted[number]] = {name: cells[place] for place, name in names.items()}
    return found


def _bins(fitted: Fitted) -> list[Bin]:
    """Shares of positives by predicted probability, from labelled rows reweighted to the population."""
    prior = float(fitted.model.classifier.prior_)
    probability = fitted.probability()
    edges = np.linspace(0, 1, N_BINS + 1)
    place = np.clip(np.digitize(probability, edges[1:-1]), 0, N_BINS - 1)
    totals = [np.sum(fitted.codes == code) for code in (1, 0)]
    bins = []
    for k in range(N_BINS):
        inside = place == k
        counts = tuple(int(np.sum(inside & (fitted.codes == code))) for code in (1, 0, -1))
        mass = prior * counts[0] / totals[0], (1 - prior) * counts[1] / totals[1]
        found = mass[0] / sum(mass) if sum(mass) else None
        said = float(probability[inside].mean()) if inside.any() else float(edges[k : k + 2].mean())
        bins.append(Bin(float(edges[k]), float(edges[k + 1]), said, found, (counts[0], counts[1], counts[2])))
    return bins
