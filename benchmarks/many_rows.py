"""Many rows in memory with the default search: processor time and memory, beside another version if one is named.

python benchmarks/many_rows.py [ROWS:LABELS ...] [--against PATH_TO_OTHER_SRC]; versions take turns, a process each. The
table ends with the largest difference of the two versions' search tables.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys

import numpy as np

ONE = """
import json, resource, sys, time, warnings
import numpy as np
from pnulearn import PNUClassifier
warnings.simplefilter("ignore")
n, n_labeled = int(sys.argv[1]), int(sys.argv[2])
rng = np.random.default_rng(0)
truth = rng.random(n + n_labeled) < 0.4
X = rng.normal(size=(len(truth), 10))
X[:, :3] += np.where(truth, 0.5, -0.5)[:, None]
y = np.where(np.arange(len(truth)) < n_labeled, truth, np.nan)
start = time.process_time()
model = PNUClassifier(random_state=0).fit(X, y)
seconds = time.process_time() - start
tables = [model.search_.zero_one.ravel().tolist(), model.search_.squared.ravel().tolist()]
megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps([seconds, megabytes, float(model.risk_), *tables]))
"""


def run(n: int, n_labeled: int, source: str | None) -> list:
    env = dict(os.environ) | ({} if source is None else {"PYTHONPATH": source})
    command = [sys.executable, "-c", ONE, str(n), str(n_labeled)]
    return json.loads(subprocess.run(command, env=env, stdout=subprocess.PIPE, check=True, text=True).stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sizes", nargs="*", default=["30000:100", "100000:100", "10000:500"])
    parser.add_argument("--against", help="the src folder of another version")
    given = parser.parse_args()
    print("| unlabelled | labels | version | processor s | MB | risk | difference |\n|---|---|---|---|---|---|---|")
    for size in given.sizes:
        n, n_labeled = map(int, size.split(":"))
        this = run(n, n_labeled, None)
        other = None if given.against is None else run(n, n_labeled, given.against)
        for name, one in (("this", this), ("other", other)):
            if one is not None:
                far = (
                    "" if other is None else f"{max(np.abs(np.subtract(this[k], other[k])).max() for k in (3, 4)):.1e}"
                )
                print(
                    f"| {n:,} | {n_labeled} | {name} | {one[0]:.1f} | {one[1]:.0f} | {one[2]:.4f} | {far} |", flush=True
                )


if __name__ == "__main__":
    main()
