"""A command of the command line as a function: its numbers, or an error with what it said."""

from __future__ import annotations

import atexit
import csv
import io
import json
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from pnulearn.cli import run
from pnulearn.labeling import journal_of
from pnulearn.labeling._table_labeling import read_task
from pnulearn.tables import read_table
from tests.attack.rows import SCORES, X, Y

NAMES = ["a", "b", "c", "said", "label"]
RECORDS = [
    [*(round(float(cell), 4) for cell in row), round(float(score), 4), {1.0: "yes", 0.0: "no"}.get(float(y), "")]
    for row, score, y in zip(X, SCORES, Y, strict=True)
]


def as_csv(records: Any = RECORDS, names: Any = NAMES, delimiter: str = ",", **options: Any) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n", **options)
    writer.writerows([names, *records])
    return text.getvalue().encode()


@cache
def workplace() -> Path:
    """A folder of this process with a clean table and a model fitted to it."""
    folder = Path(tempfile.mkdtemp(prefix="pnulearn-attack-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    (folder / "clean.csv").write_bytes(as_csv())
    ask("fit", folder / "clean.csv", "-l", "label", "--drop", "said", *QUICK, "-m", folder / "model.pnu")
    (folder / "empty").mkdir()
    task = read_task(read_table(folder / "clean.csv"), "label")
    labeler = task.labeler(journal_of(folder / "clean.csv"), refit_every=0)
    labeler.next()
    labeler.answer("yes")
    labeler.close()
    return folder


QUICK = ("--kernel", "linear", "--folds", "2", "--prior", "0.4")


def ask(*arguments: Any) -> list[float]:
    """The numbers that a command writes; what it says on standard error is a warning, or the error."""
    out, said = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO()
    with redirect_stdout(out), redirect_stderr(said):
        code = run([str(argument) for argument in arguments])
    words = said.getvalue()
    if "Traceback" in words or "should not happen" in words or code not in (0, 1, 2):
        raise RuntimeError(f"exit code {code}: {words}")
    if code:
        raise ValueError(words)
    if words:
        warnings.warn(words, UserWarning, stacklevel=2)
    return list(_numbers(_read(_text_of(out))))


def _text_of(out: io.TextIOWrapper) -> str:
    out.flush()
    raw = out.buffer
    assert isinstance(raw, io.BytesIO)
    return raw.getvalue().decode()


def _read(text: str) -> Any:
    """JSON, or lines of it; what is written for people holds no answer to compare."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def _numbers(value: Any) -> Iterator[float]:
    """All numbers, in the order of their names; times and sizes of files are none of the answer."""
    if isinstance(value, dict):
        for name in sorted(value, key=lambda name: name.strip().lower()):
            if not any(word in name for word in ("second", "time", "bytes", "version")):
                yield from _numbers(value[name])
    elif isinstance(value, list):
        for one in value:
            yield from _numbers(one)
    elif isinstance(value, bool) or value is None or isinstance(value, str):
        return
    else:
        yield float(np.asarray(value, dtype=float))
