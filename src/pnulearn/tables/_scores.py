"""Judging scores that stand in a table: those of a saved model, or a column that some other tool wrote."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._problem.labels import Labels, decode_labels
from pnulearn._statistics.row_sample import thin
from pnulearn._tables.batches import Batches
from pnulearn._tables.columns import Cells
from pnulearn._tables.errors import TableError
from pnulearn._tables.table import Table
from pnulearn.tables._classifier import TableModel
from pnulearn.tables._label_column import LabelCounter, match_label, read_targets
from pnulearn.tables._plan import Excerpt, learn_plan
from pnulearn.tables._row_sampling import RowSampler, SampledRows

Say = Callable[[str], None]


def table_labels(
    table: Table, label: str, positive: str | None, unlabeled: str | None, say: Say | None = None
) -> Labels:
    """The two classes of a label column and the code of every row; `say` is told how the column was read."""
    targets = read_targets(table, label, positive=positive, unlabeled=unlabeled)
    _tell(targets.remarks, say)
    labels = decode_labels(targets.y, pos_label=targets.positive)
    if len(labels.classes) != 2:
        raise TableError(f"Column {label!r} has {len(labels.classes)} classes; this command judges two.")
    return labels


def model_labels(table: Table, model: TableModel, label: str, unlabeled: str | None, say: Say | None = None) -> Labels:
    """The codes of a label column in the classes of a model; `say` is told which spellings were joined."""
    if len(model.classifier.classes_) != 2:
        raise TableError(f"The model has {len(model.classifier.classes_)} classes; this command judges two.")
    targets = read_targets(table, label, unlabeled=unlabeled, known=model.classifier.classes_.tolist())
    _tell(targets.joined, say)
    return decode_labels(targets.y, classes=model.classifier.classes_)


def refuse_other_positive(model: TableModel, positive: str) -> None:
    """A model knows its positive class; another one cannot be named afterwards."""
    if match_label(positive, model.classifier.classes_.tolist()) != model.classifier.classes_[1]:
        raise TableError(
            f"The positive class of the model is {model.classes[1]!r}, not {positive!r}: `pnulearn fit` fixed it. "
            "Leave --positive out, or fit the model with it."
        )


def score_column(table: Table, name: str, classes: AnyArray, threshold: float | None) -> tuple[AnyArray, list[str]]:
    """Scores that are positive where a column says positive, and a remark about how it was read.

    Words are read as labels, and so are numbers that are labels; other numbers within [0, 1] as probabilities, cut at
    1/2, unless a threshold is named.
    """
    column = table.column(name)
    if column.missing.any():
        row = int(np.flatnonzero(column.missing)[0]) + 1
        raise TableError(f"Column {name!r} of {table.source} has no score in row {row}. Every row needs one.")
    if not column.is_numeric:
        return _label_scores(name, column.values, classes), [f"Column {name!r} was read as predicted labels."]
    values = column.values
    if threshold is not None:
        if not np.isfinite(threshold):
            raise TableError(f"--threshold must be a finite number, got {threshold}.")
        return values - threshold, []
    if classes.dtype.kind in "biuf" and set(values.tolist()) <= set(classes.astype(float).tolist()):
        return np.where(values == float(classes[1]), 1.0, -1.0), [
            f"Column {name!r} holds nothing but {classes[0]} and {classes[1]} and was read as predicted labels "
            "(--threshold makes them scores)."
        ]
    if values.min() >= 0 and values.max() <= 1:
        return values - 0.5, [f"Column {name!r} lies in [0, 1] and was cut at 0.5 (--threshold overrides)."]
    return values, []


def _label_scores(name: str, words: AnyArray, classes: AnyArray) -> AnyArray:
    negative, positive = (str(c).lower() if isinstance(c, bool) else str(c) for c in classes.tolist())
    unknown = sorted(set(words.tolist()) - {negative, positive})
    if unknown:
        raise TableError(
            f"Column {name!r} holds {unknown[0]!r}, which is neither a number nor one of {negative!r} and {positive!r}."
        )
    return np.where(words == positive, 1.0, -1.0)


def opinion_column(table: Table, name: str, classes: AnyArray) -> AnyArray:
    """What a second model says of every row: numbers as they are, words as labels."""
    column = table.column(name)
    if column.missing.any():
        row = int(np.flatnonzero(column.missing)[0]) + 1
        raise TableError(f"Column {name!r} of {table.source} says nothing of row {row}. A helper needs every row.")
    if column.is_numeric:
        return column.values
    return np.where(_label_scores(name, column.values, classes) > 0, classes[1], classes[0])


def feature_columns(
    table: Table,
    label: str,
    drop: Any = (),
    kinds: Mapping[str, str] | None = None,
    excerpt: Excerpt | None = None,
) -> AnyArray:
    """All usable columns but the label as scaled features."""
    without = dict.fromkeys(drop, "by request") | {label: "the label"}
    plan = learn_plan(table, without=without, kinds=kinds, excerpt=excerpt)
    return plan.features(table)[0]


def _tell(remarks: list[str], say: Say | None) -> None:
    if say is not None:
        for remark in remarks:
            say(remark)


@dataclass(frozen=True, eq=False)
class Gathered:
    """`table` has the needed columns of all rows, `drawn` all columns of some, if any; `scores` are a model's.

    `remarks` are those of reading and predicting.
    """

    table: Table
    drawn: SampledRows | None
    scores: AnyArray | None = None
    remarks: list[str] = field(default_factory=list)

    def sample(self, labels: Labels) -> tuple[SampledRows, Labels]:
        """Rows with all columns, at most 10,000 unlabelled ones and 2,000 of each class, and their labels."""
        assert self.drawn is not None
        codes = labels.codes[self.drawn.excerpt.numbers]
        rows = np.sort(thin(self.drawn.keys, codes))
        return self.drawn.take(rows), Labels(labels.classes, codes[rows])


def gather(
    batches: Batches,
    label: str,
    columns: Sequence[str],
    model: TableModel | None = None,
    advance: Callable[[float], None] = lambda share: None,
    *,
    draw: bool = True,
) -> Gathered:
    """Read files once, keeping the label and these columns, and the model's scores if there is one.

    Rows with all their columns are drawn unless nobody will ask for them.
    """
    import pyarrow as pa

    needed = list(dict.fromkeys([label, *columns]))
    counter, drawing, reading = LabelCounter(label), RowSampler(seed=0), Cells()
    kept, scores, remarks = [], [], dict[str, None]()
    for table, share in batches:
        for name in needed:
            table.refuse_absent(name)
        remarks |= dict.fromkeys(table.remarks)
        reading = Cells(table.reading.missing, table.reading.decimal_comma or reading.decimal_comma)
        groups = counter.add(table)
        if draw:
            drawing.add(table, table.source, groups)
        kept.append(pa.Table.from_batches([table.cells.select(needed)]))
        if model is not None:
            predictions = model.predict(table)
            scores.append(predictions.scores)
            remarks |= dict.fromkeys(predictions.remarks)
        advance(share)
    fingerprint = batches.fingerprint()
    drawn = drawing.result(batches.source, fingerprint) if draw else None
    cells = pa.concat_tables(kept, promote_options="permissive")
    whole = Table(cells, batches.source, reading, fingerprint)
    return Gathered(whole, drawn, np.concatenate(scores) if scores else None, list(remarks))
