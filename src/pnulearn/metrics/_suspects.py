"""Detection of likely label errors from out-of-fold scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pnulearn._arrays import AnyArray, FloatArray, IntArray
from pnulearn._problem.alignment import refuse_misaligned
from pnulearn._problem.samples import Sampling
from pnulearn.metrics._population import Population, read_population
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
    disagreement : array (n,)
        A score from 0 to 1: the probability of the other class if only the row's score were known, not its label. It is
        not the probability that the label is wrong, which is much smaller if few labels are wrong.
    """

    rows: IntArray
    label: AnyArray
    disagreement: FloatArray

    def __str__(self) -> str:
        lines = [
            f"row {row}: labelled {label}, disagreement {value:.2f}"
            for row, label, value in zip(*self._first, strict=True)
        ]
        return "\n".join(lines)

    @property
    def _first(self) -> tuple[list[Any], list[Any], list[float]]:
        return self.rows[:10].tolist(), self.label[:10].tolist(), self.disagreement[:10].tolist()


def suspicious_rows(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    prior: Any,
    sampling: Sampling = "by_class",
    unlabeled: Any = None,
    pos_label: Any = None,
) -> Suspects:
    """Rank labelled rows by disagreement between their labels and out-of-fold scores.

    Scores must be out of fold: `PNUClassifier(...).fit(X, y).validation_scores_`, or `cross_val_predict`.
    With labelled rows of one class alone, these are compared with the unlabelled rows.

    Parameters
    ----------
    y_true : array (rows,)
        Labels. Missing values and the value `unlabeled` mark unlabelled rows.
    y_score : array (rows,)
        Out-of-fold scores, positive for the positive class.
    prior : float, (float, float), distribution or PriorEstimate
        Class prior: share of positives in the population.
    sampling : "by_class" or "random"
        As in `pnu_risk`; it matters with labels of one class alone.
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
    opinions = scores[:, None] / (float(scores.std()) or 1.0)
    positive = np.repeat([True, False], [len(groups.rows[0]), len(groups.rows[1])])
    if positive.any() and not positive.all():
        usual = groups.rows[2] if len(groups.rows[2]) else labeled
        parts = [opinions[rows] for rows in (groups.rows[0], groups.rows[1], usual)]
        calibration = calibrate_opinion(parts, [np.ones(len(part)) for part in parts], float(read_prior(prior).mean))
        chance = calibration(opinions[labeled])
        disagreement = np.where(positive, 1 - chance, chance)
    elif len(groups.rows[2]):
        population = read_population(prior, sampling, groups)
        disagreement = _disagreement_of_one_class(
            opinions[labeled], opinions[groups.rows[2]], population, bool(positive[0])
        )
    else:
        raise ValueError("Labelled rows of both classes, or of one class and unlabelled rows, are needed.")
    order = np.lexsort((labeled, -disagreement))
    label = np.asarray(groups.classes)[positive.astype(int)]
    return Suspects(labeled[order], label[order], disagreement[order])


def _disagreement_of_one_class(
    labeled: AnyArray, unlabeled: AnyArray, population: Population, positive: bool
) -> AnyArray:
    """The probability of the other class at the scores of labelled rows of one class, in the population.

    Labelled and unlabelled rows are told apart by logistic regression with equal shares, whose odds are the ratio r of
    their densities. Among unlabelled rows with that score the share q r is of the class, at most all of them.
    """
    mean = float(population.of_unlabeled.mean)
    q, s = mean if positive else 1 - mean, 0.0 if population.sample is None else population.sample.share
    parts = [labeled, unlabeled, np.concatenate([labeled, unlabeled])]
    equal = [
        np.ones(len(labeled)),
        np.ones(len(unlabeled)),
        np.repeat([1 / len(labeled), 1 / len(unlabeled)], [len(labeled), len(unlabeled)]),
    ]
    chance = calibrate_opinion(parts, equal, 0.5)(labeled)
    ratio = chance / np.maximum(1 - chance, 1e-12)
    of_rest = (1 - s) * np.clip(1 - q * ratio, 0, 1)  # density of the other class, in units of that of U
    return np.asarray(of_rest / (s * ratio + (1 - s)))
