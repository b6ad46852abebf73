"""Labelling the rows of a table: from a file to a `Labeler`, and to a copy of the file with the labels."""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._files.writing import guard_cell
from pnulearn._problem.samples import Sampling
from pnulearn._reader.csv_lines import csv_bytes, shown_cells
from pnulearn._reader.errors import TableError
from pnulearn._reader.table import Table
from pnulearn.labeling._draws import DONT_KNOW, RANDOM
from pnulearn.labeling._journal import JournalError, parse_event, read_journal
from pnulearn.labeling._labeler import Labeler
from pnulearn.tables._label_column import label_text, read_targets
from pnulearn.tables._model import TableModel
from pnulearn.tables._plan import learn_plan
from pnulearn.tables._provenance import columns_without, export_names

NOT_KNOWN = "don't know"
GIVEN = "given"


@dataclass(frozen=True)
class Task:
    """What is to be labelled.

    Parameters
    ----------
    table : Table
        The rows.
    label : str
        The column of labels; the table may lack it.
    classes : list of str
        Names of the classes, of two the negative one first.
    X : array (rows, features)
        What a model learns from.
    y : array of object (rows,)
        Labels that are there already, None elsewhere.
    remarks : list of str
        What a person should know.
    """

    table: Table
    label: str
    classes: list[str]
    X: AnyArray
    y: AnyArray
    remarks: list[str]

    @property
    def about(self) -> dict[str, Any]:
        """What the journal says about the rows."""
        return {"label": self.label, "table": self.table.fingerprint}

    def labeler(self, journal: str | Path | None = None, **options: Any) -> Labeler:
        """A labeler of these rows.

        Parameters
        ----------
        journal : str or Path, optional
            The file that keeps draws and answers.
        **options : object
            Parameters of `Labeler`.
        """
        is_new = journal is not None and not Path(journal).exists()
        about = self.about | ({"rows": digest_rows(self.table)} if is_new else {})
        return Labeler(self.X, self.y, classes=self.classes, journal=journal, about=about, **options)


def digest_rows(table: Table) -> str:
    """A hash of all cells, for a table that is read again after rows were added behind them.

    Parameters
    ----------
    table : Table
        The rows.
    """
    cells = csv_bytes([shown_cells(table, name) for name in table.names])
    return hashlib.sha256(repr(table.names).encode() + bytes(cells)).hexdigest()[:16]


def rows_of_journal(table: Table, journal: str | Path) -> tuple[Table, list[str]]:
    """The rows that a journal is about, if others were added behind them since it was begun, and what to say.

    Parameters
    ----------
    table : Table
        As `read_table` returns it.
    journal : str or Path
        The file, which need not exist.
    """
    path = Path(journal)
    if not path.is_file():
        return table, []
    try:
        with path.open("rb") as file:
            start = parse_event(file.readline())
    except ValueError:
        return table, []  # whoever opens it says what is wrong
    n_rows, fingerprint = start.get("n_rows"), start.get("table")
    if not isinstance(n_rows, int) or not 0 < n_rows < table.n_rows or fingerprint == table.fingerprint:
        return table, []
    first = Table(table.cells.slice(0, n_rows), table.source, table.reading, str(fingerprint), table.remarks)
    if digest_rows(first) != start.get("rows"):
        return table, []
    n_new = table.n_rows - n_rows
    return first, [
        f"{n_new} {'row was' if n_new == 1 else 'rows were'} added to {table.source} since its journal was begun; the "
        f"labels belong to the first {n_rows} rows, and only these are used. To label all of them: --export the labels "
        "to a new file, which has all rows, and label that."
    ]


def read_task(
    table: Table,
    label: str,
    *,
    classes: Sequence[str] = (),
    positive: str | None = None,
    model: TableModel | None = None,
    drop: Sequence[str] = (),
) -> Task:
    """The rows of a table with the labels that they have, of which there may be none.

    Parameters
    ----------
    table : Table
        As `read_table` returns it.
    label : str
        The column of labels; a table without it has no labels yet.
    classes : sequence of str
        Names of the classes; by default those of the labels or of the model, or no and yes.
    positive : str, optional
        Which of two classes is positive.
    model : TableModel, optional
        Its columns and its classes are used.
    drop : sequence of str
        Columns that are shown and not learnt from.
    """
    y, found, remarks = _read_labels(table, label, positive)
    names = [str(name) for name in classes] or (model.classes if model is not None else [])
    if not names:
        names = found if len(found) > 1 else ["no", "yes"] if set(found) <= {"no", "yes"} else []
    unknown = sorted(set(found) - set(names))
    if unknown or len(names) < 2:
        shown = ",".join([*found, *(["..."] if len(found) < 2 else [])])
        raise TableError(
            f"Column {label!r} of {table.source} holds {', '.join(map(repr, found))}, and the classes are "
            f"{', '.join(map(repr, names)) or 'not known'}: name them all with --classes {shown}."
        )
    if positive is not None and positive in names and len(names) == 2:
        names = [*(name for name in names if name != positive), positive]
    X, notes = _features(table, label, model, drop)
    return Task(table, label, names, X, y, [*remarks, *notes])


