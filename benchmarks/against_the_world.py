"""AutoPNU and PNU against the classifiers that people use: errors, regrets, times, and whether `risk_` holds.

    PNULEARN_DATA=folder python benchmarks/against_the_world.py [--draws 20] [--labels 50] [--unlabeled 300]
        [--regimes random by-class known pu] [--half choosing|reporting|both] [--methods NAME ...]
    python benchmarks/against_the_world.py --report             # results/against-the-world.md alone

Columns are raw: nothing is scaled, except inside the methods that need it (logistic regression, SVC, label spreading).
Every method gets the same rows. Labels are drawn at random from the population ("random"), by class with a share that
is not the population's ("by-class": a share of .5 or .7 of the labels is positive, and .1, .3, .5 or .7 of the
population, in turn the six pairs of unequal shares; the prior is unknown; "known": the same, and own methods are told
the prior), or they are positives only ("pu", prior known). Test rows have the population's class shares. Draws at
random with fewer than two labels of a class are drawn again.

Rules of pnulearn were chosen on every second set, CHOOSING; the results page reports the others. Rows are saved as they
come, all sets once before any set twice, so that a stopped run is a smaller run; a run adds what is missing.
"EM" is the correction of probabilities to the class shares of the unlabelled rows by Saerens, Latinne and Decaestecker
(2002). Seconds are processor seconds of `fit`.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from catboost import CatBoostClassifier
from lightgbm import LGBMClassifier
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from experiments.datasets import BENCHMARK, FOLDER_VARIABLE, load_data
from pnulearn import AutoPNU, PNUClassifier, PriorAdjusted

RAW = [
    "abalone",
    "bank",
    "churn",
    "credit",
    "diamonds",
    "eeg",
    "marketing",
    "saheart",
    "student",
    "taxis",
    "wine",
    "yeast1",
]
PACKAGED: dict[str, Callable[[], tuple[np.ndarray, np.ndarray]]] = {
    "breast_cancer": lambda: _of_scikit_learn(load_breast_cancer, lambda y: y == 0),
    "digits": lambda: _of_scikit_learn(load_digits, lambda y: y % 2 == 1),
}
SETS = (*BENCHMARK, *RAW, *PACKAGED)
CHOOSING, REPORTING = SETS[::2], SETS[1::2]
BY_CLASS = ((0.1, 0.5), (0.3, 0.7), (0.5, 0.7), (0.7, 0.5), (0.1, 0.7), (0.3, 0.5))  # share of positives in U, in L
POSITIVES = ((0.1, 1.0), (0.3, 1.0), (0.5, 1.0))
MOST_TEST_ROWS = 2000  # of each class, or twice as many at random
REGIMES = ("random", "by-class", "known", "pu")
BINS = 10  # of probabilities
ROWS, PAGE = Path("results/rows/against-the-world.jsonl"), Path("results/against-the-world.md")


def _of_scikit_learn(load: Callable[..., Any], is_positive: Callable[[Any], Any]) -> tuple[np.ndarray, np.ndarray]:
    X, y = load(return_X_y=True)
    return X, is_positive(y)


@lru_cache(maxsize=4)
def load_set(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Raw columns, and whether each row is positive."""
    if name in PACKAGED:
        return PACKAGED[name]()
    folder = Path(os.environ[FOLDER_VARIABLE])
    X, y = load_data(name, folder if (folder / f"{name}.npz").exists() else folder / "raw")
    return X.astype(float), y > 0


