"""`make test-machines`: the same answers from every BLAS kernel, number of threads and order of rows.

Each kernel of OpenBLAS runs in a process of its own. Kernels that this processor cannot run are named and left out.
`--quick` takes the methods and problems that take least; `.ci/run` uses it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from .problems import PROBLEMS
from .steadiness import METHODS, PRIORS, disturbances, movement, scores, tolerance

KERNELS = ("Prescott", "Sandybridge", "Haswell", "Zen", "SkylakeX")
QUICK_METHODS = ("default", "given", "known prior", "linear")
QUICK_PROBLEMS = (
    "few_labels",
    "discrete_and_continuous_columns",
    "one_hot_columns",
    "near_repeated_rows",
    "long_tails",
)
QUICK_KERNELS = ("Prescott", "Haswell")  # without and with fused products


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a subset that takes about two minutes")
    parser.add_argument("--methods", nargs="+", help="default: all")
    parser.add_argument("--problems", nargs="+", help="default: all")
    parser.add_argument("--kernels", nargs="+", help=f"default: {', '.join(KERNELS)}")
    given = parser.parse_args()
    methods = given.methods or list(QUICK_METHODS if given.quick else (*METHODS, *PRIORS))
    problems = given.problems or list(QUICK_PROBLEMS if given.quick else PROBLEMS)
    kernels = given.kernels or list(QUICK_KERNELS if given.quick else KERNELS)
    failed = _across_disturbances(methods, problems)
    failed += _across_processes(kernels, methods, problems)
    failed += _golden(kernels)
    print(f"\n{len(failed)} differences above what is allowed" + "".join(f"\n  {line}" for line in failed))
    sys.exit(bool(failed))


def _across_disturbances(methods: list[str], problems: list[str]) -> list[str]:
    """Within this process: last bits, order of rows, two threads."""
    print("Largest movement of decision_function or of a prior, of its root mean square:")
    failed = []
    for method in methods:
        largest: dict[str, float] = defaultdict(float)
        for name in problems:
            problem = PROBLEMS[name]()
            before = scores(method, problem)
            moved = {kind: movement(before, scores(method, problem, X, y)) for kind, X, y in disturbances(problem)}
            failed += [
                f"{method} / {name} / {kind}: {far:.1e}" for kind, far in moved.items() if not far <= tolerance(method)
            ]
            for kind, far in moved.items():
                largest[kind] = max(largest[kind], far)
        print(f"  {method}: " + ", ".join(f"{kind} {far:.0e}" for kind, far in largest.items()), flush=True)
    return failed


def _across_processes(kernels: list[str], methods: list[str], problems: list[str]) -> list[str]:
    """Every BLAS kernel, and two threads, against this machine's own kernel."""
    chosen = ["--methods", *methods, "--problems", *problems]
    settings = {"as it is": {}, "two threads": {"OPENBLAS_NUM_THREADS": "2"}}
    settings |= {kernel: {"OPENBLAS_CORETYPE": kernel} for kernel in kernels}
    failed, before = [], {}
    with TemporaryDirectory() as folder:
        for name, variables in settings.items():
            out = Path(folder, "scores.json")
            done = _python(["-m", "tests.machines.steadiness", str(out), *chosen], variables)
            if done.returncode < 0:
                print(f"  {name}: this processor cannot run it, left out")
                continue
            if done.returncode:
                sys.exit(f"{name}: {done.stderr}")
            found = json.loads(out.read_text())
            before = before or found["scores"]
            moved = {key: movement(before[key], now) for key, now in found["scores"].items()}
            failed += [
                f"{key} / {name}: {far:.1e}" for key, far in moved.items() if not far <= tolerance(key.split(" / ")[0])
            ]
            print(f"  {name} (OpenBLAS: {', '.join(found['kernels'])}): {max(moved.values()):.0e}", flush=True)
    return failed


def _golden(kernels: list[str]) -> list[str]:
    """The golden numbers under every kernel."""
    failed = []
    for kernel in kernels:
        done = _python(["-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/golden"], {"OPENBLAS_CORETYPE": kernel})
        last = " ".join(done.stdout.split()[-12:])
        print(
            f"  golden numbers, {kernel}: " + ("cannot run here, left out" if done.returncode < 0 else last), flush=True
        )
        failed += [f"golden numbers / {kernel}: {last}"] if done.returncode > 0 else []
    return failed


def _python(arguments: list[str], variables: dict[str, str]) -> subprocess.CompletedProcess[Any]:
    threads = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    environment = os.environ | threads | variables
    return subprocess.run([sys.executable, *arguments], env=environment, capture_output=True, text=True, check=False)


if __name__ == "__main__":
    main()
