"""A table with its predictions, written as CSV, JSON lines, Parquet or Excel, batch by batch.

The columns of the table pass through as they are: text unchanged, numbers with all of their digits.
"""

from __future__ import annotations

import datetime
import json
import math
import re
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from typing import Any, BinaryIO

from pnulearn._files.outputs import PREDICTIONS_MARK
from pnulearn._files.writing import guard_table
from pnulearn._reader.columns import is_plain, is_text
from pnulearn._reader.csv_lines import csv_bytes, holds_numbers, shown_cells
from pnulearn._reader.errors import TableError
from pnulearn._reader.table import Table
from pnulearn.streaming._predict import table_writer
from pnulearn.tables._label_column import label_text
from pnulearn.tables._model import Predictions
from pnulearn.tables._notes import note

PLAIN_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
Answers = dict[str, list[Any]]


def write_predictions(
    file: BinaryIO, kind: str, predictions: Any, label: str, *, keep: Sequence[str] | None = None, guard: bool = True
) -> int:
    """Write pairs of a table and its `Predictions` to an open file; returns the number of rows.

    Parameters
    ----------
    file : file
        Open for writing bytes.
    kind : str
        A value of `pnulearn._files.outputs.FORMATS`.
    predictions : iterable
        As from `TableClassifier.predictions`.
    label : str
        Name of the label column, for the name of the column of predictions.
    keep : sequence of str, optional
        Columns of the table to write; all by default.
    guard : bool
        Put an apostrophe before text of CSV that a spreadsheet would evaluate as a formula.
    """
    n_rows = 0
    with _WRITERS[kind](file, guard) as add:
        for table, found in predictions:
            for name in keep or ():
                table.refuse_absent(name)
            answers = answer_columns(found, label)
            names = _plain_columns(table, tell=n_rows == 0) if keep is None else keep
            add(table, [name for name in names if name not in answers], answers)
            n_rows += table.n_rows
    return n_rows


def answer_columns(predictions: Predictions, label: str) -> Answers:
    """The predicted label, then the probability of the positive class, or of every class if there are more."""
    shown = range(1, 2) if len(predictions.classes) == 2 else range(len(predictions.classes))
    shares = {f"probability_{predictions.classes[k]}": predictions.probability[:, k].round(6).tolist() for k in shown}
    return {f"predicted_{label}": [label_text(value) for value in predictions.labels.tolist()]} | shares


def _plain_columns(table: Table, *, tell: bool) -> list[str]:
    """Columns that a text file can hold; the others are left out and named."""
    plain = [field.name for field in table.cells.schema if is_plain(field.type)]
    for name in table.names if tell else ():
        if name not in plain:
            kind = table.cells.schema.field(name).type
            note([f"Column {name!r} holds {kind}, which is not written. Name columns to write with keep=[...]."])
    return plain


Add = Callable[[Table, Sequence[str], Answers], None]


@contextmanager
def _csv(file: BinaryIO, guard: bool) -> Iterator[Add]:
    """Cells of the file, unchanged except for formulas, followed by the predictions."""
    import pyarrow as pa

    is_first = True

    def add(table: Table, kept: Sequence[str], answers: Answers) -> None:
        nonlocal is_first
        columns = [shown_cells(table, name) for name in kept]
        columns += [pa.array([str(answer) for answer in column], pa.string()) for column in answers.values()]
        names = [*kept, *answers]
        titles = pa.table([pa.array([name], pa.string()) for name in names], names=names)
        shown = pa.table(columns, names=names)
        numbers = [holds_numbers(table, name) for name in kept] + [False] * len(answers)
        for part, plain in ((titles, None), (shown, numbers)) if is_first else ((shown, numbers),):
            guarded = guard_table(part, plain) if guard else part
            file.write(csv_bytes([column.combine_chunks() for column in guarded.columns], plain))
        is_first = False

    yield add


@contextmanager
def _json_lines(file: BinaryIO, guard: bool) -> Iterator[Add]:
    def add(table: Table, kept: Sequence[str], answers: Answers) -> None:
        columns = {name: _json_cells(table, name) for name in kept}
        columns |= {name: list(map(_dump, values)) for name, values in answers.items()}
        keys = [_dump(name) for name in columns]
        for row in zip(*columns.values(), strict=True):
            pairs = ", ".join(f"{key}: {cell}" for key, cell in zip(keys, row, strict=True))
            file.write(f"{{{pairs}}}\n".encode())

    yield add


@contextmanager
def _parquet(file: BinaryIO, guard: bool) -> Iterator[Add]:
    """Cells in the types that the table has: a CSV file has text."""
    import pyarrow as pa

    with table_writer(file, ".parquet") as write:

        def add(table: Table, kept: Sequence[str], answers: Answers) -> None:
            cells = table.cells if isinstance(table.cells, pa.Table) else pa.Table.from_batches([table.cells])
            cells = cells.select(list(kept))
            for name, values in answers.items():
                cells = cells.append_column(name, pa.array(values))
            write(cells)

        yield add


# JSON.


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


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
    texts = cells.to_pylist() if is_text(kind) else None
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


# Excel: a workbook with one sheet.

