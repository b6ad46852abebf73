"""The label column: which value is positive, which cells are unlabelled, and what looks like a mistake."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._tables.columns import Column
from pnulearn._tables.errors import TableError
from pnulearn._tables.labels import refuse_marker
from pnulearn._tables.table import Table
from pnulearn._tables.words import YES, affirmative, fold

MOST_CLASSES = 20


@dataclass(frozen=True)
class Targets:
    """y with None for unlabelled rows, in the types that the table holds, and the positive label if one is known.

    `remarks` tell how the column was read; those on spellings that were `joined` stand by themselves, too.
    """

    y: AnyArray
    positive: Any
    counts: dict[Any, int]
    remarks: list[str] = field(default_factory=list)
    joined: list[str] = field(default_factory=list)

    @property
    def n_unlabeled(self) -> int:
        return len(self.y) - sum(self.counts.values())


def read_targets(
    table: Table,
    label: str,
    *,
    positive: str | None = None,
    unlabeled: str | None = None,
    known: Sequence[Any] = (),
) -> Targets:
    """Labels from a column. Empty cells are unlabelled, and so are cells equal to `unlabeled`.

    Spellings that differ in case or blanks are one label, the most frequent of them or the one in `known`.
    """
    column = table.column(label)
    values, joined = _join_spellings(label, _values(column), known)
    marker = None if unlabeled is None else match_label(unlabeled, values)
    if unlabeled is not None and marker is None:
        raise TableError(
            f"No cell of column {label!r} is {unlabeled!r}, named as the marker of unlabelled rows. {_found(values)}"
        )
    y = np.array([None if marker is not None and v == marker else v for v in values] + [None], dtype=object)[:-1]
    counts = Counter(value for value in y if value is not None)
    _refuse_strange_labels(label, counts, len(y), table.source)
    if positive is None:
        chosen, said = _guess_positive(label, list(counts))
    else:
        chosen, said = _named_positive(label, positive, y), []
    ordered = dict(sorted(counts.items(), key=lambda item: str(item[0])))
    return Targets(y, chosen, ordered, joined + said, joined)


def _join_spellings(label: str, values: list[Any], known: Sequence[Any]) -> tuple[list[Any], list[str]]:
    spellings: dict[str, Counter[Any]] = {}
    for word, count in Counter(value for value in values if isinstance(value, str)).items():
        spellings.setdefault(fold(word), Counter())[word] = count
    chosen = {folded: max(sorted(words), key=words.__getitem__) for folded, words in spellings.items()}
    chosen |= {fold(word): word for word in known if isinstance(word, str)}
    remarks = [
        f"In column {label!r} {', '.join(f'{w!r} ({n})' for w, n in words.most_common(5))} are one label, "
        f"{chosen[folded]!r}."
        for folded, words in spellings.items()
        if len(words) > 1
    ]
    return [chosen[fold(value)] if isinstance(value, str) else value for value in values], remarks


def _named_positive(label: str, positive: str, y: AnyArray) -> Any:
    """The label that `positive` means; one that no row has if all labelled rows are of the other class."""
    names = {value for value in y if value is not None}
    chosen = match_label(positive, names)
    if chosen is not None:
        return chosen
    if len(names) > 1:
        raise TableError(f"No row of column {label!r} has the label {positive!r}, named as positive. {_found(y)}")
    seen = next(iter(names))
    if isinstance(seen, str):
        return positive.strip()
    number = _number(positive)
    if number is None:
        raise TableError(f"The positive label {positive!r} is no number, unlike all others. {_found(y)}")
    return type(seen)(number)


def _guess_positive(label: str, names: list[Any]) -> tuple[Any, list[str]]:
    """Yes, whatever its language; of other words the last in the alphabet, as for all labels. Said in any case."""
    if len(names) > 2 or not all(isinstance(name, str) for name in names):
        return None, []
    how = "pass --positive if it is another"
    if len(names) == 1:
        unseen = affirmative(names[0])
        said = f"Column {label!r} shows {names[0]!r} only, so the positive label is taken to be {unseen!r}; {how}."
        return unseen, [] if unseen is None else [said]
    yes = [name for name in names if fold(name) in YES]
    chosen = yes[0] if len(yes) == 1 else max(names)
    return chosen, [f"The positive label of column {label!r} is {chosen!r}; {how}."]


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


def match_label(text: str, values: Any) -> Any:
    """The value that a person means by `text`, or None: "1" and "1.0" are the number 1, "True" is true."""
    distinct = {value for value in values if value is not None}
    for value in distinct:
        if isinstance(value, bool):
            if text.casefold() in (str(value).casefold(), str(int(value))):
                return value
        elif isinstance(value, str):
            if fold(value) == fold(text):
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


def _refuse_strange_labels(label: str, counts: Counter[Any], n_rows: int, source: str) -> None:
    if not counts:
        raise TableError(f"Column {label!r} of {source} has no label at all in {n_rows} rows: label a few rows first.")
    if len(counts) > MOST_CLASSES:
        raise TableError(
            f"Column {label!r} of {source} has {len(counts)} different values, too many for labels. "
            "Is it the right column?"
        )
    refuse_marker(f"Column {label!r}", counts)
