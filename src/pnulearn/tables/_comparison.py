"""Two models, or columns of scores, compared on the rows of a table, for all rows and for groups of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._problem.labels import UNLABELED, Labels
from pnulearn._reader.table import Table
from pnulearn.metrics._by_group import GroupEstimates
from pnulearn.metrics._comparison import Comparison, compare_scores
from pnulearn.metrics._estimate import Estimate
from pnulearn.metrics._scorer import exchange_classes
from pnulearn.priors._estimate import PriorEstimate
from pnulearn.tables._evaluation import (
    ErrorEstimator,
    GroupPriors,
    LabelCount,
    group_facts,
    group_priors,
    known_prior,
    score_column,
    settle_sampling,
    table_labels,
)
from pnulearn.tables._model import TableModel
from pnulearn.tables._notes import note, warn
from pnulearn.tables._options import TableOptions
from pnulearn.tables._prior import note_of_one_class, prior_facts, settle_prior
from pnulearn.tables._provenance import find_origins, read_row_groups, read_weights
from pnulearn.tables._windows import Windows, estimate_windows, group_rows, read_windows, window_sizes

CLOSE = 0.0005  # differences in error that look the same in print


@dataclass(frozen=True, eq=False)
class TableComparison:
    """The difference in error of two models, and where it differs.

    Parameters
    ----------
    names : (str, str)
        The two models.
    found : Comparison
        Both error rates, each as `evaluate_table` estimates it, and their difference, whose own estimate has a smaller
        standard error than the difference of the two.
    prior : PriorEstimate
        What is known about the share of positives.
    codes : array (rows,)
        1 positive, 0 negative, −1 unlabelled.
    groups : GroupEstimates, optional
        The difference for every group or window of time.
    windows : Windows, optional
        The groups.
    """

    names: tuple[str, str]
    found: Comparison
    prior: PriorEstimate
    codes: AnyArray
    groups: GroupEstimates | None = None
    windows: Windows | None = None

    def sentence(self) -> str:
        """Which model is better, in words."""
        return self.found.sentence(*(f"with {name}" for name in self.names))

    def group_sentence(self) -> str:
        """Groups in which the difference is another, in words; empty without groups."""
        if self.groups is None or self.windows is None:
            return ""
        return f"Difference in error by {self.windows.column}: {self.groups.sentence(percent=True)}"

    def group_rows(self) -> list[dict[str, str]]:
        """A table in words: the difference for all rows and for every group."""
        if self.groups is None or self.windows is None:
            return []
        return group_rows(
            self.groups, self.windows.column, "difference", window_sizes(self.windows, self.codes != UNLABELED)
        )

    def facts(self) -> dict[str, Any]:
        """All of it as plain values, as `pnulearn compare --json` prints them."""
        found = self.found
        grouped = group_facts(self.groups, self.windows, "")
        return {
            **{
                name: {"error": one.value, "from": one.low, "to": one.high}
                for name, one in zip(self.names, (found.first, found.second), strict=True)
            },
            "difference": found.difference,
            "standard_error": found.stderr,
            "interval": [found.low, found.high],
            **prior_facts(self.prior),
            **grouped,
            "verdict": " ".join(filter(None, (self.sentence(), self.group_sentence()))),
        }


def compare_table(
    table: Table,
    label: str,
    options: TableOptions,
    *,
    models: Sequence[tuple[str, TableModel]] = (),
    scores: Sequence[str] = (),
    threshold: float | None = None,
    by: str | None = None,
) -> TableComparison:
    """Compare two models or columns of scores on all rows of a table.

    Parameters
    ----------
    table : Table
        The rows, which must not have been used to fit either model.
    label : str
        The column of labels; missing ones mark unlabelled rows.
    options : TableOptions
        Positive label, prior, sampling, weights, groups and columns to leave out.
    models : sequence of (str, TableModel)
        Models with their names.
    scores : sequence of str
        Columns of scores or predicted labels. Models and columns together are two.
    threshold : float, optional
        Scores of columns above this mean positive; a score equal to it is predicted negative.
    by : str, optional
        A column of groups, or of dates to be cut into windows ("date:month").
    """
    find_origins(table, label, None, options.weights, options.drop, options.groups, said=True)  # refuses the label
    labels = table_labels(table, label, options.pos_label, options.unlabeled)
    found = [_model_scores(table, name, model, labels) for name, model in models]
    found += [score_column(table, column, labels.classes, threshold) for column in scores]
    names = [*(name for name, _ in models), *scores]
    first, second = names if names[0] != names[1] else (f"{names[0]} (first)", f"{names[1]} (second)")
    sampling = settle_sampling(options, [] if scores else [model for _, model in models])
    weight, together = read_weights(table, options.weights), read_row_groups(table, options.groups)
    note_of_one_class(sampling, labels)
    one_class = sampling == "random" and not labels.counts.all()
    count = LabelCount(labels.codes, weight, together)
    given = known_prior(options.prior, None, None, count, None if one_class else sampling)
    counted = labels.counts if one_class else None
    dropped = [*options.drop, *filter(None, (options.weights, options.groups))]
    belief = settle_prior(given, table, label, labels, dropped, options.kinds, counted=counted, scores=scores)
    compare = _Comparer(labels.codes, found, weight, together, one_class)
    whole = compare.compare(slice(None), belief)
    first_error, second_error = (
        ErrorEstimator(labels, each, weight, together, None, one_class).estimate(belief, whole.confidence)[0]
        for each in found
    )
    whole = replace(whole, first=first_error, second=second_error)
    if abs(first_error.value - second_error.value - whole.difference) > CLOSE:
        note(["The difference is estimated by itself, which is more precise than subtracting the two errors."])
    windows = None if by is None else read_windows(table, by)
    groups = None
    if windows is not None:
        priors = group_priors(belief, options.prior, count if sampling == "random" and not one_class else None)
        groups = estimate_windows(partial(compare.difference, priors), windows, whole.confidence)
    return TableComparison((first, second), whole, belief, labels.codes, groups, windows)


def _model_scores(table: Table, name: str, model: TableModel, labels: Labels) -> AnyArray:
    if model.record.fingerprint == table.fingerprint:
        warn(f"{name} was fitted to this very file, so its error looks smaller than it is.")
    predictions = model.predict(table)
    note(predictions.remarks)
    same = model.classifier.classes_.tolist() == labels.classes.tolist()
    if not same and model.classifier.classes_.tolist() != labels.classes[::-1].tolist():
        raise ValueError(f"{name} tells {' from '.join(model.classes)}, not the labels in this column.")
    return predictions.scores if same else exchange_classes(predictions.scores)


@dataclass(frozen=True, eq=False)
class _Comparer:
    """Compares two models by their scores on rows with these class codes, weights and group numbers."""

    codes: AnyArray
    scores: Sequence[AnyArray]
    weight: AnyArray | None
    together: AnyArray | None
    one_class: bool = False  # labels of one class in one random sample: the unlabelled rows lack them

    def compare(self, rows: AnyArray | slice, prior: PriorEstimate, confidence: float = 0.95) -> Comparison:
        codes = self.codes[rows]
        population = np.ones(len(codes), dtype=bool) if self.one_class else codes == UNLABELED
        parts = [codes == 1, codes == 0, population]
        first, second = ([values[rows][part] for part in parts] for values in self.scores)
        weights, groups = (
            None if values is None else [values[rows][part] for part in parts]
            for values in (self.weight, self.together)
        )
        return compare_scores(first, second, prior, confidence=confidence, weights=weights, groups=groups)

    def difference(self, priors: GroupPriors, rows: AnyArray, confidence: float) -> Estimate:
        """The difference among these rows."""
        if not np.any(self.codes[rows] != UNLABELED):
            raise ValueError("It has no labelled row.")
        found = self.compare(rows, priors.of(rows), confidence)
        return Estimate(found.difference, found.stderr, found.low, found.high, confidence=confidence)
