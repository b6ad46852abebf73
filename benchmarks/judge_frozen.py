"""Does the judge keep its promises on real frozen models? Cover of every metric, the helper, compare, ppi-python.

    PNULEARN_DATA=folder python benchmarks/judge_frozen.py rows.jsonl --blocks 1 > results/judge.md

A forest, naive Bayes and logistic regression are fitted to 200 rows of the set magic and frozen; their scores on the
other rows are the population. Labelled and unlabelled rows are drawn again and again from it at another prior. A block
is 20 draws of every cell; each is appended to rows.jsonl when it is done, a second run goes on where the first stopped,
and --blocks 0 only prints. "Estimated prior" is what 30 further rows labelled at random say of it. The
last table needs ppi-python.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from real_sets import real_set
from scipy.stats import binom
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pnulearn import metrics
from pnulearn.metrics import compare_scores, pnu_risk
from pnulearn.priors import PriorEstimate

MODELS = {
    "forest": RandomForestClassifier(200, min_samples_leaf=2, random_state=0),
    "bayes": GaussianNB(),
    "logistic": make_pipeline(StandardScaler(), LogisticRegression()),
}
PRIORS, SIZES = (0.05, 0.3, 0.5, 0.9), (5, 20, 100)
PAIRS = (("forest", "bayes"), ("forest", "logistic"), ("forest", "cautious"))
DRAWS, N_UNLABELED, COSTS = 20, 1000, (5.0, 1.0)
ACCURACIES = (0.8, 0.9, 0.95)
Array = np.ndarray


@cache
def population() -> tuple[dict[str, Array], Array]:
    """Scores minus 1/2 of the frozen models, and the true classes."""
    found = real_set("magic")
    if found is None:
        sys.exit("Set PNULEARN_DATA to a folder with magic.npz.")
    X, y = np.asarray(found[0], dtype=float), (np.asarray(found[1]) > 0).astype(int)
    order = np.random.default_rng(0).permutation(len(y))
    train, rest = order[:200], order[200:]
    scores = {name: model.fit(X[train], y[train]).predict_proba(X[rest])[:, 1] - 0.5 for name, model in MODELS.items()}
    scores["cautious"] = scores["forest"] - 0.35
    return scores, y[rest]


def draw_rows(rng: np.random.Generator, prior: float, n: int, random: bool = False) -> tuple[Array, Array]:
    """Row numbers and y: n labels of each class, or 2 n at random, then U."""
    _, truth = population()
    classes = [np.flatnonzero(truth == k) for k in (0, 1)]
    counts = [rng.binomial(size, prior) for size in (2 * n, N_UNLABELED)]
    n_positive = counts[0] if random else n
    picked = [rng.choice(classes[1], n_positive), rng.choice(classes[0], 2 * n - n_positive)]
    picked += [rng.choice(classes[1], counts[1]), rng.choice(classes[0], N_UNLABELED - counts[1])]
    rows = np.concatenate(picked)
    return rows, np.append(truth[rows[: 2 * n]].astype(float), np.full(N_UNLABELED, np.nan))


def truths(score: Array, prior: float) -> dict[str, float]:
    """Every metric in the population at that prior."""
    _, y = population()
    fnr, fpr = np.mean(score[y == 1] <= 0), np.mean(score[y == 0] > 0)
    weight = np.where(y == 1, prior / np.mean(y == 1), (1 - prior) / np.mean(y == 0))
    found, false, missed = prior * (1 - fnr), (1 - prior) * fpr, prior * fnr
    cuts = np.unique(score)
    rates = [np.searchsorted(np.sort(score[y == k]), cuts, "right") / np.sum(y == k) for k in (1, 0)]
    cost = COSTS[0] * prior * rates[0] + COSTS[1] * (1 - prior) * (1 - rates[1])
    return {
        "error": missed + false,
        "cost": COSTS[0] * missed + COSTS[1] * false,
        "precision": found / (found + false),
        "recall": 1 - fnr,
        "specificity": 1 - fpr,
        "F1": 2 * found / (2 * found + false + missed),
        "AUC": roc_auc_score(y, score),
        "average precision": average_precision_score(y, score, sample_weight=weight),
        "best threshold": float(cuts[np.argmin(cost)]),
    }


def metric_functions(prior: Any, quick: bool) -> dict[str, Callable[[Array, Array], Any]]:
    m = metrics
    cheap: dict[str, Callable[[Array, Array], Any]] = {
        "error": lambda y, g: pnu_risk(y, g, prior=prior),
        "cost": lambda y, g: m.pnu_cost(y, g, prior=prior, costs=COSTS),
        "precision": lambda y, g: m.pnu_precision(y, g, prior=prior),
        "recall": lambda y, g: m.pnu_recall(y, g, prior=prior),
        "specificity": lambda y, g: m.pnu_specificity(y, g, prior=prior),
        "F1": lambda y, g: m.pnu_f1(y, g, prior=prior),
        "AUC": lambda y, g: m.pnu_auc(y, g, prior=prior),
        "average precision": lambda y, g: m.pnu_average_precision(y, g, prior=prior),
        "best threshold": lambda y, g: m.pnu_best_threshold(y, g, prior=prior, costs=COSTS),
    }
    return cheap if not quick else {name: cheap[name] for name in ("error", "F1")}


def metric_block(model: str, prior: float, n: int, block: int) -> Iterator[dict[str, Any]]:
    """Cover of every metric with a known and an estimated prior, and of the error with helpers."""
    scores, _ = population()
    score, rng = scores[model], np.random.default_rng([block, n, int(100 * prior), len(model)])
    truth = truths(score, prior)
    hits: dict[tuple[str, str], list[tuple[bool, float, float]]] = {}
    _, classes = population()
    for _ in range(DRAWS):
        rows, y = draw_rows(rng, prior, n)
        seen = rng.binomial(30, prior)
        beliefs = {"known": prior, "estimated": PriorEstimate.of_counts([30 - seen, seen])}
        for kind, belief in beliefs.items():
            for name, function in metric_functions(belief, quick=False).items():
                found = function(y, score[rows])
                inside = found.low <= truth[name] <= found.high
                hits.setdefault((name, kind), []).append((inside, found.value, found.high - found.low))
            for accuracy in ACCURACIES[1:2] if kind == "estimated" else ACCURACIES:
                opinion = np.where(rng.random(len(rows)) < accuracy, classes[rows], 1 - classes[rows])
                found = pnu_risk(y, score[rows], prior=belief, helper=opinion)
                inside = found.low <= truth["error"] <= found.high
                name = f"error, helper right in {accuracy:.0%}"
                hits.setdefault((name, kind), []).append((inside, found.value, found.high - found.low))
        alone = pnu_risk(y, score[rows], prior=prior, mix=0)
        hits.setdefault(("error, labels alone", "known"), []).append(
            (alone.low <= truth["error"] <= alone.high, alone.value, alone.high - alone.low)
        )
    for (name, kind), found in hits.items():
        values = np.array(found, dtype=float)
        yield {
            "metric": name,
            "prior_is": kind,
            "hits": int(values[:, 0].sum()),
            "square": float(np.sum((values[:, 1] - truth[name.split(",")[0]]) ** 2)),
            "width": float(values[:, 2].sum()),
            "draws": DRAWS,
        }


def compare_block(pair: str, prior: float, n: int, block: int) -> Iterator[dict[str, Any]]:
    """Cover and verdicts of `compare`, and McNemar's exact test on as many labels drawn at random."""
    scores, classes = population()
    first, second = pair.split("/")
    rng = np.random.default_rng([block, n, int(100 * prior), len(pair)])
    errors = [truths(scores[name], prior)["error"] for name in (first, second)]
    gap, right = errors[0] - errors[1], "first" if errors[0] < errors[1] else "second"
    hits = verdicts = mcnemar = 0
    for _ in range(2 * DRAWS):
        rows, y = draw_rows(rng, prior, n)
        parts = [np.flatnonzero(y == 1), np.flatnonzero(y == 0), np.flatnonzero(np.isnan(y))]
        found = compare_scores(*([scores[name][rows[part]] for part in parts] for name in (first, second)), prior)
        hits += found.low <= gap <= found.high
        verdicts += found.verdict == right
        rows, _ = draw_rows(rng, prior, n, random=True)
        rows = rows[: 2 * n]
        wrong = [(scores[name][rows] > 0) != (classes[rows] == 1) for name in (first, second)]
        only = [int(np.sum(wrong[0] & ~wrong[1])), int(np.sum(wrong[1] & ~wrong[0]))]
        p = min(1.0, 2 * binom.cdf(min(only), sum(only), 0.5)) if sum(only) else 1.0
        mcnemar += p < 0.05 and (only[0] < only[1]) == (right == "first")
    yield {"metric": "compare", "hits": int(hits), "right": int(verdicts), "mcnemar": int(mcnemar), "draws": 2 * DRAWS}


