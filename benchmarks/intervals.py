"""Cover and width of the intervals of `pnulearn.metrics` near the edges and in the middle, on simulated rows.

    python benchmarks/intervals.py results/rows/intervals.jsonl [--draws 400] [--seconds 600] [--page PAGE]

Every metric has a design: cells in which every level of every factor occurs equally often, chosen among many random
ones so that as many pairs of levels as possible meet, and the hard corners. Cells are computed in a fixed random order
and appended as they come, so that the command can be stopped and run again. `--metric` computes some metrics only,
`--page` writes the page from what is there.

Rates depend on counts only: both classes err with probability `error`. Scores are normal with equal variances
(`normal`), positive scores that vary twice as much (`wide`), or exponential (`exponential`); both classes err with
probability `error` at the threshold. The prior is "known", or "counted" on 60 rows drawn at random.
"""

from __future__ import annotations

import os

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")  # before NumPy starts its threads

import argparse
import json
import time
import warnings
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import expon, norm
from sklearn.linear_model import LogisticRegression

from pnulearn import AutoPNU, PNUClassifier, PriorAdjusted
from pnulearn._intervals.posterior_grids import DecisionRates, weigh_evidence
from pnulearn._intervals.score_tests import (
    BEYOND_DOUBT,
    F1,
    PLACES,
    PRECISION,
    RECALL,
    Measure,
    _all_seen,
    cost_measure,
    levels_of_ends,
    lift_measure,
    lower_tail,
    other_class,
    prior_nodes,
    rate_interval,
)
from pnulearn.metrics import (
    pnu_auc,
    pnu_average_precision,
    pnu_confusion,
    pnu_precision_recall_curve,
    pnu_reliability,
    pnu_risk,
    pnu_roc_curve,
)
from pnulearn.metrics._comparison import compare_scores
from pnulearn.priors import PriorEstimate, estimate_prior

Array = np.ndarray
Cell = dict[str, Any]
Found = Sequence[float]  # low, high and truth, and the ends of the simple interval
CONFIDENCE, COSTS, COUNTED, RESAMPLES = 0.95, (5.0, 1.0), 60, 200
WITH_WIDTH = 40  # draws of a rate whose whole interval is computed
FINE = np.linspace(-8, 8, 20_001)
RATE_FACTORS: dict[str, tuple] = {
    "error": (0.0005, 0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.5),
    "labels": (5, 10, 50, 200),
    "unlabeled": (0, 300, 1000, 10_000),
    "prior": (0.02, 0.1, 0.3, 0.5, 0.9, 0.98),
    "belief": ("known", "counted"),
}
SCORE_FACTORS = RATE_FACTORS | {"shape": ("normal", "wide", "exponential")}
CORNERS = {"error": (0.0005, 0.005, 0.5), "labels": (5,), "unlabeled": (10_000,), "prior": (0.02, 0.98)}
PAIR_FACTORS: dict[str, tuple] = {  # rows that only the worse model gets wrong are a share `gap`, of one class or both
    "gap": (0.0, 0.02, 0.06, 0.09),
    "error": (0.005, 0.05, 0.2),
    "labels": (10, 50, 200),
    "unlabeled": (0, 1000, 10_000),
    "prior": (0.1, 0.3, 0.5),
    "class": ("P", "N", "both"),
}
KIND_FACTORS = PAIR_FACTORS | {"kind": ("squared loss", "helper")}
CONFUSION_FACTORS: dict[str, tuple] = {
    "error": (0.005, 0.05, 0.2, 0.4),
    "labels": (5, 10, 40),
    "unlabeled": (0, 300, 3000),
    "rarest": (0.05, 0.2, 1 / 3),
    "classes": (3, 5),
}
DESIGN_FACTORS: dict[str, tuple] = {
    "error": (0.01, 0.1, 0.3),
    "labels": (60, 200),
    "unlabeled": (0, 1000),
    "prior": (0.1, 0.3, 0.6),
}
LOSS_FACTORS: dict[str, tuple] = {
    "sureness": (0.5, 1.0, 2.0, 4.0),
    "error": (0.01, 0.05, 0.2),
    "labels": (10, 50, 200),
    "unlabeled": (0, 300, 3000),
    "prior": (0.1, 0.3, 0.5),
}
PRIOR_FACTORS: dict[str, tuple] = {
    "labels": (20, 50, 100),
    "unlabeled": (300, 2000, 10_000),
    "prior": (0.05, 0.1, 0.3, 0.5),
    "shape": ("normal", "wide", "exponential"),
}
FIT_FACTORS: dict[str, tuple] = {
    "labels": (10, 40, 200),
    "unlabeled": (300, 1000),
    "prior": (0.1, 0.3, 0.5),
    "belief": ("known", "counted", "unknown", "random labels"),
    "shape": ("normal", "wide", "exponential"),
}
INTRODUCTION = f"""\
Every metric has cells in which every level of every factor occurs equally often, and the
hard corners of rates and AUC (5 + 5 labels, 10,000 unlabelled rows, priors .02 and .98, errors of .05, .5, 50 %);
the levels are in the tables below. All intervals promise 95 %; bands promise to hold the whole curve. Rates have
400 draws a cell (widths are from {WITH_WIDTH} of them), others 100 to 400. The prior is known, or counted on
{COUNTED} random rows. `lowest` is the lowest cover of a cell; among many cells it lies three standard errors (1
point each at 400 draws, 2 at 100) below 95 % by chance. `below` counts the cells whose cover is below 91 % by more
than two standard errors. Cover below 90 % is bold. `simple` is the usual interval of the labels alone, with the
prior taken as known.
The formulas of differences, classes, the squared loss, reliability and rates with a counted prior were chosen on cells
of this design, with 20 to 400 of the same draws; those of rates with a known prior, AUC and average precision on other
cells. For `risk_` the prior may also be unknown to the model, or labels random.
"""


