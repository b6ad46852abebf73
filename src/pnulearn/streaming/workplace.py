"""The folder in which parts of an output are gathered: shared by those who work on the same, cleared by the last."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from pnulearn._files.writing import is_still_at, take_lock, write_atomically

PLAN, LOCK, GONE = "_plan.json", ".lock", ".gone"
OURS = re.compile(r"\.?(part-\d+\.\w+|_plan\.json|lock)(\.\d+\.tmp)?")


@contextmanager
def hidden_workplace(target: Path, plan: str) -> Iterator[Path]:
    """A folder beside an output file. It outlives a run that is killed, and only the same plan goes on with it."""
    folder = target.with_name(f".{target.name}.{plan}")
    leftovers = re.compile(re.escape(f".{target.name}.") + rf"[0-9a-f]{{16}}({re.escape(GONE)})?")
    for other in target.parent.iterdir():
        if leftovers.fullmatch(other.name) and other != folder:
            _clear_abandoned(other)
    with _entered(folder) as lock:
        _note_plan(folder, plan)
        yield folder
        if take_lock(lock):  # nobody else is at work here
            _remove(folder)


@contextmanager
def output_workplace(folder: Path, plan: str, overwrite: bool) -> Iterator[Path]:
    """The output folder itself. Parts of another plan are replaced if the user says so, other files never."""
    with _entered(folder) as lock:
        strangers = [entry.name for entry in folder.iterdir() if not OURS.fullmatch(entry.name)]
        if strangers:
            raise FileExistsError(f"The folder {folder} is not empty ({strangers[0]}). Choose another.")
        if _noted_plan(folder) not in (None, plan):
            if not overwrite:
                raise FileExistsError(
                    f"{folder} holds predictions of another model or of other data. Choose another folder, or pass "
                    "overwrite=True."
                )
            if not take_lock(lock):
                raise FileExistsError(f"Another process is writing predictions of another model to {folder}.")
            for entry in folder.iterdir():
                if entry.name != LOCK:
                    entry.unlink()
            take_lock(lock, shared=True)
        _note_plan(folder, plan)
        yield folder
        if take_lock(lock):
            (folder / LOCK).unlink(missing_ok=True)


@contextmanager
def _entered(folder: Path) -> Iterator[BinaryIO]:
    """Make the folder if need be and hold a lock that all who work there share."""
    while True:
        folder.mkdir(parents=True, exist_ok=True)
        try:
            handle = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o666)
        except FileNotFoundError:  # cleared in this moment
            continue
        with os.fdopen(handle, "r+b") as lock:
            if take_lock(lock, shared=True) and is_still_at(lock, folder / LOCK):
                yield lock
                return


def _note_plan(folder: Path, plan: str) -> None:
    if _noted_plan(folder) is None:
        write_atomically(folder / PLAN, lambda file: file.write(json.dumps({"plan": plan}).encode()))


def _noted_plan(folder: Path) -> str | None:
    note = folder / PLAN
    return json.loads(note.read_text())["plan"] if note.exists() else None


def _clear_abandoned(folder: Path) -> None:
    with _entered(folder) as lock:
        if take_lock(lock):
            _remove(folder)


def _remove(folder: Path) -> None:
    """Moved out of the way first, so that whoever begins now finds either all of it or nothing."""
    gone = folder if folder.name.endswith(GONE) else folder.with_name(folder.name + GONE)
    if gone != folder:
        shutil.rmtree(gone, ignore_errors=True)
        folder.rename(gone)
    shutil.rmtree(gone, ignore_errors=True)
