"""How far a model's scores move between the BLAS kernels of other processors, and its accuracy, at two revisions.

    python benchmarks/machines.py BEFORE AFTER --data FOLDER [FOLDER ...] [--draws 20] [--out results/machines.md]

BEFORE and AFTER are Python interpreters of environments in which the revisions are installed. FOLDER holds `name.npz`
files with X and y (+1 and -1). Every draw has 50 labels, 300 unlabelled rows and up to 1,000 test rows. The first draw
of every set is fitted in a process for every kernel; the others are fitted once.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

KERNELS = ("Prescott", "Sandybridge", "Haswell", "Zen")
SETS = ("banana", "german", "phishing", "splice", "spambase", "abalone", "saheart", "yeast1", "student", "marketing")
LABELED, UNLABELED, TESTED = 50, 300, 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", nargs="?")
    parser.add_argument("after", nargs="?")
    parser.add_argument("--data", nargs="+", type=Path, required=True)
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        return print(json.dumps({name: _fit(name, given.data, given.draws) for name in SETS}))
    found = {}
    for revision in (given.before, given.after):
        found[revision] = {kernel: _process(revision, kernel, given.data, 1) for kernel in KERNELS}
        found[revision]["all draws"] = _process(revision, "", given.data, given.draws)
    page = "\n".join(_page(found[given.before], found[given.after], given.draws))
    print(page)
    if given.out:
        given.out.write_text(page + "\n")


def _process(python: str, kernel: str, folders: list[Path], draws: int) -> dict[str, Any] | None:
    """What a process with this kernel finds; None where the processor cannot run it."""
    threads = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    environment = os.environ | threads | ({"OPENBLAS_CORETYPE": kernel} if kernel else {})
    command = [python, __file__, "--measure", "--draws", str(draws), "--data", *map(str, folders)]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=False)
    if done.returncode < 0:
        print(f"{kernel}: this processor cannot run it, left out", file=sys.stderr)
        return None
    done.check_returncode()
    return json.loads(done.stdout)


def _fit(name: str, folders: list[Path], draws: int) -> dict[str, Any]:
    from pnulearn import PNUClassifier

    warnings.simplefilter("ignore")
    [path] = [folder / f"{name}.npz" for folder in folders if (folder / f"{name}.npz").exists()]
    with np.load(path) as data:
        X, y = np.asarray(data["X"], dtype=float), data["y"] > 0
    X = (X - X.min(axis=0)) / np.maximum(np.ptp(X, axis=0), 1e-12)
    scores, right = [], []
    for draw in range(draws):
        rows = np.random.default_rng(draw).permutation(len(y))[: LABELED + UNLABELED + TESTED]
        known, test = rows[: LABELED + UNLABELED], rows[LABELED + UNLABELED :]
        target = np.where(np.arange(len(known)) < LABELED, y[known], np.nan)
        model = PNUClassifier(random_state=0).fit(X[known], target)
        scores = scores or model.decision_function(X[test]).tolist()
        right.append(float(np.mean(model.predict(X[test]) == y[test])))
    return {"scores": scores, "right": right}


def _movement(found: dict[str, Any], name: str) -> float:
    """Largest difference between two kernels' scores, in units of their root mean square."""
    scores = np.array([found[kernel][name]["scores"] for kernel in KERNELS if found[kernel]])
    return float(np.ptp(scores, axis=0).max() / np.sqrt(np.mean(scores**2)))


def _page(before: dict[str, Any], after: dict[str, Any], draws: int) -> list[str]:
    ran = [kernel for kernel in KERNELS if after[kernel]]
    lines = [
        "# The same model on every processor",
        "",
        "Output of `benchmarks/machines.py`. A default fit to 50 labels and 300 unlabelled rows of each set: largest",
        f"difference of `decision_function` between the OpenBLAS kernels {', '.join(ran)}, in units of its root mean",
        f"square, and the accuracy over {draws} draws.",
        "",
        "| set | largest difference before | after | accuracy before | after |",
        "|---|---|---|---|---|",
    ]
    accuracy: list[tuple[float, float]] = []
    for name in SETS:
        right = [100 * float(np.mean(found["all draws"][name]["right"])) for found in (before, after)]
        accuracy.append((right[0], right[1]))
        moved = f"{_movement(before, name):.0e} | {_movement(after, name):.0e}"
        lines.append(f"| {name} | {moved} | {right[0]:.2f} | {right[1]:.2f} |")
    changed = np.concatenate(
        [np.subtract(after["all draws"][s]["right"], before["all draws"][s]["right"]) for s in SETS]
    )
    mean = np.mean(accuracy, axis=0)
    error = 100 * changed.std(ddof=1) / np.sqrt(len(changed))
    lines += [
        f"| mean | | | {mean[0]:.2f} | {mean[1]:.2f} |",
        "",
        f"Accuracy changes by {100 * changed.mean():+.2f} ± {error:.2f} points over {len(changed)} draws.",
    ]
    return lines


if __name__ == "__main__":
    main()
