"""Answers of a journal whose table was saved again, sorted or extended: their rows are found again."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from pnulearn._files.writing import take_lock, write_atomically
from pnulearn._reader.columns import MISSING
from pnulearn._reader.csv_lines import shown_cells
from pnulearn._reader.table import Table
from pnulearn.labeling._draws import EARLIER
from pnulearn.labeling._journal import JournalError, keep_copy, parse_journal
from pnulearn.tables._provenance import export_names

CELLS, IDENTIFIER = "cells", "id"  # of a line about a draw: a hash of the row's cells, and the cell that identifies it
UNIQUE = "unique"  # of the same: whether no other row of its table has these cells
TRUSTED = 0.9  # of the rows found by content, those that must have kept their identifier for it to be believed
LEAST_FOUND = 0.5  # of the labelled rows; with fewer it is another table
_NUMBER = re.compile(r"[+-]?(\d{1,15}(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?")
_MIDNIGHT = re.compile(r"(?<=\d)[ T]00:00(:00(\.0+)?)?$")


def plain_cell(text: str, decimal_comma: bool = False) -> str:
    """A cell as it is compared: the same for 1.50 and 1.5, TRUE and true, a date with and without midnight.

    Parameters
    ----------
    text : str
        The cell as it is written.
    decimal_comma : bool
        Whether 1,5 is a number in its table.

    Examples
    --------
    >>> plain_cell(" 1.50 "), plain_cell("1,50", True), plain_cell("n/a"), plain_cell("2024-01-31 00:00:00")
    ('1.5', '1.5', '', '2024-01-31')
    """
    text = text.strip()
    number = text.replace(",", ".") if decimal_comma and text.count(",") == 1 else text
    if _NUMBER.fullmatch(number):
        return f"{float(number) + 0.0:.12g}"
    folded = _MIDNIGHT.sub("", text).casefold()
    return "" if folded in MISSING else folded


class RowMarks:
    """What a journal says about rows, so that they are found again in another version of their table.

    Parameters
    ----------
    table : Table
        The rows.
    label : str
        The column of labels, which does not count, nor do the columns that an export adds.
    identifier : str, optional
        The column that identifies rows; by default the first one whose cells are all there and all different, and
        are not measurements.
    names : sequence of str, optional
        The columns whose cells are compared; by default all others.
    """

    def __init__(
        self, table: Table, label: str, identifier: str | None = None, names: Sequence[str] | None = None
    ) -> None:
        self.table, self._texts = table, dict[str, Any]()
        others = [name for name in table.names if name not in export_names(label)]
        if identifier is not None:
            table.refuse_absent(identifier)
        if identifier is None and names is None:
            identifier = next(filter(self._identifies, others), None)
        self.identifier = identifier
        self.names = sorted(name for name in others if name != identifier) if names is None else list(names)

    @classmethod
    def like(cls, start: Mapping[str, Any], table: Table, label: str, identifier: str | None = None) -> RowMarks | None:
        """Marks of the columns of a journal; None if it names none, or if the table has not all of them any more.

        Parameters
        ----------
        start : mapping
            The journal's first line.
        table : Table
            The rows.
        label : str
            The column of labels.
        identifier : str, optional
            The column that identifies rows; then other columns may be gone.
        """
        names, known = start.get("columns"), start.get("identifier")
        if not isinstance(names, list):
            return None
        chosen = identifier or (known if known in table.names else None)
        if set(names) <= set(table.names):
            return cls(table, label, chosen, names)
        return None if identifier is None else cls(table, label, identifier, [])

    @property
    def about(self) -> dict[str, Any]:
        """The columns, for the first line of a journal."""
        return {"columns": self.names, "identifier": self.identifier}

    def of(self, row: int) -> dict[str, Any]:
        """The marks of a row.

        Parameters
        ----------
        row : int
            Its number.
        """
        cells = [plain_cell(self._text(name)[row].as_py() or "", self._comma) for name in self.names]
        marks: dict[str, Any] = {CELLS: _digest(cells)}
        if self.identifier is not None:
            marks[IDENTIFIER] = plain_cell(self._text(self.identifier)[row].as_py() or "", self._comma)
            marks[UNIQUE] = self._counts[marks[CELLS]] == 1
        return marks

    def all(self) -> list[tuple[str, str]]:
        """Hash and identifier of every row."""
        columns = [self._plain(name) for name in self.names]
        cells = list(zip(*columns, strict=True)) if columns else [()] * self.table.n_rows
        ids = [""] * self.table.n_rows if self.identifier is None else self._plain(self.identifier)
        return [(_digest(row), name) for row, name in zip(cells, ids, strict=True)]

    @cached_property
    def _counts(self) -> Counter[str]:
        """How many rows have the same cells."""
        return Counter(cells for cells, _ in self.all())

    @property
    def _comma(self) -> bool:
        return self.table.reading.decimal_comma

    def _text(self, name: str) -> Any:
        if name not in self._texts:
            self._texts[name] = shown_cells(self.table, name)
        return self._texts[name]

    def _plain(self, name: str) -> list[str]:
        coded = self._text(name).dictionary_encode()
        levels = [plain_cell(text or "", self._comma) for text in coded.dictionary.to_pylist()]
        return ["" if place is None else levels[place] for place in coded.indices.to_pylist()]

    def _identifies(self, name: str) -> bool:
        cells = set(self._plain(name))
        if len(cells) < self.table.n_rows or "" in cells:
            return False
        return not any(_NUMBER.fullmatch(cell) and not cell.isdecimal() for cell in cells)


def _digest(cells: Sequence[str]) -> str:
    return hashlib.blake2b("\x1f".join(cells).encode(errors="replace"), digest_size=8).hexdigest()


@dataclass
class FoundRows:
    """The events of a journal about the table as it is now.

    Parameters
    ----------
    events : list of dict
        The first line and what follows.
    is_changed : bool
        Whether they differ from the file: the table is another one than when the journal was written.
    remarks : list of str
        What a person should know.
    """

    events: list[dict[str, Any]]
    is_changed: bool = False
    remarks: list[str] = field(default_factory=list)

    @property
    def earlier(self) -> dict[int, Any]:
        """The answers that were given to the table as it was before, by row; None for "don't know"."""
        rows = {event["draw"]: event["row"] for event in self.events if event.get(EARLIER) is True}
        answers = {event["draw"]: event.get("label") for event in self.events if event["event"] == "answer"}
        return {row: answers.get(number) for number, row in rows.items()}

    def save(self, journal: str | os.PathLike[str]) -> None:
        """Write the events in the place of the journal, of which a copy is kept.

        Parameters
        ----------
        journal : str or Path
            The file, which must not be in use.
        """
        place = Path(journal)
        with open(place, "r+b") as file:
            if not take_lock(file):
                raise JournalError(f"{place.name} is in use: stop the process that labels these rows first.")
            keep_copy(place, file.read(), "before")
            lines = [json.dumps(event, ensure_ascii=False).encode() + b"\n" for event in self.events]
            write_atomically(place, lambda target: target.write(b"".join(lines)))


def find_rows(
    table: Table,
    label: str,
    classes: Sequence[str],
    journal: str | os.PathLike[str],
    given: Sequence[bool],
    identifier: str | None = None,
) -> FoundRows:
    """The events of a journal, with the rows that its answers are about as they are numbered in a table now.

    Parameters
    ----------
    table : Table
        As it is now.
    label : str
        The column of labels.
    classes : sequence of str
        Names of the classes; a journal of others is refused.
    journal : str or Path
        The file, which is only read.
    given : sequence of bool
        Rows of the table that have a label.
    identifier : str, optional
        The column that identifies rows, if cells of rows may have changed.
    """
    path = Path(journal)
    events = parse_journal(path.read_bytes(), {"label": label, "classes": list(classes)}, path.name)
    if not events or events[0].get("table") == table.fingerprint:
        return FoundRows(events)
    start, rest = events[0], events[1:]
    draws, answers = _last_answers(rest)
    marks = RowMarks.like(start, table, label, identifier)
    rows = {} if marks is None else _match(draws, marks, identifier is not None)
    if answers and len(rows) < LEAST_FOUND * len(answers):
        _refuse(path.name, table, marks, len(rows), len(answers))
    taken = set(rows.values())
    n_given = sum(has and row not in taken for row, has in enumerate(given)) if start.get("n_given") else 0
    marks = marks or RowMarks(table, label, identifier)
    first = {**start, "n_rows": table.n_rows, "table": table.fingerprint, "n_given": n_given, **marks.about}
    moved = [first, *_renumbered(draws, answers, rows, n_given, marks)]
    moved += [event for event in rest if event["event"] in ("progress", "standing")]
    how = _how([marks.of(row).get(IDENTIFIER) == draws[number].get(IDENTIFIER, "") for number, row in rows.items()])
    return FoundRows(moved, True, _remarks(table, start, len(rows), len(answers), how))


def _last_answers(events: Sequence[dict[str, Any]]) -> tuple[dict[int, dict[str, Any]], dict[int, dict[str, Any]]]:
    """Draws that have an answer, and their answers as they are at the end, in the order of the draws."""
    answers = dict[int, dict[str, Any]]()
    for event in events:
        if event["event"] in ("answer", "dont_know"):
            answers[event["draw"]] = event
        elif event["event"] == "undo":
            answers.pop(event["draw"], None)
    draws = {event["draw"]: event for event in events if event["event"] == "draw" and event["draw"] in answers}
    return draws, {number: answers[number] for number in draws}


def _match(draws: Mapping[int, Mapping[str, Any]], marks: RowMarks, is_sure: bool) -> dict[int, int]:
    """The row of every draw that is found.

    An identifier is believed if it was named, or if rows that are found by their other cells have kept theirs: a column
    that numbers rows anew whenever a table is saved tells nothing. Where several rows have the same cells, only the
    identifier tells which is which; without a column of identifiers they are interchangeable.
    """
    places = marks.all()
    by_both, by_cells, by_id = (
        _rows_of(places),
        _rows_of(cells for cells, _ in places),
        _rows_of(name for _, name in places),
    )
    wanted = {number: (event.get(CELLS, ""), event.get(IDENTIFIER, "")) for number, event in draws.items()}
    repeated = _repeated(draws.values(), by_cells)
    has_id = marks.identifier is not None
    trusts_id = has_id and (is_sure or not marks.names or _keep_identifiers(wanted.values(), places, repeated))
    rows, taken = dict[int, int](), set[int]()
    for places_of, part in ((by_both, None), (by_id, 1) if trusts_id else (by_cells, 0)):
        for number, pair in wanted.items():
            key = pair if part is None else pair[part]
            if part == 0 and has_id and key in repeated:
                continue
            found = places_of.get(key, [])
            while found and found[-1] in taken:
                found.pop()
            if number not in rows and found and key:
                rows[number] = found.pop()
                taken.add(rows[number])
    return {number: rows[number] for number in draws if number in rows}


def _rows_of(keys: Iterable[Any]) -> dict[Any, list[int]]:
    """The rows of every key, the first row last."""
    rows = defaultdict[Any, list[int]](list)
    for row, key in enumerate(keys):
        rows[key].append(row)
    return {key: found[::-1] for key, found in rows.items()}


def _repeated(draws: Iterable[Mapping[str, Any]], by_cells: Mapping[str, Sequence[int]]) -> set[str]:
    """Cells that several rows have now, or had when the journal was begun."""
    known = {(event.get(CELLS, ""), event.get(IDENTIFIER, "")): event.get(UNIQUE, True) for event in draws}
    counts = Counter(cells for cells, _ in known)
    now = {cells for cells in counts if len(by_cells.get(cells, ())) > 1}
    return now | {cells for (cells, _), is_unique in known.items() if counts[cells] > 1 or not is_unique}


def _keep_identifiers(
    wanted: Iterable[tuple[str, str]], places: Iterable[tuple[str, str]], repeated: Collection[str]
) -> bool:
    """Whether labelled rows whose cells and whose identifier are in the table have both in the same row."""
    pairs = set(places)
    cells, names = {cells for cells, _ in pairs}, {name for _, name in pairs}
    known = [pair for pair in wanted if pair[0] in cells and pair[1] in names]
    sure = [pair for pair in known if pair[0] not in repeated]
    return bool(known) and all(sum(pair in pairs for pair in part) >= TRUSTED * len(part) for part in (known, sure))


def _renumbered(
    draws: Mapping[int, dict[str, Any]],
    answers: Mapping[int, dict[str, Any]],
    rows: Mapping[int, int],
    n_given: int,
    marks: RowMarks,
) -> Iterator[dict[str, Any]]:
    """Draws and answers whose rows were found; each keeps the probability that it had."""
    for number, (old, row) in enumerate(rows.items(), start=n_given):
        yield {**draws[old], "draw": number, "row": row, EARLIER: True, **marks.of(row)}
        yield {**answers[old], "draw": number, "row": row}


def _how(has_same_id: Sequence[bool]) -> str:
    """What rows were found again by."""
    if not any(has_same_id):
        return "cells"
    return "identifier" if all(has_same_id) else "cells or their identifier"


def _remarks(table: Table, start: Mapping[str, Any], n_found: int, n_answers: int, how: str) -> list[str]:
    before = start.get("n_rows")
    size = f"it has {table.n_rows} rows, before it had {before}" if before != table.n_rows else "with as many rows"
    remarks = [
        f"{table.source} was changed since its journal was begun ({size}). {n_found} of {n_answers} labelled rows were "
        f"found again by their {how}, and their labels go along. Labelling goes on in the same journal; a copy of it "
        "as it was is kept beside it."
    ]
    if n_found < n_answers:
        is_one = n_answers - n_found == 1
        rows, answers = ("row is", "its answer is") if is_one else ("rows are", "their answers are")
        remarks.append(
            f"{n_answers - n_found} labelled {rows} not in the table any more, or with other cells, or other rows have "
            f"the same cells: {answers} left out. If a column identifies rows, name it with --id."
        )
    if before != table.n_rows and n_found:
        remarks.append(
            "The estimates take old and new rows to come from the same population. If they do not, label the new rows "
            "in a table of their own."
        )
    return remarks


def _refuse(name: str, table: Table, marks: RowMarks | None, n_found: int, n_answers: int) -> None:
    rows = f"only {n_found} of the {n_answers} labelled rows"
    what = rows if marks is not None else "not all columns that it was begun with"
    raise JournalError(
        f"{name} belongs to other rows: {what} can be found in {table.source}. If a column identifies rows whose cells "
        "have changed, name it with --id. To start anew, move the journal away."
    )
