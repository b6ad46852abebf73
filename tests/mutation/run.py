"""Sampled mutants of the core against the tests of their part; rows are kept, so that a stopped run goes on."""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import resource
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pandas  # noqa: F401
import pytest
import sklearn.ensemble
import sklearn.model_selection  # noqa: F401

from tests.mutation.changes import mutate, places
from tests.mutation.named import NAMED

ROOT = Path(__file__).parents[2]
PATIENCE = 5  # times the processor time of the unchanged tests, then a change that does not end is noticed
PARTS = {
    "risks.py": ["tests/test_risks.py"],
    "theory.py": ["tests/test_theory.py", "tests/test_advice.py"],
    "losses.py": ["tests/test_losses.py"],
    "_numbers.py": ["tests/test_numbers.py"],
    "_problem/folds.py": ["tests/problem/test_folds.py", "tests/learning/test_lonely_class.py"],
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
    "_problem": ["tests/problem", "tests/metrics/test_groups.py", "tests/golden"],
    "_learning": ["tests/learning", "tests/golden"],
    "_solvers": ["tests/solvers", "tests/golden"],
    "metrics": ["tests/metrics"],
    "_intervals": ["tests/intervals", "tests/metrics"],
    "priors": ["tests/priors"],
    "_reader": ["tests/tables"],
    "tables": ["tests/tables"],
    "cli": ["tests/cli/test_commands.py", "tests/frozen"],
    "labeling": ["tests/labeling"],
    "report": ["tests/report"],
    "streaming": ["tests/streaming"],
    "": ["tests/test_theory.py", "tests/metrics", "tests/golden"],
}


class Mutant(NamedTuple):
    """A module after one change, and what is stored about the change."""

    source: Callable[[], str]
    tests: tuple[str, ...]
    row: dict[str, object]

    @property
    def part(self) -> str:
        return str(self.row["part"])


class Bench:
    """A copy of the package in which one module at a time is changed, and what its tests take without a change."""

    def __init__(self, copy: Path) -> None:
        self._copy = copy
        self._limits: dict[tuple[str, ...], int] = {}
        shutil.copytree(ROOT / "src" / "pnulearn", copy / "pnulearn")

    def noticed_by(self, mutant: Mutant) -> str:
        """Which tests fail with the change: those of its part, others, or none."""
        if self._is_killed(mutant, mutant.tests):
            return "its own tests"
        others = WIDER[next(folder for folder in WIDER if mutant.part.startswith(folder))]
        return "other tests" if self._is_killed(mutant, tuple(others)) else ""

    def _is_killed(self, mutant: Mutant, tests: tuple[str, ...]) -> bool:
        part = mutant.part
        if tests not in self._limits:
            before = _seconds_of_children()
            if self._fails(part, _source(part), tests, resource.RLIM_INFINITY):
                # They would seem to notice everything.
                sys.exit(f"{', '.join(tests)} must pass for the unchanged {part}, and fails here.")
            self._limits[tests] = int(60 + PATIENCE * (_seconds_of_children() - before))
        return self._fails(part, mutant.source(), tests, self._limits[tests])

    def _fails(self, part: str, source: str, tests: tuple[str, ...], seconds: int) -> bool:
        target = self._copy / "pnulearn" / part
        kept = target.read_text(encoding="utf-8")
        target.write_text(source, encoding="utf-8")
        # A copy of this process: NumPy, SciPy, scikit-learn and pandas are imported once for all mutants.
        child = multiprocessing.get_context("fork").Process(target=_run, args=(self._copy, target, tests, seconds))
        try:
            child.start()
            child.join()
            return child.exitcode != 0
        finally:
            target.write_text(kept, encoding="utf-8")


def _run(copy: Path, target: Path, tests: tuple[str, ...], seconds: int) -> None:
    """The tests with the package of that folder, and then the examples of the changed module, which pytest imports a
    second time. The limit is one of processor time, for by the clock a busy machine would seem to notice every change.
    """
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    sys.path.insert(0, str(copy))
    os.environ["PYTHONPATH"] = f"{copy}{os.pathsep}{ROOT}"
    os.chdir(ROOT)
    with open(os.devnull, "w") as nothing, redirect_stdout(nothing), redirect_stderr(nothing):
        quiet = ["-q", "-x", "-n", "0", "-p", "no:cacheprovider", "-m", "not thorough"]
        ours = ["-c", str(ROOT / "pyproject.toml"), "--rootdir", str(ROOT)]  # else pytest looks for its settings there
        code = pytest.main([*quiet, *tests]) or pytest.main([*quiet, *ours, str(target)])
    os._exit(0 if code == pytest.ExitCode.NO_TESTS_COLLECTED else code)  # a module without examples


