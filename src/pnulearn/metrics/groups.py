"""Scores and labels of one table, taken apart into P, N and U."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_array, check_consistent_length

from pnulearn._problem.inputs import read_weights
from pnulearn._problem.labels import decode_labels


@dataclass(frozen=True)
class Groups:
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


def read_groups(y_true: ArrayLike, unlabeled: Any, pos_label: Any, sample_weight: ArrayLike | None = None) -> Groups:
    """Which rows are positive, negative and unlabelled; two classes are needed."""
    labels = decode_labels(y_true, unlabeled, pos_label)
    if len(labels.classes) != 2:
        raise ValueError(
            f"Two classes can be judged, and y holds {len(labels.classes)}: {labels.classes.tolist()}. "
            "Judge one class against the rest, or pass unlabeled=... if one of these marks unlabelled rows."
        )
    weight = read_weights(sample_weight, len(labels.codes))
    positive, negative, unlabeled_rows = (np.flatnonzero((labels.codes == code) & (weight > 0)) for code in (1, 0, -1))
    return Groups((positive, negative, unlabeled_rows), weight)


def read_scores(y_score: ArrayLike, n_rows: int, threshold: float) -> NDArray:
    """Finite scores, one per row, moved so that the decision falls at zero."""
    scores = check_array(y_score, ensure_2d=False, dtype=np.float64, input_name="y_score")
    if scores.ndim != 1:
        raise ValueError(f"y_score has shape {scores.shape}; one score per row is needed, e.g. predict_proba(X)[:, 1].")
    check_consistent_length(scores, np.empty(n_rows))
    return scores - threshold


def check_share(name: str, value: Any) -> float:
    """A number strictly between 0 and 1, or something that `float` turns into one, such as an estimated prior."""
    try:
        number = np.nan if isinstance(value, str) else float(value)
    except (TypeError, ValueError):
        number = np.nan
    if not 0 < number < 1:
        hint = f" For {number:g} percent pass {number / 100:g}." if 1 < number < 100 else ""
        raise ValueError(f"{name} must lie strictly between 0 and 1, got {value!r}.{hint}")
    return number
