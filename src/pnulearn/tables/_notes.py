"""Notes, warnings and progress while a table is processed.

In Python notes are collected (`TableClassifier.remarks_`) and warnings are issued; the command line prints both and
shows progress.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, replace

from pnulearn._reader.errors import Caution

Advance = Callable[[float], None]  # called with the completed share


def _nothing(message: str) -> None:
    """Discard a message."""


def _warn(message: str) -> None:
    warnings.warn(message, stacklevel=4)


def _unwatched(message: str, is_long: bool) -> AbstractContextManager[Advance]:
    return nullcontext(lambda share: None)


@dataclass(frozen=True)
class Listener:
    """Takes notes, details and warnings, shows progress, and words parameters in sentences of a report."""

    note: Callable[[str], None] = _nothing
    detail: Callable[[str], None] = _nothing
    warn: Callable[[str], None] = _warn
    progress: Callable[[str, bool], AbstractContextManager[Advance]] = _unwatched
    word: Callable[[str], str] = str


LISTENER: ContextVar[Listener] = ContextVar("listener", default=Listener())  # noqa: B039 (it is frozen)


def note(messages: Iterable[str]) -> None:
    """Send notes to the listener, one by one; those that are warnings as warnings."""
    for message in messages:
        (LISTENER.get().warn if isinstance(message, Caution) else LISTENER.get().note)(message)


def detail(message: str) -> None:
    """Send a message that is shown only in verbose mode."""
    LISTENER.get().detail(message)


def warn(message: str) -> None:
    """Send a warning to the listener."""
    LISTENER.get().warn(message)


def progress(message: str, *, is_long: bool = True) -> AbstractContextManager[Advance]:
    """Show the current step, and the progress of long steps."""
    return LISTENER.get().progress(message, is_long)


def worded(message: str) -> str:
    """The message with parameters as the user types them: Python parameters, or options on the command line."""
    return LISTENER.get().word(message)


@contextmanager
def collect_notes() -> Iterator[list[str]]:
    """Collect notes in a list, in addition to sending them to the listener."""
    outer, notes = LISTENER.get(), list[str]()

    def keep(message: str) -> None:
        notes.append(message)
        outer.note(message)

    token = LISTENER.set(replace(outer, note=keep))
    try:
        yield notes
    finally:
        LISTENER.reset(token)