def _seconds_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def sample() -> list[Mutant]:
    """Those found by hand, then all others by chance; parts take turns, so that a stopped run has seen every part."""
    named = []
    for change in NAMED:
        before, rest = _source(change.part).split(change.old, 1)  # fails if the code has changed: then change NAMED
        row = {"part": change.part, "line": before.count("\n") + 1, "columns": "", "change": change.words}
        named.append(Mutant(partial("".join, (before, change.new, rest)), change.tests, row | {"code": change.old}))
    queues = [_of_part(part) for part in PARTS]
    turns = range(max(map(len, queues)))
    return named + [queue[turn] for turn in turns for queue in queues if turn < len(queue)]


def _of_part(part: str) -> list[Mutant]:
    source, found = _source(part), places(_source(part))
    random.Random(part).shuffle(found)
    lines = source.splitlines()
    rows = [{"part": part, "line": at, "columns": columns, "change": words} for _, at, columns, words in found]
    return [
        Mutant(partial(mutate, source, number), tuple(PARTS[part]), row | {"code": lines[row["line"] - 1].strip()})
        for (number, *_), row in zip(found, rows, strict=True)
    ]


def _source(part: str) -> str:
    return (ROOT / "src" / "pnulearn" / part).read_text(encoding="utf-8")


def summarise(rows: list[dict[str, object]], n_possible: int) -> str:
    own, others = (sum(row["noticed"] == by for row in rows) for by in ("its own tests", "other tests"))
    lines = [
        "# Mutants",
        "",
        "Written by `make mutants` (`tests/mutation`): one small change at a time (an operator, a comparison, and for",
        "or, a sign, min for max) against the tests and examples of its part, and then against tests of what uses it.",
        f"{len(rows)} of {n_possible} possible ones were tried: {own} were noticed by the part's own tests,",
        f"{others} by others, {len(rows) - own - others} by none: score {(own + others) / len(rows):.2f}.",
        f"{len(NAMED)} once passed all tests (`tests/mutation/named.py`); the others were taken by chance.",
        "What none noticed is tried again in later runs, so a test that was added for it makes it count as noticed.",
        "",
        "| part | mutants | noticed by its own tests | by others |",
        "|---|---|---|---|",
    ]
    for part in PARTS:
        by = Counter(row["noticed"] for row in rows if row["part"] == part)
        lines += [f"| {part} | {by.total()} | {by['its own tests']} | {by['other tests']} |"] if by else []
    alive = [row for row in rows if not row["noticed"]]
    lines += [
        "",
        "## Not noticed",
        "",
        *(f"- {r['part']}, line {r['line']}: {r['change']}: `{r['code']}`" for r in alive),
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--mutants", type=int, default=200, help="by chance, besides those found by hand")
    parser.add_argument("--seconds", type=float, default=1e9, help="begin none after this time")
    parser.add_argument("--rows", type=Path, default=ROOT / "results" / "rows" / "mutants.jsonl")
    parser.add_argument("--out", type=Path, default=ROOT / "results" / "mutants.md")
    asked, start = parser.parse_args(), time.monotonic()
    every = sample()
    stored = [json.loads(line) for line in asked.rows.read_text().splitlines()] if asked.rows.exists() else []
    # What a test noticed holds as long as the changed line stays where it is; what none noticed is tried again.
    noticed = {_key(row): row for row in stored if row["noticed"]}
    rows = []
    with tempfile.TemporaryDirectory() as place, asked.rows.open("a") as file:
        bench = Bench(Path(place))
        for mutant in every[: len(NAMED) + asked.mutants]:
            row = noticed.get(_key(mutant.row))
            if row is None and time.monotonic() - start < asked.seconds:
                row = mutant.row | {"noticed": bench.noticed_by(mutant)}
                print(json.dumps(row), file=file, flush=True)
            rows += [row] if row is not None else []
            asked.out.write_text(summarise(rows, len(every)), encoding="utf-8")


def _key(row: dict[str, object]) -> tuple[object, ...]:
    return tuple(row[name] for name in ("part", "line", "columns", "change", "code"))


if __name__ == "__main__":
    main()
