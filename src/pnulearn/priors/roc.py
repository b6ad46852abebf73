"""The share of positives as the least slope of the ROC curve of P against U (Blanchard, Lee, Scott 2010)."""

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


class ROCPrior(PositiveUnlabeledPrior):
    """κ = min over t of (q_U(t) + ε_U) / (q_P(t) − ε_P), with q the share of rows scoring at least t.

    The widths ε_n = sqrt(log(4/δ) / (2n)) make it an upper bound with probability 1 − δ, which is why it is only
    close to the prior when P and U are large. `classifier` scores P against U; kernel ridge candidates by default.

    Parameters
    ----------
    classifier : classifier, optional
        Scores the rows, held out; kernel ridge candidates by default.
    delta : float
        δ, the probability with which the bound may fail.
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

    method = "roc"

    def __init__(
        self,
        classifier: Any = None,
        *,
        delta: float = 0.1,
        confidence: float = 0.9,
        n_bootstrap: int = 200,
        unlabeled: Any = None,
        pos_label: Any = None,
        random_state: Any = None,
    ):
        self.classifier = classifier
        self.delta = delta
        self.confidence = confidence
        self.n_bootstrap = n_bootstrap
        self.unlabeled = unlabeled
        self.pos_label = pos_label
        self.random_state = random_state

    def _statistic(self, labeled: Group, unlabeled: Group) -> Statistic:
        scores = scores_against_unlabeled(labeled, unlabeled, self.classifier)
        slack_labeled, slack_unlabeled = (deviation(group.size, self.delta) for group in (labeled, unlabeled))

        def least_slope(*shares: AnyArray) -> AnyArray:
            q_labeled, q_unlabeled = tail_shares(scores, (shares[0], shares[1]))
            room = q_labeled - slack_labeled
            slope = np.where(room > 0, (q_unlabeled + slack_unlabeled) / np.where(room > 0, room, 1), np.inf)
            return np.minimum(slope.min(axis=0), 1)

        return least_slope


def deviation(n_rows: float, delta: float) -> float:
    """How far an empirical distribution function of n rows strays with probability δ/2 at most (DKW)."""
    return float(np.sqrt(np.log(4 / delta) / (2 * n_rows)))
