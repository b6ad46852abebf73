"""Cover and width of every interval of `pnulearn.metrics`, by cell, for models of known quality.

    python benchmarks/intervals.py results/rows/intervals.jsonl [--draws 400] [--seconds 600] [--page PAGE]

Scores are simulated, so that the truth is known: normal with equal variances (`normal`), positive scores that vary
twice as much (`wide`), or exponential (`exponential`). `error` is the true error rate at the threshold where both
classes err alike. A cell is a line of the results; cells are computed in a fixed random order and appended as they
come, so that the command can be stopped and run again, and the first cells are a sample of all of them. `--page`
writes the page from what is there. Prior: "known", or counted on 60 rows drawn at random ("counted").

`simple` is the usual interval of the labels alone: Wilson's combined by MOVER for the error and the cost, Wilson's for
the recall, DeLong's for the AUC, percentiles of 200 bootstrap samples for the others. Average precision and curves
have a quarter of the draws.
"""

from __future__ import annotations

import os

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")  # before NumPy starts its threads

import argparse
import json
import time
import warnings
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import binomtest, expon, norm

from pnulearn.metrics import (
    pnu_auc,
    pnu_average_precision,
    pnu_cost,
    pnu_f1,
    pnu_precision,
    pnu_precision_recall_curve,
    pnu_recall,
    pnu_risk,
    pnu_roc_curve,
)
from pnulearn.priors import PriorEstimate

Array = np.ndarray
ERRORS = (0.0005, 0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.5)
LABELS, UNLABELED, PRIORS = (5, 10, 50, 200), (0, 300, 1000, 10_000), (0.02, 0.1, 0.3, 0.5, 0.9, 0.98)
SHAPES, BELIEFS = ("normal", "wide", "exponential"), ("known", "counted")
COSTS = (5.0, 1.0)
RATES: dict[str, Callable[..., Any]] = {
    "error": pnu_risk,
    "recall": pnu_recall,
    "precision": pnu_precision,
    "F1": pnu_f1,
    "cost 5 : 1": lambda *rows, **options: pnu_cost(*rows, costs=COSTS, **options),
}
RANKINGS = {"AUC": pnu_auc, "average precision": pnu_average_precision}
CURVES = {"ROC curve": pnu_roc_curve, "precision-recall curve": pnu_precision_recall_curve}
METRICS = [*RATES, *RANKINGS, *CURVES]
SLOW = {"average precision": 2, "ROC curve": 4, "precision-recall curve": 4, "counted": 4}  # so many times fewer cells
SLOW_DRAWS = 4  # of average precision and curves, so many times fewer draws
RESAMPLES = 200
FINE = np.linspace(-8, 8, 20_001)
KEY = ("metric", "labels", "unlabeled", "prior", "error", "shape", "belief")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rows", type=Path, help="JSON lines that results are appended to")
    parser.add_argument("--draws", type=int, default=400, help="of every cell")
    parser.add_argument("--seconds", type=float, default=0.0, help="of processor time, after which to stop")
    parser.add_argument("--page", type=Path, help="where to write the page")
    options = parser.parse_args()
    run(options.rows, options.draws, options.seconds)
    if options.page:
        options.page.write_text(report(read(options.rows)))


