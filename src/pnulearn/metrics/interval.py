"""Confidence intervals for weighted sums of independent sample means, honest for small samples."""

from __future__ import annotations

import numpy as np
from scipy.special import betaincinv, stdtrit

from pnulearn._arrays import FloatArray
from pnulearn.metrics.spread import LossSample


def jeffreys_distances(share: float, n: float, confidence: float) -> tuple[float, float]:
    """Distances from an observed share of n rows down and up to its Jeffreys limits.

    A share of 0 has no way down, and one of 1 no way up.

    >>> down, up = jeffreys_distances(0.0, 10, 0.95)
    >>> down, round(up, 3)
    (0.0, 0.217)
    """
    tail = (1 - confidence) / 2
    low, high = betaincinv(n * share + 0.5, n * (1 - share) + 0.5, [tail, 1 - tail])
    return max(share - float(low), 0.0) * (share > 0), max(float(high) - share, 0.0) * (share < 1)


def rate_distances(weights: FloatArray, sample: LossSample, confidence: float) -> tuple[float, float]:
    """Distances from one sample's part of a zero-one risk down and up to its Jeffreys limits."""
    factor = weights[0] - weights[1]  # the two losses of a row sum to one
    down, up = jeffreys_distances(float(sample.mean[0]), sample.size, confidence)
    return (factor * down, factor * up) if factor > 0 else (-factor * up, -factor * down)


def mean_distances(
    weights: FloatArray, sample: LossSample, covariance: FloatArray, confidence: float
) -> tuple[float, float]:
    """The same for any loss: Student's limits, moved towards the long tail (Hall 1992).

    stderr (t ∓ c) with c = skewness (1 + 2 t²) / (6 √n): a few rows with great losses that did not turn up would
    have raised the mean.
    """
    values, n = sample.losses @ weights, sample.size
    t = float(stdtrit(max(n - 1, 1), (1 + confidence) / 2))
    centered = values - sample.share @ values
    spread = float(sample.share @ centered**2)
    skewness = float(sample.share @ centered**3) / spread**1.5 if spread else 0.0
    shift = float(np.clip(skewness * (1 + 2 * t**2) / (6 * np.sqrt(n)), -t / 2, t / 2))
    stderr = float(np.sqrt(weights @ covariance @ weights))
    return stderr * (t - shift), stderr * (t + shift)


def recover_interval(parts: list[tuple[float, float]]) -> tuple[float, float]:
    """Distances of a sum of independent parts: those of the parts add up in squares (Zou and Donner 2008).

    >>> recover_interval([(3.0, 0.0), (4.0, 1.0)])
    (5.0, 1.0)
    """
    down, up = np.sqrt(np.square(np.asarray(parts)).sum(axis=0))
    return float(down), float(up)
