"""Where to draw the line: what becomes of a thousand rows at every threshold, and what that costs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pnulearn._intervals.posterior_grids import ContradictedPrior
from pnulearn.metrics._estimate import Estimate
from pnulearn.metrics._rates import count_decisions, judge_decisions
from pnulearn.report.judged import judged_probability
from pnulearn.tables._model import Fitted

THRESHOLDS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
PRICES = (1, 2, 5, 10, 20)  # of a missed positive, in false alarms
THOUSAND = 1000
FEWEST = 0.01  # of the rows on either side; of fewer nothing can be said


@dataclass(frozen=True)
class AtThreshold:
    """If rows with at least this probability were called positive.

    Of a thousand rows: how many are called so, how many of them wrongly, and how many positives are missed.
    """

    threshold: float
    called: float
    false_alarms: float
    missed: float
    precision: Estimate
    recall: Estimate

    def cost(self, price: float) -> float:
        """In false alarms, if missing a positive costs that many of them."""
        return self.false_alarms + price * self.missed


def look_at_thresholds(fitted: Fitted) -> list[AtThreshold]:
    """Every threshold at which the rows can be told apart, from held-out probabilities."""
    classifier = fitted.model.classifier
    probability, prior = judged_probability(fitted)[:, 1], classifier.prior_estimate_
    groups = [np.flatnonzero(fitted.codes == code) for code in (0, 1, -1)]
    theta = float(prior.mean)
    found = []
    for threshold in THRESHOLDS:
        table = count_decisions(groups, (probability >= threshold).astype(int), 2)
        try:
            quality = judge_decisions(table, prior)
        except ContradictedPrior:
            continue
        if quality is None or not FEWEST < quality.called[1] < 1 - FEWEST:
            continue
        recall, precision = quality.recall[1], quality.precision[1]
        right = theta * recall.value
        wrong = right * (1 / precision.value - 1) if precision.value else quality.called[1]
        found.append(
            AtThreshold(
                threshold,
                THOUSAND * (right + wrong),
                THOUSAND * wrong,
                THOUSAND * (theta - right),
                precision,
                recall,
            )
        )
    return found


def cheapest(lines: list[AtThreshold], price: float) -> AtThreshold:
    """The threshold to take at that price; of equally cheap ones that nearest to the middle."""
    return min(lines, key=lambda line: (round(line.cost(price), 6), abs(line.threshold - 0.5)))
