"""Runs an experiment: what its rows file does not hold yet, over processes, then the table or figure.

A rows file has one line of JSON for every finished trial and method, appended as soon as it exists, so that a stopped
or killed run is continued by starting it again.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

from joblib import Parallel, delayed, parallel_config
from threadpoolctl import threadpool_limits

from experiments.datasets import DataSetMissing
from experiments.figure_1 import FIGURE_1
from experiments.figure_2 import FIGURE_2
from experiments.methods import load_plugins, method_names
from experiments.table_1 import TABLE_1
from experiments.table_2 import TABLE_2
from experiments.timing import FIGURE_3, FIGURE_4
from experiments.trials import Cell, Experiment, Row, Settings, TooFewRows

try:
    import fcntl
except ImportError:  # Windows, where a blank line may come between rows of two processes; `read_rows` skips it
    fcntl = None  # type: ignore[assignment]

EXPERIMENTS = {
    "table-1": TABLE_1,
    "figure-1": FIGURE_1,
    "figure-2": FIGURE_2,
    "figure-3": FIGURE_3,
    "table-2": TABLE_2,
    "figure-4": FIGURE_4,
}


def reproduce(
    name: str,
    *,
    out: str | os.PathLike[str] = "results",
    data: str | os.PathLike[str] | None = None,
    download: bool = False,
    trials: int | None = None,
    sets: Sequence[str] | None = None,
    methods: Sequence[str] | None = None,
    quick: bool = False,
    n_jobs: int = 1,
    plugins: Sequence[str] = (),
    run: bool = True,
    say: Callable[[str], None] = print,
) -> list[Path]:
    """Run the trials of a table or figure that `out` does not hold yet, write it and return the files written.

    Parameters
    ----------
    name : str
        One of `EXPERIMENTS`.
    out : path
        Folder for rows/NAME.jsonl (one line per finished trial and method) and for the tables and figures.
    data : path, optional
        Folder of data files, by default what PNULEARN_DATA names.
    download : bool
        Ask OpenML for sets that are missing there.
    trials, sets, methods : optional
        Fewer, more or other than the paper's.
    quick : bool
        A run of minutes on generated data.
    n_jobs : int
        Processes, each with one BLAS thread; -1 for all processors.
    plugins : sequence of paths
        Python files that register methods or data sets.
    run : bool
        False only writes tables and figures from the rows there are.
    say : callable
        What to do with messages.
    """
    if name not in EXPERIMENTS:
        raise ValueError(f"No experiment is called {name!r}. Choose from {', '.join(EXPERIMENTS)}.")
    load_plugins(plugins)
    experiment = EXPERIMENTS[name]
    ending = "-quick" if quick else ""
    path = Path(out) / "rows" / f"{experiment.rows_of or name}{ending}.jsonl"
    sets = tuple(sets or (experiment.quick_sets if quick else experiment.sets))
    methods = tuple(methods or (experiment.quick_methods if quick else experiment.methods))
    trials = (experiment.quick_trials if quick else experiment.trials) if trials is None else trials
    _refuse(experiment, methods, trials, n_jobs)
    cells = list(experiment.cells(sets, trials))
    if run:
        jobs = pending(cells, methods, path)
        n_jobs = 1 if experiment.one_process else n_jobs
        settings = Settings(os.fspath(data) if data else None, download, tuple(map(str, plugins)), n_jobs)
        say(f"{name}: {len(cells) - len(jobs)} of {len(cells)} trials are in {path}")
        progress = Progress(len(jobs))
        for line in run_all(experiment, jobs, path, settings, progress):
            say(f"skipped: {line}")
        if progress.total < len(jobs):
            say(f"{progress.done} trials were run, {len(jobs) - progress.total} skipped because their data is missing")
    return experiment.write(unique_rows(read_rows(path), [*cells[0], "method"]), Path(out), f"{name}{ending}")


def _refuse(experiment: Experiment, methods: Sequence[str], trials: int, n_jobs: int) -> None:
    known = [*dict.fromkeys([*experiment.methods, *method_names()])]
    unknown = [name for name in methods if name not in known]
    if unknown:
        raise ValueError(f"No method is called {unknown[0]!r}. Known: {', '.join(known)}.")
    if trials < 1:
        raise ValueError(f"trials must be at least 1, got {trials}.")
    if n_jobs == 0:
        raise ValueError("n_jobs must be a number of processes, or -1 for all processors, got 0.")


@dataclass(frozen=True)
class Job:
    """One trial and the methods it still has to run."""

    cell: Cell
    methods: tuple[str, ...]


@dataclass
class Progress:
    """A line with the share done and the time left, rewritten in place on a terminal."""

    total: int
    out: TextIO = field(default_factory=lambda: sys.stderr)
    done: int = 0
    start: float = field(default_factory=time.monotonic)
    shown: float = 0.0

    def skip(self) -> None:
        """A trial that cannot be run is not counted among the trials to run."""
        self.total -= 1

    def step(self, label: str) -> None:
        self.done += 1
        now = time.monotonic()
        if now - self.shown > (0.2 if self.out.isatty() else 30) or self.done == self.total:
            left = (now - self.start) / self.done * (self.total - self.done)
            text = f"{self.done}/{self.total} trials, {_minutes(left)} left, last: {label}"
            print(f"\r\033[K{text}" if self.out.isatty() else text, end="", file=self.out, flush=True)
            print(file=self.out) if not self.out.isatty() or self.done == self.total else None
            self.shown = now


def _minutes(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def pending(cells: Sequence[Cell], methods: Sequence[str], path: Path) -> list[Job]:
    """Jobs for what the rows file does not hold yet."""
    names = [*cells[0], "method"] if cells else []
    known = {_key(row, names) for row in read_rows(path)}
    jobs = [Job(cell, tuple(m for m in methods if (*cell.values(), m) not in known)) for cell in cells]
    return [job for job in jobs if job.methods]


def run_all(
    experiment: Experiment, jobs: Sequence[Job], path: Path, settings: Settings, progress: Progress
) -> list[str]:
    """Run every job, appending each finished row to the file; returns a line for every cell that was skipped.

    A killed run loses the methods that were being fitted, nothing else.
    """
    skipped: dict[str, None] = {}
    for label, problem in _results(experiment, jobs, path, settings):
        if problem:
            skipped[problem] = None
            progress.skip()
        else:
            progress.step(label)
    return list(skipped)


def _results(experiment: Experiment, jobs: Sequence[Job], path: Path, settings: Settings) -> Iterator[tuple[str, str]]:
    if settings.n_jobs == 1:
        yield from (run_job(experiment, job, path, settings) for job in jobs)
        return
    with parallel_config("loky", n_jobs=settings.n_jobs, inner_max_num_threads=1):
        yield from Parallel(return_as="generator_unordered")(
            delayed(run_job)(experiment, job, path, settings) for job in jobs
        )


def run_job(experiment: Experiment, job: Job, path: Path, settings: Settings) -> tuple[str, str]:
    """Run one trial; returns its name and, if its data is missing or too small, a line that says so."""
    label = " ".join(str(value) for value in job.cell.values())
    load_plugins(settings.plugins)
    try:
        with threadpool_limits(1, "blas"):
            for row in experiment.run(job.cell, job.methods, settings):
                append_row(path, row)
    except DataSetMissing as missing:
        return label, str(missing)
    except TooFewRows as small:
        where = ", ".join(f"{name} {value}" for name, value in job.cell.items() if name != "trial")
        return label, f"{where}: {small}."
    return label, ""


def append_row(path: Path, row: Row) -> None:
    """Add one row in a single write under a lock, so that several processes may share the file."""
    line = json.dumps(row, allow_nan=True) + "\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        if fcntl:
            fcntl.flock(handle, fcntl.LOCK_EX)  # closing the file releases it
        if os.fstat(handle).st_size:
            os.lseek(handle, -1, os.SEEK_END)
            if os.read(handle, 1) != b"\n":  # a line cut short by a kill
                line = "\n" + line
        os.write(handle, line.encode())
    finally:
        os.close(handle)


def read_rows(path: Path) -> list[Row]:
    """All rows; a line cut short by a kill is left out, to be run again."""
    if not path.exists():
        return []
    rows = []
    for line in path.read_text().splitlines():
        try:
            rows.append(json.loads(line))
        except json.JSONDecodeError:
            continue
    return rows


def unique_rows(rows: Iterable[Row], names: Sequence[str]) -> list[Row]:
    """One row per key, the first, sorted by key: the same whatever the order they were run in."""
    kept: dict[tuple[Any, ...], Row] = {}
    for row in rows:
        kept.setdefault(_key(row, names), row)
    return [kept[key] for key in sorted(kept, key=lambda key: tuple(map(_sortable, key)))]


def _key(row: Row, names: Sequence[str]) -> tuple[Any, ...]:
    return tuple(row[name] for name in names)


def _sortable(value: Any) -> tuple[int, Any]:
    return (0, value) if isinstance(value, (int, float)) else (1, str(value))
