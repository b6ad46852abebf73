"""Figure 4: processor time of the methods of Table 2 at its largest number of unlabelled rows."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from pnulearn.laboratory.experiments.figure_3 import draw_times, time_table
from pnulearn.laboratory.experiments.rows import Row
from pnulearn.laboratory.experiments.table_2 import (
    METHODS,
    QUICK_METHODS,
    QUICK_SETS,
    QUICK_TRIALS,
    SETS,
    TRIALS,
    cells,
    run,
)
from pnulearn.laboratory.experiments.tables import write_text

__all__ = ["METHODS", "QUICK_METHODS", "QUICK_SETS", "QUICK_TRIALS", "SETS", "TRIALS", "cells", "run", "write"]


def write(rows: Iterable[Row], folder: Path, stem: str = "figure-4") -> list[Path]:
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
