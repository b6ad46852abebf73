"""Rows as they arrive, and how they become blocks of numbers and class codes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from pnulearn._arrays import AnyArray
from pnulearn._problem.inputs import refuse_strange
from pnulearn._problem.labels import UNLABELED, decode_labels, is_missing
from pnulearn._statistics.design import Design

BLOCK_ROWS = 8192  # larger blocks leave the cache and are slower
IMPUTE = "Drop or impute such rows before, e.g. with sklearn.impute.SimpleImputer."


class Batch(Protocol):
    """Some consecutive rows."""

    def __len__(self) -> int: ...

    def part(self, start: int, stop: int) -> Batch:
        """Rows start to stop of the batch."""

    def fill(self, out: AnyArray, columns: tuple[str, ...] | None, origin: AnyArray) -> None:
        """Write the columns less the origin to `out` of shape (d, n)."""

    def label_counts(self) -> dict[Any, int]:
        """How often each label occurs; None stands for missing ones."""

    def codes(self, classes: AnyArray, unlabeled: Any) -> AnyArray:
        """Class codes, −1 for unlabelled rows."""


@dataclass(frozen=True)
class Block:
    """At most BLOCK_ROWS rows: numbers (d, n) less the origin, class codes, folds, and the first row's number.

    `rows` is a buffer that the next block overwrites.
    """

    rows: AnyArray
    codes: AnyArray
    folds: AnyArray
    start: int


@dataclass(frozen=True)
class ArrayBatch:
    """Rows of an array X (n, d), for instance a memory map, with labels y; y may be None where none are needed."""

    X: AnyArray
    y: Any

    @classmethod
    def of(cls, X: Any, y: Any) -> ArrayBatch:
        """Checked input."""
        if sparse.issparse(X):
            raise TypeError("Sparse rows cannot be read in one pass: pass dense blocks, or use PNUClassifier.fit.")
        X = np.asanyarray(refuse_strange(X))
        X = X.astype(float) if X.dtype.kind == "O" else X  # columns of pandas' own types
        if X.ndim != 2 or X.shape[1] == 0:
            raise ValueError(f"Each batch of X needs shape (n_rows, n_columns), got {X.shape}.")
        if X.dtype.kind not in "biuf":
            raise ValueError(f"X holds {X.dtype} values; numbers are needed. Complex numbers and records are not.")
        if isinstance(y, np.ma.MaskedArray):  # what is masked is missing
            y = np.array([None if label is np.ma.masked else label for label in y] + [None], dtype=object)[:-1]
        if y is not None and np.ndim(y) != 1:
            raise ValueError(f"y should be a 1d array with one label per row, got shape {np.shape(y)}.")
        if y is not None and not isinstance(y, np.ndarray):
            y = np.array(y.to_list() if hasattr(y, "to_list") else list(y), dtype=object)
        if y is not None and len(y) != len(X):
            raise ValueError(f"X has {len(X)} rows and y has {len(y)}: they must agree.")
        return cls(X, y)

    def __len__(self) -> int:
        return len(self.X)

    def part(self, start: int, stop: int) -> ArrayBatch:
        return ArrayBatch(self.X[start:stop], None if self.y is None else self.y[start:stop])

    def fill(self, out: AnyArray, columns: tuple[str, ...] | None, origin: AnyArray) -> None:
        if self.X.shape[1] != len(origin):
            raise ValueError(f"This batch has {self.X.shape[1]} columns and {len(origin)} are expected.")
        np.subtract(self.X.T, origin[:, None], out=out, casting="same_kind")

    def label_counts(self) -> dict[Any, int]:
        if self.y is None:
            raise ValueError("y is None: pass pairs (X, y) in which y has a label or a missing value for every row.")
        return dict(Counter(None if is_missing(label) else label for label in list(self.y)))

    def codes(self, classes: AnyArray, unlabeled: Any) -> AnyArray:
        return decode_labels(self.y, unlabeled, classes=classes).codes


def blocks_of(
    batches: Iterable[Batch], design: Design, name: str, start: int, *, where: str = "X", labels: bool = True
) -> Iterator[Block]:
    """Cut batches into blocks; `name` and `start` say which rows of which file these are, `where` is for messages."""
    buffer = np.empty((design.n_features, BLOCK_ROWS), design.dtype)
    for batch in batches:
        for first in range(0, len(batch), BLOCK_ROWS):
            piece = batch.part(first, min(first + BLOCK_ROWS, len(batch)))
            rows = buffer[:, : len(piece)]
            with np.errstate(over="ignore"):
                piece.fill(rows, design.columns, design.origin)
            _refuse_not_finite(rows, design, where, start)
            codes = piece.codes(design.classes, design.unlabeled) if labels else np.full(len(piece), UNLABELED)
            yield Block(rows, codes, design.folds(name, start, len(piece)), start)
            start += len(piece)


def _refuse_not_finite(rows: AnyArray, design: Design, where: str, start: int) -> None:
    """One sum of squares finds trouble; only then is it looked for."""
    with np.errstate(over="ignore", invalid="ignore"):
        bad = np.flatnonzero(~np.isfinite(np.einsum("dn,dn->n", rows, rows)))
    if len(bad) == 0:
        return
    row = int(bad[0])
    column = int(np.argmax(np.nan_to_num(np.abs(rows[:, row]), nan=np.inf)))
    title = repr(design.columns[column]) if design.columns else str(column)
    found, advice = "a missing value", IMPUTE
    if not np.isnan(rows[column, row]):
        found = f"infinity, or a number too large for {design.dtype}"
        advice = "Rescale the column" + (", or pass dtype='float64'." if design.dtype == "float32" else ".")
    raise ValueError(f"Row {start + row}, column {title} of {where} holds {found}. {advice}")
