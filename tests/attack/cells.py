"""The tables of what must happen, unrolled into cells, and the judge of a cell."""

from __future__ import annotations

import csv
import re
import warnings
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

MUST = Path(__file__).with_name("must")
KNOWN = Path(__file__).with_name("known.csv")
CLEAR = (ValueError, TypeError, MemoryError, OSError)


@dataclass(frozen=True)
class Cell:
    """One input for one entry point: `must` is right, finite, right_empty, error, warning or any (error or finite)."""

    topic: str
    input: str
    entry: str
    must: str
    words: str

    @property
    def name(self) -> str:
        return f"{self.topic}-{self.input}-{self.entry}"


def topic(name: str) -> Any:
    """The module of a topic: its `GROUPS` of entry points, `answer(input, entry)` and `expected(entry)`."""
    return import_module(f"tests.attack.topics.{name}")


def read_cells() -> list[Cell]:
    """All cells of all topics; a later line of a table overrules an earlier one."""
    found: dict[tuple[str, str, str], Cell] = {}
    for path in sorted(MUST.glob("*.csv")):
        groups = topic(path.stem).GROUPS
        with path.open(newline="", encoding="utf-8") as file:
            for line in csv.DictReader(file):
                for word in line["entries"].split():
                    for entry in groups.get(word, [word]):
                        cell = Cell(path.stem, line["input"], entry, line["must"], line["words"])
                        found[cell.topic, cell.input, entry] = cell
    return list(found.values())


def known_reason(cell: Cell) -> str:
    """Why this cell is known to fail, from known.csv, which names it or all entries of its input; else nothing."""
    with KNOWN.open(newline="", encoding="utf-8") as file:
        for line in csv.DictReader(file):
            if (line["topic"], line["input"]) == (cell.topic, cell.input) and line["entry"] in ("*", cell.entry):
                return line["reason"]
    return ""


def judge(cell: Cell) -> tuple[str, str]:
    """Right, clear, silent wrong or raw; and what was found."""
    with warnings.catch_warnings(record=True) as caught, np.errstate(all="ignore"):
        warnings.simplefilter("always")
        try:
            answer = np.asarray(topic(cell.topic).answer(cell.input, cell.entry), dtype=float)
        except Exception as error:
            # scikit-learn says of a method that is not there for a reason only that, and gives the reason as the cause
            told = error.__cause__ if isinstance(error, AttributeError) and error.__cause__ else error
            wanted = cell.must in ("error", "any") and isinstance(told, CLEAR)
            wanted = wanted and re.search(cell.words, str(told), re.S | re.I) is not None
            return ("clear" if wanted else "raw"), f"{type(told).__name__}: {told}"
    right = _is_right(cell, answer, [str(one.message) for one in caught])
    return ("right" if right else "silent wrong"), f"the answer {answer.ravel()[:3].tolist()}"


def _is_right(cell: Cell, answer: Any, messages: list[str]) -> bool:
    if cell.must == "right":
        wanted = np.asarray(topic(cell.topic).expected(cell.entry), dtype=float)
        return answer.shape == wanted.shape and np.allclose(answer, wanted, rtol=1e-6, atol=1e-8)
    if cell.must == "right_empty":
        return len(answer) == 0
    if cell.must == "warning":
        return any(re.search(cell.words, message) for message in messages) and bool(np.isfinite(answer).all())
    return cell.must in ("finite", "any") and bool(np.isfinite(answer).all())
