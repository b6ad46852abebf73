"""The journal: every draw and every answer on a line of its own, on disk before anything else happens.

A line is a JSON object. The first one says what is labelled. A process that dies in the middle of a line leaves a torn
one at the end, which the next one cuts off; a torn line anywhere else means that the file was damaged, and is refused.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

from pnulearn._files.outputs import Output, refuse_unwritable
from pnulearn._files.writing import take_lock

SUFFIX = ".labels.jsonl"
VERSION = 1


class JournalError(ValueError):
    """A journal that is damaged, in use, or about something else."""


def journal_of(table: str | os.PathLike[str]) -> Path:
    """Where the journal of a table is: beside it.

    Parameters
    ----------
    table : str or Path
        The file of the table.

    Examples
    --------
    >>> journal_of("customers.csv").name
    'customers.csv.labels.jsonl'
    """
    path = Path(table)
    return path.with_name(path.name + SUFFIX)


class Journal:
    """An append-only file of events; only one process can have it open.

    Parameters
    ----------
    path : str or Path
        The file; a new one is made.
    about : dict
        What is labelled. An existing journal about anything else is refused.
    """

    def __init__(self, path: str | os.PathLike[str], about: dict[str, Any]) -> None:
        self.path = Path(path)
        refuse_unwritable(Output(path, "a journal", "The journal"))
        self._file: BinaryIO = open(self.path, "a+b")  # noqa: SIM115 (it stays open)
        try:
            if not take_lock(self._file):
                raise JournalError(
                    f"{self.path.name} is in use: these rows are being labelled by another process. Open its page in a "
                    "second browser instead, or stop it first."
                )
            self._cut_torn_line()
            self.events = read_journal(self.path, about)
        except BaseException:
            self._file.close()
            raise
        if not self.events:
            self.append({"event": "start", "version": VERSION} | about)
            _sync_folder(self.path)

    def append(self, event: dict[str, Any], *, durable: bool = True) -> None:
        """Write an event; when this returns, it is on disk.

        Parameters
        ----------
        event : dict
            What happened. The time is added.
        durable : bool
            False for what can be worked out again: then nobody waits for the disk.
        """
        line = json.dumps({**event, "time": round(time.time(), 3)}, ensure_ascii=False, allow_nan=False) + "\n"
        self._file.write(line.encode())
        self._file.flush()
        if durable:
            os.fsync(self._file.fileno())

    def close(self) -> None:
        """Let another process have it."""
        self._file.close()

    def _cut_torn_line(self) -> None:
        self._file.seek(0)
        raw = self._file.read()
        if not raw.endswith(b"\n"):
            self._file.truncate(raw.rfind(b"\n") + 1)


def read_journal(path: str | os.PathLike[str], about: Mapping[str, Any]) -> list[dict[str, Any]]:
    """All events of a journal, which may be in use; a line that is being written is left out.

    Parameters
    ----------
    path : str or Path
        The file.
    about : mapping
        What must be labelled there; anything else is refused.
    """
    file, events = Path(path), list[dict[str, Any]]()
    raw = file.read_bytes()
    for number, line in enumerate(raw[: raw.rfind(b"\n") + 1].splitlines(), start=1):
        try:
            event = json.loads(line)
        except ValueError:
            raise JournalError(f"Line {number} of {file.name} is damaged: {line[:60]!r}.") from None
        if not isinstance(event, dict) or "event" not in event:
            raise JournalError(f"Line {number} of {file.name} is no event: {line[:60]!r}.")
        if number == 1:
            _refuse_other(event, about, file.name)
        events.append(event)
    return events


def _refuse_other(start: Mapping[str, Any], about: Mapping[str, Any], name: str) -> None:
    if start.get("event") != "start" or start.get("version") != VERSION:
        raise JournalError(f"{name} is no journal of labels that this version reads.")
    for part, value in about.items():
        if start.get(part) != value:
            raise JournalError(
                f"{name} belongs to other rows: its {part.replace('_', ' ')} is {start.get(part)!r}, now it is "
                f"{value!r}. Move the journal away to start anew."
            )


def _sync_folder(path: Path) -> None:
    """Make the new name itself durable, where folders can be synced."""
    try:
        handle = os.open(path.parent, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    except OSError:
        pass
    finally:
        os.close(handle)
