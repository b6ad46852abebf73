"""Detection of likely label errors from out-of-fold scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pnulearn._arrays import AnyArray, FloatArray, IntArray
from pnulearn._problem.alignment import refuse_misaligned
from pnulearn.metrics._scored_rows import read_scores, split_scored_rows
from pnulearn.metrics._second_model import calibrate_opinion
from pnulearn.priors._resolve import read_prior


@dataclass(frozen=True)
class Suspects:
    """Labelled rows, ordered from most to least suspicious.

    Parameters
    ----------
    rows : array (n,)
        Row numbers.
    label : array (n,)
        Their labels.
    doubt : array (n,)
        Probability of the other class, from a logistic calibration of the scores.
    """

    rows: IntArray
    label: AnyArray
    doubt: FloatArray

    def __str__(self) -> str:
        lines = [
            f"row {row}: labelled {label}, doubt {doubt:.2f}" for row, label, doubt in zip(*self._first, strict=True)
        ]
        return "\n".join(lines)

    @property
    def _first(self) -> tuple[list[Any], list[Any], list[float]]:
        return self.rows[:10].tolist(), self.label[:10].tolist(), self.doubt[:10].tolist()


def suspicious_rows(
    y_true: ArrayLike, y_score: ArrayLike, *, prior: Any, unlabeled: Any = None, pos_label: Any = None
) -> Suspects:
    """Rank labelled rows by disagreement between their labels and out-of-fold scores.

    Scores must be out of fold: `PNUClassifier(...).fit(X, y).validation_scores_`, or `cross_val_predict`.

    Parameters
    ----------
    y_true : array (rows,)
        Labels. Missing values and the value `unlabeled` mark unlabelled rows.
    y_score : array (rows,)
        Out-of-fold scores, positive for the positive class.
    prior : float, (float, float), distribution or PriorEstimate
        Class prior: share of positives in the population.
    unlabeled : object, optional
        Value in y that marks unlabelled rows, in addition to missing values.
    pos_label : object, optional
        The positive class. Default: the larger label.

    Examples
    --------
    >>> y = [1, 1, 1, 1, 0, 0, 0, 0, None, None]
    >>> score = [2.0, 1.5, 2.5, -2.0, -2.0, -1.5, -2.5, -1.0, 1.0, -1.0]
    >>> suspicious_rows(y, score, prior=0.5).rows[0].item()
    3
    """
    refuse_misaligned(y_true=y_true, y_score=y_score)
    groups = split_scored_rows(y_true, unlabeled, pos_label)
    scores = read_scores(y_score, len(groups.weight), 0.0)
    labeled = np.concatenate(groups.rows[:2])
    if not (len(groups.rows[0]) and len(groups.rows[1])):
        raise ValueError("Labelled rows of both classes are needed to find label errors.")
    opinions = scores[:, None] / (float(scores.std()) or 1.0)
    usual = groups.rows[2] if len(groups.rows[2]) else labeled
    parts = [opinions[rows] for rows in (groups.rows[0], groups.rows[1], usual)]
    calibration = calibrate_opinion(parts, [np.ones(len(part)) for part in parts], float(read_prior(prior).mean))
    positive = np.repeat([True, False], [len(groups.rows[0]), len(groups.rows[1])])
    chance = calibration(opinions[labeled])
    doubt = np.where(positive, 1 - chance, chance)
    order = np.lexsort((labeled, -doubt))
    label = np.asarray(groups.classes)[positive.astype(int)]
    return Suspects(labeled[order], label[order], doubt[order])
