"""A second opinion on the same rows: another model's probabilities or labels make the risk surer.

    θ mean_P(a − c h) + (1 − θ) mean_N(b − c h) + mean_U(c h)

has the same mean for every h that does not depend on the labels and every c: a and b are a row's losses if it is
positive and if it is negative, h is the loss that the second opinion expects. The PNU risk is the case h = ℓ(−g), and
both are mixed at once with the least variance (`best_weights`). The opinion is calibrated first, out of fold, so it may
be labels, probabilities for another prior, or scores.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
from scipy.special import betaincinv

from pnulearn._arrays import AnyArray, FloatArray
from pnulearn.metrics.costs import EQUAL_COSTS
from pnulearn.metrics.estimate import HelpedEstimate, RiskEstimate
from pnulearn.metrics.interval import mean_distances, recover_interval
from pnulearn.metrics.opinion import Calibration, calibrate_opinion
from pnulearn.metrics.spread import LossSample, coin_rows, observed_covariances, reconcile
from pnulearn.priors.estimate import PriorEstimate

FOLDS = 5
COIN_ROWS = 1.0  # imagined rows of each class that the opinion says nothing about
BELIEVED_ROWS = 1.0  # imagined rows of each class as the opinion has them
WORTHWHILE = 0.95  # of the variance without: a helper that promises less is left out
WIDER = 1.05


def estimate_with_helper(
    plain: RiskEstimate,
    samples: Sequence[LossSample],
    opinions: Sequence[FloatArray],
    belief: PriorEstimate,
    kind: str,
    costs: tuple[float, float] = EQUAL_COSTS,
) -> HelpedEstimate:
    """The risk with a helper, or the plain one if the helper does not pay.

    `opinions` (n, helpers) are log-odds on P, N and U; `samples` hold the losses of g and −g there.
    """
    theta = float(belief.mean)
    helped, calibration = expect_losses(samples, opinions, theta, costs)
    smooth = imagine_rows(helped, calibration(opinions[2]))
    means = np.array([sample.mean for sample in smooth]) * [*costs, 1.0]
    covariance = reconcile(smooth, theta) * np.outer([*costs, 1.0], [*costs, 1.0])
    without = best_weights(theta, covariance, belief.spread, means, most_helper=0.0)
    best = best_weights(theta, covariance, belief.spread, means)
    if best[2] < WORTHWHILE * without[2]:
        found = judge_helped(best[:2], helped, smooth, belief, plain.confidence, kind, costs)
        if found.high - found.low <= WIDER * (plain.high - plain.low):
            return found
    return HelpedEstimate(
        plain.value, plain.stderr, plain.low, plain.high, plain.mix, helper=0.0, confidence=plain.confidence
    )


def expect_losses(
    samples: Sequence[LossSample],
    opinions: Sequence[FloatArray],
    prior: float,
    costs: tuple[float, float] = EQUAL_COSTS,
    fold_by: Sequence[LossSample] | None = None,
) -> tuple[list[LossSample], Calibration]:
    """The samples with a third column, the loss that the opinion expects at these costs: h = p ℓ(g) + (1 − p) ℓ(−g).

    A labelled row's p comes from the labels of other folds, one of U from all folds alike. The folds of other losses on
    the same rows are taken with `fold_by`.
    """
    by = samples if fold_by is None else fold_by
    folds = [_spread_evenly(sample, opinion) for sample, opinion in zip(by[:2], opinions[:2], strict=True)]
    shares = [np.zeros(len(sample.losses)) for sample in samples]
    parts = []
    for fold in range(FOLDS):
        kept = [place != fold for place in folds]
        fitted = calibrate_opinion(
            [opinions[0][kept[0]], opinions[1][kept[1]], opinions[2]],
            [samples[0].share[kept[0]], samples[1].share[kept[1]], samples[2].share],
            prior,
        )
        for k in (0, 1):
            shares[k][~kept[k]] = fitted(opinions[k][~kept[k]])
        parts.append(fitted)
    shares[2] = np.mean([fitted(opinions[2]) for fitted in parts], axis=0)
    helped = []
    for sample, p in zip(samples, shares, strict=True):
        expected = costs[0] * p * sample.losses[:, 0] + costs[1] * (1 - p) * sample.losses[:, 1]
        helped.append(LossSample(np.column_stack([sample.losses, expected]), sample.share, sample.size))
    return helped, Calibration.mean(parts)


def _spread_evenly(sample: LossSample, opinion: FloatArray) -> AnyArray:
    """A fold per row that depends on what the row is, not where: rows that are alike are dealt out in turn."""
    order = np.lexsort((sample.losses[:, 0], *opinion.T))
    fold = np.empty(len(order), dtype=int)
    fold[order] = np.arange(len(order)) % FOLDS
    return fold


def imagine_rows(helped: Sequence[LossSample], trusted: FloatArray) -> list[LossSample]:
    """P and N with a few imagined rows, so that a handful on which the opinion was right is no proof that it always is.

    Half of them are rows of U on the side that the opinion takes, half on a side that a coin decides.
    """
    population = helped[2]
    usual = coin_rows([population])
    smooth = []
    for sample, weight in zip(helped[:2], (trusted, 1 - trusted), strict=True):
        believed = population.share * weight
        total = sample.size + BELIEVED_ROWS
        losses = np.concatenate([sample.losses, population.losses])
        share = np.concatenate([sample.size * sample.share, BELIEVED_ROWS * believed / believed.sum()]) / total
        smooth.append(LossSample(losses, share, sample.size).joined_by(usual, COIN_ROWS, 0.5))
    return [*smooth, population]


def helped_table(prior: float, mix: float, helper: float) -> FloatArray:
    """Weights (3, 3): rows P, N, U; columns loss of g, loss of −g, expected loss."""
    pu, nu = max(mix, 0.0), max(-mix, 0.0)
    return np.array(
        [
            [prior * (1 - nu), -prior * pu, -prior * helper],
            [(prior - 1) * nu, (1 - prior) * (1 - pu), (prior - 1) * helper],
            [nu, pu, helper],
        ]
    )


def slope_in_prior(mix: float, helper: float, means: AnyArray) -> float:
    """How fast the risk changes with the prior: it is linear in it."""
    return float(np.sum((helped_table(0.75, mix, helper) - helped_table(0.25, mix, helper)) * means)) / 0.5


def best_weights(
    prior: float, covariance: AnyArray, prior_sd: float, means: AnyArray, most_helper: float = 1.0
) -> tuple[float, float, float]:
    """Mix in [−1, 1] and weight of the helper in [0, most_helper] of least variance, and that variance.

    On either side of mix 0 the variance is a paraboloid in both; its least value over the square lies inside or on an
    edge.
    """
    found = []
    for side in (1.0, -1.0):
        tables = [helped_table(prior, *pair) for pair in ((0.0, 0.0), (side, 0.0), (0.0, 1.0))]
        steps = [tables[0], tables[1] - tables[0], tables[2] - tables[0]]
        slopes = [slope_in_prior(*pair, means) for pair in ((0.0, 0.0), (side, 0.0), (0.0, 1.0))]
        drifts = prior_sd * np.array([slopes[0], slopes[1] - slopes[0], slopes[2] - slopes[0]])
        form = np.einsum("aci,cij,bcj->ab", steps, covariance, steps) + np.outer(drifts, drifts)
        for share, helper in _corners_and_edges(form, most_helper):
            point = np.array([1.0, share, helper])
            found.append((side * share, helper, float(point @ form @ point)))
    return min(found, key=lambda each: each[2])


def _corners_and_edges(form: AnyArray, most: float) -> list[tuple[float, float]]:
    """Where a paraboloid over [0, 1] × [0, most] may have its least value."""
    slope, curve = -form[1:, 0], form[1:, 1:] + 1e-12 * max(np.trace(form), 1e-300) * np.eye(2)
    points = []
    inside = np.linalg.solve(curve, slope)
    if 0 <= inside[0] <= 1 and 0 <= inside[1] <= most:
        points.append((float(inside[0]), float(inside[1])))
    for axis, end in product((0, 1), (0.0, 1.0)):
        end = end * (most if axis else 1.0)
        other = 1 - axis
        free = float(np.clip((slope[other] - curve[other, axis] * end) / curve[other, other], 0, 1 if axis else most))
        points.append((free, end) if axis else (end, free))
    return points


def judge_helped(
    weights: tuple[float, float],
    helped: Sequence[LossSample],
    smooth: Sequence[LossSample],
    belief: PriorEstimate,
    confidence: float,
    kind: str,
    costs: tuple[float, float] = EQUAL_COSTS,
) -> HelpedEstimate:
    """Value, standard error and interval of the risk at this mix and this weight of the helper."""
    mix, helper = weights
    prices = np.array([*costs, 1.0])
    table, means = prices * helped_table(float(belief.mean), mix, helper), np.array([sample.mean for sample in smooth])
    value = float(sum(row @ sample.mean for row, sample in zip(table, helped, strict=True)))
    variance = sum(row @ s.covariance @ row / s.size for row, s in zip(table, smooth, strict=True))
    slope = slope_in_prior(mix, helper, prices * means)
    stderr = float(np.sqrt(variance + (belief.spread * slope) ** 2))
    if kind == "rate":
        most = max(costs)
        ends = rate_interval(value / most, float(np.sum(table * means)) / most, stderr / most, confidence)
        low, high = (most * end for end in ends)
    else:
        spread = observed_covariances(helped)
        parts = [mean_distances(w, s, c, confidence) for w, s, c in zip(table, helped, spread, strict=True)]
        moves = (
            sorted(slope * (end - belief.mean) for end in belief.within(confidence)) if belief.spread else [0.0, 0.0]
        )
        down, up = recover_interval([*parts, (min(moves[0], 0.0), max(moves[1], 0.0))])
        low, high = value - down, value + up
    return HelpedEstimate(value, stderr, low, high, mix, helper=helper, confidence=confidence)


def rate_interval(value: float, likely: float, stderr: float, confidence: float) -> tuple[float, float]:
    """Jeffreys' interval of a share that is as uncertain as one of so many rows would be; it never leaves [0, 1].

    >>> low, high = rate_interval(0.1, 0.1, 0.03, 0.95)
    >>> round(low, 3), round(high, 3)
    (0.053, 0.17)
    """
    likely = float(np.clip(likely, stderr**2, 1 - stderr**2))
    size = max(likely * (1 - likely) / stderr**2, 1.0)
    share = float(np.clip(value, 0, 1))
    tails = [(1 - confidence) / 2, (1 + confidence) / 2]
    low, high = betaincinv(size * share + 0.5, size * (1 - share) + 0.5, tails)
    return min(float(low), share), max(float(high), share)
