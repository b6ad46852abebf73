"""Requests and responses of the page as plain data; a thread refits when there are new answers."""

from __future__ import annotations

import json
import math
import traceback
from collections.abc import Callable
from dataclasses import replace
from string import ascii_lowercase
from threading import Event, Thread
from typing import Any

import numpy as np

from pnulearn.labeling._cells import RowReader
from pnulearn.labeling._draws import RANDOM, Draw
from pnulearn.labeling._estimates import LabelingProgress, Share
from pnulearn.labeling._journal import JournalLostError
from pnulearn.labeling._labeler import Labeler
from pnulearn.labeling._strategies import STRATEGIES

# A background thread that refits whenever there are new answers.

CHECK_SECONDS = 1.0  # between two looks at the journal's place while nobody answers


class Refresher:
    """Keeps a labeler's model and estimates up to date in a thread of its own.

    Parameters
    ----------
    labeler : Labeler
        With `refit_every=0`, so that nobody who labels waits for a fit.
    on_loss : function
        Called with the error if the journal is lost, which is looked for every second.
    """

    def __init__(self, labeler: Labeler, on_loss: Callable[[JournalLostError], None]) -> None:
        self.labeler, self.on_loss = labeler, on_loss
        self.trouble = ""
        self._wanted, self._stopped = Event(), Event()
        self._thread = Thread(target=self._run, daemon=True, name="pnulearn-labeling")
        self.is_busy = False

    def start(self) -> None:
        """Begin, with what is known already."""
        self._wanted.set()
        self._thread.start()

    def wake(self) -> None:
        """There is something new."""
        self._wanted.set()

    def stop(self) -> None:
        """Wait until the fit under way is done, and end."""
        self._stopped.set()
        self._wanted.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stopped.is_set():
            is_wanted = self._wanted.wait(CHECK_SECONDS)
            if self._stopped.is_set():
                return
            self._wanted.clear()
            try:
                self.labeler.check_journal()
                if is_wanted:
                    self.is_busy = True
                    self.labeler.refresh()
                    self.trouble = ""
            except JournalLostError as error:
                self.on_loss(error)
                return
            except Exception as error:  # labelling goes on, and the page says what is wrong
                self.trouble = f"{type(error).__name__}: {error}"
                traceback.print_exc()
            self.is_busy = False


# Requests and responses of the page as plain data.

RESERVED = {"s", "u", "d"}  # skip, undo, don't know
MOST_POINTS = 300  # of the curve
LONGEST_NAME = 80
MOST_ANSWERS = 500  # of one list
FEWEST_LABELS = 20  # for a forecast of how many more are needed
LIKELY_ERROR, WEAK = 0.15, 10  # a forecast starts from this error, which counts as so many labels
UNKNOWN = "don’t know"
MOST_WHOLE = 2**53  # of a number in a request: larger ones are no number of a draw, a class or a share


