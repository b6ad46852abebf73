"""The label column: the positive value, the unlabelled cells, and suspicious values.

For a table in batches, the distinct cells are counted in a first pass and the rows are encoded in a second.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._files.writing import guard_cell
from pnulearn._problem.labels import UNLABELED, Labels, decode_labels
from pnulearn._reader.columns import MISSING, Cells, Column, is_text
from pnulearn._reader.errors import Caution, TableError
from pnulearn._reader.table import Table
from pnulearn._reader.words import YES, affirmative, fold, refuse_marker

MOST_CLASSES = 20
LEAST_BLURRED = 2.0**53  # from here on, neighbouring whole numbers are the same float
ONLY_EMPTY = ""  # the marker of unlabelled rows that leaves words such as "none" to be labels
MOST_SPELLINGS = 500  # largest number of distinct cells of a label column


@dataclass(frozen=True)
class Meaning:
    """The meaning of every distinct cell of a label column: `label_of` maps it to a label, or to None if unlabelled.

    `remarks` say how the column was read; `joined` are those of them about merged spellings.
    """

    label_of: dict[Any, Any]
    positive: Any
    counts: dict[Any, int]
    remarks: list[str] = field(default_factory=list)
    joined: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Targets:
    """y with None for unlabelled rows, in the types that the table holds, and the positive label if one is known.

    `remarks` say how the column was read; `joined` are those of them about merged spellings.
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
    positive: Any = None,
    unlabeled: Any = None,
    known: Sequence[Any] = (),
) -> Targets:
    """Labels from a column. Empty cells are unlabelled, and so are cells equal to `unlabeled`.

    Spellings that differ in case or blanks are one label, the most frequent of them or the one in `known`.
    """
    words = _missing_words(table, label)
    column = table.column(label)
    if unlabeled == ONLY_EMPTY and words:
        column = _with_words(table.reading).column(label, table.cells.column(label))
    cells = label_cells(column)
    found = read_meaning(
        label, Counter(cells), table.source, positive=positive, unlabeled=unlabeled, known=known, words=words
    )
    y = np.array([*map(found.label_of.get, cells), None], dtype=object)[:-1]
    return Targets(y, found.positive, found.counts, found.remarks, found.joined)


def read_meaning(
    label: str,
    cells: Counter[Any],
    source: str,
    *,
    positive: Any = None,
    unlabeled: Any = None,
    known: Sequence[Any] = (),
    words: Mapping[str, int] = MappingProxyType({}),
) -> Meaning:
    """The meaning of the distinct cells of a column, None among them if some are empty, and how many rows have each.

    `words` counts cells with words such as "none", which are among the empty ones.
    """
    words, unlabeled = ({}, None) if unlabeled == ONLY_EMPTY else (words, unlabeled)
    positive, unlabeled = (None if one is None else label_text(one) for one in (positive, unlabeled))
    filled = Counter({cell: count for cell, count in cells.items() if cell is not None})
    spelt, joined = _join_spellings(label, filled, known)
    counts: Counter[Any] = Counter()
    for cell, count in filled.items():
        counts[spelt[cell]] += count
    marker = None if unlabeled is None else match_label(unlabeled, counts)
    if unlabeled is not None and marker is None:
        raise TableError(
            f"No cell of column {label!r} is {unlabeled!r}, named as the marker of unlabelled rows. {_found(counts)}"
        )
    counts.pop(marker, None)
    _refuse_strange_labels(label, counts, cells.total(), source)
    if positive is None:
        chosen, said = _guess_positive(label, list(counts))
    else:
        chosen, said = _named_positive(label, positive, counts), []
    label_of = {cell: None if marker is not None and word == marker else word for cell, word in spelt.items()}
    ordered = dict(sorted(counts.items(), key=lambda item: str(item[0])))
    dropped = [] if None not in cells else _tell_words(label, words, counts, cells[None])
    return Meaning(label_of, chosen, ordered, joined + dropped + said, joined)


def _missing_words(table: Table, label: str) -> Counter[str]:
    """Cells with words that usually mean "missing", and how many rows have each."""
    import pyarrow.compute as pc

    table.refuse_absent(label)
    if not is_text(_plain_type(table, label)):
        return Counter()
    column = table.cells.column(label)
    found = pc.value_counts(column.combine_chunks() if hasattr(column, "combine_chunks") else column).to_pylist()
    counted = {entry["values"]: entry["counts"] for entry in found if entry["values"] is not None}
    return _count_words(counted, table.reading)


def _count_words(cells: Mapping[Any, int], reading: Cells) -> Counter[str]:
    words: Counter[str] = Counter()
    for cell, count in cells.items():
        if isinstance(cell, str) and cell.strip() and cell.strip().lower() in set(MISSING) & set(reading.missing):
            words[cell.strip()] += count
    return words


