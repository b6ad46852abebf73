"""Sampled mutants of the core against the tests of their part; rows are kept, so that a stopped run goes on."""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.mutation.changes import mutate, places
from tests.mutation.named import NAMED, Named

ROOT = Path(__file__).parents[2]
SECONDS = 300  # of processor time for one mutant: what does not end is noticed, too
PARTS = {
    "risks.py": ["tests/test_risks.py"],
    "theory.py": ["tests/test_theory.py", "tests/test_advice.py"],
    "losses.py": ["tests/test_losses.py"],
    "_numbers.py": ["tests/test_numbers.py"],
    "_problem/folds.py": ["tests/problem/test_folds.py"],
    "_problem/labels.py": ["tests/problem/test_labels.py"],
    "_problem/samples.py": ["tests/problem", "tests/learning/test_search_parts.py"],
    "_learning/calibration.py": ["tests/learning/test_calibration.py"],
    "_learning/selection.py": ["tests/learning/test_search_parts.py", "tests/machine/test_notebook.py"],
    "_solvers/ridge.py": ["tests/solvers/test_ridge.py"],
    "_solvers/objectives.py": ["tests/solvers/test_objectives.py"],
    "metrics/_variance.py": ["tests/metrics/test_risk.py"],
    "_intervals/closed_forms.py": ["tests/intervals/test_closed_forms.py", "tests/metrics/test_risk.py"],
    "priors/_sensitivity.py": ["tests/priors/test_narrowing.py"],
    "_reader/columns.py": ["tests/tables/test_kinds.py", "tests/tables/test_reading.py"],
    "_reader/dates.py": ["tests/tables/test_kinds.py"],
    "_reader/numbers.py": ["tests/tables/test_notation.py", "tests/tables/test_reading.py"],
    "tables/_label_column.py": ["tests/tables/test_targets.py"],
    "tables/_plan.py": ["tests/tables/test_plan.py", "tests/tables/test_kinds.py"],
    "tables/_verdict.py": ["tests/tables/test_verdict.py"],
    "tables/_writing.py": ["tests/cli/test_large.py", "tests/cli/test_outputs.py"],
    "cli/options.py": ["tests/cli/test_choices.py", "tests/cli/test_refusals.py"],
    "labeling/_draws.py": ["tests/labeling/test_labeler.py"],
    "labeling/_journal.py": ["tests/labeling/test_journal.py"],
    "labeling/_session.py": ["tests/labeling/test_labeler.py", "tests/labeling/test_journal.py"],
    "labeling/_table_labeling.py": ["tests/labeling/test_tables.py"],
    "report/_rows.py": ["tests/report/test_rows.py"],
    "report/_columns.py": ["tests/report/test_columns.py"],
    "streaming/_design.py": ["tests/streaming/test_fit.py"],
    "streaming/_predict.py": ["tests/streaming/test_predict.py"],
    "streaming/_sources.py": ["tests/streaming/test_files.py", "tests/streaming/test_fit.py"],
}
# Where else a change of a part shows, if its own tests do not notice it.
WIDER = {
    "_problem": ["tests/problem", "tests/golden", "tests/metrics/test_groups.py", "tests/estimators"],
    "_learning": ["tests/learning", "tests/golden"],
    "_solvers": ["tests/solvers", "tests/golden", "tests/estimators/test_every_loss.py"],
    "metrics": ["tests/metrics"],
    "_intervals": ["tests/intervals", "tests/metrics"],
    "priors": ["tests/priors", "tests/report/test_page.py"],
    "_reader": ["tests/tables"],
    "tables": ["tests/tables", "tests/cli/test_commands.py"],
    "cli": ["tests/cli", "tests/frozen"],
    "labeling": ["tests/labeling"],
    "report": ["tests/report", "tests/frozen"],
    "streaming": ["tests/streaming"],
    "": ["tests/test_theory.py", "tests/metrics", "tests/golden"],
}


def noticed_by(part: str, source: str, copy: Path) -> str:
    """Which tests fail with that source in the place of the module: those of its part, others, or none."""
    if is_killed(part, source, copy, PARTS[part]):
        return "its own tests"
    others = WIDER[next(folder for folder in WIDER if part.startswith(folder))]
    return "other tests" if is_killed(part, source, copy, others) else ""


def is_killed(part: str, source: str, copy: Path, tests: list[str]) -> bool:
    """Whether one of the tests fails with that source in the place of the module."""
    target = copy / "pnulearn" / part
    kept = target.read_text(encoding="utf-8")
    target.write_text(source, encoding="utf-8")
    quiet = ["-q", "-x", "-n", "0", "-p", "no:cacheprovider", "-m", "not thorough"]
    command = [sys.executable, "-m", "pytest", *quiet, str(target), *tests]
    paths = f"{copy}{os.pathsep}{ROOT}"
    try:
        result = subprocess.run(
            command,
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": paths},
            capture_output=True,
            check=False,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS)),
        )
        return result.returncode != 0
    finally:
        target.write_text(kept, encoding="utf-8")


