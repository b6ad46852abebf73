"""`monitor`: how often it raises a false alarm in a year, and how long it takes to notice a change.

    python benchmarks/monitoring.py rows.jsonl --runs 500 > table.md

A year is 52 windows of 500 or 2,000 rows, of which 20, 50 or 100 are labelled at random. The model's answers are right
with the same probability in both classes. `none`: nothing changes. `varies`: the prior and the error of every window
vary with a standard deviation of .01, the default tolerance. `prior`: the share of positives rises by .1 after the 12th
window. `error`: the error rate rises by .05 after it. `false` is the share of years with any alarm before a change
(binomial standard error: 1 point for 500 runs at 5 %), `found` the share of years in which a quantity raises an alarm
after it, `delay` the median number of windows until then (1 is the first window after the change). `--runs` is for
`none`; all others have two fifths of them. Rows are appended as they come; an interrupted run continues, and `--runs 0`
only prints.
"""

from __future__ import annotations

import os

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")  # before NumPy starts its threads

import argparse
import json
from collections import defaultdict
from itertools import product
from pathlib import Path
from zlib import crc32

import numpy as np

from pnulearn._problem.labels import UNLABELED, Labels
from pnulearn.metrics._monitoring import QUANTITIES, AlarmRules, ChangeDetector, error_and_prior

WINDOWS, CHANGE_AFTER = 52, 12
SIZES = ((500, 20), (500, 50), (2000, 100))  # rows and labels per window
LEVELS = ((0.3, 0.1), (0.1, 0.05))  # share of positives, error rate
CHANGES = {"none": (0.0, 0.0), "varies": (0.0, 0.0), "prior": (0.1, 0.0), "error": (0.0, 0.05)}
SPREAD = 0.01


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rows", type=Path, help="JSON lines that results are appended to")
    parser.add_argument("--runs", type=int, default=500, help="of every cell; 0 prints only")
    options = parser.parse_args()
    done = {(row["cell"], row["run"]) for row in _read(options.rows)}
    with open(options.rows, "a") as file:
        for run in range(options.runs):
            for (rows, labels), (prior, error), change in product(SIZES, LEVELS, CHANGES):
                cell = f"{rows} {labels} {prior} {error} {change}"
                if (cell, run) not in done and (change == "none" or run < 0.4 * options.runs):
                    rng = np.random.default_rng([crc32(cell.encode()), run])
                    raised = watch(rng, rows, labels, prior, error, change)
                    print(json.dumps({"cell": cell, "run": run, "raised": raised}), file=file, flush=True)
    print(table(_read(options.rows)))


def watch(
    rng: np.random.Generator, n_rows: int, n_labels: int, prior: float, error: float, change: str
) -> dict[str, int]:
    """The window (from 0) in which each quantity raises an alarm, for a year."""
    rules = AlarmRules(horizon=WINDOWS)
    detectors = {name: ChangeDetector() for name in QUANTITIES}
    for window in range(WINDOWS + 1):  # the first one is the reference
        rise = CHANGES[change] if window > CHANGE_AFTER else (0.0, 0.0)
        noise = rng.normal(0, SPREAD, 2) if change == "varies" else np.zeros(2)
        p, e = np.clip(np.array([prior, error]) + rise + noise, 0.001, 0.999)
        truth = rng.random(n_rows) < p
        called = np.where(rng.random(n_rows) < e, ~truth, truth)
        codes = np.full(n_rows, UNLABELED)
        chosen = rng.choice(n_rows, n_labels, replace=False)
        codes[chosen] = truth[chosen]
        wrong, positive = error_and_prior(Labels(np.array([0, 1]), codes), called)
        shares = {"predicted": (float(called.mean()), float(n_rows))}
        shares |= {name: (one.value, max(one.worth, 1.0)) for name, one in (("error", wrong), ("prior", positive))}
        for name, (share, n) in shares.items():
            detectors[name] = detectors[name].add(str(window), share, n, QUANTITIES[name], rules)[0]
    return {name: int(one.raised) for name, one in detectors.items() if one.raised is not None}


def table(rows: list[dict]) -> str:
    """Markdown: false alarms and delays by cell."""
    cells = defaultdict(list)
    for row in rows:
        cells[row["cell"]].append(row["raised"])
    lines = [
        "| rows | labels | prior | error | change | runs | false | found: error | prior | predicted "
        "| delay: error | prior | predicted |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for cell, runs in cells.items():
        head, change = cell.split(" ", 4)[:4], cell.split(" ", 4)[4]
        changes = change in ("prior", "error")
        last = CHANGE_AFTER if changes else WINDOWS
        false = np.mean([any(at <= last for at in raised.values()) for raised in runs])
        found, delay = [], []
        for name in ("error", "prior", "predicted"):
            late = [raised[name] - CHANGE_AFTER for raised in runs if raised.get(name, -1) > CHANGE_AFTER]
            found.append(f"{len(late) / len(runs):.0%}" if changes else "")
            delay.append(f"{np.median(late):.0f}" if changes and len(late) > len(runs) / 2 else "")
        lines.append("| " + " | ".join([*head, change, str(len(runs)), f"{false:.1%}", *found, *delay]) + " |")
    return "\n".join(lines)


def _read(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


if __name__ == "__main__":
    main()
