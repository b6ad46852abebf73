"""What changes between the table of the fit and that of the prediction: units, marks, dates, words, spreadsheets."""

from __future__ import annotations

import csv
import io
import warnings
from collections.abc import Callable
from datetime import date, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from openpyxl import Workbook

from tests.attack.commands import QUICK, ask, workplace

_rng = np.random.default_rng(1)
N = 120
TRUTH = _rng.random(N) < 0.5
NAMES = ["weight_kg", "temperature", "share", "day", "label"]
DAYS = [date(2024, 1, 1) + timedelta(int(day)) for day in _rng.integers(0, 360, N)]
ROWS: list[list[Any]] = [
    [
        round(float(60 + 15 * is_yes + _rng.normal(0, 8)), 1),
        round(float(18 + 4 * is_yes + _rng.normal(0, 3)), 1),
        round(float(np.clip(0.3 + 0.3 * is_yes + _rng.normal(0, 0.1), 0.01, 0.99)), 2),
        day.isoformat(),
        ("yes" if is_yes else "no") if row < 60 else "",
    ]
    for row, (is_yes, day) in enumerate(zip(TRUTH, DAYS, strict=True))
]


def _text(rows: Any, names: Any = NAMES, delimiter: str = ",") -> bytes:
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator="\n").writerows([names, *rows])
    return text.getvalue().encode()


def _with(place: int, change: Callable[[Any, int], Any], **how: Any) -> bytes:
    """The table with other cells in a column."""
    rows = [[*row[:place], change(row[place], number), *row[place + 1 :]] for number, row in enumerate(ROWS)]
    return _text(rows, **how)


def _days(pattern: str, days: Any = DAYS) -> bytes:
    return _with(3, lambda _, number: days[number].strftime(pattern))


def _labels(*words: Any) -> bytes:
    """Labels of three classes or two, on all labelled rows."""
    return _with(4, lambda cell, number: words[number % len(words)] if cell else "")


def _excel(change: Callable[[Any], None]) -> bytes:
    book = Workbook()
    sheet = book.active
    for row in [NAMES, *ROWS]:
        sheet.append([None if cell == "" else cell for cell in row])
    change(sheet)
    sink = io.BytesIO()
    book.save(sink)
    return sink.getvalue()


def _error_cells(sheet: Any) -> None:
    for row in range(2, 40):
        sheet.cell(row, 1).value = "#DIV/0!"


def _formulas(sheet: Any) -> None:
    for row in range(2, N + 2):
        sheet.cell(row, 2).value = f"=10+{row}"


def _hidden(sheet: Any) -> None:
    for row in range(2, 40):
        sheet.row_dimensions[row].hidden = True


def _merged(sheet: Any) -> None:
    for row in range(2, 60, 2):
        sheet.merge_cells(start_row=row, end_row=row + 1, start_column=5, end_column=5)


EARLY = [date(2024, 1 + number % 12, 1 + number % 12) for number in range(N)]  # no day above 12
FORMS: dict[str, Callable[[], bytes]] = {
    "same": lambda: _text(ROWS),
    "other_order_of_columns": lambda: _text([row[::-1] for row in ROWS], NAMES[::-1]),
    "semicolons_and_commas": lambda: _text([[str(c).replace(".", ",") for c in row] for row in ROWS], delimiter=";"),
    "weight_with_unit": lambda: _with(0, lambda cell, _: f"{cell} kg"),
    "percent_signs": lambda: _with(2, lambda cell, _: f"{round(100 * cell)}%"),
    "dates_in_words": lambda: _days("%d %B %Y"),
    "dates_with_dots": lambda: _days("%d.%m.%Y"),
    "dates_month_first_proven": lambda: _days("%m/%d/%Y"),
    "header_with_other_unit": lambda: _text(ROWS, ["weight_lb", *NAMES[1:]]),
    "column_missing": lambda: _text([row[1:] for row in ROWS], NAMES[1:]),
    "kilograms_as_grams": lambda: _with(0, lambda cell, _: 1000 * cell),
    "kilograms_as_tonnes": lambda: _with(0, lambda cell, _: cell / 1000),
    "celsius_as_fahrenheit": lambda: _with(1, lambda cell, _: round(32 + 1.8 * cell, 1)),
    "percent_as_fraction": lambda: _with(2, lambda cell, _: cell / 100),
    "percent_beside_fractions": lambda: _with(2, lambda cell, row: f"{round(100 * cell)}%" if row % 2 else cell),
    "missing_as_minus_999": lambda: _with(0, lambda cell, row: -999 if row % 5 == 0 else cell),
    "dates_ambiguous": lambda: _days("%m/%d/%Y", EARLY),
    "dates_unreadable": lambda: _with(3, lambda _, row: f"week {row}"),
    "thousands_or_decimals": lambda: _with(0, lambda cell, _: f"{cell:.3f}", delimiter=";"),
    "full_width_digits": lambda: _with(0, lambda cell, _: str(cell).translate({48 + k: 0xFF10 + k for k in range(10)})),
    "label_none_is_a_class": lambda: _labels("none", "mild", "severe"),
    "label_null_is_a_class": lambda: _labels("null", "one"),
    "label_na_is_a_class": lambda: _labels("NA", "EU"),
    "labels_2_to_the_53": lambda: _labels(2**53, 2**53 + 1),
    "labels_1_and_2": lambda: _labels(1, 2),
    "label_as_marks": lambda: _text(ROWS),
    "excel_plain": lambda: _excel(lambda sheet: None),
    "excel_error_cells": lambda: _excel(_error_cells),
    "excel_formulas_without_values": lambda: _excel(_formulas),
    "excel_hidden_rows": lambda: _excel(_hidden),
    "excel_merged_labels": lambda: _excel(_merged),
}


@cache
def _model() -> Path:
    folder = workplace() / "between"
    folder.mkdir()
    (folder / "fit.csv").write_bytes(_text(ROWS))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ask("fit", folder / "fit.csv", "-l", "label", *QUICK, "-m", folder / "model.pnu")
    return folder / "model.pnu"


def _path(name: str) -> Path:
    path = _model().with_name(name + (".xlsx" if name.startswith("excel") else ".csv"))
    path.write_bytes(FORMS[name]())
    return path


def _fit_labels(name: str) -> list[float]:
    marks = ("--at-random", "label") if name == "label_as_marks" else ()
    return ask("fit", _path(name), "-l", "label", *QUICK, *marks, "--json")


ALL: dict[str, Callable[[str], list[float]]] = {
    "predict": lambda name: ask("predict", _path(name), "-m", _model(), "--only", "--json"),
    "predict_in_batches": lambda name: ask(
        "predict", _path(name), "-m", _model(), "--only", "--json", "--stream-above", "0"
    ),
}
GROUPS: dict[str, Any] = {"ALL": ALL}


def answer(input: str, entry: str) -> list[float]:
    """What a command says of that table."""
    return _fit_labels(input) if entry == "fit_labels" else ALL[entry](input)


@cache
def expected(entry: str) -> list[float]:
    """The same of the table of the fit."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return answer("same", entry)
