"""The table of what must happen, unrolled into cells, and the judge of a cell."""

from __future__ import annotations

import csv
import re
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tests.attack import entries, inputs

GROUPS = {name: getattr(entries, name) for name in ("LEARN", "ANSWER", "JUDGE", "LABELS", "METRICS", "WRAPPED")}
CLEAR = (ValueError, TypeError, MemoryError)


@dataclass(frozen=True)
class Cell:
    """One input for one entry point: `must` is right, finite, empty, error, warning or any (an error or finite)."""

    input: str
    entry: str
    must: str
    words: str

    @property
    def name(self) -> str:
        return f"{self.input}-{self.entry}"


def read_cells() -> list[Cell]:
    """All cells; a later line of the table overrules an earlier one."""
    found: dict[tuple[str, str], Cell] = {}
    with open(Path(__file__).with_name("table.csv"), newline="", encoding="utf-8") as file:
        for line in csv.DictReader(file):
            for word in line["entries"].split():
                for entry in GROUPS.get(word, [word]):
                    found[line["input"], entry] = Cell(line["input"], entry, line["must"], line["words"])
    return list(found.values())


def judge(cell: Cell) -> tuple[str, str]:
    """Right, clear, silent wrong or raw; and what was found."""
    with warnings.catch_warnings(record=True) as caught, np.errstate(all="ignore"):
        warnings.simplefilter("always")
        try:
            answer = np.asarray(_answer(cell), dtype=float)
        except Exception as error:
            found = f"{type(error).__name__}: {error}"
            wanted = cell.must in ("error", "any") and isinstance(error, CLEAR)
            return ("clear" if wanted and re.search(cell.words, str(error), re.S | re.I) else "raw"), found
    return ("right" if _is_right(cell, answer, [str(one.message) for one in caught]) else "silent wrong"), "an answer"


def _is_right(cell: Cell, answer: Any, messages: list[str]) -> bool:
    if cell.must == "right":
        wanted = entries.expected(cell.entry)
        return answer.shape == wanted.shape and np.allclose(answer, wanted, rtol=1e-6, atol=1e-8)
    if cell.must == "right_empty":
        return len(answer) == 0
    if cell.must == "warning":
        return any(re.search(cell.words, message) for message in messages)
    return cell.must in ("finite", "any") and bool(np.isfinite(answer).all())


def _answer(cell: Cell) -> Any:
    bad = next(table[cell.input]() for table in _tables() if cell.input in table)
    if cell.entry in entries.ANSWER:
        return entries.ANSWER[cell.entry](bad)
    if cell.entry in entries.LABELS:
        return entries.LABELS[cell.entry](bad)
    if cell.entry in entries.METRICS:
        arguments = (inputs.Y, bad) if cell.input.startswith("s_") else (bad, inputs.SCORES)
        return entries.METRICS[cell.entry](*arguments)
    call = (entries.LEARN | entries.JUDGE | entries.WRAPPED)[cell.entry]
    return call(inputs.X, bad) if cell.input.startswith("y_") else call(bad, inputs.Y)


def _tables() -> list[dict[str, Any]]:
    return [table for name, table in vars(inputs).items() if name.isupper() and isinstance(table, dict)]
