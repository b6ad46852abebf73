"""Estimates with standard errors and confidence intervals."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._html import show_facts
from pnulearn._intervals.posterior_grids import weighted_interval


@dataclass(frozen=True)
class Estimate:
    """A value with its standard error and confidence interval.

    Parameters
    ----------
    value : float
        The estimate.
    stderr : float
        Standard error.
    low : float
        Lower end of the interval.
    high : float
        Upper end of the interval.
    confidence : float
        Confidence level of the interval.

    Examples
    --------
    >>> print(Estimate(0.8, 0.05, 0.68, 0.88))
    0.8000 ± 0.0500, 95 % interval 0.6800 to 0.8800
    """

    value: float
    stderr: float
    low: float
    high: float
    confidence: float = field(default=0.95, kw_only=True)

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        interval = f"{100 * self.confidence:g} % interval {self.low:.4f} to {self.high:.4f}"
        return f"{self.value:.4f} ± {self.stderr:.4f}, {interval}"

    def _repr_html_(self) -> str:
        return show_facts("estimate", self._facts())

    def _facts(self) -> dict[str, str]:
        interval = f"{100 * self.confidence:g} % interval"
        span = f"{self.low:.4f} to {self.high:.4f}"
        return {"value": f"{self.value:.4f}", "standard error": f"{self.stderr:.4f}", interval: span}


@dataclass(frozen=True)
class RiskEstimate(Estimate):
    """A risk (or AUC) with its standard error, its confidence interval and the mix that was used.

    Parameters
    ----------
    value : float
        The estimate.
    stderr : float
        Standard error.
    low : float
        Lower end of the interval.
    high : float
        Upper end of the interval.
    mix : float
        Weight η of U that was used.
    confidence : float
        Confidence level of the interval.

    Examples
    --------
    >>> print(RiskEstimate(0.21, 0.04, 0.14, 0.3, 0.46))
    0.2100 ± 0.0400, 95 % interval 0.1400 to 0.3000 (mix 0.46)
    """

    mix: float

    def __str__(self) -> str:
        return f"{super().__str__()} (mix {self.mix:.2f})"

    def _facts(self) -> dict[str, str]:
        return super()._facts() | {"mix": f"{self.mix:.2f}"}


@dataclass(frozen=True)
class HelpedEstimate(RiskEstimate):
    """A risk that was estimated with a second model as a control variate (`helper=`).

    Parameters
    ----------
    value : float
        The estimate.
    stderr : float
        Standard error.
    low : float
        Lower end of the interval.
    high : float
        Upper end of the interval.
    mix : float
        Weight η of U that was used.
    helper : float
        Weight of the second model, from 0 (not used) to 1.
    confidence : float
        Confidence level of the interval.

    Examples
    --------
    >>> print(HelpedEstimate(0.21, 0.02, 0.17, 0.25, 0.1, 0.8))
    0.2100 ± 0.0200, 95 % interval 0.1700 to 0.2500 (mix 0.10) (helper 0.80)
    """

    helper: float

    def __str__(self) -> str:
        return f"{super().__str__()} (helper {self.helper:.2f})"


def estimate_from_posterior(
    value: float,
    values: AnyArray,
    probability: AnyArray,
    confidence: float,
    interval: tuple[float, float] | None = None,
) -> Estimate:
    """An estimate with the standard deviation of a posterior and an interval, widened to contain `value`.

    Without `interval` it is the equal-tailed interval of the posterior.
    """
    mean = float(probability @ values)
    stderr = float(np.sqrt(probability @ (values - mean) ** 2))
    low, high = weighted_interval(values, probability, confidence) if interval is None else interval
    return Estimate(value, stderr, min(low, value), max(high, value), confidence=confidence)
