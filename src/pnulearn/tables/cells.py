"""A table as columns, and what the cells of a text file mean: numbers, dates, categories or nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Kind = Literal["number", "flag", "text", "date"]

MISSING = frozenset({"", "na", "n/a", "#n/a", "<na>", "nan", "null", "none"})
_DATE = re.compile(
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}([ T].*)?"  # 2024-01-31
    r"|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2})([ T].*)?"  # 31.1.2024
    r"|\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?"  # 23:59
)


class TableError(ValueError):
    """A file that cannot be read as a table, or a column that cannot be used, with the way out."""


@dataclass(frozen=True)
class Column:
    """Numbers and flags as float64 with NaN where missing; text and dates as an object array of str or None."""

    name: str
    kind: Kind
    values: NDArray

    @property
    def missing(self) -> NDArray:
        if self.kind in ("number", "flag"):
            return np.isnan(self.values)
        return np.array([value is None for value in self.values], dtype=bool)

    def texts(self) -> list[str | None]:
        """Every cell as text, as a person would write it: 3 rather than 3.0."""
        if self.kind in ("text", "date"):
            return list(self.values)
        words = {0.0: "false", 1.0: "true"} if self.kind == "flag" else {}
        return [None if np.isnan(v) else words.get(float(v)) or plain_number(float(v)) for v in self.values]


@dataclass(frozen=True)
class Table:
    """Named columns of equal length, where they came from, and remarks about how they were read.

    `rows` gives the original cells again, so that a file can be written back unchanged beside its predictions.
    """

    columns: dict[str, Column]
    n_rows: int
    source: str
    rows: Callable[[], Iterator[Sequence[str]]]
    fingerprint: str = ""
    remarks: list[str] = field(default_factory=list)

    def column(self, name: str) -> Column:
        if name not in self.columns:
            raise TableError(f"{self.source} has no column {name!r}. {suggestion(name, self.columns)}")
        return self.columns[name]


def suggestion(name: str, names: Sequence[str] | dict[str, Column]) -> str:
    """What the user may have meant, or what there is."""
    from difflib import get_close_matches

    folded = {other.casefold(): other for other in names}
    close = get_close_matches(name.casefold(), folded, n=1)
    if close:
        return f"Did you mean {folded[close[0]]!r}?"
    shown = list(names)[:12]
    return f"It has {', '.join(map(repr, shown))}{' and more' if len(names) > len(shown) else ''}."


def plain_number(value: float) -> str:
    """
    >>> plain_number(3.0), plain_number(0.25)
    ('3', '0.25')
    """
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)


def as_numbers(cells: Sequence[str], missing: frozenset[str], decimal_comma: bool = False) -> NDArray | None:
    """The cells as float64 with NaN where missing, or None if some cell is no number.

    >>> as_numbers(["1", "", "2.5"], MISSING).tolist()
    [1.0, nan, 2.5]
    >>> as_numbers(["1", "two"], MISSING) is None
    True
    """
    values: NDArray | None
    try:
        values = np.fromiter(map(float, cells), dtype=float, count=len(cells))
    except ValueError:
        values = _with_gaps(cells, missing, decimal_comma)
    # Python reads 1_000 as a number; in a table it is somebody's code.
    return None if values is None or any("_" in cell for cell in cells) else values


def _with_gaps(cells: Sequence[str], missing: frozenset[str], decimal_comma: bool) -> NDArray | None:
    values = np.full(len(cells), np.nan)
    for i, cell in enumerate(cells):
        cell = cell.strip()
        if cell.casefold() in missing:
            continue
        try:
            values[i] = float(cell.replace(",", ".", 1) if decimal_comma else cell)
        except ValueError:
            return None
    return values


def text_column(name: str, cells: Sequence[str], missing: frozenset[str]) -> Column:
    """A column of text, or of dates if nearly every cell looks like one."""
    values = np.array([None if cell.strip().casefold() in missing else cell.strip() for cell in cells] + [None])[:-1]
    return Column(name, "date" if looks_like_dates(values) else "text", values)


def looks_like_dates(values: NDArray) -> bool:
    """
    >>> looks_like_dates(np.array(["2024-01-31", None, "2024-02-01"]))
    True
    """
    present = [value for value in values if value is not None]
    return bool(present) and sum(1 for value in present if _DATE.fullmatch(value)) > 0.95 * len(present)
