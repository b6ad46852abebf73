"""What turns rows into statistics: columns, classes, basis functions, folds and precision."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnulearn._basis.basis import Basis
from pnulearn._problem.folds import scrambled

DTYPES = ("float32", "float64")


@dataclass(frozen=True, eq=False)
class Design:
    """The agreement between all who collect statistics that are to be added up.

    columns : names in the order of the features, or None for plain arrays.
    classes : in code order, (negative, positive) if there are two.
    basis : the basis functions, with all bandwidths to be tried.
    n_folds, seed : a row's fold is a hash of the name of its file and its place in it.
    dtype : precision of the features; sums are always float64.
    unlabeled : the marker of unlabelled rows, besides missing values.
    """

    columns: tuple[str, ...] | None
    classes: NDArray
    basis: Basis
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
    def origin(self) -> NDArray:
        """A point amid the data that is taken off every row in float64, so that offsets cost no digits."""
        return self.basis.origin

    def folds(self, name: str, start: int, n_rows: int) -> NDArray:
        """Fold numbers of `n_rows` consecutive rows of the file `name`, from row number `start` on."""
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
        """In words, what keeps the statistics of two designs apart."""
        found = [
            f"{name} ({getattr(self, name)!r} and {getattr(other, name)!r})"
            for name in ("columns", "n_folds", "seed", "dtype")
            if getattr(self, name) != getattr(other, name)
        ]
        if self.classes.tolist() != other.classes.tolist():
            found.append(f"classes ({self.classes.tolist()} and {other.classes.tolist()})")
        return found or ["basis functions (centres or bandwidths)"]


def position_keys(name: str, seed: int, start: int, n_rows: int) -> NDArray:
    """A well-mixed 64-bit key per row that depends on the file's name, the row's place in it and a seed only."""
    digest = hashlib.sha256(f"{seed}/{name}".encode()).digest()
    offset = np.frombuffer(digest[:8], dtype="<u8")[0]
    rows = np.arange(start, start + n_rows, dtype=np.uint64)
    return scrambled(scrambled(rows + np.uint64(1)) ^ offset)
