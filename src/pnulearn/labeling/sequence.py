"""Intervals that hold at all times together, so that looking after every label and stopping at will does no harm.

A share estimated as μ̂ from as much evidence as n rows drawn at random give is within

    n kl(μ̂, μ) ≤ (1 + n₀ / n) (log 1/α + ½ log(1 + n / n₀))

for every n at once with probability 1 − α: Robbins' mixture of normal likelihood ratios, with the binomial's own
distance kl in place of (μ̂ − μ)² / (2 μ (1 − μ)), which it equals where normal laws hold; near 0 and 1 they do not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import rel_entr

TUNED_FOR = 10.0  # n₀: the interval is narrowest, for its level, at about eight times as many rows


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


def bound(n: float, confidence: float) -> float:
    """What n kl(μ̂, μ) stays below at all times.

    >>> round(bound(100, 0.95), 2)
    4.61
    """
    return float((1 + TUNED_FOR / n) * (-np.log1p(-confidence) + 0.5 * np.log1p(n / TUNED_FOR)))


def state_share(value: float, n_effective: float, n_labels: float, confidence: float) -> Share:
    """The share with the interval that holds at all times.

    >>> print(state_share(0.1, 100, 100, 0.95))
    0.100 [0.033, 0.214]
    """
    if n_labels < 1 or n_effective <= 0:
        return Share(float(np.clip(value, 0, 1)), 0.0, 1.0, 0.0)
    value = float(np.clip(value, 0, 1))
    limit = bound(n_labels, confidence) / n_effective

    def beyond(share: float) -> float:
        return float(rel_entr(value, share) + rel_entr(1 - value, 1 - share)) - limit

    tiny = 1e-12
    low = 0.0 if value <= tiny or beyond(tiny) < 0 else brentq(beyond, tiny, value)
    high = 1.0 if value >= 1 - tiny or beyond(1 - tiny) < 0 else brentq(beyond, value, 1 - tiny)
    return Share(value, float(low), float(high), float(n_effective))


def labels_needed(now: Share, n_labels: int, half_width: float, confidence: float, most: int) -> int | None:
    """How many labels more make the interval so narrow, if they tell as much as those so far; None beyond `most`."""
    if now.n_effective <= 0:
        return None
    rate = now.n_effective / n_labels

    def is_enough(more: int) -> bool:
        n = n_labels + more
        return state_share(now.value, rate * n, n, confidence).half_width <= half_width

    if is_enough(0):
        return 0
    if not is_enough(most):
        return None
    low, high = 0, most
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high
