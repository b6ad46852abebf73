"""The risk under all that the prior may be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn.metrics.estimate import RiskEstimate
from pnulearn.metrics.rates import ContradictedPrior, rates_under, weighted_quantiles
from pnulearn.metrics.spread import LossSample, smoothed_means
from pnulearn.priors.estimate import PriorEstimate
from pnulearn.theory import prior_slope

Kind = Literal["rate", "mean"]
N_QUANTILES = 64  # of each error rate: ends of the interval are right to a hundredth of its width


def under_belief(
    estimate: RiskEstimate,
    belief: PriorEstimate,
    samples: Sequence[LossSample],
    kind: Kind,
    costs: tuple[float, float] = (1.0, 1.0),
) -> RiskEstimate:
    """The same estimate with what is not known about the prior in its standard error and its interval.

    Error rates: the posterior of both rates under every prior, which never leaves their range. Other losses: the
    distances of the prior's own interval times the slope join those of the samples.
    """
    means = smoothed_means(samples, float(belief.mean))
    slope = prior_slope(estimate.mix, np.asarray(costs) * means)
    stderr = float(np.hypot(estimate.stderr, belief.spread * slope))
    if kind == "rate":
        try:
            values, probability = posterior_errors(belief, _used(samples, estimate.mix), costs)
            low, high = weighted_quantiles(values, probability, estimate.confidence)
            low, high = min(low, max(estimate.value, 0.0)), max(high, min(estimate.value, max(costs)))
            return replace(estimate, stderr=stderr, low=low, high=high)
        except ContradictedPrior:  # the samples have their intervals, whatever they say of each other
            pass
    moves = sorted(slope * (end - belief.mean) for end in belief.within(estimate.confidence))
    low = estimate.value - float(np.hypot(estimate.value - estimate.low, min(moves[0], 0.0)))
    high = estimate.value + float(np.hypot(estimate.high - estimate.value, max(moves[1], 0.0)))
    if kind == "rate":
        low, high = min(max(low, 0.0), max(costs)), max(min(high, max(costs)), 0.0)
    return replace(estimate, stderr=stderr, low=low, high=high)


def _used(samples: Sequence[LossSample], mix: float) -> list[LossSample]:
    """The samples that the risk at this mix has to do with: not U at 0, not N at 1, not P at −1."""
    unused = {0.0: 2, 1.0: 1, -1.0: 0}.get(mix)
    return [LossSample.of(s.losses[:0]) if index == unused else s for index, s in enumerate(samples)]


def posterior_errors(
    belief: PriorEstimate, samples: Sequence[LossSample], costs: tuple[float, float] = (1.0, 1.0)
) -> tuple[AnyArray, AnyArray]:
    """Costs of errors and their probabilities, from errors among P and N and the share of U that is called positive."""
    sides = (0, 1, 1)  # the loss of g is an error on P, that of −g one on N and a row called positive on U
    share = np.array([sample.mean[side] if sample.size else 0.0 for sample, side in zip(samples, sides, strict=True)])
    size = np.array([sample.size for sample in samples])
    priors, rates, probability = rates_under(share, size, belief, N_QUANTILES)
    return costs[0] * priors * rates[0] + costs[1] * (1 - priors) * rates[1], probability
