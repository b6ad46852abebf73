"""Time and memory of fit and predict on a large mixed table, beside pandas, ColumnTransformer and the same classifier.

    python benchmarks/wide_tables.py writes results/wide-tables.md

200,000 x 30 cells as CSV, 500 of the rows labelled. Every step runs in a process of its own with one thread; processor
seconds and peak memory are those of that process, imports included.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

N_ROWS, N_LABELED, N_UNLABELED = 200_000, 500, 10_000
PRIOR = 0.3


def write_table(folder: Path) -> None:
    """Numbers, tails, gaps, categories, cities, dates and flags, thirty columns, and a label that some decide."""
    rng = np.random.default_rng(0)
    n = N_ROWS
    columns = {f"number {k}": rng.normal(size=n).round(4) for k in range(14)}
    columns |= {f"tail {k}": rng.lognormal(size=n).round(3) for k in range(4)}
    columns |= {f"gaps {k}": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n).round(3)) for k in range(3)}
    columns |= {f"kind {k}": rng.choice(list("abcdef"), n) for k in range(4)}
    city = rng.integers(0, 90, (2, n))
    columns |= {f"city {k}": np.char.add("city ", city[k].astype(str)) for k in range(2)}
    columns |= {f"day {k}": np.datetime64("2020-01-01") + rng.integers(0, 2000, n) for k in range(2)}
    columns["member"] = rng.choice(["yes", "no"], n)
    score = columns["number 0"] + np.log(columns["tail 0"] + 1e-3) + (city[0] % 3 == 0) + (columns["kind 0"] == "a")
    truth = score + 0.5 * rng.normal(size=n) > np.quantile(score, 1 - PRIOR)
    np.save(folder / "truth.npy", truth)
    labeled = np.isin(np.arange(n), rng.choice(n, N_LABELED, replace=False))
    columns["bought"] = np.where(labeled, np.where(truth, "yes", "no"), "")
    pd.DataFrame(columns).to_csv(folder / "table.csv", index=False)


def fit_ours(folder: Path) -> None:
    from pnulearn import TableClassifier

    TableClassifier(prior=PRIOR).fit(folder / "table.csv", "bought").save(folder / "ours.pnu")


def predict_ours(folder: Path) -> None:
    from pnulearn.cli import run

    names = [str(folder / name) for name in ("table.csv", "ours.pnu", "ours.csv")]
    run(["predict", names[0], "--model", names[1], "--out", names[2], "--only", "--quiet"])


def read_by_hand(folder: Path) -> pd.DataFrame:
    frame = pd.read_csv(folder / "table.csv")
    for name in ("day 0", "day 1"):
        day = pd.to_datetime(frame.pop(name))
        frame[f"{name} age"] = (day.max() - day).dt.days
        for cycle, length in (("weekday", 7), ("dayofyear", 365.2425)):
            angle = 2 * np.pi * getattr(day.dt, cycle) / length
            frame[f"{name} {cycle} cos"], frame[f"{name} {cycle} sin"] = np.cos(angle), np.sin(angle)
    return frame


def fit_by_hand(folder: Path) -> None:
    from pnulearn import PNUClassifier

    frame = read_by_hand(folder)
    y = frame.pop("bought").to_numpy(dtype=object)
    words = [name for name in frame if name.startswith(("kind", "member", "city"))]
    tails = [name for name in frame if name.startswith("tail")]
    numbers = [name for name in frame if name not in {*words, *tails}]
    number = make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler())
    few = OneHotEncoder(max_categories=46, handle_unknown="infrequent_if_exist", sparse_output=False)
    tail = make_pipeline(FunctionTransformer(np.log1p), number)
    columns = make_column_transformer((number, numbers), (tail, tails), (few, words))
    X = columns.fit_transform(frame)
    unlabeled = np.flatnonzero(pd.isna(y))
    chosen = np.random.default_rng(0).choice(unlabeled, N_UNLABELED, replace=False)
    rows = np.sort(np.concatenate([np.flatnonzero(~pd.isna(y)), chosen]))
    model = PNUClassifier(prior=PRIOR, random_state=0).fit(X[rows], y[rows])
    joblib.dump((columns, model), folder / "hand.joblib")


def predict_by_hand(folder: Path) -> None:
    columns, model = joblib.load(folder / "hand.joblib")
    X = columns.transform(read_by_hand(folder))
    answers = {"predicted_bought": model.predict(X), "probability_yes": model.predict_proba(X)[:, 1].round(6)}
    pd.DataFrame(answers).to_csv(folder / "hand.csv", index=False)


STEPS = {
    "fit_ours": fit_ours,
    "fit_by_hand": fit_by_hand,
    "predict_ours": predict_ours,
    "predict_by_hand": predict_by_hand,
}
WORDS = {"ours": "`pnulearn fit`, `pnulearn predict`", "by_hand": "pandas, ColumnTransformer, PNUClassifier"}


def cost(step: str, folder: Path) -> tuple[float, float]:
    """Processor seconds and peak memory in GB."""
    command = [sys.executable, __file__, "--step", step, str(folder)]
    seconds, memory = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    return float(seconds), float(memory)


def report(folder: Path, costs: dict[str, tuple[float, float]]) -> str:
    truth = np.load(folder / "truth.npy")
    lines = [
        f"# {N_ROWS:,} x 30 mixed cells: time and memory of fit and predict",
        "",
        f"A CSV file with {N_LABELED} labels; both sides learn from {N_UNLABELED:,} of the unlabelled rows, which is "
        "the default of `pnulearn fit`, are given the prior, and predict all rows. One thread, one process for each "
        "step, processor seconds and peak memory with imports. `python benchmarks/wide_tables.py`.",
        "",
        "| route | fit | peak memory | predict | peak memory | error on all rows |",
        "|---|---|---|---|---|---|",
    ]
    for route, words in WORDS.items():
        file = folder / ("ours.csv" if route == "ours" else "hand.csv")
        error = np.mean((pd.read_csv(file)["predicted_bought"] == "yes") != truth)
        fit, predict = costs[f"fit_{route}"], costs[f"predict_{route}"]
        lines.append(
            f"| {words} | {fit[0]:.1f} s | {fit[1]:.2f} GB | {predict[0]:.1f} s | {predict[1]:.2f} GB | "
            f"{100 * error:.1f} % |"
        )
    ratios = [costs[f"{step}_ours"][0] / costs[f"{step}_by_hand"][0] for step in ("fit", "predict")]
    lines += ["", f"Processor time, ours over by hand: fit {ratios[0]:.2f}, predict {ratios[1]:.2f}."]
    return "\n".join(lines) + "\n"


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_table(folder)
        costs = {}
        for step in STEPS:
            costs[step] = cost(step, folder)
            print(step, *costs[step], flush=True)
        text = report(folder, costs)
    Path(__file__).parents[1].joinpath("results", "wide-tables.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--step", nargs=2)
    arguments = parser.parse_args()
    if arguments.step:
        STEPS[arguments.step[0]](Path(arguments.step[1]))
        print(time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20)
    else:
        main()
