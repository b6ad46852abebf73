"""The label column: which value is positive, which cells are unlabelled, and what looks like a mistake."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnulearn._tables.columns import Column
from pnulearn._tables.errors import TableError
from pnulearn._tables.labels import refuse_marker
from pnulearn._tables.table import Table

MOST_CLASSES = 20


@dataclass(frozen=True)
class Targets:
    """y with None for unlabelled rows, in the types that the table holds, and the positive label if one was named."""

    y: NDArray
    positive: Any
    counts: dict[Any, int]

    @property
    def n_unlabeled(self) -> int:
        return len(self.y) - sum(self.counts.values())


def read_targets(table: Table, label: str, *, positive: str | None = None, unlabeled: str | None = None) -> Targets:
    """Labels from a column. Empty cells are unlabelled, and so are cells equal to `unlabeled`."""
    column = table.column(label)
    values = _values(column)
    marker = None if unlabeled is None else _match(unlabeled, values)
    if unlabeled is not None and marker is None:
        raise TableError(
            f"No cell of column {label!r} is {unlabeled!r}, named as the marker of unlabelled rows. {_found(values)}"
        )
    y = np.array([None if marker is not None and v == marker else v for v in values] + [None], dtype=object)[:-1]
    counts = Counter(value for value in y if value is not None)
    _refuse_strange_labels(label, counts, len(y), table.source)
    chosen = None if positive is None else _match(positive, list(counts))
    if positive is not None and chosen is None:
        raise TableError(f"No row of column {label!r} has the label {positive!r}, named as positive. {_found(y)}")
    return Targets(y, chosen, dict(sorted(counts.items(), key=lambda item: str(item[0]))))


def _values(column: Column) -> list[Any]:
    """Labels as strings, whole numbers, other numbers or booleans; None where missing."""
    if not column.is_numeric:
        return column.values.tolist()
    present = column.values[~np.isnan(column.values)]
    if column.kind == "flag":
        kind: type = bool
    else:
        kind = int if np.all(present % 1 == 0) and np.isfinite(present).all() else float
    return [None if np.isnan(value) else kind(value) for value in column.values]


def _match(text: str, values: Any) -> Any:
    """The value that a person means by `text`, or None: "1" and "1.0" are the number 1, "True" is true."""
    distinct = {value for value in values if value is not None}
    for value in distinct:
        if isinstance(value, bool):
            if text.casefold() in (str(value).casefold(), str(int(value))):
                return value
        elif isinstance(value, str):
            if value == text.strip():
                return value
        elif _number(text) == value:
            return value
    return None


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _found(values: Any) -> str:
    counts = Counter(value for value in values if value is not None)
    shown = ", ".join(f"{value!r} ({count} rows)" for value, count in counts.most_common(6))
    return f"Found {shown or 'only empty cells'}{', ...' if len(counts) > 6 else ''}."


def _refuse_strange_labels(label: str, counts: Counter, n_rows: int, source: str) -> None:
    if not counts:
        raise TableError(f"Column {label!r} of {source} has no label at all in {n_rows} rows: label a few rows first.")
    if len(counts) > MOST_CLASSES:
        raise TableError(
            f"Column {label!r} of {source} has {len(counts)} different values, too many for labels. "
            "Is it the right column?"
        )
    refuse_marker(f"Column {label!r}", counts)
