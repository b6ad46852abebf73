"""How much more often a rule errs in the population than another, row by row.

The zero-one risk of a rule is a table of costs: what a row of each group adds when it is called one class or another.
So is the difference of two rules, which is why the interval of a rise is narrower than that of an error.
"""

from __future__ import annotations

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._intervals.closed_forms import borrowed_variance, t_half_width, welch_freedom
from pnulearn._problem.labels import Labels
from pnulearn.metrics._comparison import shared_mix
from pnulearn.metrics._estimate import Estimate
from pnulearn.priors.estimate import PriorEstimate
from pnulearn.risks import pnu


def estimate_rise(
    labels: Labels, prior: PriorEstimate, before: AnyArray, after: AnyArray, confidence: float
) -> Estimate:
    """The mean over repeats of the difference of two risks, judged row by row, with an interval after Welch."""
    if len(labels.classes) > 2:
        parts, drift = _gaps(weigh_classes(prior.shares), labels, before, after), 0.0
    else:
        mean = float(prior.mean)
        mix = shared_mix(mean, *(len(group) for group in labels.groups))
        parts = _gaps(weigh_samples(mean, mix), labels, before, after)
        # A risk is linear in the prior, so two priors tell how far it moves with it.
        ends = [_gaps(weigh_samples(end, mix), labels, before, after) for end in (0.25, 0.75)]
        near, far = (sum(float(gap.mean()) for gap, _ in end) for end in ends)
        drift = prior.spread * 2 * (far - near)
    value = sum(float(gap.mean()) for gap, _ in parts)
    variances = np.array([_variance_of_mean(gap, usual) for gap, usual in parts])
    stderr = float(np.hypot(np.sqrt(variances.sum()), drift))
    freedom = welch_freedom(variances, np.array([max(len(gap) - 1, 1) for gap, _ in parts]), stderr**2)
    half = t_half_width(stderr, freedom, confidence)
    return Estimate(value, stderr, value - half, value + half, confidence=confidence)


def _gaps(costs: AnyArray, labels: Labels, before: AnyArray, after: AnyArray) -> list[tuple[AnyArray, AnyArray]]:
    """For every group with rows: what they add to the difference, and what unlabelled rows would in their place."""
    unlabeled = labels.codes < 0
    groups = [(cost, labels.codes == code) for code, cost in zip([*range(len(labels.classes)), -1], costs, strict=True)]
    return [
        (_gap(cost, before[rows], after[:, rows]), _gap(cost, before[unlabeled], after[:, unlabeled]))
        for cost, rows in groups
        if rows.any()
    ]


def _gap(cost: AnyArray, before: AnyArray, after: AnyArray) -> AnyArray:
    return np.asarray(cost[after].mean(axis=0) - cost[before])


def _variance_of_mean(gap: AnyArray, usual: AnyArray) -> float:
    """The sample's own, or with rows borrowed from U if that is more: a dozen rows that agree are not certain."""
    own = float(gap.var(ddof=1)) / len(gap) if len(gap) > 1 else 0.0
    return max(own, borrowed_variance(gap, usual))


def weigh_samples(prior: float, mix: float) -> AnyArray:
    """What a row of N, of P and of U adds to the PNU risk when it is called negative, and when positive, (3, 2).

    Calling a row negative costs the loss of g, calling it positive that of −g.
    """
    return pnu(prior, mix).table[[1, 0, 2]]


def weigh_classes(shares: AnyArray) -> AnyArray:
    """The same for more classes: labelled rows count by the shares of their classes, unlabelled ones, last, do not."""
    return np.vstack([shares[:, None] * (1 - np.eye(len(shares))), np.zeros(len(shares))])
