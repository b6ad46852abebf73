"""Confidence sequences: intervals that are valid at all sample sizes simultaneously (anytime-valid)."""

from __future__ import annotations

from bisect import bisect_left

import numpy as np
from scipy.optimize import brentq
from scipy.special import betaln, rel_entr, xlog1py, xlogy

TUNED_FOR = 10.0  # n₀: the interval is tightest at about 8 n₀ rows
TINY = 1e-12
RARE = (0.5, 4.5)  # of the Beta distribution of proportions that are usually small


def mixture_bound(n: float, confidence: float) -> float:
    """Upper bound of n kl(μ̂, μ) that holds for all n simultaneously with probability `confidence`.

    >>> round(mixture_bound(100, 0.95), 2)
    4.61
    """
    return float((1 + TUNED_FOR / n) * (-np.log1p(-confidence) + 0.5 * np.log1p(n / TUNED_FOR)))


def confidence_sequence(value: float, n_effective: float, n_labels: float, confidence: float) -> tuple[float, float]:
    """Robbins' normal-mixture confidence sequence for a proportion, with the binomial KL divergence.

    Parameters
    ----------
    value : float
        The estimate μ̂, in [0, 1].
    n_effective : float
        Effective sample size: number of random rows with the same variance.
    n_labels : float
        Number of labelled rows so far.
    confidence : float
        Simultaneous confidence level of all intervals of the sequence.

    Notes
    -----
    All μ with  n kl(μ̂, μ) ≤ (1 + n₀ / n) (log 1/α + ½ log(1 + n / n₀)).  Robbins' bound mixes normal likelihood
    ratios; (μ̂ − μ)² / (2 μ (1 − μ)) is replaced by the Kullback-Leibler divergence kl of two binomial shares, which
    agrees to second order and remains accurate near 0 and 1. Assumes that the sum of errors is a martingale; the bound
    is asymptotic.

    References
    ----------
    Robbins (1970), Statistical methods related to the law of the iterated logarithm. Annals of Mathematical Statistics
    41. Howard, Ramdas, McAuliffe and Sekhon (2021), Time-uniform, nonparametric, nonasymptotic confidence sequences.
    Annals of Statistics 49.

    Examples
    --------
    >>> low, high = confidence_sequence(0.1, 100, 100, 0.95)
    >>> round(low, 3), round(high, 3)
    (0.033, 0.214)
    """
    if n_labels < 1 or n_effective <= 0:
        return 0.0, 1.0
    limit = mixture_bound(n_labels, confidence) / n_effective

    def beyond(share: float) -> float:
        return float(rel_entr(value, share) + rel_entr(1 - value, 1 - share)) - limit

    low = 0.0 if value <= TINY or beyond(TINY) < 0 else brentq(beyond, TINY, value)
    high = 1.0 if value >= 1 - TINY or beyond(1 - TINY) < 0 else brentq(beyond, value, 1 - TINY)
    return float(low), float(high)


def binomial_sequence(successes: int, trials: int, confidence: float) -> tuple[float, float]:
    """Beta-binomial confidence sequence for a proportion that is usually small, such as of wrong answers.

    Notes
    -----
    All p for which the likelihood ratio of a Beta(1/2, 9/2) mixture to p is below 1 / α. The ratio is a nonnegative
    martingale with mean 1, so by Ville's inequality the sequence is exact for independent trials, without
    approximation.

    References
    ----------
    Robbins (1970), Annals of Mathematical Statistics 41. Howard, Ramdas, McAuliffe and Sekhon (2021), Annals of
    Statistics 49.

    Examples
    --------
    >>> low, high = binomial_sequence(0, 10, 0.95)
    >>> low, round(high, 2)
    (0.0, 0.3)
    """
    if trials < 1:
        return 0.0, 1.0
    a, b = RARE
    mixture = betaln(a + successes, b + trials - successes) - betaln(a, b) + np.log1p(-confidence)

    def beyond(p: float) -> float:
        return float(mixture - xlogy(successes, p) - xlog1py(trials - successes, -p))

    middle = successes / trials
    low = 0.0 if successes == 0 else brentq(beyond, TINY, middle)
    high = 1.0 if successes == trials else brentq(beyond, middle, 1 - TINY)
    return float(low), float(high)


def size_of_half_width(value: float, half_width: float, n_labels: float, confidence: float) -> float:
    """The effective sample size for which the confidence sequence has this half-width.

    >>> low, high = confidence_sequence(0.1, 60, 80, 0.95)
    >>> round(size_of_half_width(0.1, (high - low) / 2, 80, 0.95))
    60
    """

    def excess(log_size: float) -> float:
        low, high = confidence_sequence(value, float(np.exp(log_size)), n_labels, confidence)
        return (high - low) / 2 - half_width

    ends = [np.log(1e-3), np.log(1e12)]
    if excess(ends[0]) <= 0:
        return 1e-3
    for log_size in np.log([n_labels / 10, 10 * n_labels]):  # most sizes lie between these
        ends[0 if excess(log_size) > 0 else 1] = log_size
        if ends[1] == log_size:
            break
    return float(np.exp(brentq(excess, *ends, xtol=1e-8))) if excess(ends[1]) < 0 else 1e12


def labels_for_half_width(
    value: float, n_effective: float, n_labels: int, half_width: float, confidence: float, most: int
) -> int | None:
    """Number of further labels for this half-width of the confidence sequence; None if more than `most`.

    Assumes that the estimate and the effective sample size per label do not change.
    """
    if n_effective <= 0:
        return None
    rate = n_effective / n_labels

    def is_enough(more: int) -> bool:
        n = n_labels + more
        low, high = confidence_sequence(value, rate * n, n, confidence)
        return (high - low) / 2 <= half_width

    first = bisect_left(range(most + 1), True, key=is_enough)
    return first if first <= most else None