def ppi_block(accuracy: str, prior: float, n: int, block: int) -> Iterator[dict[str, Any]]:
    """Labels at random: the error by `pnu_risk` with a helper and by ppi-python, on the same draws."""
    from ppi_py import ppi_mean_ci, ppi_mean_pointestimate

    scores, classes = population()
    score, rng = scores["forest"], np.random.default_rng([block, n, int(100 * prior), len(accuracy), 1])
    truth, found = truths(score, prior)["error"], {"pnu_risk": [], "ppi_py": []}
    for _ in range(2 * DRAWS):
        rows, y = draw_rows(rng, prior, n // 2, random=True)
        opinion = np.where(rng.random(len(rows)) < float(accuracy), classes[rows], 1 - classes[rows])
        wrong = ((score[rows] > 0) != (classes[rows] == 1)).astype(float)
        guess = ((score[rows] > 0) != (opinion == 1)).astype(float)
        parts = wrong[:n], guess[:n], guess[n:]
        low, high = ppi_mean_ci(*parts, alpha=0.05)
        value = ppi_mean_pointestimate(*parts)
        found["ppi_py"].append((low[0] <= truth <= high[0], float(value[0]) - truth, high[0] - low[0]))
        if 0 < np.nansum(y) < n:
            ours = pnu_risk(y, score[rows], helper=opinion, sampling="single_set")
            found["pnu_risk"].append((ours.low <= truth <= ours.high, ours.value - truth, ours.high - ours.low))
    for name, rows in found.items():
        values = np.array(rows, dtype=float).reshape(-1, 3)
        square, width = float(np.sum(values[:, 1] ** 2)), float(values[:, 2].sum())
        yield {"metric": name, "hits": int(values[:, 0].sum()), "square": square, "width": width, "draws": len(values)}


PARTS: dict[
    str, tuple[Callable[..., Iterator[dict[str, Any]]], tuple[str, ...], tuple[float, ...], tuple[int, ...]]
] = {
    "compare": (compare_block, tuple("/".join(pair) for pair in PAIRS), PRIORS, SIZES),
    "metrics": (metric_block, tuple(MODELS), PRIORS, SIZES),
    "ppi": (ppi_block, ("0.8", "0.9", "0.95"), (0.3, 0.5), (10, 30, 100)),
}


def run(path: Path, blocks: int) -> None:
    done = {(row["part"], row["of"], row["prior"], row["n"], row["block"]) for row in read(path)}
    for block, (part, (work, names, priors, sizes)) in product(range(blocks), PARTS.items()):
        for name, prior, n in product(names, priors, sizes):
            key = (part, name, prior, n, block)
            if key in done:
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                rows = list(work(name, prior, n, block))
            with path.open("a") as file:
                for row in rows:
                    file.write(
                        json.dumps({**dict(zip(("part", "of", "prior", "n", "block"), key, strict=True)), **row})
                    )
                    file.write("\n")
        print(f"block {block}: {part} done", file=sys.stderr, flush=True)


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def pooled(rows: list[dict[str, Any]], *names: str) -> dict[tuple[Any, ...], dict[str, float]]:
    """Sums over all rows that agree in these names."""
    total: dict[tuple[Any, ...], dict[str, float]] = {}
    for row in rows:
        sums = total.setdefault(tuple(row[name] for name in names), {})
        for name in ("hits", "square", "width", "draws", "right", "mcnemar"):
            sums[name] = sums.get(name, 0.0) + row.get(name, 0.0)
    return total


def report(rows: list[dict[str, Any]]) -> str:
    by_part = {part: [row for row in rows if row["part"] == part] for part in PARTS}
    lines = [
        "# The judge on frozen models",
        "",
        "Written by `python benchmarks/judge_frozen.py`, which says what was done.",
    ]
    lines += [
        "",
        "## Cover of 95 % intervals",
        "",
        "| metric | prior | draws | cover | worst of the cells | draws a cell |",
    ]
    lines += ["|---|---|---|---|---|---|"]
    cells = pooled(by_part["metrics"], "metric", "prior_is", "of", "prior", "n")
    for (metric, kind), sums in pooled(by_part["metrics"], "metric", "prior_is").items():
        mine = {key[2:]: cell for key, cell in cells.items() if key[:2] == (metric, kind)}
        where, worst = min(mine.items(), key=lambda item: item[1]["hits"] / item[1]["draws"])
        at = f"{where[0]}, prior {where[1]:g}, {where[2]} + {where[2]} labels"
        lines.append(
            f"| {metric} | {kind} | {sums['draws']:.0f} | {sums['hits'] / sums['draws']:.3f} | "
            f"{worst['hits'] / worst['draws']:.2f} ({at}) | {worst['draws']:.0f} |"
        )
    lines += [
        "",
        "## What a helper is worth",
        "",
        "Mean squared error and width of the interval over those of the labels alone.",
    ]
    lines += [
        "",
        "| prior | labels of each class | U alone | helper right in 80 % | 90 % | 95 % | widths, in this order |",
    ]
    lines += ["|---|---|---|---|---|---|---|"]
    known = [row for row in by_part["metrics"] if row["prior_is"] == "known"]
    names = ["error", *(f"error, helper right in {accuracy:.0%}" for accuracy in ACCURACIES)]
    sums = pooled(known, "metric", "prior", "n")
    for prior, n in product(PRIORS, SIZES):
        base = sums.get(("error, labels alone", prior, n))
        if base is None:
            continue
        each = [sums[name, prior, n] for name in names]
        squares = " | ".join(f"{one['square'] / base['square']:.2f}" for one in each)
        widths = ", ".join(f"{one['width'] / base['width']:.2f}" for one in each)
        lines.append(f"| {prior:g} | {n} | {squares} | {widths} |")
    lines += [
        "",
        "## Which of two models is better",
        "",
        "| models | prior | labels of each class | cover | right verdicts | McNemar |",
    ]
    lines += ["|---|---|---|---|---|---|"]
    for (pair, prior, n), one in pooled(by_part["compare"], "of", "prior", "n").items():
        shares = [one[name] / one["draws"] for name in ("hits", "right", "mcnemar")]
        lines.append(f"| {pair} | {prior:g} | {n} | {shares[0]:.2f} | {shares[1]:.2f} | {shares[2]:.2f} |")
    lines += ["", "## Beside ppi-python", "", "Labels drawn at random, the same draws; the prior is not given."]
    lines += [
        "",
        "| helper right | prior | labels | cover: ours, ppi | root mean square error | width |",
        "|---|---|---|---|---|---|",
    ]
    pairs = pooled(by_part["ppi"], "of", "prior", "n", "metric")
    for accuracy, prior, n in dict.fromkeys(key[:3] for key in pairs):
        two = [pairs[accuracy, prior, n, name] for name in ("pnu_risk", "ppi_py")]
        cover, width = (", ".join(f"{one[k] / one['draws']:.3f}" for one in two) for k in ("hits", "width"))
        error = ", ".join(f"{np.sqrt(one['square'] / one['draws']):.3f}" for one in two)
        lines.append(f"| {float(accuracy):.0%} | {prior:g} | {n} | {cover} | {error} | {width} |")
    return "\n".join(lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rows", type=Path, help="JSON lines that results are appended to")
    parser.add_argument("--blocks", type=int, default=5, help="of 20 draws of every cell; 0 prints only")
    options = parser.parse_args()
    run(options.rows, options.blocks)
    print(report(read(options.rows)))
