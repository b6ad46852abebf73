"""The answer of every prior estimator: a value, an interval, and how it was found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True)
class PriorEstimate:
    """Class prior(s) of the unlabelled population with a confidence interval.

    With two classes every number belongs to the positive class; with more, `value`, `low`, `high` and `raw` are
    arrays with one entry per class. `raw` is the estimate before it was moved into the open interval (0, 1);
    `low` and `high` are NaN when no interval was asked for.

    Parameters
    ----------
    value : float
        The estimate.
    low : float
        Lower end of the interval.
    high : float
        Upper end of the interval.
    confidence : float
        Probability that the interval is to hold the truth with.
    method : str
        Name of the method.
    raw : float
        The estimate before it was moved into (0, 1).

    Examples
    --------
    >>> print(PriorEstimate(0.31, 0.24, 0.38, 0.9, "energy", 0.31))
    0.310 [0.240, 0.380] (energy, 90% interval)
    """

    value: Any
    low: Any
    high: Any
    confidence: float
    method: str
    raw: Any

    @property
    def interval(self) -> tuple[Any, Any] | None:
        """(low, high), or None if there is none."""
        return None if np.isnan(self.low).any() else (self.low, self.high)

    @property
    def shares(self) -> NDArray:
        """The share of every class in code order: two classes have their negative first."""
        return np.array([1 - self.value, self.value]) if np.ndim(self.value) == 0 else np.asarray(self.value)

    def __str__(self) -> str:
        numbers = zip(*np.atleast_1d(self.value, self.low, self.high), strict=True)
        if np.isnan(self.low).any():
            return ", ".join(f"{value:.3f}" for value, _, _ in numbers) + f" ({self.method}, no interval)"
        spans = (f"{value:.3f} [{low:.3f}, {high:.3f}]" for value, low, high in numbers)
        return ", ".join(spans) + f" ({self.method}, {self.confidence:.0%} interval)"


def settle(
    raw: ArrayLike,
    replicates: ArrayLike,
    n_unlabeled: float,
    confidence: float,
    method: str,
    value: ArrayLike | None = None,
) -> PriorEstimate:
    """Move an estimate and its bootstrap replicates (first axis) into (0, 1) and read off percentiles.

    A prior of exactly 0 or 1 makes the risks ill-posed, so every prior stays 1/(n_U + 1) away from both. `value` is
    given if it is more than the raw estimate moved inside.
    """
    raw, replicates = np.asarray(raw, dtype=float), np.asarray(replicates, dtype=float)
    margin = 1 / max(n_unlabeled + 1, 2 * max(raw.size, 1))
    inside = _inside_interval if raw.ndim == 0 else _inside_simplex
    value = inside(raw if value is None else np.asarray(value, dtype=float), margin)
    low = high = np.full(raw.shape, np.nan)
    if replicates.size:
        tail = (1 - confidence) / 2
        low, high = np.quantile(inside(replicates, margin), [tail, 1 - tail], axis=0)
        low, high = np.minimum(low, value), np.maximum(high, value)
    return PriorEstimate(_plain(value), _plain(low), _plain(high), confidence, method, _plain(raw))


def _inside_interval(prior: NDArray, margin: float) -> NDArray:
    return np.clip(prior, margin, 1 - margin)


def _inside_simplex(priors: NDArray, margin: float) -> NDArray:
    """At least `margin` for every class (last axis), and a sum of one."""
    spare = np.clip(priors - margin, 0, None)
    room = 1 - margin * priors.shape[-1]
    total = spare.sum(axis=-1, keepdims=True)
    return margin + np.where(total > 0, room * spare / np.where(total > 0, total, 1), room / priors.shape[-1])


def _plain(value: NDArray) -> Any:
    return float(value) if value.ndim == 0 else value
