"""Processor seconds of fits that people wait for: losses without closed form and the rivals, each with its whole grid.

Losses: the default search (5,040 models) on 350 rows of two sets, and 45 models of 20,000 generated rows. Rivals:
their searches on 350 and 1,000 rows. All by five folds, every fit in a process and with one BLAS thread of its own, for
at most `--limit` processor seconds. Another version can be measured in turn. Real data from the folder PNULEARN_DATA,
otherwise generated data of the same shape.

    python benchmarks/waiting.py losses [--against OTHER/src] [--limit 300]       results/fast.md, "Other losses"
    python benchmarks/waiting.py large [--limit 300]                              "Other losses, 20,000 rows"
    python benchmarks/waiting.py rivals [--against OTHER/src] [--limit 120]       results/fast.md, "Rivals"
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
from pathlib import Path

from page_section import RESULTS, write_section

SETS = {"banana": 2, "waveform": 21}
LOSSES = ("squared", "logistic", "double_hinge")
RIVALS = ("EntropyRegularizedClassifier", "LaplacianSVM", "SMIRClassifier", "WellSVM", "S4VM")
SIZES = (350, 1000)

ONE = """
import resource, sys, time, warnings
resource.setrlimit(resource.RLIMIT_CPU, (int(sys.argv[6]), int(sys.argv[6]) + 5))
sys.path.insert(0, sys.argv[1])
import numpy as np
from real_sets import real_or_gaussian_set
from pnulearn import PNUClassifier, baselines
warnings.simplefilter("ignore")
what, name, dimension, n = sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5])
X, truth = real_or_gaussian_set(name, dimension)
rng = np.random.default_rng(0)
positive, negative = (rng.permutation(np.flatnonzero(truth == label)) for label in (1, -1))
half = (n - 50) // 2
rows = np.concatenate([positive[:35], negative[:15], positive[35:35 + half], negative[15:15 + half]])
y = np.where(np.arange(len(rows)) < 50, truth[rows], np.nan)
options = {"prior": 0.5, "random_state": 0}
model = getattr(baselines, what)(**options) if hasattr(baselines, what) else PNUClassifier(loss=what, **options)
start = time.process_time()
model.fit(X[rows], y)
print("seconds", time.process_time() - start, model.search_.zero_one.min())
"""

LARGE = """
import resource, sys, time, warnings
resource.setrlimit(resource.RLIMIT_CPU, (int(sys.argv[2]), int(sys.argv[2]) + 5))
import numpy as np
from pnulearn import PNUClassifier
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
truth = rng.random(20_000) < 0.4
X = rng.normal(size=(len(truth), 10))
X[:, :3] += np.where(truth, 0.5, -0.5)[:, None]
y = np.where(np.arange(len(truth)) < 200, truth, np.nan)
some = {"mix": [-0.5, 0.0, 0.5], "alpha": [1e-3, 1e-2, 1e-1], "bandwidth": 4.0}
model = PNUClassifier(loss=sys.argv[1], prior=0.4, random_state=0, **some)
start = time.process_time()
model.fit(X, y)
megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print("large", time.process_time() - start, megabytes, np.mean(model.predict(X) != truth))
"""


def seconds(what: str, name: str, n_rows: int, source: str | None, limit: float) -> tuple[float | None, float | None]:
    """Processor seconds and the least validation risk, or nothing if it takes too long."""
    env = dict(os.environ) | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    env |= {} if source is None else {"PYTHONPATH": source}
    folder = str(Path(__file__).parent)
    command = [sys.executable, "-c", ONE, folder, what, name, str(SETS[name]), str(n_rows), str(int(limit))]
    done = subprocess.run(command, env=env, stdout=subprocess.PIPE, text=True)
    if done.returncode == -signal.SIGXCPU:
        return None, None
    done.check_returncode()
    _, took, risk = done.stdout.splitlines()[-1].split()
    return float(took), float(risk)


def cell(took: float | None, limit: float) -> str:
    return f"over {limit:.0f}" if took is None else f"{took:.1f}"


def compare_losses(against: str | None, limit: float) -> tuple[str, list[str]]:
    """Every loss on every set, as multiples of the squared loss."""
    head = "| set | loss | s | x squared | before s | before x squared |\n|---|---|---|---|---|---|"
    lines = []
    for name in SETS:
        squared: list[float | None] = [None, None]
        for loss in LOSSES:
            sources = (None, against) if against else (None,)
            took = [seconds(loss, name, 350, source, limit)[0] for source in sources]
            squared = [new or old for new, old in zip(squared, [*took, None], strict=False)]
            ratios = [one / base if one and base else None for one, base in zip(took, squared, strict=False)]
            cells = [text for one, ratio in zip(took, ratios, strict=True) for text in (cell(one, limit), times(ratio))]
            lines.append(f"| {name} | {loss} | {' | '.join([*cells, '', ''][:4])} |")
            print(lines[-1], flush=True)
    return head, lines


def times(ratio: float | None) -> str:
    return "" if ratio is None else f"{ratio:.1f}"


def compare_rivals(against: str | None, limit: float) -> tuple[str, list[str]]:
    """Every rival on one set, small and large; with the least validation risk of its search."""
    head = "| rival | rows | s | least risk | before s | before least risk |\n|---|---|---|---|---|---|"
    lines = []
    for rival in RIVALS:
        for n_rows in SIZES:
            sources = (None, against) if against and n_rows == SIZES[0] else (None,)
            found = [seconds(rival, "banana", n_rows, source, limit) for source in sources]
            cells = [
                text for took, risk in found for text in (cell(took, limit), "" if risk is None else f"{risk:.3f}")
            ]
            lines.append(f"| {rival} | {n_rows:,} | {' | '.join([*cells, '', ''][:4])} |")
            print(lines[-1], flush=True)
    return head, lines


def large_losses(against: str | None, limit: float) -> tuple[str, list[str]]:
    """45 models (three mixes, three alphas, five folds) of 20,000 rows and the default centres."""
    head = "| loss | s | s for each of 45 models | MB | error |\n|---|---|---|---|---|"
    env = dict(os.environ) | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    lines = []
    for loss in LOSSES:
        command = [sys.executable, "-c", LARGE, loss, str(int(limit))]
        done = subprocess.run(command, env=env, stdout=subprocess.PIPE, text=True)
        if done.returncode == -signal.SIGXCPU:
            lines.append(f"| {loss} | over {limit:.0f} | | | |")
        else:
            done.check_returncode()
            took, megabytes, error = map(float, done.stdout.split()[1:])
            lines.append(f"| {loss} | {took:.1f} | {took / 45:.2f} | {megabytes:.0f} | {error:.3f} |")
        print(lines[-1], flush=True)
    return head, lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["losses", "large", "rivals"])
    parser.add_argument("--against", help="the src folder of another version")
    parser.add_argument("--limit", type=float, default=120)
    parser.add_argument("--out", type=Path, default=RESULTS / "fast.md")
    given = parser.parse_args()
    compare, title, about = {
        "losses": (compare_losses, "Other losses", "the default search, 5,040 models of 350 rows"),
        "large": (large_losses, "Other losses, 20,000 rows", "three mixes, three alphas, one bandwidth, five folds"),
        "rivals": (compare_rivals, "Rivals", "banana, the whole grid by five folds"),
    }[given.what]
    head, lines = compare(given.against, given.limit)
    text = f"`python benchmarks/waiting.py {given.what}`: {about}; every fit in a process of its own, one thread."
    write_section(given.out, title, "\n\n".join([text, "\n".join([head, *lines])]))


if __name__ == "__main__":
    main()
