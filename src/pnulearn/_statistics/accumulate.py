"""The inner loop of the pass: blocks of rows go in, sums of outer products come out."""

from __future__ import annotations

import math

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._basis.basis import Basis
from pnulearn._machine import free_memory
from pnulearn._statistics.blocks import BLOCK_ROWS, Block
from pnulearn._statistics.design import Design
from pnulearn._statistics.packing import triangle


def zero_sums(design: Design) -> AnyArray:
    """Sums over no rows, shape (folds, bandwidths, groups, packed triangle)."""
    size = design.basis.size + 1
    shape = (design.n_folds, len(design.basis.bandwidths), design.n_groups, size * (size + 1) // 2)
    _refuse_if_too_large(shape, design.basis)
    return np.zeros(shape)


class Accumulator:
    """Adds up blocks. Products of a few thousand float32 rows are exact enough; they are summed in float64.

    Labelled rows are few in each block, so they wait until a whole block of them has come together.
    """

    def __init__(self, design: Design):
        self._design, self._sums = design, zero_sums(design)
        self._block = design.basis.block_features(BLOCK_ROWS, design.dtype)
        size = design.basis.size + 1
        self._product = np.empty((size, size), design.dtype)
        self._triangle = triangle(size)
        self._packed = np.empty(len(self._triangle), design.dtype)
        self._waiting = np.empty((design.n_features, BLOCK_ROWS), design.dtype)
        self._waiting_cells = np.empty(BLOCK_ROWS, dtype=np.intp)
        self._n_waiting = 0

    def add(self, block: Block) -> None:
        """Count the rows of a block in."""
        rows, codes, groups = block.rows, block.codes, self._design.n_groups
        cells = block.folds * groups + np.where(codes < 0, groups - 1, codes)
        labeled = np.flatnonzero(codes >= 0)
        if self._n_waiting + len(labeled) > BLOCK_ROWS:
            self._flush()
        place = slice(self._n_waiting, self._n_waiting + len(labeled))
        self._waiting[:, place], self._waiting_cells[place] = rows[:, labeled], cells[labeled]
        self._n_waiting += len(labeled)
        self._absorb(rows, cells, np.flatnonzero(codes < 0))

    def total(self) -> AnyArray:
        """The sums over all rows so far, as `PNUStatistics` holds them."""
        self._flush()
        return self._sums

    def _flush(self) -> None:
        n, self._n_waiting = self._n_waiting, 0
        self._absorb(self._waiting[:, :n], self._waiting_cells[:n], np.arange(n))

    def _absorb(self, rows: AnyArray, cells: AnyArray, chosen: AnyArray) -> None:
        """Sort rows by fold and group, so that each cell's rows are one slice of the features."""
        if len(chosen) == 0:
            return
        order = chosen[np.argsort(cells[chosen], kind="stable")]
        ends = np.cumsum(np.bincount(cells[order]))
        self._block.load(rows, order)
        for index in range(len(self._design.basis.bandwidths)):
            features = self._block.features(index)
            for cell in np.unique(cells[order]):
                start = ends[cell - 1] if cell else 0
                self._add_products(features[start : ends[cell]], index, int(cell))

    def _add_products(self, features: AnyArray, index: int, cell: int) -> None:
        fold, group = divmod(cell, self._design.n_groups)
        np.matmul(features.T, features, out=self._product)  # one operand and its transpose: numpy halves the work
        np.take(self._product.reshape(-1), self._triangle, out=self._packed, mode="clip")
        total = self._sums[fold, index, group]
        np.add(total, self._packed, out=total)


def _refuse_if_too_large(shape: tuple[int, ...], basis: Basis) -> None:
    """Stop before memory is exhausted: at the least one part's statistics and the total exist at the same time."""
    needed, memory = 2 * 8 * math.prod(shape), free_memory()
    if needed > 0.8 * memory:
        folds, bandwidths, groups, _ = shape
        raise MemoryError(
            f"Statistics of {basis.size} basis functions, {bandwidths} bandwidths, {folds} folds and {groups} groups "
            f"of rows need about {needed / 2**30:.1f} GiB and {memory / 2**30:.1f} GiB are free. {basis.remedy}"
            f"{', or fix the bandwidth' if basis.has_bandwidth else ''}."
        )
