"""Both error rates at every threshold at once, with what is not known about them: draws from a posterior.

At one threshold a sample's share of rows above it has Jeffreys' posterior. Dirichlet weights of the rows, with half a
row beyond either end, have it at all thresholds at once. P, N and U are drawn apart and then made to agree: U is a
mixture of the classes, and each is moved in proportion to how uncertain it is, which is the PNU mix of that threshold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pnulearn._arrays import AnyArray, FloatArray
from pnulearn.priors.estimate import PriorEstimate

N_DRAWS = 1000
MOST_THRESHOLDS = 200
JEFFREYS = 0.5
SEED = 0  # the same rows have the same interval


@dataclass(frozen=True)
class ScoreDraws:
    """FNR and FPR, (1 + draws, thresholds), if rows with a score above a threshold are called positive.

    Row 0 is the estimate, the others are draws, each with its own prior. Thresholds rise; the first is below and the
    last at or above every score.
    """

    thresholds: FloatArray
    fnr: FloatArray
    fpr: FloatArray
    prior: FloatArray

    @property
    def recall(self) -> FloatArray:
        return 1 - self.fnr

    @property
    def precision(self) -> FloatArray:
        """Share of positives among rows above a threshold; 1 where nothing lies above it."""
        true, false = self.prior[:, None] * self.recall, (1 - self.prior[:, None]) * self.fpr
        called = true + false
        return np.where(called > 0, true / np.where(called > 0, called, 1.0), 1.0)

    def cost(self, costs: tuple[float, float]) -> FloatArray:
        """Cost per row of the population, (1 + draws, thresholds)."""
        prior = self.prior[:, None]
        return costs[0] * prior * self.fnr + costs[1] * (1 - prior) * self.fpr


def draw_scores(
    scores: Sequence[AnyArray],
    prior: PriorEstimate,
    weights: Sequence[AnyArray] | None = None,
    *,
    thresholds: AnyArray | None = None,
    n_draws: int = N_DRAWS,
    between: float = 0.0,
) -> ScoreDraws:
    """Error rates at all thresholds, from scores on P, N and U; U may be empty.

    P and N have `between` imagined rows each that are spread as U is, so that no stretch of scores is certainly empty
    of a class because no labelled row of it fell there.
    """
    for name, group in zip(("positive", "negative"), scores, strict=False):
        if not len(group):
            raise ValueError(f"A curve needs labelled rows of both classes; there are no {name} ones.")
    weights = [np.ones(len(g)) for g in scores] if weights is None else weights
    cuts = choose_thresholds(scores) if thresholds is None else np.asarray(thresholds, dtype=float)
    counts = [_count(g, w, cuts) for g, w in zip(scores, weights, strict=True)]
    rng = np.random.default_rng(SEED)
    points = prior.points(25)
    theta = np.append(float(prior.mean), points[np.arange(n_draws) % len(points)])
    usual = counts[2] if counts[2].any() else counts[0] + counts[1]
    imagined = between * usual / usual.sum()
    below = [
        _cumulate(count, n_draws, rng, more) for count, more in zip(counts, (imagined, imagined, 0.0), strict=True)
    ]
    positive, negative = _agree(below, counts, theta[:, None]) if len(scores[2]) else (below[0], below[1])
    return ScoreDraws(cuts, positive, 1 - negative, theta)


def draw_bins(
    scores: Sequence[AnyArray],
    prior: PriorEstimate,
    weights: Sequence[AnyArray],
    edges: AnyArray,
    n_draws: int = N_DRAWS,
) -> FloatArray:
    """Share of positives among rows between two edges: the estimate, then draws, (1 + draws, bins).

    P and N have an imagined row each that is spread over the bins as U is, so that no bin is certain for want of rows.
    """
    counts = np.array([_count(g, w, edges)[1:-1] for g, w in zip(scores, weights, strict=True)])
    usual = counts[2] if counts[2].any() else counts[0] + counts[1]
    imagined = np.array([1.0, 1.0, 0.0])[:, None] * usual / usual.sum()
    rng, points = np.random.default_rng(SEED), prior.points(25)
    theta = np.append(float(prior.mean), points[np.arange(n_draws) % len(points)])[:, None]
    masses = []
    for count in counts + imagined:
        drawn = rng.standard_gamma(count, size=(n_draws, len(count)))
        rows = np.vstack([count, drawn])
        masses.append(rows / np.maximum(rows.sum(axis=1, keepdims=True), 1e-300))
    positive, negative = _move(masses, (counts + imagined).sum(axis=1), theta) if counts[2].any() else masses[:2]
    true, false = (np.clip(part, 1e-9, None) for part in (theta * positive, (1 - theta) * negative))
    return true / (true + false)


def choose_thresholds(scores: Sequence[AnyArray]) -> FloatArray:
    """Scores of labelled rows and of U, at most 200 spread evenly, and one below all."""
    values = np.unique(np.concatenate([scores[0], scores[1], scores[2]]))
    if len(values) > MOST_THRESHOLDS:
        values = values[np.linspace(0, len(values) - 1, MOST_THRESHOLDS).astype(int)]
    return np.append(np.nextafter(values[0], -np.inf), values)


def _count(scores: AnyArray, weight: AnyArray, thresholds: AnyArray) -> FloatArray:
    """Rows up to each threshold and beyond the last, in units of equally weighted rows, (thresholds + 1,)."""
    if not len(scores):
        return np.zeros(len(thresholds) + 1)
    size = weight.sum() ** 2 / (weight**2).sum()
    place = np.searchsorted(thresholds, scores, "left")
    return np.bincount(place, weights=weight, minlength=len(thresholds) + 1) * size / weight.sum()


def _cumulate(
    count: FloatArray, n_draws: int, rng: np.random.Generator, imagined: FloatArray | float = 0.0
) -> FloatArray:
    """Share of the sample at or below each threshold: as seen, then drawn, (1 + draws, thresholds)."""
    ends = np.zeros(len(count))
    ends[[0, -1]] = JEFFREYS
    drawn = np.cumsum(rng.standard_gamma(count + imagined + ends, size=(n_draws, len(count))), axis=1)
    seen = np.cumsum(count) / max(count.sum(), 1e-300)
    return np.vstack([seen[:-1], drawn[:, :-1] / drawn[:, -1:]])


def _agree(
    below: Sequence[FloatArray], counts: Sequence[FloatArray], prior: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """P and N moved until U is their mixture, each by its part of the variance; monotone and within [0, 1]."""
    moved = _move(below, np.array([count.sum() for count in counts]), prior)
    positive, negative = (np.maximum.accumulate(np.clip(part, 0, 1), axis=1) for part in moved)
    return positive, negative


def _move(shares: Sequence[FloatArray], sizes: FloatArray, prior: FloatArray) -> tuple[FloatArray, FloatArray]:
    """P and N so that U is their mixture; variances are those at Laplace's estimates of the seen shares, row 0."""
    likely = [(size * part[0] + 1) / (size + 2) for size, part in zip(sizes, shares, strict=True)]
    spread = [rate * (1 - rate) / size for rate, size in zip(likely, sizes, strict=True)]
    gap = shares[2] - prior * shares[0] - (1 - prior) * shares[1]
    total = prior**2 * spread[0] + (1 - prior) ** 2 * spread[1] + spread[2]
    return shares[0] + prior * spread[0] / total * gap, shares[1] + (1 - prior) * spread[1] / total * gap


def envelope(draws: FloatArray, confidence: float) -> tuple[FloatArray, FloatArray]:
    """A band that holds that share of whole curves (draws, points), as narrow at every point as ranks allow.

    A draw leaves the band of rank k if any of its points is among the k lowest or highest.
    """
    n, ordered = len(draws), np.sort(draws, axis=0)
    pairs = list(zip(ordered.T, draws.T, strict=True))
    lowest = np.array([np.searchsorted(column, values, "left") for column, values in pairs])
    highest = np.array([np.searchsorted(column, values, "right") - 1 for column, values in pairs])
    depth = np.minimum(highest, n - 1 - lowest).min(axis=0)  # equal values are as far inside as the innermost of them
    cut = int(np.sort(depth)[int((1 - confidence) * n)])
    return ordered[cut], ordered[n - 1 - cut]
