"""Many rows in memory with the default search: processor time and memory, beside the same version with the features of
all rows at once (the answer must be the same), and beside another version if one is named.

python benchmarks/many_rows.py [ROWS:LABELS ...] [--against PATH_TO_OTHER_SRC] [--rounds 3]; contenders take turns, a
process each, and medians of their seconds are kept, since one run differs from the next by a fifth. The last column is
the largest difference of the search table's risks from those of this version in blocks; other versions may choose other
folds and centres.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from statistics import median

import numpy as np
from page_section import RESULTS, write_section

HEAD = "| unlabelled | labels | version | processor s | x this | MB | risk | difference |\n" + "|---" * 8 + "|"
TEXT = """`python benchmarks/many_rows.py --against OTHER/src`: rbf, 10 columns, 500 centres, six bandwidths, 21 mixes,
eight penalties, five folds; contenders take turns, {rounds} each, and medians of their seconds are kept. "Difference"
is the largest one between the risks of a contender's 1,008 candidates and those of this version in blocks. "Other"
(commit 90ca51c) has other folds and centres."""
ONE = """
import json, resource, sys, time, warnings
import numpy as np
from pnulearn import PNUClassifier
warnings.simplefilter("ignore")
n, n_labeled = int(sys.argv[1]), int(sys.argv[2])
if sys.argv[3] == "whole":
    from pnulearn._learning import from_rows
    from_rows.KEPT_AT_MOST = 2**62
rng = np.random.default_rng(0)
truth = rng.random(n + n_labeled) < 0.4
X = rng.normal(size=(len(truth), 10))
X[:, :3] += np.where(truth, 0.5, -0.5)[:, None]
y = np.where(np.arange(len(truth)) < n_labeled, truth, np.nan)
start = time.process_time()
model = PNUClassifier(cv=5, random_state=0)
model.set_params(**{"columns": "given"} if hasattr(model, "columns") else {}).fit(X, y)
seconds = time.process_time() - start
tables = [model.search_.zero_one.ravel().tolist(), model.search_.squared.ravel().tolist()]
megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps([seconds, megabytes, float(model.risk_), *tables]))
"""


def run(n: int, n_labeled: int, kind: str, source: str | None) -> list:
    env = dict(os.environ) | ({} if source is None else {"PYTHONPATH": source})
    command = [sys.executable, "-c", ONE, str(n), str(n_labeled), kind]
    return json.loads(subprocess.run(command, env=env, stdout=subprocess.PIPE, check=True, text=True).stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sizes", nargs="*", default=["30000:100", "100000:100", "10000:500"])
    parser.add_argument("--against", help="the src folder of another version")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", type=Path, default=RESULTS / "fast.md")
    given = parser.parse_args()
    contenders = {"this": ("blocks", None), "this, all rows at once": ("whole", None)}
    if given.against is not None:
        contenders["other"] = ("blocks", given.against)
    lines = [HEAD]
    print(HEAD)
    for size in given.sizes:
        n, n_labeled = map(int, size.split(":"))
        turns = [[run(n, n_labeled, *contender) for contender in contenders.values()] for _ in range(given.rounds)]
        taken = [median(seconds) for seconds in zip(*([row[0] for row in turn] for turn in turns), strict=True)]
        this = turns[-1][0]
        for name, seconds, (_, megabytes, risk, *tables) in zip(contenders, taken, turns[-1], strict=True):
            far = np.abs(np.subtract(tables, this[3:])).max()
            cells = f"{seconds:.1f} | {seconds / taken[0]:.1f} | {megabytes:.0f} | {risk:.4f} | {far:.0e}"
            lines.append(f"| {n:,} | {n_labeled} | {name} | {cells} |")
            print(lines[-1], flush=True)
    text = TEXT.format(rounds=given.rounds)
    write_section(given.out, "Many rows in memory", "\n\n".join([text, "\n".join(lines)]))


if __name__ == "__main__":
    main()
