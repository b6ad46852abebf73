"""How long a person waits for the next row of a large table, and how much memory that takes.

    OPENBLAS_NUM_THREADS=1 python benchmarks/labeling_speed.py [ROWS] [COLUMNS]

An oracle answers at a person's pace while models are fitted in the background, through the same code as the page: the
answer is on disk and the next row is drawn and read when the clock stops.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from pnulearn.labeling import Labeler
from pnulearn.labeling._page_state import Refresher

LABELS, PAUSE = 60, 0.25  # seconds between two answers of a quick person


def main() -> None:
    n_rows, n_columns = [int(word) for word in (*sys.argv[1:], "100000", "30")[: max(2, len(sys.argv) - 1)]][:2]
    rng = np.random.default_rng(0)
    truth = (rng.random(n_rows) < 0.3).astype(int)
    X = rng.normal(size=(n_rows, n_columns)) + 0.5 * truth[:, None]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    with tempfile.TemporaryDirectory() as folder:
        labeler = Labeler(X, classes=[0, 1], journal=Path(folder) / "journal", refit_every=0)
        refresher = Refresher(labeler)
        refresher.start()
        waits = [answer(labeler, refresher, truth) for _ in range(LABELS)]
        refresher.stop()
        progress = labeler.refresh()
        labeler.close()
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    waits_ms = 1000 * np.array(waits)
    print(f"{n_rows} rows x {n_columns} columns, {LABELS} labels, {len(labeler.history)} fits beside them")
    middle, late, worst = np.quantile(waits_ms, [0.5, 0.95, 1])
    print(f"next row: median {middle:.0f} ms, 95 % {late:.0f} ms, worst {worst:.0f} ms")
    print(f"memory: {before:.0f} MB with the rows, {after:.0f} MB at most; error {progress.error}")


def answer(labeler: Labeler, refresher: Refresher, truth: np.ndarray) -> float:
    draw = labeler.next()
    time.sleep(PAUSE)
    start = time.perf_counter()
    labeler.answer(int(truth[draw.row]))
    refresher.wake()
    labeler.next()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
