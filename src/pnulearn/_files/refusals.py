"""Errors about model files, told from names and first bytes; nothing here waits for NumPy."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO


class ModelFileError(ValueError):
    """A file that is no model of ours, or one that this version cannot read."""


def refuse_absent(path: str | os.PathLike[str]) -> None:
    """A folder, or a file that is not there."""
    if Path(path).is_dir():
        raise ModelFileError(f"{shown(path)} is a folder. Name a model file in it.")
    if not Path(path).is_file():
        raise FileNotFoundError(f"No model file at {shown(path)}.")


def refuse_other_formats(path: Any, file: BinaryIO) -> None:
    """Model files are zip archives; anything else is told from its first bytes."""
    start = file.read(2)
    file.seek(-len(start), os.SEEK_CUR)
    if start[:1] == b"\x80":
        raise ModelFileError(f"{shown(path)} is a pickle. Reading one can run any code: refused. Use model.save.")
    if start != b"PK":
        found = "is empty" if not start else "is not a pnulearn model file"
        raise ModelFileError(f"{shown(path)} {found}. `pnulearn fit --model` and model.save(path) write them.")


@contextmanager
def refuse_damage(path: Any) -> Iterator[None]:
    """Whatever goes wrong with the content of a file is one kind of error, which names the file."""
    try:
        yield
    except (ModelFileError, FileNotFoundError, PermissionError, ImportError):
        raise
    except Exception as error:
        raise ModelFileError(
            f"{shown(path)} is not a complete pnulearn model file: it was cut short or damaged ({error}). "
            "Save or copy it again."
        ) from error


def shown(path: Any) -> str:
    return repr(str(path)) if isinstance(path, str | os.PathLike) else "This"
