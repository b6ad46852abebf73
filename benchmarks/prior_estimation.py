"""Mean absolute error of every prior estimator, ours and QuaPy's, on the same draws from real data.

    PNULEARN_DATA=folder OPENBLAS_NUM_THREADS=1 python benchmarks/prior_estimation.py rows.csv --draws 3 > table.md

Every estimate is appended to rows.csv as soon as it is made; a second run continues where the first one stopped, and
`--draws 0` only prints the tables, in Markdown. The folder holds one npz per set with X
and y (+1 and −1). QuaPy's methods get the same standardised columns and scikit-learn's logistic regression, as its
manual has them; without QuaPy (extra "bench") they are left out.
"""

from __future__ import annotations

import argparse
import csv
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression

from pnulearn.priors import METHODS
from pnulearn.priors._positive_unlabeled import PositiveUnlabeledPrior
from pnulearn.priors._resolve import prior_estimator

# set: columns
SETS = {"banana": 2, "phoneme": 5, "magic": 10, "image": 18, "waveform": 21, "g50c": 50, "spambase": 57, "splice": 60,
        "a9a": 123, "coil2": 241, "mnist_4v9": 784, "cifar_cat_v_dog_effnet": 1280}  # fmt: skip
PRIORS = (0.1, 0.3, 0.5, 0.7, 0.9)
SIZES = ((10, 300), (50, 300), (50, 1000))  # labelled rows of each class, unlabelled rows
QUAPY = {"EMQ": "EMQ", "PACC": "PACC", "HDy": "HDy", "KDEy": "KDEyML"}
DEFAULT = "scores"
PULLED = ("energy", "energy_v", "scores")
HEADING = """# Prior estimation

Mean absolute error of the estimated class prior on 12 real sets x 5 priors x 3 sizes. `scores` is the default of
`estimate_prior`; `bbe` to `penl1` of the first table see the positives and U only. From the rows in
`rows/prior-estimation.csv`:

    python benchmarks/prior_estimation.py results/rows/prior-estimation.csv --draws 0 > results/prior-estimation.md

QuaPy's methods use logistic regression, which cannot separate banana; the column without it is fairer."""
FIELDS = ("set", "prior", "n_labeled", "n_unlabeled", "draw", "method", "estimate", "seconds")

Estimate = Callable[[np.ndarray, np.ndarray], float]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rows", type=Path, help="CSV file that estimates are appended to")
    parser.add_argument("--draws", type=int, default=3, help="draws per set, prior and size; 0 prints the table only")
    parser.add_argument("--methods", help="names to run, separated by commas; all by default")
    parser.add_argument("--sets", default=",".join(SETS), help="names of npz files, separated by commas")
    options = parser.parse_args()
    if options.draws:
        folder = Path(os.environ.get("PNULEARN_DATA", ""))
        if not (folder / "banana.npz").exists():
            raise SystemExit("Set PNULEARN_DATA to a folder of npz files with X and y, as in the paper's Table 1.")
        estimators = {**our_methods(), **quapy_methods()}
        chosen = options.methods.split(",") if options.methods else estimators
        run(options.rows, folder, options.sets.split(","), options.draws, {name: estimators[name] for name in chosen})
    draw_tables(read(options.rows))


def run(path: Path, folder: Path, sets: list[str], draws: int, estimators: dict[str, Estimate]) -> None:
    """Append one line per estimate that is not in the file yet."""
    done = {tuple(row[name] for name in FIELDS[:6]) for row in read(path)}
    for name, prior, (n_labeled, n_unlabeled), draw in problems(sets, draws):
        key = (name, str(prior), str(n_labeled), str(n_unlabeled), str(draw))
        missing = [method for method in estimators if (*key, method) not in done]
        if not missing:
            continue
        X, codes = draw_rows(folder / f"{name}.npz", prior, n_labeled, n_unlabeled, draw)
        with path.open("a", newline="") as file:
            for method in missing:
                started = time.process_time()
                estimate = estimators[method](X, codes)
                csv.writer(file).writerow([*key, method, f"{estimate:.5f}", f"{time.process_time() - started:.4f}"])


def problems(sets: list[str], draws: int) -> Iterator[tuple[str, float, tuple[int, int], int]]:
    for draw in range(draws):
        for name in sets:
            for size in SIZES:
                for prior in PRIORS:
                    yield name, prior, size, draw


def draw_rows(path: Path, prior: float, n_labeled: int, n_unlabeled: int, draw: int) -> tuple[np.ndarray, np.ndarray]:
    """Standardised rows and codes: as many labelled rows of each class, then U with a binomial number of positives.

    Rows are drawn without replacement where the class is large enough, labelled and unlabelled rows never coincide.
    """
    with np.load(path) as data:
        X, y = data["X"], data["y"]
    rng = np.random.default_rng([draw, int(1000 * prior), n_labeled, n_unlabeled])
    positive, negative = (rng.permutation(np.flatnonzero(y == sign)) for sign in (1, -1))
    n_positive = rng.binomial(n_unlabeled, prior)
    unlabeled = [
        rng.choice(rows[n_labeled:], count, replace=count > len(rows) - n_labeled)
        for rows, count in ((positive, n_positive), (negative, n_unlabeled - n_positive))
    ]
    Z = X[np.concatenate([positive[:n_labeled], negative[:n_labeled], *unlabeled])].astype(float)
    deviation = Z.std(axis=0)
    Z = (Z - Z.mean(axis=0)) / np.where(deviation > 0, deviation, 1)
    return Z, np.repeat([1, 0, -1], [n_labeled, n_labeled, n_unlabeled])


