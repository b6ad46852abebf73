"""What it costs not to know the prior, and what a few more labels drawn at random would tell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pnulearn._arrays import AnyArray
from pnulearn._intervals.posterior_grids import mass_after_labels
from pnulearn._numbers import read_count
from pnulearn.priors.estimate import PriorEstimate

N_LABELS = 15  # few enough to be labelled in an hour, many enough to tell
N_POINTS = 15
WORTH_SAYING = 0.005  # half a point of error


@dataclass(frozen=True)
class Narrowing:
    """What is known about a prior of two classes now, and what is to be expected after more labels drawn at random.

    Parameters
    ----------
    n_labels : int
        Labels that would be drawn.
    interval : (float, float)
        Of the prior now.
    interval_after : (float, float)
        Its ends after them, on average over how they may turn out.
    sd : float
        Standard deviation now.
    sd_after : float
        Root of the variance that is expected after them.
    cost : float, optional
        Error that the unknown prior is expected to add now (`prior_cost`).
    """

    n_labels: int
    interval: tuple[float, float]
    interval_after: tuple[float, float]
    sd: float
    sd_after: float
    cost: float | None = None

    @property
    def cost_after(self) -> float | None:
        """The cost after the labels: it falls as the variance of the prior does."""
        return None if self.cost is None else self.cost * (self.sd_after / self.sd) ** 2

    @property
    def is_costly(self) -> bool:
        """Whether the cost is known and worth a sentence."""
        return self.cost is not None and self.cost >= WORTH_SAYING

    def __str__(self) -> str:
        labels = f"{self.n_labels} rows labelled at random would narrow"
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
    """What that many labels drawn at random would tell, on average over the counts that they may show.

    k of n positives have probability ∫ Binom(k | n, θ) dθ under what is known now; each k leaves a narrower
    distribution, with its own ends and its own variance. None if nothing is to be narrowed: the prior is known, has no
    spread, or there are more than two classes.

    Parameters
    ----------
    estimate : PriorEstimate
        What is known now.
    n_labels : int
        Labels to be drawn.
    probability : array (rows,), optional
        Of the positive class for unlabelled rows, under `estimate.value`: then the cost is counted too.

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
    return Narrowing(n_labels, interval, (low, high), estimate.spread, float(np.sqrt(variance)), cost)


def prior_cost(probability: ArrayLike, estimate: PriorEstimate, n_points: int = N_POINTS) -> float:
    """Error that is expected to be added by deciding at the prior in use while the truth may be any other.

    Parameters
    ----------
    probability : array (rows,)
        Of the positive class for unlabelled rows, under `estimate.value`.
    estimate : PriorEstimate
        What is known about the prior.
    n_points : int
        Priors to average over.
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
    """Probabilities of the positive class under another prior, the classes themselves being the same.

    >>> shift_probability(np.array([0.5, 1.0]), 0.5, 0.2).tolist()
    [0.2, 1.0]
    """
    positive = probability * other / prior
    negative = (1 - probability) * (1 - other) / (1 - prior)
    return positive / (positive + negative)


def _span(interval: tuple[float, float]) -> str:
    return f"{interval[0]:.2f}..{interval[1]:.2f}"
