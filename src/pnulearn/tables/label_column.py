"""The label column of a table that comes in batches: distinct cells are counted first, then every row has its code."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._problem.labels import UNLABELED, Labels, decode_labels
from pnulearn._tables.columns import Cells
from pnulearn._tables.errors import TableError
from pnulearn._tables.table import Table
from pnulearn.tables.targets import Meaning, label_cells, read_meaning

MOST_SPELLINGS = 500  # distinct cells of a column of labels


class LabelCounter:
    """Counts the distinct cells of a label column while batches go by."""

    def __init__(self, label: str):
        self.label = label
        self._counts: Counter[Any] = Counter()
        self._types: list[Any] = []
        self._reading = Cells()

    def add(self, table: Table) -> AnyArray:
        """Count the cells of a batch in; the rows' groups, equal numbers for equal cells."""
        places, cells = _distinct(table, self.label)
        counts = np.bincount(places, minlength=len(cells))
        self._counts.update({cell: int(count) for cell, count in zip(cells, counts, strict=True) if count})
        if len(self._counts) > MOST_SPELLINGS:
            raise TableError(
                f"Column {self.label!r} of {table.source} has more than {MOST_SPELLINGS} different values, too many "
                "for labels. Is it the right column?"
            )
        self._types.append(_plain_type(table, self.label))
        self._reading = Cells(table.reading.missing, table.reading.decimal_comma or self._reading.decimal_comma)
        numbers = {cell: number for number, cell in enumerate(self._counts)}
        return np.array([numbers.get(cell, -1) for cell in cells], dtype=int)[places]

    def read(
        self, source: str, *, positive: str | None, unlabeled: str | None, known: AnyArray | None = None
    ) -> LabelCodes:
        """What the cells mean, by the rules for whole tables; `known` are the classes of a model."""
        import pyarrow as pa

        cells = [cell for cell in self._counts if cell is not None]
        kind = next((kind for kind in self._types if not pa.types.is_null(kind)), pa.null())
        column = Table(pa.table({self.label: pa.array(cells, kind)}), source, self._reading).column(self.label)
        meant = dict(zip(cells, label_cells(column), strict=True)) | {None: None}
        counts: Counter[Any] = Counter()
        for cell, count in self._counts.items():
            counts[meant[cell]] += count
        names = () if known is None else known.tolist()
        meaning = read_meaning(self.label, counts, source, positive=positive, unlabeled=unlabeled, known=names)
        labels = {cell: meaning.label_of.get(value) for cell, value in meant.items()}
        y = np.array([*(labels[cell] for cell in self._counts), None], dtype=object)[:-1]
        decoded = decode_labels(y, pos_label=None if known is not None else meaning.positive, classes=known)
        codes = dict(zip(self._counts, decoded.codes.tolist(), strict=True))
        return LabelCodes(self.label, meaning, decoded.classes, codes, self._counts.total())


@dataclass(frozen=True)
class LabelCodes:
    """The class code of every distinct cell."""

    label: str
    meaning: Meaning
    classes: AnyArray
    code_of: dict[Any, int]
    n_rows: int

    def codes(self, table: Table) -> AnyArray:
        """The class code of every row of a batch, −1 if it is unlabelled."""
        places, cells = _distinct(table, self.label)
        return np.array([self.code_of.get(cell, UNLABELED) for cell in cells], dtype=int)[places]

    def labels(self, table: Table) -> Labels:
        return Labels(self.classes, self.codes(table))


def _plain_type(table: Table, label: str) -> Any:
    import pyarrow as pa

    kind = table.cells.schema.field(label).type
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _distinct(table: Table, label: str) -> tuple[AnyArray, list[Any]]:
    """The place of every row's cell among the distinct cells, of which the last is None, and these."""
    import pyarrow as pa

    table.refuse_absent(label)
    column = table.cells.column(label)
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if pa.types.is_null(column.type):
        return np.zeros(len(column), dtype=int), [None]
    encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    cells = [None if cell != cell else cell for cell in encoded.dictionary.to_pylist()]
    return encoded.indices.fill_null(len(cells)).to_numpy(zero_copy_only=False).astype(int), [*cells, None]
