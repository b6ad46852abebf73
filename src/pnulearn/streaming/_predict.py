"""Predictions for files larger than memory. Interrupted runs can be resumed."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Literal

import joblib
import numpy as np
from sklearn.utils.validation import check_is_fitted

from pnulearn._files.outputs import PREDICTIONS, Output, check_outputs
from pnulearn._files.writing import guard_cell, guard_table, is_still_at, take_lock, write_atomically
from pnulearn._learning.from_moments import reading_design
from pnulearn._moments import BLOCK_ROWS, Design, blocks_of
from pnulearn._reader.errors import TableError, suggestion
from pnulearn.streaming._passes import plan_of
from pnulearn.streaming._sources import PART_ROWS, ArrowBatch, Part, Source, column_names, open_source
from pnulearn.streaming._threads import InThreads, ahead

# The folder for the parts of an output. Processes with the same plan share it; the last one removes it.

PLAN, LOCK, GONE = "_plan.json", ".lock", ".gone"
OURS = re.compile(r"\.?(part-\d+\.\w+|_plan\.json|lock)(\.[0-9a-f]+\.tmp)?")


@contextmanager
def hidden_workplace(target: Path, plan: str) -> Iterator[Path]:
    """A folder next to an output file. It survives an interrupted run, and only a run with the same plan resumes it."""
    folder = target.with_name(f".{target.name}.{plan}")
    leftovers = re.compile(re.escape(f".{target.name}.") + rf"[0-9a-f]{{16}}({re.escape(GONE)})?")
    for other in target.parent.iterdir():
        if leftovers.fullmatch(other.name) and other != folder:
            _clear_abandoned(other)
    with _entered(folder) as lock:
        _note_plan(folder, plan)
        yield folder
        if take_lock(lock):  # no other process uses the folder
            _remove(folder)


@contextmanager
def output_workplace(folder: Path, plan: str, overwrite: bool) -> Iterator[Path]:
    """The output folder itself. Parts of another plan are replaced only with `overwrite`, other files never."""
    with _entered(folder) as lock:
        strangers = [entry.name for entry in folder.iterdir() if not OURS.fullmatch(entry.name)]
        if strangers:
            raise FileExistsError(f"The folder {folder} contains other files ({strangers[0]}). Choose another.")
        if _noted_plan(folder) not in (None, plan):
            if not overwrite:
                raise FileExistsError(
                    f"{folder} holds predictions of another model or of other data. Choose another folder, or pass "
                    "overwrite=True."
                )
            if not take_lock(lock):
                raise FileExistsError(f"Another process is writing predictions of another model to {folder}.")
            for entry in folder.iterdir():
                if entry.name != LOCK:
                    entry.unlink()
            take_lock(lock, shared=True)
        _note_plan(folder, plan)
        yield folder
        if take_lock(lock):
            (folder / LOCK).unlink(missing_ok=True)


@contextmanager
def _entered(folder: Path) -> Iterator[BinaryIO]:
    """Create the folder if necessary and hold a shared lock on it."""
    while True:
        folder.mkdir(parents=True, exist_ok=True)
        try:
            handle = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o666)
        except FileNotFoundError:  # removed by another process at this moment
            continue
        with os.fdopen(handle, "r+b") as lock:
            if take_lock(lock, shared=True) and is_still_at(lock, folder / LOCK):
                yield lock
                return


def _note_plan(folder: Path, plan: str) -> None:
    if _noted_plan(folder) is None:
        write_atomically(folder / PLAN, lambda file: file.write(json.dumps({"plan": plan}).encode()))


def _noted_plan(folder: Path) -> str | None:
    note = folder / PLAN
    return json.loads(note.read_text())["plan"] if note.exists() else None


def _clear_abandoned(folder: Path) -> None:
    with _entered(folder) as lock:
        if take_lock(lock):
            _remove(folder)


def _remove(folder: Path) -> None:
    """Remove the folder. It is renamed first, so that another process sees either all of it or nothing."""
    gone = folder if folder.name.endswith(GONE) else folder.with_name(folder.name + GONE)
    if gone != folder:
        shutil.rmtree(gone, ignore_errors=True)
        folder.rename(gone)
    shutil.rmtree(gone, ignore_errors=True)


# Writing tables to Parquet or CSV in pieces.

KINDS = (".parquet", ".csv")


@contextmanager
def table_writer(file: BinaryIO, kind: str, *, header: bool = True) -> Iterator[Callable[[Any], None]]:
    """A function that appends tables to an open file; the first one fixes the columns."""
    import pyarrow.csv
    import pyarrow.parquet as pq

    writers: list[Any] = []

    def add(table: Any) -> None:
        if not writers and kind == ".parquet":
            writers.append(pq.ParquetWriter(file, table.schema, write_page_checksum=True))
        elif not writers:
            options = pyarrow.csv.WriteOptions(include_header=header)
            writers.append(pyarrow.csv.CSVWriter(file, table.schema, write_options=options))
        writers[0].write_table(table)

    try:
        yield add
    finally:
        for writer in writers:
            writer.close()


def join_parts(file: BinaryIO, kind: str, parts: Sequence[Path], header: Sequence[str]) -> None:
    """Concatenate files into one; CSV parts have no header lines."""
    if kind == ".csv":
        line = io.StringIO()
        csv.writer(line, lineterminator="\n").writerow(header)
        file.write(line.getvalue().encode())
        for path in parts:
            with open(path, "rb") as part:
                shutil.copyfileobj(part, file, 1 << 20)
        return
    import pyarrow as pa
    import pyarrow.parquet as pq

    with table_writer(file, kind) as add:
        tables = [pq.ParquetFile(path) for path in parts]
        if not any(table.metadata.num_rows for table in tables):
            add(tables[0].schema_arrow.empty_table())
        for table in tables:
            for batch in table.iter_batches():
                add(pa.Table.from_batches([batch]))


# Predictions for files larger than memory.


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
    """Predict every row of Parquet or CSV files and write the predictions in the order of the rows; returns `output`.

    Each row has the columns of `keep`, its `prediction`, and its `score`, or one score per class if there are more than
    two, and optionally `probabilities`. An interrupted run, started again, computes only the missing parts. The output
    is written atomically.

    Parameters
    ----------
    model
        a fitted classifier. If it has `feature_names_in_`, columns are found by name.
    data : path, folder, pattern or several
        Parquet or CSV files.
    output
        a file that ends in .parquet or .csv, or else a folder, which gets one Parquet file per part.
    keep
        columns to copy from the input, such as an identifier; "others" copies all that are not features, if the
        model has `feature_names_in_`.
    probabilities : bool
        Add probabilities to the columns.
    n_jobs : int or None
        Threads; the result does not depend on it.
    overwrite : bool
        An existing file of predictions is always replaced. True also replaces any other file, and a folder with
        predictions of another model.
    guard : bool
        In CSV, put an apostrophe before text that a spreadsheet would evaluate as a formula.
    part_rows : int
        Number of rows to process at a time.
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
    """Write the missing parts, and return the paths of all."""
    files = [folder / f"part-{number:05d}{job.kind}" for number in range(len(parts))]
    missing = {part: file for part, file in zip(parts, files, strict=True) if not file.exists()}
    for _ in InThreads(n_jobs)(_Writing(job, missing), list(missing)):
        pass
    return files


