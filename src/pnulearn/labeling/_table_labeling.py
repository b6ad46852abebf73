"""Labelling the rows of a table: from a file to a `Labeler`, and to a copy of the file with the labels."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._files.writing import guard_cell
from pnulearn._problem.samples import Sampling
from pnulearn._reader.errors import TableError
from pnulearn._reader.table import Table
from pnulearn.labeling._draws import DONT_KNOW, RANDOM
from pnulearn.labeling._found_rows import FoundRows, RowMarks, find_rows
from pnulearn.labeling._journal import JournalError, read_journal
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
    found : FoundRows, optional
        What a journal holds about these rows.
    """

    table: Table
    label: str
    classes: list[str]
    X: AnyArray
    y: AnyArray
    remarks: list[str]
    found: FoundRows | None = None

    @property
    def about(self) -> dict[str, Any]:
        """What the journal says about the rows."""
        return {"label": self.label, "table": self.table.fingerprint}

    def labeler(self, journal: str | Path | None = None, identifier: str | None = None, **options: Any) -> Labeler:
        """A labeler of these rows.

        Parameters
        ----------
        journal : str or Path, optional
            The file that keeps draws and answers. If its table was changed since, it is written anew, and a copy kept.
        identifier : str, optional
            The column that identifies rows, if cells of rows may have changed.
        **options : object
            Parameters of `Labeler`.
        """
        if journal is None:
            return Labeler(self.X, self.y, classes=self.classes, about=self.about, **options)
        task = self.resume(journal, identifier)
        about, found = task.about, task.found
        marks: RowMarks | None
        if found is None:
            marks = RowMarks(task.table, task.label, identifier)
            about |= marks.about
        else:
            marks = RowMarks.like(found.events[0], task.table, task.label)
            if found.is_changed:
                found.save(journal)
        labeler = Labeler(task.X, task.y, classes=task.classes, journal=journal, about=about, **options)
        if marks is not None:
            labeler.describe_rows(marks.of)
        return labeler

    def resume(self, journal: str | Path, identifier: str | None = None) -> Task:
        """The same with what a journal holds about these rows, which may have stood elsewhere in the table.

        Parameters
        ----------
        journal : str or Path
            The file, which is only read and need not exist.
        identifier : str, optional
            The column that identifies rows, if cells of rows may have changed.
        """
        if identifier is not None:
            self.table.refuse_absent(identifier)
        path = Path(journal)
        if self.found is not None or not path.is_file() or not path.stat().st_size:
            return self
        given = [value is not None for value in self.y]
        found = find_rows(self.table, self.label, self.classes, path, given, identifier)
        if not found.events:
            return self
        answered, y = found.earlier, self.y.copy()
        rows = list(answered)
        n_other = sum(y[row] is not None and answered[row] not in (None, y[row]) for row in rows)
        y[rows] = None
        remarks = [*self.remarks, *found.remarks]
        if n_other:
            remarks.append(
                f"{n_other} {'row has' if n_other == 1 else 'rows have'} another label in {self.table.source} than the "
                "answer in the journal. The answer counts; it can be changed in the list of answers on the page."
            )
        return replace(self, y=y, remarks=remarks, found=found)


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
    names = [str(name) for name in classes] or (model.classes if model is not None else [])
    y, found, remarks = _read_labels(table, label, positive, names)
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


def _read_labels(
    table: Table, label: str, positive: str | None, known: Sequence[str]
) -> tuple[AnyArray, list[str], list[str]]:
    """Labels as text, spelt as the known classes, their names in order, of two the positive one last, and remarks."""
    nothing = np.full(table.n_rows, None, dtype=object)
    if label not in table.names or table.column(label).missing.all():
        return nothing, [], []
    targets = read_targets(table, label, positive=positive, known=known)
    y = np.array([None if value is None else label_text(value) for value in targets.y] + [None], dtype=object)[:-1]
    names = [label_text(name) for name in targets.counts]
    if len(names) == 2 and targets.positive is not None and label_text(targets.positive) in names:
        names.sort(key=lambda name: name == label_text(targets.positive))
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


def restore(task: Task, journal: str | Path, identifier: str | None = None, **options: Any) -> Labeler:
    """A labeler as the journal has it, without opening the journal for writing: it may be in use.

    Parameters
    ----------
    task : Task
        What is labelled.
    journal : str or Path
        The file.
    identifier : str, optional
        The column that identifies rows, if cells of rows may have changed.
    **options : object
        Parameters of `Labeler`.
    """
    if not Path(journal).exists():
        raise JournalError(f"There is no journal {str(journal)!r}: nothing was labelled yet.")
    task = task.resume(journal, identifier)
    events = read_journal(journal, {"classes": task.classes}) if task.found is None else task.found.events
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
        What was labelled.
    columns : LabelColumns
        As `label_columns` returns them.
    """
    kept = [place for place, name in enumerate(table.names) if name not in columns.names]
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow([guard_cell(name) for name in (*(table.names[place] for place in kept), *columns.names)])
    for cells, added in zip(table.rows(), columns.cells, strict=True):
        writer.writerow([*(guard_cell(cells[place]) for place in kept), guard_cell(added[0]), *added[1:]])
        yield buffer.getvalue()
        buffer.seek(0)
        buffer.truncate()
