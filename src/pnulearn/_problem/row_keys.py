"""A pseudo-random row order derived from row contents, and detection of equal rows.

Values of a column that differ only by rounding count as equal, as do rows that no kernel can distinguish. Every column
is standardised and divided into bins, and rows are ordered by a hash of their bins. Rows that share all bins are hashed
by finer bins, and finally by their values. Rounding errors, single precision, or another unit or origin therefore
change the position of a row only if one of its values lies that close to the edge of a bin. Hashes use integer
arithmetic, which does not round, so they do not depend on the position of a row, on the number of threads, or on
whether X is dense or sparse.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from pnulearn._arrays import AnyArray

CELLS_PER_DEVIATION = (1, 2**4, 2**8, 2**12)
RESOLVED = 2**-20  # of a column's largest value; smaller deviations would be lost in single precision
FARTHEST = 2.0**62  # limit of bin numbers, so that they fit into 64 bits; rows of tiny weight may lie far outside
TOLD_APART = 2**-40  # of the largest deviation of a column; columns with a smaller one count as constant
SAME_OF_SPREAD = 2**-30  # of the spread of a column; smaller differences change a Gaussian kernel by less than rounding
SPREAD_OF_OUTER = 2**-50  # of the spread of the outer values; a smaller spread is rounding of equal values
SAME_OF_VALUE = 2**-40  # of the value itself, for columns far from zero
LEAST_GAP = 1e-290  # for all columns; slopes between closer values overflow
MERGED_BITS = 40  # precision of merged values
COLUMN_CHUNK = 64
MOST_CELLS, LABELS_PER_CELL = 20, 5  # distinct rows, and labels for each of them, at which equal rows are no copies


def row_keys(X: Any, seed: int, weight: AnyArray | None = None) -> AnyArray:
    """A number per row, the same for rows that are equal up to rounding and distinct otherwise.

    Sorting by it gives a random order of distinct rows. A row of weight two is equivalent to two copies.

    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> bool(np.all(row_keys(X, 0) == row_keys((8 * X + 1).astype(np.float32), 0)))
    True
    """
    X = sparse.csr_matrix(X, dtype=np.float64) if sparse.issparse(X) else np.asarray(X, dtype=np.float64)
    rng = np.random.default_rng(seed)
    exact, first, index = np.unique(_hash_values(X, rng), return_index=True, return_inverse=True)
    X, mass = X[first], np.bincount(index, weights=weight, minlength=len(first))
    hashes = _hash_cells(X, _Scales.of(X, mass / mass.sum()), rng)
    keys = np.empty(len(first), dtype=np.intp)
    keys[np.lexsort((exact, hashes))] = np.arange(len(first))
    return keys[index]


def _hash_cells(X: Any, scales: _Scales, rng: np.random.Generator) -> AnyArray:
    """A hash of the bins of every row, at the coarsest level that is unique to the row, or at the finest level."""
    hashes, left = np.zeros(X.shape[0], dtype=np.uint64), np.arange(X.shape[0])
    for cells in CELLS_PER_DEVIATION:
        hashes[left] = _hash_rows(X[left], scales.cells(cells, rng), rng)
        _, place, counts = np.unique(hashes[left], return_inverse=True, return_counts=True)
        left = left[counts[place] > 1]
    return hashes


@dataclass(frozen=True)
class _Scales:
    """Mean and standard deviation of every column; the latter is infinite for constant columns (up to rounding)."""

    mean: AnyArray
    deviation: AnyArray

    @classmethod
    def of(cls, X: Any, share: AnyArray) -> _Scales:
        """Computed in units near each column's largest value, so that squares neither overflow nor underflow."""
        largest = _largest(X) if X.shape[0] else np.zeros(X.shape[1])
        unit = np.exp2(np.frexp(largest)[1])
        mean, deviation = _moments(X @ sparse.diags(1 / unit) if sparse.issparse(X) else X / unit, share)
        wide = deviation * unit
        varies = (deviation > RESOLVED * largest / unit) & (wide > TOLD_APART * wide.max(initial=0))
        return cls(mean * unit, np.where(varies, wide, np.inf))

    def cells(self, per_deviation: int, rng: np.random.Generator) -> Callable[[AnyArray, AnyArray], AnyArray]:
        """A function that numbers the bins. Edges are shifted at random, so that common values are not on one."""
        shift = rng.uniform(size=len(self.mean))

        def number(values: AnyArray, columns: AnyArray) -> AnyArray:
            place = (values - self.mean[columns]) / self.deviation[columns] * per_deviation + shift[columns]
            return scramble(np.floor(np.clip(place, -FARTHEST, FARTHEST)).astype(np.int64).view(np.uint64))

        return number


