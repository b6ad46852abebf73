"""Two models on the same rows: their errors, and the difference judged row by row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pnulearn.losses import ZeroOne
from pnulearn.metrics.risk import RiskEstimate, estimate_risk
from pnulearn.risks import pnu

BORROWED_ROWS = 5


@dataclass(frozen=True)
class Rivalry:
    """The validation risks of two models and their difference, negative if the first one is better."""

    model: RiskEstimate
    other: RiskEstimate
    difference: float
    stderr: float

    def verdict(self, first: str, second: str) -> str:
        """Who is better, no stronger than the evidence."""
        gap, noise = -100 * self.difference, 200 * self.stderr
        words = f"The error is {abs(gap):.1f} points {'lower' if gap >= 0 else 'higher'} {first} than {second}"
        if abs(gap) > noise:
            return f"{words}, which is more than chance explains (two standard errors are {noise:.1f} points)."
        return f"{words}, which chance alone could explain (two standard errors are {noise:.1f} points)."


def compare_risks(scores: list[NDArray], others: list[NDArray], prior: float, mix: float) -> Rivalry:
    """Both zero-one risks, and their difference judged row by row, which cancels what the models share."""
    model, other = (estimate_risk(groups, prior, mix) for groups in (scores, others))
    factors = pnu(prior, mix).table @ [1, -1]  # the losses of g and −g differ by opposite amounts
    loss = ZeroOne()
    gaps = [loss(ours) - loss(theirs) for ours, theirs in zip(scores, others, strict=True)]
    variances = [_variance_of_mean(gap, float(np.mean(gaps[2] ** 2))) for gap in gaps]
    return Rivalry(model, other, model.value - other.value, float(np.sqrt(factors**2 @ variances)))


def _variance_of_mean(gap: NDArray, usual: float) -> float:
    """Variance of a mean difference of losses, with a few rows borrowed from U, where `usual` is the mean square.

    A dozen labelled rows on which two models agree would otherwise look certain.
    """
    square = (np.sum(gap**2) + BORROWED_ROWS * usual) / (len(gap) + BORROWED_ROWS)
    return float(max(square - np.mean(gap) ** 2, 0) / len(gap))
