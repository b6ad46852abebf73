"""A random sample of the rows of a table that is read in batches: the rows with the smallest hash keys.

The key is a hash of the file's name and the row's position, so the sample does not depend on the batch size.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._moments import MOST_UNLABELED, position_keys
from pnulearn._reader.columns import Cells
from pnulearn._reader.table import Table
from pnulearn.tables._plan import Excerpt

# Rows to learn the column plan from; the standard error of a mean is then less than 1/200 of the standard deviation.
MOST_ROWS = 50_000
MOST_CELLS = 5_000_000  # limit of rows x columns for wide tables
EVERY_KEY = np.uint64(2**64 - 1)


@dataclass(frozen=True, eq=False)
class SampledRows:
    """A sample of rows of a larger table in its order: cells, keys, names of their files and positions in them.

    `is_fair` marks the uniform sample of all rows; the others are additional rows of rare groups.
    """

    table: Table
    keys: AnyArray
    names: AnyArray
    places: AnyArray
    is_fair: AnyArray
    excerpt: Excerpt

    def take(self, rows: AnyArray) -> SampledRows:
        """A subset of the rows, in their order."""
        table = Table(self.table.cells.take(rows), self.table.source, self.table.reading, self.table.fingerprint)
        excerpt = Excerpt(self.excerpt.numbers[rows], self.excerpt.n_rows)
        return SampledRows(table, self.keys[rows], self.names[rows], self.places[rows], self.is_fair[rows], excerpt)

    @property
    def fair(self) -> SampledRows:
        """The uniform sample of all rows."""
        return self.take(np.flatnonzero(self.is_fair))


class RowSampler:
    """Draws a sample over batches: a uniform sample of all rows, and as many rows of each group as a fit uses."""

    def __init__(self, seed: int):
        self.n_rows = 0
        self._seed = seed
        self._pieces: list[tuple[Any, ...]] = []
        self._n_kept = 0
        self._last, self._last_of = EVERY_KEY, dict[int, np.uint64]()
        self._most = MOST_ROWS
        self._reading = Cells()

    def add(self, table: Table, name: str, groups: AnyArray) -> None:
        """Add the rows of a batch of the file `name`, with the group of each."""
        self._most = max(1, min(MOST_ROWS, MOST_CELLS // max(1, len(table.names))))
        self._reading = replace(table.reading, decimal_comma=table.reading.decimal_comma or self._reading.decimal_comma)
        keys = position_keys(name, self._seed, table.start, table.n_rows)
        last = np.array([self._last_of.get(int(group), EVERY_KEY) for group in np.unique(groups)], dtype=np.uint64)
        rows = np.flatnonzero(keys <= np.maximum(self._last, last[np.unique(groups, return_inverse=True)[1]]))
        numbers = self.n_rows + rows
        places = table.start + rows
        self._pieces.append(
            (table.cells.take(rows), keys[rows], np.full(len(rows), name), places, groups[rows], numbers)
        )
        self.n_rows += table.n_rows
        self._n_kept += len(rows)
        if self._n_kept > 2 * self._most + len(self._last_of) * min(self._most, MOST_UNLABELED):
            self._thin()

    def result(self, source: str, fingerprint: str = "") -> SampledRows:
        """The sample of all batches so far."""
        self._thin()
        cells, keys, names, places, _, numbers = self._pieces[0]
        table = Table(cells, source, self._reading, fingerprint)
        return SampledRows(table, keys, names, places, keys <= self._last, Excerpt(numbers, self.n_rows))

    def _thin(self) -> None:
        import pyarrow as pa

        tables = [
            cells if isinstance(cells, pa.Table) else pa.Table.from_batches([cells]) for cells, *_ in self._pieces
        ]
        cells = pa.concat_tables(tables, promote_options="permissive")
        keys, names, places, groups, numbers = map(np.concatenate, list(zip(*self._pieces, strict=True))[1:])
        self._last = _last_key(keys, self._most)
        kept = keys <= self._last
        for group in np.unique(groups):
            members = groups == group
            self._last_of[int(group)] = last = _last_key(keys[members], min(self._most, MOST_UNLABELED))
            kept |= members & (keys <= last)
        rows = np.flatnonzero(kept)
        parts = (part[rows] for part in (keys, names, places, groups, numbers))
        self._pieces = [(cells.take(rows).combine_chunks(), *parts)]
        self._n_kept = len(rows)


def _last_key(keys: AnyArray, most: int) -> np.uint64:
    """The largest key to keep: the `most`-th smallest, or the maximum if there are fewer."""
    return EVERY_KEY if len(keys) <= most else np.uint64(np.partition(keys, most - 1)[most - 1])
