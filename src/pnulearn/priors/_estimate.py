"""The class prior as a distribution, with a point estimate and an interval."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pnulearn._arrays import AnyArray
from pnulearn._extras import import_extra
from pnulearn._intervals import posterior_grids
from pnulearn._intervals.closed_forms import tail_levels
from pnulearn._intervals.posterior_draws import JEFFREYS, dirichlet_concentration, robust_deviation
from pnulearn._intervals.posterior_grids import GRID

CONFIDENCE = 0.9


@dataclass(frozen=True, eq=False)
class PriorEstimate:
    """Class prior(s) of the population as a distribution.

    With two classes all numbers refer to the positive class and `mass` is the distribution: `mass[i]` is the
    probability of the share sin²(π (i + ½) / (2 n_points)). With more classes they are arrays with one entry per class,
    and `concentration` belongs to a Dirichlet distribution with that mean. Both are None if the prior is known exactly
    (then `sd` is 0), or if no interval was requested (then `sd` is NaN).

    Parameters
    ----------
    value : float or array
        The point estimate: the mean, except for `ScorePrior`, which uses a median.
    method : str
        Name of the method, or a description of the evidence.
    raw : float or array
        The estimate before it was clipped to the open interval (0, 1).
    confidence : float
        Confidence level of the interval `low` to `high`.
    mass : array of shape (n_points,) or None
        Probabilities of the grid points.
    concentration : float or None
        Σ α of the Dirichlet distribution.

    Examples
    --------
    >>> print(PriorEstimate.of_counts([7, 3]))
    0.318 [0.117, 0.558] (labels drawn at random, 90% interval)
    """

    value: Any
    method: str
    raw: Any = None
    confidence: float = CONFIDENCE
    mass: AnyArray | None = field(default=None, repr=False)
    concentration: float | None = None

    @classmethod
    def known(cls, value: Any) -> PriorEstimate:
        """A prior that is known exactly.

        Parameters
        ----------
        value : float or array
            The share of the positive class, or that of every class in code order.
        """
        return cls(value, "given", value, 1.0)

    @classmethod
    def of_mass(cls, mass: AnyArray, method: str, confidence: float = CONFIDENCE) -> PriorEstimate:
        """A two-class prior from the probabilities of the grid points; the point estimate is the mean.

        Parameters
        ----------
        mass : array (n_points,)
            Probabilities of the grid points, as in `PriorEstimate`.
        method : str
            Description of their origin.
        confidence : float
            Confidence level of the interval.
        """
        mean = posterior_grids.mass_mean(mass)
        return cls(mean, method, mean, confidence, mass)

    @classmethod
    def of_counts(cls, counts: ArrayLike, confidence: float = CONFIDENCE) -> PriorEstimate:
        """From the class counts of labelled rows that were drawn at random from the population, in code order.

        Parameters
        ----------
        counts : array (classes,)
            Rows, or their total weight, by class.
        confidence : float
            Confidence level of the interval.
        """
        counts = np.asarray(counts, dtype=float)
        if len(counts) == 2:
            mass = posterior_grids.beta_mass(positive=counts[1], negative=counts[0])
            return cls.of_mass(mass, "labels drawn at random", confidence)
        alphas = counts + JEFFREYS
        return cls._dirichlet(alphas, "labels drawn at random", confidence)

    @classmethod
    def of_range(cls, low: float, high: float) -> PriorEstimate:
        """From a user's 90 % range "between low and high".

        Parameters
        ----------
        low : float
            The 5 % quantile of the prior.
        high : float
            The 95 % quantile of the prior.
        """
        return cls.of_mass(posterior_grids.range_mass(low, high, CONFIDENCE), f"between {low:g} and {high:g}")

    @classmethod
    def _dirichlet(cls, alphas: AnyArray, method: str, confidence: float) -> PriorEstimate:
        shares = alphas / alphas.sum()
        return cls(shares, method, shares, confidence, concentration=float(alphas.sum()))

    @property
    def is_known(self) -> bool:
        """Whether the prior is known exactly."""
        return self.method == "given"

    @property
    def shares(self) -> AnyArray:
        """The shares of all classes in code order, (1 − θ, θ) if there are two."""
        return np.array([1 - self.value, self.value]) if np.ndim(self.value) == 0 else self.value

    @property
    def mean(self) -> Any:
        """The mean of the distribution; `value` if there is none."""
        return self.value if self.mass is None else posterior_grids.mass_mean(self.mass)

    @property
    def mode(self) -> Any:
        """The mode of the density of θ; `value` if there is no density on a grid."""
        if self.mass is None:
            return self.value
        per_width = self.mass / np.sqrt(GRID * (1 - GRID))
        return float(GRID[int(np.argmax(per_width))])

    def points(self, n_points: int) -> AnyArray:
        """Equally weighted points that represent the distribution; `value` alone if the prior is known.

        Parameters
        ----------
        n_points : int
            Number of points.
        """
        if self.mass is None:
            return np.array([self.value])
        return np.asarray(posterior_grids.mass_quantiles(self.mass, ((np.arange(n_points) + 0.5) / n_points).tolist()))

    @property
    def sd(self) -> Any:
        """The standard deviation: 0 if the prior is known exactly, NaN if there is no distribution."""
        if self.mass is not None:
            return posterior_grids.mass_deviation(self.mass)
        if self.concentration is not None:
            return np.sqrt(self.value * (1 - self.value) / (self.concentration + 1))
        return 0.0 * self.value if self.is_known else np.nan * self.value

    @property
    def spread(self) -> float:
        """The standard deviation of a two-class prior, with 0 in place of NaN."""
        return posterior_grids.mass_deviation(self.mass) if self.mass is not None else 0.0

    @property
    def low(self) -> Any:
        """Lower end of the interval."""
        return self.within(self.confidence)[0]

    @property
    def high(self) -> Any:
        """Upper end of the interval."""
        return self.within(self.confidence)[1]

    @property
    def interval(self) -> tuple[Any, Any] | None:
        """(low, high), or None if there is none."""
        low, high = self.within(self.confidence)
        return None if np.isnan(low).any() else (low, high)

    def within(self, confidence: float) -> tuple[Any, Any]:
        """The interval with this confidence level; it always contains `value`.

        Parameters
        ----------
        confidence : float
            Between 0 and 1.
        """
        if self.mass is not None:
            low, high = posterior_grids.mass_quantiles(self.mass, tail_levels(confidence))
            return min(low, self.value), max(high, self.value)
        if self.concentration is not None:
            lows, highs = posterior_grids.dirichlet_interval(self.value, self.concentration, confidence)
            return np.minimum(lows, self.value), np.maximum(highs, self.value)
        unknown = 0.0 if self.is_known else np.nan
        return self.value + unknown, self.value + unknown

    def combine(self, *others: PriorEstimate) -> PriorEstimate:
        """Combine with other, independent evidence: the likelihoods are multiplied.

        Parameters
        ----------
        *others : PriorEstimate
            Further evidence about the same prior; an estimate without a distribution is ignored.

        Examples
        --------
        >>> print(PriorEstimate.of_counts([7, 3]).combine(PriorEstimate.of_range(0.1, 0.3)))
        0.213 [0.126, 0.313] (labels drawn at random and between 0.1 and 0.3, 90% interval)
        """
        parts = [part for part in (self, *others) if part.mass is not None or part.concentration is not None]
        if not parts or not others:
            return self
        method = " and ".join(part.method for part in parts)
        if np.ndim(self.value) == 0:
            mass = posterior_grids.combine_masses([part.mass for part in parts if part.mass is not None])
            return PriorEstimate.of_mass(mass, method, self.confidence)
        alphas = sum(part.value * part.concentration - JEFFREYS for part in parts) + JEFFREYS
        return PriorEstimate._dirichlet(np.maximum(alphas, JEFFREYS), method, self.confidence)

    def widened(self, factor: float) -> PriorEstimate:
        """The same point estimate with a distribution whose standard deviation is about `factor` times as large.

        Parameters
        ----------
        factor : float
            Factor of the standard deviation; 1 changes nothing.

        Examples
        --------
        >>> counted = PriorEstimate.of_counts([70, 30])
        >>> print(counted.widened(2))  # as from a quarter of the rows
        0.302 [0.170, 0.462] (labels drawn at random, 90% interval)
        """
        if self.mass is not None:
            return replace(self, mass=posterior_grids.temper_mass(self.mass, factor**-2))
        if self.concentration is None:
            return self
        floor = JEFFREYS * len(self.value)
        return replace(self, concentration=floor + max(self.concentration - floor, 0.0) / factor**2)

    def with_confidence(self, confidence: float) -> PriorEstimate:
        """The same distribution with another confidence level of the interval.

        Parameters
        ----------
        confidence : float
            Confidence level of the new interval.
        """
        return replace(self, confidence=confidence)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PriorEstimate):
            return NotImplemented
        return all(_equal(getattr(self, part.name), getattr(other, part.name)) for part in fields(self))

    __hash__ = None  # type: ignore[assignment]  # arrays are not hashable

    def __float__(self) -> float:
        if np.ndim(self.value):
            raise TypeError(f"This prior has {len(self.value)} shares, one for each class; use .shares.")
        return float(self.value)

    def __str__(self) -> str:
        low, high = self.within(self.confidence)
        numbers = list(zip(*np.atleast_1d(self.value, low, high), strict=True))
        if self.is_known or np.isnan(low).any():
            return ", ".join(f"{value:.3f}" for value, _, _ in numbers) + f" ({self.method}, no interval)"
        spans = (f"{value:.3f} [{below:.3f}, {above:.3f}]" for value, below, above in numbers)
        return ", ".join(spans) + f" ({self.method}, {self.confidence:.0%} interval)"

    def plot(self, ax: Any = None) -> Any:
        """Draw the density, the point estimate and the interval; returns the axes. Two classes only.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.
        """
        if self.mass is None:
            raise ValueError("Only a two-class prior with a distribution can be drawn; this one has none.")
        if ax is None:
            with import_extra("report", "Drawing"):
                import matplotlib.pyplot as plt
            ax = plt.figure(layout="constrained").subplots()
        heights = self.mass / np.gradient(GRID)
        ax.plot(GRID, heights)
        inside = (self.low <= GRID) & (self.high >= GRID)
        ax.fill_between(GRID, heights, where=inside, alpha=0.3, label=f"{self.confidence:.0%} interval")
        ax.axvline(self.value, linestyle="--", color="0.3", label="used")
        ax.set(xlabel="class prior", ylabel="density", xlim=(0, 1), ylim=(0, None))
        ax.legend()
        return ax


def settle(
    raw: ArrayLike,
    replicates: ArrayLike,
    n_unlabeled: float,
    confidence: float,
    method: str,
    value: ArrayLike | None = None,
) -> PriorEstimate:
    """An estimate and its bootstrap replicates (first axis) as a distribution inside (0, 1), or inside the simplex.

    A prior of exactly 0 or 1 makes the risks ill-posed, so every prior stays 1/(n_U + 1) away from both. `value` is the
    point estimate, by default the clipped raw estimate. Two classes: a normal distribution around the raw estimate with
    the replicates' standard deviation. More classes: a Dirichlet distribution with the replicates' total variance.
    """
    raw, replicates = np.asarray(raw, dtype=float), np.asarray(replicates, dtype=float)
    margin = 1 / max(n_unlabeled + 1, 2 * max(raw.size, 1))
    inside = _inside_interval if raw.ndim == 0 else _inside_simplex
    value = inside(raw if value is None else np.asarray(value, dtype=float), margin)
    if not replicates.size:
        return PriorEstimate(_plain(value), method, _plain(raw), confidence)
    if raw.ndim == 0:
        mass = posterior_grids.normal_mass(float(raw), robust_deviation(replicates))
        return PriorEstimate(float(value), method, float(raw), confidence, mass)
    return PriorEstimate(value, method, raw, confidence, concentration=dirichlet_concentration(value, replicates))


def _inside_interval(prior: AnyArray, margin: float) -> AnyArray:
    return np.clip(prior, margin, 1 - margin)


def _inside_simplex(priors: AnyArray, margin: float) -> AnyArray:
    """Shares of at least `margin` for every class (last axis) that sum to one."""
    spare = np.clip(priors - margin, 0, None)
    room = 1 - margin * priors.shape[-1]
    total = spare.sum(axis=-1, keepdims=True)
    return margin + np.where(total > 0, room * spare / np.where(total > 0, total, 1), room / priors.shape[-1])


def _equal(one: Any, other: Any) -> bool:
    return one is other or (
        one is not None and other is not None and np.array_equal(one, other, equal_nan=_is_numeric(one))
    )


def _is_numeric(value: Any) -> bool:
    return not isinstance(value, str)


def _plain(value: AnyArray) -> Any:
    return float(value) if value.ndim == 0 else value