@dataclass(frozen=True)
class Subject:
    """What is judged: its factors, number of cells without corners, and `draw(cell, rng)`, which gives one interval."""

    factors: dict[str, tuple]
    n_cells: int
    draw: Callable[[Cell, np.random.Generator], Found]
    simple: str
    corners: dict[str, tuple] | None = None
    fewer: int = 1  # so many times fewer draws

    def cells(self) -> list[Cell]:
        names = list(self.factors)
        rows = design(self.factors, self.n_cells)
        for levels in product(*self.corners.values()) if self.corners else ():
            rest = rows[len(rows) % self.n_cells]
            corner = dict(zip(self.corners or (), levels, strict=True))
            rows.append(tuple({**dict(zip(names, rest, strict=True)), **corner}.values()))
        return [dict(zip(names, row, strict=True)) for row in dict.fromkeys(rows)]


def design(factors: dict[str, tuple], n_cells: int) -> list[tuple]:
    """Cells with every level equally often (within one): of 200 random designs the one in which most pairs meet."""
    best, most = [], -1
    for seed in range(200):
        rng = np.random.default_rng(seed)
        columns = [[levels[k % len(levels)] for k in rng.permutation(n_cells)] for levels in factors.values()]
        rows = list(zip(*columns, strict=True))
        met = sum(len({(row[i], row[j]) for row in rows}) for i, j in combinations(range(len(factors)), 2))
        best, most = (rows, met) if met > most else (best, most)
    return best


def believed_prior(cell: Cell, rng: np.random.Generator) -> PriorEstimate:
    if cell["belief"] == "known":
        return PriorEstimate.known(cell["prior"])
    hits = rng.binomial(COUNTED, cell["prior"])
    return PriorEstimate.of_counts([COUNTED - hits, hits])


# Rates of a decision rule.


def rate_truths(prior: float, error: float) -> dict[str, float]:
    right = prior * (1 - error)
    precision = right / (right + (1 - prior) * error)
    return {
        "error": error,
        "cost 5 : 1": COSTS[0] * prior * error + COSTS[1] * (1 - prior) * error,
        "recall": 1 - error,
        "specificity": 1 - error,
        "precision": precision,
        "F1": 2 * right / (2 * right + error),
        "lift": precision / prior,
    }


def measure_of(metric: str, believed: PriorEstimate) -> Measure:
    if metric in ("error", "cost 5 : 1"):
        return cost_measure(believed, COSTS if metric == "cost 5 : 1" else (1.0, 1.0))
    if metric == "lift":
        return lift_measure(believed)
    return {"precision": PRECISION, "recall": RECALL, "specificity": other_class(RECALL), "F1": F1}[metric]


def rate_drawer(metric: str) -> Callable[[Cell, np.random.Generator], Found]:
    """Intervals of the formula that the public functions call in `WITH_WIDTH` draws, and the test at the truth in all.

    An interval is the hull of what the test does not reject, so it may hold a truth that the test rejects.
    """
    seen: dict[Any, Found] = {}
    count: dict[str, int] = {}

    def draw(cell: Cell, rng: np.random.Generator) -> Found:
        n, prior, error, name = cell["labels"], cell["prior"], cell["error"], json.dumps(cell)
        believed, size = believed_prior(cell, rng), np.array([n, n, cell["unlabeled"]], dtype=float)
        positive = rng.binomial(cell["unlabeled"], prior)
        called = rng.binomial(positive, 1 - error) + rng.binomial(cell["unlabeled"] - positive, error)
        wrong = rng.binomial(n, error, 2)
        count[name] = count.get(name, 0) + 1
        key = (name, *wrong.tolist(), called, float(believed.mean), count[name] <= WITH_WIDTH)
        if key not in seen:
            share, truth = np.array([*wrong, called]) / np.maximum(size, 1), rate_truths(prior, error)[metric]
            power = 0.0
            if metric in ("error", "cost 5 : 1"):  # their functions make two weak assumptions if the prior is uncertain
                share, size, power = weigh_evidence(share, size, believed, own_prior=False)
            measure = measure_of(metric, believed)
            if key[-1]:
                ends = rate_interval(share, size, believed, measure, CONFIDENCE, power)
            else:
                ends = test_at(truth, share, size, believed, measure, power)
            seen[key] = [*ends, truth, *simple_rate(metric, wrong, n, prior, rng)]
        return seen[key]

    return draw


