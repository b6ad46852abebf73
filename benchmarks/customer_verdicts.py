"""The verdict of `pnulearn fit` compared with the truth: customers of a German Excel export, labels redrawn.

    python benchmarks/customer_verdicts.py [--draws 50] writes results/customer-verdicts.md

5,000 rows of which 25 buyers and 15 others have a label; the model is evaluated on 20,000 other rows. The
rows of the table stay, the labels are drawn again. Every fit is appended to results/rows/customer-verdicts.jsonl when
it is done, and a second run continues where the first stopped.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import warnings
from pathlib import Path

import numpy as np
from messy_tables import read_rows, take

from experiments.messy_tables import MessyTable, make_customers
from pnulearn import TableClassifier
from pnulearn.tables import read_table
from pnulearn.tables._verdict import reach_verdict

N_ROWS, N_NEW = 5_000, 20_000
N_POSITIVE, N_NEGATIVE = 25, 15
RESULTS = Path(__file__).parents[1] / "results"
ROWS = RESULTS / "rows" / "customer-verdicts.jsonl"
WAYS = {"nothing said": None, "a range, 0.15..0.4": (0.15, 0.4), "the share itself": 0.25}


def one_fit(table: MessyTable, new: MessyTable, draw: int, way: str, folder: Path) -> dict:
    rng = np.random.default_rng(draw)
    groups = np.flatnonzero(table.truth), np.flatnonzero(~table.truth)
    chosen = [rng.choice(group, n, replace=False) for group, n in zip(groups, (N_POSITIVE, N_NEGATIVE), strict=True)]
    table.write(folder / "customers.csv", np.concatenate(chosen))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a doubted prior stands in the verdict
        fitted = TableClassifier(prior=WAYS[way], random_state=draw).fit(folder / "customers.csv", table.label).fitted_
    verdict = reach_verdict(fitted.model, fitted.narrow_prior())
    called = fitted.model.predict(read_table(folder / "new.csv")).labels == table.words[1]
    found = verdict.quality
    measures = {"error": found.error, "precision": found.precision[1], "recall": found.recall[1]}
    return {
        "way": way,
        "draw": draw,
        "headline": verdict.headline.split(":")[0].split(",")[0],
        "first": verdict.concerns[0].name if verdict.concerns else None,
        "truth": {
            "error": float(np.mean(called != new.truth)),
            "precision": float(new.truth[called].mean()) if called.any() else 0.0,
            "recall": float(called[new.truth].mean()),
        },
        "said": {name: [one.value, one.low, one.high] for name, one in measures.items()},
        "always": float(min(new.truth.mean(), 1 - new.truth.mean())),
        "columns": fitted.model.plan.kinds,
    }


def run(draws: int) -> None:
    whole = make_customers(N_ROWS + N_NEW, np.random.default_rng(0))
    table, new = take(whole, np.arange(N_ROWS)), take(whole, np.arange(N_ROWS, N_ROWS + N_NEW))
    done = {(row["way"], row["draw"]) for row in read_rows(ROWS)}
    with tempfile.TemporaryDirectory() as folder, open(ROWS, "a", encoding="utf-8") as out:
        new.write(Path(folder, "new.csv"), np.array([], dtype=int))
        for way in WAYS:
            for draw in range(draws):
                if (way, draw) not in done:
                    row = one_fit(table, new, draw, way, Path(folder))
                    print(json.dumps(row, ensure_ascii=False), file=out, flush=True)


def report(rows: list[dict]) -> str:
    lines = [
        "# The verdict of `pnulearn fit` on a customer table, compared with the truth",
        "",
        f"{N_ROWS:,} customers in a German Excel export, {N_POSITIVE} buyers and {N_NEGATIVE} others "
        f"labelled, {N_NEW:,} test rows; labels are redrawn, the rows stay. The only options are `--label` and, "
        "where the first column has one, knowledge about the share of buyers, which is a quarter. "
        "`python benchmarks/customer_verdicts.py` continues where the last run stopped.",
        "",
        f"Columns used: {', '.join(f'{name} ({kind})' for name, kind in rows[0]['columns'].items())}.",
        "",
        "| share of buyers | draws | error, % | estimated | always the larger class | "
        "95 % coverage: error | precision | recall | mean width, points |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for way in {row["way"]: None for row in rows}:
        part = [row for row in rows if row["way"] == way]
        held = {name: np.mean([_holds(row, name) for row in part]) for name in ("error", "precision", "recall")}
        truth = 100 * np.mean([row["truth"]["error"] for row in part])
        said = 100 * np.mean([row["said"]["error"][0] for row in part])
        width = 100 * np.mean([row["said"]["error"][2] - row["said"]["error"][1] for row in part])
        lines.append(
            f"| {way} | {len(part)} | {truth:.1f} | {said:.1f} | {100 * part[0]['always']:.1f} | {held['error']:.2f} | "
            f"{held['precision']:.2f} | {held['recall']:.2f} | {width:.0f} |"
        )
    lines += [
        "",
        "The first words of the verdict, and how often the model is better than always answering the larger class:",
        "",
        "| share of buyers | first words | draws | better than the larger class | mean error, % |",
        "|---|---|---|---|---|",
    ]
    for way in WAYS:
        for words in ("Useful", "Use with care", "Do not rely on this model yet"):
            part = [row for row in rows if row["way"] == way and row["headline"] == words]
            if part:
                better = sum(row["truth"]["error"] < row["always"] for row in part)
                error = 100 * np.mean([row["truth"]["error"] for row in part])
                lines.append(f"| {way} | {words} | {len(part)} | {better} | {error:.1f} |")
    return "\n".join(lines) + "\n"


def _holds(row: dict, name: str) -> bool:
    _, low, high = row["said"][name]
    return low <= row["truth"][name] <= high


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=50, help="0 only writes what the rows at hand say")
    run(parser.parse_args().draws)
    RESULTS.joinpath("customer-verdicts.md").write_text(report(read_rows(ROWS)), encoding="utf-8")
