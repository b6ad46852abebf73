"""Rows drawn, shown and answered: in memory, and before that in the journal."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from numbers import Integral
from threading import RLock
from typing import Any

from pnulearn.labeling.desk import Desk
from pnulearn.labeling.draws import DONT_KNOW, PENDING, Book, Draw, draw_event, read_draw
from pnulearn.labeling.journal import Journal, JournalError
from pnulearn.labeling.judging import Share
from pnulearn.labeling.urn import Urn


class AlreadyAnsweredError(ValueError):
    """A row that somebody else has answered meanwhile."""


class Interview:
    """What was asked of whom and what they said; it knows nothing of models.

    Parameters
    ----------
    urn : Urn
        Where rows are drawn from.
    classes : sequence
        What may be answered.
    """

    def __init__(self, urn: Urn, classes: Sequence[Hashable]) -> None:
        self.urn, self.classes, self.book = urn, list(classes), Book()
        self.lock = RLock()
        self.journal: Journal | None = None
        self._desk = Desk()
        self._answers: list[tuple[int, str]] = []

    @property
    def n_answers(self) -> int:
        """Answers so far, "don't know" included."""
        return len(self._answers)

    @property
    def n_waiting(self) -> int:
        """Rows that were skipped, or shown and left."""
        return self._desk.n_waiting

    @property
    def answered(self) -> list[tuple[Draw, int]]:
        """All draws that were answered, with their codes."""
        with self.lock:
            pairs = zip(self.book.draws, self.book.codes, strict=True)
            return [(draw, code) for draw, code in pairs if code != PENDING]

    def next(self, who: str) -> Draw | None:
        """The row that somebody should see now; None when no row is left.

        Parameters
        ----------
        who : str
            Who asks.
        """
        with self.lock:
            is_empty = not self.urn.left.any()
            number = self._desk.hand_out(who, self.n_answers, nothing_else=is_empty)
            if number is not None:
                return self.book.draws[number]
            if is_empty:
                return None
            draw = self.urn.draw(len(self.book.draws))
            self._write(draw_event(draw))
            self._enter(draw)
            self._desk.hold(draw.number, who)
            return draw

    def answer(self, label: Hashable, draw: Draw | int | None, who: str) -> None:
        """Enter the label of a row.

        Parameters
        ----------
        label : object
            One of the classes.
        draw : Draw, int or None
            The draw, its number, or None for what `who` is looking at.
        who : str
            Who answers.
        """
        if label not in self.classes:
            raise ValueError(f"{label!r} is none of the classes {self.classes}.")
        self._settle(self.classes.index(label), draw, who, {"event": "answer", "label": label})

    def dont_know(self, draw: Draw | int | None, who: str) -> None:
        """Enter that nobody can tell the label of a row.

        Parameters
        ----------
        draw : Draw, int or None
            The draw, its number, or None for what `who` is looking at.
        who : str
            Who answers.
        """
        self._settle(DONT_KNOW, draw, who, {"event": "dont_know"})

    def skip(self, draw: Draw | int | None, who: str) -> None:
        """Put a row off.

        Parameters
        ----------
        draw : Draw, int or None
            The draw, its number, or None for what `who` is looking at.
        who : str
            Who skips it.
        """
        with self.lock:
            number = self._number(draw, who)
            self._write({"event": "skip", "draw": number})
            self._desk.skip(number, self.n_answers)

    def undo(self, who: str | None) -> Draw | None:
        """Take the last answer back and show its row again; None if there is none.

        Parameters
        ----------
        who : str, optional
            Whose last answer; by default the last of all.
        """
        with self.lock:
            mine = [pair for pair in self._answers if who is None or pair[1] == who]
            if not mine:
                return None
            number, by = mine[-1]
            self._write({"event": "undo", "draw": number})
            self._take_back(number)
            for other in [other for other in self.book.pending if self._desk.holder(other) == by]:
                self._desk.release(other)
            self._desk.hold(number, by)
            return self.book.draws[number]

    def remember(self, n_labels: int, error: Share) -> None:
        """Write down what was known of the error, which can be worked out again and need not be on disk at once.

        Parameters
        ----------
        n_labels : int
            Labels at that time.
        error : Share
            What was known.
        """
        if self.journal is not None:
            seen = [error.value, error.low, error.high, error.n_effective]
            self.journal.append({"event": "standing", "n_labels": n_labels, "error": seen}, durable=False)

    def close(self) -> None:
        """Let go of the journal."""
        if self.journal is not None:
            self.journal.close()

    def replay(self, events: Sequence[Mapping[str, Any]], source: str) -> dict[int, Share]:
        """Go through the events of a journal after its first line; rows that were shown and left wait for anybody.

        What was known of the error is returned, by the number of labels at that time.

        Parameters
        ----------
        events : sequence of mappings
            What happened.
        source : str
            Where it is written, for messages.
        """
        known: dict[int, Share] = {}
        for line, event in enumerate(events, start=2):
            try:
                if event["event"] == "standing":
                    known[int(event["n_labels"])] = Share(*map(float, event["error"]))
                else:
                    self._replay(event)
            except (KeyError, IndexError, TypeError, ValueError) as error:
                place = f"Line {line} of {source}"
                raise JournalError(f"{place} does not follow from the lines before it ({error}).") from None
        for number in self.book.pending:
            self._desk.release(number)
        return known

    def _replay(self, event: Mapping[str, Any]) -> None:
        number, who = int(event.get("draw", -1)), event.get("by", "")
        if event["event"] == "draw":
            draw = read_draw(event)
            if draw.number != len(self.book.draws) or not self.urn.left[draw.row]:
                raise ValueError(f"draw {draw.number} of row {draw.row} is out of order")
            self._enter(draw)
        elif event["event"] == "answer":
            self._note(number, self.classes.index(event["label"]), who)
        elif event["event"] == "dont_know":
            self._note(number, DONT_KNOW, who)
        elif event["event"] == "undo":
            self._take_back(number)

    def _enter(self, draw: Draw) -> None:
        self.book.add(draw)
        self.urn.take(draw.row)

    def _settle(self, code: int, draw: Draw | int | None, who: str, event: dict[str, Any]) -> None:
        with self.lock:
            number = self._number(draw, who)
            drawn = self.book.draws[number]
            if self.book.codes[number] != PENDING:
                raise AlreadyAnsweredError(f"Row {drawn.row + 1} has been answered already.")
            reason = {"draw": number, "row": drawn.row, "probability": drawn.probability, "reason": drawn.reason}
            self._write({**event, **reason, "by": who})
            self._note(number, code, who)

    def _note(self, number: int, code: int, who: str) -> None:
        self.book.codes[number] = code
        self._answers.append((number, who))
        self._desk.clear(number)

    def _take_back(self, number: int) -> None:
        self.book.codes[number] = PENDING
        self._answers = [pair for pair in self._answers if pair[0] != number]

    def _number(self, draw: Draw | int | None, who: str) -> int:
        number = draw.number if isinstance(draw, Draw) else draw
        if number is None:
            number = next((n for n in self.book.pending if self._desk.holder(n) == who), None)
        if number is None:
            raise ValueError(f"No row is waiting for an answer{f' of {who}' if who else ''}: call next() first.")
        if not isinstance(number, Integral) or not 0 <= number < len(self.book.draws):
            raise ValueError(f"draw={draw!r} is no draw of this labelling: pass what next() returned, or its number.")
        return number

    def _write(self, event: dict[str, Any]) -> None:
        if self.journal is not None:
            self.journal.append(event)
