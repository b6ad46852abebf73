"""Any classifier with the population's prior: what `PriorAdjusted` does to five scikit-learn models, beside PNU.

    PNULEARN_DATA=folder python benchmarks/any_classifier.py [trials] [rows.jsonl]   # what is missing, then a report
    python benchmarks/any_classifier.py --report rows.jsonl                          # the report alone

The paper's sixteen sets, 50 labels and 300 unlabelled rows as in Table 1, without its validation labels: all choices
are made by cross-validation. The labels' share of positives is .7 where the population has .5, and .5 where it has .1,
.3, .7 or .9. Rows are saved as they come, all sets once before any set twice, so that a stopped run is a smaller run.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

from pnulearn import PNUClassifier, PriorAdjusted
from pnulearn.laboratory.experiments.table_1 import SETS
from pnulearn.laboratory.experiments.trials import TooFewRows, Trial, counts, draw_trial, load_scaled

N_LABELED, N_UNLABELED = 50, 300
PRIORS = {0.5: 0.7, 0.1: 0.5, 0.3: 0.5, 0.7: 0.5, 0.9: 0.5}  # of the population: share among the labels
MODELS: dict[str, Callable[[int], Any]] = {
    "trees": lambda seed: ExtraTreesClassifier(100, random_state=seed),
    "forest": lambda seed: RandomForestClassifier(100, random_state=seed),
    "svm": lambda seed: SVC(),
    "logistic": lambda seed: LogisticRegression(max_iter=1000),
    "boosting": lambda seed: HistGradientBoostingClassifier(max_iter=50, min_samples_leaf=5, random_state=seed),
}


def measure(trial: Trial) -> dict[str, float]:
    """Test errors in percent, by method."""
    known, seed = ~np.isnan(trial.y), trial.seed % 2**31
    found: dict[str, Any] = {}
    for name, build in MODELS.items():
        found[name] = build(seed).fit(trial.X[known], trial.y[known])
        for kind, prior in (("known", trial.prior), ("estimated", None)):
            found[f"{name}, prior {kind}"] = PriorAdjusted(build(seed), prior, random_state=seed).fit(trial.X, trial.y)
    supervised = {"risk": "pn", "prior": trial.prior, "random_state": seed}
    found["PN, centres labelled"] = PNUClassifier(centers="labeled", **supervised).fit(trial.X, trial.y)
    found["PN, centres at U too"] = PNUClassifier(**supervised).fit(trial.X, trial.y)
    pnu = {"prior": trial.prior, "random_state": seed}
    found["PNU, centres labelled"] = PNUClassifier(centers="labeled", **pnu).fit(trial.X, trial.y)
    found["PNU, one candidate"] = PNUClassifier(selection="best", **pnu).fit(trial.X, trial.y)
    found["PNU"] = PNUClassifier(**pnu).fit(trial.X, trial.y)
    found["PNU, prior estimated"] = PNUClassifier(random_state=seed).fit(trial.X, trial.y)
    return {name: round(100 * trial.error(model.predict(trial.X_test)), 3) for name, model in found.items()}


def cells(trials: int) -> Iterator[dict[str, Any]]:
    for trial in range(trials):
        for name in SETS:
            for prior in PRIORS:
                yield {"set": name, "prior": prior, "trial": trial}


def draw(cell: dict[str, Any]) -> Trial:
    X, positive = load_scaled(cell["set"], None)
    return draw_trial(
        X,
        positive,
        labeled=counts(N_LABELED, PRIORS[cell["prior"]]),
        unlabeled=counts(N_UNLABELED, cell["prior"]),
        prior=cell["prior"],
        key=("any-classifier", *cell.values()),
    )


def run(path: Path, trials: int) -> None:
    """Add the rows that are missing."""
    rows = read(path)
    done = {(row["set"], row["prior"], row["trial"]) for row in rows}
    with path.open("a") as file:
        for cell in cells(trials):
            if tuple(cell.values()) in done:
                continue
            try:
                errors = measure(draw(cell))
            except TooFewRows:
                continue
            file.write(json.dumps(cell | {"errors": errors}) + "\n")
            file.flush()


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def mean_errors(rows: list[dict[str, Any]]) -> dict[str, float]:
    """Means over sets of the means over trials, so that every set counts once."""
    by_set: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        for method, error in row["errors"].items():
            by_set[method][row["set"]].append(error)
    return {method: float(np.mean([np.mean(e) for e in sets.values()])) for method, sets in by_set.items()}


def report(rows: list[dict[str, Any]]) -> str:
    """Mean test errors in percent: a table per half of the sets and one of all."""
    halves = {"all sets": SETS, "first, third, ... set": SETS[::2], "second, fourth, ... set": SETS[1::2]}
    parts = []
    for title, sets in halves.items():
        chosen = [row for row in rows if row["set"] in sets]
        columns = {prior: mean_errors([r for r in chosen if r["prior"] == prior]) for prior in PRIORS}
        columns = {prior: means for prior, means in columns.items() if means}
        if not columns:
            continue
        lines = ["| method | " + " | ".join(f"prior {prior}" for prior in columns) + " | mean |"]
        lines.append("|" + "---|" * (len(columns) + 2))
        for method in next(iter(columns.values())):
            numbers = [means[method] for means in columns.values()]
            lines.append(f"| {method} | " + " | ".join(f"{n:.1f}" for n in [*numbers, np.mean(numbers)]) + " |")
        parts.append(f"## {title} ({len(chosen)} draws)\n\n" + "\n".join(lines))
    return "\n\n".join(parts)


def main(arguments: list[str]) -> None:
    warnings.simplefilter("ignore")
    if arguments[:1] == ["--report"]:
        print(report(read(Path(arguments[1]))))
        return
    path = Path(arguments[1] if len(arguments) > 1 else "any-classifier.jsonl")
    run(path, int(arguments[0]) if arguments else 5)
    print(report(read(path)))


if __name__ == "__main__":
    main(sys.argv[1:])
