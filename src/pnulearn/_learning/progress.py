"""How far a fit has come and how long it will take, on stderr.

Whoever asks with verbose=1 is told of every step; a person at a terminal is told about long fits unasked, and nobody is
with verbose=-1.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from numbers import Real
from typing import Any

Done = Callable[..., None]
LONG = 15.0  # seconds from which a fit is worth a word
EVERY = 10.0  # seconds between two words that nobody asked for


def check_verbose(verbose: Any) -> None:
    """Refuse what is no number."""
    if not isinstance(verbose, Real):
        raise TypeError(f"verbose must be 1 (tell more), 0 or -1 (tell nothing), got {verbose!r}.")


def somebody_listens(verbose: int) -> bool:
    """Whether progress was asked for, or somebody sits at a terminal and did not forbid it."""
    return verbose > 0 or (verbose == 0 and sys.stderr.isatty())


def report_progress(total: int, what: str, verbose: int) -> Done | None:
    """A function to be called whenever one of `total` steps is done, by any thread: it prints the time that is left.

    What it is called with is printed too, after the number of steps.
    """
    if not somebody_listens(verbose):
        return None
    start, lock, finished = time.monotonic(), threading.Lock(), 0
    said = start

    def done(note: str = "") -> None:
        nonlocal finished, said
        with lock:
            finished += 1
            now = time.monotonic()
            left = (now - start) / finished * (total - finished)
            long = now - start + left >= LONG and now - said >= EVERY and finished < total
            if verbose > 0 or long:
                said = now
                print(
                    f"pnulearn: {finished} of {total} {what}{note}, {in_words(left)} left", file=sys.stderr, flush=True
                )

    return done


def foretell(seconds: float, what: str, advice: str, verbose: int) -> None:
    """One line about how long something will take, if that is long or was asked for."""
    if somebody_listens(verbose) and (verbose > 0 or seconds >= LONG):
        hint = f" {advice}" if seconds >= LONG else ""
        print(f"pnulearn: {what} will take about {in_words(seconds)}.{hint}", file=sys.stderr, flush=True)


def in_words(seconds: float) -> str:
    """Seconds as people say them.

    >>> in_words(41.7), in_words(200), in_words(9000)
    ('42 s', '3 min', '2.5 h')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
