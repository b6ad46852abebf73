"""Best bin estimation: the ratio of U to P above the threshold with the best guarantee (Garg et al. 2021)."""

from __future__ import annotations

from typing import Any

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn.priors._parts.groups import Group
from pnulearn.priors._parts.positive_unlabeled import (
    PositiveUnlabeledPrior,
    Statistic,
    scores_against_unlabeled,
    tail_shares,
)
from pnulearn.priors.roc import deviation


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
    confidence : float
        Probability that the interval is to hold the truth with.
    n_bootstrap : int
        Resamples for the interval; 0 skips it.
    unlabeled : object, optional
        The value in y that marks unlabelled rows; missing values always do.
    pos_label : object, optional
        The positive class, by default the greater label.
    random_state : int, RandomState or None
        Seed; an int makes the result repeatable.
    """

    method = "bbe"

    def __init__(
        self,
        classifier: Any = None,
        *,
        delta: float = 0.1,
        gamma: float = 0.01,
        confidence: float = 0.9,
        n_bootstrap: int = 200,
        unlabeled: Any = None,
        pos_label: Any = None,
        random_state: Any = None,
    ):
        self.classifier = classifier
        self.delta = delta
        self.gamma = gamma
        self.confidence = confidence
        self.n_bootstrap = n_bootstrap
        self.unlabeled = unlabeled
        self.pos_label = pos_label
        self.random_state = random_state

    def _statistic(self, labeled: Group, unlabeled: Group) -> Statistic:
        scores = scores_against_unlabeled(labeled, unlabeled, self.classifier)
        slack = (1 + self.gamma) * sum(deviation(group.size, self.delta) for group in (labeled, unlabeled))

        def ratio_at_best_bin(*shares: AnyArray) -> AnyArray:
            q_labeled, q_unlabeled = tail_shares(scores, (shares[0], shares[1]))
            positive = q_labeled > 0
            ratio = q_unlabeled / np.where(positive, q_labeled, 1)
            bound = np.where(positive, ratio + slack / np.where(positive, q_labeled, 1), np.inf)
            best = bound.argmin(axis=0)[None]
            return np.minimum(np.take_along_axis(ratio, best, axis=0)[0], 1)

        return ratio_at_best_bin