def test_at(
    truth: float, share: Array, size: Array, believed: PriorEstimate, measure: Measure, power: float
) -> tuple[float, float]:
    """(−∞, ∞) if the test of `rate_interval` does not reject the truth, else an empty interval on the other side."""
    points, weight = prior_nodes(believed)
    if power and size.all():
        logs = power * np.array([DecisionRates(share, size, float(point)).agreement for point in points])
        weight = weight * np.exp(logs - logs.max())
    inside = (measure.worst - measure.best) * np.sin(PLACES[1] * np.pi / 2) ** 2
    values = np.array([truth, measure.best, measure.best + inside, measure.worst - inside, measure.worst])
    tails = weight @ lower_tail(measure, values, share, size, points[:, None], believed.spread) / weight.sum()
    p, best, near_best, near_worst, worst = tails.tolist()
    levels = levels_of_ends(best, worst, CONFIDENCE)
    if levels is None:
        return -np.inf, np.inf
    lines = [measure.line(np.full(len(points), end), points) for end in (measure.best, measure.worst)]
    clean = _all_seen(lines[0], share, size, 0.0) and near_best <= 1 - BEYOND_DOUBT
    spoilt = _all_seen(lines[1], share, size, 1.0) and near_worst >= BEYOND_DOUBT
    too_good, too_bad = p > levels[0] and not clean, p < levels[1] and not spoilt
    if not (too_good or too_bad):
        return -np.inf, np.inf
    below = too_good == (measure.best < measure.worst)
    return (np.inf, np.inf) if below else (-np.inf, -np.inf)


def wilson(errors: int, n: int) -> tuple[float, float]:
    center, half = errors + 1.92, 1.96 * np.sqrt(errors * (n - errors) / n + 0.96)
    return float(center - half) / (n + 3.84), float(center + half) / (n + 3.84)


def mover_of_wilson(errors: Sequence[int], sizes: Sequence[int], factors: Array) -> tuple[float, float]:
    """MOVER of Wilson's intervals for a weighted sum of error rates."""
    ends = np.array([wilson(k, n) for k, n in zip(errors, sizes, strict=True)])
    shares = np.array(errors) / np.array(sizes)
    value = float(factors @ shares)
    down = np.sqrt(np.sum((factors * (shares - ends[:, 0])) ** 2))
    up = np.sqrt(np.sum((factors * (ends[:, 1] - shares)) ** 2))
    return value - float(down), value + float(up)


def simple_rate(metric: str, wrong: Array, n: int, prior: float, rng: np.random.Generator) -> list[float]:
    """The usual interval of the labels alone, with the prior taken as known."""
    if metric in ("recall", "specificity"):
        low, high = wilson(wrong[int(metric == "specificity")], n)
        return [1 - high, 1 - low]
    if metric in ("error", "cost 5 : 1"):
        factors = np.array([prior, 1 - prior]) * (COSTS if metric == "cost 5 : 1" else (1, 1))
        return list(mover_of_wilson(wrong, [n, n], factors))
    fnr, fpr = (rng.binomial(n, k / n, RESAMPLES) / n for k in wrong)
    right, alarm, missed = prior * (1 - fnr), (1 - prior) * fpr, prior * fnr
    precision = right / np.maximum(right + alarm, 1e-300)
    drawn = 2 * right / (2 * right + alarm + missed) if metric == "F1" else precision
    return np.quantile(drawn / (prior if metric == "lift" else 1.0), [0.025, 0.975]).tolist()


# Rankings and curves.


def population(shape: str, error: float) -> tuple[Any, Any, float]:
    """Distributions of positive and negative scores, and the threshold at which both classes err alike."""
    if shape == "exponential":  # P(N > t) = P(P < t) = error at t, with scale r for P
        threshold = -np.log(error)
        return expon(scale=-threshold / np.log1p(-error)), expon(), threshold
    scale = 2.0 if shape == "wide" else 1.0
    threshold = float(norm.isf(error))
    return norm(threshold + scale * norm.isf(error), scale), norm(), threshold


