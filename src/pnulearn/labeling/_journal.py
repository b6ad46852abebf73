"""The journal: every draw and every answer is a line of a file, on disk before anything else happens.

A line is a JSON object; the first one says what is labelled. A line is written, synced and only then acknowledged. If
that fails, the file is cut back to the lines before. A process that is killed within a line leaves a torn one at the
end, which the next process cuts off before it writes; opening and reading change nothing. A last line that lacks its
end only, as some editors leave it, counts.
"""

from __future__ import annotations

import errno
import json
import os
import stat
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

from pnulearn._files.outputs import JOURNAL, JOURNAL_HEAD, Output, refuse_unwritable
from pnulearn._files.writing import is_still_at, take_lock

SUFFIX = ".labels.jsonl"
VERSION = 1


class JournalError(ValueError):
    """A journal that is damaged, in use, or about something else."""


class JournalLostError(JournalError):
    """A journal that was moved, deleted, replaced or changed while it was in use."""


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
        The file; a new one is made. A file that is no journal is refused and not changed.
    about : dict
        What is labelled. An existing journal about anything else is refused.
    """

    def __init__(self, path: str | os.PathLike[str], about: dict[str, Any]) -> None:
        self.path = Path(path)
        self._copy: Path | None = None  # of the lines of a file that was deleted
        refuse_unwritable(Output(path, JOURNAL, "The journal"))
        if self.path.is_symlink() and not self.path.exists():
            raise JournalError(
                f"The journal {str(path)!r} is a link to a file that does not exist. Name the file itself."
            )
        is_new = not self.path.exists()
        self._file = _open(self.path, is_new)
        try:
            if not take_lock(self._file):
                raise JournalError(
                    f"{self.path.name} is in use: these rows are being labelled by another process. Open its page in a "
                    "second browser instead, or stop it first."
                )
            raw = self._file.read()
            self.events = parse_journal(raw, about, self.path.name)
            self._end, self._size = len(whole_lines(raw)), len(raw)  # all whole lines; the file as it is
            if not self.events:
                self.append({"event": "start", "version": VERSION} | about)
                _sync_folder(self.path)
        except BaseException:
            if is_new and os.fstat(self._file.fileno()).st_size == 0 and is_still_at(self._file, self.path):
                self.path.unlink()
            self._file.close()
            raise

    def append(self, event: dict[str, Any]) -> None:
        """Write an event; when this returns, it is on disk, and when this raises, it is not in the file.

        Parameters
        ----------
        event : dict
            What happened. The time is added.
        """
        line = json.dumps({**event, "time": round(time.time(), 3)}, ensure_ascii=False, allow_nan=False) + "\n"
        self.check()
        try:
            self._mend_end()
            _write(self._file.fileno(), line.encode())
            os.fsync(self._file.fileno())
            self.check_place()
        except BaseException:
            self._size = os.fstat(self._file.fileno()).st_size
            with suppress(OSError):  # if even this fails, the next event tries it again before it is written
                self._mend_end()
            raise
        self._end = self._size = self._end + len(line.encode())

    def check(self) -> None:
        """Raise if the file is no longer what this process wrote."""
        self.check_place()
        size = os.fstat(self._file.fileno()).st_size
        if size != self._size:
            raise JournalLostError(
                f"{self.path.name} was changed by another program while it was in use: it has {size:,} bytes instead "
                f"of {self._size:,}. Nothing more was written to it. Look at its last lines, then start again."
            )

    def check_place(self) -> None:
        """Raise if the path no longer names the open file."""
        if not is_still_at(self._file, self.path):
            self._report_loss()

    def close(self) -> None:
        """Let another process have it."""
        self._file.close()

    def _mend_end(self) -> None:
        """Cut off what follows the last line that counts, or add the end that it lacks."""
        if self._size == self._end:
            return
        if self._size > self._end:
            os.ftruncate(self._file.fileno(), self._end)
        else:
            _write(self._file.fileno(), b"\n")
        os.fsync(self._file.fileno())
        self._size = self._end

    def _report_loss(self) -> NoReturn:
        name, what = self.path.name, "replaced" if os.path.lexists(self.path) else "moved or deleted"
        if os.fstat(self._file.fileno()).st_nlink:
            remedy = "It holds all answers so far: move it back, then start again."
        else:
            copy = self._copy = self._copy or self._rescue()
            remedy = (
                f"All answers so far were saved as {copy.name}: rename it to {name}, then start again."
                if copy is not None
                else "The answers so far could not be saved beside it."
            )
        raise JournalLostError(f"The journal {name} was {what} while it was in use. {remedy}")

    def _rescue(self) -> Path | None:
        """The lines of a file that was deleted, in a new file; None if none can be made."""
        copy = self.path.with_name(f"{self.path.name}.rescued-{time.time_ns()}")
        try:
            with open(copy, "xb") as file:
                file.write(os.pread(self._file.fileno(), self._end, 0))
                file.flush()
                os.fsync(file.fileno())
        except OSError:
            with suppress(OSError):
                copy.unlink(missing_ok=True)
            return None
        return copy


def _open(path: Path, is_new: bool) -> BinaryIO:
    """The file, unbuffered; nothing is cut and no link is followed other than the one that was looked at."""
    flags = os.O_RDWR | os.O_APPEND | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
    flags |= os.O_CREAT | os.O_EXCL if is_new else getattr(os, "O_NOFOLLOW", 0)
    handle = os.open(os.path.realpath(path), flags, 0o666)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise JournalError(f"The journal {str(path)!r} is no plain file. Choose another name.")
    return os.fdopen(handle, "r+b", buffering=0)


def _write(handle: int, line: bytes) -> None:
    """All of the line, or an error: a disk that is nearly full takes a part of it first."""
    while line:
        n_written = os.write(handle, line)
        if n_written == 0:
            raise OSError(errno.EIO, "The disk takes no more bytes")
        line = line[n_written:]


def read_journal(path: str | os.PathLike[str], about: Mapping[str, Any]) -> list[dict[str, Any]]:
    """All events of a journal, which may be in use; a line that is being written is left out.

    Parameters
    ----------
    path : str or Path
        The file.
    about : mapping
        What must be labelled there; anything else is refused.
    """
    return parse_journal(Path(path).read_bytes(), about, Path(path).name)


def journal_classes(path: str | os.PathLike[str], label: str) -> list[str]:
    """The classes that a journal was begun with; none if there is no journal of this column.

    Parameters
    ----------
    path : str or Path
        The file, which need not exist.
    label : str
        The column of labels.
    """
    if not Path(path).is_file():
        return []
    with open(path, "rb") as file:
        try:
            start = parse_event(file.readline())
        except ValueError:  # which is told when the journal is read
            return []
    names = start.get("classes") if start.get("label") == label else None
    return [str(name) for name in names] if isinstance(names, list) else []


def parse_journal(raw: bytes, about: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    """All events in the whole lines of a journal; none if it is empty or holds a torn first line only.

    Parameters
    ----------
    raw : bytes
        The file.
    about : mapping
        What must be labelled there; anything else is refused.
    name : str
        The file's name, for messages.
    """
    lines = whole_lines(raw).split(b"\n")[:-1]
    if not lines:
        if raw and not (raw.startswith(JOURNAL_HEAD) or JOURNAL_HEAD.startswith(raw)):
            _refuse_foreign(name)
        return []
    events = list[dict[str, Any]]()
    for number, line in enumerate(lines, start=1):
        try:
            event = parse_event(line)
        except ValueError as error:
            if number == 1:
                _refuse_foreign(name)
            raise JournalError(f"Line {number} of {name} is damaged: {error}. {REPAIR}") from None
        if number == 1:
            _refuse_other(event, about, name)
        events.append(event)
    return events


def whole_lines(raw: bytes) -> bytes:
    """A journal without a torn line at its end; a last line that lacks its end only gets one.

    Parameters
    ----------
    raw : bytes
        The file.
    """
    end = raw.rfind(b"\n") + 1
    try:
        parse_event(raw[end:])
    except ValueError:
        return raw[:end]
    return raw + b"\n"


REPAIR = "To drop such lines: the same command with --repair, which keeps a copy and says what it drops."


def parse_event(line: bytes) -> dict[str, Any]:
    """The event in a line; a `ValueError` says why there is none.

    Parameters
    ----------
    line : bytes
        Without its end.
    """
    try:
        event = json.loads(line, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise ValueError(f"it is no JSON: {line[:60]!r}") from None
    if not isinstance(event, dict) or not isinstance(event.get("event"), str):
        raise ValueError(f"it is no event: {line[:60]!r}")
    return event


def keep_copy(place: Path, raw: bytes, word: str) -> Path:
    """The bytes of a journal under a name that is free, on disk before anything is replaced.

    Parameters
    ----------
    place : Path
        The journal.
    raw : bytes
        What it holds.
    word : str
        What the name of the copy says.
    """
    for number in range(1, 1000):
        copy = place.with_name(f"{place.name}.{word}-{number}")
        try:
            file = open(copy, "xb")  # noqa: SIM115 (the name is tried first)
        except FileExistsError:
            continue
        with file:
            file.write(raw)
            file.flush()
            os.fsync(file.fileno())
        return copy
    raise JournalError(f"There are a thousand copies of {place.name} already. Delete those that nobody needs.")


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _refuse_foreign(name: str) -> NoReturn:
    raise JournalError(
        f"{name} exists and is no journal of labels. It was not changed. Name another file for the journal, or the "
        "journal itself."
    )


def _refuse_other(start: Mapping[str, Any], about: Mapping[str, Any], name: str) -> None:
    if start.get("event") != "start":
        _refuse_foreign(name)
    if start.get("version") != VERSION:
        raise JournalError(
            f"{name} has version {start.get('version')!r}; this release of pnulearn reads version {VERSION}."
        )
    for part, value in about.items():
        if part == "classes" and start.get(part) != value and isinstance(start.get(part), list):
            began = ",".join(map(str, start[part]))
            raise JournalError(
                f"{name} was begun with the classes {began}, and now they are {','.join(map(str, value))}. Name them "
                f"as the journal has them: --classes {began}."
            )
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