def refuse_failing(part: str, tests: list[str], copy: Path) -> None:
    """Stop if the tests of a part fail without any change: then they would seem to notice everything."""
    if is_killed(part, _source(part), copy, tests):
        sys.exit(f"{', '.join(tests)} must pass for the unchanged {part}, and fails here.")


def sample() -> list[tuple[str, int, int, str]]:
    """All of them by chance; parts take turns, so that a stopped run has seen every part."""
    queues = {part: places(_source(part)) for part in PARTS}
    for part, queue in queues.items():
        random.Random(part).shuffle(queue)
    longest = max(map(len, queues.values()))
    return [(part, *queue[turn]) for turn in range(longest) for part, queue in queues.items() if turn < len(queue)]


def _source(part: str) -> str:
    return (ROOT / "src" / "pnulearn" / part).read_text(encoding="utf-8")


def summarise(rows: list[dict[str, object]], n_possible: int) -> str:
    own, others = (sum(row["noticed"] == by for row in rows) for by in ("its own tests", "other tests"))
    lines = [
        "# Mutants",
        "",
        "Written by `make mutants` (`tests/mutation`): one small change at a time (an operator, a comparison, and for",
        "or, a sign, min for max) against the tests and examples of its part, and then against tests of what uses it.",
        f"{len(rows)} of {n_possible} possible ones were tried, by chance: {own} were noticed by the part's own tests,",
        f"{others} by others, {len(rows) - own - others} by none: score {(own + others) / len(rows):.2f}.",
        "Eight of them once passed all tests (`tests/mutation/named.py`).",
        "",
        "| part | mutants | noticed by its own tests | by others |",
        "|---|---|---|---|",
    ]
    for part in PARTS:
        by = Counter(row["noticed"] for row in rows if row["part"] == part)
        lines += [f"| {part} | {by.total()} | {by['its own tests']} | {by['other tests']} |"] if by else []
    alive = [row for row in rows if not row["noticed"]]
    lines += ["", "## Not noticed", "", *(f"- {r['part']}, line {r['line']}: {r['change']}" for r in alive)]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--mutants", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=1e9, help="begin none after this time")
    parser.add_argument("--rows", type=Path, default=ROOT / ".mutants.jsonl", help="rows of earlier runs")
    parser.add_argument("--out", type=Path, default=ROOT / "results" / "mutants.md")
    asked, start = parser.parse_args(), time.monotonic()
    rows = [json.loads(line) for line in asked.rows.read_text().splitlines()] if asked.rows.exists() else []
    done = {(row["part"], row["line"], row["change"]) for row in rows}
    every = sample()
    with tempfile.TemporaryDirectory() as place, asked.rows.open("a") as file:
        copy = Path(place)
        shutil.copytree(ROOT / "src" / "pnulearn", copy / "pnulearn")
        passing = set[tuple[str, ...]]()
        for named in NAMED:
            if not any(named.words == row["change"] for row in rows):
                if named.tests not in passing:
                    refuse_failing(named.part, list(named.tests), copy)
                passing.add(named.tests)
                rows.append(try_named(named, copy))
                print(json.dumps(rows[-1]), file=file, flush=True)
        for part, number, line, change in every[: asked.mutants]:
            if (part, line, change) in done or time.monotonic() - start > asked.seconds:
                continue
            if tuple(PARTS[part]) not in passing:
                refuse_failing(part, PARTS[part], copy)
            passing.add(tuple(PARTS[part]))
            noticed = noticed_by(part, mutate(_source(part), number), copy)
            rows.append({"part": part, "line": line, "change": change, "noticed": noticed})
            print(json.dumps(rows[-1]), file=file, flush=True)
            asked.out.write_text(summarise(rows, len(every)), encoding="utf-8")


def try_named(change: Named, copy: Path) -> dict[str, object]:
    """Like `noticed_by`, for a change of the text that was found by hand."""
    before, rest = _source(change.part).split(change.old, 1)  # fails if the code has changed: then change NAMED
    is_noticed = is_killed(change.part, before + change.new + rest, copy, list(change.tests))
    line, noticed = before.count("\n") + 1, "its own tests" if is_noticed else ""
    return {"part": change.part, "line": line, "change": change.words, "noticed": noticed}


if __name__ == "__main__":
    main()
