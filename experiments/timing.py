"""Figures 3 and 4: processor time of the methods of Tables 1 and 2, hyper-parameter search included."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from experiments.methods import find_method, method_names
from experiments.summary import Summary, Table, Text, group_rows, new_figure, save_figure, write_text
from experiments.table_1 import BASELINES, TABLE_1
from experiments.table_2 import TABLE_2
from experiments.trials import Cell, Row

N_LABELED = 50


def figure_3_cells(sets: Sequence[str], trials: int) -> Iterator[Cell]:
    """The trials of Table 1 with 50 labels."""
    return (cell for cell in TABLE_1.cells(sets, trials) if cell["n_labeled"] == N_LABELED)


def write_figure_3(rows: Iterable[Row], folder: Path, stem: str) -> list[Path]:
    """A bar per set and method on a logarithmic axis, and the table behind it."""
    rows = list(rows)
    if not rows:
        return []
    table = time_table(rows, "set", "Seconds of processor time to learn, hyper-parameter search included.")
    return [
        write_text(folder / f"{stem}.md", "# Figure 3\n\n" + table),
        draw_times(rows, "set", folder / f"{stem}.svg"),
    ]


def write_figure_4(rows: Iterable[Row], folder: Path, stem: str) -> list[Path]:
    """Bars and a table of seconds, by task, at the largest size that the task's data allow."""
    rows = list(rows)
    if not rows:
        return []
    largest = {row["set"]: max(other["n_unlabeled"] for other in rows if other["set"] == row["set"]) for row in rows}
    kept = [
        {**row, "task": f"{row['set']} ({row['n_unlabeled']} U)"}
        for row in rows
        if row["n_unlabeled"] == largest[row["set"]]
    ]
    caption = "Seconds of processor time to learn, search and prior estimation included, with the most unlabelled rows."
    text = "# Figure 4\n\n" + time_table(kept, "task", caption)
    return [write_text(folder / f"{stem}.md", text), draw_times(kept, "task", folder / f"{stem}.svg")]


def time_table(rows: Sequence[Row], place: str, caption: str) -> str:
    """Mean seconds, one line per set and one column per method."""
    methods = method_names(row["method"] for row in rows)
    lines = []
    for (name,), part in group_rows(rows, (place,)).items():
        times = {method: [row["seconds"] for row in part if row["method"] == method] for method in methods}
        cells = [f"{Summary.of(values).mean:.2f}" if values else "" for values in times.values()]
        lines.append([Text(str(name)), *map(Text, cells)])
    return f"{caption}\n\n" + Table([place, *(find_method(m).title for m in methods)], lines).markdown()


def draw_times(rows: Sequence[Row], place: str, path: Path) -> Path:
    """Grouped bars of mean seconds."""
    methods, places = method_names(row["method"] for row in rows), [key[0] for key in group_rows(rows, (place,))]
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
    return save_figure(figure, path)


FIGURE_3 = replace(
    TABLE_1,
    title="processor time of every method with 50 labels, one thread",
    trials=3,
    quick_trials=1,
    methods=(*TABLE_1.quick_methods, *BASELINES),
    cells=figure_3_cells,
    write=write_figure_3,
    one_process=True,
)
FIGURE_4 = replace(
    TABLE_2,
    title="processor time of Table 2, from its rows",
    write=write_figure_4,
    rows_of="table-2",
)
