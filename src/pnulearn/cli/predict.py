"""`pnulearn predict`: the rows of a table with a label and a probability beside them."""

from __future__ import annotations

import csv
import io
import json as json_format
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pnulearn.cli.console import remark, remarks
from pnulearn.cli.options import (
    Delimiter,
    Encoding,
    File,
    Json,
    Missing,
    ModelFile,
    NoHeader,
    Overwrite,
    open_table,
    refuse_outputs,
)

if TYPE_CHECKING:
    from pnulearn.tables import Column, Table
    from pnulearn.tables.model import Predictions


def predict(
    file: File,
    model: ModelFile,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write here, not to standard output.")] = None,
    overwrite: Overwrite = False,
    only: Annotated[bool, typer.Option("--only", help="Write the predictions without the columns of FILE.")] = False,
    no_guard: Annotated[
        bool, typer.Option("--no-guard", help="Write text that a spreadsheet takes for a formula without apostrophe.")
    ] = False,
    missing: Missing = [],  # noqa: B006
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    no_header: NoHeader = False,
    json: Json = False,
) -> None:
    """Predict the label of every row of FILE.

    Writes the table with the predictions beside it as CSV, or as JSON lines with --json.
    """
    refuse_outputs({"--out": (out, "predictions")}, overwrite, file=file, model=model)
    from pnulearn.tables.loading import load_table_model

    fitted = load_table_model(model)
    table = open_table(file, missing, encoding, delimiter, no_header)
    predictions = fitted.predict(table)
    remarks(predictions.remarks)
    answers = _answers(predictions, fitted.label)
    lines = _json_lines(table, answers, only) if json else _csv_lines(table, answers, only, not no_guard)
    if out is None:
        sys.stdout.reconfigure(newline="")  # type: ignore[union-attr]
        sys.stdout.writelines(lines)
        sys.stdout.flush()
    else:
        from pnulearn._files.writing import write_atomically

        write_atomically(out, lambda target: target.writelines(line.encode() for line in lines))
        remark(f"{table.n_rows} predictions are in {out}.")


def _answers(predictions: Predictions, label: str) -> dict[str, list[Any]]:
    """The predicted label, then the probability of the positive class, or of every class if there are more."""
    from pnulearn.tables.model import label_text

    shown = range(1, 2) if len(predictions.classes) == 2 else range(len(predictions.classes))
    shares = {f"probability_{predictions.classes[k]}": predictions.probability[:, k].round(6).tolist() for k in shown}
    return {f"predicted_{label}": [label_text(value) for value in predictions.labels.tolist()]} | shares


def _csv_lines(table: Table, answers: dict[str, list[Any]], only: bool, guard: bool) -> Iterator[str]:
    """The cells of the file as they were, but for formulas, then the answers."""
    from pnulearn._files.formulas import guard_cell

    shown = guard_cell if guard else str
    kept = [] if only else [place for place, name in enumerate(table.names) if name not in answers]
    names = table.names
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(map(shown, [*(names[place] for place in kept), *answers]))
    for cells, answer in zip(table.rows(), zip(*answers.values(), strict=True), strict=True):
        writer.writerow([*(shown(cells[place]) for place in kept), shown(answer[0]), *answer[1:]])
        yield buffer.getvalue()
        buffer.seek(0)
        buffer.truncate()


def _json_lines(table: Table, answers: dict[str, list[Any]], only: bool) -> Iterator[str]:
    columns = {} if only else {name: _json_values(column) for name, column in table.columns.items()}
    columns |= answers
    for row in zip(*columns.values(), strict=True):
        yield json_format.dumps(dict(zip(columns, row, strict=True)), ensure_ascii=False) + "\n"


def _json_values(column: Column) -> list[Any]:
    if not column.is_numeric:
        return column.values.tolist()
    kind = bool if column.kind == "flag" else float
    return [None if value != value else kind(value) for value in column.values]
