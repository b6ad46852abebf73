"""Confusion matrix in the population, for two or more classes, from labelled and unlabelled rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_consistent_length, column_or_1d

from pnulearn._arrays import AnyArray, FloatArray
from pnulearn._intervals.posterior_draws import draw_confusion, percentile_interval
from pnulearn._intervals.posterior_grids import DecisionRates, decision_rates_posterior
from pnulearn._problem.alignment import refuse_misaligned
from pnulearn._problem.labels import UNLABELED, Labels, decode_labels
from pnulearn._problem.samples import Sampling
from pnulearn.metrics._estimate import Estimate
from pnulearn.metrics._population import read_population
from pnulearn.metrics._scored_rows import ScoredRows
from pnulearn.priors._estimate import PriorEstimate
from pnulearn.priors._resolve import read_prior, read_share

N_DRAWS = 4000  # points of the posterior, if one class has no labelled rows


@dataclass(frozen=True)
class Confusion:
    """Confusion matrix as shares of the population: true class (rows) by predicted class (columns), with intervals.

    Parameters
    ----------
    classes : array (classes,)
        Names of the classes, in the order of rows and columns.
    matrix : array (classes, classes)
        Shares of the population, which sum to one.
    low : array (classes, classes)
        Lower ends of the intervals.
    high : array (classes, classes)
        Upper ends of the intervals.
    error : Estimate
        Share of the population that is misclassified.
    recall : tuple of Estimate
        Recall of every class.
    precision : tuple of Estimate
        Precision of every class.
    """

    classes: AnyArray
    matrix: FloatArray
    low: FloatArray
    high: FloatArray
    error: Estimate
    recall: tuple[Estimate, ...]
    precision: tuple[Estimate, ...]

    def __str__(self) -> str:
        lines = [f"error {self.error}"]
        for name, recall, precision in zip(self.classes.tolist(), self.recall, self.precision, strict=True):
            lines.append(f"{name}: recall {recall}; precision {precision}")
        return "\n".join(lines)


def pnu_confusion(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    prior: Any,
    confidence: float = 0.95,
    sampling: Sampling = "by_class",
    unlabeled: Any = None,
) -> Confusion:
    """Confusion matrix, error, recalls and precisions of predicted labels, for two classes or more.

    Labelled rows estimate the distribution of predictions within each class. Unlabelled rows estimate how often each
    class is predicted. The two are combined by generalised least squares. With two classes, one of them may have no
    labelled rows: its part is what the unlabelled rows leave over.

    Parameters
    ----------
    y_true : array (rows,)
        Labels. Missing values and the value `unlabeled` mark unlabelled rows.
    y_pred : array (rows,)
        Predicted labels of all rows.
    prior : mapping from class to share, float for two classes, or PriorEstimate
        Shares of the classes in the population.
    confidence : float
        Confidence level of every interval.
    sampling : "by_class" or "random"
        As in `pnu_risk`; it matters with labels of one class of two alone.
    unlabeled : object, optional
        Value in y that marks unlabelled rows, in addition to missing values.

    Examples
    --------
    >>> y = ["a"] * 8 + ["b"] * 8 + ["c"] * 8 + [None] * 60
    >>> called = ["a"] * 7 + ["b"] + ["b"] * 7 + ["c"] + ["c"] * 8 + ["a"] * 30 + ["b"] * 15 + ["c"] * 15
    >>> found = pnu_confusion(y, called, prior={"a": 0.5, "b": 0.25, "c": 0.25})
    >>> round(found.error.value, 2), bool(abs(found.matrix.sum() - 1) < 1e-9)
    (0.08, True)
    """
    refuse_misaligned(y_true=y_true, y_pred=y_pred)
    read_share(confidence, "confidence")
    labels = decode_labels(y_true, unlabeled)
    class_prior = read_prior(prior, labels.classes)
    table = _tabulate(labels, column_or_1d(np.asarray(y_pred)))
    if len(labels.classes) == 2 and not labels.counts.all():
        return _summarise(labels.classes, _draw_of_one_class(labels, table, class_prior, sampling), confidence)
    return _summarise(labels.classes, draw_confusion(table, class_prior), confidence)


def _tabulate(labels: Labels, predicted: AnyArray) -> FloatArray:
    """Row counts by true class, unlabelled rows last, and predicted class, (classes + 1, classes)."""
    check_consistent_length(labels.codes, predicted)
    names = labels.classes.tolist()
    strange = [name for name in np.unique(predicted).tolist() if name not in names]
    if strange:
        raise ValueError(f"y_pred holds {strange[0]!r}, which is not a label of y: {names}.")
    if (labels.counts == 0).any() and (len(names) > 2 or not labels.n_unlabeled):
        raise ValueError(f"Every class needs labelled rows; {names[int(np.argmin(labels.counts))]!r} has none.")
    called = np.array([names.index(name) for name in predicted.tolist()])
    table = np.zeros((len(names) + 1, len(names)))
    np.add.at(table, (np.where(labels.codes == UNLABELED, len(names), labels.codes), called), 1)
    return table


def _draw_of_one_class(labels: Labels, table: FloatArray, prior: PriorEstimate, sampling: Sampling) -> FloatArray:
    """Confusion matrices (1 + draws, 2, 2) from labels of one class and unlabelled rows, the estimate first."""
    rows = ScoredRows(labels.groups, np.ones(len(labels.codes)), labels.classes)
    population = read_population(prior, sampling, rows)
    size = table.sum(axis=1)[[1, 0, 2]]
    share = table[[1, 0, 2], [0, 1, 1]] / np.maximum(size, 1)
    q = float(population.of_unlabeled.mean)
    priors, rates, probability = decision_rates_posterior(share, size, population.of_unlabeled)
    kept = np.searchsorted(np.cumsum(probability), (np.arange(N_DRAWS) + 0.5) / N_DRAWS)
    kept = np.minimum(kept, len(probability) - 1)
    theta = np.append(population.prior(q), population.prior(priors[kept]))
    fnr, fpr = np.column_stack([DecisionRates(share, size, q).fit(), rates[:, kept]])
    matrix = [[(1 - theta) * (1 - fpr), (1 - theta) * fpr], [theta * fnr, theta * (1 - fnr)]]
    return np.moveaxis(np.array(matrix), 2, 0)


def _summarise(classes: AnyArray, matrix: FloatArray, confidence: float) -> Confusion:
    """Estimates and intervals from an array (1 + draws, classes, classes) that holds the estimate first."""
    right = np.einsum("dkk->dk", matrix)

    def estimate(values: FloatArray) -> Estimate:
        low, high = percentile_interval(values, confidence)
        return Estimate(float(values[0]), float(values[1:].std()), float(low), float(high), confidence=confidence)

    recall, precision = right / matrix.sum(axis=2), right / np.maximum(matrix.sum(axis=1), 1e-12)
    return Confusion(
        classes,
        matrix[0],
        *percentile_interval(matrix, confidence),
        estimate(1 - right.sum(axis=1)),
        tuple(map(estimate, recall.T)),
        tuple(map(estimate, precision.T)),
    )
