"""Processor time of the paper's search, of default fits and of a report at two revisions, in turns, as ratios.

    python benchmarks/two_revisions.py OLD NEW [--rounds 7]

OLD and NEW are Python interpreters of environments in which the revisions are installed, say
`../before/.venv/bin/python .venv/bin/python`. One BLAS thread, the same rows for both; the risk that each states of its
model stands beside the ratio. Both see columns as given; where the default of the newer one is another, it is measured
in a line of its own. The report is that about the table of `pnulearn demo`.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys

SINGLE = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
DEFAULT = ", default columns"
MEASURE = r"""
import json, os, sys, tempfile, time, warnings
from pathlib import Path
import numpy as np
from pnulearn import PNUClassifier

warnings.simplefilter("ignore")
DEFAULT = sys.argv[1]

def draw(n_columns, n_unlabeled=300, n_labeled=50):
    rng = np.random.default_rng(n_columns)
    truth = np.concatenate([np.arange(n_labeled) % 10 < 7, rng.random(n_unlabeled) < 0.5])
    X = rng.normal(size=(len(truth), n_columns)) + 0.7 * truth[:, None]
    return X, np.where(np.arange(len(truth)) < n_labeled, truth, np.nan)

def show(name, measured, repeats, risk):
    measured()
    start = time.process_time()
    for _ in range(repeats):
        measured()
    print(json.dumps([name, (time.process_time() - start) / repeats, risk()]), flush=True)

CASES = {
    "search of 5,040 models, 2 columns": (draw(2), {"prior": 0.5, "cv": 5}, 5),
    "search of 5,040 models, 20 columns": (draw(20), {"prior": 0.5, "cv": 5}, 3),
    "default fit, prior estimated": (draw(20), {}, 3),
    "linear kernel, prior estimated": (draw(20), {"kernel": "linear"}, 5),
    "200 labels, 2,000 unlabelled rows": (draw(20, 2000, 200), {"prior": 0.5}, 1),
    "logistic loss, 12 candidates": (draw(2), {"prior": 0.5, "loss": "logistic", "bandwidth": 1.0,
                                               "mix": [0, 0.3, 0.6], "alpha": [1e-3, 1e-2, 1e-1, 1]}, 3),
}
for name, ((X, y), options, repeats) in CASES.items():
    for columns, ending in (("given", ""), (PNUClassifier().columns, DEFAULT)):
        model = PNUClassifier(random_state=0, columns=columns, **options)
        if not ending or columns != "given":
            show(name + ending, lambda: model.fit(X, y), repeats, lambda: model.risk_.value)

os.chdir(tempfile.mkdtemp())
try:
    from pnulearn import TableClassifier
    from pnulearn._demo import write_table

    write_table(Path())
    models = [
        TableClassifier(sampling="random", settings=settings).fit("shop.csv", "renews")
        for settings in ({"columns": "given"}, {})
    ]
    reports = [(model.report, model.model_.classifier.risk_.value) for model in models]
except ImportError:
    from functools import partial
    from pnulearn.laboratory.demo import shop_table
    from pnulearn.report import write_report
    from pnulearn.tables import read_table
    from pnulearn.tables.model import fit_table

    fitted = fit_table(read_table(shop_table()), "renews", sampling="single_set")
    reports = [(partial(write_report, fitted), fitted.model.classifier.risk_.value)]
for (report, risk), ending in zip(reports, ("", DEFAULT)):
    show("report" + ending, lambda: report("page.html"), 2, lambda: risk)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", help="interpreter of the older revision")
    parser.add_argument("new", help="interpreter of the newer revision")
    parser.add_argument("--rounds", type=int, default=7)
    asked = parser.parse_args()
    rounds = []
    for number in range(asked.rounds):
        rounds.append([measure(interpreter) for interpreter in (asked.old, asked.new)])
        print(f"round {number + 1} of {asked.rounds}", file=sys.stderr, flush=True)
    print("| | before, s | after, s | after / before | stated risk before | after |\n|---|---|---|---|---|---|")
    for name in rounds[0][1]:
        plain = name.removesuffix(DEFAULT)
        before, after = ([one[side][key][0] for one in rounds] for side, key in ((0, plain), (1, name)))
        ratio = statistics.median(b / a for a, b in zip(before, after, strict=True))
        risks = f"{rounds[0][0][plain][1]:.4f} | {rounds[0][1][name][1]:.4f}"
        print(f"| {name} | {statistics.median(before):.3f} | {statistics.median(after):.3f} | {ratio:.2f} | {risks} |")


def measure(interpreter: str) -> dict[str, list[float]]:
    """Seconds and stated risk of every case."""
    command = [interpreter, "-c", MEASURE, DEFAULT]
    run = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env={**os.environ, **SINGLE})
    return {name: values for name, *values in map(json.loads, run.stdout.splitlines())}


if __name__ == "__main__":
    main()