def _largest(X: Any) -> AnyArray:
    found = abs(X).max(axis=0)
    return found.toarray().ravel() if sparse.issparse(found) else found


def _moments(X: Any, share: AnyArray) -> tuple[AnyArray, AnyArray]:
    mean = share @ X
    if not sparse.issparse(X):
        return mean, np.sqrt(share @ np.square(X - mean))
    moved = sparse.csr_matrix((np.square(X.data - mean[X.indices]), X.indices, X.indptr), X.shape)
    present = sparse.csr_matrix((np.ones(len(X.data)), X.indices, X.indptr), X.shape)
    return mean, np.sqrt(share @ moved + np.clip(1 - share @ present, 0, None) * mean**2)


def _hash_rows(X: Any, number: Callable[[AnyArray, AnyArray], AnyArray], rng: np.random.Generator) -> AnyArray:
    """A 64-bit hash of the numbers of a row's values; values that a sparse row does not store are zeros."""
    columns = np.arange(X.shape[1])
    multipliers = rng.integers(2**63, size=X.shape[1]).astype(np.uint64) * 2 + 1
    if not sparse.issparse(X):
        return scramble((number(X, columns) * multipliers).sum(axis=1, dtype=np.uint64))
    absent = number(np.zeros(X.shape[1]), columns)
    terms = (number(X.data, X.indices) - absent[X.indices]) * multipliers[X.indices]
    total = np.concatenate([[np.uint64(0)], np.cumsum(terms, dtype=np.uint64)])
    base = (absent * multipliers).sum(dtype=np.uint64)
    return scramble(base + total[X.indptr[1:]] - total[X.indptr[:-1]])


