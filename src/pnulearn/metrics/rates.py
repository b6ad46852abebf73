"""The two error rates of a decision rule, from errors among P, errors among N, and the share of U called positive.

The three are tied by  share called positive = θ (1 − FNR) + (1 − θ) FPR,  so any two of the samples are enough.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import betaincinv

from pnulearn._arrays import AnyArray
from pnulearn.priors.estimate import PriorEstimate

ROUNDS = 5  # of reweighted least squares, each with the variances of the last fit
N_QUANTILES, FEWER_QUANTILES = 150, 32  # of each rate: for one prior, and for each of several
N_PRIORS = 41  # the outermost are quantiles beyond the ends of a 95 % interval
RIGHT_CALLS = 1.0  # of either class, imagined: a model is better than the toss of a coin until rows say otherwise
NEWS = 0.5  # the part of what a model's calls say of the prior that was not known from the same rows before


class ContradictedPrior(ValueError):
    """A prior under which the rows that were seen are impossible."""


@dataclass(frozen=True)
class Called:
    """Share of errors among P, of errors among N, and of U called positive, with the sizes of the samples."""

    share: AnyArray
    size: AnyArray
    prior: float

    def __post_init__(self) -> None:
        if (self.size > 0).sum() < 2:
            raise ValueError("Two of positive, negative and unlabelled rows are needed to estimate both error rates.")

    @property
    def likely(self) -> AnyArray:
        """The shares by Laplace's rule."""
        return (self.size * self.share + 1) / (self.size + 2)

    def fit(self) -> AnyArray:
        """FNR and FPR of greatest likelihood, by reweighted least squares."""
        seen = self.size > 0
        design = np.array([[1.0, 0.0], [0.0, 1.0], [-self.prior, 1 - self.prior]])[seen]
        offset = np.array([0.0, 0.0, self.prior])[seen]
        size, share, likely = self.size[seen], self.share[seen], self.likely[seen]
        for _ in range(ROUNDS):
            weighted = design.T * (size / (likely * (1 - likely)))
            rates = np.clip(np.linalg.solve(weighted @ design, weighted @ (share - offset)), 0, 1)
            likely = (size * (design @ rates + offset) + 1) / (size + 2)
        return rates

    @property
    def agreement(self) -> float:
        """Log-likelihood of the tie: how well the share of U called positive goes with both error rates."""
        rate = (self.size * self.share + 0.5) / (self.size + 1)
        variance = rate * (1 - rate) / (self.size + 2)
        miss = rate @ (self.prior, self.prior - 1, 1.0) - self.prior
        total = variance @ (self.prior**2, (1 - self.prior) ** 2, 1.0)
        return float(-0.5 * (miss**2 / total + np.log(total)))

    def posterior(self, n_quantiles: int = N_QUANTILES) -> tuple[AnyArray, AnyArray]:
        """A grid of FNR and FPR, (2, n²), with posterior probabilities under Jeffreys' priors.

        Quantiles of the two samples that say most span the grid; the likelihood of the third weighs it.
        """
        scale = np.array([self.prior**2, (1 - self.prior) ** 2, 1.0])
        with np.errstate(divide="ignore"):
            third = int(np.argmax(scale * self.likely * (1 - self.likely) / self.size))
        rates = self._grid(third, n_quantiles)
        found = rates[third]
        inside = (found > 0) & (found < 1)
        if not inside.any():
            raise ContradictedPrior(
                f"A prior of {self.prior:g} contradicts {self.share[2]:.3g} of the unlabelled rows called positive "
                f"and error rates near {self.likely[0]:.3g} (positives) and {self.likely[1]:.3g} (negatives)."
            )
        errors = self.size[third] * self.share[third]
        rates, found = rates[:, inside], found[inside]
        logs = errors * np.log(found) + (self.size[third] - errors) * np.log1p(-found)
        weight = np.exp(logs - logs.max())
        return rates[:2], weight / weight.sum()

    def _grid(self, third: int, n_quantiles: int) -> AnyArray:
        """FNR, FPR and share called positive, (3, n²): two from Beta quantiles, the third from the tie."""
        quantiles = (np.arange(n_quantiles) + 0.5) / n_quantiles
        errors = self.size * self.share
        pair = [index for index in range(3) if index != third]
        axes = [betaincinv(errors[i] + 0.5, self.size[i] - errors[i] + 0.5, quantiles) for i in pair]
        rates = np.zeros((3, n_quantiles**2))  # all three ties are computed below, so nothing may be undefined
        rates[pair] = np.reshape(np.meshgrid(*axes), (2, -1))
        fnr, fpr, called = rates
        rates[third] = (
            1 - (called - (1 - self.prior) * fpr) / self.prior,
            (called - self.prior * (1 - fnr)) / (1 - self.prior),
            self.prior * (1 - fnr) + (1 - self.prior) * fpr,
        )[third]
        return rates


def rates_under(
    share: AnyArray, size: AnyArray, prior: PriorEstimate, n_quantiles: int = N_QUANTILES, news: float = 0.0
) -> tuple[AnyArray, AnyArray, AnyArray]:
    """Priors, FNR and FPR (2, ·), and their probabilities, over all that the prior may be.

    What the model calls positive among U may have helped to find the prior: `news` is the part of it that is counted,
    so that priors under which the three samples contradict each other weigh less. With none the prior keeps its
    distribution.
    """
    points = prior.points(N_PRIORS)
    n_quantiles = n_quantiles if len(points) == 1 else FEWER_QUANTILES
    parts, logs = [], []
    for point in points:
        called = Called(share, size, float(point))
        try:
            parts.append((point, *called.posterior(n_quantiles)))
            logs.append(news * called.agreement if news and size.all() else 0.0)
        except ContradictedPrior:
            continue
    if not parts:  # the finer grid may still find room, or say in one error what contradicts what
        parts, logs = [(float(prior.mean), *Called(share, size, float(prior.mean)).posterior())], [0.0]
    weight = np.exp(np.array(logs) - max(logs))
    weight /= weight.sum()
    priors = np.concatenate([np.full(len(within), point) for point, _, within in parts])
    probability = np.concatenate([part * within for part, (_, _, within) in zip(weight, parts, strict=True)])
    return priors, np.concatenate([rates for _, rates, _ in parts], axis=1), probability


def expecting_right_calls(share: AnyArray, size: AnyArray) -> tuple[AnyArray, AnyArray]:
    """Shares of errors and sizes of P, N and U with a few imagined rows of either class that are called right.

    >>> share, size = expecting_right_calls(np.array([0.5, 0.0, 0.3]), np.array([2.0, 0.0, 100.0]))
    >>> size.tolist(), share.round(3).tolist()
    ([3.0, 0.0, 100.0], [0.333, 0.0, 0.3])
    """
    more = size + RIGHT_CALLS * (size > 0) * np.array([1.0, 1.0, 0.0])
    return share * size / np.where(more > 0, more, 1.0), more


def weighted_quantiles(values: AnyArray, probability: AnyArray, confidence: float) -> tuple[float, float]:
    """The ends between which that part of the probability lies."""
    order = np.argsort(values)
    reached = np.cumsum(probability[order])
    tails = np.array([1 - confidence, 1 + confidence]) / 2
    low, high = values[order][np.minimum(np.searchsorted(reached, tails), len(values) - 1)]
    return float(low), float(high)