def curve_truths(cell: Cell) -> tuple[dict[str, float], Array, Array, Array]:
    """True areas, and recall, false positive rate and precision at decreasing thresholds."""
    p, n, _ = population(cell["shape"], cell["error"])
    levels = np.unique(np.concatenate([norm.cdf(FINE), 1 - norm.cdf(FINE)]))
    points = np.unique(np.concatenate([p.ppf(levels), n.ppf(levels)]))
    points = points[np.isfinite(points)][::-1]
    recall, fpr = p.sf(points), n.sf(points)
    called = cell["prior"] * recall + (1 - cell["prior"]) * fpr
    precision = np.where(called > 0, cell["prior"] * recall / np.where(called > 0, called, 1), 1.0)
    areas = {
        "AUC": float(np.sum(np.diff(fpr) * (recall[1:] + recall[:-1]) / 2)) + float(fpr[0] * recall[0] / 2),
        "average precision": float(np.sum(np.diff(recall, prepend=0.0) * precision)),
    }
    return areas, recall, fpr, precision


RANKINGS = {"AUC": pnu_auc, "average precision": pnu_average_precision}
CURVES = {
    "ROC curve": pnu_roc_curve,
    "precision-recall curve": pnu_precision_recall_curve,
    "reliability curve": pnu_reliability,
}


def score_drawer(metric: str) -> Callable[[Cell, np.random.Generator], Found]:
    truths: dict[str, Any] = {}

    def draw(cell: Cell, rng: np.random.Generator) -> Found:
        p, n, threshold = population(cell["shape"], cell["error"])
        m, u = cell["labels"], cell["unlabeled"]
        believed = believed_prior(cell, rng)
        positive = rng.binomial(u, cell["prior"])
        parts = [p.rvs(m, random_state=rng), n.rvs(m, random_state=rng)]
        parts.append(np.append(p.rvs(positive, random_state=rng), n.rvs(u - positive, random_state=rng)))
        y, score = np.repeat([1.0, 0.0, np.nan], [m, m, u]), np.concatenate(parts) - threshold
        if metric == "reliability curve":
            return judge_reliability(cell, y, score, believed)
        key = json.dumps(cell)
        if key not in truths:
            truths.clear()
            truths[key] = curve_truths(cell)
        areas, recall, fpr, precision = truths[key]
        if metric in RANKINGS:
            found = RANKINGS[metric](y, score, prior=believed)
            return [found.low, found.high, areas[metric], *simple_ranking(metric, *parts[:2], cell["prior"], rng)]
        curve = CURVES[metric](y, score, prior=believed)
        true = np.interp(curve.x, fpr, recall) if metric == "ROC curve" else np.interp(curve.x, recall, precision)
        return judge_band(curve, true)

    return draw


def judge_band(curve: Any, true: Array) -> Found:
    """0, mean width, and a truth: half the width if the band holds the whole curve, more if it does not."""
    held = bool(((curve.low - 1e-9 <= true) & (true <= curve.high + 1e-9)).all())
    width = float(np.mean(curve.high - curve.low))
    return [0.0, width, width / 2 if held else width + 1, np.nan, np.nan]


def judge_reliability(cell: Cell, y: Array, score: Array, believed: PriorEstimate) -> Found:
    """The truth is the share of positives among rows of the population between the edges of a bin."""
    p, n, threshold = population(cell["shape"], cell["error"])
    probability = 1 / (1 + np.exp(-score))
    curve = pnu_reliability(y, probability, prior=believed)
    usual = probability[np.isnan(y)] if cell["unlabeled"] else probability
    edges = np.unique(np.quantile(usual, np.linspace(0, 1, 11)[1:-1], method="inverted_cdf"))
    cuts = np.concatenate([[0.0], edges[edges < usual.max()], [1.0]])
    with np.errstate(divide="ignore"):
        scores = threshold + np.log(cuts) - np.log1p(-cuts)
    of_p, of_n = np.diff(p.cdf(scores)) * cell["prior"], np.diff(n.cdf(scores)) * (1 - cell["prior"])
    return judge_band(curve, of_p / (of_p + of_n))


