"""Any classifier with the population's prior: what `PriorAdjusted` does to five scikit-learn models, beside PNU.

    PNULEARN_DATA=folder python benchmarks/any_classifier.py [trials] [rows.jsonl] [prior] [words of methods ...]
    PNULEARN_DATA=folder python benchmarks/any_classifier.py --costs      # processor seconds, a draw of each set
    python benchmarks/any_classifier.py --report [rows.jsonl]             # results/any-classifier.md alone

The paper's sixteen sets, 50 labels and 300 unlabelled rows as in Table 1, without its validation labels: all choices
are made by cross-validation. The labels' share of positives is .7 where the population has .5, and .5 where it has .1,
.3, .7 or .9. Rows are saved as they come, all sets once before any set twice, so that a stopped run is a smaller run;
what is missing is added, for one prior or all (0), and for the methods whose names hold one of the words: without
words, all but those that tell the parts of PNU apart (benchmarks/what_u_buys.py). In full there are 50 trials at prior
.5 and 20 at each other; a draw takes about five processor seconds.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from remembered import forget, remembered
from sklearn import set_config
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

from experiments.datasets import BENCHMARK as SETS
from experiments.trials import TooFewRows, Trial, counts, draw_trial, load_scaled
from pnulearn import AutoPNU, PNUClassifier, PriorAdjusted
from pnulearn._estimators.learners import SUPERVISED

N_LABELED, N_UNLABELED = 50, 300
PRIORS = {0.5: 0.7, 0.1: 0.5, 0.3: 0.5, 0.7: 0.5, 0.9: 0.5}  # of the population: share among the labels
Trees, Forest, Svm, Logistic, Boosting = map(
    remembered,
    (ExtraTreesClassifier, RandomForestClassifier, SVC, LogisticRegression, HistGradientBoostingClassifier),
)
MODELS: dict[str, Callable[[int], Any]] = {
    "trees": lambda seed: Trees(100, random_state=seed),
    "forest": lambda seed: Forest(100, random_state=seed),
    "svm": lambda seed: Svm(),
    "logistic": lambda seed: Logistic(max_iter=1000),
    "boosting": lambda seed: Boosting(max_iter=50, min_samples_leaf=5, random_state=seed),
}
OF_AUTO = {"forest": "trees", "svm": "svm", "logistic": "logistic", "boosting": "boosting"}
MOST_TRIALS = {0.5: 50}  # of the other priors 20
BOTH = "PNU, columns both"
PNU: dict[str, dict[str, Any]] = {
    "PN, centres labelled, shares of the labels": {"risk": "pn", "centers": "labeled", "prior": "labeled"},
    "PN, centres labelled": {"risk": "pn", "centers": "labeled"},
    "PN, centres at U too": {"risk": "pn"},
    "PNU, centres labelled": {"centers": "labeled"},
    "PNU, one candidate": {"selection": "best"},
    "PNU": {},
    "PNU, columns as ranks": {"columns": "ranks"},
    BOTH: {"columns": "both"},
    "PNU, prior estimated": {"prior": None},
    "PNU, columns both, prior estimated": {"columns": "both", "prior": None},
}
PARTS_OF_PNU = [name for name in PNU if name.startswith("PN,") or name.endswith(("labelled", "candidate", "as ranks"))]
AUTO = {"auto": True, "auto, prior estimated": False}  # is the prior known?
METHODS = [f"{name}{kind}" for name in MODELS for kind in ("", ", prior known", ", prior estimated")] + [*PNU, *AUTO]
TABLE = [name for name in METHODS if name not in PARTS_OF_PNU]
COSTS = {"trees, prior known": "trees", BOTH: "PNU", "auto": "PNU"}  # of what, compared with what
COSTS_FILE = Path("results/rows/any-classifier-costs.jsonl")


def measure(trial: Trial, methods: list[str]) -> dict[str, float]:
    """The test errors in percent."""
    forget()
    seed = trial.seed % 2**31
    inner = int(np.random.RandomState(seed).randint(2**31))  # the seed that AutoPNU gives to its members
    fitted: dict[str, Any] = {}
    for method in sorted(methods, key=lambda name: name not in AUTO):
        if method not in fitted:
            fitted[method] = fit(trial, method, seed if method in AUTO else inner)
        if method in AUTO:
            fitted[method.replace("auto", BOTH)] = fitted[method].pnu_
    return {method: round(100 * trial.error(fitted[method].predict(trial.X_test)), 3) for method in methods}


def fit(trial: Trial, method: str, seed: int) -> Any:
    known = ~np.isnan(trial.y)
    if method in PNU:
        given = {"prior": trial.prior, "columns": "given", "random_state": seed} | PNU[method]
        return PNUClassifier(**given).fit(trial.X, trial.y)
    if method in AUTO:
        return AutoPNU(prior=trial.prior if AUTO[method] else None, random_state=seed).fit(trial.X, trial.y)
    if method in MODELS:
        return MODELS[method](seed).fit(trial.X[known], trial.y[known])
    name, _, kind = method.partition(", prior ")
    prior = trial.prior if kind == "known" else None
    return PriorAdjusted(MODELS[name](seed), prior, random_state=seed).fit(trial.X, trial.y)


def measure_costs(path: Path) -> None:
    """Processor seconds of fits that share nothing, on one draw of each set; the least of three, as others disturb."""
    draws = [draw({"set": name, "prior": 0.5, "trial": 0}) for name in SETS]
    with path.open("w") as file:
        for name, trial in zip(SETS, draws, strict=True):
            seconds = {}
            for method in dict.fromkeys([*COSTS.values(), *COSTS]):
                seconds[method] = round(min(time_fit(trial, method) for _ in range(3)), 3)
            file.write(json.dumps({"set": name, "seconds": seconds}) + "\n")
            file.flush()


def time_fit(trial: Trial, method: str) -> float:
    forget()
    start = time.process_time()
    fit(trial, method, trial.seed % 2**31)
    return time.process_time() - start


def cells(trials: int) -> Iterator[dict[str, Any]]:
    for trial in range(trials):
        for name in SETS:
            for prior in PRIORS:
                if trial < MOST_TRIALS.get(prior, 20):
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


def run(path: Path, trials: int, prior: float, words: list[str], *, exactly: bool = False) -> None:
    """Add the rows that are missing, of methods that are named `exactly` or by words in their names."""
    done = {(row["set"], row["prior"], row["trial"], method) for row in read(path) for method in row["errors"]}
    methods = [m for m in METHODS if (m in words if exactly else any(word in m for word in words))] or TABLE
    with path.open("a") as file:
        for cell in cells(trials):
            missing = [method for method in methods if (*cell.values(), method) not in done]
            if not missing or prior not in (0, cell["prior"]):
                continue
            try:
                trial = draw(cell)
            except TooFewRows:
                continue
            file.write(json.dumps(cell | {"errors": measure(trial, missing)}) + "\n")
            file.flush()


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


Errors = dict[str, dict[str, list[float]]]  # by method and set


def gather(rows: list[dict[str, Any]], prior: float, sets: tuple[str, ...]) -> Errors:
    found: Errors = defaultdict(lambda: defaultdict(list))
    for row in rows:
        if row["prior"] == prior and row["set"] in sets:
            for method, error in row["errors"].items():
                found[method][row["set"]].append(error)
    return found


def mean(errors: dict[str, list[float]]) -> float:
    """Over sets of the means over trials, so that every set counts once."""
    return float(np.mean([np.mean(of_set) for of_set in errors.values()]))


def means_table(rows: list[dict[str, Any]], sets: tuple[str, ...]) -> str:
    """Mean test errors of every method at every prior."""
    found = {prior: gather(rows, prior, sets) for prior in PRIORS}
    columns = [prior for prior, errors in found.items() if errors]
    lines = ["| method | " + " | ".join(f"prior {prior}" for prior in columns) + " | mean |"]
    lines.append("|" + "---|" * (len(columns) + 2))
    for method in TABLE:
        numbers = [mean(found[prior][method]) for prior in columns]
        lines.append(f"| {method} | " + " | ".join(f"{n:.1f}" for n in [*numbers, np.mean(numbers)]) + " |")
    return "\n".join(lines)


def gains_table(rows: list[dict[str, Any]], sets: tuple[str, ...]) -> str:
    """What `PriorAdjusted` gains over the model that it wraps, with its standard error; sets count alike."""
    drawn = merge(rows)
    lines = ["| model | " + " | ".join(f"prior {prior}" for prior in PRIORS) + " |", "|" + "---|" * (len(PRIORS) + 1)]
    for name in MODELS:
        for other in (f"{name}, prior known", f"{name}, prior estimated"):
            cells = []
            for prior in PRIORS:
                gains: dict[str, list[float]] = defaultdict(list)
                for row in drawn:
                    errors = row["errors"]
                    if row["prior"] == prior and row["set"] in sets and {name, other} <= errors.keys():
                        gains[row["set"]].append(errors[name] - errors[other])
                cells.append(f"{mean(gains):+.1f} ± {standard_error(gains):.1f}" if gains else "")
            lines.append(f"| {other} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def standard_error(gains: dict[str, list[float]]) -> float:
    """Of the mean over sets, from how draws of the same set vary; one draw of each set says nothing."""
    variances = [np.var(of_set, ddof=1) / len(of_set) for of_set in gains.values() if len(of_set) > 1]
    return float(np.sqrt(np.mean(variances) / len(gains))) if variances else np.nan


def costs_table(rows: list[dict[str, Any]]) -> str:
    """Processor seconds of fits, and how many times those of what they are compared with."""
    lines = ["| fit | seconds | compared with | times as long | at most |", "|---|---|---|---|---|"]
    for method, other in COSTS.items():
        own, base = (np.array([row["seconds"][name] for row in rows]) for name in (method, other))
        ratio = own / base
        lines.append(f"| {method} | {own.mean():.2f} | {other} | {own.sum() / base.sum():.1f} | {ratio.max():.1f} |")
    return "\n".join(lines)


def sets_table(rows: list[dict[str, Any]], base: str, other: str) -> str:
    """What a method gains over another on every set, over all priors."""
    lines = [f"| set | {base} | {other} | gain |", "|---|---|---|---|"]
    for name in SETS:
        errors = [row["errors"] for row in merge(rows) if row["set"] == name and {base, other} <= row["errors"].keys()]
        if errors:
            one, two = (float(np.mean([of_draw[method] for of_draw in errors])) for method in (base, other))
            lines.append(f"| {name} | {one:.1f} | {two:.1f} | {one - two:+.1f} |")
    return "\n".join(lines)


def merge(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One row for every draw, whenever its methods were run."""
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in rows:
        known = found.setdefault((row["set"], row["prior"], row["trial"]), {**row, "errors": {}})
        known["errors"] |= row["errors"]
    return list(found.values())


