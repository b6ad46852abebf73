"""Watching a model on tables that arrive month by month: new rows, few labels, and a state in a small file."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._files.outputs import MONITOR, MONITOR_HEAD, Output, check_outputs
from pnulearn._files.writing import write_atomically
from pnulearn._problem.labels import UNLABELED, Labels
from pnulearn._reader.errors import TableError
from pnulearn._reader.frames import as_table, is_paths
from pnulearn._reader.in_memory import read_table
from pnulearn._reader.table import Table, stack
from pnulearn.metrics._by_group import estimate_facts
from pnulearn.metrics._estimate import Estimate
from pnulearn.metrics._monitoring import MonitoredWindow, Monitoring, MonitorState, monitor
from pnulearn.metrics._share import ShareSampling
from pnulearn.tables._evaluation import model_labels
from pnulearn.tables._loading import load_table_model
from pnulearn.tables._model import TableModel
from pnulearn.tables._notes import note
from pnulearn.tables._verdict import NONE
from pnulearn.tables._windows import EMPTY, PER_YEAR, read_windows

VERSION = 1
HORIZON = 52  # windows per year if they are not days, weeks or months
MOST_BYTES = 50_000_000  # of a state
MOST_MOVED = 3  # columns that are named in a cell


@dataclass(frozen=True, eq=False)
class TableMonitoring:
    """Windows of a table with the alarms of all windows so far.

    Parameters
    ----------
    found : Monitoring
        Windows, alarms and the state.
    by : str
        The column of windows.
    """

    found: Monitoring
    by: str

    @property
    def alarms(self) -> dict[str, str]:
        """The quantities that raised an alarm, and the window in which they did."""
        return self.found.alarms

    def sentence(self) -> str:
        """Whether there is an alarm, in words."""
        return self.found.sentence()

    def remarks(self) -> list[str]:
        """Columns that moved in the last window."""
        last = self.found.windows[-1]
        moved = ", ".join(f"{name} ({size:.2f})" for name, size in last.moved.items())
        return [f"Columns that moved in {last.name}, with the size from 0 to 1: {moved}."] if moved else []

    def rows(self) -> list[dict[str, str]]:
        """A table in words: one row per window."""
        return [
            {
                self.by: one.name,
                "rows": f"{one.n_rows:,}",
                "labels": f"{one.n_labels:,}",
                "predicted": f"{100 * one.predicted:.1f} %",
                "prior": _span(one.prior),
                "error": _span(one.error),
                "precision": _span(one.precision) or (NONE if one.n_labels else ""),
                "recall": _span(one.recall),
                "moved": _named(one),
            }
            for one in self.found.windows
        ]

    def facts(self) -> dict[str, Any]:
        """All of it as plain values, as `pnulearn monitor --json` prints them."""
        rules = self.found.state.rules
        return {
            "verdict": self.sentence(),
            "alarms": self.alarms,
            "false_alarms": rules.false_alarms,
            "horizon": rules.horizon,
            "by": self.by,
            "windows": [_window_facts(one) for one in self.found.windows],
        }


def _span(one: Estimate | None) -> str:
    return "" if one is None else f"{100 * one.value:.0f} % ({100 * one.low:.0f} to {100 * one.high:.0f})"


def _named(one: MonitoredWindow) -> str:
    more = f" and {len(one.moved) - MOST_MOVED} more" if len(one.moved) > MOST_MOVED else ""
    return ", ".join(list(one.moved)[:MOST_MOVED]) + more


def _window_facts(one: MonitoredWindow) -> dict[str, Any]:
    known = {"prior": one.prior, "error": one.error, "precision": one.precision, "recall": one.recall}
    return {
        "window": one.name,
        "rows": one.n_rows,
        "labels": one.n_labels,
        "predicted": one.predicted,
        **{name: None if found is None else estimate_facts(found) for name, found in known.items()},
        "moved": dict(one.moved),
        "evidence": dict(one.evidence),
    }


def monitor_table(
    model: TableModel | str | Path,
    data: Any,
    by: str,
    *,
    labels: Any = None,
    id: str | None = None,
    state: str | Path | None = None,
    sampling: ShareSampling = "random",
    false_alarms: float = 0.05,
    horizon: int | None = None,
    tolerance: float = 0.01,
    confidence: float = 0.95,
    unlabeled: Any = None,
    overwrite: bool = False,
) -> TableMonitoring:
    """Watch a model on the rows of a table: every window's prior, error, precision and recall, and an alarm.

    Parameters
    ----------
    model : TableModel or path
        The model of two classes.
    data : path, data frame or Table
        New rows. Labels may stand in the model's label column; empty cells are unlabelled.
    by : str
        Column of windows: "date:month", "month" if there is one column of dates, or any column that sorts in time.
    labels : path, data frame or Table, optional
        Labels that are kept elsewhere: with `id`, a table of that column and the label column; without it, labelled
        rows with all columns, drawn at random from the same windows, which are added to the others.
    id : str, optional
        Column by which `labels` belong to rows.
    state : path, optional
        A small file that is read if it exists, and replaced in one step. Windows in it are not counted again.
    sampling : "random" or "by_helper"
        How the labelled rows were chosen: at random, or by the model's prediction.
    false_alarms : float
        Probability of any false alarm in a year (`horizon` windows), at most.
    horizon : int, optional
        Windows per year. Default: 365 days, 52 weeks or 12 months, else 52.
    tolerance : float
        Standard deviation of shares between windows that is normal.
    confidence : float
        Confidence level of the intervals of each window.
    unlabeled : object, optional
        Value that marks unlabelled rows, in addition to empty cells.
    overwrite : bool
        Replace a file at `state` that is something else.

    Notes
    -----
    The last window of dates is shown but not counted while it is incomplete: if its rows end more than three days
    before it does. The alarm is explained in `pnulearn.metrics.monitor`.
    """
    model = load_table_model(model) if isinstance(model, str | Path) else model
    if len(model.classes) != 2:
        raise TableError(f"The model has {len(model.classes)} classes; two are needed.")
    kept = None if state is None else _read_state(state, model, by, overwrite=overwrite)
    table = _with_labels(_read(data), None if labels is None else _read(labels), model.label, id)
    windows = read_windows(table, by)
    predictions = model.predict(table)
    note(predictions.remarks)
    codes = _codes(table, model, unlabeled)
    rules: dict[str, Any] = {
        "sampling": sampling,
        "false_alarms": false_alarms,
        "horizon": horizon or (HORIZON if windows.period is None else PER_YEAR[windows.period]),
        "tolerance": tolerance,
        "confidence": confidence,
    }
    columns = _features(table, model, windows.column)

    shown = list[MonitoredWindow]()
    before = kept
    for code, name in enumerate(windows.names):
        rows = np.flatnonzero(windows.codes == code)
        if name == EMPTY:
            note([f"{len(rows):,} rows have no {windows.column} and are left out."])
            continue
        some: Any = Labels(model.classifier.classes_, codes[rows])
        cells = {column: values[rows] for column, values in columns.items()}
        one = monitor(some, predictions.scores[rows], [name] * len(rows), columns=cells, state=before, **rules)
        if windows.is_open(name):
            note([f"{name} is incomplete: it is shown, and counts when its rows are complete."])
            shown.append(replace(one.windows[0], evidence={}))
        else:
            shown.extend(one.windows)
            before = one.state
    if not shown:
        raise TableError(f"Column {windows.column!r} of {table.source} is empty in all rows. Name another with by=...")
    found = Monitoring(shown, before or MonitorState.start(one.state.rules))
    if state is not None:
        _write_state(state, found.state, model, by)
    return TableMonitoring(found, windows.column)


def _read(data: Any) -> Table:
    table = read_table(data) if is_paths(data) else as_table(data)
    note(table.remarks)
    return table


def _with_labels(table: Table, labels: Table | None, label: str, id: str | None) -> Table:
    """The rows with their labels, from their own column, by id, or as further rows."""
    import pyarrow as pa

    if labels is None:
        return table
    labels.refuse_absent(label)
    if id is None:
        if label not in table.names:
            empty = pa.nulls(table.n_rows, labels.cells.schema.field(label).type)
            table = replace(table, cells=table.cells.append_column(label, empty))
        return stack([table, replace(labels, cells=labels.cells.select(_same(table, labels)))])
    answers = _answers(labels, label, id)
    names = table.column(id).texts()
    given = [answers.get(name) for name in names]
    unknown = len(answers.keys() - set(names))
    note([f"{unknown:,} labels of {labels.source} belong to no row of {table.source}."] if unknown else [])
    cells = table.cells.drop_columns([label]) if label in table.names else table.cells
    return replace(table, cells=cells.append_column(label, pa.array(given, pa.string())))


def _same(table: Table, labels: Table) -> list[str]:
    for name in table.names:
        labels.refuse_absent(name)
    return table.names


def _answers(labels: Table, label: str, id: str) -> dict[str | None, str]:
    """The label of every id; refuses ids with two labels."""
    answers: dict[str | None, str] = {}
    for name, answer in zip(labels.column(id).texts(), labels.column(label, "text").texts(), strict=True):
        if name is not None and answer is not None and answers.setdefault(name, answer) != answer:
            raise TableError(f"{labels.source} gives {id} {name} two labels, {answers[name]!r} and {answer!r}.")
    return answers


def _codes(table: Table, model: TableModel, unlabeled: Any) -> AnyArray:
    if model.label not in table.names or table.column(model.label).missing.all():
        note([f"There are no labels in column {model.label!r}, so only predictions and columns are watched."])
        return np.full(table.n_rows, UNLABELED)
    return model_labels(table, model, model.label, unlabeled).codes


def _features(table: Table, model: TableModel, by: str) -> dict[str, AnyArray]:
    """Columns that the model uses, as numbers or texts; dates always move."""
    columns = {name: table.column(name) for name, kind in model.plan.kinds.items() if name != by and kind != "date"}
    return {name: column.values for name, column in columns.items() if column.kind != "date"}


def _identity(model: TableModel) -> str:
    return hashlib.sha256(repr(model.record).encode()).hexdigest()[:16]


def _read_state(path: str | Path, model: TableModel, by: str, *, overwrite: bool) -> MonitorState | None:
    """The state in a file, or None if there is none yet."""
    check_outputs(Output(path, MONITOR), overwrite=overwrite)
    if not Path(path).exists() or not Path(path).stat().st_size:
        return None
    raw = Path(path).read_bytes()[: MOST_BYTES + 1]
    if not raw.startswith(MONITOR_HEAD):  # --overwrite
        return None
    try:
        values = json.loads(raw)
        if values["model"] != _identity(model):
            raise TableError(
                f"{path} was written for another model. Name a new state for a new model: its error starts anew."
            )
        if values["by"] != by:
            raise TableError(f"{path} has windows by {values['by']}, not by {by}. Pass the same, or name a new state.")
        return MonitorState.from_dict(values["state"])
    except (json.JSONDecodeError, UnicodeDecodeError, KeyError, TypeError) as error:
        raise TableError(f"{path} is damaged ({error}). Delete it to start anew.") from None
    except RecursionError:
        raise TableError(f"{path} is damaged. Delete it to start anew.") from None


def _write_state(path: str | Path, state: MonitorState, model: TableModel, by: str) -> None:
    values = {"pnulearn_monitor": VERSION, "model": _identity(model), "by": by, "state": state.as_dict()}
    text = json.dumps(values).encode()
    write_atomically(path, lambda file: file.write(text))