def our_methods() -> dict[str, Estimate]:
    return {name: ours(name) for name in METHODS}


def ours(name: str) -> Estimate:
    estimator = prior_estimator(name, n_bootstrap=0, random_state=0)
    needs_negatives = not isinstance(estimator, PositiveUnlabeledPrior)

    def estimate(X: np.ndarray, codes: np.ndarray) -> float:
        used = codes != (0 if not needs_negatives else 2)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return float(estimator.estimate(X[used], codes[used]).value)

    return estimate


def quapy_methods() -> dict[str, Estimate]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            from quapy.method import aggregative
        except ImportError:
            note = "QuaPy is not installed (pip install 'pnulearn[bench]'): its methods are left out."
            print(note, file=sys.stderr)
            return {}
    return {f"QuaPy {name}": quapy(getattr(aggregative, kind)) for name, kind in QUAPY.items()}


def quapy(kind: type) -> Estimate:
    def estimate(X: np.ndarray, codes: np.ndarray) -> float:
        np.random.seed(0)  # noqa: NPY002 - QuaPy draws its folds from the global state
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fitted = kind(LogisticRegression(max_iter=500)).fit(X[codes >= 0], codes[codes >= 0])
            return float(fitted.predict(X[codes < 0])[1])

    return estimate


def read(path: Path) -> list[dict[str, str]]:
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file, FIELDS))


def draw_tables(rows: list[dict[str, str]]) -> None:
    """The whole run, then one table per size, one by prior, and what the biases look like."""
    print(HEADING)
    print(f"\n## All sets, priors and sizes\n\n{overview(rows)}")
    sizes = sorted({(int(row["n_labeled"]), int(row["n_unlabeled"])) for row in rows})
    for n_labeled, n_unlabeled in sizes:
        some = [row for row in rows if (int(row["n_labeled"]), int(row["n_unlabeled"])) == (n_labeled, n_unlabeled)]
        print(f"\n## {n_labeled} + {n_labeled} labelled and {n_unlabeled} unlabelled rows\n\n{by_column(some, 'set')}")
    print(f"\n## By prior\n\n{by_column(rows, 'prior')}")
    print(f"\n## Mean estimate by prior\n\nWhat a bias looks like.\n\n{by_column(rows, 'prior', error=False)}")
    many = [row for row in rows if row["n_labeled"] == "50" and row["method"] in PULLED]
    print("\n## Bias towards 1/2\n\nSlope of the estimate over the prior, 50 + 50 labels;")
    print(f"1 is unbiased, 0 does not depend on the prior at all.\n\n{slopes(many)}")


def overview(rows: list[dict[str, str]]) -> str:
    """Every method with its paired difference to our default on the same draws."""
    errors: dict[str, dict[tuple[str, ...], float]] = {}
    seconds: dict[str, list[float]] = {}
    for row in rows:
        place = tuple(row[name] for name in FIELDS[:5])
        errors.setdefault(row["method"], {})[place] = abs(float(row["estimate"]) - float(row["prior"]))
        seconds.setdefault(row["method"], []).append(float(row["seconds"]))
    lines = []
    for method in sorted(errors, key=lambda name: np.mean(list(errors[name].values()))):
        ours = errors[method]
        gap = np.array([ours[place] - errors[DEFAULT][place] for place in ours])
        words = f"{gap.mean():+.4f} ± {gap.std(ddof=1) / np.sqrt(len(gap)):.4f}" if method != DEFAULT else "default"
        mean, linear = np.mean(list(ours.values())), np.mean([e for place, e in ours.items() if place[0] != "banana"])
        cost = 1000 * np.nanmean(seconds[method])
        lines.append([method, str(len(ours)), f"{mean:.4f}", words, f"{linear:.4f}", f"{cost:.0f}"])
    heads = ["draws", "mean error", f"more than {DEFAULT}, same draws (± s.e.)", "without banana", "CPU ms"]
    return markdown(["method", *heads], lines)


def by_column(rows: list[dict[str, str]], by: str, error: bool = True) -> str:
    columns = list(dict.fromkeys(row[by] for row in rows))
    cells: dict[str, dict[str, list[float]]] = {}
    for row in rows:
        value = float(row["estimate"])
        cells.setdefault(row["method"], {}).setdefault(row[by], []).append(
            abs(value - float(row["prior"])) if error else value
        )
    means = {method: [np.mean(found[c]) for c in columns] for method, found in cells.items()}
    order = sorted(means, key=lambda name: np.mean(means[name])) if error else list(means)
    lines = [[name, *(f"{mean:.3f}" for mean in means[name])] for name in order]
    if error:
        return markdown(["method", *columns, "mean"], [[*line, f"{np.mean(means[line[0]]):.4f}"] for line in lines])
    return markdown(["method", *columns], lines)


def slopes(rows: list[dict[str, str]]) -> str:
    """Slope of the estimates over the prior for every set, methods in columns."""
    lines = []
    for name in dict.fromkeys(row["set"] for row in rows):
        found = []
        for method in PULLED:
            some = [row for row in rows if (row["set"], row["method"]) == (name, method)]
            priors, values = ([float(row[field]) for row in some] for field in ("prior", "estimate"))
            found.append(f"{np.polyfit(priors, values, 1)[0]:.2f}")
        lines.append([name, str(SETS.get(name, "")), *found])
    return markdown(["set", "columns", *PULLED], lines)


def markdown(heads: list[str], lines: list[list[str]]) -> str:
    return "\n".join("| " + " | ".join(words) + " |" for words in [heads, ["---"] * len(heads), *lines])


if __name__ == "__main__":
    main()
