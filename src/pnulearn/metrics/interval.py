"""Confidence intervals for weighted sums of independent sample means, honest for small samples."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from pnulearn.metrics.spread import LossSample


def jeffreys_distances(share: float, n: float, confidence: float) -> tuple[float, float]:
    """Distances from an observed share of n rows down and up to its Jeffreys limits.

    A share of 0 has no way down, and one of 1 no way up.

    >>> down, up = jeffreys_distances(0.0, 10, 0.95)
    >>> down, round(up, 3)
    (0.0, 0.217)
    """
    tail = (1 - confidence) / 2
    low, high = stats.beta.ppf([tail, 1 - tail], n * share + 0.5, n * (1 - share) + 0.5)
    return max(share - float(low), 0.0) * (share > 0), max(float(high) - share, 0.0) * (share < 1)


def student_distances(values: NDArray, share: NDArray, n: float, stderr: float, confidence: float) -> NDArray:
    """Distances from a mean down and up to Student's limits, moved towards the long tail (Hall 1992).

    stderr (t ∓ c) with c = skewness (1 + 2 t²) / (6 √n): a few rows with great losses that did not turn up would
    have raised the mean.
    """
    t = float(stats.t.ppf((1 + confidence) / 2, max(n - 1, 1)))
    centered = values - share @ values
    spread = float(share @ centered**2)
    skewness = float(share @ centered**3) / spread**1.5 if spread else 0.0
    shift = np.clip(skewness * (1 + 2 * t**2) / (6 * np.sqrt(n)), -t / 2, t / 2)
    return stderr * np.array([t - shift, t + shift])


def distances(
    weights: NDArray, sample: LossSample, covariance: NDArray, confidence: float, counted: bool
) -> tuple[float, float]:
    """Distances from one sample's part of a risk down and up to the limits for that part alone.

    Jeffreys' limits if the losses count errors (zero-one), Student's otherwise.
    """
    if counted:
        factor = weights[0] - weights[1]  # the two losses of a row sum to one
        down, up = jeffreys_distances(float(sample.mean[0]), sample.size, confidence)
        return (factor * down, factor * up) if factor > 0 else (-factor * up, -factor * down)
    stderr = float(np.sqrt(weights @ covariance @ weights))
    down, up = student_distances(sample.losses @ weights, sample.share, sample.size, stderr, confidence)
    return float(down), float(up)


def recovered(parts: list[tuple[float, float]]) -> tuple[float, float]:
    """Distances of a sum of independent parts: those of the parts add up in squares (Zou and Donner 2008).

    >>> recovered([(3.0, 0.0), (4.0, 1.0)])
    (5.0, 1.0)
    """
    down, up = np.sqrt(np.square(np.asarray(parts)).sum(axis=0))
    return float(down), float(up)
