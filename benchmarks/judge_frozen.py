"""Coverage of the intervals of every metric, the gain by a helper, compare and ppi-python: fixed models, real data.

    PNULEARN_DATA=folder python benchmarks/judge_frozen.py rows.jsonl --blocks 1 > results/judge.md

A forest, naive Bayes and logistic regression are fitted to 200 rows of the set magic and frozen; their scores on the
other rows are the population. Labelled and unlabelled rows are drawn again and again from it at another prior. A block
is 20 draws of every cell; each is appended to rows.jsonl when it is done, a second run goes on where the first stopped,
and --blocks 0 only prints. --parts names some of compare, oracle, width, metrics, unknown, threshold and ppi; the last
needs ppi-python.
"Estimated prior" is what 30 further rows labelled at random say of it.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from judge_tables import ACCURACIES, DRAWS, PRIORS, SIZES, report
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
PAIRS = (("forest", "bayes"), ("forest", "logistic"), ("forest", "cautious"))
N_UNLABELED, COSTS = 1000, (5.0, 1.0)
SET = os.environ.get("PNULEARN_JUDGED", "magic")  # rules were chosen on phoneme and spambase
Array = np.ndarray


@cache
def population() -> tuple[dict[str, Array], Array]:
    """Scores minus 1/2 of the frozen models, and the true classes."""
    found = real_set(SET)
    if found is None:
        sys.exit(f"Set PNULEARN_DATA to a folder with {SET}.npz.")
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
    cuts = np.append(np.nextafter(score.min(), -np.inf), np.unique(score))  # all rows, to none, are called positive
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


def metric_functions(prior: Any) -> dict[str, Callable[[Array, Array], Any]]:
    m = metrics
    return {
        "error": lambda y, g: pnu_risk(y, g, prior=prior),
        "cost": lambda y, g: m.pnu_cost(y, g, prior=prior, costs=COSTS),
        "precision": lambda y, g: m.pnu_precision(y, g, prior=prior),
        "recall": lambda y, g: m.pnu_recall(y, g, prior=prior),
        "specificity": lambda y, g: m.pnu_specificity(y, g, prior=prior),
        "F1": lambda y, g: m.pnu_f1(y, g, prior=prior),
        "AUC": lambda y, g: m.pnu_auc(y, g, prior=prior),
        "average precision": lambda y, g: m.pnu_average_precision(y, g, prior=prior),
    }


def metric_block(model: str, prior: float, n: int, block: int) -> Iterator[dict[str, Any]]:
    """Cover of every metric with a known and an estimated prior, and of the error with helpers.

    The error with an estimated prior and without a helper is `unknown_block`'s.
    """
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
            for name, function in metric_functions(belief).items():
                if (name, kind) == ("error", "estimated"):
                    continue
                found = function(y, score[rows])
                inside = found.low <= truth[name] <= found.high
                hits.setdefault((name, kind), []).append((inside, found.value, found.high - found.low))
            for accuracy in ACCURACIES[1:2] if kind == "estimated" else ACCURACIES:
                current_model = np.where(rng.random(len(rows)) < accuracy, classes[rows], 1 - classes[rows])
                found = pnu_risk(y, score[rows], prior=belief, helper=current_model)
                inside = found.low <= truth["error"] <= found.high
                name = f"error, helper right in {accuracy:.0%}"
                hits.setdefault((name, kind), []).append((inside, found.value, found.high - found.low))
        alone = pnu_risk(y, score[rows], prior=prior, mix=0)
        hits.setdefault(("error, labels alone", "known"), []).append(
            (alone.low <= truth["error"] <= alone.high, alone.value, alone.high - alone.low)
        )
    yield from sums(hits, truth)


def unknown_block(model: str, prior: float, n: int, block: int) -> Iterator[dict[str, Any]]:
    """Cover of the error's interval with an estimated prior."""
    score = population()[0][model]
    rng, truth = np.random.default_rng([block, n, int(100 * prior), len(model), 4]), truths(score, prior)
    found = []
    for _ in range(DRAWS):
        rows, y = draw_rows(rng, prior, n)
        seen = rng.binomial(30, prior)
        risk = pnu_risk(y, score[rows], prior=PriorEstimate.of_counts([30 - seen, seen]))
        found.append((risk.low <= truth["error"] <= risk.high, risk.value, risk.high - risk.low))
    yield from sums({("error", "estimated"): found}, truth)


