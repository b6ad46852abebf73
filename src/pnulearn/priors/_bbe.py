"""Best bin estimation: the ratio of U to P above the threshold with the best guarantee (Garg et al. 2021)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._intervals.closed_forms import dkw_half_width
from pnulearn._parameters import parameters
from pnulearn.priors._groups import Group
from pnulearn.priors._positive_unlabeled import ScoredPrior, Statistic, tail_shares

TIED_DIGITS = 9  # bounds are compared after rounding to this many digits


@parameters
class BBEPrior(ScoredPrior):
    """θ = q_U(t) / q_P(t) at the t that minimises  q_U/q_P + (1 + γ)(ε_U + ε_P)/q_P,  ε_n = sqrt(log(4/δ) / (2n)).

    q is the share of rows whose held-out score, from a classifier of P against U, is at least t. Unlike in `ROCPrior`,
    the bound is only used to choose the threshold; it is not part of the estimate.

    Parameters
    ----------
    delta : float
        δ, the failure probability of the bound.
    gamma : float
        γ, the weight of the interval widths when the threshold is chosen.
    """

    method = "bbe"
    limits: ClassVar = {"delta": (0, 1, False), "gamma": (0, 1, True)}

    delta: float = 0.1
    gamma: float = 0.01

    def _of_scores(self, scores: tuple[AnyArray, AnyArray], labeled: Group, unlabeled: Group) -> Statistic:
        return best_bin(scores, labeled, unlabeled, self.delta, self.gamma)


def best_bin(
    scores: tuple[AnyArray, AnyArray], labeled: Group, unlabeled: Group, delta: float = 0.1, gamma: float = 0.01
) -> Statistic:
    """The estimate from held-out scores of both groups, as a function of their weights."""
    slack = (1 + gamma) * sum(dkw_half_width(group.size, delta / 2) for group in (labeled, unlabeled))

    def ratio_at_best_bin(*shares: AnyArray) -> AnyArray:
        q_labeled, q_unlabeled = tail_shares(scores, (shares[0], shares[1]))
        positive = q_labeled > 0
        ratio = q_unlabeled / np.where(positive, q_labeled, 1)
        bound = np.where(positive, ratio + slack / np.where(positive, q_labeled, 1), np.inf)
        best = np.round(bound, TIED_DIGITS).argmin(axis=0)[None]
        return np.minimum(np.take_along_axis(ratio, best, axis=0)[0], 1)

    return ratio_at_best_bin
