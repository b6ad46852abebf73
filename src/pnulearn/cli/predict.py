"""`pnulearn predict`: add predicted labels and probabilities to the rows of a table."""

from __future__ import annotations

import json as json_format
import re
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pnulearn.cli.console import remark
from pnulearn.cli.options import FILES, File, Json, ModelFile, Overwrite, complete_column, refuse_outputs
from pnulearn.tables._options import TableOptions

if TYPE_CHECKING:
    from pnulearn import TableClassifier
    from pnulearn.tables import Table
    from pnulearn.tables._model import Predictions

PLAIN_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")


def predict(
    file: File,
    model: ModelFile,
    options: Annotated[TableOptions, *FILES, "stream_above"],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Write to this file instead of standard output.")
    ] = None,
    overwrite: Overwrite = False,
    keep: Annotated[
        list[str],
        typer.Option(
            metavar="COLUMN",
            help="Write only this column of FILE, such as an identifier (may be repeated).",
            autocompletion=complete_column,
        ),
    ] = [],  # noqa: B006
    only: Annotated[bool, typer.Option("--only", help="Write the predictions without the columns of FILE.")] = False,
    no_guard: Annotated[
        bool,
        typer.Option(
            "--no-guard", help="Do not put an apostrophe before text that a spreadsheet would evaluate as a formula."
        ),
    ] = False,
    json: Json = False,
) -> None:
    """Predict the label of every row of FILE.

    Writes the table with additional columns of predictions as CSV, or as JSON lines with --json.
    """
    if keep and only:
        raise typer.BadParameter(
            "--keep and --only exclude each other: --only writes no columns of FILE. Pass one of them."
        )
    refuse_outputs({"--out": (out, "predictions")}, overwrite, file=file, model=model)
    from pnulearn import TableClassifier

    fitted = TableClassifier.load(model).set_params(**asdict(options))
    told = Predicted([] if only else keep or None, guard=not no_guard, as_json=json)
    if out is None:
        for piece in told.pieces(fitted, file):
            sys.stdout.buffer.write(piece)
        sys.stdout.flush()
    else:
        from pnulearn._files.writing import write_atomically

        write_atomically(out, lambda target: target.writelines(told.pieces(fitted, file)))
        remark(f"{told.n_rows} predictions were written to {out}.")


@dataclass
class Predicted:
    """The output, batch by batch, so that memory does not grow with the number of rows.

    `keep` are the columns of the file to write with the predictions; None means all.
    """

    keep: list[str] | None
    guard: bool
    as_json: bool
    n_rows: int = 0

    def pieces(self, fitted: TableClassifier, file: list[str]) -> Iterator[bytes | memoryview]:
        """Text as bytes."""
        for table, predictions in fitted.predictions(file):
            for name in self.keep or ():
                table.refuse_absent(name)
            answers = _answers(predictions, fitted.model_.label)
            names = self._plain_columns(table) if self.keep is None else self.keep
            kept = [name for name in names if name not in answers]
            if self.as_json:
                yield from (line.encode() for line in _json_lines(table, answers, kept))
            else:
                yield from self._csv(table, answers, kept, header=self.n_rows == 0)
            self.n_rows += table.n_rows

    def _plain_columns(self, table: Table) -> list[str]:
        """Columns that text can hold; the others are left out and named, once."""
        from pnulearn._reader.columns import is_plain

        plain = [field.name for field in table.cells.schema if is_plain(field.type)]
        if self.n_rows == 0:
            for name in table.names:
                if name not in plain:
                    kind = table.cells.schema.field(name).type
                    remark(f"Column {name!r} holds {kind}, which is not written. Name columns to write with --keep.")
        return plain

    def _csv(
        self, table: Table, answers: dict[str, list[Any]], kept: list[str], header: bool
    ) -> Iterator[bytes | memoryview]:
        """The cells of the file, unchanged except for formulas, followed by the predictions."""
        import pyarrow as pa

        from pnulearn._files.writing import guard_table
        from pnulearn._reader.csv_lines import csv_bytes, holds_numbers, shown_cells

        columns = [shown_cells(table, name) for name in kept]
        columns += [pa.array([str(answer) for answer in column], pa.string()) for column in answers.values()]
        names = [*kept, *answers]
        titles = pa.table([pa.array([name], pa.string()) for name in names], names=names)
        shown = pa.table(columns, names=names)
        numbers = [holds_numbers(table, name) for name in kept] + [False] * len(answers)
        for part, plain in ((titles, None), (shown, numbers)) if header else ((shown, numbers),):
            part = guard_table(part, plain) if self.guard else part
            yield csv_bytes([column.combine_chunks() for column in part.columns], plain)


def _answers(predictions: Predictions, label: str) -> dict[str, list[Any]]:
    """The predicted label, then the probability of the positive class, or of every class if there are more."""
    from pnulearn.tables._label_column import label_text

    shown = range(1, 2) if len(predictions.classes) == 2 else range(len(predictions.classes))
    shares = {f"probability_{predictions.classes[k]}": predictions.probability[:, k].round(6).tolist() for k in shown}
    return {f"predicted_{label}": [label_text(value) for value in predictions.labels.tolist()]} | shares


def _json_lines(table: Table, answers: dict[str, list[Any]], kept: list[str]) -> Iterator[str]:
    columns = {name: _json_cells(table, name) for name in kept}
    columns |= {name: list(map(_dump, values)) for name, values in answers.items()}
    keys = [_dump(name) for name in columns]
    for row in zip(*columns.values(), strict=True):
        yield "{" + ", ".join(f"{key}: {cell}" for key, cell in zip(keys, row, strict=True)) + "}\n"


def _dump(value: Any) -> str:
    return json_format.dumps(value, ensure_ascii=False, allow_nan=False)


def _json_cells(table: Table, name: str) -> list[str]:
    """The cells of a column as JSON: numbers with all of their digits, text unchanged, null where missing.

    In a column of numbers a missing cell is null whatever it says; in a column of text "NA" remains. Infinity is text.
    """
    import pyarrow as pa

    cells = table.cells.column(name)
    kind = cells.type.value_type if pa.types.is_dictionary(cells.type) else cells.type
    if pa.types.is_integer(kind):
        return ["null" if value is None else str(value) for value in cells.to_pylist()]
    if pa.types.is_decimal(kind):
        return ["null" if value is None else format(value, "f") for value in cells.to_pylist()]
    column = table.column(name)
    texts = cells.to_pylist() if pa.types.is_string(kind) or pa.types.is_large_string(kind) else None
    if column.kind == "flag" and texts is None:
        return ["null" if value != value else _dump(bool(value)) for value in column.values]
    if column.is_numeric:
        own = texts or [""] * table.n_rows
        return [_json_number(value, text) for value, text in zip(column.values.tolist(), own, strict=True)]
    return [_dump(text or None) for text in (column.texts() if texts is None else texts)]


def _json_number(value: float, text: str | None) -> str:
    """The digits of the cell if JSON knows such a number, else its value: 12.5 for "12,5".

    >>> [_json_number(*cell) for cell in [(9007199254740992.0, "9007199254740993"), (0.25, "25%"), (1e999, "inf")]]
    ['9007199254740993', '0.25', '"inf"']
    """
    if value != value:
        return "null"
    if text and PLAIN_NUMBER.fullmatch(text) and float(text) == value:
        return text
    return _dump(value if abs(value) < float("inf") else str(value))
