"""`pnulearn fit` on messy tables against a scikit-learn pipeline built by hand for each, and its cost on a large one.

python benchmarks/messy_tables.py [--draws 10] writes results/messy-tables.md
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from pnulearn import PNUClassifier
from pnulearn.laboratory.messy import MAKERS, MessyTable
from pnulearn.tables import learn_plan, read_table
from pnulearn.tables.model import fit_table

N_TRAIN, N_LABELED, N_TEST = 1_000, 100, 3_000
LARGE = (200_000, 30)


def by_hand(name: str):
    """What an analyst who knows the table would write, on values that are clean already."""
    number = make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler())
    tail = make_pipeline(FunctionTransformer(np.log), number)
    category = OneHotEncoder(handle_unknown="ignore", min_frequency=5, sparse_output=False)
    text = make_pipeline(
        TfidfVectorizer(min_df=2, sublinear_tf=True), TruncatedSVD(20, random_state=0), StandardScaler()
    )
    circle = FunctionTransformer(lambda hour: np.c_[np.cos(np.pi * hour / 12), np.sin(np.pi * hour / 12)])
    clip = make_pipeline(FunctionTransformer(lambda t: t.where(t < 200)), number)
    return {
        "customers": make_column_transformer(
            (tail, ["Einkommen"]),
            (number, ["Rabatt", "Tage"]),
            (category, ["Stadt"]),
            (StandardScaler(), ["Stammkunde"]),
        ),
        "tickets": make_column_transformer((category, ["channel"]), (tail, ["minutes open"]), (text, "message")),
        "sensors": make_column_transformer((tail, ["vibration"]), (clip, ["temperature"]), (circle, ["hour"])),
        "survey": make_column_transformer(
            (category, ["job", "party"]), (number, ["age", *(f"q{k}" for k in range(1, 9))])
        ),
    }[name]


def one_draw(name: str, seed: int, folder: Path) -> tuple[float, float, float]:
    """Test errors by command-line route and by hand, and that of always answering the larger class."""
    rng = np.random.default_rng(seed)
    whole = MAKERS[name](N_TRAIN + N_TEST, rng)
    prior = float(whole.truth.mean())
    chosen = rng.permutation(len(whole.truth))
    train, test = np.sort(chosen[:N_TRAIN]), np.sort(chosen[N_TRAIN:])
    labeled = np.sort(rng.choice(N_TRAIN, N_LABELED, replace=False))
    part, rest = take(whole, train), take(whole, test)
    part.write(folder / "train.csv", labeled)
    rest.write(folder / "test.csv", np.array([], dtype=int))
    fitted = fit_table(read_table(folder / "train.csv"), whole.label, prior=prior)
    answers = fitted.model.predict(read_table(folder / "test.csv")).labels == whole.words[1]
    pipeline = by_hand(name)
    y = np.full(N_TRAIN, np.nan)
    y[labeled] = part.truth[labeled]
    X = pipeline.fit_transform(pd.DataFrame(part.clean))
    model = PNUClassifier(prior=prior, random_state=0).fit(X, y)
    others = model.predict(pipeline.transform(pd.DataFrame(rest.clean))) == 1
    return np.mean(answers != rest.truth), np.mean(others != rest.truth), min(rest.truth.mean(), 1 - rest.truth.mean())


def take(table: MessyTable, rows: np.ndarray) -> MessyTable:
    clean = {name: np.asarray(values)[rows] for name, values in table.clean.items()}
    cells = {name: [values[row] for row in rows] for name, values in table.cells.items()}
    return MessyTable(clean, cells, table.truth[rows], table.label, table.words, table.delimiter, table.encoding)


def write_large(path: Path) -> None:
    """Numbers, tails, gaps, categories, cities, dates and flags, thirty columns in all."""
    rng = np.random.default_rng(0)
    n = LARGE[0]
    columns = {f"number {k}": rng.normal(size=n).round(4) for k in range(14)}
    columns |= {f"tail {k}": rng.lognormal(size=n).round(3) for k in range(4)}
    columns |= {f"gaps {k}": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n).round(3)) for k in range(3)}
    columns |= {f"kind {k}": rng.choice(list("abcdef"), n) for k in range(4)}
    columns |= {f"city {k}": np.char.add("city ", rng.integers(0, 90, n).astype(str)) for k in range(2)}
    columns |= {f"day {k}": np.datetime64("2020-01-01") + rng.integers(0, 2000, n) for k in range(2)}
    columns["member"] = rng.choice(["yes", "no"], n)
    pd.DataFrame(columns).to_csv(path, index=False)


def ours(path: str) -> int:
    table = read_table(path)
    return learn_plan(table).features(table)[0].shape[1]


def pandas_route(path: str) -> int:
    frame = pd.read_csv(path)
    for name in ("day 0", "day 1"):
        day = pd.to_datetime(frame.pop(name))
        frame[f"{name} age"] = (day.max() - day).dt.days
        for cycle, length in (("weekday", 7), ("dayofyear", 365.2425)):
            angle = 2 * np.pi * getattr(day.dt, cycle) / length
            frame[f"{name} {cycle} cos"], frame[f"{name} {cycle} sin"] = np.cos(angle), np.sin(angle)
    words = [name for name in frame if name.startswith(("kind", "member"))]
    cities = [name for name in frame if name.startswith("city")]
    tails = [name for name in frame if name.startswith("tail")]
    numbers = [name for name in frame if name not in {*words, *cities, *tails}]
    number = make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler())
    few = OneHotEncoder(max_categories=46, handle_unknown="infrequent_if_exist", sparse_output=False)
    tail = make_pipeline(FunctionTransformer(np.log), number)
    return (
        make_column_transformer((number, numbers), (tail, tails), (few, [*words, *cities]))
        .fit_transform(frame)
        .shape[1]
    )


def cost(route: str, path: Path) -> tuple[float, float, int]:
    """Processor seconds and peak memory in a process of its own."""
    out = subprocess.run(
        [sys.executable, __file__, "--route", route, str(path)], capture_output=True, text=True, check=True
    )
    seconds, memory, n_features = out.stdout.split()
    return float(seconds), float(memory), int(n_features)


def main(draws: int) -> None:
    lines = [
        "# Messy tables: the plan of the columns without options, against pipelines built by hand",
        "",
        f"{N_TRAIN} rows of which {N_LABELED} have a label, {N_TEST} test rows, {draws} draws, both given the prior.",
        "By hand: a ColumnTransformer by somebody who knows the table, on clean values, and the same classifier.",
        "Test errors in %, with the standard error of the mean difference.",
        "",
        "| table | `pnulearn fit` | by hand | difference | larger class |",
        "|---|---|---|---|---|",
    ]
    with tempfile.TemporaryDirectory() as folder:
        for name in MAKERS:
            found = 100 * np.array([one_draw(name, seed, Path(folder)) for seed in range(draws)])
            gap = found[:, 0] - found[:, 1]
            a, b, c = found.mean(axis=0)
            lines.append(
                f"| {name} | {a:.1f} | {b:.1f} | {gap.mean():+.1f} ± {gap.std(ddof=1) / draws**0.5:.1f} | {c:.1f} |"
            )
            print(lines[-1], flush=True)
        write_large(Path(folder, "large.csv"))
        costs = {route: cost(route, Path(folder, "large.csv")) for route in ("ours", "pandas")}
    lines += ["", f"Reading, planning and transforming {LARGE[0]:,} x {LARGE[1]} mixed cells, one thread:", ""]
    lines += ["| route | processor seconds | peak memory | features |", "|---|---|---|---|"]
    for route, (seconds, memory, n_features) in costs.items():
        word = "`read_table`, `learn_plan`, `features`" if route == "ours" else "pandas, ColumnTransformer"
        lines.append(f"| {word} | {seconds:.1f} | {memory:.2f} GB | {n_features} |")
        print(lines[-1], flush=True)
    Path(__file__).parents[1].joinpath("results", "messy-tables.md").write_text(
        "\n".join(lines) + "\n", encoding="utf-8"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--route", nargs=2)
    arguments = parser.parse_args()
    if arguments.route:
        start = time.process_time()
        n = {"ours": ours, "pandas": pandas_route}[arguments.route[0]](arguments.route[1])
        print(time.process_time() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, n)
    else:
        main(arguments.draws)