def count(rows: list[dict[str, Any]]) -> str:
    drawn = {prior: sum(row["prior"] == prior for row in rows) for prior in PRIORS}
    return ", ".join(f"{n} at prior {prior}" for prior, n in drawn.items() if n)


def report(rows: list[dict[str, Any]], costs: list[dict[str, Any]]) -> str:
    complete, adjusted = (
        [row for row in merge(rows) if row["errors"].keys() >= methods]
        for methods in (set(TABLE), {"boosting, prior known"})
    )
    parts = [
        "# Any classifier with the population's prior",
        f"Output of `python benchmarks/any_classifier.py`: {N_LABELED} labels and {N_UNLABELED} unlabelled rows of the "
        "paper's sixteen sets. Labels are 70 % positive\nwhere the population has .5, and balanced elsewhere. Test "
        "errors in percent, means over sets. Forests have 100 trees, `auto` is `AutoPNU` as of commit e67e8ea.\n"
        "Rules were chosen on other draws, of the first, third, ... set.",
        f"Tables of errors have all methods on the same draws: {count(complete)}.\n"
        f"Points gained by `PriorAdjusted` have more: {count(adjusted)}.",
    ]
    halves = {"All sets": SETS, "Sets that rules were chosen on": SETS[::2], "Sets that they were not": SETS[1::2]}
    for title, sets in halves.items():
        gains = ["Points gained over the model alone, with standard errors:", gains_table(rows, sets)]
        parts += [f"## {title}", means_table(complete, sets), *gains]
    parts += ["## Columns as given and as ranks, set by set", sets_table(complete, "PNU", "PNU, columns both")]
    if costs:
        words = (
            "Processor seconds, the least of three fits to one draw of each set, prior known. `PriorAdjusted` makes "
            "six fits of what it wraps, five\nof them to four fifths of the labels; the rest is for scores of held-out "
            "and unlabelled rows. The machine was busy\nwith other work, which shows in the greatest ratio of times "
            "around a tenth of a second."
        )
        parts += ["## What fits cost", words, costs_table(costs)]
    return "\n\n".join(parts) + "\n"


def main(arguments: list[str]) -> None:
    warnings.simplefilter("ignore")
    set_config(assume_finite=True, skip_parameter_validation=True)  # else every tree of every forest is checked
    for name, own in OF_AUTO.items():
        SUPERVISED[name] = MODELS[own]
    page, rows = Path("results/any-classifier.md"), Path("results/rows/any-classifier.jsonl")
    if arguments[:1] == ["--report"]:
        path = Path(arguments[1]) if len(arguments) > 1 else rows
    elif arguments[:1] == ["--costs"]:
        path = rows
        measure_costs(COSTS_FILE)
    else:
        trials, path, prior = (*arguments[:3], *("50", str(rows), "0")[len(arguments[:3]) :])
        path = Path(path)
        run(path, int(trials), float(prior), arguments[3:])
    page.write_text(report(read(path), read(COSTS_FILE)))


if __name__ == "__main__":
    main(sys.argv[1:])
