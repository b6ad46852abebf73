"""Journals of labels: damaged, foreign, contradictory, or lost in use. A refused file must stay as it was."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from pnulearn.labeling._journal import Journal
from pnulearn.labeling._table_labeling import Task, read_task
from pnulearn.tables import read_table
from tests.attack.commands import ask, workplace

CLASSES = ("no", "yes")


@cache
def _place() -> Path:
    """A folder with a table, a text and a journal of six answers."""
    folder = workplace() / "journals"
    folder.mkdir()
    shutil.copy(workplace() / "clean.csv", folder / "table.csv")
    (folder / "text").write_text("to do: everything\nand more")
    labeler = _task().labeler(folder / "whole", refit_every=0, random_state=0)
    for number in range(6):
        labeler.next()
        labeler.answer(CLASSES[number % 2])
    labeler.close()
    return folder


def _task() -> Task:
    return read_task(read_table(workplace() / "journals" / "table.csv"), "label", classes=CLASSES)


def _lines() -> list[bytes]:
    return (_place() / "whole").read_bytes().splitlines(keepends=True)


def _edited(number: int, **changes: Any) -> bytes:
    """The journal with another value in a line."""
    lines = _lines()
    lines[number] = json.dumps(json.loads(lines[number]) | changes).encode() + b"\n"
    return b"".join(lines)


def _with(line: bytes) -> bytes:
    return b"".join([*_lines(), line + b"\n"])


def _of_other_rows() -> bytes:
    """The journal of a table with the same columns and other cells."""
    first, *others = _edited(0, table="0123456789abcdef").splitlines(keepends=True)
    return first + b"".join(others).replace(b'"cells": "', b'"cells": "x')


# Lines 1, 3, 5, ... are draws, lines 2, 4, 6, ... answers.
CONTENTS: dict[str, Callable[[], bytes]] = {
    "whole": lambda: b"".join(_lines()),
    "torn_last_line": lambda: b"".join(_lines()) + b'{"event": "draw", "dr',
    "no_last_newline": lambda: b"".join(_lines())[:-1],
    "windows_line_ends": lambda: b"".join(_lines()).replace(b"\n", b"\r\n"),
    "byte_order_mark": lambda: b"\xef\xbb\xbf" + b"".join(_lines()),
    "empty": lambda: b"",
    "torn_first_line": lambda: _lines()[0][:20],
    "a_model": lambda: (workplace() / "model.pnu").read_bytes(),
    "a_text": lambda: (_place() / "text").read_bytes(),
    "zeros": lambda: b"\0" * 4096,
    "not_utf_8": lambda: _with(b'{"event": "\xff\xfe"}'),
    "deep_json": lambda: _with(b"[" * 100_000),
    "newer_version": lambda: _edited(0, version=2),
    "saved_again": lambda: _edited(0, table="0123456789abcdef"),
    "other_table": _of_other_rows,
    "other_classes": lambda: _edited(0, classes=["ham", "spam"]),
    "draw_negative": lambda: _edited(2, draw=-1),
    "row_outside": lambda: _edited(3, row=10**6),
    "row_contradicts_its_draw": lambda: _edited(2, row=59),
    "probability_0": lambda: _edited(3, probability=0),
    "probability_nan": lambda: _edited(3).replace(b'"probability": 0', b'"probability": NaN, "was": 0'),
    "probability_5": lambda: _edited(3, probability=5),
    "unknown_event": lambda: _with(b'{"event": "dance"}'),
    "second_answer": lambda: _with(_lines()[2].strip()),
    "lines_swapped": lambda: b"".join([_lines()[0], _lines()[2], _lines()[1], *_lines()[3:]]),
    "line_missing": lambda: b"".join([*_lines()[:3], *_lines()[4:]]),
}


def _make(name: str) -> Path:
    path = _place() / f"journal-{name}"
    if path.is_symlink() or path.exists():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    if name == "the_table":
        return _place() / "table.csv"
    if name == "a_folder":
        path.mkdir()
    elif name == "a_pipe":
        os.mkfifo(path)
    elif name == "a_link_to_text":
        path.symlink_to(_place() / "text")
    else:
        path.write_bytes(CONTENTS.get(name, CONTENTS["whole"])())
    return path


def _export(path: Path) -> list[float]:
    out = _place() / "out.csv"
    out.unlink(missing_ok=True)
    told = ask(
        *("label", _place() / "table.csv", "-l", "label", "--classes", "no,yes", "--journal", path),
        *("--export", out, "--json"),
    )
    return told[-2:]  # labels of both classes


def _resume(path: Path) -> list[float]:
    labeler = _task().labeler(path, refit_every=0)
    try:
        return [float(labeler.n_answers)]
    finally:
        labeler.close()


def _full_disk(path: Path) -> list[float]:
    """Answers while the disk has room for a few bytes more, at every number of them; then the journal is read again."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    for room in range(0, 300, 7):
        path.write_bytes(CONTENTS["whole"]())
        labeler = _task().labeler(path, refit_every=0)
        n_before, limits = labeler.n_answers, resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + room, limits[1]))
        try:
            labeler.next()
            labeler.answer("yes")
            n_acknowledged = n_before + 1
        except OSError:
            n_acknowledged = n_before
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
            labeler.close()
        if _resume(path) != [n_acknowledged]:
            return [float("nan")]
    return [float(n_before)]


def _lose(path: Path, how: str) -> list[float]:
    labeler = _task().labeler(path, refit_every=0)
    try:
        if how == "moved_while_open":
            path.rename(path.with_name("elsewhere"))
        elif how == "replaced_while_open":
            path.with_name("new").write_bytes(CONTENTS["whole"]())
            path.with_name("new").replace(path)
        elif how == "changed_while_open":
            with path.open("ab") as file:
                file.write(b"x")
        else:
            Journal(path, {}).close()
        labeler.next()
        labeler.answer("yes")
        return [float("nan")]
    finally:
        labeler.close()


ALL: dict[str, Callable[[Path], list[float]]] = {"export": _export, "resume": _resume}
GROUPS: dict[str, Any] = {"ALL": ALL}
LOSSES = ("moved_while_open", "replaced_while_open", "changed_while_open", "in_use")


def answer(input: str, entry: str) -> list[float]:
    """What is read from that journal; a file that is refused must be as it was, else the answer is NaN."""
    path = _make(input)
    if input == "full_disk":
        return _full_disk(path)
    if input in LOSSES:
        return _lose(path, input)
    before = path.read_bytes() if path.is_file() else b""
    try:
        return ALL[entry](path)
    except Exception:
        if path.is_file() and path.read_bytes() != before:
            return [float("nan")]
        raise


@cache
def expected(entry: str) -> list[float]:
    """The same of the whole journal."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ALL[entry](_make("whole"))
