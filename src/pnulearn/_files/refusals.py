"""Errors about model files, from their names and first bytes. This module does not import NumPy, to be fast."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO


class ModelFileError(ValueError):
    """The file is not a model of this package, or this version cannot read it."""


def refuse_absent(path: str | os.PathLike[str]) -> None:
    """Raise an error if the path is a folder or does not exist."""
    if Path(path).is_dir():
        raise ModelFileError(f"{shown(path)} is a folder. Pass the path of a model file in it.")
    if not Path(path).is_file():
        raise FileNotFoundError(f"No model file at {shown(path)}.")


def refuse_other_formats(path: Any, file: BinaryIO) -> None:
    """Raise a ModelFileError unless the first bytes are those of a zip archive, the format of model files."""
    start = file.read(2)
    file.seek(-len(start), os.SEEK_CUR)
    if start[:1] == b"\x80":
        raise ModelFileError(
            f"{shown(path)} is a pickle. Pickles are not read, because that can execute any code. Use model.save."
        )
    if start != b"PK":
        found = "is empty" if not start else "is not a pnulearn model file"
        raise ModelFileError(f"{shown(path)} {found}. Write one with `pnulearn fit --model` or model.save(path).")


@contextmanager
def refuse_damage(path: Any) -> Iterator[None]:
    """Convert any error about the content of a file to a ModelFileError that names the file."""
    try:
        yield
    except (ModelFileError, FileNotFoundError, PermissionError, ImportError):
        raise
    except Exception as error:
        raise ModelFileError(
            f"{shown(path)} is not a complete pnulearn model file: it was truncated or damaged ({error}). "
            "Save or copy it again."
        ) from error


def shown(path: Any) -> str:
    return repr(str(path)) if isinstance(path, str | os.PathLike) else "This"
