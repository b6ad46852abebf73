"""How far a fit has come and how long it will take, on stderr."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable

Done = Callable[..., None]


def report_progress(total: int, what: str) -> Done:
    """A function to be called whenever one of `total` steps is done, by any thread: it prints the time that is left.

    What it is called with is printed too, after the number of steps.
    """
    start, lock, finished = time.monotonic(), threading.Lock(), 0

    def done(note: str = "") -> None:
        nonlocal finished
        with lock:
            finished += 1
            left = (time.monotonic() - start) / finished * (total - finished)
            print(f"pnulearn: {finished} of {total} {what}{note}, {left:.0f} s left", file=sys.stderr)

    return done
