"""Shares over all rows from rows that were drawn with known, unequal and changing chances.

At the t-th draw, of n_t rows left, value v of the row drawn with probability q gives x = v / (n_t q), whose mean
over what might have been drawn is that of the rows left. With the rows known before,

    Z_t = (Σ_known v + n_t x) / (known + n_t)

is an unbiased estimate of the mean over all rows, whatever was seen before: Σ b_t (Z_t − μ) is a martingale if b_t
hangs on earlier draws only. b_t = 1 / (n_t (n_t − 1)) is the estimate LURE of Farquhar, Gal and Rainforth (2021), which
is the plain share if all chances are equal.

A guess g that every row has, whether it is labelled or not, lowers the variance and not the mean: the mean of g over
all rows + that of v − g as above. For the shares of the classes g is what models say that were kept from the row.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._intervals.confidence_sequences import confidence_sequence
from pnulearn.labeling.draws import Sample
from pnulearn.labeling.holding_out import HeldOut
from pnulearn.priors import PriorEstimate

METHOD = "rows labelled with known chances"


@dataclass(frozen=True)
class Share:
    """A share with an interval.

    Parameters
    ----------
    value : float
        The estimate.
    low : float
        Lower end of the interval.
    high : float
        Upper end.
    n_effective : float
        How many rows drawn at random would tell as much.
    """

    value: float
    low: float
    high: float
    n_effective: float

    @property
    def half_width(self) -> float:
        """Half of the interval's length."""
        return (self.high - self.low) / 2

    def __str__(self) -> str:
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"


def state_share(value: float, n_effective: float, n_labels: float, confidence: float) -> Share:
    """The share with its interval of a confidence sequence, which holds after every label at once.

    >>> print(state_share(0.1, 100, 100, 0.95))
    0.100 [0.033, 0.214]
    """
    value = float(np.clip(value, 0, 1))
    low, high = confidence_sequence(value, n_effective, n_labels, confidence)
    return Share(value, low, high, float(n_effective) if n_labels >= 1 and n_effective > 0 else 0.0)


@dataclass(frozen=True)
class Mean:
    """An unbiased estimate of a mean over all rows, and the coefficients of its draws: its variance is Σ a² var(x)."""

    value: float
    coefficients: AnyArray


def martingale_mean(values: AnyArray, sample: Sample) -> Mean:
    """Mean over all rows of what has these values in the rows that were drawn."""
    n_left = sample.n_left
    before = np.concatenate([[0.0], np.cumsum(values)[:-1]])
    total = np.arange(len(values)) + n_left
    z = (before + n_left * values * sample.weight) / total
    b = 1 / (n_left * np.maximum(n_left - 1, 1e-9))  # the last row leaves nothing open
    b = b / b.sum()
    return Mean(float(b @ z), b * n_left / total)


def judge_share(sample: Sample, has: AnyArray, confidence: float, population: bool = True) -> Share:
    """The share of rows that have something, such as an error of a model that was kept from the row.

    Given the share μ, x has the variance μ (κ − μ), κ being the mean weight of rows that have it. Before there are many
    of them κ leans on the mean weight of all rows, so that none at all are not taken for certainty.
    """
    n = len(sample)
    if not n:
        return Share(np.nan, 0.0, 1.0, 0.0)
    has, weight = np.asarray(has, dtype=float), sample.weight
    mean = martingale_mean(has, sample)
    of_all = max(float(np.mean(weight**2)), 1.0)
    kappa = (weight**2 @ has + of_all) / (weight @ has + 1)
    value = _inside(mean.value, n)
    squares = float(mean.coefficients @ mean.coefficients)
    n_effective = (1 - value) / (max(kappa - value, 1 - value if kappa >= 1 else 1e-3) * max(squares, 1e-12))
    return state_share(mean.value, _of_population(n_effective, sample, population), n, confidence)


def judge_class(
    sample: Sample, code: int, confidence: float, held: HeldOut | None = None, population: bool = True
) -> Share:
    """The share of a class over all rows, by labels and, if there are any, guesses while these were held out."""
    n, is_class = len(sample), sample.codes == code
    if held is None or not held.trust or not n:
        return judge_share(sample, is_class, confidence, population)
    surprise = is_class - held.said[:n, code]
    mean = martingale_mean(surprise, sample)
    value = mean.value + float(held.everywhere[:n, code].mean())
    squares = mean.coefficients**2
    # one more draw, as far off as a guess can be: models are surest where they have not looked
    variance = float(squares @ (surprise * sample.weight - mean.value) ** 2 + squares.mean())
    n_effective = _inside(value, n) * (1 - _inside(value, n)) / variance
    return state_share(value, _of_population(n_effective, sample, population), n, confidence)


def judge_prior(
    sample: Sample, n_classes: int, confidence: float, held: HeldOut | None = None, population: bool = True
) -> list[Share]:
    """The shares of all classes."""
    return [judge_class(sample, code, confidence, held, population) for code in range(n_classes)]


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


def _inside(value: float, n: int) -> float:
    """A share that so many rows can tell from none and from all."""
    return float(np.clip(value, 0.5 / (n + 1), 1 - 0.5 / (n + 1)))


def _of_population(n_effective: float, sample: Sample, population: bool) -> float:
    """Evidence about the rows' population, of which all rows of the table are themselves a sample."""
    n_rows = sample.n_left[0]
    return 1 / (1 / n_effective + 1 / n_rows) if population else n_effective
