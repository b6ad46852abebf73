"""Figure 3: processor time of every method, search included, with 50 labels; one process, one thread."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from pnulearn.laboratory.experiments import table_1
from pnulearn.laboratory.experiments.curves import new_figure, save
from pnulearn.laboratory.experiments.figure_1 import group_rows
from pnulearn.laboratory.experiments.methods import find_method, method_names
from pnulearn.laboratory.experiments.rows import Row
from pnulearn.laboratory.experiments.runner import Cell
from pnulearn.laboratory.experiments.significance import Summary
from pnulearn.laboratory.experiments.table_1 import QUICK_SETS, SETS, run
from pnulearn.laboratory.experiments.tables import Table, Text, write_text

N_LABELED = 50
TRIALS = 3
QUICK_TRIALS = 1
METHODS: tuple[str, ...] = (*table_1.QUICK_METHODS, *table_1.RIVALS)
QUICK_METHODS = table_1.QUICK_METHODS
ONE_PROCESS = True  # so that methods do not disturb each other's clocks

__all__ = [
    "METHODS",
    "ONE_PROCESS",
    "QUICK_METHODS",
    "QUICK_SETS",
    "QUICK_TRIALS",
    "SETS",
    "TRIALS",
    "cells",
    "run",
    "write",
]


def cells(sets: Sequence[str], trials: int) -> Iterator[Cell]:
    """The trials of Table 1 with 50 labels."""
    return (cell for cell in table_1.cells(sets, trials) if cell["n_labeled"] == N_LABELED)


def write(rows: Iterable[Row], folder: Path, stem: str = "figure-3") -> list[Path]:
    """A bar per set and method on a logarithmic axis, and the table behind it."""
    rows = list(rows)
    if not rows:
        return []
    table = time_table(rows, "set", "Seconds of processor time to learn, hyper-parameter search included.")
    return [
        write_text(folder / f"{stem}.md", "# Figure 3\n\n" + table),
        draw_times(rows, "set", folder / f"{stem}.svg"),
    ]


def time_table(rows: Sequence[Row], place: str, caption: str) -> str:
    """Mean seconds, one line per set and one column per method."""
    methods = _methods(rows)
    lines = []
    for (name,), part in group_rows(rows, (place,)).items():
        times = {method: [row["seconds"] for row in part if row["method"] == method] for method in methods}
        cells = [f"{Summary.of(values).mean:.2f}" if values else "" for values in times.values()]
        lines.append([Text(str(name)), *map(Text, cells)])
    return f"{caption}\n\n" + Table([place, *(find_method(m).title for m in methods)], lines).markdown()


def draw_times(rows: Sequence[Row], place: str, path: Path) -> Path:
    """Grouped bars of mean seconds."""
    methods, places = _methods(rows), [key[0] for key in group_rows(rows, (place,))]
    figure = new_figure(max(6, 0.9 * len(places)), 3.5)
    ax = figure.subplots()
    width = 0.8 / len(methods)
    for number, method in enumerate(methods):
        means = [
            np.mean([row["seconds"] for row in rows if (row[place], row["method"]) == (name, method)] or [np.nan])
            for name in places
        ]
        ax.bar(np.arange(len(places)) + number * width, means, width, label=find_method(method).title)
    ax.set_yscale("log")
    ax.set_ylabel("seconds")
    ax.set_xticks(np.arange(len(places)) + 0.4, places, rotation=45, ha="right")
    ax.legend(fontsize=6, ncols=4)
    return save(figure, path)


def _methods(rows: Sequence[Row]) -> list[str]:
    seen = {row["method"] for row in rows}
    return [name for name in method_names() if name in seen]
