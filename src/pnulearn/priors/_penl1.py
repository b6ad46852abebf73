"""The class prior by partial matching in penalised L1 distance (du Plessis, Niu, Sugiyama 2015)."""

from __future__ import annotations

from dataclasses import field
from math import inf
from typing import ClassVar

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._parameters import parameters
from pnulearn.priors._groups import Group
from pnulearn.priors._pe import gaussian_features
from pnulearn.priors._positive_unlabeled import PositiveUnlabeledPrior, Statistic


@parameters
class PenalizedL1Prior(PositiveUnlabeledPrior):
    """θ minimising  (1/ρ) Σ_l max(0, θ p_l − u_l)² − θ + 1,   p = mean_P φ,  u = mean_U φ.

    The sum penalises θ p_P where it exceeds p_U; `PearsonPrior` has no such penalty. φ are Gaussians around rows of U
    whose width is `width` times the median distance, and ρ is `penalty`. The estimate is too large if the classes
    overlap.

    Parameters
    ----------
    width : float
        Width of the Gaussians over the median distance.
    penalty : float
        ρ.
    """

    method = "penl1"
    limits: ClassVar = {"width": (0, inf, False), "penalty": (0, inf, True)}

    width: float = field(default=0.5, kw_only=False)
    penalty: float = 0.1

    def _statistic(self, labeled: Group, unlabeled: Group) -> Statistic:
        of_labeled, of_unlabeled = gaussian_features(labeled, unlabeled, self.width)

        def matching(labeled_shares: AnyArray, unlabeled_shares: AnyArray) -> AnyArray:
            return least_penalized(of_labeled.T @ labeled_shares, of_unlabeled.T @ unlabeled_shares, self.penalty)

        return matching


def least_penalized(p: AnyArray, u: AnyArray, penalty: float) -> AnyArray:
    """The exact minimiser for every column of p and u, at most 1.

    The derivative is piecewise linear in θ with breakpoints u_l / p_l. Above the k lowest breakpoints its root is
    (ρ/2 + Σ p u) / Σ p² over those k. It is the minimiser if it lies below the next breakpoint.
    """
    breakpoints = u / np.maximum(p, 1e-300)
    order = np.argsort(breakpoints, axis=0)
    breakpoints, p, u = (np.take_along_axis(values, order, axis=0) for values in (breakpoints, p, u))
    roots = (penalty / 2 + np.cumsum(p * u, axis=0)) / np.maximum(np.cumsum(p**2, axis=0), 1e-300)
    following = np.concatenate([breakpoints[1:], np.full((1, p.shape[1]), np.inf)])
    first = (roots <= following).argmax(axis=0)
    return np.minimum(roots[first, np.arange(p.shape[1])], 1)