def _read_labels(table: Table, label: str, positive: str | None) -> tuple[AnyArray, list[str], list[str]]:
    """Labels as text, their names in order, of two the positive one last, and remarks."""
    nothing = np.full(table.n_rows, None, dtype=object)
    if label not in table.names or table.column(label).missing.all():
        return nothing, [], []
    targets = read_targets(table, label, positive=positive)
    y = np.array([None if value is None else label_text(value) for value in targets.y] + [None], dtype=object)[:-1]
    names = [label_text(name) for name in targets.counts]
    if len(names) == 2 and targets.positive is not None and label_text(targets.positive) in names:
        names.sort(key=lambda name: name == label_text(targets.positive))
    elif len(names) == 1 and targets.positive is not None:
        names = [names[0]]
    return y, names, list(targets.remarks)


def _features(table: Table, label: str, model: TableModel | None, drop: Sequence[str]) -> tuple[AnyArray, list[str]]:
    """What a model learns from; nothing where no column can be learnt from, as in a table of pictures."""
    if model is not None:
        return model.plan.features(table)
    without = columns_without(label if label in table.names else None, drop)
    for name in drop:
        table.refuse_absent(name)
    try:
        return learn_plan(table, without=without).features(table)
    except TableError as error:
        note = f"There is nothing to learn from, so rows are drawn at random and no model is fitted: {error}"
        return np.zeros((table.n_rows, 1)), [note]


def restore(task: Task, journal: str | Path, **options: Any) -> Labeler:
    """A labeler as the journal has it, without opening the journal for writing: it may be in use.

    Parameters
    ----------
    task : Task
        What is labelled.
    journal : str or Path
        The file.
    **options : object
        Parameters of `Labeler`.
    """
    if not Path(journal).exists():
        raise JournalError(f"There is no journal {str(journal)!r}: nothing was labelled yet.")
    events = read_journal(journal, {"classes": task.classes, **task.about})
    sampling: Sampling = "random" if events and events[0].get("n_given") else "by_class"
    labeler = Labeler(task.X, task.y, classes=task.classes, sampling=sampling, refit_every=0, **options)
    labeler.replay(events[1:], Path(journal).name)
    return labeler


@dataclass(frozen=True)
class LabelColumns:
    """What the labelling adds to a table: names of the columns, and their cells."""

    names: tuple[str, str, str, str]
    cells: list[tuple[str, str, str, str]]


def label_columns(task: Task, labeler: Labeler) -> LabelColumns:
    """The label of every row, where it comes from, whether it was drawn at random, and its weight.

    Parameters
    ----------
    task : Task
        What is labelled.
    labeler : Labeler
        With the answers.
    """
    origin, weight = np.full(labeler.n_rows, "", dtype=object), np.ones(labeler.n_rows)
    origin[[value is not None for value in task.y]] = GIVEN
    for draw, code in labeler.answers:
        origin[draw.row] = NOT_KNOWN if code == DONT_KNOW else draw.reason
    sample = labeler.sample
    weight[sample.rows] = np.maximum(sample.training_weight, 0)
    texts = [str(labeler.classes[code]) if code >= 0 else "" for code in labeler.codes]
    marks = ["" if not text else "yes" if why == RANDOM else "no" for text, why in zip(texts, origin, strict=True)]
    cells = list(zip(texts, origin.tolist(), marks, (f"{value:.6g}" for value in weight), strict=True))
    return LabelColumns(export_names(task.label), cells)


def export_lines(table: Table, columns: LabelColumns) -> Iterator[str]:
    """The table as CSV with these columns: its own cells as they are, but for formulas.

    Parameters
    ----------
    table : Table
        What was labelled; rows that were added behind it keep the labels that they have.
    columns : LabelColumns
        As `label_columns` returns them.
    """
    kept = [place for place, name in enumerate(table.names) if name not in columns.names]
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow([guard_cell(name) for name in (*(table.names[place] for place in kept), *columns.names)])
    label = table.names.index(columns.names[0]) if columns.names[0] in table.names else None
    for number, cells in enumerate(table.rows()):
        own = "" if label is None else cells[label] or ""
        later = (own, GIVEN if own else "", "no" if own else "", "1")
        added = columns.cells[number] if number < len(columns.cells) else later
        writer.writerow([*(guard_cell(cells[place]) for place in kept), guard_cell(added[0]), *added[1:]])
        yield buffer.getvalue()
        buffer.seek(0)
        buffer.truncate()
