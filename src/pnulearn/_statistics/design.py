"""What turns rows into statistics: columns, classes, basis functions, folds and precision."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._basis.basis import Kernel
from pnulearn._problem.row_keys import scramble

DTYPES = ("float32", "float64")


@dataclass(frozen=True, eq=False)
class Design:
    """The agreement between all who collect statistics that are to be added up.

    Parameters
    ----------
    columns : sequence of str, optional
        Names of the feature columns; None for plain arrays.
    classes : array
        In code order, (negative, positive) if there are two.
    basis : Kernel
        The basis functions, with all bandwidths to be tried.
    n_folds : int
        Number of folds.
    seed : int
        A row's fold is a hash of it, the name of its file and its place there.
    dtype : str
        "float32" or "float64", the precision of the features; sums are always float64.
    unlabeled : object, optional
        The value in y that marks unlabelled rows; missing values always do.
    """

    columns: tuple[str, ...] | None
    classes: AnyArray
    basis: Kernel
    n_folds: int = 5
    seed: int = 0
    dtype: str = "float32"
    unlabeled: Any = None

    def __post_init__(self) -> None:
        if self.dtype not in DTYPES:
            raise ValueError(f"dtype must be 'float32' or 'float64', got {self.dtype!r}.")

    @property
    def n_features(self) -> int:
        return self.origin.shape[0]

    @property
    def n_groups(self) -> int:
        """One group of rows per class, and the unlabelled ones."""
        return len(self.classes) + 1

    @property
    def origin(self) -> AnyArray:
        """A point amid the data that is taken off every row in float64, so that offsets cost no digits."""
        return self.basis.origin

    def folds(self, name: str, start: int, n_rows: int) -> AnyArray:
        """Fold numbers of `n_rows` consecutive rows of the file `name`, from row number `start` on.

        Parameters
        ----------
        name : str
            Name of the file or batch, which decides the folds of its rows.
        start : int
            Number of the first row in its file.
        n_rows : int
            Number of rows.
        """
        return (position_keys(name, self.seed, start, n_rows) % np.uint64(self.n_folds)).astype(np.intp)

    @cached_property
    def fingerprint(self) -> str:
        """Equal for designs whose statistics may be added, different for all others."""
        facts = [self.columns, self.classes.tolist(), type(self.basis).__name__, self.n_folds, self.seed, self.dtype]
        digest = hashlib.sha256(json.dumps(facts, default=str).encode())
        for array in self.basis.numbers:
            digest.update(np.ascontiguousarray(array, dtype=np.float64).tobytes())
        return digest.hexdigest()[:16]

    def differences(self, other: Design) -> list[str]:
        """In words, what keeps the statistics of two designs apart.

        Parameters
        ----------
        other : Design
            Another design.
        """
        found = [
            f"{name} ({getattr(self, name)!r} and {getattr(other, name)!r})"
            for name in ("columns", "n_folds", "seed", "dtype")
            if getattr(self, name) != getattr(other, name)
        ]
        if self.classes.tolist() != other.classes.tolist():
            found.append(f"classes ({self.classes.tolist()} and {other.classes.tolist()})")
        return found or ["basis functions (centres or bandwidths)"]


def position_keys(name: str, seed: int, start: int, n_rows: int) -> AnyArray:
    """A well-mixed 64-bit key per row that depends on the file's name, the row's place in it and a seed only."""
    digest = hashlib.sha256(f"{seed}/{name}".encode()).digest()
    offset = np.frombuffer(digest[:8], dtype="<u8")[0]
    rows = np.arange(start, start + n_rows, dtype=np.uint64)
    return scramble(scramble(rows + np.uint64(1)) ^ offset)
