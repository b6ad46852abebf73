"""The class prior of greatest likelihood for U, given calibrated class probabilities (Saerens et al. 2002)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Any

import numpy as np
from scipy.special import log_expit

from pnulearn._arrays import AnyArray
from pnulearn._intervals.posterior_draws import RowWeights, bayesian_bootstrap
from pnulearn._parameters import parameters
from pnulearn.priors._estimate import PriorEstimate, settle
from pnulearn.priors._estimator import PriorEstimator, generator
from pnulearn.priors._groups import Group, read_groups, standardize
from pnulearn.priors._posteriors import calibrate, held_out_posteriors

CLOSE = 1e-13  # tolerance of the gradient of the log-likelihood in the shares
MOST_STEPS = 100
LEAST_SHARE = 1e-15
TIED_DIGITS = 9  # log-odds are rounded to this many digits before they are ordered
MOST_DISTINCT = 400  # number of bins of the log-odds; 4,000 change the estimate by less than 1e-5


@parameters
class EMPrior(PriorEstimator):
    """EM on the class probabilities of U: the new prior is the mean posterior probability of each class.

        θ_k ← mean over U of  p_k(x) θ_k / Σ_j p_j(x) θ_j,     p = probabilities under equal class shares

    The likelihood is concave, so the result does not depend on the start. The probabilities are held out and
    calibrated; they come from kernel ridge candidates, or from `classifier` if one is given. The estimate is biased if
    they are miscalibrated; that of `ScorePrior` is not.

    Parameters
    ----------
    classifier : classifier, optional
        Classifier for the held-out scores; kernel ridge candidates by default.
    """

    method = "em"

    classifier: Any = field(default=None, kw_only=False)

    def estimate(self, X: Any, codes: AnyArray, weight: AnyArray | None = None, n_classes: int = 2) -> PriorEstimate:
        groups = standardize(read_groups(X, codes, weight, n_classes))
        rng = generator(self.random_state)
        posteriors = held_out_posteriors(groups.classes, [groups.unlabeled], self.classifier, with_ranks=True)
        *known, scores = (np.log(np.clip(p, 1e-9, None)) for p in posteriors.at(np.full(n_classes, 1 / n_classes)))
        scores, population = gather_scores(scores, groups.unlabeled)
        draws = [bayesian_bootstrap(group.weight, self.n_bootstrap, rng) for group in (*groups.classes, population)]
        probabilities = calibrate_draws(known, scores, groups.classes, draws)
        priors = most_likely_shares(probabilities, draws[-1].share.T)
        priors = priors[:, 1] if n_classes == 2 else priors
        return settle(priors[0], priors[1:], groups.unlabeled.size, self.confidence, self.method)


def gather_scores(scores: AnyArray, group: Group) -> tuple[AnyArray, Group]:
    """Merge rows of U with nearly equal log-odds into one row with their total weight, to bound the run time.

    Only with two classes, where a row is one number, and only if there are many rows. The Bayesian bootstrap is
    unchanged: the Gamma weights of merged rows sum to a Gamma variable.
    """
    if len(scores) > 2 or len(group) <= MOST_DISTINCT:
        return scores, group
    odds = scores[1] - scores[0]
    order = np.argsort(np.round(odds, TIED_DIGITS), kind="stable")
    reached = np.cumsum(group.weight[order]) - group.weight[order] / 2
    place = np.minimum((reached / group.weight.sum() * MOST_DISTINCT).astype(int), MOST_DISTINCT - 1)
    place = np.unique(place, return_inverse=True)[1]
    weight = np.bincount(place, weights=group.weight[order])
    middle = np.bincount(place, weights=(group.weight * odds)[order]) / weight
    return log_expit(np.stack([-middle, middle])), Group(middle[:, None], weight)


def calibrate_draws(
    known: Sequence[AnyArray], scores: AnyArray, classes: Sequence[Group], draws: Sequence[RowWeights]
) -> AnyArray:
    """Probabilities of U (weightings, classes, rows), recalibrated for each weighting."""
    n_draws = draws[0].share.shape[1]
    repeated = [np.broadcast_to(score, (n_draws, *score.shape)) for score in known]
    calibration = calibrate(repeated, classes, [draw.share.T for draw in draws[:-1]])
    return np.exp(calibration(scores[None]))


def most_likely_shares(probabilities: AnyArray, share: AnyArray) -> AnyArray:
    """EM for every weighting: probabilities (r, classes, rows) and weights (r, rows) give shares (r, classes).

    EM converges slowly if the classes overlap, so Newton steps are used. The likelihood minus Σ θ_k is concave and has
    its maximum at Σ θ_k = 1, so both converge to the same shares. A Newton step that would lower the likelihood is
    replaced by an EM step.
    """
    prior = np.full(probabilities.shape[:2], 1 / probabilities.shape[1])
    todo = np.arange(len(prior))
    for _ in range(MOST_STEPS):
        start = prior[todo]
        mixture, height = _mix(start, probabilities, share)
        slope = np.matmul(probabilities, (share / mixture)[..., None])[..., 0] - 1
        free = (start > 2 * LEAST_SHARE) | (slope > 0)
        moving = np.abs(np.where(free, slope, 0)).max(axis=1) > CLOSE
        if not moving.any():
            break
        todo, start, probabilities, share = todo[moving], start[moving], probabilities[moving], share[moving]
        mixture, height, slope, free = mixture[moving], height[moving], slope[moving], free[moving]
        far = _newton(start, probabilities, share / mixture**2, slope, free)
        higher = _mix(far, probabilities, share)[1] >= height - CLOSE
        prior[todo] = np.where(higher[:, None], far, start * (1 + slope))
    return prior


def _mix(prior: AnyArray, probabilities: AnyArray, share: AnyArray) -> tuple[AnyArray, AnyArray]:
    """Σ θ_k p_k of every row, and the log-likelihood."""
    mixture = np.matmul(prior[:, None], probabilities)[:, 0]
    return mixture, (share * np.log(mixture)).sum(axis=1)


def _newton(start: AnyArray, probabilities: AnyArray, bend: AnyArray, slope: AnyArray, free: AnyArray) -> AnyArray:
    """Newton step in the free classes, shortened at the first share that reaches zero."""
    curvature = np.matmul(probabilities * bend[:, None], probabilities.mT)
    outward = np.zeros_like(free)
    for _ in range(start.shape[1]):
        free = free & ~outward
        eye = np.eye(start.shape[1]) * np.where(free, CLOSE, 1)[:, None]  # a tiny ridge penalty
        within = curvature * (free[:, :, None] & free[:, None]) + eye
        step = np.linalg.solve(within, np.where(free, slope, 0)[..., None])[..., 0]
        outward = free & (start <= 2 * LEAST_SHARE) & (step < 0)
        if not outward.any():
            break
    length = np.min(np.where(step < 0, start / np.where(step < 0, -step, 1), 1), axis=1, keepdims=True)
    far = np.maximum(start + np.minimum(length, 1) * step, LEAST_SHARE)
    return far / far.sum(axis=1, keepdims=True)
