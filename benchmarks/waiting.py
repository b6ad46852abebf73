"""Processor seconds of slow fits: losses without closed form and the baselines, each with its whole grid.

Losses: the default search (1,008 models, or 600 of losses without closed form) on 350 rows of two sets, and 45 models
of 20,000 generated rows. Baselines: their searches on 350 rows of both sets and 1,000 of banana. All by five folds, but
for the squared loss, whose default leaves one row out after the other; every fit in a process and with one BLAS thread
of its own, for at most `--limit` processor seconds. Processor times of one fit move by a third on a shared machine, so
that losses with 350 rows take turns, `--rounds` of them, and medians are kept: read ratios. Real data from the folder
PNULEARN_DATA, otherwise generated data of the same shape. Every fit is kept in results/rows/waiting.jsonl as soon as it
is done, and the pages are drawn from there.

    python benchmarks/waiting.py [losses] [large] [baselines] [--only NAME ...] [--limit 120] [--rounds 5]
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from statistics import median

from page_section import RESULTS, write_section

ROWS = RESULTS / "rows" / "waiting.jsonl"
SETS = {"banana": 2, "waveform": 21, "generated": 10}
LOSSES = ("squared", "logistic", "double_hinge")
BASELINES = ("EntropyRegularizedClassifier", "LaplacianSVM", "SMIRClassifier", "WellSVM", "S4VM")
LARGE = 20_000
Fit = tuple[str, str, int]  # what, set, rows

ONE = """
import json, resource, sys, time, warnings
folder, what, name, dimension, n, limit = sys.argv[1:4] + list(map(int, sys.argv[4:7]))
resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
sys.path.insert(0, folder)
import numpy as np
from real_sets import real_or_gaussian_set
from pnulearn import PNUClassifier, baselines
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
options = {"prior": 0.5, "random_state": 0}
if name == "generated":
    truth = rng.choice([1, -1], size=n)
    X = rng.normal(size=(n, dimension))
    X[:, :3] += truth[:, None] / 2
    y = np.where(np.arange(n) < 200, truth, np.nan)
    options |= {"mix": [-0.5, 0.0, 0.5], "alpha": [1e-3, 1e-2, 1e-1], "bandwidth": 4.0}
else:
    X, truth = real_or_gaussian_set(name, dimension)
    positive, negative = (rng.permutation(np.flatnonzero(truth == label)) for label in (1, -1))
    half = (n - 50) // 2
    rows = np.concatenate([positive[:35], negative[:15], positive[35:35 + half], negative[15:15 + half]])
    X, y = X[rows], np.where(np.arange(len(rows)) < 50, truth[rows], np.nan)
model = getattr(baselines, what)(**options) if hasattr(baselines, what) else PNUClassifier(loss=what, **options)
start = time.process_time()
model.fit(X, y)
found = {"seconds": time.process_time() - start, "risk": float(model.search_.zero_one.min())}
print(json.dumps(found | {"megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))
"""


def fits(what: str) -> Iterator[Fit]:
    """All fits of one page."""
    if what == "losses":
        yield from ((loss, name, 350) for name in ("banana", "waveform") for loss in LOSSES)
    elif what == "large":
        yield from ((loss, "generated", LARGE) for loss in LOSSES)
    else:
        settings = (("banana", 350), ("waveform", 350), ("banana", 1000))
        yield from ((baseline, name, n_rows) for name, n_rows in settings for baseline in BASELINES)


def measure(fit: Fit, limit: int) -> dict:
    """Seconds, the least validation risk and memory; nothing but the limit if it takes too long."""
    what, name, n_rows = fit
    env = dict(os.environ) | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    given = [str(Path(__file__).parent), what, name, *map(str, (SETS[name], n_rows, limit))]
    done = subprocess.run([sys.executable, "-c", ONE, *given], env=env, stdout=subprocess.PIPE, text=True)
    row = {"what": what, "set": name, "rows": n_rows, "limit": limit}
    if done.returncode == -signal.SIGXCPU:
        return row
    done.check_returncode()
    return row | json.loads(done.stdout.splitlines()[-1])


def take_turns(fits: list[Fit], rounds: int, limit: int) -> Iterator[dict]:
    """One row of every fit, with the median of its seconds: each round measures all of them once."""
    turns = [[measure(fit, limit) for fit in fits] for _ in range(rounds)]
    for rows in zip(*turns, strict=True):
        in_time = [row["seconds"] for row in rows if "seconds" in row]
        yield rows[-1] | {"seconds": median(in_time), "turns": rounds} if len(in_time) == rounds else rows[0]


def known() -> dict[Fit, dict]:
    """The last row of every fit."""
    lines = ROWS.read_text().splitlines() if ROWS.exists() else []
    return {(row["what"], row["set"], row["rows"]): row for row in map(json.loads, lines)}


def draw(page: Path) -> None:
    """All sections, from the rows at hand."""
    rows = known()
    tables = {
        "losses": (
            "Other losses",
            "the default search of 350 rows, one thread, medians of turns taken in alternation: 1,008 models of the "
            "squared loss, every row judged by models without it in closed form, or by five folds 600 models of "
            "losses without closed form.",
        ),
        "large": (
            "Other losses, 20,000 rows",
            "45 models (three mixes, three alphas, one bandwidth, five folds) and the final ones, 500 centres.",
        ),
        "baselines": (
            "Baselines",
            "the whole grid by five folds; the smallest validation risk shows that they still work.",
        ),
    }
    for what, (title, about) in tables.items():
        own = {fit: rows[fit] for fit in fits(what) if fit in rows}  # ratios to a fit of another day would mean little
        lines = [line(row, own.get(("squared", *fit[1:]))) for fit, row in own.items()]
        head = "| fit | set | rows | s | x squared loss | least risk | MB |\n|---|---|---|---|---|---|---|"
        if lines:
            text = f"`python benchmarks/waiting.py {what}`: {about}"
            write_section(page, title, "\n\n".join([text, "\n".join([head, *lines])]))


def line(row: dict, squared: dict | None) -> str:
    start = f"| {row['what']} | {row['set']} | {row['rows']:,} |"
    if "seconds" not in row:
        return f"{start} over {row['limit']} | | | |"
    times = f"{row['seconds'] / squared['seconds']:.1f}" if squared and "seconds" in squared else ""
    return f"{start} {row['seconds']:.1f} | {times} | {row['risk']:.3f} | {row['megabytes']:.0f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", default=["losses", "large", "baselines"])
    parser.add_argument("--only", nargs="*", help="these losses and baselines alone")
    parser.add_argument("--rows", type=int, help="this number of rows alone")
    parser.add_argument("--limit", type=int, default=120)
    parser.add_argument("--rounds", type=int, default=5, help="of turns that losses with 350 rows take")
    parser.add_argument("--out", type=Path, default=RESULTS / "fast.md")
    given = parser.parse_args()
    for what in given.what:
        wanted = [
            fit for fit in fits(what) if (not given.only or fit[0] in given.only) and given.rows in (None, fit[2])
        ]
        # all losses of one set take turns; other fits, which take long, are measured once and one by one
        groups = groupby(wanted, key=lambda fit: fit[1] if what == "losses" else fit)
        for group in (list(group) for _, group in groups):
            for row in take_turns(group, given.rounds if what == "losses" else 1, given.limit):
                with ROWS.open("a") as file:
                    file.write(json.dumps(row) + "\n")
                print(line(row, None), flush=True)
            draw(given.out)


if __name__ == "__main__":
    main()
