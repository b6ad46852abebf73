"""From scores of any classifier to log-odds under the population's prior, with what the unlabelled rows say of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, log_softmax, softmax

from pnulearn._arrays import AnyArray
from pnulearn._learning.calibration import fit_slope
from pnulearn._problem.samples import Samples
from pnulearn.priors.estimate import PriorEstimate

LEAST = 1e-3  # a forest of a few hundred trees knows no smaller probability
FARTHEST = 60.0  # log-odds
LEAST_SLOPE = 0.1  # of odds: some dozens of held-out rows that say nothing do not make a model's order worthless
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
    """The adjustment for scores (n, K) of rows that were `held_out`; the odds are corrected where there are odds.

    The labels say where the threshold is, and so does U: the mean probability among its rows must be the prior. Each
    has a standard error, and they are weighed by their squares. A prior that is hardly known moves neither.
    """
    counts = rows.counts
    prior = cautious(prior, float(counts[-1] / counts.sum()))
    correction = np.log(prior.shares) - np.log(counts / counts.sum()) if with_odds else np.zeros(len(counts))
    if held_out is None or len(rows.unlabeled) == 0:
        return Adjustment(1.0, correction)
    if len(counts) > 2:
        return _adjust_many(held_out + correction, rows, prior, correction)
    g = (held_out + correction) @ [-1.0, 1.0]
    slope = fit_slope(g[None], rows, prior.shares)
    if with_odds and prior.mass is not None:  # nothing else would hold the threshold in its place
        slope = max(slope, LEAST_SLOPE)
    g = slope * g
    labeled, population = rows.labeled, rows.population
    of_population = brentq(
        lambda b: np.average(expit(g[population] + b), weights=rows.weight[population]) - float(prior.shares[1]),
        *(-FARTHEST - np.abs(g).max(), FARTHEST + np.abs(g).max()),
    )
    by_labels = _label_variance(expit(g[labeled]), rows.weight[labeled])
    by_population = _population_variance(expit(g[population] + of_population), rows.weight[population], prior.spread)
    weight = by_labels / (by_labels + by_population)
    return Adjustment(slope, slope * correction + np.array([0.0, weight * of_population]), float(weight))


def cautious(prior: PriorEstimate, labeled: float) -> PriorEstimate:
    """A prior of two classes that leaves the labels' share only as far as it is surer than it is far from it.

    The wrapped model is right for the share that it was fitted to. The squared distance d² of an estimate's mean from
    that share overstates the true one by the variance v, so d²/(d² + v) of the way is gone; a known prior is taken as
    it is.

    >>> float(cautious(PriorEstimate.known(0.2), 0.5))
    0.2
    >>> sure, unsure = (cautious(PriorEstimate.of_range(*ends), 0.5).value for ends in ((0.15, 0.25), (0.02, 0.6)))
    >>> bool(sure < 0.21), bool(0.3 < unsure < 0.5)
    (True, True)
    """
    if prior.mass is None:
        return prior
    distance = float(prior.mean) - labeled
    if distance == 0:
        return replace(prior, value=labeled)
    return replace(prior, value=labeled + distance**3 / (distance**2 + prior.spread**2))


def _adjust_many(scores: AnyArray, rows: Samples, prior: PriorEstimate, correction: AnyArray) -> Adjustment:
    """The same for more classes: shifts are found by proportional fitting, and drawn by one common weight."""
    labeled, population = rows.labeled, rows.population
    shift, share = np.zeros(scores.shape[1]), rows.weight[population] / rows.weight[population].sum()
    for _ in range(ROUNDS):
        shift += np.log(prior.shares) - np.log(share @ softmax(scores[population] + shift, axis=1))
    by_labels = _label_variance(softmax(scores[labeled], axis=1), rows.weight[labeled])
    sd = np.nan_to_num(np.asarray(0.0 if prior.is_known else prior.sd, dtype=float))
    by_population = _population_variance(softmax(scores[population] + shift, axis=1), rows.weight[population], sd)
    weight = float(np.mean(by_labels) / np.mean(by_labels + by_population))
    return Adjustment(1.0, correction + weight * shift, weight)


def _label_variance(p: AnyArray, weight: AnyArray) -> AnyArray:
    """Of an intercept of log-odds that labelled rows with these probabilities tell: one over its information."""
    return 1 / np.maximum(weight @ (p * (1 - p)), 1e-12)


def _population_variance(p: AnyArray, weight: AnyArray, sd: Any) -> AnyArray:
    """Of the intercept at which the mean probability is the prior: the errors of both, over the mean's slope."""
    share = weight / weight.sum()
    error = np.square(sd) + (share**2) @ np.square(p - share @ p)
    return error / np.maximum(share @ (p * (1 - p)), 1e-12) ** 2
