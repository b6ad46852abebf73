"""A labelling session: rows are drawn, shown and answered, by several people at once; the journal is written first."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import suppress
from numbers import Integral
from threading import RLock
from typing import Any

import numpy as np

from pnulearn.labeling._draws import (
    DONT_KNOW,
    EARLIER,
    PENDING,
    AnswerLog,
    Draw,
    draw_event,
    read_draw,
    read_number,
    read_text,
    read_whole,
)
from pnulearn.labeling._estimates import Share
from pnulearn.labeling._journal import REPAIR, Journal, JournalError
from pnulearn.labeling._pool import Pool

# Who has which row before them: nobody is asked what somebody else is being asked.

PATIENCE = 900.0  # seconds after which a row that somebody was shown is given to whoever asks
SHARE = ("value", "low", "high", "n_effective")  # of the error, in the order of a line of the journal
COMES_BACK = 10  # answers after which a skipped row is shown again


class PendingDraws:
    """Draws that wait for an answer, by number.

    Parameters
    ----------
    clock : function
        The time in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._free: list[int] = []
        self._held: dict[int, tuple[str, float]] = {}
        self._skipped: dict[int, int] = {}

    @property
    def n_waiting(self) -> int:
        """Rows that were skipped, or that nobody looks at any more."""
        return len(self._free) + len(self._skipped)

    def holder(self, number: int) -> str | None:
        """Who is looking at a draw.

        Parameters
        ----------
        number : int
            The draw.
        """
        return self._held.get(number, (None, 0.0))[0]

    def hand_out(self, who: str, n_answers: int, nothing_else: bool = False) -> int | None:
        """The draw that somebody should see now, or None if a new one is to be made.

        Parameters
        ----------
        who : str
            Who asks.
        n_answers : int
            Answers so far, which say when skipped rows come back.
        nothing_else : bool
            Whether no other rows are left; then skipped rows come back at once.
        """
        own = [number for number, (holder, _) in self._held.items() if holder == who]
        now = self._clock()
        late = [number for number, (_, since) in self._held.items() if now - since > PATIENCE]
        due = [number for number, until in self._skipped.items() if nothing_else or until <= n_answers]
        number = next(iter([*own, *self._free, *due, *late]), None)
        if number is not None:
            self.hold(number, who)
        return number

    def hold(self, number: int, who: str) -> None:
        """Somebody is looking at this draw.

        Parameters
        ----------
        number : int
            The draw.
        who : str
            Who looks at it.
        """
        self.clear(number)
        self._held[number] = (who, self._clock())

    def release(self, number: int) -> None:
        """Nobody is looking at this draw; the next one who asks will.

        Parameters
        ----------
        number : int
            The draw.
        """
        self.clear(number)
        self._free.append(number)

    def skip(self, number: int, n_answers: int) -> None:
        """Put a draw off.

        Parameters
        ----------
        number : int
            The draw.
        n_answers : int
            Answers so far.
        """
        self.clear(number)
        self._skipped[number] = n_answers + COMES_BACK

    def clear(self, number: int) -> None:
        """The draw is answered: it waits no longer.

        Parameters
        ----------
        number : int
            The draw.
        """
        self._held.pop(number, None)
        self._skipped.pop(number, None)
        if number in self._free:
            self._free.remove(number)


# Rows drawn, shown and answered: in memory, and before that in the journal.


class AlreadyAnsweredError(ValueError):
    """A row that somebody else has answered meanwhile."""


