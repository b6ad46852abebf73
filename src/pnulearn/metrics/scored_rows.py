"""Scores and labels of one table, taken apart into P, N and U."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_array, check_consistent_length

from pnulearn._problem.inputs import read_weights
from pnulearn._problem.labels import decode_labels, refuse_more_than_two


@dataclass(frozen=True)
class ScoredRows:
    """Row numbers of P, N and U, and what belongs to them."""

    rows: tuple[NDArray, NDArray, NDArray]
    weight: NDArray

    def take(self, values: NDArray) -> tuple[NDArray, NDArray, NDArray]:
        """Those values on P, on N and on U."""
        positive, negative, unlabeled = self.rows
        return values[positive], values[negative], values[unlabeled]

    @property
    def weights(self) -> tuple[NDArray, NDArray, NDArray]:
        return self.take(self.weight)


def split_scored_rows(
    y_true: ArrayLike, unlabeled: Any, pos_label: Any, sample_weight: ArrayLike | None = None
) -> ScoredRows:
    """Which rows are positive, negative and unlabelled; two classes are needed."""
    labels = decode_labels(y_true, unlabeled, pos_label)
    refuse_more_than_two(labels.classes)
    weight = read_weights(sample_weight, len(labels.codes))
    positive, negative, unlabeled_rows = (rows[weight[rows] > 0] for rows in labels.groups)
    return ScoredRows((positive, negative, unlabeled_rows), weight)


def read_scores(y_score: ArrayLike, n_rows: int, threshold: float) -> NDArray:
    """Finite scores, one per row, moved so that the decision falls at zero."""
    scores = check_array(y_score, ensure_2d=False, dtype=np.float64, input_name="y_score")
    if scores.ndim != 1:
        raise ValueError(f"y_score has shape {scores.shape}; one score per row is needed, e.g. predict_proba(X)[:, 1].")
    check_consistent_length(scores, np.empty(n_rows))
    return scores - threshold