def starts_value(ordered: AnyArray) -> AnyArray:
    """Whether each entry of sorted columns (n, columns) differs from the previous one by more than rounding.

    The tolerance is relative to the spread of the column: the distance of its quartiles from the median, to be robust
    to outliers. If more than half of the values are equal, the 5 % quantiles are used, and finally the range.

    >>> starts_value(np.array([[0.0], [1e-14], [1.0], [1e12]])).ravel().tolist()
    [True, False, True, True]
    """
    n = len(ordered)
    middle = ordered[n // 2]
    low, high = ordered[[[n // 4, n // 20, 0], [n - 1 - n // 4, n - 1 - n // 20, n - 1]]]
    quarters, twentieths, ends = np.maximum(high - middle, middle - low)
    outer = np.where(twentieths > 0, twentieths, ends)
    spread = np.where(quarters > SPREAD_OF_OUTER * outer, quarters, outer)
    size = np.maximum(np.abs(ordered[1:]), np.abs(ordered[:-1]))
    new = np.ones(ordered.shape, dtype=bool)
    new[1:] = np.diff(ordered, axis=0) > SAME_OF_SPREAD * spread + SAME_OF_VALUE * size + LEAST_GAP
    return new


def merge_values(X: AnyArray) -> AnyArray:
    """X with one rounded value for all entries of a column that are equal up to rounding.

    Trees can split between any two distinct values, so they are sensitive to noise in the last digit.

    >>> merge_values(np.array([[0.1 + 0.2], [0.3], [1.0]])).ravel().round(9).tolist()
    [0.3, 0.3, 1.0]
    """
    merged = np.empty(X.shape)
    for start in range(0, X.shape[1], COLUMN_CHUNK):
        chunk = slice(start, start + COLUMN_CHUNK)
        order = np.argsort(X[:, chunk], axis=0, kind="stable")
        ordered = np.take_along_axis(X[:, chunk], order, axis=0)
        first = np.maximum.accumulate(np.where(starts_value(ordered), np.arange(len(X))[:, None], 0), axis=0)
        mantissa, exponent = np.frexp(np.take_along_axis(ordered, first, axis=0))
        value = np.ldexp(np.round(np.ldexp(mantissa, MERGED_BITS)), exponent - MERGED_BITS)
        np.put_along_axis(merged[:, chunk], order, value, axis=0)
    return merged


def _hash_values(X: Any, rng: np.random.Generator) -> AnyArray:
    """A hash of every row, the same for rows whose values differ only by rounding."""
    if sparse.issparse(X):
        return _hash_rows(_number_sparse_values(X), _bits, rng)
    numbers = np.empty(X.shape)
    for start in range(0, X.shape[1], COLUMN_CHUNK):
        chunk = slice(start, start + COLUMN_CHUNK)
        numbers[:, chunk] = _number_values(X[:, chunk])
    return _hash_rows(numbers, _bits, rng)


def _number_values(X: AnyArray) -> AnyArray:
    """Every value as its rank among the distinct values of its column, counted from 0 for the value zero."""
    columns = np.vstack([X, np.zeros(X.shape[1])])
    order = np.argsort(columns, axis=0, kind="stable")
    numbers = np.empty(columns.shape)
    ordered = np.take_along_axis(columns, order, axis=0)
    np.put_along_axis(numbers, order, np.cumsum(starts_value(ordered), axis=0, dtype=float), axis=0)
    return numbers[:-1] - numbers[-1]


def _number_sparse_values(X: Any) -> Any:
    """The same for the stored values of a sparse matrix, column by column."""
    columns = sparse.csc_matrix(X)
    numbers = columns.copy()
    for j in range(columns.shape[1]):
        own = slice(columns.indptr[j], columns.indptr[j + 1])
        numbers.data[own] = _number_values(columns.data[own, None])[:, 0]
    return sparse.csr_matrix(numbers)


def _bits(values: AnyArray, columns: AnyArray) -> AnyArray:
    """Floats hashed to integers; 0.0 and −0.0 give 0."""
    return scramble(np.ascontiguousarray(values + 0.0).view(np.uint64))


def scramble(x: AnyArray) -> AnyArray:
    """The finaliser of MurmurHash3: every input bit reaches every output bit, and 0 stays 0."""
    x = (x ^ (x >> np.uint64(33))) * np.uint64(0xFF51AFD7ED558CCD)
    x = (x ^ (x >> np.uint64(33))) * np.uint64(0xC4CEB9FE1A85EC53)
    return x ^ (x >> np.uint64(33))


def fold_keys(keys: AnyArray, codes: AnyArray, weight: AnyArray) -> AnyArray:
    """Keys of rows that validation keeps together: equal rows, as copies of one, unless there are few distinct rows.

    In a table of few distinct rows (one verdict, a few categories) equal rows are different objects. If all of them
    were held out at once, no model could be validated on values that it has seen. Equal rows are then numbered by class
    and weight, so that the order of rows has no influence; a row of weight two is not exactly two rows any more.

    >>> fold_keys(np.array([5, 7, 5]), np.array([1, 0, -1]), np.ones(3)).tolist()
    [5, 7, 5]
    >>> len(set(fold_keys(np.repeat([5, 7], 10), np.tile([0, 1], 10), np.ones(20)).tolist()))
    20
    """
    n_distinct = len(np.unique(keys))
    if not 1 < n_distinct <= min(MOST_CELLS, int(np.sum(codes >= 0)) // LABELS_PER_CELL):
        return keys
    order = np.lexsort((weight, codes, keys))
    first = np.searchsorted(keys[order], keys[order])  # of the rows that are equal to each
    number = np.arange(len(keys)) - first
    apart = np.empty(len(keys), dtype=np.uint64)
    apart[order] = scramble(scramble(number.astype(np.uint64) + np.uint64(1)) + keys[order].astype(np.uint64))
    return apart
