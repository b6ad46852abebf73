"""Densities of a share on a fixed grid, and the evidence they come from.

The points are equally spaced in arcsin √θ, on whose scale a share known from n rows varies by 1 / (2 √n) wherever it
lies, so one grid serves rare classes as well as even ones. Jeffreys' density, Beta(½, ½), is flat on that scale: it is
what every density here starts from before there is evidence, and `combine` takes care that it counts once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.optimize import least_squares
from scipy.special import betaincinv

from pnulearn._arrays import AnyArray

N_POINTS = 4001
ANGLES = (np.arange(N_POINTS) + 0.5) / N_POINTS * np.pi / 2
GRID = np.sin(ANGLES) ** 2
LEAST_SHARE = 0.02  # where a deviation is worked out: nearer to 0 and 1 one class alone would decide
LEAST_LOG = -700.0  # evidence makes shares as good as impossible, but never quite
SPACING = np.pi / 2 / N_POINTS  # a deviation below it cannot be told on this grid


def normalize(log_mass: AnyArray) -> AnyArray:
    """Masses of the grid's points that add up to one, from their logarithms."""
    mass = np.exp(np.maximum(log_mass - log_mass.max(), LEAST_LOG))
    return mass / mass.sum()


def nothing_known() -> AnyArray:
    """Jeffreys' density, before there is any evidence."""
    return np.full(N_POINTS, 1 / N_POINTS)


def binomial_mass(positive: float, negative: float) -> AnyArray:
    """What rows drawn at random say: Beta(½ + positives, ½ + negatives).

    >>> mass = binomial_mass(3, 7)
    >>> round(float(mass @ GRID), 3)  # 3.5 / 11
    0.318
    """
    return normalize(positive * np.log(GRID) + negative * np.log1p(-GRID))


def ratio_deviation(prior: float, of_means: AnyArray, gap: float, sizes: AnyArray) -> float:
    """Standard deviation of θ = (mean_U − mean_N) / gap, gap being mean_P − mean_N, that few labels live up to.

    `of_means` are the variances of the means over N, P and U, `sizes` the rows of N and P. Held-out rows are scored by
    candidates that lack them, which moves the ratio by about one row of n in either class.

    >>> round(ratio_deviation(0.5, np.array([0.01, 0.01, 0.0]), 1.0, np.array([10, 10])), 3)
    0.1
    """
    theta = float(np.clip(prior, LEAST_SHARE, 1 - LEAST_SHARE))
    factors = np.array([1 - theta, theta, 1.0]) ** 2
    one_row = factors[:2] @ (1 / np.asarray(sizes, dtype=float) ** 2)
    return float(np.sqrt(factors @ of_means / gap**2 + one_row))


def normal_mass(center: float, deviation: float) -> AnyArray:
    """What an estimate says that varies normally around the share.

    An estimate far outside [0, 1] rests on a model that does not fit; it counts as one deviation outside.

    >>> mass = normal_mass(0.3, 0.02)
    >>> round(float(mass @ GRID), 2)
    0.3
    """
    spread = np.hypot(deviation, SPACING * np.sqrt(np.clip(center * (1 - center), 1e-6, None)))
    center = float(np.clip(center, -spread, 1 + spread))
    return normalize(-0.5 * ((GRID - center) / spread) ** 2)


def range_mass(low: float, high: float, confidence: float = 0.9) -> AnyArray:
    """What somebody knows who says "between low and high", and means it with that confidence: a Beta density.

    >>> low, high = quantiles(range_mass(0.1, 0.3), [0.05, 0.95])
    >>> round(low, 2), round(high, 2)
    (0.1, 0.3)
    """
    tails = np.array([(1 - confidence) / 2, (1 + confidence) / 2])

    def miss(parameters: AnyArray) -> AnyArray:
        return betaincinv(*np.exp(parameters), tails) - (low, high)

    middle, width = (low + high) / 2, high - low
    size = np.clip(middle * (1 - middle) / (width / 3.3) ** 2, 1.0, 1e8)
    found = least_squares(miss, np.log([size * middle, size * (1 - middle)]), xtol=1e-14, ftol=1e-14, gtol=1e-14)
    a, b = np.exp(found.x)
    return binomial_mass(positive=a - 0.5, negative=b - 0.5)  # Beta(a, b), nowhere quite zero


def distribution_mass(distribution: Any) -> AnyArray:
    """The mass of a distribution from `scipy.stats` between 0 and 1.

    >>> from scipy.stats import beta
    >>> round(float(distribution_mass(beta(3, 7)) @ GRID), 3)
    0.3
    """
    edges = np.sin(np.arange(N_POINTS + 1) / N_POINTS * np.pi / 2) ** 2
    mass = np.diff(distribution.cdf(edges))
    if not np.isfinite(mass).all() or mass.sum() <= 0:
        raise ValueError(f"The distribution given as prior has no mass between 0 and 1: {distribution!r}.")
    return mass / mass.sum()


def combine(masses: Sequence[AnyArray]) -> AnyArray:
    """Independent pieces of evidence together: densities multiply, and the flat start counts once.

    >>> round(float(combine([binomial_mass(1, 4), binomial_mass(2, 3)]) @ GRID), 4)  # as 3 of 10
    0.3182
    """
    with np.errstate(divide="ignore"):
        total = np.sum([np.log(mass) for mass in masses], axis=0)
    if not np.isfinite(np.max(total)):
        raise ValueError(
            "The evidence about the class prior contradicts itself: no share is possible under all of it. Widen the "
            "range given as prior, or leave it out."
        )
    return normalize(total)


def temper(mass: AnyArray, power: float) -> AnyArray:
    """Evidence that counts as this part of itself: a power of the density over the flat start.

    >>> round(float(temper(binomial_mass(6, 14), 0.5) @ GRID), 4)  # as 3 of 10
    0.3182
    """
    with np.errstate(divide="ignore"):
        return normalize(power * np.log(mass))


def mean(mass: AnyArray) -> float:
    return float(mass @ GRID)


def deviation(mass: AnyArray) -> float:
    return float(np.sqrt(mass @ (GRID - mass @ GRID) ** 2))


def quantiles(mass: AnyArray, levels: Sequence[float]) -> list[float]:
    """Shares below which these parts of the mass lie, between the grid's points where need be."""
    reached = np.cumsum(mass)
    angles = np.interp(levels, reached - mass / 2, ANGLES)
    return [float(value) for value in np.sin(angles) ** 2]
