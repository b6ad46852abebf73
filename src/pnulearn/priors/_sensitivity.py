"""Sensitivity of decisions and errors to the class prior, and the value of labels drawn at random."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from pnulearn._arrays import AnyArray
from pnulearn._intervals.posterior_grids import mass_after_labels
from pnulearn._numbers import read_count
from pnulearn.priors._estimate import PriorEstimate

# Sensitivity of decisions: the classifier is refitted at both ends of the interval of the prior.


@dataclass(frozen=True)
class PriorSensitivity:
    """Decisions at the lower end, the point estimate and the upper end of a prior's interval.

    `changed` marks rows with different decisions at the two ends, `share` is their share.

    Parameters
    ----------
    estimate : PriorEstimate
        The prior with its interval.
    decisions : array (3, rows)
        Decisions at low, value and high.
    changed : array (rows,) of bool
        Rows with different decisions at the two ends.
    """

    estimate: PriorEstimate
    decisions: AnyArray
    changed: AnyArray

    @property
    def share(self) -> float:
        return float(self.changed.mean())

    def __str__(self) -> str:
        return (
            f"Between prior {self.estimate.low:.3f} and {self.estimate.high:.3f}, {self.changed.sum()} of "
            f"{len(self.changed)} decisions change ({self.share:.1%})."
        )


def prior_sensitivity(
    classifier: Any, X: Any, y: ArrayLike, estimate: PriorEstimate, X_new: Any = None
) -> PriorSensitivity:
    """Refit a two-class classifier that has a parameter `prior` at low, value and high, and compare its decisions.

    The decisions are those for X_new, by default for X itself.

    Parameters
    ----------
    classifier : classifier
        A two-class classifier with a parameter `prior`.
    X : array, sparse matrix or data frame (rows, columns)
        Features.
    y : array (rows,)
        Labels; missing values and `unlabeled` mark unlabelled rows.
    estimate : PriorEstimate
        The prior with its interval.
    X_new : like X, optional
        Rows to predict; X by default.
    """
    ends = np.array([estimate.low, estimate.value, estimate.high], dtype=float)
    if ends.ndim != 1 or np.isnan(ends).any():
        raise ValueError("The estimate must have an interval and be for two classes: use n_bootstrap above 0.")
    rows = X if X_new is None else X_new
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "prior=.* was given")  # the ends are not meant as known priors
        decisions = np.array([clone(classifier).set_params(prior=float(end)).fit(X, y).predict(rows) for end in ends])
    return PriorSensitivity(estimate, decisions, decisions[0] != decisions[2])


# The cost of an uncertain prior, and its expected reduction by labels drawn at random.

N_LABELS = 15  # takes about an hour to label and narrows the interval noticeably
N_POINTS = 15
WORTH_SAYING = 0.005  # smallest cost that is reported: half a percentage point of error


@dataclass(frozen=True)
class Narrowing:
    """The interval of a two-class prior now, and its expectation after more labels drawn at random.

    Parameters
    ----------
    n_labels : int
        Number of labels to draw.
    interval : (float, float)
        Interval of the prior now.
    interval_after : (float, float)
        Expected ends of the interval after these labels.
    sd : float
        Standard deviation now.
    sd_after : float
        Square root of the expected variance after these labels.
    cost : float, optional
        Expected increase of the error rate by the uncertainty of the prior now (`prior_cost`).
    has_random : bool
        Whether labels drawn at random are part of the estimate now.
    """

    n_labels: int
    interval: tuple[float, float]
    interval_after: tuple[float, float]
    sd: float
    sd_after: float
    cost: float | None = None
    has_random: bool = False

    @property
    def cost_after(self) -> float | None:
        """The cost after the labels; it is proportional to the variance of the prior."""
        return None if self.cost is None else self.cost * (self.sd_after / self.sd) ** 2

    @property
    def is_costly(self) -> bool:
        """Whether the cost is known and at least half a percentage point."""
        return self.cost is not None and self.cost >= WORTH_SAYING

    def __str__(self) -> str:
        labels = f"{self.n_labels}{' more' if self.has_random else ''} rows labelled at random would narrow"
        narrower = f"from {_span(self.interval)} to about {_span(self.interval_after)}"
        if self.cost is None or self.cost_after is None:
            return f"{labels} the prior {narrower}."
        return (
            f"Not knowing the prior may cost about {100 * self.cost:.1f} points of error; {labels} it {narrower}, and "
            f"that cost to about {100 * self.cost_after:.1f} points."
        )


def after_random_labels(
    estimate: PriorEstimate, n_labels: int = N_LABELS, probability: ArrayLike | None = None
) -> Narrowing | None:
    """The expected narrowing of the prior's interval by labels drawn at random.

    The number k of positives among n labels has probability E[Binom(k | n, θ)] under the current distribution of θ.
    Each k gives a narrower posterior with its own interval and variance; both are averaged. Returns None if there is no
    distribution to narrow: the prior is known, has no spread, or there are more than two classes.

    Parameters
    ----------
    estimate : PriorEstimate
        The current estimate.
    n_labels : int
        Number of labels to draw.
    probability : array (rows,), optional
        Probabilities of the positive class for unlabelled rows under `estimate.value`, to compute the cost.

    Examples
    --------
    >>> print(after_random_labels(PriorEstimate.of_range(0.1, 0.7)))
    15 rows labelled at random would narrow the prior from 0.10..0.70 to about 0.22..0.54.
    """
    _refuse_no_estimate(estimate)
    read_count("n_labels", n_labels, 0)
    if estimate.mass is None:
        return None
    low, high, variance = mass_after_labels(estimate.mass, n_labels, estimate.confidence)
    cost = None if probability is None else prior_cost(probability, estimate)
    interval = (float(estimate.low), float(estimate.high))
    has_random = "drawn at random" in estimate.method
    return Narrowing(n_labels, interval, (low, high), estimate.spread, float(np.sqrt(variance)), cost, has_random)


def prior_cost(probability: ArrayLike, estimate: PriorEstimate, n_points: int = N_POINTS) -> float:
    """Expected increase of the error rate by deciding with `estimate.value` instead of the true prior.

    Parameters
    ----------
    probability : array (rows,)
        Probabilities of the positive class for unlabelled rows under `estimate.value`.
    estimate : PriorEstimate
        The prior with its distribution.
    n_points : int
        Number of priors to average over.
    """
    _refuse_no_estimate(estimate)
    read_count("n_points", n_points)
    p = _read_probability(probability)
    shifted = [shift_probability(p, float(estimate.value), theta) for theta in estimate.points(n_points)]
    return float(np.mean([np.mean(np.abs(1 - 2 * q) * ((p > 0.5) != (q > 0.5))) for q in shifted]))


def _refuse_no_estimate(estimate: Any) -> None:
    if not isinstance(estimate, PriorEstimate):
        raise TypeError(f"estimate must be a PriorEstimate, as estimate_prior returns it, got {estimate!r}.")


def _read_probability(probability: ArrayLike) -> AnyArray:
    try:
        p = np.asarray(probability, dtype=float)
    except (TypeError, ValueError):
        p = np.zeros(0)
    if p.size == 0 or not ((p >= 0) & (p <= 1)).all():
        raise ValueError(f"probability must be numbers between 0 and 1, one per row, got {probability!r:.60}.")
    return p


def shift_probability(probability: AnyArray, prior: float, other: float) -> AnyArray:
    """Probabilities of the positive class under another prior, with unchanged class-conditional densities.

    >>> shift_probability(np.array([0.5, 1.0]), 0.5, 0.2).tolist()
    [0.2, 1.0]
    """
    positive = probability * other / prior
    negative = (1 - probability) * (1 - other) / (1 - prior)
    return positive / (positive + negative)


def _span(interval: tuple[float, float]) -> str:
    return f"{interval[0]:.2f}..{interval[1]:.2f}"