def simple_ranking(metric: str, p: Array, n: Array, prior: float, rng: np.random.Generator) -> tuple[float, float]:
    """DeLong's interval, or percentiles of the bootstrap, of the labels alone."""
    if metric == "AUC":
        won = (p[:, None] > n).astype(float)
        stderr = np.sqrt(won.mean(1).var(ddof=1) / len(p) + won.mean(0).var(ddof=1) / len(n))
        return float(won.mean() - 1.96 * stderr), float(min(won.mean() + 1.96 * stderr, 1))
    order = np.argsort(-np.concatenate([p, n]), kind="stable")
    true = rng.multinomial(len(p), np.full(len(p), 1 / len(p)), RESAMPLES) * prior / len(p)
    false = rng.multinomial(len(n), np.full(len(n), 1 / len(n)), RESAMPLES) * (1 - prior) / len(n)
    steps = np.hstack([true, 0 * false])[:, order]
    reached = np.cumsum(steps, axis=1)
    called = reached + np.cumsum(np.hstack([0 * true, false])[:, order], axis=1)
    low, high = np.quantile(np.sum(steps / prior * reached / np.maximum(called, 1e-300), axis=1), [0.025, 0.975])
    return float(low), float(high)


# Two models, more classes, other losses, weights and groups.


def draw_pair(cell: Cell, rng: np.random.Generator) -> Found:
    """Rows that both models get wrong are a share `error`, those that only the second gets wrong a share `gap`.

    For the squared loss scores have sizes between .5 and 1.5, so that the difference of the losses is the size of the
    score; it is 1 on the mean. A helper is right in nine of ten rows.
    """
    n, u, prior = cell["labels"], cell["unlabeled"], cell["prior"]
    gap = cell["gap"]
    gap_of = {"P": (gap / prior, 0.0), "N": (0.0, gap / (1 - prior)), "both": (gap, gap)}[cell["class"]]
    sides = [np.ones(n), -np.ones(n), np.where(rng.random(u) < prior, 1.0, -1.0)]
    first, second = [], []
    for side in sides:
        toss, more = rng.random(len(side)), np.where(side > 0, *gap_of)
        first.append(np.where(toss < cell["error"], -side, side))
        other = (toss < cell["error"]) | (toss > 1 - more * (1 - cell["error"]))
        second.append(np.where(other, -side, side))
    truth = -(1 - cell["error"]) * (prior * gap_of[0] + (1 - prior) * gap_of[1])
    options: dict[str, Any] = {}
    if cell.get("kind") == "squared loss":
        sizes = [rng.uniform(0.5, 1.5, len(side)) for side in sides]
        first, second = ([g * size for g, size in zip(part, sizes, strict=True)] for part in (first, second))
        options = {"loss": "squared"}
    elif cell.get("kind") == "helper":
        options = {"opinions": [2 * np.where(rng.random(len(side)) < 0.9, side, -side)[:, None] for side in sides]}
    found = compare_scores(first, second, prior, **options)
    gaps = [(a * s < 0).astype(float) - (b * s < 0) for a, b, s in zip(first[:2], second[:2], sides[:2], strict=True)]
    factors = np.array([prior, 1 - prior])
    value = factors @ [part.mean() for part in gaps]
    half = 1.96 * np.sqrt(factors**2 @ [part.var(ddof=1) / n for part in gaps])
    return [found.low, found.high, truth, float(value - half), float(value + half)]


def confusion_drawer(metric: str) -> Callable[[Cell, np.random.Generator], Found]:
    def draw(cell: Cell, rng: np.random.Generator) -> Found:
        """Errors go to the next class twice as often as to each of the others; the last class is the rarest."""
        k, n = cell["classes"], cell["labels"]
        rarest = min(cell["rarest"], 1 / k)
        shares = np.append(np.full(k - 1, (1 - rarest) / (k - 1)), rarest)
        odds = np.array([1.0 + (j == 1) for j in range(1, k)])
        rates = np.array(
            [np.roll(np.append(1 - cell["error"], cell["error"] * odds / odds.sum()), i) for i in range(k)]
        )
        truth = np.append(np.repeat(np.arange(k), n), rng.choice(k, cell["unlabeled"], p=shares))
        called = np.minimum((rng.random(len(truth))[:, None] > rates.cumsum(axis=1)[truth]).sum(axis=1), k - 1)
        y = np.where(np.arange(len(truth)) < k * n, truth.astype(float), np.nan)
        found = pnu_confusion(y, called.astype(float), prior=dict(enumerate(shares.tolist())))
        wrong = [int(np.sum(called[: k * n][truth[: k * n] == c] != c)) for c in range(k)]
        if metric == "error of classes":
            return [found.error.low, found.error.high, cell["error"], *mover_of_wilson(wrong, [n] * k, shares)]
        one = (found.recall if metric == "recall of classes" else found.precision)[-1]
        if metric == "recall of classes":
            low, high = wilson(wrong[-1], n)
            return [one.low, one.high, 1 - cell["error"], 1 - high, 1 - low]
        return [one.low, one.high, rarest * (1 - cell["error"]) / float(shares @ rates[:, -1]), np.nan, np.nan]

    return draw