MOST_ROWS, MOST_COLUMNS, MOST_LETTERS = 1_048_576, 16_384, 32_767  # limits of a sheet and of a cell
MOST_DIGITS = 15  # of a number in Excel; longer ones are written as text
_ILLEGAL = re.compile("[\x00-\x08\x0b-\x1f\ud800-\udfff\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)")
_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_PARTS = {
    "[Content_Types].xml": (
        f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{_TYPE}.sheet.main+xml"/>'
        f'<Override PartName="/xl/styles.xml" ContentType="{_TYPE}.styles+xml"/>'
        f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{_TYPE}.worksheet+xml"/></Types>'
    ),
    "_rels/.rels": (
        f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="rId1" Type="{_OFFICE}/officeDocument" '
        'Target="xl/workbook.xml"/></Relationships>'
    ),
    "xl/workbook.xml": (
        f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets><sheet name="predictions" sheetId="1" r:id="rId1"/>'
        "</sheets></workbook>"
    ),
    "xl/_rels/workbook.xml.rels": (
        f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="rId1" Type="{_OFFICE}/worksheet" '
        f'Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="{_OFFICE}/styles" Target="styles.xml"/>'
        "</Relationships>"
    ),
    "xl/styles.xml": (  # style 1 is a date, style 2 a date with a time of day
        f'<styleSheet xmlns="{_MAIN}"><fonts count="1"><font/></fonts>'
        '<fills count="1"><fill><patternFill/></fill></fills>'
        '<borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="3"><xf/>'
        '<xf numFmtId="14" applyNumberFormat="1"/><xf numFmtId="22" applyNumberFormat="1"/></cellXfs>'
        '<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>'
    ),
}


@contextmanager
def _excel(file: BinaryIO, guard: bool) -> Iterator[Add]:
    """Text is never a formula in Excel's own format, so it needs no guard."""
    n_rows = 0
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.comment = PREDICTIONS_MARK
        for name, content in _PARTS.items():
            archive.writestr(name, _HEAD + content)
        with archive.open("xl/worksheets/sheet1.xml", "w", force_zip64=True) as sheet:
            sheet.write(f'{_HEAD}<worksheet xmlns="{_MAIN}"><sheetData>'.encode())

            def add(table: Table, kept: Sequence[str], answers: Answers) -> None:
                nonlocal n_rows
                names = [*kept, *answers]
                if len(names) > MOST_COLUMNS or n_rows + table.n_rows > MOST_ROWS - 1:
                    raise TableError(
                        f"An Excel sheet has at most {MOST_ROWS - 1:,} rows below the names and {MOST_COLUMNS:,} "
                        "columns. Write .csv or .parquet."
                    )
                if n_rows == 0:
                    sheet.write(_row(map(_text_cell, names)))
                columns = [_excel_cells(table, name) for name in kept]
                columns += [[_cell(value) for value in values] for values in answers.values()]
                for row in zip(*columns, strict=True):
                    sheet.write(_row(row))
                n_rows += table.n_rows

            yield add
            sheet.write(b"</sheetData></worksheet>")


def _row(cells: Any) -> bytes:
    return f"<row>{''.join(cells)}</row>".encode()


def _excel_cells(table: Table, name: str) -> list[str]:
    """Numbers as numbers if Excel keeps all their digits; text, also of numbers with units, as it is."""
    cells = table.cells.column(name)
    values = cells.to_pylist()
    if is_text(getattr(cells.type, "value_type", cells.type)) and table.column(name).kind == "number":
        return [_number_cell(text) if _fits(text) else _cell(text) for text in values]
    return [_cell(value) for value in values]


def _fits(text: str | None) -> bool:
    """Whether a cell of text is a number that Excel can hold.

    >>> [_fits(text) for text in ("12.5", "9007199254740993", "12,5", "NA", None)]
    [True, False, False, False, False]
    """
    return bool(text and PLAIN_NUMBER.fullmatch(text) and sum(map(str.isdigit, text)) <= MOST_DIGITS)


def _cell(value: Any) -> str:
    """A cell of any type."""
    if value is None or value != value:
        return "<c/>"
    if isinstance(value, bool):
        return f'<c t="b"><v>{int(value)}</v></c>'
    if isinstance(value, datetime.date) and value.year > 1900:
        moment = datetime.datetime(*value.timetuple()[:6])
        days = (moment - datetime.datetime(1899, 12, 30)) / datetime.timedelta(days=1)
        return f'<c s="{1 if days.is_integer() else 2}"><v>{days!r}</v></c>'
    if isinstance(value, int | float | Decimal) and math.isfinite(value):
        text = format(value, "f") if isinstance(value, Decimal) else repr(value)
        return _number_cell(text) if isinstance(value, float) or _fits(text) else _text_cell(text)
    return _text_cell(str(value))


def _number_cell(text: str) -> str:
    return f"<c><v>{text}</v></c>"


def _text_cell(text: str) -> str:
    """A cell of text.

    >>> _text_cell("a < b ")
    '<c t="inlineStr"><is><t xml:space="preserve">a &lt; b </t></is></c>'
    """
    if len(text) > MOST_LETTERS:
        raise TableError(f"A cell of Excel has at most {MOST_LETTERS:,} letters; one has {len(text):,}. Write .csv.")
    plain = _ILLEGAL.sub(lambda found: f"_x{ord(found[0]):04X}_", text)
    for letter, name in (("&", "amp"), ("<", "lt"), (">", "gt")):
        plain = plain.replace(letter, f"&{name};")
    return f'<c t="inlineStr"><is><t xml:space="preserve">{plain}</t></is></c>' if plain else "<c/>"


_WRITERS = {"csv": _csv, "json": _json_lines, "parquet": _parquet, "excel": _excel}
