"""Rows as they arrive, from arrays or Arrow tables, and how they become blocks of numbers and class codes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pnulearn.labels import UNLABELED, decode_labels, is_missing
from pnulearn.streaming.design import Design
from pnulearn.streaming.features import BLOCK_ROWS

IMPUTE = "Drop or impute such rows before, e.g. with sklearn.impute.SimpleImputer."


class Batch(Protocol):
    """Some consecutive rows."""

    def __len__(self) -> int: ...

    def part(self, start: int, stop: int) -> Batch:
        """Rows start to stop of the batch."""

    def fill(self, out: NDArray, columns: tuple[str, ...] | None, origin: NDArray) -> None:
        """Write the columns less the origin to `out` of shape (d, n)."""

    def label_counts(self) -> dict[Any, int]:
        """How often each label occurs; None stands for missing ones."""

    def codes(self, classes: NDArray, unlabeled: Any) -> NDArray:
        """Class codes, −1 for unlabelled rows."""


@dataclass(frozen=True)
class Block:
    """At most BLOCK_ROWS rows: numbers (d, n) less the origin, class codes, folds, and the first row's number.

    `rows` is a buffer that the next block overwrites.
    """

    rows: NDArray
    codes: NDArray
    folds: NDArray
    start: int


@dataclass(frozen=True)
class ArrayBatch:
    """Rows of an array X (n, d), for instance a memory map, with labels y; y may be None where none are needed."""

    X: NDArray
    y: Any

    @classmethod
    def of(cls, X: Any, y: Any) -> ArrayBatch:
        """Checked input."""
        if sparse.issparse(X):
            raise TypeError("Sparse rows cannot be read in one pass: pass dense blocks, or use PNUClassifier.fit.")
        X = np.asanyarray(X)
        if X.ndim != 2 or X.shape[1] == 0:
            raise ValueError(f"Each batch of X needs shape (n_rows, n_columns), got {X.shape}.")
        if X.dtype.kind not in "biuf":
            raise ValueError(f"X holds {X.dtype} values; numbers are needed.")
        if y is not None and not isinstance(y, np.ndarray):
            y = np.array(y.to_list() if hasattr(y, "to_list") else list(y), dtype=object)
        if y is not None and len(y) != len(X):
            raise ValueError(f"X has {len(X)} rows and y has {len(y)}: they must agree.")
        return cls(X, y)

    def __len__(self) -> int:
        return len(self.X)

    def part(self, start: int, stop: int) -> ArrayBatch:
        return ArrayBatch(self.X[start:stop], None if self.y is None else self.y[start:stop])

    def fill(self, out: NDArray, columns: tuple[str, ...] | None, origin: NDArray) -> None:
        if self.X.shape[1] != len(origin):
            raise ValueError(f"This batch has {self.X.shape[1]} columns and {len(origin)} are expected.")
        np.subtract(self.X.T, origin[:, None], out=out, casting="same_kind")

    def label_counts(self) -> dict[Any, int]:
        return dict(Counter(None if is_missing(label) else label for label in list(self.y)))

    def codes(self, classes: NDArray, unlabeled: Any) -> NDArray:
        return decode_labels(self.y, unlabeled, classes=classes).codes


@dataclass(frozen=True)
class ArrowBatch:
    """A pyarrow RecordBatch or Table; `target` names its label column, if one is needed.

    In a file without types (CSV) labels are text, and numbers only if they look like numbers.
    """

    table: Any
    target: str | None
    untyped: bool = False

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def part(self, start: int, stop: int) -> ArrowBatch:
        return ArrowBatch(self.table.slice(start, stop - start), self.target, self.untyped)

    def fill(self, out: NDArray, columns: tuple[str, ...] | None, origin: NDArray) -> None:
        assert columns is not None
        for name, point, row in zip(columns, origin, out, strict=True):
            np.subtract(_numbers(self.table.column(name)), point, out=row, casting="same_kind")

    def label_counts(self) -> dict[Any, int]:
        import pyarrow.compute as pc

        found = pc.value_counts(self._labels())
        pairs = zip(found.field("values").to_pylist(), found.field("counts").to_pylist(), strict=True)
        counts: dict[Any, int] = {}
        for value, count in pairs:
            value = None if value != value else value
            counts[value] = counts.get(value, 0) + count
        return counts

    def codes(self, classes: NDArray, unlabeled: Any) -> NDArray:
        """Only distinct labels are decoded, which makes strings as cheap as numbers."""
        encoded = self._labels().dictionary_encode()
        distinct = np.empty(len(encoded.dictionary), dtype=object)
        labels = encoded.dictionary.to_pylist()
        distinct[:] = [_number(label) for label in labels] if self.untyped and classes.dtype.kind != "U" else labels
        codes = np.append(decode_labels(distinct, unlabeled, classes=classes).codes, UNLABELED)
        places = encoded.indices.fill_null(len(distinct)).to_numpy(zero_copy_only=False)
        return codes[places]

    def _labels(self) -> Any:
        import pyarrow as pa

        column = self.table.column(self.target)
        if isinstance(column, pa.ChunkedArray):
            column = column.combine_chunks()
        return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def _numbers(column: Any) -> NDArray:
    """A column as an array; missing values become NaN, which is found and reported later."""
    if column.null_count:
        column = column.cast("float64")
    return column.to_numpy() if hasattr(column, "chunks") else column.to_numpy(zero_copy_only=False)


def numbers_if_text(labels: list[Any], unlabeled: Any) -> list[Any]:
    """Labels read from a file without types: numbers if all of them, the marker aside, look like numbers.

    >>> numbers_if_text(["1", "0", "?"], "?"), numbers_if_text(["1", "x"], None), numbers_if_text(["2.0"], None)
    ([1, 0, '?'], ['1', 'x'], [2.0])
    """
    numbers = [_number(label) for label in labels]
    text = [number for number in numbers if isinstance(number, str) and number != unlabeled]
    return labels if text else numbers


def _number(label: Any) -> Any:
    """A label as a number if it looks like one."""
    for kind in (int, float):
        try:
            return kind(label)
        except (TypeError, ValueError):
            continue
    return label


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


def _refuse_not_finite(rows: NDArray, design: Design, where: str, start: int) -> None:
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