class PageState:
    """Answers to the page's requests.

    Parameters
    ----------
    labeler : Labeler
        The loop.
    reader : RowReader
        Shows rows.
    refresher : Refresher
        Learns beside the person.
    title : str
        The table's name.
    label : str
        The column of labels.
    """

    def __init__(self, labeler: Labeler, reader: RowReader, refresher: Refresher, title: str, label: str) -> None:
        self.labeler, self.reader, self.refresher = labeler, reader, refresher
        self.title, self.label = title, label
        self._totals: dict[tuple[Any, ...], float] = {}

    def start(self) -> dict[str, Any]:
        """All that does not change."""
        names = [str(name) for name in self.labeler.classes]
        return {
            "title": self.title,
            "label": self.label,
            "classes": [{"name": name, "keys": keys} for name, keys in zip(names, choose_keys(names), strict=True)],
            "columns": self.reader.columns,
            "n_rows": self.labeler.n_rows,
            "confidence": self.labeler.confidence,
            "strategies": list(STRATEGIES),
        }

    def next(self, asked: dict[str, Any]) -> dict[str, Any]:
        """The row that somebody should see now.

        Parameters
        ----------
        asked : dict
            With `who`.
        """
        return self._show(self.labeler.next(_who(asked)))

    def answer(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Enter an answer, and the next row; the answer is on disk before anything is said.

        Parameters
        ----------
        asked : dict
            With `who`, `draw` and `do`: "label" (then with `label`, the class's place), "skip" or "dont_know".
        """
        who, draw, do = _who(asked), _whole(asked, "draw"), asked.get("do")
        if do == "label":
            self.labeler.answer(self._class(asked), draw, who)
        elif do == "skip":
            self.labeler.skip(draw, who)
        elif do == "dont_know":
            self.labeler.dont_know(draw, who)
        else:
            raise ValueError("An answer is to label, to skip, or that nobody knows.")
        self.refresher.wake()
        return self._show_next(who)

    def undo(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Take an answer back and show its row again.

        Parameters
        ----------
        asked : dict
            With `who`, whose last answer it is, or with `draw`, if it is another one.
        """
        draw = self.labeler.undo(_who(asked), _whole(asked, "draw") if "draw" in asked else None)
        if draw is None:
            raise ValueError("There is nothing to undo.")
        self.refresher.wake()
        return self._show(draw)

    def answers(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Answers, the latest ones first, each with the beginning of its row.

        Parameters
        ----------
        asked : dict
            With `find`, a row's number or a part of its cells or of its label, and `most`, how many are wanted.
        """
        find, most = asked.get("find", ""), _whole(asked, "most")
        if not isinstance(find, str) or not 0 < most <= MOST_ANSWERS:
            raise ValueError(f"A list of answers is asked for with a text to find and a number up to {MOST_ANSWERS}.")
        names = [str(name) for name in self.labeler.classes]
        found = list[dict[str, Any]]()
        n_found, wanted = 0, find.strip().casefold()
        for draw, code in reversed(self.labeler.answers):
            one: dict[str, Any] = {"draw": draw.number, "row": draw.row, "label": names[code] if code >= 0 else None}
            if len(found) == most and not wanted:
                n_found += 1
                continue
            one["cells"] = self.reader.excerpt(draw.row)
            if (
                wanted in (str(draw.row + 1), "")
                or wanted in " ".join([*one["cells"], one["label"] or UNKNOWN]).casefold()
            ):
                n_found += 1
                found += [one] if len(found) < most else []
        return {"answers": found, "n_found": n_found}

    def _forecast(self) -> int | str | None:
        """About how many labels are to go; "early" before it can be said, None if all rows are not enough.

        A forecast from the present estimates alone jumps about. This is the median of the forecasts of the total that
        the second half of all estimates so far lead to, each from an error that is shrunk towards a likely one.
        """
        labeler = self.labeler
        n_left, last = labeler.n_left, labeler.history[-1] if labeler.history else None
        if last is not None and last.is_enough:
            return 0
        if last is None or last.error is None or last.n_labels < FEWEST_LABELS:
            return "early"
        totals = [
            self._total(past, n_left + last.n_labels)
            for past in labeler.history
            if past.n_labels >= max(FEWEST_LABELS, last.n_labels / 2)
        ]
        more = float(np.median(totals)) - last.n_labels
        return None if not np.isfinite(more) else max(round(more), 1)

    def _total(self, past: LabelingProgress, n_rows: int) -> float:
        """The number of labels that past estimates lead to, infinite if there are not so many rows."""
        goal = self.labeler.goal
        key = (past.n_labels, past.error, goal.error, goal.prior, n_rows)
        if key not in self._totals:
            self._totals = {} if len(self._totals) > 10 * MOST_POINTS else self._totals
            error, n = past.error, past.n_labels
            if error is not None:  # early shares of errors are far too small or too large: a weak prior
                error = replace(error, value=(n * error.value + WEAK * LIKELY_ERROR) / (n + WEAK))
            more = replace(past, n_left=n_rows - n, error=error).aimed(goal).n_more
            self._totals[key] = np.inf if more is None else past.n_labels + more
        return self._totals[key]

    def set(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Set the wished width or the mixture.

        Parameters
        ----------
        asked : dict
            With `goal`, a half-width, or `mixture`, shares by name.
        """
        if "goal" not in asked and not isinstance(asked.get("mixture"), dict):
            raise ValueError("There is nothing to set: a request has a goal or a mixture.")
        if "goal" in asked:
            self.labeler.aim(_number(asked["goal"]))
        if isinstance(asked.get("mixture"), dict):
            self.labeler.mix({str(name): _number(share) for name, share in asked["mixture"].items()})
            self.refresher.wake()
        return self.progress()

    def progress(self) -> dict[str, Any]:
        """What is known, for the panel."""
        labeler = self.labeler
        history = labeler.history[-MOST_POINTS:]
        last = history[-1] if history else None
        error = None if last is None else last.error
        return {
            "counts": list(labeler.counts.values()),
            "answers": labeler.n_answers,
            "left": labeler.n_left,
            "unknown": labeler.n_unknown,
            "waiting": labeler.n_waiting,
            "mixture": labeler.shares,
            "goal": labeler.goal.error,
            "judging": labeler.is_judging,
            "busy": self.refresher.is_busy or labeler.is_stale,
            "trouble": self.refresher.trouble,
            "seen": labeler.n_seen,
            "labels": 0 if last is None else last.n_labels,
            "error": _plain(error),
            "meaning": "" if last is None else last.meaning,
            "prior": [] if last is None else [_plain(share) for share in last.prior.values()],
            "more": self._forecast(),
            "after_ten": None if last is None else last.after_ten,
            "enough": last is not None and last.is_enough,
            "model": last is not None and last.model is not None,
            "history": [[past.n_labels, *known.values()] for past in history if (known := _plain(past.error))],
        }

    def read(self, raw: bytes) -> dict[str, Any]:
        """A request's body.

        Parameters
        ----------
        raw : bytes
            JSON.
        """
        try:
            asked = json.loads(raw or b"{}", parse_constant=_finite, parse_float=_finite)
        except (ValueError, RecursionError):
            raise ValueError("A request is a JSON object, and this one cannot be read.") from None
        if not isinstance(asked, dict):
            raise ValueError("A request is a JSON object.")
        return asked

    def _class(self, asked: dict[str, Any]) -> Any:
        place = _whole(asked, "label")
        if not 0 <= place < len(self.labeler.classes):
            raise ValueError(f"There is no class number {place}.")
        return self.labeler.classes[place]

    def _show_next(self, who: str) -> dict[str, Any]:
        """The next row after an answer that is on disk; a disk that is full now does not take that answer back."""
        try:
            return self._show(self.labeler.next(who))
        except OSError as error:
            return {**self._show(None), "trouble": f"Your answer was kept. The next row cannot be drawn: {error}"}

    def _show(self, draw: Draw | None) -> dict[str, Any]:
        done = {"counts": list(self.labeler.counts.values()), "answers": self.labeler.n_answers}
        if draw is None:
            return {"row": None, **done}
        row = {"draw": draw.number, "row": draw.row, "reason": draw.reason, "random": draw.reason == RANDOM}
        return {"row": {**row, "probability": draw.probability, "cells": self.reader.cells(draw.row)}, **done}


def choose_keys(names: list[str]) -> list[list[str]]:
    """Keys for every class: its place, and its first letter if no other class or command has it.

    Where names have digits, a place could be taken for a name: a digit is the key of the class of this name only, and
    other classes have a letter.

    >>> choose_keys(["no", "yes"]), choose_keys(["0", "1"])
    ([['1', 'n'], ['2', 'y']], [['0'], ['1']])
    """
    bare = [name.strip().lower() for name in names]
    firsts = [name[:1] for name in bare]
    own = [
        first if (first.isalpha() or name == first) and firsts.count(first) == 1 and first not in RESERVED else ""
        for name, first in zip(bare, firsts, strict=True)
    ]
    if any(letter.isdigit() for name in bare for letter in name):
        return _with_letters(bare, own, {*firsts, *RESERVED})
    return [[*([str(k + 1)] if k < 9 else []), *([key] if key.isalpha() else [])] for k, key in enumerate(own)]


def _with_letters(names: list[str], keys: list[str], taken: set[str]) -> list[list[str]]:
    """The keys, and where there is none a letter that is free, of the name if possible."""
    found = list[list[str]]()
    for name, key in zip(names, keys, strict=True):
        letters = [letter for letter in [*name, *ascii_lowercase] if letter.isalpha() and letter not in taken]
        found.append([key] if key else letters[:1])
        taken |= set(found[-1])
    return found


def _who(asked: dict[str, Any]) -> str:
    who = asked.get("who")
    if not isinstance(who, str) or not 0 < len(who) <= LONGEST_NAME or not who.isprintable():
        raise ValueError("A request says who asks.")
    return who


def _whole(asked: dict[str, Any], name: str) -> int:
    value = asked.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or abs(value) >= MOST_WHOLE:
        raise ValueError(f"{name} is a whole number.")
    return value


def _number(value: Any) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not abs(value) < MOST_WHOLE:
        raise ValueError(f"A number is needed, got {str(value)[:LONGEST_NAME]!r}.")
    return float(value)


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(text)
    return number


def _plain(share: Share | None) -> dict[str, float] | None:
    if share is None or not math.isfinite(share.value):
        return None
    return {"value": share.value, "low": share.low, "high": share.high}
