"""From scores to class probabilities under the population prior."""

from __future__ import annotations

import numpy as np
from scipy.special import expit, logit

from pnulearn._arrays import AnyArray
from pnulearn._learning.tally import validation_mix
from pnulearn._problem.samples import Samples
from pnulearn._solvers.feature_matrix import FeatureMatrix
from pnulearn._solvers.objectives import objective, shares_in_means
from pnulearn._solvers.smooth import SmoothProblem
from pnulearn.losses import Logistic, Loss
from pnulearn.risks import pnu

PENALTY = 1e-3


def score_calibration(loss: Loss, scores: AnyArray, rows: Samples, prior: AnyArray) -> AnyArray | None:
    """Slope and shift of the log-odds for each output, shape (K, 2), or None if scores are 2 P(+|x) − 1.

    The link of the loss says whether scores are 2 P(+|x) − 1 or log-odds. Without one they tell the order of rows
    and no more, so log-odds are fitted to `scores` (K, n) of rows that the model has not seen; NaN marks
    rows without.
    """
    if loss.link == "identity":
        return None
    if loss.link == "logit":
        return np.tile([1.0, 0.0], (len(scores), 1))
    outputs = [1] if len(scores) == 1 else range(len(scores))
    return np.array([platt(g, rows, prior, own) for g, own in zip(scores, outputs, strict=True)])


def platt(scores: AnyArray, rows: Samples, prior: AnyArray, own: int = 1) -> tuple[float, float]:
    """(A, B) with A ≥ 0 such that A g + B are the log-odds of class `own`, by the PNU risk of the logistic loss.

    The risk is written in the population prior, so the probabilities are right for the population whatever the share
    of positives among the labels, and unlabelled rows help to fit them.
    """
    seen = np.flatnonzero(~np.isnan(scores))
    g, codes, weight = scores[seen], rows.codes[seen], rows.weight[seen]
    population = np.flatnonzero(np.isin(seen, rows.population))
    labeled = np.bincount(codes[codes >= 0], weights=weight[codes >= 0], minlength=len(prior))
    mix = validation_mix(prior, labeled, float(weight[population].sum()), own)
    unit = float(np.sqrt(np.mean(g**2))) or 1.0
    shares = shares_in_means(codes, weight, population, prior, own)
    problem = SmoothProblem(FeatureMatrix(g[:, None] / unit, intercept=True))
    found = problem.minimize(objective(pnu(prior[own], mix), Logistic(), shares), PENALTY)
    if found.coef[0] <= 0:  # scores that point the wrong way say nothing
        return 0.0, float(logit(prior[own]))
    return float(found.coef[0]) / unit, found.intercept


def probabilities(scores: AnyArray, calibration: AnyArray | None, prior: AnyArray | float) -> AnyArray:
    """Class probabilities, one column per class, from scores (n,) of two classes or (n, K) of more.

    >>> probabilities(np.array([0.0, 0.5, 2.0]), None, 0.5).tolist()
    [[0.5, 0.5], [0.25, 0.75], [0.0, 1.0]]
    """
    if calibration is None:
        share = np.clip((1 + scores) / 2, 0, 1)
    else:
        slope, shift = calibration[0] if scores.ndim == 1 else calibration.T
        share = expit(slope * scores + shift)
    if scores.ndim == 1:
        return np.column_stack([1 - share, share])
    total = share.sum(axis=1, keepdims=True)
    return np.where(total > 0, share / np.where(total > 0, total, 1), prior)
