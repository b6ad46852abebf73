"""Runs the trials of an experiment that are not in the rows file yet, over processes, one BLAS thread each."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

from joblib import Parallel, delayed, parallel_config

from pnulearn._machine.threads import one_blas_thread
from pnulearn.laboratory.datasets import DataSetMissing
from pnulearn.laboratory.experiments import rows as store
from pnulearn.laboratory.experiments.methods import load_plugins
from pnulearn.laboratory.experiments.trials import TooFewRows

Cell = dict[str, Any]
Run = Callable[[Cell, Sequence[str], "Settings"], Iterable[store.Row]]


@dataclass(frozen=True)
class Settings:
    """What every trial of a run shares."""

    data: str | None = None
    download: bool = False
    plugins: tuple[str, ...] = ()
    n_jobs: int = 1


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
        """A trial that cannot be run is none of the trials to run."""
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


def pending(cells: Iterable[Cell], methods: Sequence[str], path: Path) -> list[Job]:
    """Jobs for what the rows file does not hold yet."""
    cells = list(cells)
    names = [*cells[0], "method"] if cells else []
    known = {store.key_of(row, names) for row in store.read(path)}
    jobs = [Job(cell, tuple(m for m in methods if (*cell.values(), m) not in known)) for cell in cells]
    return [job for job in jobs if job.methods]


def run_all(
    run: Run, jobs: Sequence[Job], path: Path, settings: Settings, progress: Progress | None = None
) -> list[str]:
    """Run every job, appending each finished row to the file; gives back a line for every cell that had to be skipped.

    A killed run loses the methods that were being fitted, nothing else.
    """
    progress = progress or Progress(len(jobs))
    skipped: dict[str, None] = {}
    for label, problem in _results(run, jobs, path, settings):
        if problem:
            skipped[problem] = None
            progress.skip()
        else:
            progress.step(label)
    return list(skipped)


def _results(run: Run, jobs: Sequence[Job], path: Path, settings: Settings) -> Iterator[tuple[str, str]]:
    if settings.n_jobs == 1:
        yield from (run_job(run, job, path, settings) for job in jobs)
        return
    with parallel_config("loky", n_jobs=settings.n_jobs, inner_max_num_threads=1):
        yield from Parallel(return_as="generator_unordered")(delayed(run_job)(run, job, path, settings) for job in jobs)


def run_job(run: Run, job: Job, path: Path, settings: Settings) -> tuple[str, str]:
    """Run one trial; gives back its name and, if its data is missing or too small, a line that says so."""
    label = " ".join(str(value) for value in job.cell.values())
    load_plugins(settings.plugins)
    try:
        with one_blas_thread():
            for row in run(job.cell, job.methods, settings):
                store.append(path, row)
    except DataSetMissing as missing:
        return label, str(missing)
    except TooFewRows as small:
        where = ", ".join(f"{name} {value}" for name, value in job.cell.items() if name != "trial")
        return label, f"{where}: {small}."
    return label, ""


def _minutes(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"
