"""The inner loop of the pass: blocks of rows go in, sums of outer products come out."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnulearn.streaming.batches import ArrayBatch, blocks_of
from pnulearn.streaming.design import Design
from pnulearn.streaming.features import BLOCK_ROWS, FeatureBlock
from pnulearn.streaming.statistics import PNUStatistics, triangle


class Accumulator:
    """Adds up blocks. Products of a few thousand float32 rows are exact enough; they are summed in float64.

    Labelled rows are few in each block, so they wait until a whole block of them has come together.
    """

    def __init__(self, design: Design):
        self._statistics = PNUStatistics.zero(design)
        self._block = FeatureBlock(design)
        size = design.basis.size + 1
        self._product = np.empty((size, size), design.dtype)
        self._triangle = triangle(size)
        self._packed = np.empty(len(self._triangle), design.dtype)
        self._waiting = np.empty((design.n_features, BLOCK_ROWS), design.dtype)
        self._waiting_cells = np.empty(BLOCK_ROWS, dtype=np.intp)
        self._n_waiting = 0

    def add(self, rows: NDArray, codes: NDArray, folds: NDArray) -> None:
        """Rows of shape (d, n), less the origin, n at most BLOCK_ROWS; codes −1 for unlabelled rows."""
        groups = self._statistics.design.n_groups
        cells = folds * groups + np.where(codes < 0, groups - 1, codes)
        labeled = np.flatnonzero(codes >= 0)
        if self._n_waiting + len(labeled) > BLOCK_ROWS:
            self._flush()
        place = slice(self._n_waiting, self._n_waiting + len(labeled))
        self._waiting[:, place], self._waiting_cells[place] = rows[:, labeled], cells[labeled]
        self._n_waiting += len(labeled)
        self._absorb(rows, cells, np.flatnonzero(codes < 0))

    def result(self) -> PNUStatistics:
        """The statistics of all rows so far."""
        self._flush()
        return self._statistics

    def _flush(self) -> None:
        n, self._n_waiting = self._n_waiting, 0
        self._absorb(self._waiting[:, :n], self._waiting_cells[:n], np.arange(n))

    def _absorb(self, rows: NDArray, cells: NDArray, chosen: NDArray) -> None:
        """Sort rows by fold and group, so that each cell's rows are one slice of the features."""
        if len(chosen) == 0:
            return
        order = chosen[np.argsort(cells[chosen], kind="stable")]
        ends = np.cumsum(np.bincount(cells[order]))
        self._block.load(rows, order)
        for index in range(len(self._statistics.design.basis.bandwidths)):
            features = self._block.features(index)
            for cell in np.unique(cells[order]):
                start = ends[cell - 1] if cell else 0
                self._add_products(features[start : ends[cell]], index, int(cell))

    def _add_products(self, features: NDArray, index: int, cell: int) -> None:
        fold, group = divmod(cell, self._statistics.design.n_groups)
        np.matmul(features.T, features, out=self._product)  # one operand and its transpose: numpy halves the work
        np.take(self._product.reshape(-1), self._triangle, out=self._packed, mode="clip")
        total = self._statistics.sums[fold, index, group]
        np.add(total, self._packed, out=total)


def statistics_of_rows(design: Design, X: Any, y: Any, name: str, start: int) -> PNUStatistics:
    """The statistics of rows in memory."""
    accumulator = Accumulator(design)
    for block in blocks_of([ArrayBatch.of(X, y)], design, name, start):
        accumulator.add(block.rows, block.codes, block.folds)
    return accumulator.result()
