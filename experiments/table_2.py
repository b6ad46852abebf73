"""Table 2: linear models, 100 labels, up to 10,000 unlabelled rows, the class prior estimated.

The paper's data are AlexNet features of Places205. With files places_arts.npz, places_deserts.npz, … (X: one row of
features per image, y: +1 for the first scene of the pair) in the data folder those are used; without them, other image
sets are used at the paper's priors.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from experiments.datasets import DataSetMissing, find
from experiments.methods import find_method, measure, method_names
from experiments.summary import Summary, Table, Text, comparable, group_rows, show_cell, write_text
from experiments.trials import Cell, Experiment, Row, Settings, counts, draw_trial, load_scaled


@dataclass(frozen=True)
class Task:
    """The population's share of positives as in the paper, and the set used in place of its images."""

    prior: float
    substitute: str


TASKS = {
    "arts": Task(0.50, "cifar_cat_v_dog_effnet"),
    "deserts": Task(0.73, "cifar_cat_v_dog_effnet"),
    "fields": Task(0.65, "fmnist_tshirt_v_shirt"),
    "stadiums": Task(0.50, "mnist_4v9"),
    "platforms": Task(0.27, "mnist_7v9"),
    "temples": Task(0.55, "fmnist_pullover_v_coat"),
}
QUICK_TASKS = {"quick": Task(0.3, "digits-parity")}
UNLABELED_SIZES = (1000, 5000, 10000)
QUICK_UNLABELED_SIZES = (200, 600)
LABELED = (50, 50)
METHODS = ("linear-pnu", "linear-pnu-average", "linear-pn-average", "linear-logistic")

HEAD = (
    "Mean error in percent at the population's class prior, and its standard error. Bold as in Table 1. The prior is "
    "estimated by energy distance: as published for PNU, without its bias for the other methods."
)


def cells(sets: Sequence[str], trials: int) -> Iterator[Cell]:
    """Every trial, all tasks and sizes once before any twice."""
    for trial in range(trials):
        for task in sets:
            for size in QUICK_UNLABELED_SIZES if task in QUICK_TASKS else UNLABELED_SIZES:
                yield {"set": task, "n_unlabeled": size, "trial": trial}


def run(cell: Cell, methods: Sequence[str], settings: Settings) -> Iterator[Row]:
    """One row per method: error, seconds, the data used and the prior it was given or estimated."""
    task = (TASKS | QUICK_TASKS).get(cell["set"])
    if task is None:
        raise DataSetMissing(f"{cell['set']} is not a task of Table 2. Choose from {', '.join(TASKS)}.")
    places = f"places_{cell['set']}"
    source = places if find(places, settings.data) else task.substitute
    X, positive = load_scaled(source, settings.data, settings.download)
    trial = draw_trial(
        X,
        positive,
        labeled=LABELED,
        unlabeled=counts(cell["n_unlabeled"], task.prior),
        prior=task.prior,
        key=("table-2", *cell.values()),
    )
    for name in methods:
        yield {**cell, "method": name, "data": source, "prior": task.prior, **measure(trial, name)}


def write(rows: Iterable[Row], folder: Path, stem: str) -> list[Path]:
    """Write the table as Markdown and LaTeX."""
    rows = list(rows)
    if not rows:
        return []
    table = error_table(rows)
    text = f"# Table 2\n\n{HEAD}\n\n{table.markdown()}"
    return [write_text(folder / f"{stem}.md", text), write_text(folder / f"{stem}.tex", table.latex())]


def error_table(rows: Sequence[Row]) -> Table:
    """One line per task and number of unlabelled rows."""
    methods = method_names(row["method"] for row in rows)
    lines = []
    for (task, size), part in group_rows(rows, ("set", "n_unlabeled")).items():
        errors = {m: [row["error"] for row in part if row["method"] == m] for m in methods}
        found = {m: Summary.of(values) for m, values in errors.items() if values}
        best = comparable(found)
        priors = [_prior(part, "linear-pnu"), _prior(part, "linear-pnu-average")]
        head = [task, part[0]["data"], str(size), f"{part[0]['prior']:.2f}", *priors]
        cells = [Text(show_cell(found.get(m)), m in best) for m in methods]
        lines.append([*map(Text, head), *cells, Text(str(max(cell.n for cell in found.values())))])
    heading = ["task", "data", "U", "prior", "estimate as published", "estimate without bias"]
    return Table([*heading, *(find_method(m).title for m in methods), "trials"], lines)


def _prior(rows: Sequence[Row], method: str) -> str:
    values = [row["prior_used"] for row in rows if row["method"] == method and row.get("prior_used")]
    return f"{np.mean(values):.2f} ({Summary.of(values).stderr:.2f})" if values else ""


TABLE_2 = Experiment(
    title="linear models, 100 labels, up to 10,000 unlabelled rows, the class prior estimated",
    sets=tuple(TASKS),
    quick_sets=tuple(QUICK_TASKS),
    trials=30,
    quick_trials=5,
    methods=METHODS,
    quick_methods=METHODS,
    cells=cells,
    run=run,
    write=write,
)
