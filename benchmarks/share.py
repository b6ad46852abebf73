"""The share of good answers from few labels and a judge's verdicts: `pnu_share` and other packages on the same draws.

    python -P benchmarks/share.py rows.jsonl --draws 200 > table.md

`-P` keeps benchmarks/coverage.py from hiding the package of that name, which one of the others imports.

Simulated: answers are good with probability .5, .7 or .9, a judge has the sensitivity and specificity named; 2,000
rows, 50, 100 or 300 labels. Real: rows of scikit-learn's breast cancer and digits sets, judged by a model that was
fitted to other rows of the set; draws are with replacement, so that the truth is the share in the set. `random`: labels
at random. `by verdict`: two thirds of the labels where the judge says "bad". `cover` is the share of 95 % intervals
that hold the truth, `width` their mean width. Packages that are not installed are left out and named. Rows are
appended as they come; an interrupted run continues, and `--draws 0` only prints.
"""

from __future__ import annotations

import os

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")  # before NumPy starts its threads

import argparse
import json
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from scipy.stats import norm

from pnulearn.metrics import pnu_share

SHARES, LABELS, N_ROWS = (0.5, 0.7, 0.9), (50, 100, 300), 2000
JUDGES = {
    "right in 60 %": (0.6, 0.6),
    "right in 80 %": (0.8, 0.8),
    "right in 90 %": (0.9, 0.9),
    "right in 95 %": (0.95, 0.95),
    "right in 98 %": (0.98, 0.98),
    "biased": (0.95, 0.5),
    "adversarial": (0.2, 0.2),
}
REAL = ("breast cancer", "digits")
PACKAGES = {"ppi_py": "ppi-python", "judgy": "judgy", "truescore": "truescore", "glide": "glide-py"}
JUDGY_REPLICATES = 200  # 20,000 by default, which takes a second per call
Array = np.ndarray
Interval = tuple[float, float, float]
NOTHING = (0.5, 0.0, 1.0)  # of a method that refuses to answer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rows", type=Path, help="JSON lines that results are appended to")
    parser.add_argument("--draws", type=int, default=200, help="of every cell; 0 prints only")
    options = parser.parse_args()
    run(options.rows, options.draws)
    print(report([json.loads(line) for line in options.rows.read_text().splitlines()]))


def run(path: Path, n_draws: int) -> None:
    done = defaultdict(int)
    if path.exists():
        for line in path.read_text().splitlines():
            row = json.loads(line)
            done[tuple(row["cell"])] += row["draws"]
    with path.open("a") as out:
        for cell in cells():
            if done[tuple(cell)] < n_draws:
                out.write(json.dumps(run_cell(cell, n_draws)) + "\n")
                out.flush()


def cells() -> Iterator[list[object]]:
    for sampling, n in product(("random", "by verdict"), LABELS):
        for judge, share in product(JUDGES, SHARES):
            yield ["simulated", judge, share, n, sampling]
        for name in REAL:
            yield ["real", name, 0.0, n, sampling]


def run_cell(cell: list[object], n_draws: int) -> dict[str, object]:
    kind, name, share, n, sampling = cell
    rng = np.random.default_rng(crc32(str(cell).encode()))  # draws of one cell do not depend on the others
    found: dict[str, list[Interval]] = defaultdict(list)
    truth = float(share) if kind == "simulated" else float(real(str(name))[0].mean())
    for _ in range(n_draws):
        label, verdict = draw(kind, str(name), float(share), rng)
        rows, chance = choose(verdict, int(n), str(sampling), rng)
        for method, estimate in METHODS[str(sampling)].items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found[method].append(estimate(label, verdict, rows, chance))
    result = {}
    for method, rows in found.items():
        value, low, high = np.array(rows).T
        result[method] = {
            "cover": float(np.mean((low <= truth) & (truth <= high))),
            "width": float(np.mean(high - low)),
            "rmse": float(np.sqrt(np.mean((value - truth) ** 2))),
        }
    return {"cell": cell, "draws": n_draws, "found": result}


def draw(kind: object, name: str, share: float, rng: np.random.Generator) -> tuple[Array, Array]:
    """Labels and verdicts of all rows, 0 or 1."""
    if kind == "real":
        label, verdict = real(name)
        rows = rng.integers(len(label), size=len(label))
        return label[rows], verdict[rows]
    sensitivity, specificity = JUDGES[name]
    label = (rng.random(N_ROWS) < share).astype(int)
    right = rng.random(N_ROWS) < np.where(label == 1, sensitivity, specificity)
    return label, np.where(right, label, 1 - label)


