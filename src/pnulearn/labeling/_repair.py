"""Repair of a damaged journal: every line that can have happened is kept, and the others are named."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from pnulearn._files.writing import take_lock, write_atomically
from pnulearn.labeling._draws import EARLIER, Draw, draw_event, read_draw, read_number, read_text, read_whole
from pnulearn.labeling._journal import VERSION, JournalError, keep_copy, parse_event, whole_lines
from pnulearn.labeling._pool import Pool
from pnulearn.labeling._session import Session

MOST_SHOWN = 80  # characters of a line that is dropped


@dataclass(frozen=True)
class DroppedLine:
    """A line that was left out of a repaired journal.

    Parameters
    ----------
    line : int
        Its number in the damaged file, from 1 on.
    reason : str
        Why it cannot have happened.
    text : str
        How it begins.
    """

    line: int
    reason: str
    text: str

    def __str__(self) -> str:
        return f"line {self.line} was dropped, because {self.reason}: {self.text}"


@dataclass
class Repair:
    """What a repair kept and dropped.

    Parameters
    ----------
    dropped : list of DroppedLine
        Lines that were left out.
    n_answers : int
        Answers in the repaired journal.
    n_restored : int
        Draws whose line was damaged, restored from their answers.
    copy : Path, optional
        The damaged file as it was; None if nothing was damaged and nothing was written.
    """

    dropped: list[DroppedLine] = field(default_factory=list)
    n_answers: int = 0
    n_restored: int = 0
    copy: Path | None = None


def repair_journal(path: str | os.PathLike[str]) -> Repair:
    """Drop the lines of a journal that are damaged or contradict the lines before them, and say which.

    The damaged file is kept as a copy. Draws are numbered anew where draws before them were lost; a draw that was lost
    is restored from its answer. Weights of rows do not change.

    Parameters
    ----------
    path : str or Path
        The journal, which must not be in use. Its first line, which says what is labelled, must be whole.
    """
    place = Path(path)
    if not place.is_file():
        raise JournalError(f"There is no journal {str(path)!r}.")
    with open(place, "r+b") as file:
        if not take_lock(file):
            raise JournalError(f"{place.name} is in use: stop the process that labels these rows first.")
        raw = file.read()
        lines, done = _sift(raw, place.name)
        if done.dropped or done.n_restored:
            done.copy = keep_copy(place, raw, "damaged")
            write_atomically(place, lambda target: target.write(b"".join(line + b"\n" for line in lines)))
    return done


def _sift(raw: bytes, name: str) -> tuple[list[bytes], Repair]:
    """The lines to keep, and what was done."""
    whole = whole_lines(raw)
    first, *lines = whole.split(b"\n")[:-1] or [raw]
    torn = raw[len(whole) :]
    session = _empty_session(first, [event for event in map(_try, lines) if event is not None], name)
    kept, done, renumbering = [first], Repair(), _Renumbering(session)
    for number, line in enumerate(lines, start=2):
        try:
            events = list(renumbering.follow(parse_event(line)))
        except ValueError as error:
            done.dropped.append(_dropped(number, str(error), line))
            continue
        done.n_restored += len(events) - 1
        kept += [line if event is None else json.dumps(event, ensure_ascii=False).encode() for event in events]
    if torn:
        done.dropped.append(_dropped(len(lines) + 2, "it has no end", torn))
    done.n_answers = session.n_answers
    return kept, done


class _Renumbering:
    """Enters events into a session under the numbers that draws have without the lost ones.

    Parameters
    ----------
    session : Session
        Before the first event.
    """

    def __init__(self, session: Session) -> None:
        self.session = session
        self.n_given, self.n_first = len(session.answer_log.draws), int(session.pool.left.sum())
        self.draws: dict[int, tuple[Draw, Draw]] = {}  # as they were and as they are now, by the number that they had

    def follow(self, event: dict[str, Any]) -> Iterator[dict[str, Any] | None]:
        """Enter an event; yields what is to be written: None for the line as it is, or events in its place."""
        if event["event"] == "draw":
            changed = self._enter(read_draw(event), event)
            yield None if changed == event else changed
        elif "draw" in event:
            number = read_whole(event, "draw")
            if number not in self.draws and event["event"] in ("answer", "dont_know"):
                yield self._restore(number, event)
            changed = self._translate(number, event)
            self.session.apply(changed)
            yield None if changed == event else changed
        else:
            self.session.apply(event)
            yield None

    def _enter(self, draw: Draw, event: dict[str, Any]) -> dict[str, Any]:
        """Enter a draw; with more rows left than there were its probability is lower, and its weight the same."""
        if draw.number in self.draws or draw.number < self.n_given:
            raise ValueError(f"draw {draw.number} was made before it")
        number, changed = len(self.session.answer_log.draws), event
        if event.get(EARLIER) is True:  # from the table as it was before, with other rows left
            changed = {**event, "draw": number}
        else:
            were = self._n_left(draw.number)
            if draw.n_left != were:
                raise ValueError(f"it says that {draw.n_left} rows were left, and there were {were}")
            n_left = int(self.session.pool.left.sum())
            scale = 1.0 if n_left == draw.n_left else draw.n_left / n_left
            changed = {**event, "draw": number, "n_left": n_left, "probability": draw.probability * scale}
        self.session.apply(changed)
        self.draws[draw.number] = draw, self.session.answer_log.draws[-1]
        return changed

    def _restore(self, number: int, event: dict[str, Any]) -> dict[str, Any]:
        """The draw of an answer, from what the answer says about it."""
        row, probability = read_whole(event, "row"), read_number(event, "probability")
        draw = Draw(number, row, probability, self._n_left(number), read_text(event, "reason"))
        return self._enter(draw, draw_event(draw))

    def _translate(self, number: int, event: dict[str, Any]) -> dict[str, Any]:
        if number not in self.draws:
            raise ValueError(f"the line of draw {number} is lost")
        old, new = self.draws[number]
        changed = {**event, "draw": new.number}
        if event.get("probability") == old.probability:
            changed["probability"] = new.probability
        return changed

    def _n_left(self, number: int) -> int:
        """Rows that were left when a draw was made, if no draw before it was lost."""
        return self.n_first - (number - self.n_given)


def _empty_session(first: bytes, events: Sequence[dict[str, Any]], name: str) -> Session:
    """A session before the first event; which rows had labels is not known, only how many."""
    try:
        start = parse_event(first)
        if start["event"] != "start" or start.get("version") != VERSION or not isinstance(start.get("classes"), list):
            raise ValueError("it does not say what is labelled")
        n_rows, n_given = read_whole(start, "n_rows"), read_whole(start, "n_given")
    except ValueError as error:
        raise JournalError(
            f"Line 1 of {name} must say what is labelled, and {error}. It was not changed. Without this line nobody "
            "knows which rows the answers are about: copy it from a journal of the same table, or start anew."
        ) from None
    draws = [draw for draw in map(_try_draw, events) if draw is not None and 0 <= draw.row < n_rows]
    earlier = {event.get("draw") for event in events if event.get(EARLIER) is True}
    counts = Counter(draw.n_left + draw.number - n_given for draw in draws if draw.number not in earlier)
    n_left = counts.most_common(1)[0][0] if counts else n_rows - n_given
    left = np.ones(n_rows, dtype=bool)
    never_drawn = np.setdiff1d(np.arange(n_rows), [draw.row for draw in draws])
    left[never_drawn[: max(n_rows - n_left, 0)]] = False
    session = Session(Pool(None, left, {}, 0), start["classes"])
    for number, row in enumerate(np.flatnonzero(~left)[:n_given]):
        session.answer_log.add(Draw(number, int(row), 1 / n_rows, n_rows), 0)
    return session


def _try(line: bytes) -> dict[str, Any] | None:
    try:
        return parse_event(line)
    except ValueError:
        return None


def _try_draw(event: dict[str, Any]) -> Draw | None:
    try:
        return read_draw(event) if event["event"] == "draw" else None
    except ValueError:
        return None


def _dropped(number: int, reason: str, line: bytes) -> DroppedLine:
    return DroppedLine(number, reason, line[:MOST_SHOWN].decode(errors="replace"))
