"""Validation of the metrics' arguments: labels, scores and costs."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_array, check_consistent_length

from pnulearn._arrays import AnyArray, FloatArray, IntArray
from pnulearn._problem.inputs import read_weights, unmasked
from pnulearn._problem.labels import decode_labels, refuse_more_than_two

EQUAL_COSTS = (1.0, 1.0)


@dataclass(frozen=True)
class ScoredRows:
    """Row numbers of P, N and U, weights of all rows, and the two classes."""

    rows: tuple[IntArray, IntArray, IntArray]
    weight: FloatArray
    classes: AnyArray

    def take(self, values: AnyArray) -> tuple[AnyArray, AnyArray, AnyArray]:
        """`values` on P, on N and on U."""
        positive, negative, unlabeled = self.rows
        return values[positive], values[negative], values[unlabeled]

    @property
    def weights(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        return self.take(self.weight)


def split_scored_rows(
    y_true: ArrayLike, unlabeled: Any, pos_label: Any, sample_weight: ArrayLike | None = None
) -> ScoredRows:
    """Split rows into positive, negative and unlabelled. Raises if y has more than two classes."""
    labels = decode_labels(y_true, unlabeled, pos_label)
    refuse_more_than_two(labels.classes)
    weight = read_weights(sample_weight, len(labels.codes))
    positive, negative, unlabeled_rows = (rows[weight[rows] > 0] for rows in labels.groups)
    return ScoredRows((positive, negative, unlabeled_rows), weight, labels.classes)


def read_scores(y_score: ArrayLike, n_rows: int, threshold: float | None) -> FloatArray:
    """Finite scores, one per row, shifted so that the threshold is zero; rows above it are predicted positive.

    The default threshold is 0, with a warning if no score is below 0, as for probabilities and percentages.
    """
    y_score = unmasked(y_score, "y_score")
    scores: FloatArray = check_array(y_score, ensure_2d=False, dtype=np.float64, input_name="y_score")
    if scores.ndim != 1:
        raise ValueError(f"y_score has shape {scores.shape}; one score per row is needed, e.g. predict_proba(X)[:, 1].")
    check_consistent_length(scores, np.empty(n_rows))
    if threshold is None:
        _warn_without_negative_scores(scores)
        return scores
    if not isinstance(threshold, Real) or not np.isfinite(threshold):
        raise ValueError(f"threshold must be a finite number, got {threshold!r}: 0 for scores, 0.5 for probabilities.")
    return scores - threshold


def _warn_without_negative_scores(scores: FloatArray) -> None:
    if len(scores) < 2 or scores.min() < 0 or not scores.any():
        return
    if scores.max() <= 1:
        found, remedy = (
            "All of y_score lies between 0 and 1",
            "probabilities or predictions of 0 and 1, pass threshold=0.5",
        )
    else:
        found, remedy = "No value of y_score is below 0", "percentages, pass threshold=50"
    warnings.warn(
        f"{found}, so every row with a score above 0 is predicted positive. If these are {remedy}; if 0 is the right "
        "threshold, pass threshold=0.",
        UserWarning,
        stacklevel=5,
    )


def read_costs(costs: Any) -> tuple[float, float]:
    """Two positive, finite costs.

    >>> read_costs((5, 1))
    (5.0, 1.0)
    """
    try:
        values = np.asarray(costs, dtype=float)
    except (TypeError, ValueError):
        values = np.zeros(0)
    if values.shape != (2,) or not (np.isfinite(values).all() and (values > 0).all()):
        raise ValueError(f"costs must be two positive numbers (false negative, false positive), got {costs!r}.")
    return float(values[0]), float(values[1])


def weighted_prior(prior: float, costs: tuple[float, float]) -> float:
    """Class prior after weighting each class by the cost of its errors: c_fn θ / (c_fn θ + c_fp (1 − θ)).

    >>> weighted_prior(0.5, (4.0, 1.0))
    0.8
    """
    return costs[0] * prior / (costs[0] * prior + costs[1] * (1 - prior))
