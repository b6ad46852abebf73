"""Interval of the area under the ROC curve (AUC) by inverting a test; it holds for models that rank almost perfectly.

For a tested AUC the mix of U has the least variance under normal scores with that AUC, not under the observed ones: a
mix chosen by the rows costs coverage. The variance of the estimate is DeLong's, rescaled to the tested AUC. Few rows
that are ranked almost perfectly say little about it, so in every class the variance A (1 − A) / 2 counts like
`ASSUMED_ROWS` rows beside those that lose a pair. The number of lost pairs then has a binomial distribution at the
effective sample size, with mid-p values. With labels of one class alone no pair of labelled rows can be lost, and the
estimate varies even if the AUC is 1, with the positives among the unlabelled rows: its distribution is then taken for
normal, with DeLong's variance rescaled as it would be under normal scores, and never below that at the estimate. An
uncertain prior is averaged over, as in `score_tests`.

References
----------
DeLong, DeLong and Clarke-Pearson (1988), Comparing the areas under two or more correlated receiver operating
characteristic curves. Biometrics 44. Newcombe (2006), Confidence intervals for an effect size measure based on the
Mann-Whitney statistic. Statistics in Medicine 25, for variances at the tested value.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import betainc, ndtr, ndtri

from pnulearn._arrays import AnyArray
from pnulearn._intervals.closed_forms import ClassPrior
from pnulearn._intervals.score_tests import PLACES, crossings, levels_of_ends, prior_nodes

NODES = ndtri((np.arange(32) + 0.5) / 32)  # of a standard normal distribution
ASSUMED_ROWS = 2.0
MOST_RESCALED = 4.0
LEAST = 1e-6  # tested values are kept this far from 0 and 1
SMALLEST = 1e-300


def pair_weights(mix: AnyArray | float, prior: AnyArray | float) -> tuple[AnyArray, AnyArray]:
    """Weights (..., 3) of the shares of pairs (P, N), (P, U), (U, N), and a constant, whose sum estimates the AUC.

    >>> weights, constant = pair_weights(0.5, 0.5)
    >>> weights.tolist(), constant.tolist()  # (1 − 1/2) PN + 1/2 (PU − 1/4) / (1/2)
    ([0.5, 1.0, 0.0], -0.25)
    """
    mix, prior = np.broadcast_arrays(np.asarray(mix, dtype=float), np.asarray(prior, dtype=float))
    pu, nu = np.maximum(mix, 0.0), np.maximum(-mix, 0.0)
    constant = -pu * prior / (2 * (1 - prior)) - nu * (1 - prior) / (2 * prior)
    return np.stack([1 - pu - nu, pu / (1 - prior), nu / prior], axis=-1), constant


def best_pair_mix(covariance: AnyArray, prior: AnyArray, pu_drift: AnyArray, nu_drift: AnyArray) -> AnyArray:
    """Mixes (...) of least variance from covariances (..., 3, 3) of the three shares.

    `pu_drift` and `nu_drift` are variances due to an uncertain prior at mix 1 and at mix −1.
    """
    base = pair_weights(0.0, prior)[0]
    found = []
    for side, drift in ((1.0, pu_drift), (-1.0, nu_drift)):
        step = pair_weights(side, prior)[0] - base
        cross = np.einsum("...i,...ij,...j->...", base, covariance, step)
        square = np.einsum("...i,...ij,...j->...", step, covariance, step) + drift
        share = np.clip(-cross / np.maximum(square, SMALLEST), 0, 1)
        found.append((side * share, 2 * share * cross + share**2 * square))
    (pu, pu_gain), (nu, nu_gain) = found
    return np.asarray(np.where(nu_gain < pu_gain, nu, pu))


def auc_interval(
    wins: Sequence[AnyArray], prior: ClassPrior, confidence: float, mix: float | None = None
) -> tuple[float, float]:
    """Interval of the AUC.

    Parameters
    ----------
    wins : sequence of three arrays (rows, 3)
        For every row of P, N and U, the share of its pairs (P, N), (P, U) and (U, N) whose first row scores higher.
    prior : ClassPrior
        Class prior and its uncertainty.
    confidence : float
        Confidence level of the interval.
    mix : float, optional
        Fixed mix of U, needed if a sample is empty. Default: of least variance at every tested value.

    Notes
    -----
    An end is 1 if every labelled positive row scores above every negative one, and 0 in the opposite case. Assumes
    independent rows and a correct prior. Coverage: results/intervals.md.
    """
    points, weight = prior_nodes(prior)
    weight = weight / weight.sum()

    def rejected(places: AnyArray) -> AnyArray:
        values = np.clip(np.cos(places * np.pi / 2) ** 2, LEAST, 1 - LEAST)
        p = auc_tail(values, wins, points[:, None], mix, prior.spread)
        return np.asarray((weight[:, None] * p).sum(axis=0))

    coarse = rejected(PLACES)
    levels = levels_of_ends(float(coarse[0]), float(coarse[-1]), confidence)
    if levels is None:
        return 0.0, 1.0
    high, low = (float(np.cos(place * np.pi / 2) ** 2) for place in crossings(rejected, coarse, levels))
    labeled = wins[0][:, 0]
    if len(labeled) and len(wins[1]):
        high, low = (1.0 if (labeled == 1).all() else high), (0.0 if (labeled == 0).all() else low)
    return low, high


def auc_tail(
    value: AnyArray, wins: Sequence[AnyArray], prior: AnyArray, mix: float | None = None, spread: float = 0.0
) -> AnyArray:
    """Mid-p value of an AUC against smaller ones: probability of as few lost pairs as observed, or fewer."""
    value, prior = np.broadcast_arrays(np.asarray(value, dtype=float), np.asarray(prior, dtype=float))
    sizes, n = np.array([len(rows) for rows in wins]), value * (1 - value)
    shares = [rows.mean(axis=0) if len(rows) else np.zeros(3) for rows in wins]
    normal = _normal_covariances(value, prior)
    if mix is None:
        total = sum(normal[k] / sizes[k] for k in range(3) if sizes[k])
        drift = (spread * (value - 0.5)) ** 2
        mix_used = best_pair_mix(np.asarray(total), prior, drift / (1 - prior) ** 2, drift / prior**2)
    else:
        mix_used = np.full(value.shape, mix)
    weights, constant = pair_weights(mix_used, prior)
    seen = np.array([shares[0][0], shares[0][1], shares[1][2]])
    estimate = (weights * seen).sum(axis=-1) + constant
    variance = np.zeros(value.shape)
    of_one_class = not (sizes[0] and sizes[1])
    rescale = np.minimum(n / max(float(seen[0] * (1 - seen[0])), SMALLEST), MOST_RESCALED)
    found = np.clip(estimate, LEAST, 1 - LEAST)
    at_found = _normal_covariances(found, prior) if of_one_class else normal
    for k, rows in enumerate(wins):
        if not sizes[k]:
            continue
        centered = rows - shares[k]
        covariance = (centered[:, :, None] * centered[:, None, :]).sum(axis=0) / max(sizes[k] - 1, 1)
        own = np.einsum("...i,ij,...j->...", weights, covariance, weights)
        if k < 2:
            assumed, expected = (
                np.einsum("...i,...ij,...j->...", weights, part[k], weights) for part in (normal, at_found)
            )
            if of_one_class:
                lost, assumed = sizes[k] * (1 - found), np.maximum(assumed, expected)
                rescale = np.minimum(assumed / np.maximum(expected, SMALLEST), MOST_RESCALED)
            else:
                lost, assumed = (rows[:, 0] < 1).sum(), np.maximum(assumed, n / 2)
            own = (lost * rescale * own + ASSUMED_ROWS * assumed) / (lost + ASSUMED_ROWS)
        variance += own / sizes[k]
    if of_one_class:
        return np.asarray(ndtr((value - estimate) / np.sqrt(np.maximum(variance, SMALLEST))))
    size = n / np.maximum(variance, SMALLEST)
    errors = np.clip(size * (1 - estimate), 0, size)
    above = np.where(errors > 0, betainc(np.maximum(errors, SMALLEST), size - errors + 1, 1 - value), 1.0)
    beyond = np.where(errors < size, betainc(errors + 1, np.maximum(size - errors, SMALLEST), 1 - value), 0.0)
    return np.asarray(1 - (above + beyond) / 2)


def _normal_covariances(value: AnyArray, prior: AnyArray) -> list[AnyArray]:
    """Covariances (..., 3, 3) of the rows' shares of won pairs in P, N and U, under normal scores with this AUC."""
    gap, prior = np.sqrt(2) * ndtri(value)[..., None], prior[..., None]
    positive, negative = NODES + gap, np.broadcast_to(NODES, (*value.shape, len(NODES)))
    both = np.concatenate([positive, negative], axis=-1)
    share = np.repeat(np.concatenate([prior, 1 - prior], axis=-1), len(NODES), axis=-1) / len(NODES)
    even = np.full(len(NODES), 1 / len(NODES))

    def below(scores: AnyArray) -> tuple[AnyArray, AnyArray, AnyArray]:
        """Shares of P, of N and of U below these scores."""
        of_p, of_n = ndtr(scores - gap), ndtr(scores)
        return of_p, of_n, prior * of_p + (1 - prior) * of_n

    rows = []
    for scores, weight, k in ((positive, even, 0), (negative, even, 1), (both, share, 2)):
        of_p, of_n, of_u = below(scores)
        none = np.zeros(scores.shape)
        won = ((of_n, of_u, none), (1 - of_p, none, 1 - of_u), (none, 1 - of_p, of_n))[k]
        values = np.stack(won, axis=-2)
        values = values - (weight[..., None, :] * values).sum(axis=-1, keepdims=True)
        rows.append(np.einsum("...in,...jn->...ij", weight[..., None, :] * values, values))
    return rows