@dataclass(frozen=True)
class Draw:
    """Rows of one draw; y is 1, 0 or NaN, and test rows have weights that give them the population's class shares."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    weight: np.ndarray
    prior: float
    regime: str

    @property
    def sampling(self) -> str:
        return "random" if self.regime == "random" else "by_class"

    @property
    def known(self) -> np.ndarray:
        return ~np.isnan(self.y)

    def error(self, positive: np.ndarray) -> float:
        return float(self.weight @ (positive.astype(bool) != self.y_test))

    def calibration(self, share: np.ndarray) -> list[float]:
        """The expected calibration error, and about what it would be if every probability were right."""
        place = np.minimum((share * BINS).astype(int), BINS - 1)
        gap = np.bincount(place, self.weight * (share - self.y_test), BINS)
        noise = np.bincount(place, self.weight**2 * share * (1 - share), BINS)
        return [round(float(np.abs(gap).sum()), 5), round(float(np.sqrt(2 / np.pi * noise).sum()), 5)]


class TooFewRows(ValueError):
    """A set that is too small for a draw."""


def draw(name: str, regime: str, n_labels: int, n_unlabeled: int, number: int) -> Draw:
    """At most three quarters of the rows that labels leave are unlabelled rows; the others are test rows."""
    X, positive = load_set(name)
    rng = np.random.default_rng(zlib.crc32(repr((name, regime, n_labels, n_unlabeled, number)).encode()))
    if regime == "random":
        order = rng.permutation(len(positive))
        while min(np.bincount(positive[order[:n_labels]], minlength=2)) < 2:
            order = rng.permutation(len(positive))
        n_unlabeled = min(n_unlabeled, (len(positive) - n_labels) * 3 // 4)
        rows, test = order[: n_labels + n_unlabeled], order[n_labels + n_unlabeled :][: 2 * MOST_TEST_ROWS]
        weight, prior = np.ones(len(test)), float(positive.mean())
    else:
        pairs = POSITIVES if regime == "pu" else BY_CLASS
        prior, share = pairs[(number + zlib.crc32(name.encode())) % len(pairs)]
        sides = [rng.permutation(np.flatnonzero(positive == side)) for side in (True, False)]
        shares, labeled = (
            np.array([prior, 1 - prior]),
            np.array([round(n_labels * share), round(n_labels * (1 - share))]),
        )
        left = [len(side) - n for side, n in zip(sides, labeled, strict=True)]
        if min(left) < 10:
            raise TooFewRows
        n_unlabeled = min(n_unlabeled, int(0.75 * min(left / shares)))
        unlabeled = np.array([round(n_unlabeled * prior), n_unlabeled - round(n_unlabeled * prior)])
        used = labeled + unlabeled
        parts = [side[:n] for side, n in zip(sides, labeled, strict=True)]
        parts += [side[n:m] for side, n, m in zip(sides, labeled, used, strict=True)]
        rows, tests = np.concatenate(parts), [side[n:][:MOST_TEST_ROWS] for side, n in zip(sides, used, strict=True)]
        test, weight = np.concatenate(tests), np.repeat(shares / [len(t) for t in tests], [len(t) for t in tests])
    y = positive[rows].astype(float)
    y[n_labels:] = np.nan
    return Draw(X[rows], y, X[test], positive[test], weight / weight.sum(), prior, regime)


# Methods: from a draw to scores of test rows, positive for the positive class, and an estimate of the error or None.

Answer = tuple[np.ndarray, Any]


def catboost() -> Any:
    return CatBoostClassifier(verbose=False, thread_count=1, random_seed=0, allow_writing_files=False)


SUPERVISED: dict[str, Callable[[], Any]] = {
    "CatBoost": catboost,
    "LightGBM": lambda: LGBMClassifier(verbose=-1, n_jobs=1, random_state=0),
    "random forest": lambda: RandomForestClassifier(random_state=0),
    "ExtraTrees": lambda: ExtraTreesClassifier(random_state=0),
    "logistic regression": lambda: make_pipeline(StandardScaler(), LogisticRegressionCV(max_iter=1000)),
    "SVC": lambda: make_pipeline(
        StandardScaler(), GridSearchCV(SVC(), {"C": [0.1, 1, 10, 100], "gamma": ["scale", 0.01, 0.1, 1]})
    ),
}
CORRECTED = ("CatBoost", "LightGBM", "random forest", "ExtraTrees")
SEMI_SUPERVISED: dict[str, Callable[[], Any]] = {
    "self-training": lambda: make_pipeline(StandardScaler(), SelfTrainingClassifier(LogisticRegression(max_iter=1000))),
    "label spreading": lambda: make_pipeline(StandardScaler(), LabelSpreading(kernel="knn")),
}
OWN = {
    "PNUClassifier": lambda own: PNUClassifier(**own),
    "PNUClassifier, columns given": lambda own: PNUClassifier(columns="given", **own),
    "PNUClassifier, standardised": lambda own: PNUClassifier(**own),
    "PriorAdjusted(CatBoost)": lambda own: PriorAdjusted(catboost(), **own),
    "PriorAdjusted(ExtraTrees)": lambda own: PriorAdjusted(ExtraTreesClassifier(random_state=0), **own),
    "AutoPNU": lambda own: AutoPNU(**own),
}
POSITIVE_UNLABELED = ("ExtraTrees, P against U", "CatBoost, P against U", "pulearn bagging", "pulearn Elkan-Noto")
FOR_BOTH_CLASSES = [*SUPERVISED, *(f"{name}, EM" for name in CORRECTED), *SEMI_SUPERVISED, *OWN]
METHODS = [*FOR_BOTH_CLASSES, *POSITIVE_UNLABELED]


def methods_of(regime: str) -> list[str]:
    if regime == "known":
        return list(OWN)
    if regime != "pu":
        return FOR_BOTH_CLASSES
    return [*POSITIVE_UNLABELED, *(name for name in OWN if not name.startswith("PriorAdjusted"))]


def measure(given: Draw, methods: list[str]) -> Iterator[dict[str, Any]]:
    """One row per method. The model of a method and of its correction are the same fit."""
    fitted: dict[str, tuple[Any, float]] = {}
    for method in methods:
        base = method.removesuffix(", EM")
        if base not in fitted:
            fitted[base] = _fit(given, base)
        model, seconds = fitted[base]
        if method != base:
            scores = _em(model.predict_proba(given.X[~given.known])[:, 1], given, model)
        elif base in POSITIVE_UNLABELED:
            scores = _cut(model, given)
        else:
            scores = _scores(model, given.X_test)
        # Label spreading has no answer for rows that no labelled row reaches: the larger class of the labels.
        scores = np.where(np.isnan(scores), given.y[given.known].mean() - 0.5, scores)
        row = {"method": method, "error": round(given.error(scores > 0), 5), "seconds": round(seconds, 3)}
        row["auc"] = round(float(roc_auc_score(given.y_test, scores)), 5)
        if given.regime == "known":
            row["calibration"] = given.calibration(model.predict_proba(given.X_test)[:, 1])
        risk = getattr(model, "risk_", None) if base in OWN else None
        yield row | ({} if risk is None else {"risk": [round(float(v), 5) for v in (risk.value, risk.low, risk.high)]})


def _fit(given: Draw, method: str) -> tuple[Any, float]:
    X, y, known = given.X, given.y, given.known
    if method in SUPERVISED:
        model, rows = SUPERVISED[method](), (X[known], y[known].astype(int))
    elif method in SEMI_SUPERVISED:
        model, rows = SEMI_SUPERVISED[method](), (X, np.where(known, np.nan_to_num(y), -1).astype(int))
    elif method in POSITIVE_UNLABELED:
        model, rows = _positive_unlabeled(method), (X, known.astype(int))
    else:
        prior = given.prior if given.regime in ("known", "pu") else None
        model = OWN[method]({"prior": prior, "sampling": given.sampling, "random_state": 0})
        if method.endswith("standardised"):
            model = _Standardised(model)
        rows = (X, y)
    start = time.process_time()
    model.fit(*rows)
    return model, time.process_time() - start


class _Standardised:
    """A classifier on columns that are standardised over all rows."""

    def __init__(self, model: Any):
        self.model = model

    def fit(self, X: np.ndarray, y: np.ndarray) -> None:
        self.scaler = StandardScaler().fit(X)
        self.model.fit(self.scaler.transform(X), y)
        self.risk_ = self.model.risk_

    def decision_function(self, X: np.ndarray) -> np.ndarray:
        return self.model.decision_function(self.scaler.transform(X))

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        return self.model.predict_proba(self.scaler.transform(X))


def _positive_unlabeled(method: str) -> Any:
    from pulearn import BaggingPuClassifier, ElkanotoPuClassifier

    if method == "pulearn bagging":
        trees = DecisionTreeClassifier(max_features="sqrt")
        return BaggingPuClassifier(trees, n_estimators=200, random_state=0, n_jobs=1)
    if method == "pulearn Elkan-Noto":
        return ElkanotoPuClassifier(RandomForestClassifier(random_state=0), hold_out_ratio=0.2)
    return ExtraTreesClassifier(random_state=0) if method.startswith("ExtraTrees") else catboost()


def _scores(model: Any, X: np.ndarray) -> np.ndarray:
    if hasattr(model, "decision_function"):
        return np.asarray(model.decision_function(X))
    return np.asarray(model.predict_proba(X))[:, 1] - 0.5


def _cut(model: Any, given: Draw) -> np.ndarray:
    """Scores minus the quantile of the unlabelled rows at one minus the prior: the prior is known."""
    unlabeled, test = (np.asarray(model.predict_proba(X))[:, 1] for X in (given.X[~given.known], given.X_test))
    return test - np.quantile(unlabeled, 1 - given.prior)


def _em(unlabeled: np.ndarray, given: Draw, model: Any) -> np.ndarray:
    """Log-odds of test rows, corrected to the class share of the unlabelled rows that is found by EM."""
    u, test = (np.clip(p, 1e-3, 1 - 1e-3) for p in (unlabeled, model.predict_proba(given.X_test)[:, 1]))
    labeled = float(given.y[given.known].mean())
    share = labeled
    for _ in range(1000):
        odds = u / (1 - u) * share / (1 - share) * (1 - labeled) / labeled
        share = float(np.clip(np.mean(odds / (1 + odds)), 1e-3, 1 - 1e-3))
    return np.log(test / (1 - test)) + np.log(share / (1 - share)) - np.log(labeled / (1 - labeled))


# Runs and rows.

Cell = tuple[str, str, int, int, int]
NAMES = ("set", "regime", "labels", "unlabeled", "draw")


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def run(path: Path, options: argparse.Namespace) -> None:
    done = {(*(row[name] for name in NAMES), row["method"]) for row in read(path)}
    sets = {"choosing": CHOOSING, "reporting": REPORTING, "both": (*REPORTING, *CHOOSING)}[options.half]
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        for number in range(options.first, options.draws):
            for labels, n_unlabeled, regime, name in product(options.labels, options.unlabeled, options.regimes, sets):
                cell: Cell = (name, regime, labels, n_unlabeled, number)
                methods = [m for m in methods_of(regime) if (not options.methods or m in options.methods)]
                missing = [method for method in methods if (*cell, method) not in done]
                if not missing:
                    continue
                try:
                    given = draw(*cell)
                except TooFewRows:
                    continue
                for row in measure(given, missing):
                    file.write(json.dumps(dict(zip(NAMES, cell, strict=True)) | row) + "\n")
                    file.flush()


# The results page.


def cells_of(rows: list[dict[str, Any]], sets: tuple[str, ...]) -> dict[Cell, dict[str, dict[str, Any]]]:
    found: dict[Cell, dict[str, dict[str, Any]]] = defaultdict(dict)
    for row in rows:
        if row["set"] in sets:
            found[tuple(row[name] for name in NAMES)][row["method"]] = row  # type: ignore[index]
    return found


def mean(values: list[float], sets: list[str]) -> tuple[float, float]:
    """The mean over sets of the means over draws, and its standard error from how sets vary."""
    of_set: dict[str, list[float]] = defaultdict(list)
    for value, name in zip(values, sets, strict=True):
        of_set[name].append(value)
    means = [np.mean(own) for own in of_set.values()]
    return float(np.mean(means)), float(np.std(means, ddof=1) / np.sqrt(len(means))) if len(means) > 1 else np.nan


def errors_table(cells: dict[Cell, dict[str, dict[str, Any]]], regime: str, labels: int, n_unlabeled: int) -> str:
    """Error, what is lost against AutoPNU, regrets (of sets and of draws), AUC and seconds."""
    own = {c: rows for c, rows in cells.items() if c[1:4] == (regime, labels, n_unlabeled) and "AutoPNU" in rows}
    methods = [m for m in methods_of(regime) if sum(m in rows for rows in own.values()) >= 0.95 * len(own) > 0]
    shared = {cell: rows for cell, rows in own.items() if rows.keys() >= set(methods)}
    if not shared:
        return ""
    sets = [cell[0] for cell in shared]
    best = {cell: min(rows[m]["error"] for m in methods) for cell, rows in shared.items()}
    by_set: dict[str, list[dict[str, dict[str, Any]]]] = defaultdict(list)
    for cell, rows in shared.items():
        by_set[cell[0]].append(rows)
    means = [{m: float(np.mean([rows[m]["error"] for rows in own])) for m in methods} for own in by_set.values()]
    lines = [
        f"{len(shared)} draws of {len(set(sets))} sets.",
        "",
        "| method | error | more than AutoPNU | regret, set | regret, draw | AUC | seconds |",
        "|---|---|---|---|---|---|---|",
    ]
    rank = {}
    for method in methods:
        errors = [100 * rows[method]["error"] for rows in shared.values()]
        gap = [100 * (rows[method]["error"] - rows["AutoPNU"]["error"]) for rows in shared.values()]
        regret = [100 * (rows[method]["error"] - best[cell]) for cell, rows in shared.items()]
        of_sets = float(np.mean([100 * (of_set[method] - min(of_set.values())) for of_set in means]))
        auc = [100 * rows[method]["auc"] for rows in shared.values()]
        seconds = float(np.mean([rows[method]["seconds"] for rows in shared.values()]))
        value = mean(errors, sets)[0]
        more = "" if method == "AutoPNU" else "{:+.1f} ± {:.1f}".format(*mean(gap, sets))
        rank[method] = value
        others = f"{of_sets:.1f} | {mean(regret, sets)[0]:.1f} | {mean(auc, sets)[0]:.1f} | {seconds:.2f}"
        lines.append(f"| {method} | {value:.1f} | {more} | {others} |")
    lines[4:] = [lines[4 + place] for place in np.argsort(list(rank.values()), kind="stable")]
    return "\n".join(lines)


def risk_table(cells: dict[Cell, dict[str, dict[str, Any]]]) -> str:
    """Whether `risk_` holds the true error, by regime and number of labels."""
    lines = [
        "| labels | U | method | fits | covered | mean estimate less truth | mean width |",
        "|---|---|---|---|---|---|---|",
    ]
    for (regime, labels, n_unlabeled), method in product(_kinds(cells), OWN):
        seen = [
            (cell[0], rows[method]["error"], rows[method]["risk"])
            for cell, rows in cells.items()
            if cell[1:4] == (regime, labels, n_unlabeled) and "risk" in rows.get(method, {})
        ]
        if not seen:
            continue
        sets = [name for name, _, _ in seen]
        inside = np.mean([low <= error <= high for _, error, (_, low, high) in seen])
        bias, deviation = mean([100 * (risk[0] - error) for _, error, risk in seen], sets)
        width = np.mean([100 * (risk[2] - risk[1]) for _, _, risk in seen])
        which = f"{labels}, {regime} | {n_unlabeled} | {method} | {len(seen)}"
        lines.append(f"| {which} | {inside:.2f} | {bias:+.1f} ± {deviation:.1f} | {width:.0f} |")
    return "\n".join(lines)


def scale_table(cells: dict[Cell, dict[str, dict[str, Any]]]) -> str:
    """Errors of PNUClassifier on raw and on standardised columns, in draws that have all of its ways."""
    ways = [name for name in OWN if name.startswith("PNUClassifier")]
    lines = ["| labels | U | draws | sets | " + " | ".join(ways) + " | raw less standardised |", "|---" * 8 + "|"]
    for regime, labels, n_unlabeled in _kinds(cells):
        own = [(c[0], r) for c, r in cells.items() if c[1:4] == (regime, labels, n_unlabeled) and r.keys() >= set(ways)]
        if own:
            sets = [name for name, _ in own]
            errors = [f"{mean([100 * r[way]['error'] for _, r in own], sets)[0]:.1f}" for way in ways]
            gap = mean([100 * (r[ways[0]]["error"] - r[ways[-1]]["error"]) for _, r in own], sets)
            facts = [f"{labels}, {regime}", str(n_unlabeled), str(len(own)), str(len(set(sets))), *errors]
            lines.append("| " + " | ".join(facts) + " | {:+.2f} ± {:.2f} |".format(*gap))
    return "\n".join(lines) if len(lines) > 2 else ""


def calibration_table(cells: dict[Cell, dict[str, dict[str, Any]]]) -> str:
    """The expected calibration error with a known prior, beside that of right probabilities on the same test rows."""
    lines = ["| labels | U | method | draws | calibration error | if all were right |", "|---" * 6 + "|"]
    for (regime, labels, n_unlabeled), method in product(_kinds(cells), OWN):
        own = [(c[0], r[method]) for c, r in cells.items() if c[1:4] == (regime, labels, n_unlabeled) and method in r]
        own = [(name, row["calibration"]) for name, row in own if "calibration" in row]
        if own:
            sets, both = [name for name, _ in own], [[row[side] for _, row in own] for side in (0, 1)]
            found = "{:.3f} ± {:.3f} | {:.3f}".format(*mean(both[0], sets), mean(both[1], sets)[0])
            lines.append(f"| {labels} | {n_unlabeled} | {method} | {len(own)} | {found} |")
    return "\n".join(lines) if len(lines) > 2 else ""


def _kinds(cells: dict[Cell, Any]) -> list[tuple[str, int, int]]:
    return sorted({cell[1:4] for cell in cells}, key=lambda kind: (REGIMES.index(kind[0]), kind[1:]))


def report(rows: list[dict[str, Any]]) -> str:
    text = "\n".join(f"    {line}".rstrip() for line in (__doc__ or "").strip().splitlines()[7:])
    parts = [
        "# Against the world",
        "Output of `python benchmarks/against_the_world.py`. " + " ".join(line.strip() for line in text.splitlines()),
        "Errors and regrets in percent, means over sets of means over draws; ± is one standard error over sets. The\n"
        "regret of a set is the mean error less that of the best method of the set; the regret of a draw is the error\n"
        "less that of the best method in the draw, which is partly luck. Methods that were not run on all draws are\n"
        "left out.",
    ]
    for title, sets in (("Sets that no rule was chosen on", REPORTING), ("Sets that rules were chosen on", CHOOSING)):
        cells = cells_of(rows, sets)
        for regime, labels, n_unlabeled in _kinds(cells):
            table = errors_table(cells, regime, labels, n_unlabeled)
            if table:
                parts += [f"## {title}: {labels} labels, {regime}, {n_unlabeled} unlabelled rows", table]
        for what, table in (
            ("columns raw and standardised", scale_table(cells)),
            ("probabilities, prior known", calibration_table(cells)),
        ):
            parts += [f"## {title}: {what}", table] if table else []
        if cells:
            parts += [f"## {title}: does `risk_` hold?", risk_table(cells)]
    return "\n\n".join(parts) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--regimes", nargs="+", default=["random", "by-class"], choices=REGIMES)
    parser.add_argument("--labels", nargs="+", type=int, default=[50])
    parser.add_argument("--unlabeled", nargs="+", type=int, default=[300])
    parser.add_argument("--half", default="reporting", choices=["choosing", "reporting", "both"])
    parser.add_argument("--methods", nargs="+", choices=METHODS, metavar="METHOD")
    parser.add_argument("--rows", type=Path, default=ROWS)
    parser.add_argument("--report", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if not options.report:
        run(options.rows, options)
    PAGE.write_text(report(read(options.rows)))


if __name__ == "__main__":
    main()