def _with_words(reading: Cells) -> Cells:
    """The same without the words that usually mean "missing"."""
    return replace(reading, missing=tuple(one for one in reading.missing if one == "" or one not in MISSING))


def _tell_words(label: str, words: Mapping[str, int], counts: Mapping[Any, int], n_empty: int) -> list[str]:
    """How many cells hold words that mean "unlabelled"; a warning where they may be a class.

    They may be among other words, if other cells are really empty, or if it is "none" (none, mild, severe).
    """
    among_words = any(isinstance(value, str) for value in counts)
    found: list[str] = []
    for word, count in words.items():
        said = f"{count} cells of column {label!r} say {word!r}, which is read as unlabelled."
        if among_words and (n_empty > sum(words.values()) or fold(word) == "none"):
            found.append(Caution(f'{said} If it is a class, pass unlabeled="": then only empty cells are unlabelled.'))
        else:
            found.append(said)
    return found


def _join_spellings(label: str, cells: Counter[Any], known: Sequence[Any]) -> tuple[dict[Any, Any], list[str]]:
    """The label of each cell after joining spellings, and remarks."""
    spellings: dict[str, Counter[Any]] = {}
    for word, count in cells.items():
        if isinstance(word, str):
            spellings.setdefault(fold(word), Counter())[word] = count
    chosen = {folded: max(sorted(words), key=words.__getitem__) for folded, words in spellings.items()}
    chosen |= {fold(word): word for word in known if isinstance(word, str)}
    remarks = [
        f"In column {label!r} {', '.join(f'{w!r} ({n})' for w, n in words.most_common(5))} are one label, "
        f"{chosen[folded]!r}."
        for folded, words in spellings.items()
        if len(words) > 1
    ]
    return {cell: chosen[fold(cell)] if isinstance(cell, str) else cell for cell in cells}, remarks


def _named_positive(label: str, positive: str, counts: Counter[Any]) -> Any:
    """The label that `positive` refers to; no row has it if all labelled rows are of the other class."""
    chosen = match_label(positive, counts)
    if chosen is not None:
        return chosen
    if len(counts) > 1:
        raise TableError(f"No row of column {label!r} has the label {positive!r}, named as positive. {_found(counts)}")
    seen = next(iter(counts))
    if isinstance(seen, str):
        return positive.strip()
    number = _number(positive)
    if number is None:
        raise TableError(f"The positive label {positive!r} is not a number, unlike all others. {_found(counts)}")
    return type(seen)(number)


def _guess_positive(label: str, names: list[Any]) -> tuple[Any, list[str]]:
    """The word for yes in any known language, else the last label in alphabetical order; a remark says which.

    Of two numbers the greater is positive, which needs no remark for 0 and 1 or −1 and 1.
    """
    how = "pass pos_label=... if it is another"
    if len(names) == 2 and not any(isinstance(name, str | bool) for name in names) and min(names) not in (0, -1):
        return max(names), [f"The positive label of column {label!r} is {max(names)}, the greater one; {how}."]
    if len(names) > 2 or not all(isinstance(name, str) for name in names):
        return None, []
    if len(names) == 1:
        unseen = affirmative(names[0])
        said = f"Column {label!r} has {names[0]!r} only, so the positive label is assumed to be {unseen!r}; {how}."
        return unseen, [] if unseen is None else [said]
    yes = [name for name in names if fold(name) in YES]
    chosen = yes[0] if len(yes) == 1 else max(names)
    return chosen, [f"The positive label of column {label!r} is {chosen!r}; {how}."]


def label_cells(column: Column) -> list[Any]:
    """Cells as strings, whole numbers, other numbers or booleans; None where missing."""
    if not column.is_numeric:
        return column.values.tolist()
    present = column.values[~np.isnan(column.values)]
    if np.any(np.abs(present) >= LEAST_BLURRED):
        raise TableError(
            f"Column {column.name!r} holds labels such as {present[np.abs(present).argmax()]:.0f}. Numbers from 2^53 "
            "on cannot be told apart from their neighbours. Use shorter numbers, or words, as labels."
        )
    if column.kind == "flag":
        kind: type = bool
    else:
        kind = int if np.all(present % 1 == 0) and np.isfinite(present).all() else float
    return [None if np.isnan(value) else kind(value) for value in column.values]


def label_text(label: Any) -> str:
    """A label as text, as in a table."""
    return str(label).lower() if isinstance(label, bool | np.bool_) else str(label)


