"""Rows that arrive as Arrow tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._problem.labels import UNLABELED, decode_labels


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

    def fill(self, out: AnyArray, columns: tuple[str, ...] | None, origin: AnyArray) -> None:
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

    def codes(self, classes: AnyArray, unlabeled: Any) -> AnyArray:
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


def _numbers(column: Any) -> AnyArray:
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