class Session:
    """Draws, annotators and answers; independent of the model.

    Parameters
    ----------
    pool : Pool
        Where rows are drawn from.
    classes : sequence
        What may be answered.
    repeat : float
        Share of the answers that are asked for a second time.
    """

    def __init__(self, pool: Pool, classes: Sequence[Hashable], repeat: float = 0.0) -> None:
        self.repeat = repeat
        self.pool, self.classes, self.answer_log = pool, list(classes), AnswerLog()
        self.lock = RLock()
        self.journal: Journal | None = None
        self.second_answers: dict[int, int] = {}
        self.describe: Callable[[int], dict[str, Any]] = _nothing
        self._pending = PendingDraws()
        self._answers: list[tuple[int, str]] = []
        self._put_off: set[int] = set()
        self._asked_again: set[int] = set()
        self._let_be: set[int] = set()  # asked again and skipped

    @property
    def n_answers(self) -> int:
        """Answers so far, "don't know" included."""
        return len(self._answers)

    @property
    def n_waiting(self) -> int:
        """Rows that were skipped, or shown and left."""
        return self._pending.n_waiting

    @property
    def open_draws(self) -> list[int]:
        """Numbers of draws without an answer that were skipped, or before which later draws were answered.

        Leaving them out would be a choice of rows by the person who labels.
        """
        last = max((number for number, _ in self._answers), default=-1)
        return [number for number in self.answer_log.pending if number < last or number in self._put_off]

    @property
    def repeated(self) -> list[tuple[int, int]]:
        """First and second answer of every row that was asked twice."""
        return [(self.answer_log.codes[number], code) for number, code in self.second_answers.items()]

    @property
    def answered(self) -> list[tuple[Draw, int]]:
        """All draws that were answered, with their codes."""
        with self.lock:
            pairs = zip(self.answer_log.draws, self.answer_log.codes, strict=True)
            return [(draw, code) for draw, code in pairs if code != PENDING]

    def next(self, who: str) -> Draw | None:
        """The row that somebody should see now; None when no row is left.

        Parameters
        ----------
        who : str
            Who asks.
        """
        with self.lock:
            is_empty = not self.pool.left.any()
            number = self._pending.hand_out(who, self.n_answers, nothing_else=is_empty)
            if number is None:
                number = self._choose_again(who)
            if number is not None:
                return self.answer_log.draws[number]
            if is_empty:
                return None
            draw = self.pool.draw(len(self.answer_log.draws))
            self._write(draw_event(draw) | self.describe(draw.row))
            self._enter(draw)
            self._pending.hold(draw.number, who)
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
        with self.lock:
            number = self._number(draw, who)
            event = "answer_again" if number in self._asked_again else "answer"
            self._settle(self.classes.index(label), number, who, {"event": event, "label": label})

    def dont_know(self, draw: Draw | int | None, who: str) -> None:
        """Record that the label of a row cannot be determined.

        Parameters
        ----------
        draw : Draw, int or None
            The draw, its number, or None for what `who` is looking at.
        who : str
            Who answers.
        """
        with self.lock:
            number = self._number(draw, who)
            if not self._leave_first_answer(number):
                self._settle(DONT_KNOW, number, who, {"event": "dont_know"})

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
            if self._leave_first_answer(number):
                return
            self._refuse_answered(number)
            self._write({"event": "skip", "draw": number})
            self._put_off.add(number)
            self._pending.skip(number, self.n_answers)

    def undo(self, who: str | None, number: int | None = None) -> Draw | None:
        """Take an answer back and show its row again; None if there is none.

        Parameters
        ----------
        who : str, optional
            Whose last answer; by default the last of all.
        number : int, optional
            The draw whose answer is taken back, whoever gave it; `who` then sees its row.
        """
        with self.lock:
            if number is None:
                mine = [pair for pair in self._answers if who is None or pair[1] == who]
            else:
                mine = [(draw, who or by) for draw, by in self._answers if draw == number]
            if not mine:
                return None
            last = number is None
            number, by = mine[-1]
            is_second = last and number in self.second_answers and mine[-1] == self._answer_to(number, is_second=True)
            self._write({"event": "undo", "draw": number, **({"second": True} if is_second else {})})
            self._take_back(number, is_second)
            if is_second:
                self._asked_again.add(number)
            for other in self._asked_again - {number}:
                if self._pending.holder(other) == by:
                    self._asked_again.discard(other)
                    self._pending.clear(other)
            for other in [other for other in self.answer_log.pending if self._pending.holder(other) == by]:
                self._pending.release(other)
            self._pending.hold(number, by)
            return self.answer_log.draws[number]

    def remember(self, n_labels: int, error: Share) -> None:
        """Log the error estimate. A full disk loses it, because it can be recomputed.

        Parameters
        ----------
        n_labels : int
            Labels at that time.
        error : Share
            What was known.
        """
        if self.journal is not None:
            seen = [error.value, error.low, error.high, error.n_effective]
            with suppress(OSError):
                self.journal.append({"event": "progress", "n_labels": n_labels, "error": seen})

    def close(self) -> None:
        """Close the journal."""
        if self.journal is not None:
            self.journal.close()

    def check_journal(self) -> None:
        """Raise if the journal is no longer the file that is being written."""
        with self.lock:
            if self.journal is not None:
                self.journal.check()

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
                known |= self.apply(event)
            except ValueError as error:
                place = f"Line {line} of {source}"
                raise JournalError(f"{place} does not follow from the lines before it: {error}. {REPAIR}") from None
        for number in self.answer_log.pending:
            self._pending.release(number)
        return known

    def apply(self, event: Mapping[str, Any]) -> dict[int, Share]:
        """Enter one event of a journal; a `ValueError` says why it cannot have happened.

        What was known of the error is returned, by the number of labels at that time.

        Parameters
        ----------
        event : mapping
            What happened.
        """
        kind = event["event"]
        if kind in ("progress", "standing"):  # its name before 0.2.0
            return {read_whole(event, "n_labels"): _read_share(event)}
        if kind == "draw":
            self._enter(self._read_draw(event))
        elif kind == "answer":
            self._note(self._read_pending(event), self._read_label(event), read_text(event, "by", ""))
        elif kind == "dont_know":
            self._note(self._read_pending(event), DONT_KNOW, read_text(event, "by", ""))
        elif kind == "answer_again":
            number = self._read_answered(event, "ask for again")
            if number in self.second_answers or self.answer_log.codes[number] == DONT_KNOW:
                raise ValueError(f"draw {number} had no answer that can be asked for again")
            self._note_second(number, self._read_label(event), read_text(event, "by", ""))
        elif kind == "skip":
            self._put_off.add(self._read_pending(event))
        elif kind == "undo":
            number, is_second = self._read_answered(event), event.get("second", False)
            if not isinstance(is_second, bool) or (is_second and number not in self.second_answers):
                raise ValueError(f"draw {number} had no second answer to take back")
            self._take_back(number, is_second)
        else:
            raise ValueError(f"an event {kind!r} is not known")
        return {}

    def _read_label(self, event: Mapping[str, Any]) -> int:
        if event.get("label") not in self.classes:
            raise ValueError(f"its label {event.get('label')!r} is none of the classes {self.classes}")
        return self.classes.index(event["label"])

    def _read_draw(self, event: Mapping[str, Any]) -> Draw:
        draw, n_drawn, left = read_draw(event), len(self.answer_log.draws), self.pool.left
        if draw.number != n_drawn:
            raise ValueError(f"it is draw {draw.number}, and draw {n_drawn} must come next")
        if not 0 <= draw.row < len(left):
            raise ValueError(f"it draws row {draw.row}, and the {len(left)} rows are numbered from 0")
        if not left[draw.row]:
            raise ValueError(f"it draws row {draw.row}, which was drawn before or had a label")
        if draw.n_left != left.sum() and event.get(EARLIER) is not True:
            raise ValueError(f"it says that {draw.n_left} rows were left, and there were {left.sum()}")
        return draw

    def _read_pending(self, event: Mapping[str, Any]) -> int:
        """The draw that an event is about, which must wait for an answer."""
        number = self._read_drawn(event)
        if self.answer_log.codes[number] != PENDING:
            raise ValueError(f"draw {number} had been answered")
        return number

    def _read_answered(self, event: Mapping[str, Any], purpose: str = "take back") -> int:
        number = self._read_drawn(event)
        if all(number != answered for answered, _ in self._answers):
            raise ValueError(f"draw {number} had no answer to {purpose}")
        return number

    def _read_drawn(self, event: Mapping[str, Any]) -> int:
        number = read_whole(event, "draw")
        if not 0 <= number < len(self.answer_log.draws):
            raise ValueError(f"draw {number} was not made before it")
        drawn = self.answer_log.draws[number]
        for name, value in (("row", drawn.row), ("probability", drawn.probability), ("reason", drawn.reason)):
            if event.get(name, value) != value:
                raise ValueError(f"its {name} is {event[name]!r}, and that of draw {number} is {value!r}")
        return number

    def _enter(self, draw: Draw) -> None:
        self.answer_log.add(draw)
        self.pool.take(draw.row)

    def _settle(self, code: int, number: int, who: str, event: dict[str, Any]) -> None:
        is_second = event["event"] == "answer_again"
        if not is_second:
            self._refuse_answered(number)
        drawn = self.answer_log.draws[number]
        reason = {"draw": number, "row": drawn.row, "probability": drawn.probability, "reason": drawn.reason}
        self._write({**event, **reason, "by": who})
        (self._note_second if is_second else self._note)(number, code, who)

    def _choose_again(self, who: str) -> int | None:
        """An answered row that `who` is asked for a second time; None if none is due.

        It is drawn at random among rows whose answer is ten answers old, and looks like any other.
        """
        n_second = len(self.second_answers) + len(self._asked_again) + len(self._let_be)
        if n_second >= int(self.repeat * (len(self._answers) - len(self.second_answers))):
            return None
        ever = self._asked_again | self._let_be | set(self.second_answers)
        old = [number for number, _ in self._answers[:-COMES_BACK]]
        open_to = [number for number in old if number not in ever and self.answer_log.codes[number] >= 0]
        if not open_to:
            return None
        number = int(np.random.default_rng([self.pool.seed, len(self._answers), 2**31]).choice(open_to))
        self._asked_again.add(number)
        self._pending.hold(number, who)
        return number

    def _leave_first_answer(self, number: int) -> bool:
        """Put an end to a second question without an answer; False if the draw is not asked for a second time."""
        if number not in self._asked_again:
            return False
        self._asked_again.discard(number)
        self._let_be.add(number)
        self._pending.clear(number)
        return True

    def _answer_to(self, number: int, is_second: bool) -> tuple[int, str]:
        """The first or the second answer to a draw, as it stands in the list of answers."""
        both = [pair for pair in self._answers if pair[0] == number]
        return both[1 if is_second else 0]

    def _refuse_answered(self, number: int) -> None:
        if self.answer_log.codes[number] != PENDING:
            raise AlreadyAnsweredError(f"Row {self.answer_log.draws[number].row + 1} has been answered already.")

    def _note(self, number: int, code: int, who: str) -> None:
        self.answer_log.codes[number] = code
        self._answers.append((number, who))
        self._put_off.discard(number)
        self._pending.clear(number)

    def _note_second(self, number: int, code: int, who: str) -> None:
        self.second_answers[number] = code
        self._answers.append((number, who))
        self._asked_again.discard(number)
        self._pending.clear(number)

    def _take_back(self, number: int, is_second: bool = False) -> None:
        """Forget the second answer to a draw, or all answers to it."""
        places = [place for place, pair in enumerate(self._answers) if pair[0] == number]
        self.second_answers.pop(number, None)
        if not is_second:
            self.answer_log.codes[number] = PENDING
            self._put_off.add(number)  # until it is answered
            self._asked_again.discard(number)
        gone = set(places[1:] if is_second else places)
        self._answers = [pair for place, pair in enumerate(self._answers) if place not in gone]

    def _number(self, draw: Draw | int | None, who: str) -> int:
        number = draw.number if isinstance(draw, Draw) else draw
        if number is None:
            shown = [*self.answer_log.pending, *self._asked_again]
            number = next((n for n in shown if self._pending.holder(n) == who), None)
        if number is None:
            raise ValueError(f"No row is waiting for an answer{f' of {who}' if who else ''}: call next() first.")
        if not isinstance(number, Integral) or not 0 <= number < len(self.answer_log.draws):
            raise ValueError(f"draw={draw!r} is no draw of this labelling: pass what next() returned, or its number.")
        return number

    def _write(self, event: dict[str, Any]) -> None:
        if self.journal is not None:
            self.journal.append(event)


def _nothing(row: int) -> dict[str, Any]:
    """What a journal says about a row besides its number, if nobody wants more."""
    return {}


def _read_share(event: Mapping[str, Any]) -> Share:
    """What a line of the journal says about the error."""
    seen = event.get("error")
    if not isinstance(seen, list) or len(seen) != len(SHARE):
        raise ValueError(f"its error is {seen!r}, not a list of {len(SHARE)} numbers")
    value, low, high, n_effective = (read_number(dict(zip(SHARE, seen, strict=True)), name) for name in SHARE)
    return Share(value, low, high, n_effective)
