"""Recognition of files by their content, and checks of output paths."""

from __future__ import annotations

import csv
import json
import os
import stat
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pnulearn._files.archive import read_kind
from pnulearn._files.refusals import ModelFileError

# Kinds of files that this package writes.

EMPTY, MODEL, REPORT, PREDICTIONS, ONNX = "nothing", "a model", "a report", "predictions", "an ONNX model"
STATISTICS, CHECKPOINT, JOURNAL, OTHER = "statistics", "a checkpoint", "a journal", "something else"
MONITOR = "the state of a monitor"
LABELS = "a table with labels"  # an export of `pnulearn label`
JOURNAL_HEAD = b'{"event": "start", "version": '
MONITOR_HEAD = b'{"pnulearn_monitor": '
ARCHIVES = {
    "PNUClassifier": MODEL,
    "PNUNetClassifier": MODEL,
    "PNUTable": MODEL,
    "PNUPipeline": MODEL,
    "PNUStatistics": STATISTICS,
    "PNUCheckpoint": CHECKPOINT,
}
# Formats of predictions by the ending of the file.
FORMATS = {".csv": "csv", ".jsonl": "json", ".ndjson": "json", ".json": "json", ".parquet": "parquet", ".xlsx": "excel"}
PREDICTIONS_MARK = b"pnulearn predictions"  # at the end of an Excel file
HEAD_BYTES = 1 << 20


def recognise(path: str | os.PathLike[str]) -> str:
    """The kind of a file, recognised by its content."""
    with open(path, "rb") as file:
        head = file.read(HEAD_BYTES)
    if not head:
        return EMPTY
    if head.startswith(b"PK"):
        return PREDICTIONS if _ends_in(path, PREDICTIONS_MARK) else _archive_kind(path)
    if head.startswith(b"<!DOCTYPE html>") and b'name="generator" content="pnulearn' in head:
        return REPORT
    if head.startswith(b"\x08") and b"\x12\x08pnulearn" in head[:64]:
        return ONNX
    if head.startswith(JOURNAL_HEAD):
        return JOURNAL
    if head.startswith(MONITOR_HEAD):
        return MONITOR
    names = _column_names(Path(path), head)
    return PREDICTIONS if are_predictions(names) else LABELS if are_labels(names) else OTHER


def are_predictions(names: Sequence[str]) -> bool:
    """Whether these are columns that `predict` or `predict_files` writes: a prediction, then scores or probabilities.

    >>> are_predictions(["id", "predicted_spam", "probability_yes"]), are_predictions(["prediction", "note"])
    (True, False)
    """
    first = next((i for i, name in enumerate(names) if name == "prediction" or name.startswith("predicted_")), None)
    rest = [] if first is None else names[first + 1 :]
    return bool(rest) and all(name.startswith(("score", "probability")) for name in rest)


def _ends_in(path: str | os.PathLike[str], mark: bytes) -> bool:
    with open(path, "rb") as file:
        file.seek(-min(len(mark), file.seek(0, os.SEEK_END)), os.SEEK_END)
        return file.read() == mark


def are_labels(names: Sequence[str]) -> bool:
    """Whether these are columns of an export of `pnulearn label`: the last ones are the label, and what is said of it.

    >>> are_labels(["id", "won", "won_origin", "won_at_random", "won_weight"]), are_labels(["id", "won", "won_weight"])
    (True, False)
    """
    ends = ("", "_origin", "_at_random", "_weight")
    return len(names) >= len(ends) and list(names[-len(ends) :]) == [names[-len(ends)] + end for end in ends]


def _archive_kind(path: str | os.PathLike[str]) -> str:
    try:
        return ARCHIVES.get(read_kind(path), OTHER)
    except ModelFileError:
        return OTHER


def _column_names(path: Path, head: bytes) -> list[str]:
    if head.startswith(b"PAR1"):
        return _parquet_names(path)
    line = head.partition(b"\n")[0].decode(errors="replace")
    if line.startswith("{"):
        with suppress(ValueError, RecursionError):
            return list(json.loads(line))
    with suppress(csv.Error):
        return next(csv.reader([line]), [])
    return []


def _parquet_names(path: Path) -> list[str]:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        return []
    try:
        return list(pq.read_schema(path).names)
    except (pa.ArrowException, OSError):
        return []


# Checks of output paths, before any work is done.


@dataclass(frozen=True)
class Output:
    """A file to be written: its path, its kind, and the user's name for it ("--model")."""

    path: str | os.PathLike[str]
    kind: str
    name: str = "The output"
    flag: str = "overwrite=True"

    @property
    def words(self) -> str:
        return f"{self.name} {str(self.path)!r}"


def check_outputs(
    *outputs: Output, inputs: Mapping[str, str | os.PathLike[str] | None] | None = None, overwrite: bool = False
) -> None:
    """Raise an error for outputs that would overwrite an input, each other, or a file of another kind.

    Also for paths that cannot be written. `inputs` maps names in messages to paths; None and "-" mean no file.
    """
    taken = {name: path for name, path in (inputs or {}).items() if path is not None and str(path) != "-"}
    for output in outputs:
        refuse_unwritable(output)
        for name, path in taken.items():
            if _is_same(output.path, path):
                raise ValueError(f"{output.words} is also {name}. Choose another name for one of them.")
        taken[output.name] = output.path
    for output in outputs:
        refuse_other_kind(output, overwrite)


def refuse_other_kind(output: Output, overwrite: bool = False) -> None:
    """Raise a FileExistsError if the path has a file of another kind, unless `overwrite`."""
    path = Path(output.path)
    if overwrite or not path.exists():
        return
    there = recognise(path)
    if there not in (output.kind, EMPTY):
        raise FileExistsError(
            f"{output.words} exists and contains {there}, not {output.kind}. Choose another name, or pass "
            f"{output.flag} to replace it."
        )


def refuse_unwritable(output: Output) -> None:
    """Raise an OSError for a missing or write-protected folder or file, a folder, a device, a pipe, a circular link."""
    real = Path(os.path.realpath(output.path))
    if real.is_symlink():
        raise OSError(f"{output.words} is a circular link. Choose another name.")
    if not real.parent.is_dir():
        raise FileNotFoundError(f"{output.words}: there is no folder {str(real.parent)!r}. Create it first.")
    if output.kind != JOURNAL and not os.access(real.parent, os.W_OK | os.X_OK):  # a journal is appended to
        raise PermissionError(
            f"{output.words}: the folder {str(real.parent)!r} is write-protected. Choose another folder, or change its "
            "permissions."
        )
    if not real.exists():
        return
    mode = real.stat().st_mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(f"{output.words} is a folder. Pass the path of a file in it.")
    if not stat.S_ISREG(mode):
        raise OSError(f"{output.words} is a device, a pipe or a socket, not a regular file. Choose another name.")
    if not os.access(real, os.W_OK):
        raise PermissionError(f"{output.words} is write-protected. Choose another name, or change its permissions.")


def _is_same(one: str | os.PathLike[str], other: str | os.PathLike[str]) -> bool:
    if os.path.exists(one) and os.path.exists(other):
        return os.path.samefile(one, other)
    return os.path.normcase(os.path.realpath(one)) == os.path.normcase(os.path.realpath(other))
