"""`pnulearn fit` on seven public tables against skrub with boosting, a forest and logistic regression.

    python benchmarks/public_tables.py --tables FOLDER [--draws 10] [--minutes 10] writes results/public-tables.md

Half of a table's rows, at most 1,000, are given; 100 of them have a label, drawn at random from the table (and said to
be), or by class: 50 or 70 % positives in turn, with nothing said. Errors are those on the other rows, at most 2,000.
The others see the labelled rows only: `skrub.tabular_pipeline` with scikit-learn's classifiers and their defaults. Rows
are appended to results/rows/public-tables.jsonl as they come, and a second run continues; --draws 0 only writes the
page. The tables are those of benchmarks/verdicts.py.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
import zlib
from collections import defaultdict
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from skrub import tabular_pipeline
from verdicts import read_public

from pnulearn import TableClassifier

RESULTS = Path(__file__).parents[1] / "results"
ROWS = RESULTS / "rows" / "public-tables.jsonl"
N_LABELS, MOST_ROWS, MOST_TESTED = 100, 1_000, 2_000
RATIOS = (0.5, 0.7)  # share of positives among labels that are drawn by class, in turn
WAYS = ("random", "by class")
SKRUB: dict[str, Callable[[], Any]] = {
    "skrub, boosting": lambda: HistGradientBoostingClassifier(random_state=0),
    "skrub, forest": lambda: RandomForestClassifier(random_state=0),
    "skrub, logistic regression": lambda: LogisticRegression(max_iter=1000),
}
OWN = {"pnulearn fit": "pnu", "pnulearn fit --learner auto": "auto"}
METHODS = (*OWN, *SKRUB)


def draw(n_rows: int, positive: np.ndarray, name: str, way: str, number: int) -> tuple[np.ndarray, np.ndarray]:
    """Places of the given rows, labelled ones first, and of the test rows."""
    rng = np.random.default_rng([number, zlib.crc32(f"{name} {way}".encode())])
    order = rng.permutation(n_rows)
    if way == "by class":
        n_positive = round(N_LABELS * RATIOS[number % len(RATIOS)])
        sides = order[positive[order]], order[~positive[order]]
        labeled = np.concatenate([side[:n] for side, n in zip(sides, (n_positive, N_LABELS - n_positive), strict=True)])
        order = np.concatenate([labeled, order[~np.isin(order, labeled)]])
    n_given = min(MOST_ROWS, n_rows // 2)
    return order[:n_given], order[n_given:][:MOST_TESTED]


def one_fit(method: str, given: pd.DataFrame, y: np.ndarray, test: pd.DataFrame, way: str) -> tuple[np.ndarray, float]:
    """Whether test rows are called positive, and processor seconds of the fit."""
    start = time.process_time()
    if method in SKRUB:
        model = tabular_pipeline(SKRUB[method]()).fit(given.iloc[:N_LABELS], y[:N_LABELS])
    else:
        label = pd.Series(np.where(y, "yes", "no"), name="the label").where(np.arange(len(y)) < N_LABELS)
        sampling: Any = "random" if way == "random" else None
        model = TableClassifier(learner=OWN[method], sampling=sampling).fit(given, label)  # type: ignore[arg-type]
    seconds = time.process_time() - start
    answers = model.predict(test)
    return answers == "yes" if method in OWN else answers.astype(bool), seconds


def run(tables: dict[str, tuple[pd.DataFrame, pd.Series]], draws: int, minutes: float) -> bool:
    """Whether all fits are done."""
    done = {(row["table"], row["way"], row["draw"], row["method"]) for row in read_rows()}
    end = time.monotonic() + 60 * minutes
    with ROWS.open("a", encoding="utf-8") as out:
        for number, (name, (table, truth)), way in product(range(draws), tables.items(), WAYS):
            missing = [method for method in METHODS if (name, way, number, method) not in done]
            if not missing:
                continue
            if time.monotonic() > end:
                return False
            given, test = draw(len(table), truth.to_numpy(), name, way, number)
            # By class, more of one class are labelled than others; test rows then miss these. They get weights.
            positive = truth.to_numpy()
            share, n = positive.mean(), np.bincount(positive[test], minlength=2)
            weight = np.where(positive[test], share / n[1], (1 - share) / n[0])
            frames = [table.iloc[rows].reset_index(drop=True) for rows in (given, test)]
            for method in missing:
                called, seconds = one_fit(method, frames[0], positive[given], frames[1], way)
                error = float(weight @ (called != positive[test]))
                row = {"table": name, "way": way, "draw": number, "method": method}
                print(json.dumps(row | {"error": round(error, 5), "seconds": round(seconds, 3)}), file=out, flush=True)
    return True


def read_rows() -> list[dict[str, Any]]:
    return [json.loads(line) for line in ROWS.read_text(encoding="utf-8").splitlines()] if ROWS.exists() else []


def report(rows: list[dict[str, Any]]) -> str:
    text = "\n".join((__doc__ or "").split("\n\n")[2:]).strip()
    lines = ["# `pnulearn fit` on public tables", "", "Output of `python benchmarks/public_tables.py`.", text, ""]
    lines += ["Errors in percent, means over draws. The gap is that of `--learner auto` to the lowest of skrub."]
    cells: dict[tuple[str, str], dict[int, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    for row in rows:
        cells[row["way"], row["table"]][row["draw"]][row["method"]] = 100 * row["error"]
    for way in WAYS:
        lines += ["", f"## Labels {'at random' if way == 'random' else way}", ""]
        lines += [f"| table | draws | {' | '.join(METHODS)} | gap |", "|---" * (len(METHODS) + 3) + "|"]
        for (own, name), of_draw in cells.items():
            whole = [found for found in of_draw.values() if len(found) == len(METHODS)]
            if own != way or not whole:
                continue
            errors = np.array([[found[method] for method in METHODS] for found in whole])
            best = len(OWN) + int(errors.mean(axis=0)[len(OWN) :].argmin())
            gap = errors[:, 1] - errors[:, best]
            spread = gap.std(ddof=1) / len(gap) ** 0.5 if len(gap) > 1 else np.nan
            means = " | ".join(f"{value:.1f}" for value in errors.mean(axis=0))
            lines.append(f"| {name} | {len(whole)} | {means} | {gap.mean():+.1f} ± {spread:.1f} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tables", type=Path, help="folder with the seven public tables")
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--minutes", type=float, default=float("inf"), help="stop after this time")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    finished = run(read_public(asked.tables), asked.draws, asked.minutes) if asked.tables else True
    RESULTS.joinpath("public-tables.md").write_text(report(read_rows()), encoding="utf-8")
    print("done" if finished else "more to do")
