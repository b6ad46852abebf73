"""Convert scores to class probabilities under the population prior."""

from __future__ import annotations

import numpy as np
from scipy.special import expit, log_expit, softmax

from pnulearn._arrays import AnyArray
from pnulearn._learning.selection import validation_mix
from pnulearn._problem.samples import Samples
from pnulearn._solvers.candidates import FeatureMatrix
from pnulearn._solvers.newton import SmoothProblem
from pnulearn._solvers.objectives import Objective, objective, shares_in_means
from pnulearn.losses import Logistic, Loss
from pnulearn.risks import pnu

PENALTY = 1e-3
LEAST_SLOPE = 1e-3  # for scores divided by their root mean square; keeps the slope positive if scores are uninformative
JUST_MORE_LIKELY = np.nextafter(0.5, 1)


def score_calibration(
    loss: Loss, scores: AnyArray, rows: Samples, prior: AnyArray, *, held_out: bool
) -> AnyArray | None:
    """Slope and shift of the log-odds for each output, shape (K, 2), or None if scores are 2 P(+|x) − 1.

    The link of the loss determines whether the minimiser of its risk is 2 P(+|x) − 1 ("identity") or the log-odds
    ("logit"). Without a link, scores give only the order of rows and, by their sign, whether P(+|x) exceeds 1/2. The
    slope is then fitted to the `scores` (K, n), where NaN marks rows without a score. With two classes and `held_out`
    scores this is done for "identity", too, because penalised scores are nearer to 0 than 2 P(+|x) − 1. All outputs
    share one slope and the shift is 0, so that the most probable class is the one with the greatest score, as in
    `predict`.
    """
    if loss.link == "identity" and (len(scores) > 1 or not held_out):
        return None
    slope = 1.0 if loss.link == "logit" else fit_slope(scores, rows, prior)
    return np.tile([slope, 0.0], (len(scores), 1))


def fit_slope(scores: AnyArray, rows: Samples, prior: AnyArray) -> float:
    """The slope A > 0 for which A g are the log-odds of each output's class; it minimises the logistic PNU risk.

    The risk uses the population prior, so the probabilities hold for the population whatever the share of positives
    among the labels. Unlabelled rows contribute to the fit.
    """
    outputs = [1] if len(scores) == 1 else range(len(scores))
    terms = [_log_odds_risk(g, rows, prior, own) for g, own in zip(scores, outputs, strict=True)]
    g = np.concatenate([g[~np.isnan(g)] for g in scores])
    counts = np.concatenate([rows.weight[~np.isnan(g)] for g in scores])
    unit = float(np.sqrt(np.average(g**2, weights=counts))) or 1.0
    weight, side, slope = (np.concatenate(parts) for parts in zip(*terms, strict=True))
    total = Objective(Logistic(), weight, side, slope)
    found = SmoothProblem(FeatureMatrix(g[:, None] / unit)).minimize(total, PENALTY * len(scores))
    return max(float(found.coef[0]), LEAST_SLOPE) / unit


def _log_odds_risk(scores: AnyArray, rows: Samples, prior: AnyArray, own: int) -> tuple[AnyArray, AnyArray, AnyArray]:
    """Weight, side and slope of every row that has a score, with class `own` as P."""
    seen = np.flatnonzero(~np.isnan(scores))
    codes, weight = rows.codes[seen], rows.weight[seen]
    population = np.flatnonzero(np.isin(seen, rows.population))
    labeled = np.bincount(codes[codes >= 0], weights=weight[codes >= 0], minlength=len(prior))
    mix = validation_mix(prior, labeled, float(weight[population].sum()), own)
    risk = objective(pnu(prior[own], mix), Logistic(), shares_in_means(codes, weight, population, prior, own))
    return risk.weight, risk.side, risk.slope


def probabilities(scores: AnyArray, calibration: AnyArray | None) -> AnyArray:
    """Class probabilities, one column per class, from scores (n,) of two classes or (n, K) of more.

    >>> probabilities(np.array([0.0, 0.5, 2.0]), None).tolist()
    [[0.5, 0.5], [0.25, 0.75], [0.0, 1.0]]
    """
    if scores.ndim == 1:
        share = np.clip((1 + scores) / 2, 0, 1) if calibration is None else expit(_log_odds(scores, calibration[0]))
        share = np.where((scores > 0) & (share == 0.5), JUST_MORE_LIKELY, share)
        return np.column_stack([1 - share, share])
    if calibration is None:
        share = nearest_distribution((1 + scores) / 2)
    else:
        share = softmax(log_expit(_log_odds(scores, calibration.T)), axis=1)  # shares divided by their sum
    return _without_ties(share, scores.argmax(axis=1))


def _log_odds(scores: AnyArray, calibration: AnyArray) -> AnyArray:
    slope, shift = calibration
    return slope * scores + shift


def nearest_distribution(rows: AnyArray) -> AnyArray:
    """Project each row on the probability simplex: max(v − τ, 0), with τ such that the result sums to one.

    For two classes whose values sum to one this clips them to [0, 1].

    >>> nearest_distribution(np.array([[0.2, 0.9, 0.3], [1.5, -0.2, -0.3]])).round(3).tolist()
    [[0.067, 0.767, 0.167], [1.0, 0.0, 0.0]]
    """
    greatest_first = -np.sort(-rows, axis=1)
    tau = ((greatest_first.cumsum(axis=1) - 1) / np.arange(1, rows.shape[1] + 1)).max(axis=1, keepdims=True)
    return np.maximum(rows - tau, 0)


def _without_ties(share: AnyArray, winner: AnyArray) -> AnyArray:
    """Break ties caused by rounding: the predicted class gets the next larger floating-point number."""
    here, top = np.arange(len(share)), share.max(axis=1, initial=0)
    tied = (share[here, winner] == top) & (share.argmax(axis=1) != winner)
    share[here[tied], winner[tied]] = np.nextafter(top[tied], 2)
    return share
