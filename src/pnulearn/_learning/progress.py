"""Progress and remaining time of a fit, printed to stderr.

verbose=1 reports every step. verbose=0 reports long fits if stderr is a terminal. verbose=-1 reports nothing.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from numbers import Real
from typing import Any

Done = Callable[..., None]
LONG = 15.0  # seconds; with verbose=0 only longer fits are reported
EVERY = 10.0  # seconds between two reports with verbose=0


def check_verbose(verbose: Any) -> None:
    """Raise TypeError if verbose is not a number."""
    if not isinstance(verbose, Real):
        raise TypeError(f"verbose must be 1 (report every step), 0 or -1 (silent), got {verbose!r}.")


def shows_progress(verbose: int) -> bool:
    """Whether progress is reported: with verbose=1, or with verbose=0 if stderr is a terminal."""
    return verbose > 0 or (verbose == 0 and sys.stderr.isatty())


def report_progress(total: int, what: str, verbose: int) -> Done | None:
    """A thread-safe function to call after each of `total` steps, which prints the remaining time; None if silent.

    Its argument is printed after the number of steps.
    """
    if not shows_progress(verbose):
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


def announce_duration(seconds: float, what: str, advice: str, verbose: int) -> None:
    """Print the expected duration if it is long or verbose=1."""
    if shows_progress(verbose) and (verbose > 0 or seconds >= LONG):
        hint = f" {advice}" if seconds >= LONG else ""
        print(f"pnulearn: {what} will take about {in_words(seconds)}.{hint}", file=sys.stderr, flush=True)


def in_words(seconds: float) -> str:
    """Format a duration in seconds, minutes or hours.

    >>> in_words(41.7), in_words(200), in_words(9000)
    ('42 s', '3 min', '2.5 h')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