def draw_squared_loss(cell: Cell, rng: np.random.Generator) -> Found:
    """Scores g = 2 Φ(sureness · t) − 1 of normal t: the more sure, the rarer and the dearer are errors."""
    center = float(norm.isf(cell["error"]))
    n, u, prior = cell["labels"], cell["unlabeled"], cell["prior"]
    sides = [np.ones(n), -np.ones(n), np.where(rng.random(u) < prior, 1.0, -1.0)]

    def score(t: Array) -> Array:
        return 2 * norm.cdf(cell["sureness"] * t) - 1

    scores = [score(side * center + rng.standard_normal(len(side))) for side in sides]
    density = norm.pdf(FINE) * (FINE[1] - FINE[0])
    truth = float(density @ (1 - score(center + FINE)) ** 2) / 4  # by symmetry the same for both classes
    y = np.repeat([1.0, 0.0, np.nan], [n, n, u])
    found = pnu_risk(y, np.concatenate(scores), prior=prior, loss="squared", threshold=0.0)
    losses = [(1 - g * side) ** 2 / 4 for g, side in zip(scores[:2], sides[:2], strict=True)]
    factors = np.array([prior, 1 - prior])
    value = factors @ [part.mean() for part in losses]
    half = 1.96 * np.sqrt(factors**2 @ [part.var(ddof=1) / n for part in losses])
    return [found.low, found.high, truth, float(value - half), float(value + half)]


def design_drawer(kind: str) -> Callable[[Cell, np.random.Generator], Found]:
    def draw(cell: Cell, rng: np.random.Generator) -> Found:
        """Labels at random with positives five times as likely, and weights; or in groups of five that are alike."""
        n, u, prior = cell["labels"], cell["unlabeled"], cell["prior"]
        size = 5 if kind == "groups" else 1
        inclusion = 5 * prior / (5 * prior + 1 - prior) if kind == "weights" else prior

        def rows(count: int, share: float) -> tuple[Array, Array]:
            heads = count // size
            truth = np.repeat(rng.random(heads) < share, size)
            same = np.repeat(rng.random(heads) < cell["error"], size)
            wrong = np.where(rng.random(heads * size) < 0.5, same, rng.random(heads * size) < cell["error"])
            return truth, np.where(truth ^ wrong, 1.0, -1.0)

        (truth, score), (_, of_u) = rows(n, inclusion), rows(u, prior)
        while truth.all() or not truth.any():  # the risk needs labels of both classes
            truth, score = rows(n, inclusion)
        y = np.append(truth.astype(float), np.full(len(of_u), np.nan))
        score = np.append(score, of_u)
        weight = np.append(np.where(truth, 0.2, 1.0), np.ones(len(of_u))) if kind == "weights" else np.ones(len(y))
        wrong = ((score[:n] > 0) != truth).astype(float)
        group = np.arange(len(y)) // size if kind == "groups" else None
        found = pnu_risk(y, score, sampling="random", sample_weight=weight, groups=group, threshold=0.0)
        share = weight[:n] / weight[:n].sum()
        value = float(share @ wrong)
        half = 1.96 * float(np.sqrt(share**2 @ (wrong - value) ** 2))
        return [found.low, found.high, cell["error"], value - half, value + half]

    return draw


def draw_rows(n_labels: tuple[int, int], cell: Cell, rng: np.random.Generator) -> tuple[Array, Array]:
    """Features and labels: five columns, of which the first separates the classes, or the first two (exponential)."""
    y = np.concatenate([np.ones(n_labels[0]), np.zeros(n_labels[1]), rng.random(cell["unlabeled"]) < cell["prior"]])
    return features(y, cell["shape"], rng), np.where(np.arange(len(y)) < sum(n_labels), y, np.nan)


def features(y: Array, shape: str, rng: np.random.Generator) -> Array:
    if shape == "exponential":
        return rng.exponential(size=(len(y), 5)) * (1 + 2 * np.outer(y, [1, 1, 0, 0, 0]))
    X = rng.normal(size=(len(y), 5)) * (1 + y[:, None] * (shape == "wide"))
    X[:, 0] += 0.8 * (2 * y - 1)
    return X


def prior_drawer(sampling: str) -> Callable[[Cell, np.random.Generator], Found]:
    def draw(cell: Cell, rng: np.random.Generator) -> Found:
        n, hits = cell["labels"], cell["labels"] // 2
        if sampling == "random":
            hits = random_hits(n, cell["prior"], rng)
        X, y = draw_rows((hits, n - hits), cell, rng)
        found = estimate_prior(X, y, sampling=sampling, confidence=CONFIDENCE, random_state=0)
        ends = [1 - end for end in wilson(n - hits, n)[::-1]] if sampling == "random" else [np.nan, np.nan]
        return [found.low, found.high, cell["prior"], *ends]

    return draw