def refuse_lost_names(names: Sequence[str]) -> None:
    """Raise an error for names of classes that are others when they are read from a table that was written.

    Parameters
    ----------
    names : sequence of str
        Of all classes.
    """
    import pyarrow as pa

    cells = label_cells(Cells().column("classes", pa.array([guard_cell(name) for name in names], pa.string())))
    for name, cell in zip(names, cells, strict=True):
        if not name.strip():
            raise TableError(f"A name is missing among the classes {','.join(names)!r}: type a name for each of them.")
        if cell is None:
            raise TableError(f"The class {name!r} is read as a missing label: type another name, as in 'class {name}'.")
    for k, cell in enumerate(cells):
        text = label_text(cell)
        same = next(
            (name for name, one in zip(names, cells[:k], strict=False) if fold(label_text(one)) == fold(text)), None
        )
        if same is not None:
            raise TableError(f"The classes {same!r} and {names[k]!r} are read as one label: type two different names.")
        if match_label(names[k], [cell]) is None:
            other = f"class {names[k]}" if text.startswith("'") else text
            raise TableError(
                f"The class {names[k]!r} is read as {text!r} from an exported table: type {other!r} instead."
            )


def match_label(text: str, values: Any) -> Any:
    """The value that `text` refers to, or None: "1" and "1.0" are the number 1, "True" is true."""
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


def _found(counts: Counter[Any]) -> str:
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


class LabelCounter:
    """Counts the distinct cells of a label column over batches."""

    def __init__(self, label: str):
        self.label = label
        self._counts: Counter[Any] = Counter()
        self._types: list[Any] = []
        self._reading = Cells()

    def add(self, table: Table) -> AnyArray:
        """Add the cells of a batch to the counts; returns the group of each row, equal for equal cells."""
        places, cells = _distinct(table, self.label)
        counts = np.bincount(places, minlength=len(cells))
        self._counts.update({cell: int(count) for cell, count in zip(cells, counts, strict=True) if count})
        if len(self._counts) > MOST_SPELLINGS:
            raise TableError(
                f"Column {self.label!r} of {table.source} has more than {MOST_SPELLINGS} different values, too many "
                "for labels. Is it the right column?"
            )
        self._types.append(_plain_type(table, self.label))
        self._reading = replace(table.reading, decimal_comma=table.reading.decimal_comma or self._reading.decimal_comma)
        numbers = {cell: number for number, cell in enumerate(self._counts)}
        return np.array([numbers.get(cell, -1) for cell in cells], dtype=int)[places]

    def read(self, source: str, *, positive: Any, unlabeled: Any, known: AnyArray | None = None) -> LabelCodes:
        """The meaning of the cells, by the same rules as for tables in memory; `known` are the classes of a model."""
        import pyarrow as pa

        words = _count_words(self._counts, self._reading)
        if unlabeled == ONLY_EMPTY:
            self._reading = _with_words(self._reading)
        cells = [cell for cell in self._counts if cell is not None]
        kind = next((kind for kind in self._types if not pa.types.is_null(kind)), pa.null())
        column = Table(pa.table({self.label: pa.array(cells, kind)}), source, self._reading).column(self.label)
        meant = dict(zip(cells, label_cells(column), strict=True)) | {None: None}
        counts: Counter[Any] = Counter()
        for cell, count in self._counts.items():
            counts[meant[cell]] += count
        names = () if known is None else known.tolist()
        meaning = read_meaning(
            self.label, counts, source, positive=positive, unlabeled=unlabeled, known=names, words=words
        )
        labels = {cell: meaning.label_of.get(value) for cell, value in meant.items()}
        y = np.array([*(labels[cell] for cell in self._counts), None], dtype=object)[:-1]
        decoded = decode_labels(y, pos_label=None if known is not None else meaning.positive, classes=known)
        codes = dict(zip(self._counts, decoded.codes.tolist(), strict=True))
        return LabelCodes(self.label, meaning, decoded.classes, codes, self._counts.total())


@dataclass(frozen=True)
class LabelCodes:
    """The class code of every distinct cell."""

    label: str
    meaning: Meaning
    classes: AnyArray
    code_of: dict[Any, int]
    n_rows: int

    def codes(self, table: Table) -> AnyArray:
        """The class code of every row of a batch, −1 if it is unlabelled."""
        places, cells = _distinct(table, self.label)
        return np.array([self.code_of.get(cell, UNLABELED) for cell in cells], dtype=int)[places]

    def labels(self, table: Table) -> Labels:
        return Labels(self.classes, self.codes(table))


def _plain_type(table: Table, label: str) -> Any:
    import pyarrow as pa

    kind = table.cells.schema.field(label).type
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _distinct(table: Table, label: str) -> tuple[AnyArray, list[Any]]:
    """Index of every row's cell among the distinct cells, and the distinct cells, of which the last is None."""
    import pyarrow as pa

    table.refuse_absent(label)
    column = table.cells.column(label)
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if pa.types.is_null(column.type):
        return np.zeros(len(column), dtype=int), [None]
    encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    cells = [None if cell != cell else cell for cell in encoded.dictionary.to_pylist()]
    return encoded.indices.fill_null(len(cells)).to_numpy(zero_copy_only=False).astype(int), [*cells, None]
