"""Processor time of the paper's search and of a default fit at two revisions, in turns, as ratios of one run.

    python benchmarks/two_revisions.py OLD NEW

OLD and NEW are Python interpreters of environments in which the revisions are installed, say
`../before/.venv/bin/python .venv/bin/python`. One BLAS thread, the same rows for both; the risk that each states of its
model stands beside the ratio.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys

ROUNDS = 7
SINGLE = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
MEASURE = r"""
import json, time, warnings
import numpy as np
from pnulearn import PNUClassifier

warnings.simplefilter("ignore")

def draw(n_columns, n_unlabeled=300, n_labeled=50):
    rng = np.random.default_rng(n_columns)
    truth = np.concatenate([np.arange(n_labeled) % 10 < 7, rng.random(n_unlabeled) < 0.5])
    X = rng.normal(size=(len(truth), n_columns)) + 0.7 * truth[:, None]
    return X, np.where(np.arange(len(truth)) < n_labeled, truth, np.nan)

CASES = {
    "search of 5,040 models, 2 columns": (draw(2), {"prior": 0.5}, 5),
    "search of 5,040 models, 20 columns": (draw(20), {"prior": 0.5}, 3),
    "default fit, prior estimated": (draw(20), {}, 3),
    "linear kernel, prior estimated": (draw(20), {"kernel": "linear"}, 5),
    "200 labels, 2,000 unlabelled rows": (draw(20, 2000, 200), {"prior": 0.5}, 1),
    "logistic loss, 12 candidates": (draw(2), {"prior": 0.5, "loss": "logistic", "bandwidth": 1.0,
                                               "mix": [0, 0.3, 0.6], "alpha": [1e-3, 1e-2, 1e-1, 1]}, 3),
}
for name, ((X, y), options, repeats) in CASES.items():
    PNUClassifier(random_state=0, **options).fit(X, y)
    start = time.process_time()
    for _ in range(repeats):
        model = PNUClassifier(random_state=0, **options).fit(X, y)
    print(json.dumps([name, (time.process_time() - start) / repeats, model.risk_.value]), flush=True)
"""


def main(old: str, new: str) -> None:
    seconds: dict[str, tuple[list[float], list[float]]] = {}
    risks: dict[str, list[float]] = {}
    for number in range(ROUNDS):
        for side, interpreter in enumerate((old, new)):
            for name, spent, risk in measure(interpreter):
                seconds.setdefault(name, ([], []))[side].append(spent)
                risks.setdefault(name, [0.0, 0.0])[side] = risk
        print(f"round {number + 1} of {ROUNDS}", file=sys.stderr, flush=True)
    print("| | before, s | after, s | after / before | stated risk before | after |\n|---|---|---|---|---|---|")
    for name, (before, after) in seconds.items():
        ratio = statistics.median(b / a for a, b in zip(before, after, strict=True))
        old_risk, new_risk = risks[name]
        print(
            f"| {name} | {statistics.median(before):.3f} | {statistics.median(after):.3f} | {ratio:.2f} | "
            f"{old_risk:.4f} | {new_risk:.4f} |"
        )


def measure(interpreter: str) -> list[tuple[str, float, float]]:
    run = subprocess.run(
        [interpreter, "-c", MEASURE], check=True, stdout=subprocess.PIPE, text=True, env={**os.environ, **SINGLE}
    )
    return [tuple(json.loads(line)) for line in run.stdout.splitlines()]


if __name__ == "__main__":
    main(*sys.argv[1:])