def threshold_block(model: str, prior: float, n: int, block: int) -> Iterator[dict[str, Any]]:
    """Cover of the range of the best threshold; an infinite end is cut to that of the scores."""
    score = population()[0][model]
    rng, truth = np.random.default_rng([block, n, int(100 * prior), len(model), 3]), truths(score, prior)
    hits: dict[tuple[str, str], list[tuple[bool, float, float]]] = {}
    for _ in range(DRAWS):
        rows, y = draw_rows(rng, prior, n)
        seen = rng.binomial(30, prior)
        for kind, belief in {"known": prior, "estimated": PriorEstimate.of_counts([30 - seen, seen])}.items():
            found = metrics.pnu_best_threshold(y, score[rows], prior=belief, costs=COSTS)
            inside = found.low <= truth["best threshold"] <= found.high
            width = min(found.high, 0.5) - max(found.low, -0.5)
            hits.setdefault(("best threshold", kind), []).append((inside, found.value, width))
    yield from sums(hits, truth)


def sums(hits: dict[tuple[str, str], list[tuple[bool, float, float]]], truth: dict[str, float]) -> Iterator[Any]:
    """Rows of a block, from whether the interval held the truth, the estimate and the width of every draw."""
    for (name, kind), found in hits.items():
        values = np.array(found, dtype=float)
        yield {
            "metric": name,
            "prior_is": kind,
            "hits": int(values[:, 0].sum()),
            "square": float(np.sum((values[:, 1] - truth[name.split(",")[0]]) ** 2)),
            "width": float(values[:, 2].sum()),
            "draws": len(values),
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


def width_block(model: str, prior: float, percent: int, block: int) -> Iterator[dict[str, Any]]:
    """Labels as `labels_for_width` asks for: is the interval as wide as was wished?"""
    scores, y = population()
    score, rng = scores[model], np.random.default_rng([block, percent, int(100 * prior), len(model), 2])
    rates = float(np.mean(score[y == 1] <= 0)), float(np.mean(score[y == 0] > 0))
    wish, truth = percent / 100, truths(score, prior)["error"]
    needed = metrics.labels_for_width(wish, prior, error_rates=rates, n_unlabeled=N_UNLABELED)
    hits = width = 0.0
    for _ in range(2 * DRAWS):
        rows, labels = draw_rows(rng, prior, needed.n_positive)
        found = pnu_risk(labels, score[rows], prior=prior)
        hits += found.low <= truth <= found.high
        width += found.high - found.low
    yield {"metric": "width", "hits": hits, "width": width, "labels": needed.n_positive, "draws": 2 * DRAWS}


def oracle_block(model: str, prior: float, n: int, block: int) -> Iterator[dict[str, Any]]:
    """The least variance of any combination with the helper, if all rates were known; nothing is drawn.

    θ mean_P(a − h) + (1 − θ) mean_N(b − h) + mean_U h, with h any function of the model's decision and the helper's:
    four cells, multinomial covariances, a linear system. "unlimited" has as many unlabelled rows as one likes.
    """
    scores, y = population()
    fnr, fpr = np.mean(scores[model][y == 1] <= 0), np.mean(scores[model][y == 0] > 0)
    a, b = np.array([1.0, 1.0, 0.0, 0.0]), np.array([0.0, 0.0, 1.0, 1.0])  # called negative, twice; called positive

    def spread(share: Array, factor: float) -> Array:
        return factor * (np.diag(share) - np.outer(share, share))

    for accuracy, (name, n_unlabeled) in product(ACCURACIES, {"": N_UNLABELED, ", unlimited U": np.inf}.items()):
        positive = np.outer([fnr, 1 - fnr], [1 - accuracy, accuracy]).ravel()
        negative = np.outer([1 - fpr, fpr], [accuracy, 1 - accuracy]).ravel()
        covariance = [spread(positive, prior**2 / n), spread(negative, (1 - prior) ** 2 / n)]
        covariance.append(spread(prior * positive + (1 - prior) * negative, 1 / n_unlabeled))
        total, drive = sum(covariance), covariance[0] @ a + covariance[1] @ b
        h = np.linalg.lstsq(total, drive, rcond=1e-10)[0]
        parts = zip((a - h, b - h, h), covariance, strict=True)
        alone = a @ covariance[0] @ a + b @ covariance[1] @ b
        least = sum(float(weights @ part @ weights) for weights, part in parts)
        yield {"metric": f"{accuracy:.0%}{name}", "square": least, "width": float(alone), "draws": 1}


def ppi_block(accuracy: str, prior: float, n: int, block: int) -> Iterator[dict[str, Any]]:
    """Labels at random: the error by `pnu_risk` with a helper and by ppi-python, on the same draws."""
    from ppi_py import ppi_mean_ci, ppi_mean_pointestimate

    scores, classes = population()
    score, rng = scores["forest"], np.random.default_rng([block, n, int(100 * prior), len(accuracy), 1])
    truth, found = truths(score, prior)["error"], {"pnu_risk": [], "ppi_py": []}
    for _ in range(2 * DRAWS):
        rows, y = draw_rows(rng, prior, n // 2, random=True)
        current_model = np.where(rng.random(len(rows)) < float(accuracy), classes[rows], 1 - classes[rows])
        wrong = ((score[rows] > 0) != (classes[rows] == 1)).astype(float)
        guess = ((score[rows] > 0) != (current_model == 1)).astype(float)
        parts = wrong[:n], guess[:n], guess[n:]
        low, high = ppi_mean_ci(*parts, alpha=0.05)
        value = ppi_mean_pointestimate(*parts)
        found["ppi_py"].append((low[0] <= truth <= high[0], float(value[0]) - truth, high[0] - low[0]))
        if 0 < np.nansum(y) < n:
            ours = pnu_risk(y, score[rows], helper=current_model, sampling="random")
            found["pnu_risk"].append((ours.low <= truth <= ours.high, ours.value - truth, ours.high - ours.low))
    for name, rows in found.items():
        values = np.array(rows, dtype=float).reshape(-1, 3)
        square, width = float(np.sum(values[:, 1] ** 2)), float(values[:, 2].sum())
        yield {"metric": name, "hits": int(values[:, 0].sum()), "square": square, "width": width, "draws": len(values)}


PARTS: dict[
    str, tuple[Callable[..., Iterator[dict[str, Any]]], tuple[str, ...], tuple[float, ...], tuple[int, ...]]
] = {
    "compare": (compare_block, tuple("/".join(pair) for pair in PAIRS), PRIORS, SIZES),
    "oracle": (oracle_block, tuple(MODELS), PRIORS, SIZES),
    "width": (width_block, ("forest", "bayes"), (0.05, 0.3, 0.5), (5, 10, 20)),
    "metrics": (metric_block, tuple(MODELS), PRIORS, SIZES),
    "unknown": (unknown_block, tuple(MODELS), PRIORS, SIZES),
    "threshold": (threshold_block, tuple(MODELS), PRIORS, SIZES),
    "ppi": (ppi_block, ("0.8", "0.9", "0.95"), (0.3, 0.5), (10, 30, 100)),
}


def run(path: Path, blocks: int, parts: list[str]) -> None:
    done = {(row["part"], row["of"], row["prior"], row["n"], row["block"]) for row in read(path)}
    for block, part in product(range(blocks), parts):
        work, names, priors, sizes = PARTS[part]
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


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rows", type=Path, help="JSON lines that results are appended to")
    parser.add_argument("--blocks", type=int, default=5, help="of 20 draws of every cell; 0 prints only")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS), help="which tables to fill")
    options = parser.parse_args()
    run(options.rows, options.blocks, options.parts)
    print(report(read(options.rows)))
