"""Example rows of a report: confident, uncertain and to label next; and the held-out scores that a report uses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._learning.calibration import probabilities
from pnulearn._reader.table import Table
from pnulearn.tables._model import Fitted

# Held-out scores and probabilities: neither the models nor the weights of candidates used the row's own fold.


def held_out_scores(fitted: Fitted) -> AnyArray:
    """Score of every row, or one column per class; 0 for a row that was never held out."""
    return np.nan_to_num(fitted.model.classifier.judging_scores_)


def held_out_probability(fitted: Fitted) -> AnyArray:
    """Held-out probabilities, one column per class."""
    return probabilities(held_out_scores(fitted), fitted.model.classifier.calibration_)


# Example rows.

N_SURE, N_UNSURE = 3, 4
N_TO_LABEL, N_RANDOM = 12, 6
SHOWN_CELLS = 6
IDENTIFIES = "an identifier"  # what a plan says of columns that it does not use
AT_RANDOM, EITHER = "drawn at random", "could be either"


@dataclass(frozen=True)
class Row:
    """An unlabelled row: its number in the table, predicted class, its probability, why it is shown, and cells."""

    number: int
    answer: str
    probability: float
    why: str
    cells: dict[str, str]


@dataclass(frozen=True)
class RowFindings:
    """Example rows with a confident prediction, with an uncertain one, and to label next."""

    sure: list[Row]
    unsure: list[Row]
    to_label: list[Row]


def look_at_rows(fitted: Fitted, columns: list[str], prior_unknown: bool) -> RowFindings:
    """Example rows with the cells of the most important columns; empty if no row is unlabelled."""
    classifier = fitted.model.classifier
    unlabeled = np.flatnonzero(fitted.codes < 0)
    if not len(unlabeled):
        return RowFindings([], [], [])
    probability = held_out_probability(fitted)
    show = _Show(fitted, probability, _shown_columns(fitted, columns))
    ranked = np.sort(probability[unlabeled], axis=1)
    by_doubt = _without_copies(fitted.X, unlabeled[np.argsort(ranked[:, -1] - ranked[:, -2], kind="stable")])
    scores = held_out_scores(fitted)
    scores = np.column_stack([-scores, scores]) if scores.ndim == 1 else scores
    sure = [row for code in reversed(range(len(classifier.classes_))) for row in _surest(scores, code, by_doubt)]
    return RowFindings(
        show.rows(sure, ["sure"] * len(sure)),
        show.rows(by_doubt[:N_UNSURE], ["unsure"] * N_UNSURE),
        _to_label(fitted, show, unlabeled, by_doubt, prior_unknown),
    )


def _surest(scores: AnyArray, code: int, distinct: AnyArray) -> list[int]:
    """The rows predicted as a class that have the largest scores."""
    called = distinct[scores[distinct].argmax(axis=1) == code]
    order = called[np.argsort(-scores[called, code], kind="stable")]
    return [int(row) for row in order[:N_SURE]]


def _to_label(fitted: Fitted, show: _Show, unlabeled: AnyArray, by_doubt: AnyArray, prior_unknown: bool) -> list[Row]:
    """Rows drawn at random if the class prior is uncertain, then rows with the most uncertain predictions."""
    chosen: list[int] = []
    if prior_unknown:
        drawn = np.random.default_rng(1).permutation(unlabeled)[:N_RANDOM]
        chosen = [int(row) for row in drawn]
    reasons = [AT_RANDOM] * len(chosen)
    for row in by_doubt:
        if len(chosen) == N_TO_LABEL:
            break
        if row not in chosen:
            chosen.append(int(row))
            reasons.append(EITHER)
    return show.rows(chosen, reasons)


def _without_copies(X: AnyArray, order: AnyArray) -> AnyArray:
    """The rows in the same order, without duplicates."""
    _, first = np.unique(X[order], axis=0, return_index=True)
    kept: AnyArray = order[np.sort(first)]
    return kept


def _shown_columns(fitted: Fitted, columns: list[str]) -> list[str]:
    """The column that identifies rows, if there is one, and the most important ones in the order of the table."""
    first = set(columns[:SHOWN_CELLS]) or set(fitted.table.names[:SHOWN_CELLS])
    fates = fitted.model.plan.fates
    names = [name for name in fitted.table.names if IDENTIFIES in fates.get(name, "")]
    return [*names[:1], *(name for name in fitted.table.names if name in first and name not in names[:1])]


@dataclass(frozen=True)
class _Show:
    """Converts row numbers of a fit to rows of the report."""

    fitted: Fitted
    probability: AnyArray
    columns: list[str]

    def rows(self, chosen: AnyArray | list[int], reasons: list[str]) -> list[Row]:
        numbers = self.fitted.rows[np.asarray(chosen, dtype=int)]
        cells = _cells(self.fitted.table, numbers, self.columns)
        numbers = numbers if self.fitted.numbers is None else self.fitted.numbers[numbers]
        classes = self.fitted.model.classes
        found = []
        for row, number, why, shown in zip(chosen, numbers, reasons, cells, strict=False):
            code = int(self.probability[row].argmax())
            found.append(Row(int(number) + 1, classes[code], float(self.probability[row, code]), why, shown))
        return found


def _cells(table: Table, numbers: AnyArray, columns: list[str]) -> list[dict[str, str]]:
    """Cells of some rows by column name, with their text in the file."""
    part = Table(table.cells.select(columns).take(numbers), table.source, table.reading)
    return [dict(zip(columns, cells, strict=True)) for cells in part.rows()]
