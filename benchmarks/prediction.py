"""Microseconds per row of predictions, next to an SVC with about as many support vectors as there are centres.

Default settings (500 centres, averaged bandwidths), several numbers of columns. Both take turns in one process, one
BLAS thread, processor time, the least of several rounds; two threads are judged by the clock. The ratio per row and
centre tells where an SVC with fewer support vectors would draw level.

    python benchmarks/prediction.py [--out PAGE]       writes the section "Prediction" of results/fast.md
"""

from __future__ import annotations

import os

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")  # before NumPy starts its threads

import argparse
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from page_section import RESULTS, write_section
from sklearn.svm import SVC

from pnulearn import PNUClassifier

COLUMNS = (2, 10, 50)
N_ROWS, N_SINGLE, ROUNDS = 20_000, 200, 5
NAMES = ("columns", "centres x bandwidths", "support vectors", "one row, ms", "SVC", "ratio")
NAMES = (*NAMES, "many rows, µs", "SVC", "ratio", "per centre")
HEAD = f"| {' | '.join(NAMES)} |\n{'|---' * len(NAMES)}|"
TEXT = """`python benchmarks/prediction.py`: default settings beside an SVC with about as many support vectors, in one
process. Ratios are ours / SVC; the last is that of the time per centre and per support vector: an SVC with fewer
support vectors than this share of our centres is faster."""


def problem(n_columns: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """1,500 rows with their classes, and rows to predict."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 1500)
    X = rng.normal(size=(len(truth), n_columns)) + truth[:, None] * 1.7 / np.sqrt(n_columns)
    return X, truth, rng.normal(size=(N_ROWS, n_columns)) + 0.8 / np.sqrt(n_columns)


def svc_of_size(X: np.ndarray, truth: np.ndarray, n_centers: int) -> SVC:
    """An SVC of as many rows as give about so many support vectors."""
    share = SVC().fit(X, truth).n_support_.sum() / len(X)
    return SVC().fit(X[: round(n_centers / share)], truth[: round(n_centers / share)])


def least(runs: dict[str, Callable[[], object]], clock: Callable[[], float]) -> dict[str, float]:
    """The least seconds of every contender, which take turns."""
    best = dict.fromkeys(runs, np.inf)
    for _ in range(ROUNDS):
        for name, run in runs.items():
            start = clock()
            run()
            best[name] = min(best[name], clock() - start)
    return best


def compare(n_columns: int) -> tuple[str, float]:
    """A line of the table, and how much faster two threads are by the clock."""
    X, truth, new = problem(n_columns)
    y = np.where(np.arange(len(truth)) < 100, truth, np.nan)
    model = PNUClassifier(prior=0.5, random_state=0).fit(X, y)
    svc = svc_of_size(X, truth, len(model.centers_))
    contenders = {"ours": model.decision_function, "svc": svc.decision_function}
    bulk = least({name: lambda f=f: f(new) for name, f in contenders.items()}, time.process_time)
    single = {name: lambda f=f: [f(new[row : row + 1]) for row in range(N_SINGLE)] for name, f in contenders.items()}
    one = least(single, time.process_time)
    threads = least(
        {str(n): lambda n=n: model.set_params(n_jobs=n).decision_function(new) for n in (1, 2)}, time.perf_counter
    )
    n_centers, n_vectors = len(model.centers_), int(svc.n_support_.sum())
    rate = {name: 1e6 * value / N_ROWS for name, value in bulk.items()}
    per_center = (rate["ours"] / n_centers) / (rate["svc"] / n_vectors)
    alone = {name: 1e3 * value / N_SINGLE for name, value in one.items()}
    cells = (
        str(n_columns),
        f"{n_centers} x {len(model.bandwidths_)}",
        str(n_vectors),
        *(f"{value:.2f}" for value in (alone["ours"], alone["svc"], alone["ours"] / alone["svc"])),
        *(f"{rate[name]:.1f}" for name in ("ours", "svc")),
        *(f"{value:.2f}" for value in (rate["ours"] / rate["svc"], per_center)),
    )
    line = f"| {' | '.join(cells)} |"
    return line, threads["1"] / threads["2"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=RESULTS / "fast.md")
    given = parser.parse_args()
    print(HEAD, flush=True)
    lines, gains = [], []
    for n_columns in COLUMNS:
        line, gain = compare(n_columns)
        print(line, flush=True)
        lines.append(line)
        gains.append(gain)
    gain = f"Two threads (`n_jobs=2`) by the clock, machine shared: {min(gains):.1f} to {max(gains):.1f} times as fast."
    write_section(given.out, "Prediction", "\n\n".join([TEXT, "\n".join([HEAD, *lines]), gain]))


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        main()