def read(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def cells() -> list[tuple]:
    """All cells in a fixed random order; of slow metrics only some."""
    grid = list(product(METRICS, LABELS, UNLABELED, PRIORS, ERRORS, SHAPES, BELIEFS))
    rng = np.random.default_rng(0)
    shuffled = [grid[place] for place in rng.permutation(len(grid))]
    tosses = rng.random(len(grid))
    return [c for c, toss in zip(shuffled, tosses, strict=True) if toss < 1 / (SLOW.get(c[0], 1) * SLOW.get(c[-1], 1))]


def run(path: Path, n_draws: int, seconds: float) -> None:
    done = {tuple(row[name] for name in KEY) for row in read(path)}
    for cell in cells():
        if time.process_time() >= seconds:
            return
        if cell in done:
            continue
        result = {**dict(zip(KEY, cell, strict=True)), **judge(*cell, n_draws)}
        with path.open("a") as file:
            file.write(json.dumps(result) + "\n")


def population(shape: str, error: float) -> tuple[Callable, Callable, float]:
    """Distribution functions of positive and negative scores (as frozen distributions), and the threshold."""
    if shape == "exponential":  # P(N > t) = P(P < t) = error at t, with scale r for P
        threshold = -np.log(error)
        return expon(scale=-threshold / np.log1p(-error)), expon(), threshold
    scale = 2.0 if shape == "wide" else 1.0
    threshold = float(norm.isf(error))
    return norm(threshold + scale * norm.isf(error), scale), norm(), threshold


def truths(shape: str, error: float, prior: float) -> tuple[dict[str, float], Array, Array, Array]:
    """True values, and recall, false positive rate and precision at decreasing thresholds."""
    p, n, _ = population(shape, error)
    levels = np.unique(np.concatenate([norm.cdf(FINE), 1 - norm.cdf(FINE)]))
    points = np.unique(np.concatenate([p.ppf(levels), n.ppf(levels)]))
    points = points[np.isfinite(points)][::-1]
    recall, fpr = p.sf(points), n.sf(points)
    called = prior * recall + (1 - prior) * fpr
    precision = np.where(called > 0, prior * recall / np.where(called > 0, called, 1), 1.0)
    right = prior * (1 - error)
    values = {
        "error": error,
        "recall": 1 - error,
        "precision": right / (right + (1 - prior) * error),
        "F1": 2 * right / (2 * right + error),
        "cost 5 : 1": COSTS[0] * prior * error + COSTS[1] * (1 - prior) * error,
        "AUC": float(np.sum(np.diff(fpr) * (recall[1:] + recall[:-1]) / 2)) + float(fpr[0] * recall[0] / 2),
        "average precision": float(np.sum(np.diff(recall, prepend=0.0) * precision)),
    }
    return values, recall, fpr, precision


def judge(
    metric: str, labels: int, unlabeled: int, prior: float, error: float, shape: str, belief: str, n_draws: int
) -> dict:
    """Cover, misses on either side, mean width, and cover and mean width of the simple interval."""
    seed = [METRICS.index(metric), labels, unlabeled, int(1000 * prior), int(10_000 * error), SHAPES.index(shape)]
    rng = np.random.default_rng(seed)
    p, n, threshold = population(shape, error)
    values, *curves = truths(shape, error, prior)
    found, seen = [], {}
    n_draws = n_draws // SLOW_DRAWS if metric in CURVES or metric == "average precision" else n_draws
    for _ in range(n_draws):
        hits = rng.binomial(60, prior)
        believed: Any = PriorEstimate.of_counts([60 - hits, hits]) if belief == "counted" else prior
        positive = rng.random(unlabeled) < prior
        of_u = np.where(positive, p.rvs(unlabeled, random_state=rng), n.rvs(unlabeled, random_state=rng))
        score = np.concatenate([p.rvs(labels, random_state=rng), n.rvs(labels, random_state=rng), of_u]) - threshold
        y = np.repeat([1.0, 0.0, np.nan], [labels, labels, unlabeled])
        if metric in RATES:  # they depend on counts only
            key = (
                *(int((score[part] > 0).sum()) for part in (y == 1, y == 0, np.isnan(y))),
                hits * (belief != "known"),
            )
            if key not in seen:
                seen[key] = interval_and_simple(metric, y, score, believed, prior, rng)
            low, high, *other = seen[key]
        elif metric in CURVES:
            found.append([*judge_curve(metric, CURVES[metric](y, score, prior=believed), *curves), np.nan, np.nan])
            continue
        else:
            low, high, *other = interval_and_simple(metric, y, score, believed, prior, rng)
        truth = values[metric]
        found.append([low, high, truth, float(other[0] <= truth <= other[1]), other[1] - other[0]])
    low, high, truth, held, width = np.array(found).T
    missed = [float(np.mean(low > truth)), float(np.mean(high < truth))]
    return {
        "cover": 1 - sum(missed),
        "truth_below": missed[0],
        "truth_above": missed[1],
        "width": float(np.mean(high - low)),
        "simple_cover": float(np.mean(held)),
        "simple_width": float(np.mean(width)),
        "draws": n_draws,
    }


def interval_and_simple(
    metric: str, y: Array, score: Array, believed: Any, prior: float, rng: np.random.Generator
) -> tuple[float, float, float, float]:
    """Ends of our interval and of the simple one."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        options = {"threshold": 0.0} if metric in RATES else {}
        found = (RATES | RANKINGS)[metric](y, score, prior=believed, **options)
    assert 0 <= found.low <= found.value <= found.high <= max(COSTS), (metric, found)
    return found.low, found.high, *simple(metric, score[y == 1], score[y == 0], prior, rng)


def judge_curve(metric: str, curve: Any, recall: Array, fpr: Array, precision: Array) -> list[float]:
    """0, mean width, and a truth: half the width if the band holds the whole curve, more if it does not."""
    true = np.interp(curve.x, fpr, recall) if metric == "ROC curve" else np.interp(curve.x, recall, precision)
    held = bool(((curve.low - 1e-9 <= true) & (true <= curve.high + 1e-9)).all())
    width = float(np.mean(curve.high - curve.low))
    return [0.0, width, width / 2 if held else width + 1]


def simple(metric: str, p: Array, n: Array, prior: float, rng: np.random.Generator) -> tuple[float, float]:
    """The usual interval of the labels alone."""
    wrong = [int((p <= 0).sum()), int((n > 0).sum())]
    sizes = [len(p), len(n)]
    if metric == "recall":
        interval = binomtest(sizes[0] - wrong[0], sizes[0]).proportion_ci(method="wilson")
        return float(interval.low), float(interval.high)
    if metric in ("error", "cost 5 : 1"):
        factors = np.array([prior, 1 - prior]) * (COSTS if metric == "cost 5 : 1" else (1, 1))
        parts = [binomtest(k, m).proportion_ci(method="wilson") for k, m in zip(wrong, sizes, strict=True)]
        shares = np.array(wrong) / sizes
        down = np.hypot(*(factors * (shares - [part.low for part in parts])))
        up = np.hypot(*(factors * ([part.high for part in parts] - shares)))
        return float(factors @ shares - down), float(factors @ shares + up)
    if metric == "AUC":
        won = (p[:, None] > n).astype(float)
        stderr = np.sqrt(won.mean(1).var(ddof=1) / len(p) + won.mean(0).var(ddof=1) / len(n))
        return float(won.mean() - 1.96 * stderr), float(min(won.mean() + 1.96 * stderr, 1))
    if metric == "average precision":
        order = np.argsort(-np.concatenate([p, n]), kind="stable")
        true = rng.multinomial(len(p), np.full(len(p), 1 / len(p)), RESAMPLES) * prior / len(p)
        false = rng.multinomial(len(n), np.full(len(n), 1 / len(n)), RESAMPLES) * (1 - prior) / len(n)
        steps = np.hstack([true, 0 * false])[:, order]
        reached = np.cumsum(steps, axis=1)
        called = reached + np.cumsum(np.hstack([0 * true, false])[:, order], axis=1)
        drawn = np.sum(steps / prior * reached / np.maximum(called, 1e-300), axis=1)
    else:
        fnr, fpr = (rng.binomial(m, k / m, RESAMPLES) / m for k, m in zip(wrong, sizes, strict=True))
        right, alarm, missed = prior * (1 - fnr), (1 - prior) * fpr, prior * fnr
        drawn = right / np.maximum(right + alarm, 1e-300)
        drawn = drawn if metric == "precision" else 2 * right / (2 * right + alarm + missed)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return float(low), float(high)


def report(rows: list[dict]) -> str:
    return "\n".join(page(rows)) + "\n"


def page(rows: list[dict]) -> Iterator[str]:
    errors = ", ".join(f"{100 * error:g}" for error in ERRORS)
    yield "# Cover and width of the intervals of `pnulearn.metrics`\n"
    yield "    python benchmarks/intervals.py results/rows/intervals.jsonl --seconds 600 --page results/intervals.md\n"
    grid = [", ".join(map(str, values)) for values in (LABELS, UNLABELED, PRIORS)]
    yield f"{len(rows)} cells, a random sample of the {len(cells()):,} cells of the grid in that file: true errors of"
    yield f"{errors} %, {grid[0]} labels of each class, {grid[1]} unlabelled rows, priors {grid[2]}, three shapes"
    yield "of scores, and a prior that is known or counted on 60 random rows. All intervals promise 95 %; bands promise"
    yield "to hold the whole curve. `lowest` is the lowest cover of a cell; among many cells it lies three standard"
    yield "errors (1 point each at 400 draws, 2 at 100) below 95 % by chance. Cover below 90 % is bold. `simple` is"
    yield "the usual interval of the labels alone, with the prior taken as known: Wilson's and MOVER (error, cost,"
    yield "recall), the bootstrap (precision, F1, average precision), DeLong's (AUC).\n"
    yield from table(rows, "By metric", "metric", METRICS)
    for metric in METRICS:
        some = [row for row in rows if row["metric"] == metric]
        if some:
            yield f"\n## {metric}\n"
            for name, values in (("error", ERRORS), ("labels", LABELS), ("unlabeled", UNLABELED), ("prior", PRIORS)):
                yield from table(some, "", name, values)
            for name, others in (("shape", SHAPES), ("belief", BELIEFS)):
                yield from table(some, "", name, others)
    low = sorted((row for row in rows if row["cover"] < 0.91), key=lambda row: row["cover"])
    yield f"\n## Cells below 91 %: {len(low)} of {len(rows)}\n"
    if low:
        yield "| metric | labels | U | prior | error | scores | prior is | cover | truth below | truth above | draws |"
        yield "|---|---|---|---|---|---|---|---|---|---|---|"
    for row in low:
        facts = " | ".join(str(row[name]) for name in KEY)
        numbers = f"{bold(row['cover'])} | {row['truth_below']:.3f} | {row['truth_above']:.3f} | {row['draws']}"
        yield f"| {facts} | {numbers} |"


def table(rows: list[dict], title: str, name: str, values: Any) -> Iterator[str]:
    if title:
        yield f"## {title}\n"
    yield f"\n| {name} | cells | mean cover | lowest | mean width | simple: mean cover | lowest | mean width |"
    yield "|---|---|---|---|---|---|---|---|"
    for value in values:
        some = [row for row in rows if row[name] == value]
        if some:
            cover, width, other, other_width = (
                np.array([row[key] for row in some]) for key in ("cover", "width", "simple_cover", "simple_width")
            )
            ends = (
                "| | | |"
                if np.isnan(other).all()
                else (f"| {bold(np.nanmean(other))} | {bold(np.nanmin(other))} | {np.nanmean(other_width):.3f} |")
            )
            yield f"| {value} | {len(some)} | {bold(cover.mean())} | {bold(cover.min())} | {width.mean():.3f} {ends}"


def bold(cover: float) -> str:
    return f"**{cover:.3f}**" if cover < 0.9 else f"{cover:.3f}"


if __name__ == "__main__":
    main()