def fit_drawer(learner: Callable[..., Any]) -> Callable[[Cell, np.random.Generator], Found]:
    """`risk_` of a fit, against the error on 10,000 new rows.

    Half of the labels are positive and the prior is known, counted or estimated by the model; or labels are random.
    """

    def draw(cell: Cell, rng: np.random.Generator) -> Found:
        n, prior = cell["labels"], cell["prior"]
        hits, options = n // 2, {"prior": None}
        if cell["belief"] == "random labels":
            hits, options = random_hits(n, prior, rng), {"sampling": "random"}
        elif cell["belief"] != "unknown":
            options = {"prior": believed_prior(cell, rng)}
        X, y = draw_rows((hits, n - hits), cell, rng)
        model = learner(**options).fit(X, y)
        fresh = (rng.random(10_000) < prior).astype(float)
        truth = float(np.mean(model.predict(features(fresh, cell["shape"], rng)) != fresh))
        return [model.risk_.low, model.risk_.high, truth, np.nan, np.nan]

    return draw


def random_hits(n: int, prior: float, rng: np.random.Generator) -> int:
    """Positives among `n` random rows, given that both classes occur."""
    hits = 0
    while not 0 < hits < n:
        hits = int(rng.binomial(n, prior))
    return hits


SUBJECTS: dict[str, Subject] = {
    **{
        name: Subject(RATE_FACTORS, n_cells, rate_drawer(name), simple, CORNERS)
        for name, n_cells, simple in (
            ("error", 80, "MOVER of Wilson's"),
            ("cost 5 : 1", 30, "MOVER of Wilson's"),
            ("recall", 60, "Wilson's"),
            ("specificity", 30, "Wilson's"),
            ("precision", 60, "bootstrap"),
            ("F1", 60, "bootstrap"),
            ("lift", 30, "bootstrap"),
        )
    },
    "AUC": Subject(SCORE_FACTORS, 60, score_drawer("AUC"), "DeLong's", CORNERS),
    "average precision": Subject(SCORE_FACTORS, 40, score_drawer("average precision"), "bootstrap", None, 4),
    "ROC curve": Subject(SCORE_FACTORS, 40, score_drawer("ROC curve"), "", None, 4),
    "precision-recall curve": Subject(SCORE_FACTORS, 40, score_drawer("precision-recall curve"), "", None, 4),
    "reliability curve": Subject(SCORE_FACTORS, 40, score_drawer("reliability curve"), ""),
    "difference of two models": Subject(PAIR_FACTORS, 48, draw_pair, "paired z", None, 2),
    "difference, squared loss or helper": Subject(KIND_FACTORS, 24, draw_pair, "", None, 2),
    **{
        f"{name} of classes": Subject(CONFUSION_FACTORS, 24, confusion_drawer(f"{name} of classes"), simple, None, 2)
        for name, simple in {"error": "MOVER of Wilson's", "recall": "Wilson's", "precision": ""}.items()
    },
    **{
        f"prior, labels {name}": Subject(PRIOR_FACTORS, 12, prior_drawer(sampling), simple, None, 4)
        for name, sampling, simple in (("by class", "by_class", ""), ("at random", "random", "Wilson's"))
    },
    **{
        f"risk_, {name}": Subject(FIT_FACTORS, 12, fit_drawer(learner), "", None, 4)
        for name, learner in {
            "PriorAdjusted": partial(PriorAdjusted, LogisticRegression()),
            "PNUClassifier": PNUClassifier,
            "AutoPNU": partial(AutoPNU, random_state=0),
        }.items()
    },
    "squared loss": Subject(LOSS_FACTORS, 36, draw_squared_loss, "z"),
    "error, weights": Subject(DESIGN_FACTORS, 12, design_drawer("weights"), "z"),
    "error, groups": Subject(DESIGN_FACTORS, 12, design_drawer("groups"), "z, rows independent"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rows", type=Path, help="JSON lines that results are appended to")
    parser.add_argument("--draws", type=int, default=400, help="of every cell")
    parser.add_argument("--seconds", type=float, default=0.0, help="of processor time, after which to stop")
    parser.add_argument("--metric", nargs="*", choices=list(SUBJECTS), help="default: all")
    parser.add_argument("--page", type=Path, help="where to write the page")
    options = parser.parse_args()
    run(options.rows, options.draws, options.seconds, options.metric or list(SUBJECTS))
    if options.page:
        options.page.write_text("\n".join(page(read(options.rows))) + "\n")


def read(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def run(path: Path, n_draws: int, seconds: float, metrics: Sequence[str]) -> None:
    done = {key_of(row["metric"], row["cell"]) for row in read(path)}
    todo = [(metric, cell) for metric in metrics for cell in SUBJECTS[metric].cells()]
    for place in np.random.default_rng(0).permutation(len(todo)):
        metric, cell = todo[place]
        if time.process_time() >= seconds:
            return
        if key_of(metric, cell) in done:
            continue
        result = {"metric": metric, "cell": cell, **judge(metric, cell, n_draws)}
        with path.open("a") as file:
            file.write(json.dumps(result) + "\n")


def key_of(metric: str, cell: Cell) -> str:
    return json.dumps([metric, cell])


def judge(metric: str, cell: Cell, n_draws: int) -> dict:
    """Cover, misses on either side, mean width, and cover and mean width of the simple interval."""
    subject, rng = SUBJECTS[metric], np.random.default_rng(zlib.crc32(key_of(metric, cell).encode()))
    n_draws //= subject.fewer
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = np.array([subject.draw(cell, rng) for _ in range(n_draws)], dtype=float)
    low, high, truth, simple_low, simple_high = found.T
    with np.errstate(invalid="ignore"):
        wide = high - low
    missed = [float(np.mean(low > truth)), float(np.mean(high < truth))]
    return {
        "cover": round(1 - sum(missed), 4),
        "truth_below": missed[0],
        "truth_above": missed[1],
        "width": float(np.mean(wide[np.isfinite(wide)])),
        "simple_cover": float(np.mean((simple_low <= truth) & (truth <= simple_high))) if subject.simple else np.nan,
        "simple_width": float(np.mean(simple_high - simple_low)),
        "draws": n_draws,
    }


def is_below(row: dict) -> bool:
    """Whether the cover lies below 91 % by more than two standard errors."""
    cover = row["cover"]
    return bool(cover + 2 * np.sqrt(cover * (1 - cover) / row["draws"]) < 0.91)


def page(rows: list[dict]) -> Iterator[str]:
    n_cells = sum(len(subject.cells()) for subject in SUBJECTS.values())
    yield "# Cover and width of the intervals of `pnulearn.metrics` on simulated rows\n"
    yield "    python benchmarks/intervals.py results/rows/intervals.jsonl --seconds 600 --page results/intervals.md\n"
    yield f"{len(rows)} of the {n_cells} cells of the design in that file. {INTRODUCTION}"
    names = [name for name in SUBJECTS if any(row["metric"] == name for row in rows)]
    yield from table(rows, "metric", names)
    for metric in names:
        yield f"\n## {metric}\n"
        if SUBJECTS[metric].simple:
            yield f"Simple: {SUBJECTS[metric].simple}.\n"
        some = [{**row, **row["cell"]} for row in rows if row["metric"] == metric]
        for name, levels in SUBJECTS[metric].factors.items():
            yield from table(some, name, levels)
            yield ""
    low = sorted((row for row in rows if row["cover"] < 0.91), key=lambda row: row["cover"])
    yield f"\n## Cells below 91 %: {len(low)} of {len(rows)}, by two standard errors: {sum(map(is_below, rows))}\n"
    if low:
        yield "| metric | cell | cover | truth below | truth above | draws |"
        yield "|---|---|---|---|---|---|"
    for row in low:
        facts = ", ".join(
            f"{name} {level if isinstance(level, str) else f'{level:g}'}" for name, level in row["cell"].items()
        )
        numbers = f"{row['truth_below']:.3f} | {row['truth_above']:.3f} | {row['draws']}"
        yield f"| {row['metric']} | {facts} | {bold(row['cover'])} | {numbers} |"


def table(rows: list[dict], name: str, levels: Sequence[Any]) -> Iterator[str]:
    yield f"| {name} | cells | mean cover | lowest | below | mean width | simple: mean cover | lowest | mean width |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for level in levels:
        some = [row for row in rows if row[name] == level]
        if not some:
            continue
        cover, width, other, other_width = (
            np.array([row[key] for row in some], dtype=float)
            for key in ("cover", "width", "simple_cover", "simple_width")
        )
        simple = "| | | |"
        if not np.isnan(other).all():
            simple = f"| {bold(float(other.mean()))} | {bold(float(other.min()))} | {np.nanmean(other_width):.3f} |"
        below = sum(map(is_below, some))
        own = f"{bold(float(cover.mean()))} | {bold(float(cover.min()))} | {below} | {width.mean():.3f}"
        yield f"| {shown(level)} | {len(some)} | {own} {simple}"


def shown(level: Any) -> str:
    return level if isinstance(level, str) else f"{level:g}"


def bold(cover: float) -> str:
    return f"**{cover:.3f}**" if cover < 0.9 else f"{cover:.3f}"


if __name__ == "__main__":
    main()
