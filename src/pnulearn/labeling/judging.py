"""Shares over all rows from rows that were drawn with known, unequal and changing chances.

At the t-th draw, of n_t rows left, value v of the row drawn with probability q gives x = v / (n_t q), whose mean
over what might have been drawn is that of the rows left. With the rows known before,

    Z_t = (Σ_known v + n_t x) / (known + n_t)

is an unbiased estimate of the mean over all rows, whatever was seen before: Σ b_t (Z_t − μ) is a martingale if b_t
hangs on earlier draws only. b_t = 1 / (n_t (n_t − 1)) is the estimate LURE of Farquhar, Gal and Rainforth (2021), which
is the plain share if all chances are equal. A prediction p made before the label was known lowers the variance and not
the mean: x = mean of p over the rows left + (v − p) / (n_t q).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn.labeling.draws import Sample
from pnulearn.labeling.sequence import Share, state_share
from pnulearn.priors import PriorEstimate

METHOD = "rows labelled with known chances"
MEMORY = 0.95  # of one draw's square for the next one's: squares of about twenty draws count
FIRST_VARIANCE, FIRST_DRAWS = 0.25, 5.0  # what is expected of a share before anything is known, and its weight


@dataclass(frozen=True)
class Mean:
    """An unbiased estimate of a mean over all rows, and the coefficients of its draws: its variance is Σ a² var(x)."""

    value: float
    coefficients: AnyArray


def martingale_mean(x: AnyArray, known: AnyArray, n_left: AnyArray, precision: AnyArray) -> Mean:
    """Mean over all rows, `known` being the values themselves and `precision` what is expected of 1 / var(x)."""
    before = np.concatenate([[0.0], np.cumsum(known)[:-1]])
    total = np.arange(len(x)) + n_left
    z = (before + n_left * x) / total
    b = precision / (n_left * np.maximum(n_left - 1, 1e-9))  # the last row leaves nothing open
    b = b / b.sum()
    return Mean(float(b @ z), b * n_left / total)


def judge_errors(sample: Sample, is_wrong: AnyArray, confidence: float, population: bool = True) -> Share:
    """The error over all rows, `is_wrong` being errors of rows that were held out when they were predicted.

    Given the error μ, x has the variance μ (κ − μ), κ being the mean weight of errors. Before there are many of them κ
    leans on the mean weight of all rows, so that no errors at all are not taken for certainty.
    """
    if not len(sample):
        return Share(np.nan, 0.0, 1.0, 0.0)
    wrong, weight = np.asarray(is_wrong, dtype=float), sample.weight
    mean = martingale_mean(wrong * weight, wrong, sample.n_left, np.ones(len(wrong)))
    of_all = max(float(np.mean(weight**2)), 1.0)
    kappa = (weight**2 @ wrong + of_all) / (weight @ wrong + 1)
    value = float(np.clip(mean.value, 0.5 / (len(wrong) + 1), 1 - 0.5 / (len(wrong) + 1)))
    squares = float(mean.coefficients @ mean.coefficients)
    n_effective = (1 - value) / (max(kappa - value, 1 - value if kappa >= 1 else 1e-3) * max(squares, 1e-12))
    return state_share(mean.value, _of_population(n_effective, sample, population), len(wrong), confidence)


def judge_class(sample: Sample, code: int, confidence: float, population: bool = True) -> Share:
    """The share of a class over all rows."""
    if not len(sample):
        return Share(np.nan, 0.0, 1.0, 0.0)
    is_class = (sample.codes == code).astype(float)
    predicted = np.array([p[code] if p else 0.0 for p in sample.predicted])
    expected = np.array([e[code] if e else 0.0 for e in sample.expected])
    x = expected + (is_class - predicted) * sample.weight
    mean = martingale_mean(x, is_class, sample.n_left, 1 / expected_variance(x))
    n = len(x)
    value = float(np.clip(mean.value, 0.5 / (n + 1), 1 - 0.5 / (n + 1)))
    binomial = value * (1 - value)
    # one more draw, as far off as a prediction can be: models are surest where they have not looked
    surprise = 1.0 if any(sample.predicted) else binomial
    squares = mean.coefficients**2
    variance = float(squares @ (x - value) ** 2 + squares.mean() * surprise)
    return state_share(mean.value, _of_population(binomial / variance, sample, population), n, confidence)


def expected_variance(x: AnyArray) -> AnyArray:
    """What earlier draws lead to expect of each x's variance: later models predict better, later draws count more."""
    variance, total, weight, mean = np.empty(len(x)), FIRST_VARIANCE * FIRST_DRAWS, FIRST_DRAWS, 0.5
    for t, value in enumerate(x):
        variance[t] = total / weight
        total, weight = MEMORY * total + (value - mean) ** 2, MEMORY * weight + 1
        mean += (value - mean) / (t + 2)
    return variance


def judge_prior(sample: Sample, n_classes: int, confidence: float, population: bool = True) -> list[Share]:
    """The shares of all classes."""
    return [judge_class(sample, code, confidence, population) for code in range(n_classes)]


def as_prior(shares: list[Share]) -> PriorEstimate | None:
    """The shares as a distribution that classifiers take; None before there is anything to go by."""
    size = float(np.mean([share.n_effective for share in shares]))
    if not size > 0:
        return None
    values = np.array([share.value for share in shares])
    estimate = PriorEstimate.of_counts(size * values / max(values.sum(), 1e-9))
    return PriorEstimate(
        estimate.value, METHOD, estimate.raw, estimate.confidence, estimate.mass, estimate.concentration
    )


def _of_population(n_effective: float, sample: Sample, population: bool) -> float:
    """Evidence about the rows' population, of which all rows of the table are themselves a sample."""
    n_rows = sample.n_left[0]
    return 1 / (1 / n_effective + 1 / n_rows) if population else n_effective