def _other_columns(model: Any, data: Any) -> list[str]:
    """Columns of the files that are not features, in the order of the first file."""
    features = getattr(model, "feature_names_in_", None)
    if features is None:
        raise ValueError(
            'keep="others" needs a model with feature_names_in_, from a fit to files or to a data frame. Pass the '
            'columns to keep, e.g. keep=["id"].'
        )
    return [name for name in column_names(data) if name not in set(features)]


def _open(model: Any, data: Any, keep: Sequence[str], part_rows: int) -> Source:
    """The files, with the columns of the model by name, or with all columns except those in `keep`."""
    names = getattr(model, "feature_names_in_", None)
    source = open_source(data, None, None if names is None else list(names), part_rows, labels=False)
    if source.columns is None:
        raise TypeError("predict_files reads Parquet and CSV files. For arrays use model.predict.")
    _refuse_absent(source, keep)
    if names is None:
        columns = tuple(name for name in source.columns if name not in keep)
        source = Source(source.parts, columns, None, len(columns))
    if source.n_features != model.n_features_in_:
        raise ValueError(
            f"The files have {source.n_features} feature columns, but the model needs {model.n_features_in_}."
        )
    return source


def _refuse_absent(source: Source, keep: Sequence[str]) -> None:
    """Raise an error if a file lacks a column in `keep`, before any prediction."""
    files = {part.path: part for part in source.parts}  # type: ignore[attr-defined]  # all are files
    for part in files.values() if keep else ():
        found = part.schema()  # type: ignore[attr-defined]
        for name in keep:
            if name not in found:
                raise TableError(f"{part} has no column {name!r}, which is in keep=... {suggestion(name, found)}")


@dataclass(frozen=True)
class _Job:
    """The output columns of each row."""

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
        """Predictions, block by block."""
        reading, nameless, start = self.reading, copy(self.model), part.start
        nameless.__dict__.pop("feature_names_in_", None)  # blocks are arrays with the columns in the order of the model
        columns = list(dict.fromkeys([*(self.source.columns or ()), *self.keep]))
        as_text = [name for name in self.keep if name not in (self.source.columns or ())]
        for batch in ahead(part.batches(columns, as_text)):
            for first in range(0, len(batch), BLOCK_ROWS):
                piece = batch.part(first, min(first + BLOCK_ROWS, len(batch)))
                for block in blocks_of([piece], reading, part.name, start, where=str(part), labels=False):
                    yield self._answers(nameless, np.ascontiguousarray(block.rows.T), piece)
                start += len(piece)
        if start == part.start:  # an empty table defines the columns
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
    """Writes the predictions of a part to its file atomically."""

    job: _Job
    files: dict[Part, Path]

    def __call__(self, part: Part) -> None:
        def write(file: BinaryIO) -> None:
            with table_writer(file, self.job.kind, header=not self.job.joined) as add:
                for table in self.job.tables(part):
                    add(table)

        write_atomically(self.files[part], write)
