"""`pnulearn fit` on messy tables against a scikit-learn pipeline built by hand for each.

    python benchmarks/messy_tables.py [--draws 20] writes results/messy-tables.md

Every draw is appended to results/rows/messy-tables.jsonl when it is done, and a second run goes on where the first
stopped.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from experiments.messy_tables import MAKERS, MessyTable
from pnulearn import PNUClassifier, TableClassifier
from pnulearn.tables import read_table

N_TRAIN, N_LABELED, N_TEST = 1_000, 100, 3_000
RESULTS = Path(__file__).parents[1] / "results"
ROWS = RESULTS / "rows" / "messy-tables.jsonl"


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
    fitted = TableClassifier(prior=prior).fit(folder / "train.csv", whole.label).fitted_
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


def read_rows(path: Path) -> list[dict]:
    """Rows that earlier runs wrote."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def run(draws: int) -> None:
    done = {(row["table"], row["draw"]) for row in read_rows(ROWS)}
    with tempfile.TemporaryDirectory() as folder, open(ROWS, "a", encoding="utf-8") as out:
        for draw in range(draws):
            for name in MAKERS:
                if (name, draw) not in done:
                    ours, others, always = map(float, one_draw(name, draw, Path(folder)))
                    row = {"table": name, "draw": draw, "ours": ours, "by hand": others, "always": always}
                    print(json.dumps(row), file=out, flush=True)


def report(rows: list[dict]) -> str:
    lines = [
        "# Messy tables: the plan of the columns without options, against pipelines built by hand",
        "",
        f"{N_TRAIN} rows of which {N_LABELED} have a label, {N_TEST} test rows, both given the prior.",
        "By hand: a ColumnTransformer by somebody who knows the table, on clean values, and the same classifier.",
        "Test errors in %, with the standard error of the mean difference. `python benchmarks/messy_tables.py`.",
        "",
        "| table | draws | `pnulearn fit` | by hand | difference | larger class |",
        "|---|---|---|---|---|---|",
    ]
    for name in MAKERS:
        part = [row for row in rows if row["table"] == name]
        found = 100 * np.array([[row["ours"], row["by hand"], row["always"]] for row in part])
        gap = found[:, 0] - found[:, 1]
        a, b, c = found.mean(axis=0)
        error = gap.std(ddof=1) / len(part) ** 0.5
        lines.append(f"| {name} | {len(part)} | {a:.1f} | {b:.1f} | {gap.mean():+.1f} ± {error:.1f} | {c:.1f} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=20, help="0 only writes what the rows at hand say")
    run(parser.parse_args().draws)
    RESULTS.joinpath("messy-tables.md").write_text(report(read_rows(ROWS)), encoding="utf-8")
