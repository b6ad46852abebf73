"""What an existing file holds, as far as we write such files ourselves."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from pnulearn._files.archive import read_kind
from pnulearn._files.errors import ModelFileError

EMPTY, MODEL, REPORT, PREDICTIONS, ONNX = "nothing", "a model", "a report", "predictions", "an ONNX model"
STATISTICS, CHECKPOINT, OTHER = "statistics", "a checkpoint", "something else"
ARCHIVES = {
    "PNUClassifier": MODEL,
    "PNUNetClassifier": MODEL,
    "PNUTable": MODEL,
    "PNUPipeline": MODEL,
    "PNUStatistics": STATISTICS,
    "PNUCheckpoint": CHECKPOINT,
}
HEAD_BYTES = 1 << 20


def recognise(path: str | os.PathLike[str]) -> str:
    """The kind of a file, by its content."""
    with open(path, "rb") as file:
        head = file.read(HEAD_BYTES)
    if not head:
        return EMPTY
    if head.startswith(b"PK"):
        return _archive_kind(path)
    if head.startswith(b"<!DOCTYPE html>") and b'name="generator" content="pnulearn' in head:
        return REPORT
    if head.startswith(b"\x08") and b"\x12\x08pnulearn" in head[:64]:
        return ONNX
    return PREDICTIONS if are_predictions(_column_names(Path(path), head)) else OTHER


def are_predictions(names: Sequence[str]) -> bool:
    """Whether these are the columns that `predict` or `predict_files` writes: nothing but answers after the label.

    >>> are_predictions(["id", "predicted_spam", "probability_yes"]), are_predictions(["prediction", "note"])
    (True, False)
    """
    first = next((i for i, name in enumerate(names) if name == "prediction" or name.startswith("predicted_")), None)
    rest = [] if first is None else names[first + 1 :]
    return bool(rest) and all(name.startswith(("score", "probability")) for name in rest)


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
