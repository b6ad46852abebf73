"""Predictions for files larger than memory, written so that a run may be killed and started again at any time."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Literal

import joblib
import numpy as np
from sklearn.utils.validation import check_is_fitted

from pnulearn._files.outputs import PREDICTIONS, Output, check_outputs
from pnulearn._files.writing import guard_cell, guard_table, write_atomically
from pnulearn._learning.planning import reading_design
from pnulearn._moments import BLOCK_ROWS, Design, blocks_of
from pnulearn._tables.errors import TableError, suggestion
from pnulearn.streaming.batches import ArrowBatch
from pnulearn.streaming.passes import plan_of
from pnulearn.streaming.reading import ahead
from pnulearn.streaming.sources import PART_ROWS, Part, Source, column_names, open_source
from pnulearn.streaming.threads import InThreads
from pnulearn.streaming.workplace import hidden_workplace, output_workplace
from pnulearn.streaming.writing import join_parts, table_writer


def predict_files(
    model: Any,
    data: Any,
    output: str | os.PathLike[str],
    *,
    keep: Sequence[str] | Literal["others"] = (),
    probabilities: bool = False,
    n_jobs: int | None = None,
    overwrite: bool = False,
    guard: bool = True,
    part_rows: int = PART_ROWS,
) -> Path:
    """Predict every row of Parquet or CSV files and write the answers, in the order of the rows; returns `output`.

    Each row has the columns of `keep`, its `prediction`, and its `score`, or one score per class if there are more than
    two; `probabilities` adds these. A killed run that is started again does only the parts that are missing, and the
    output appears in one piece or not at all.

    Parameters
    ----------
    model
        a fitted classifier. If it knows its columns by name, they are found by name.
    data : path, folder, pattern or several
        Parquet or CSV files.
    output
        a file that ends in .parquet or .csv; without either ending, a folder with one Parquet file per part.
    keep
        columns to copy from the input, an identifier for instance; "others" copies all that are no features, if the
        model knows its columns by name.
    probabilities : bool
        Add probabilities to the columns.
    n_jobs : int or None
        Threads; the result does not depend on it.
    overwrite : bool
        An existing file of predictions is always replaced; True replaces a file that holds anything else, too, and a
        folder of parts of another model.
    guard : bool
        In CSV, put an apostrophe before text that a spreadsheet would take for a formula.
    part_rows : int
        Rows that are worked on at a time.
    """
    _refuse_strange(model, output, keep)
    target, kind = Path(os.path.realpath(output)), Path(output).suffix.lower()
    if kind not in ("", ".parquet", ".csv"):
        raise ValueError(f"output must end in .parquet or .csv, or be a folder; got {str(output)!r}.")
    keep = _other_columns(model, data) if keep == "others" else keep
    source = _open(model, data, keep, part_rows)
    if kind:
        paths = {part.path for part in source.parts}  # type: ignore[attr-defined]  # all are files
        inputs = {f"the input {path}": path for path in paths}
        check_outputs(Output(output, PREDICTIONS), inputs=inputs, overwrite=overwrite)
    job = _Job(model, source.without_parts(), tuple(keep), probabilities, kind or ".parquet", bool(kind), guard)
    plan = plan_of(source, joblib.hash(model), list(keep), probabilities, guard)
    place = hidden_workplace(target, plan) if kind else output_workplace(target, plan, overwrite)
    with place as folder:
        files = _write_parts(job, source.parts, folder, n_jobs)
        if kind:
            write_atomically(target, lambda file: join_parts(file, kind, files, job.header))
    return Path(output)


def _refuse_strange(model: Any, output: Any, keep: Any) -> None:
    if not hasattr(model, "decision_function"):
        raise TypeError(
            f"model must be a fitted classifier with scores; pnulearn.load reads one from a file. Got {model!r}."
        )
    check_is_fitted(model)
    if not isinstance(output, str | os.PathLike):
        raise TypeError(f"output must be the path of a file or folder, got {output!r}.")
    if isinstance(keep, str) and keep == "others":
        return
    if isinstance(keep, str) or not isinstance(keep, Iterable) or not all(isinstance(name, str) for name in keep):
        raise TypeError(f"keep must be names of columns, such as ['id'], or 'others', got {keep!r}.")


def _write_parts(job: _Job, parts: Sequence[Part], folder: Path, n_jobs: int | None) -> list[Path]:
    """Write the parts that are not there yet, and name all."""
    files = [folder / f"part-{number:05d}{job.kind}" for number in range(len(parts))]
    missing = {part: file for part, file in zip(parts, files, strict=True) if not file.exists()}
    for _ in InThreads(n_jobs)(_Writing(job, missing), list(missing)):
        pass
    return files


def _other_columns(model: Any, data: Any) -> list[str]:
    """Columns of the files that are no features, in the order of the first file."""
    features = getattr(model, "feature_names_in_", None)
    if features is None:
        raise ValueError(
            'keep="others" needs a model that knows its columns by name, from a fit to files or to a data frame. Name '
            'the columns to keep, e.g. keep=["id"].'
        )
    return [name for name in column_names(data) if name not in set(features)]


def _open(model: Any, data: Any, keep: Sequence[str], part_rows: int) -> Source:
    """The files, with the model's columns by name, or else all columns but those to keep."""
    names = getattr(model, "feature_names_in_", None)
    source = open_source(data, None, None if names is None else list(names), part_rows, labels=False)
    if source.columns is None:
        raise TypeError("predict_files reads Parquet and CSV files. For arrays use model.predict.")
    _refuse_absent(source, keep)
    if names is None:
        columns = tuple(name for name in source.columns if name not in keep)
        source = Source(source.parts, columns, None, len(columns))
    if source.n_features != model.n_features_in_:
        raise ValueError(f"The files have {source.n_features} feature columns and the model {model.n_features_in_}.")
    return source


