"""Whether probabilities mean what they say: rows grouped by them, and the share of positives found in each group."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pnulearn.report.judged import judged_probability
from pnulearn.tables._model import Fitted

N_BINS = 5


@dataclass(frozen=True)
class Bin:
    """Rows with a probability between low and high: what was said, and what the labels suggest."""

    low: float
    high: float
    said: float
    found: float | None
    counts: tuple[int, int, int]


def group_by_probability(fitted: Fitted) -> list[Bin]:
    """Shares of positives by predicted probability, from labelled rows reweighted to the population."""
    prior = float(fitted.model.classifier.prior_)
    probability = judged_probability(fitted)[:, 1]
    edges = np.linspace(0, 1, N_BINS + 1)
    place = np.clip(np.digitize(probability, edges[1:-1]), 0, N_BINS - 1)
    totals = [np.sum(fitted.codes == code) for code in (1, 0)]
    bins = []
    for k in range(N_BINS):
        inside = place == k
        counts = tuple(int(np.sum(inside & (fitted.codes == code))) for code in (1, 0, -1))
        mass = prior * counts[0] / totals[0], (1 - prior) * counts[1] / totals[1]
        found = mass[0] / sum(mass) if sum(mass) else None
        said = float(probability[inside].mean()) if inside.any() else float(edges[k : k + 2].mean())
        bins.append(Bin(float(edges[k]), float(edges[k + 1]), said, found, (counts[0], counts[1], counts[2])))
    return bins
