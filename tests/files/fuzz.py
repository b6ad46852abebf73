"""Many damaged files, each in bounds of time and memory: an answer or one class of error, never anything else.

    python tests/files/fuzz.py [--models 10000] [--tables 2000] [--out results/fuzz.md]

Files are tried in child processes with a limit on address space; a child that dies is a finding, too.
"""

from __future__ import annotations

import argparse
import json
import resource
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np

sys.path[:0] = [str(Path(__file__).parents[2])]  # so that it runs as a script, too
from tests.files.damage import STORED, damaged_models, damaged_tables, whole_tables  # noqa: E402

SECONDS, MEGABYTES, BATCH = 2.0, 300, 2000
MOST_SECONDS = 100  # by the clock
SPACE = 2 << 30  # bytes of address space beyond what a child has after its imports


def try_model(path: Path) -> str:
    """Load and predict."""
    import pnulearn
    from pnulearn._files.refusals import ModelFileError

    try:
        model = pnulearn.load(path)
        classifier = getattr(model, "classifier", model)
    except ModelFileError:
        return "refused"
    shares = classifier.predict_proba(_rows(classifier))
    return "answered" if np.isfinite(shares).all() else "NaN"


def _rows(classifier: Any) -> Any:
    rows = np.linspace(-1, 1, 3 * classifier.n_features_in_).reshape(3, -1)
    if not hasattr(classifier, "feature_names_in_"):
        return rows
    import pandas as pd

    return pd.DataFrame(rows, columns=classifier.feature_names_in_)


def try_table(path: Path) -> str:
    """Read all columns, and all cells back."""
    from pnulearn.tables import TableError, read_table

    try:
        table = read_table(path)
        n_rows = [len(table.column(name).missing) for name in table.names]
        n_written = sum(1 for _ in table.rows())
    except TableError:
        return "refused"
    return "answered" if {*n_rows, n_written} == {table.n_rows} else "cells lost"


def judge(kind: str, seed: int, whole: dict[str, bytes], folder: Path) -> dict[str, Any]:
    """What became of one damaged file, its processor time and the most memory while it was read."""
    what, way, raw = damaged_models(seed) if kind == "models" else damaged_tables(seed, whole)
    path = folder / f"damaged.{what if kind == 'tables' else 'pnu'}"
    path.write_bytes(raw)
    del raw
    signal.alarm(MOST_SECONDS)  # a file that hangs ends the child, which is noted
    _forget_peak()
    start = time.process_time()
    try:
        outcome = try_model(path) if kind == "models" else try_table(path)
    except Exception as error:
        outcome = f"{type(error).__name__}: {error}"[:100].replace("\n", " ")
    return {"seed": seed, "what": what, "way": way, "outcome": outcome} | {
        "seconds": time.process_time() - start,
        "megabytes": _peak(),
    }


def _forget_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5")


def _peak() -> float:
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


def work(kind: str, first: int, last: int) -> None:
    """A child: one line of JSON per file."""

    warnings.simplefilter("ignore")
    whole = whole_tables()
    for path in STORED.glob("*.pnu"):  # what is imported on the way is not the damaged file's doing
        try_model(path)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + SPACE, used + SPACE))
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, last):
            print(json.dumps(judge(kind, seed, whole, Path(folder))), flush=True)


def run_batch(kind: str, first: int, last: int) -> list[dict[str, Any]]:
    """Try files in a child; the one that ends it is noted, and the rest goes on in another child."""
    found: list[dict[str, Any]] = []
    while first < last:
        command = [sys.executable, __file__, "--work", kind, str(first), str(last)]
        child = subprocess.run(command, capture_output=True, text=True, check=False)
        found += [json.loads(line) for line in child.stdout.splitlines()]
        first = found[-1]["seed"] + 1 if child.stdout else first
        if child.returncode:
            dead = {"seed": first, "what": "?", "way": "?", "outcome": f"the process died ({child.returncode})"}
            found.append(dead | {"seconds": 0.0, "megabytes": 0.0})
            print(child.stderr[-500:], file=sys.stderr)
            first += 1
    return found


def is_trouble(case: dict[str, Any]) -> bool:
    fine = case["outcome"] in ("refused", "answered")
    return not fine or case["seconds"] > SECONDS or case["megabytes"] > MEGABYTES


def as_markdown(cases: dict[str, list[dict[str, Any]]]) -> str:
    lines = [
        "# Damaged files\n",
        "Written by `make fuzz` (`tests/files/fuzz.py`, fixed seeds). Every file is refused with one class of error "
        "(`ModelFileError`, `TableError`) or, where the damage leaves a readable file, answered. Processor time and "
        "resident memory of the whole process, interpreter and libraries included.\n",
        "| files | damage | number | refused | answered | anything else | slowest, s | most memory, MB |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for kind, found in cases.items():
        groups = defaultdict(list)
        for case in found:
            groups[f"{kind}: {case['what']}", case["way"]].append(case)
            groups[f"{kind}, all", ""].append(case)
        for (what, way), members in sorted(groups.items()):
            count = Counter(case["outcome"] for case in members)
            other = len(members) - count["refused"] - count["answered"]
            slowest, most = (max(case[name] for case in members) for name in ("seconds", "megabytes"))
            counts = f"{len(members)} | {count['refused']} | {count['answered']} | {other}"
            lines.append(f"| {what} | {way} | {counts} | {slowest:.2f} | {most:.0f} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--models", type=int, default=10_000)
    parser.add_argument("--tables", type=int, default=2_000)
    parser.add_argument("--out", type=Path, default=None)
    parser.add_argument("--work", nargs=3, default=None, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        work(options.work[0], *map(int, options.work[1:]))
        return 0
    cases = {}
    for kind, number in (("models", options.models), ("tables", options.tables)):
        starts = range(0, number, BATCH)
        cases[kind] = [case for first in starts for case in run_batch(kind, first, min(first + BATCH, number))]
    for kind, found in cases.items():
        for case in filter(is_trouble, found):
            print(kind, json.dumps(case))
    text = as_markdown(cases)
    print(text)
    if options.out:
        options.out.write_text(text)
    return int(any(map(is_trouble, [*cases["models"], *cases["tables"]])))


if __name__ == "__main__":
    sys.exit(main())
