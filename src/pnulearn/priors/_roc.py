"""The share of positives as the smallest slope of the ROC curve of P against U (Blanchard, Lee, Scott 2010)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._intervals.closed_forms import dkw_half_width
from pnulearn._parameters import parameters
from pnulearn.priors._groups import Group
from pnulearn.priors._positive_unlabeled import ScoredPrior, Statistic, tail_shares


@parameters
class ROCPrior(ScoredPrior):
    """κ = min over t of (q_U(t) + ε_U) / (q_P(t) − ε_P), with q the share of rows scoring at least t.

    With the widths ε_n = sqrt(log(4/δ) / (2n)) it is an upper bound with probability 1 − δ, so it is close to the prior
    only if P and U are large.

    Parameters
    ----------
    delta : float
        δ, the failure probability of the bound.
    """

    method = "roc"
    limits: ClassVar = {"delta": (0, 1, False)}

    delta: float = 0.1

    def _of_scores(self, scores: tuple[AnyArray, AnyArray], labeled: Group, unlabeled: Group) -> Statistic:
        slack_labeled, slack_unlabeled = (dkw_half_width(group.size, self.delta / 2) for group in (labeled, unlabeled))

        def least_slope(*shares: AnyArray) -> AnyArray:
            q_labeled, q_unlabeled = tail_shares(scores, (shares[0], shares[1]))
            room = q_labeled - slack_labeled
            slope = np.where(room > 0, (q_unlabeled + slack_unlabeled) / np.where(room > 0, room, 1), np.inf)
            return np.minimum(slope.min(axis=0), 1)

        return least_slope