def _refuse_absent(source: Source, keep: Sequence[str]) -> None:
    """Columns to keep that a file does not have, before any work is done."""
    files = {part.path: part for part in source.parts}  # type: ignore[attr-defined]  # all are files
    for part in files.values() if keep else ():
        found = part.schema()  # type: ignore[attr-defined]
        for name in keep:
            if name not in found:
                raise TableError(f"{part} has no column {name!r}, which keep names. {suggestion(name, found)}")


@dataclass(frozen=True)
class _Job:
    """What to write for each row."""

    model: Any
    source: Source
    keep: tuple[str, ...]
    probabilities: bool
    kind: str
    joined: bool
    guard: bool

    @property
    def guarded(self) -> bool:
        return self.guard and self.kind == ".csv"

    @property
    def header(self) -> list[str]:
        suffixes = [""] if len(self.model.classes_) == 2 else [f"_{name}" for name in self.model.classes_]
        titles = ["score", "probability"] if self.probabilities else ["score"]
        names = [*self.keep, "prediction", *(title + suffix for title in titles for suffix in suffixes)]
        return [guard_cell(name) for name in names] if self.guarded else names

    @property
    def reading(self) -> Design:
        return reading_design(self.source.columns, self.source.n_features, self.model.classes_, None, 0)

    def tables(self, part: Part) -> Iterator[Any]:
        """Answers for one block of rows after the other."""
        reading, nameless, start = self.reading, copy(self.model), part.start
        nameless.__dict__.pop("feature_names_in_", None)  # blocks are arrays in the model's own order
        columns = list(dict.fromkeys([*(self.source.columns or ()), *self.keep]))
        as_text = [name for name in self.keep if name not in (self.source.columns or ())]
        for batch in ahead(part.batches(columns, as_text)):
            for first in range(0, len(batch), BLOCK_ROWS):
                piece = batch.part(first, min(first + BLOCK_ROWS, len(batch)))
                for block in blocks_of([piece], reading, part.name, start, where=str(part), labels=False):
                    yield self._answers(nameless, np.ascontiguousarray(block.rows.T), piece)
                start += len(piece)
        if start == part.start:  # an empty table still says which columns there are
            yield self._answers(nameless, np.zeros((0, self.source.n_features)), _no_rows(columns, as_text))

    def _answers(self, model: Any, X: Any, piece: Any) -> Any:
        import pyarrow as pa

        assert isinstance(piece, ArrowBatch)
        scores = model.decision_function(X)
        places = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        values = [*np.atleast_2d(scores.T)]
        if self.probabilities:
            shares = model.predict_proba(X)
            values += [shares[:, 1]] if scores.ndim == 1 else [*shares.T]
        kept = [piece.table.column(name) for name in self.keep]
        table = pa.table([*kept, pa.array(model.classes_[places]), *map(pa.array, values)], names=self.header)
        return guard_table(table) if self.guarded else table


def _no_rows(columns: Sequence[str], as_text: Sequence[str]) -> ArrowBatch:
    import pyarrow as pa

    return ArrowBatch(
        pa.table({name: pa.array([], "string" if name in as_text else "float64") for name in columns}), None
    )


@dataclass(frozen=True)
class _Writing:
    """Writes the answers of a part to its file, which appears when it is complete."""

    job: _Job
    files: dict[Part, Path]

    def __call__(self, part: Part) -> None:
        def write(file: BinaryIO) -> None:
            with table_writer(file, self.job.kind, header=not self.job.joined) as add:
                for table in self.job.tables(part):
                    add(table)

        write_atomically(self.files[part], write)
