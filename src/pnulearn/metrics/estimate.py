"""A number with its uncertainty."""

from __future__ import annotations

from dataclasses import dataclass, field

from scipy.special import expit, logit, ndtri

from pnulearn._machine.notebook import show_facts


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
        Probability that the interval is to hold the truth with.

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
        η that was used.
    confidence : float
        Probability that the interval is to hold the truth with.

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
    """A risk that a second model helped to estimate.

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
        η that was used.
    helper : float
        Weight of the helper, from 0 (it was of no use) to 1.
    confidence : float
        Probability that the interval is to hold the truth with.

    Examples
    --------
    >>> print(HelpedEstimate(0.21, 0.02, 0.17, 0.25, 0.1, 0.8))
    0.2100 ± 0.0200, 95 % interval 0.1700 to 0.2500 (mix 0.10) (helper 0.80)
    """

    helper: float

    def __str__(self) -> str:
        return f"{super().__str__()} (helper {self.helper:.2f})"


def normal_interval(center: float, stderr: float, confidence: float) -> tuple[float, float]:
    """center ± z stderr."""
    half = float(ndtri((1 + confidence) / 2)) * stderr
    return center - half, center + half


def logit_interval(center: float, stderr: float, confidence: float) -> tuple[float, float]:
    """An interval for a share that stays within 0 and 1: symmetric on the logit scale.

    >>> low, high = logit_interval(0.9, 0.05, 0.95)
    >>> round(low, 3), round(high, 3)
    (0.752, 0.964)
    """
    low, high = expit(normal_interval(float(logit(center)), stderr / (center * (1 - center)), confidence))
    return float(low), float(high)
