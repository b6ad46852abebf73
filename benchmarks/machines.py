"""How far a model's scores move between the BLAS kernels of other processors, and its accuracy, at two revisions.

    python benchmarks/machines.py BEFORE AFTER --data FOLDER [FOLDER ...] [--draws 20] [--out results/machines.md]

BEFORE and AFTER are Python interpreters of environments in which the revisions are installed. FOLDER holds `name.npz`
files with X and y (+1 and -1). Every draw has 50 labels, 300 unlabelled rows and up to 1,000 test rows. The first draw
of every set is fitted in a process for every kernel; the others are fitted once. AFTER is measured with
`columns="given"`, which was the default of BEFORE, and with today's default.
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
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        options = json.loads(given.measure)
        return print(json.dumps({name: _fit(name, given.data, given.draws, options) for name in SETS}))
    found = []
    for python, options in ((given.before, {}), (given.after, {"columns": "given"}), (given.after, {})):
        found.append({kernel: _process(python, kernel, given.data, 1, options) for kernel in KERNELS})
        found[-1]["all draws"] = _process(python, "", given.data, given.draws, options)
    page = "\n".join(_page(found, given.draws))
    print(page)
    if given.out:
        given.out.write_text(page + "\n")


def _process(
    python: str, kernel: str, folders: list[Path], draws: int, options: dict[str, str]
) -> dict[str, Any] | None:
    """What a process with this kernel finds; None where the processor cannot run it."""
    threads = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    environment = os.environ | threads | ({"OPENBLAS_CORETYPE": kernel} if kernel else {})
    command = [python, __file__, "--measure", json.dumps(options), "--draws", str(draws), "--data", *map(str, folders)]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=False)
    if done.returncode < 0:
        print(f"{kernel}: this processor cannot run it, left out", file=sys.stderr)
        return None
    done.check_returncode()
    return json.loads(done.stdout)


def _fit(name: str, folders: list[Path], draws: int, options: dict[str, str]) -> dict[str, Any]:
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
        model = PNUClassifier(random_state=0, **options).fit(X[known], target)
        scores = scores or model.decision_function(X[test]).tolist()
        right.append(float(np.mean(model.predict(X[test]) == y[test])))
    return {"scores": scores, "right": right}


def _movement(found: dict[str, Any], name: str) -> float:
    """Largest difference between two kernels' scores, in units of their root mean square."""
    scores = np.array([found[kernel][name]["scores"] for kernel in KERNELS if found[kernel]])
    return float(np.ptp(scores, axis=0).max() / np.sqrt(np.mean(scores**2)))


def _page(found: list[dict[str, Any]], draws: int) -> list[str]:
    ran = [kernel for kernel in KERNELS if found[-1][kernel]]
    ways = ("before", 'after, `columns="given"`', "after, default")
    lines = [
        "# The same model on every processor",
        "",
        "Output of `benchmarks/machines.py`. A fit to 50 labels and 300 unlabelled rows of each set: largest",
        f"difference of `decision_function` between the OpenBLAS kernels {', '.join(ran)}, in units of its root mean",
        f'square, and the accuracy in % over {draws} draws. The default was `columns="given"` before.',
        "",
        "| set | " + " | ".join([f"difference {way}" for way in ways] + [f"accuracy {way}" for way in ways]) + " |",
        "|---" * 7 + "|",
    ]
    right = {name: [100 * np.array(one["all draws"][name]["right"]) for one in found] for name in SETS}
    for name in SETS:
        moved = " | ".join(f"{_movement(one, name):.0e}" for one in found)
        lines.append(f"| {name} | {moved} | " + " | ".join(f"{one.mean():.2f}" for one in right[name]) + " |")
    means = np.mean([[one.mean() for one in right[name]] for name in SETS], axis=0)
    lines += ["| mean | | | | " + " | ".join(f"{mean:.2f}" for mean in means) + " |", ""]
    for place, way in enumerate(ways[1:], 1):
        changed = np.concatenate([right[name][place] - right[name][0] for name in SETS])
        error = changed.std(ddof=1) / np.sqrt(len(changed))
        text = f"Accuracy changes by {changed.mean():+.2f} ± {error:.2f} points over {len(changed)} draws ({way})."
        lines.append(text)
    return lines


if __name__ == "__main__":
    main()
