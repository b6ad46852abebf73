"""The training objective of any loss: one term per row, convex or bounded if the loss allows it.

A risk gives row i the terms a ℓ(g) + b ℓ(−g), where a weight may be negative. The `gap` declared by a loss combines
both terms into one:

    ℓ(m) − ℓ(−m) = −m :   a ℓ(g) + b ℓ(−g) = (a + b) ℓ(g) + b g,     convex because a + b ≥ 0 in every risk;
    ℓ(m) + ℓ(−m) = 1  :   a ℓ(g) + b ℓ(−g) = (a − b) ℓ(g) + b,       bounded, and one such term per row.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn.losses import LOSSES, Loss
from pnulearn.risks import Risk

ROUNDING = 1e-12
TINY_MARGIN = 1e-4


class Minimum(NamedTuple):
    """A solver's result: g(x) = coef·φ(x) + intercept, the number of iterations, and whether it converged.

    `vector` is the solution in the solver's own coordinates, as a warm start for similar problems.
    """

    coef: AnyArray
    intercept: float
    n_iter: int
    converged: bool
    vector: AnyArray | None = None


@dataclass(frozen=True)
class Objective:
    """Σ_i weight_i ℓ(side_i g_i) + slope_i g_i + constant, with weight_i ≥ 0 and side_i = ±1."""

    loss: Loss
    weight: AnyArray
    side: AnyArray
    slope: AnyArray
    constant: float = 0.0

    def value(self, scores: AnyArray) -> float:
        """The risk for these scores."""
        return float(self.weight @ self.loss(self.side * scores) + self.slope @ scores) + self.constant

    def derivative(self, scores: AnyArray) -> AnyArray:
        """Derivative of the risk by each row's score."""
        return self.weight * self.side * self.loss.derivative(self.side * scores) + self.slope

    def curvature(self, scores: AnyArray) -> AnyArray:
        """Second derivative of the risk by each row's score."""
        return self.weight * self.loss.curvature(self.side * scores)

    @property
    def used(self) -> AnyArray:
        """Which rows contribute to the objective."""
        return (self.weight > 0) | (self.slope != 0)

    def take(self, rows: AnyArray) -> Objective:
        """The terms of some rows; the objective is unchanged if the other rows are not `used`."""
        return replace(self, weight=self.weight[rows], side=self.side[rows], slope=self.slope[rows])

    def broad_curvature(self, scores: AnyArray) -> AnyArray:
        """Curvature of the parabola that touches each row's convex term at g and at −g.

        For the logistic loss the parabola is an upper bound, and its curvature decays like 1 / |g|, not like exp(−|g|).
        """
        margin = self.side * scores
        margin = np.where(np.abs(margin) < TINY_MARGIN, TINY_MARGIN, margin)
        return self.weight * (self.loss.derivative(margin) - self.loss.derivative(-margin)) / (2 * margin)


def objective(risk: Risk, loss: Loss, shares: AnyArray) -> Objective:
    """The empirical risk as a sum over rows.

    `shares` (3, n) are the weights of each row in the means over P, N and U. A row may have weight in several means,
    e.g. a labelled row if all rows represent the population.

    >>> from pnulearn import losses, risks
    >>> pu = objective(risks.pu(0.4), losses.Logistic(), np.array([[1.0, 0, 0], [0, 0, 0], [0, 0.5, 0.5]]))
    >>> print(pu.weight, pu.side, pu.slope)
    [0.  0.5 0.5] [ 1. -1. -1.] [-0.4 0. 0. ]
    """
    own, mirrored = risk.table.T @ shares
    side = np.where(own >= mirrored, 1.0, -1.0)
    larger, smaller = np.maximum(own, mirrored), np.minimum(own, mirrored)
    none = np.zeros_like(own)
    if loss.gap == "linear" and (larger + smaller >= -ROUNDING).all():
        return Objective(loss, np.maximum(larger + smaller, 0), side, side * smaller)
    if loss.gap == "constant":
        return Objective(loss, larger - smaller, side, none, float(smaller.sum()))
    if loss.gap is None and (np.abs(smaller) <= ROUNDING).all():
        return Objective(loss, larger, side, none)
    raise ValueError(_misfit(risk, loss))


def shares_in_means(codes: AnyArray, weight: AnyArray, population: AnyArray, prior: AnyArray, own: int) -> AnyArray:
    """Weights (3, n) of each row in the means over P, N and U; class `own` is P, all others, weighted by prior, are N.

    >>> shares_in_means(np.array([1, 0, 0, -1]), np.ones(4), np.array([3]), np.array([0.5, 0.5]), own=1).tolist()
    [[1.0, 0.0, 0.0, 0.0], [0.0, 0.5, 0.5, 0.0], [0.0, 0.0, 0.0, 1.0]]
    """
    labeled = np.flatnonzero(codes >= 0)
    total = np.bincount(codes[labeled], weights=weight[labeled], minlength=len(prior))
    factor = prior / (1 - prior[own])
    factor[own] = 1.0
    shares = np.zeros((3, len(codes)))
    side = np.where(codes[labeled] == own, 0, 1)
    shares[side, labeled] = factor[codes[labeled]] * weight[labeled] / total[codes[labeled]]
    if len(population):
        shares[2, population] = weight[population] / weight[population].sum()
    return shares


def _misfit(risk: Risk, loss: Loss) -> str:
    names = [known.name for known in LOSSES.values() if known.gap and (known.smooth or known.kinks)]
    return (
        f"The {loss.name} loss cannot be trained on a risk that gives some of its terms a negative weight: {risk}. "
        f"Losses that fit every risk: {', '.join(map(repr, names))}; the {loss.name} loss fits risk='pn'."
    )
