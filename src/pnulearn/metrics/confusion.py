"""The confusion matrix of any number of classes in the population, from labels by class and unlabelled rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_consistent_length, column_or_1d

from pnulearn._arrays import AnyArray, FloatArray
from pnulearn._problem.labels import UNLABELED, Labels, decode_labels
from pnulearn.metrics.estimate import Estimate
from pnulearn.priors.estimate import PriorEstimate
from pnulearn.priors.given import read_prior, read_share

N_DRAWS = 2000
JEFFREYS = 0.5
SEED = 0


@dataclass(frozen=True)
class Confusion:
    """Shares of the population by true class (rows) and by what they are called (columns), with intervals.

    Parameters
    ----------
    classes : array (classes,)
        Names of the classes, in the order of rows and columns.
    matrix : array (classes, classes)
        Shares of the population; they add up to one.
    low : array (classes, classes)
        Lower ends of the intervals.
    high : array (classes, classes)
        Upper ends.
    error : Estimate
        Share of the population that is called something else than it is.
    recall : tuple of Estimate
        Of every class: the share that is called so.
    precision : tuple of Estimate
        Of the rows that are called a class: the share that belongs to it.
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
    y_true: ArrayLike, y_pred: ArrayLike, *, prior: Any, confidence: float = 0.95, unlabeled: Any = None
) -> Confusion:
    """Confusion matrix, error, recalls and precisions of predicted labels, for two classes or more.

    How often each class is called what comes from the labelled rows, and how often each name is called from the
    unlabelled ones; the two are made to agree, each giving way as far as it is uncertain.

    Parameters
    ----------
    y_true : array (rows,)
        Labels; missing values and `unlabeled` mark unlabelled rows.
    y_pred : array (rows,)
        Predicted labels of all rows.
    prior : mapping from class to share, float for two classes, or PriorEstimate
        Shares of the classes in the population.
    confidence : float
        Probability that every interval is to hold the truth with.
    unlabeled : object, optional
        The value in y that marks unlabelled rows; missing values always do.

    Examples
    --------
    >>> y = ["a"] * 8 + ["b"] * 8 + ["c"] * 8 + [None] * 60
    >>> called = ["a"] * 7 + ["b"] + ["b"] * 7 + ["c"] + ["c"] * 8 + ["a"] * 30 + ["b"] * 15 + ["c"] * 15
    >>> found = pnu_confusion(y, called, prior={"a": 0.5, "b": 0.25, "c": 0.25})
    >>> round(found.error.value, 2), bool(abs(found.matrix.sum() - 1) < 1e-9)
    (0.08, True)
    """
    read_share(confidence, "confidence")
    labels = decode_labels(y_true, unlabeled)
    belief = read_prior(prior, labels.classes)
    table = _tabulate(labels, column_or_1d(np.asarray(y_pred)))
    rng = np.random.default_rng(SEED)
    shares = _draw_shares(belief, rng)
    matrix = shares[:, :, None] * _draw_rates(table, shares, rng)
    return _summarise(labels.classes, matrix, confidence)


def _tabulate(labels: Labels, predicted: AnyArray) -> FloatArray:
    """Rows of every class, and unlabelled ones last, by what they are called, (classes + 1, classes)."""
    check_consistent_length(labels.codes, predicted)
    names = labels.classes.tolist()
    strange = [name for name in np.unique(predicted).tolist() if name not in names]
    if strange:
        raise ValueError(f"y_pred holds {strange[0]!r}, which is no label of y: {names}.")
    if (labels.counts == 0).any():
        raise ValueError(f"Every class needs labelled rows; {names[int(np.argmin(labels.counts))]!r} has none.")
    called = np.array([names.index(name) for name in predicted.tolist()])
    table = np.zeros((len(names) + 1, len(names)))
    np.add.at(table, (np.where(labels.codes == UNLABELED, len(names), labels.codes), called), 1)
    return table


def _draw_shares(belief: PriorEstimate, rng: np.random.Generator) -> FloatArray:
    """Shares of the classes: the ones in use, then draws, (1 + draws, classes)."""
    fixed = np.repeat(belief.shares[None], N_DRAWS + 1, axis=0)
    if belief.concentration is not None:
        fixed[1:] = rng.dirichlet(belief.shares * belief.concentration, N_DRAWS)
    elif belief.spread:
        points = belief.points(25)[np.arange(N_DRAWS) % 25]
        fixed[1:] = np.column_stack([1 - points, points])
        fixed[0] = [1 - float(belief.mean), float(belief.mean)]
    return fixed


def _draw_rates(table: FloatArray, shares: FloatArray, rng: np.random.Generator) -> FloatArray:
    """What rows of each class are called: as seen, then drawn, (1 + draws, classes, classes), in agreement with U.

    U says u = Σ shares_k rates_k up to its own noise. With covariances S_k of the rates and S_U of u, rates move by
    shares_k S_k (Σ shares_j² S_j + S_U)⁻¹ (u − Σ shares_j rates_j).
    """
    n_classes = table.shape[1]
    start = np.where(np.eye(n_classes) > 0, JEFFREYS, JEFFREYS / (n_classes - 1))
    counts = table[:-1] + start
    seen = table[:-1] / table[:-1].sum(axis=1, keepdims=True)
    drawn = np.stack([rng.dirichlet(row, N_DRAWS) for row in counts], axis=1)
    rates = np.concatenate([seen[None], drawn])
    n_unlabeled = table[-1].sum()
    if not n_unlabeled:
        return rates
    spreads = np.array([_multinomial(row) for row in counts])
    called = np.vstack([table[-1] / n_unlabeled, rng.dirichlet(table[-1] + JEFFREYS / n_classes, N_DRAWS)])
    gap = called - np.einsum("dk,dkj->dj", shares, rates)
    total = np.einsum("dk,kij->dij", shares**2, spreads) + _multinomial(table[-1] + JEFFREYS / n_classes)
    move = np.einsum("kij,djl,dl->dki", spreads, np.linalg.pinv(total, rcond=1e-9, hermitian=True), gap)
    rates = np.clip(rates + shares[:, :, None] * move, 0, None)
    return rates / np.maximum(rates.sum(axis=2, keepdims=True), 1e-300)


def _multinomial(count: FloatArray) -> FloatArray:
    """Covariance of the shares of so many rows."""
    share = count / count.sum()
    return (np.diag(share) - np.outer(share, share)) / count.sum()


def _summarise(classes: AnyArray, matrix: FloatArray, confidence: float) -> Confusion:
    """Row 0 of the draws is the estimate."""
    right = np.einsum("dkk->dk", matrix)
    tails = [(1 - confidence) / 2, (1 + confidence) / 2]

    def estimate(values: FloatArray) -> Estimate:
        low, high = np.quantile(values[1:], tails)
        value = float(values[0])
        return Estimate(value, float(values[1:].std()), min(low, value), max(high, value), confidence=confidence)

    low, high = np.quantile(matrix[1:], tails, axis=0)
    recall, precision = right / matrix.sum(axis=2), right / np.maximum(matrix.sum(axis=1), 1e-12)
    return Confusion(
        classes,
        matrix[0],
        np.minimum(low, matrix[0]),
        np.maximum(high, matrix[0]),
        estimate(1 - right.sum(axis=1)),
        tuple(map(estimate, recall.T)),
        tuple(map(estimate, precision.T)),
    )
