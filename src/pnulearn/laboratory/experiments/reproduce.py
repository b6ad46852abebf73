"""One function for every table and figure: run what is missing, then write what the rows say."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Protocol

from pnulearn.laboratory.experiments import figure_1, figure_2, figure_3, figure_4, rows, table_1, table_2
from pnulearn.laboratory.experiments.methods import load_plugins, method_names
from pnulearn.laboratory.experiments.runner import Cell, Progress, Settings, pending, run_all


class Experiment(Protocol):
    """What a table or figure module defines.

    SETS, TRIALS and METHODS are the full run, the QUICK ones a run of minutes without any data folder. `cells` lists
    trials, `run` gives one row per method of a trial, `write` turns rows into files.
    """

    SETS: tuple[str, ...]
    QUICK_SETS: tuple[str, ...]
    TRIALS: int
    QUICK_TRIALS: int
    METHODS: tuple[str, ...]
    QUICK_METHODS: tuple[str, ...]

    def cells(self, sets: Sequence[str], trials: int) -> Iterator[Cell]: ...
    def run(self, cell: Cell, methods: Sequence[str], settings: Settings) -> Iterator[rows.Row]: ...
    def write(self, rows: Iterable[rows.Row], folder: Path, stem: str) -> list[Path]: ...


EXPERIMENTS: dict[str, Experiment] = {
    "table-1": table_1,
    "figure-1": figure_1,
    "figure-2": figure_2,
    "figure-3": figure_3,
    "table-2": table_2,
    "figure-4": figure_4,
}
ROWS_OF = {"figure-4": "table-2"}  # a drawing of another experiment's rows


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
    """Run the trials of a table or figure that `out` does not hold yet and write it; gives back the files written.

    name : "table-1", "figure-1", "figure-2", "figure-3", "table-2", "figure-4" or "all".
    out : folder for rows/NAME.jsonl (one line per finished trial and method) and for the tables and figures.
    data : folder of data files, by default what PNULEARN_DATA names; download asks OpenML for what is missing there.
    trials, sets, methods : less, more or other than the paper's; quick is a run of minutes on generated data.
    plugins : Python files that register methods or data sets.
    run : False only writes tables and figures from the rows there are.
    """
    if name == "all":
        options = {key: value for key, value in locals().items() if key != "name"}
        return [path for each in EXPERIMENTS for path in reproduce(each, **options)]
    if name not in EXPERIMENTS:
        raise ValueError(f"Nothing is called {name!r}. Choose from {', '.join(EXPERIMENTS)} or all.")
    load_plugins(plugins)
    experiment = EXPERIMENTS[name]
    ending = "-quick" if quick else ""
    path = Path(out) / "rows" / f"{ROWS_OF.get(name, name)}{ending}.jsonl"
    sets = tuple(sets or (experiment.QUICK_SETS if quick else experiment.SETS))
    methods = tuple(methods or (experiment.QUICK_METHODS if quick else experiment.METHODS))
    _refuse_unknown(methods, experiment)
    trials = (experiment.QUICK_TRIALS if quick else experiment.TRIALS) if trials is None else trials
    _refuse_none_at_all(trials, n_jobs)
    cells = list(experiment.cells(sets, trials))
    if run:
        jobs = pending(cells, methods, path)
        one_process = getattr(experiment, "ONE_PROCESS", False)
        settings = Settings(
            os.fspath(data) if data else None, download, tuple(map(str, plugins)), 1 if one_process else n_jobs
        )
        say(f"{name}: {len(cells) - len(jobs)} of {len(cells)} trials are in {path}")
        progress = Progress(len(jobs))
        for line in run_all(experiment.run, jobs, path, settings, progress):
            say(f"skipped: {line}")
        if progress.total < len(jobs):
            say(f"{progress.done} trials were run, {len(jobs) - progress.total} skipped for want of data")
    found = rows.unique(rows.read(path), [*cells[0], "method"])
    written = experiment.write(found, Path(out), f"{name}{ending}")
    for file in written:
        say(f"wrote {file}")
    return written


def _refuse_unknown(methods: Sequence[str], experiment: Experiment) -> None:
    known = [*dict.fromkeys([*experiment.METHODS, *method_names()])]
    unknown = [name for name in methods if name not in known]
    if unknown:
        raise ValueError(f"No method is called {unknown[0]!r}. Known: {', '.join(known)}.")


def _refuse_none_at_all(trials: int, n_jobs: int) -> None:
    if trials < 1:
        raise ValueError(f"trials must be at least 1, got {trials}.")
    if n_jobs == 0:
        raise ValueError("n_jobs must be a number of processes, or -1 for all processors, got 0.")
