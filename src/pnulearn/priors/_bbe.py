"""Best bin estimation: the ratio of U to P above the threshold with the best guarantee (Garg et al. 2021)."""

from __future__ import annotations

from dataclasses import field
from typing import Any, ClassVar

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._intervals.closed_forms import dkw_half_width
from pnulearn._parameters import parameters
from pnulearn.priors._groups import Group
from pnulearn.priors._positive_unlabeled import PositiveUnlabeledPrior, Statistic, scores_against_unlabeled, tail_shares

TIED_DIGITS = 9  # bounds that agree to so many digits are equal


@parameters
class BBEPrior(PositiveUnlabeledPrior):
    """θ = q_U(t) / q_P(t) at the t that minimises  q_U/q_P + (1 + γ)(ε_U + ε_P)/q_P,  ε_n = sqrt(log(4/δ) / (2n)).

    q is the share of rows scoring at least t by a classifier of P against U, held out. Unlike `ROCPrior` the bound
    only chooses the threshold and is not part of the answer.

    Parameters
    ----------
    classifier : classifier, optional
        Scores the rows, held out; kernel ridge candidates by default.
    delta : float
        δ, the probability with which the bound may fail.
    gamma : float
        γ, the weight of the widths in the choice of the threshold.
    """

    method = "bbe"
    limits: ClassVar = {"delta": (0, 1, False), "gamma": (0, 1, True)}

    classifier: Any = field(default=None, kw_only=False)
    delta: float = 0.1
    gamma: float = 0.01

    def _statistic(self, labeled: Group, unlabeled: Group) -> Statistic:
        scores = scores_against_unlabeled(labeled, unlabeled, self.classifier)
        slack = (1 + self.gamma) * sum(dkw_half_width(group.size, self.delta / 2) for group in (labeled, unlabeled))

        def ratio_at_best_bin(*shares: AnyArray) -> AnyArray:
            q_labeled, q_unlabeled = tail_shares(scores, (shares[0], shares[1]))
            positive = q_labeled > 0
            ratio = q_unlabeled / np.where(positive, q_labeled, 1)
            bound = np.where(positive, ratio + slack / np.where(positive, q_labeled, 1), np.inf)
            best = np.round(bound, TIED_DIGITS).argmin(axis=0)[None]
            return np.minimum(np.take_along_axis(ratio, best, axis=0)[0], 1)

        return ratio_at_best_bin