@cache
def real(name: str) -> tuple[Array, Array]:
    """Labels of a set and verdicts of a logistic regression that was fitted to 60 other rows."""
    from sklearn.datasets import load_breast_cancer, load_digits
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    X, y = (load_breast_cancer if name == "breast cancer" else load_digits)(return_X_y=True)
    y = y if name == "breast cancer" else (y % 2 == 0).astype(int)
    order = np.random.default_rng(0).permutation(len(y))
    judge = make_pipeline(StandardScaler(), LogisticRegression()).fit(X[order[:60]], y[order[:60]])
    return y[order[60:]], judge.predict(X[order[60:]])


def choose(verdict: Array, n: int, sampling: str, rng: np.random.Generator) -> tuple[Array, Array]:
    """Rows to label, and the probability of every row."""
    if sampling == "random":
        return rng.choice(len(verdict), n, replace=False), np.full(len(verdict), n / len(verdict))
    bad, good = np.flatnonzero(verdict == 0), np.flatnonzero(verdict == 1)
    n_bad = min(2 * n // 3, len(bad))
    n_good = min(n - n_bad, len(good))
    rows = np.concatenate([rng.choice(bad, n_bad, replace=False), rng.choice(good, n_good, replace=False)])
    return rows, np.where(verdict == 0, n_bad / max(len(bad), 1), n_good / max(len(good), 1))


def known(label: Array, rows: Array) -> Array:
    y = np.full(len(label), np.nan)
    y[rows] = label[rows]
    return y


def ours(sampling: str) -> Callable[..., Interval]:
    def estimate(label: Array, verdict: Array, rows: Array, chance: Array) -> Interval:
        how = chance if sampling == "known" else sampling
        y = known(label, rows)
        if len(np.unique(y[rows])) < 2:
            y = y.astype(object)
        found = pnu_share(y, helper=verdict, sampling=how, pos_label=1)
        return found.value, found.low, found.high

    return estimate


def labels_alone(label: Array, verdict: Array, rows: Array, chance: Array) -> Interval:
    """Wilson's interval."""
    z, n, share = norm.ppf(0.975), len(rows), label[rows].mean()
    center, half = (share + z**2 / (2 * n)) / (1 + z**2 / n), np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    return share, center - z * half / (1 + z**2 / n), center + z * half / (1 + z**2 / n)


def weighted_labels(label: Array, verdict: Array, rows: Array, chance: Array) -> Interval:
    """Labels weighted by 1 / probability (Hájek), with a normal interval."""
    w = 1 / chance[rows]
    share = w @ label[rows] / w.sum()
    half = norm.ppf(0.975) * np.sqrt(np.sum((w * (label[rows] - share)) ** 2)) / w.sum()
    return share, share - half, share + half


def ppi(plus: bool) -> Callable[..., Interval]:
    def estimate(label: Array, verdict: Array, rows: Array, chance: Array) -> Interval:
        package = import_module("ppi_py")
        rest = np.setdiff1d(np.arange(len(label)), rows)
        parts = label[rows].astype(float), verdict[rows].astype(float), verdict[rest].astype(float)
        options = {} if plus else {"lam": 1.0}
        low, high = package.ppi_mean_ci(*parts, alpha=0.05, **options)
        return (float(low[0]) + float(high[0])) / 2, float(low[0]), float(high[0])

    return estimate


def judgy(label: Array, verdict: Array, rows: Array, chance: Array) -> Interval:
    package = import_module("judgy")
    rest = np.setdiff1d(np.arange(len(label)), rows)
    np.random.seed(int(rows[0]))  # noqa: NPY002 (judgy draws from there)
    try:
        value, low, high = package.estimate_success_rate(
            label[rows], verdict[rows], verdict[rest], bootstrap_iterations=JUDGY_REPLICATES
        )
    except ValueError:  # refuses judges that are no better than chance
        return NOTHING
    return float(value), float(low), float(high)


def truescore(name: str) -> Callable[..., Interval]:
    def estimate(label: Array, verdict: Array, rows: Array, chance: Array) -> Interval:
        try:
            found = getattr(import_module("truescore"), name)(verdict, label[rows], rows)
        except ValueError:
            return NOTHING
        return float(found.point), float(found.low), float(found.high)

    return estimate


def glide(label: Array, verdict: Array, rows: Array, chance: Array) -> Interval:
    estimator = import_module("glide.estimators.ppi").PPIMeanEstimator()
    if len(set(label[rows])) < 2:  # it refuses equal labels
        return NOTHING
    return _center(estimator.estimate(known(label, rows), verdict.astype(float)).confidence_interval)


def glide_by_verdict(label: Array, verdict: Array, rows: Array, chance: Array) -> Interval:
    """Its estimator for known probabilities of labelling."""
    estimator = import_module("glide.estimators.asi").ASIMeanEstimator()
    if len(set(label[rows])) < 2:
        return NOTHING
    found = estimator.estimate(known(label, rows), verdict.astype(float), np.clip(chance, 1e-6, 1.0))
    return _center(found.confidence_interval)


def _center(found: Any) -> Interval:
    half = norm.ppf(0.975) * float(found.std)
    return float(found.mean), float(found.mean) - half, float(found.mean) + half


def _methods() -> dict[str, dict[str, Callable[..., Interval]]]:
    random: dict[str, Callable[..., Interval]] = {"pnu_share": ours("random"), "labels alone": labels_alone}
    if has("ppi_py"):
        random |= {"PPI": ppi(plus=False), "PPI++": ppi(plus=True)}
    if has("judgy"):
        random |= {"judgy": judgy}
    if has("truescore"):
        random |= {
            "truescore PPI": truescore("ppi_estimate"),
            "truescore Rogan-Gladen": truescore("rogan_gladen_estimate"),
        }
    verdict: dict[str, Callable[..., Interval]] = {
        "pnu_share, rates unknown": ours("by_helper"),
        "pnu_share, rates known": ours("known"),
        "weighted labels": weighted_labels,
    }
    if has("glide"):
        random |= {"glide PPI++": glide}
        verdict |= {"glide active": glide_by_verdict}
    return {"random": random, "by verdict": verdict}


def has(package: str) -> bool:
    try:
        import_module(package)
    except ImportError:
        return False
    return True


METHODS = _methods()


def report(rows: list[dict]) -> str:
    """A table per sampling and number of labels: cover (least over cells) and width relative to labels alone."""
    lines = []
    absent = [PACKAGES[name] for name in PACKAGES if not has(name)]
    if absent:
        lines.append(f"Not installed here, so not in the race: {', '.join(absent)}.\n")
    for sampling, n in product(("random", "by verdict"), LABELS):
        chosen = [row for row in rows if row["cell"][3] == n and row["cell"][4] == sampling]
        if not chosen:
            continue
        draws = chosen[0]["draws"]
        lines += [f"\n### {n} labels, {sampling} ({len(chosen)} cells, {draws} draws each)\n"]
        lines += [
            "| method | cover, mean | cover, least | cells 93 to 97 % | cells at least 93 % | width, mean | rmse |"
        ]
        lines += ["|---|---|---|---|---|---|---|"]
        for method in chosen[0]["found"]:
            found = [row["found"][method] for row in chosen if method in row["found"]]
            cover, width, rmse = (np.array([each[key] for each in found]) for key in ("cover", "width", "rmse"))
            inside = np.mean((cover >= 0.93) & (cover <= 0.97))
            lines.append(
                f"| {method} | {cover.mean():.3f} | {cover.min():.3f} | {inside:.0%} | {np.mean(cover >= 0.93):.0%} "
                f"| {width.mean():.4f} | {np.sqrt(np.mean(rmse**2)):.4f} |"
            )
    lines += ["", "### Each cell with 100 random labels: cover / width", ""]
    chosen = [row for row in rows if row["cell"][3] == 100 and row["cell"][4] == "random"]
    if chosen:
        names = list(chosen[0]["found"])
        lines += [f"| judge | share | {' | '.join(names)} |", "|" + "---|" * (2 + len(names))]
        for row in chosen:
            parts = [f"{row['found'][name]['cover']:.2f} / {row['found'][name]['width']:.3f}" for name in names]
            share = row["cell"][2] if row["cell"][0] == "simulated" else float(real(row["cell"][1])[0].mean())
            lines.append(f"| {row['cell'][1]} | {share:.2f} | {' | '.join(parts)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
