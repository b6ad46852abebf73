"""A folder of files, one data set each: npz with X and y, or csv and parquet with a column y (or the last one)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._tables.errors import TableError
from pnulearn._tables.reading import read_table

VARIABLE = "PNULEARN_DATA"
ENDINGS = (".npz", ".parquet", ".csv")


def data_folder(folder: str | os.PathLike[str] | None = None) -> Path | None:
    """The folder given, else the one that PNULEARN_DATA names, else none."""
    name = folder or os.environ.get(VARIABLE)
    if not name:
        return None
    path = Path(name).expanduser()
    if not path.is_dir():
        raise FileNotFoundError(
            f"{str(path)!r} is not a folder. Pass --data or set {VARIABLE} to a folder of data files."
        )
    return path


def file_of(name: str, folder: str | os.PathLike[str] | None = None) -> Path | None:
    """The file that holds a set, if there is one."""
    path = data_folder(folder)
    found = [path / f"{name}{ending}" for ending in ENDINGS if (path / f"{name}{ending}").is_file()] if path else []
    return found[0] if found else None


def names_in(folder: str | os.PathLike[str] | None = None) -> list[str]:
    """Names of all files in the folder that look like data sets."""
    path = data_folder(folder)
    return sorted({file.stem for file in path.iterdir() if file.suffix in ENDINGS}) if path else []


def read_file(path: Path) -> tuple[AnyArray, AnyArray]:
    """X as it is stored, and y in {−1, +1} with the greater label as +1."""
    X, y = _read_npz(path) if path.suffix == ".npz" else _read_table(path)
    if X.ndim != 2 or len(X) != len(y) or X.dtype.kind not in "biuf":
        raise TableError(f"{path}: needs X of numbers with one row per label, found X {X.dtype} {X.shape}.")
    return X, as_signs(y, path)


def as_signs(y: AnyArray, source: Any) -> AnyArray:
    """Two labels as −1 and +1, the greater being +1.

    >>> as_signs(np.array(["no", "yes", "no"]), "an example").tolist()
    [-1, 1, -1]
    """
    labels = np.unique(y)
    if len(labels) != 2:
        raise TableError(f"{source}: y must hold two labels, found {len(labels)}: {labels[:5].tolist()}.")
    return np.where(y == labels[1], 1, -1)


def _read_npz(path: Path) -> tuple[AnyArray, AnyArray]:
    with np.load(path, allow_pickle=False) as content:
        missing = {"X", "y"} - set(content.files)
        if missing:
            raise TableError(f"{path}: no array {sorted(missing)[0]!r}, found {sorted(content.files)}.")
        return content["X"], content["y"]


def _read_table(path: Path) -> tuple[AnyArray, AnyArray]:
    table = read_table(path)
    target = "y" if "y" in table.names else table.names[-1]
    y, columns = table.column(target), [table.column(name) for name in table.names if name != target]
    wrong = [column.name for column in columns if not column.is_numeric]
    if wrong:
        raise TableError(f"{path}: column {wrong[0]!r} is not numeric. Encode it first.")
    if y.missing.any():
        raise TableError(f"{path}: column {target!r} has no label in row {int(y.missing.argmax()) + 1}.")
    return np.column_stack([column.data for column in columns]), y.values
