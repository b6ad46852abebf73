"""From scores of any classifier to log-odds under the population's prior, with what the unlabelled rows say of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import brentq, minimize_scalar
from scipy.special import expit, log_softmax, softmax

from pnulearn._arrays import AnyArray
from pnulearn._learning.calibration import PENALTY
from pnulearn._problem.samples import Samples
from pnulearn.priors.estimate import PriorEstimate

LEAST = 1e-3  # a forest of a few hundred trees knows no smaller probability
FARTHEST = 60.0  # log-odds
SLOPES = (0.05, 50.0)  # of scores in units of their size: held-out rows that say nothing do not make them worthless
USUAL_DISTANCE = 0.3  # of the population's share from the labels': the standard deviation of a share that may be any
ROUNDS = 200


@dataclass(frozen=True)
class Adjustment:
    """Log-odds in the population are slope × scores + shift; `weight` says how much of the shift is U's."""

    slope: float
    shift: AnyArray
    weight: float = 0.0

    def apply(self, scores: AnyArray) -> AnyArray:
        """Log-probabilities of every class, of scores (n, K)."""
        return log_softmax(self.slope * scores + self.shift, axis=1)


def has_odds(model: Any) -> bool:
    """Whether scores are log-probabilities under the labels' shares, which can be corrected to other shares."""
    return hasattr(model, "predict_proba")


def class_scores(model: Any, X: Any, classes: AnyArray) -> AnyArray:
    """Scores (n, K) of a fitted scikit-learn classifier, columns in the order of `classes`."""
    own = model.classes_.tolist()
    order = [own.index(name) for name in classes.tolist()]
    if has_odds(model):
        return np.log(np.clip(np.asarray(model.predict_proba(X))[:, order], LEAST, None))
    if not hasattr(model, "decision_function"):
        raise TypeError(
            f"{type(model).__name__} has neither predict_proba nor decision_function, so there are no odds to correct. "
            "Wrap it in sklearn.calibration.CalibratedClassifierCV."
        )
    scores = np.asarray(model.decision_function(X))
    both = np.column_stack([np.zeros_like(scores), scores]) if scores.ndim == 1 else scores
    return both[:, order] if scores.ndim > 1 or order == [0, 1] else -both


def adjust(held_out: AnyArray | None, rows: Samples, prior: PriorEstimate, with_odds: bool) -> Adjustment:
    """The adjustment for scores (n, K) of rows that were `held_out`: log-odds among the labels, then in the population.

    The labels say where the threshold is, and so does U: the mean probability among its rows must be the prior. Each
    has a standard error, and they are weighed by their squares. A prior that is hardly known moves neither.
    """
    counts = rows.counts
    labeled_shares = counts / counts.sum()
    prior = cautious(prior, labeled_shares)
    correction = np.log(prior.shares) - np.log(labeled_shares)
    if held_out is None or len(rows.unlabeled) == 0:
        return Adjustment(1.0, correction if with_odds else np.zeros(len(counts)))
    labeled, population, weight = rows.labeled, rows.population, rows.weight[rows.population]
    slope = label_slope(held_out[labeled], rows.codes[labeled], rows.weight[labeled])
    scores = slope * held_out + correction
    shift = matching_shift(scores[population], weight, prior.shares)
    by_labels = _label_variance(softmax(scores[labeled], axis=1), rows.weight[labeled])
    sd = np.nan_to_num(np.asarray(prior.sd, dtype=float))
    by_population = _population_variance(softmax(scores[population] + shift, axis=1), weight, sd)
    drawn = float(np.mean(by_labels) / np.mean(by_labels + by_population))
    return Adjustment(slope, correction + drawn * shift, drawn)


def label_slope(scores: AnyArray, codes: AnyArray, weight: AnyArray) -> float:
    """The factor that makes scores (n, K) of held-out labelled rows log-odds: the likeliest, with a penalty.

    A forest's votes are too timid, boosted odds too bold, and the margins of an SVM no odds at all.

    >>> codes = np.repeat([0, 1], [400, 400])
    >>> g = np.random.default_rng(0).normal(np.where(codes, 1.0, -1.0))  # log-odds are 2 g
    >>> bool(1.8 < label_slope(np.column_stack([-g / 2, g / 2]), codes, np.ones(800)) < 2.2)
    True
    """
    centered = scores - scores.mean(axis=1, keepdims=True)
    unit = float(np.sqrt(np.average(np.square(centered).sum(axis=1), weights=weight))) or 1.0
    centered = centered / unit

    def loss(log_slope: float) -> float:
        slope = np.exp(log_slope)
        own = log_softmax(slope * centered, axis=1)[np.arange(len(codes)), codes]
        return PENALTY * slope**2 - float(np.average(own, weights=weight))

    return float(np.exp(minimize_scalar(loss, bounds=np.log(SLOPES), method="bounded").x)) / unit


def matching_shift(scores: AnyArray, weight: AnyArray, shares: AnyArray) -> AnyArray:
    """What is to be added to log-odds (n, K) so that mean probabilities become these shares; its first entry is 0."""
    weight = weight / weight.sum()
    if len(shares) == 2:
        g = scores @ [-1.0, 1.0]
        far = FARTHEST + np.abs(g).max()
        return np.array([0.0, brentq(lambda b: weight @ expit(g + b) - float(shares[1]), -far, far)])
    shift = np.zeros(len(shares))
    for _ in range(ROUNDS):
        shift += np.log(shares) - np.log(weight @ softmax(scores + shift, axis=1))
    return shift - shift[0]


def cautious(prior: PriorEstimate, labeled: AnyArray) -> PriorEstimate:
    """A prior that is drawn towards the classes' shares among the labels, the more so the less sure it is.

    The wrapped model is right for the shares that it was fitted to. If those of populations lie d = 0.3 from them, an
    estimate of variance v is best followed d²/(d² + v) of the way, which is gone in log-odds: they are what is
    corrected. A known prior is taken as it is.

    >>> float(cautious(PriorEstimate.known(0.2), [0.5, 0.5]))
    0.2
    >>> ranges = ((0.15, 0.25), (0.02, 0.6))
    >>> sure, unsure = (cautious(PriorEstimate.of_range(*ends), [0.5, 0.5]).value for ends in ranges)
    >>> bool(sure < 0.21), bool(0.3 < unsure < 0.5)
    (True, True)
    """
    if prior.mass is None and prior.concentration is None:
        return prior
    variance = float(np.mean(np.square(prior.sd))) * len(prior.shares) / 2
    way = USUAL_DISTANCE**2 / (USUAL_DISTANCE**2 + variance)
    shares = softmax(way * np.log(prior.shares) + (1 - way) * np.log(labeled))
    return replace(prior, value=float(shares[1]) if len(shares) == 2 else shares)


def _label_variance(p: AnyArray, weight: AnyArray) -> AnyArray:
    """Of an intercept of log-odds that labelled rows with these probabilities tell: one over its information."""
    return 1 / np.maximum(weight @ (p * (1 - p)), 1e-12)


def _population_variance(p: AnyArray, weight: AnyArray, sd: Any) -> AnyArray:
    """Of the intercept at which the mean probability is the prior: the errors of both, over the mean's slope."""
    share = weight / weight.sum()
    error = np.square(sd) + (share**2) @ np.square(p - share @ p)
    return error / np.maximum(share @ (p * (1 - p)), 1e-12) ** 2
