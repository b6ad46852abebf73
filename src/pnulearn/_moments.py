"""Sufficient statistics of the squared loss: sums over rows from which a model is fitted."""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from pnulearn._arrays import AnyArray
from pnulearn._files.archive import dump_archive, read_archive, write_archive
from pnulearn._files.outputs import STATISTICS, Output, check_outputs
from pnulearn._files.refusals import ModelFileError, refuse_damage
from pnulearn._kernels.basis import Basis, Kernel
from pnulearn._kernels.centers import ViewsBasis
from pnulearn._kernels.ranks import NormalRanks
from pnulearn._kernels.registry import KERNELS
from pnulearn._machine import free_memory
from pnulearn._problem.inputs import refuse_strange
from pnulearn._problem.labels import UNLABELED, decode_labels, is_missing
from pnulearn._problem.row_keys import scramble
from pnulearn._solvers.moments import Moments

# Symmetric matrices, packed as upper triangles, row by row.


@lru_cache(maxsize=4)
def triangle(size: int) -> AnyArray:
    """Positions of the upper triangle, row by row, in a flattened matrix of that size."""
    return np.flatnonzero(np.triu(np.ones((size, size), dtype=bool)))


def unpack(packed: AnyArray) -> AnyArray:
    """The symmetric matrix whose upper triangle was packed.

    >>> unpack(np.array([1.0, 2.0, 3.0])).tolist()
    [[1.0, 2.0], [2.0, 3.0]]
    """
    size = int((np.sqrt(8 * packed.shape[-1] + 1) - 1) / 2)
    full = np.zeros((size, size))
    full.reshape(-1)[triangle(size)] = packed
    return full + np.triu(full, 1).T


# A random sample of the rows, small enough to keep in memory.

MOST_UNLABELED = 10_000
MOST_LABELED = 2_000  # per class


@dataclass(frozen=True)
class RowSample:
    """Rows with class codes and random keys; the rows with the smallest keys are a random sample of all rows."""

    X: AnyArray
    codes: AnyArray
    keys: AnyArray
    names: AnyArray  # file of each row
    places: AnyArray  # its number in the file; both determine its fold

    @classmethod
    def merge(cls, samples: Iterable[RowSample]) -> RowSample:
        """All rows, reduced to at most MOST_UNLABELED unlabelled ones and MOST_LABELED of each class."""
        whole = cls(*(np.concatenate(parts) for parts in zip(*(vars(one).values() for one in samples), strict=True)))
        return whole.take(thin(whole.keys, whole.codes))

    def take(self, rows: AnyArray) -> RowSample:
        return RowSample(*(part[rows] for part in vars(self).values()))

    def folds(self, design: Design) -> AnyArray:
        """The folds of these rows in a design."""
        pairs = zip(self.names, self.places, strict=True)
        return np.array([design.folds(str(name), int(place), 1)[0] for name, place in pairs], dtype=int)


def thin(keys: AnyArray, codes: AnyArray) -> AnyArray:
    """Rows with the smallest keys, smallest first: at most MOST_UNLABELED of code −1 and MOST_LABELED of every other.

    >>> thin(np.array([3, 1, 2]), np.array([0, -1, 1])).tolist()
    [1, 2, 0]
    """
    order = np.argsort(keys, kind="stable")
    rank = np.empty(len(order), dtype=int)
    for group in np.unique(codes):
        members = order[codes[order] == group]
        rank[members] = np.arange(len(members))
    kept: AnyArray = order[rank[order] < np.where(codes[order] < 0, MOST_UNLABELED, MOST_LABELED)]
    return kept


# The design of statistics: columns, classes, basis functions, folds and precision.

DTYPES = ("float32", "float64")


@dataclass(frozen=True, eq=False)
class Design:
    """The settings that statistics must share to be added up.

    Parameters
    ----------
    columns : sequence of str, optional
        Names of the feature columns; None for plain arrays.
    classes : array
        Classes in code order, (negative, positive) if there are two.
    basis : Kernel
        The basis functions, with all candidate bandwidths.
    n_folds : int
        Number of folds.
    seed : int
        Seed of the folds. The fold of a row is a hash of the seed, the name of its file and its number there.
    dtype : str
        "float32" or "float64", the precision of the features; sums are always float64.
    unlabeled : object, optional
        The value in y that marks unlabelled rows; missing values always do.
    """

    columns: tuple[str, ...] | None
    classes: AnyArray
    basis: Kernel | ViewsBasis
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
        """Number of groups of rows: one per class, and the unlabelled rows."""
        return len(self.classes) + 1

    @property
    def origin(self) -> AnyArray:
        """A point near the centre of the data, subtracted from every row in float64 to keep precision."""
        return self.basis.origin

    def folds(self, name: str, start: int, n_rows: int) -> AnyArray:
        """Fold numbers of `n_rows` consecutive rows of the file `name`, starting at row number `start`.

        Parameters
        ----------
        name : str
            Name of the file or batch. The folds of its rows depend on it.
        start : int
            Number of the first row in its file.
        n_rows : int
            Number of rows.
        """
        return (position_keys(name, self.seed, start, n_rows) % np.uint64(self.n_folds)).astype(np.intp)

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the design. Statistics can be added if their fingerprints are equal."""
        facts = [self.columns, self.classes.tolist(), type(self.basis).__name__, self.n_folds, self.seed, self.dtype]
        digest = hashlib.sha256(json.dumps(facts, default=str).encode())
        for array in self.basis.numbers:
            digest.update(np.ascontiguousarray(array, dtype=np.float64).tobytes())
        return digest.hexdigest()[:16]

    def differences(self, other: Design) -> list[str]:
        """The differences between two designs, as text.

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
    """A 64-bit hash per row of the file's name, the row's number in it and a seed."""
    digest = hashlib.sha256(f"{seed}/{name}".encode()).digest()
    offset = np.frombuffer(digest[:8], dtype="<u8")[0]
    rows = np.arange(start, start + n_rows, dtype=np.uint64)
    return scramble(scramble(rows + np.uint64(1)) ^ offset)


# Batches of rows, and their conversion to blocks of numbers and class codes.

BLOCK_ROWS = 8192  # larger blocks do not fit into the cache and are slower
IMPUTE = "Drop or impute such rows first, e.g. with sklearn.impute.SimpleImputer."


class Batch(Protocol):
    """Some consecutive rows."""

    def __len__(self) -> int: ...

    def part(self, start: int, stop: int) -> Batch:
        """Rows start to stop of the batch."""

    def fill(self, out: AnyArray, columns: tuple[str, ...] | None, origin: AnyArray) -> None:
        """Write the columns minus the origin to `out`, shape (d, n)."""

    def label_counts(self) -> dict[Any, int]:
        """Number of rows with each label; the key None is for missing labels."""

    def codes(self, classes: AnyArray, unlabeled: Any) -> AnyArray:
        """Class codes, −1 for unlabelled rows."""


@dataclass(frozen=True)
class Block:
    """At most BLOCK_ROWS rows: features minus the origin (d, n), class codes, folds, and the number of the first row.

    `rows` is a buffer that the next block overwrites.
    """

    rows: AnyArray
    codes: AnyArray
    folds: AnyArray
    start: int


@dataclass(frozen=True)
class ArrayBatch:
    """Rows of an array X (n, d), for instance a memory map, with labels y, or None if labels are not needed."""

    X: AnyArray
    y: Any

    @classmethod
    def of(cls, X: Any, y: Any) -> ArrayBatch:
        """Validate X and y."""
        if sparse.issparse(X):
            raise TypeError("Sparse rows cannot be read in one pass. Pass dense blocks, or use PNUClassifier.fit.")
        X = np.asanyarray(refuse_strange(X))
        X = X.astype(float) if X.dtype.kind == "O" else X  # pandas extension types
        if X.ndim != 2 or X.shape[1] == 0:
            raise ValueError(f"Each batch of X needs shape (n_rows, n_columns), got {X.shape}.")
        if X.dtype.kind not in "biuf":
            raise ValueError(f"X must contain real numbers, got {X.dtype}.")
        if isinstance(y, np.ma.MaskedArray):  # masked values are missing
            y = np.array([None if label is np.ma.masked else label for label in y] + [None], dtype=object)[:-1]
        if y is not None and np.ndim(y) != 1:
            raise ValueError(f"y should be a 1d array with one label per row, got shape {np.shape(y)}.")
        if y is not None and not isinstance(y, np.ndarray):
            y = np.array(y.to_list() if hasattr(y, "to_list") else list(y), dtype=object)
        if y is not None and len(y) != len(X):
            raise ValueError(f"X has {len(X)} rows and y has {len(y)}. The numbers must agree.")
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
            raise ValueError("y is None. Pass pairs (X, y) in which y has a label or a missing value for every row.")
        return dict(Counter(None if is_missing(label) else label for label in list(self.y)))

    def codes(self, classes: AnyArray, unlabeled: Any) -> AnyArray:
        return decode_labels(self.y, unlabeled, classes=classes).codes


def blocks_of(
    batches: Iterable[Batch], design: Design, name: str, start: int, *, where: str = "X", labels: bool = True
) -> Iterator[Block]:
    """Split batches into blocks. The rows start at number `start` of the file `name`; `where` is used in messages."""
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
    """Raise a ValueError for values that are not finite. A sum of squares detects them before they are located."""
    with np.errstate(over="ignore", invalid="ignore"):
        bad = np.flatnonzero(~np.isfinite(np.einsum("dn,dn->n", rows, rows)))
    if len(bad) == 0:
        return
    row = int(bad[0])
    column = int(np.argmax(np.nan_to_num(np.abs(rows[:, row]), nan=np.inf)))
    title = repr(design.columns[column]) if design.columns else str(column)
    found, advice = "missing value", IMPUTE
    if not np.isnan(rows[column, row]):
        found = f"number that is infinite or too large for {design.dtype}"
        advice = "Rescale the column" + (", or pass dtype='float64'." if design.dtype == "float32" else ".")
    raise ValueError(f"Row {start + row}, column {title} of {where} holds a {found}. {advice}")


# Sums of outer products over blocks of rows.


def zero_sums(design: Design) -> AnyArray:
    """Zeros of the shape of the sums: (folds, bandwidths, groups, packed triangle)."""
    size = design.basis.size + 1
    shape = (design.n_folds, len(design.basis.bandwidths), design.n_groups, size * (size + 1) // 2)
    _refuse_if_too_large(shape, design.basis)
    return np.zeros(shape)


class Accumulator:
    """Adds up blocks. Products of a few thousand float32 rows are accurate enough; they are summed in float64.

    A block has few labelled rows, so they are collected until they fill a block of their own.
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
        """Add the rows of a block."""
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
        """The sums over all rows so far, in the format of `PNUStatistics`."""
        self._flush()
        return self._sums

    def _flush(self) -> None:
        n, self._n_waiting = self._n_waiting, 0
        self._absorb(self._waiting[:, :n], self._waiting_cells[:n], np.arange(n))

    def _absorb(self, rows: AnyArray, cells: AnyArray, chosen: AnyArray) -> None:
        """Add the chosen rows, sorted by fold and group, so that each cell is one slice of the features."""
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
        np.matmul(features.T, features, out=self._product)  # numpy computes AᵀA with half the work
        np.take(self._product.reshape(-1), self._triangle, out=self._packed, mode="clip")
        total = self._sums[fold, index, group]
        np.add(total, self._packed, out=total)


def _refuse_if_too_large(shape: tuple[int, ...], basis: Basis) -> None:
    """Raise a MemoryError if two copies of the statistics, one part and the total, do not fit in memory."""
    needed, memory = 2 * 8 * math.prod(shape), free_memory()
    if needed > 0.8 * memory:
        folds, bandwidths, groups, _ = shape
        raise MemoryError(
            f"Statistics of {basis.size} basis functions, {bandwidths} bandwidths, {folds} folds and {groups} groups "
            f"of rows need about {needed / 2**30:.1f} GiB and {memory / 2**30:.1f} GiB are free. {basis.remedy}"
            f"{', or fix the bandwidth' if basis.has_bandwidth else ''}."
        )


# Statistics that can be collected on different machines and added up.

KIND = "PNUStatistics"
TYPES: tuple[type, ...] = (Design, *KERNELS.values(), ViewsBasis, NormalRanks)


@dataclass(frozen=True, eq=False)
class PNUStatistics:
    """Sufficient statistics Σ φφ′ with φ = (basis functions, 1), per fold, bandwidth and group (the classes, then U).

    Statistics of the same design can be added and subtracted; different designs raise a ValueError.

    Parameters
    ----------
    design : Design
        The settings that the statistics share.
    sums : array (folds, bandwidths, groups, (b + 1)(b + 2) / 2)
        Upper triangles, row by row.

    Examples
    --------
    >>> from pnulearn._kernels.linear import LinearBasis
    >>> design = Design(None, np.array([0, 1]), LinearBasis(np.zeros(1)), n_folds=2)
    >>> monday = PNUStatistics.of(design, [[1.0], [2.0], [3.0]], [0, 1, None], name="monday")
    >>> tuesday = PNUStatistics.of(design, [[4.0]], [1], name="tuesday")
    >>> (monday + tuesday).counts.tolist(), (monday + tuesday - monday).counts.tolist()
    ([1, 2, 1], [0, 1, 0])
    """

    design: Design
    sums: AnyArray

    @classmethod
    def zero(cls, design: Design) -> PNUStatistics:
        """The statistics of no rows.

        Parameters
        ----------
        design : Design
            The settings that the statistics share.
        """
        return cls(design, zero_sums(design))

    @classmethod
    def of(cls, design: Design, X: Any, y: Any, *, name: str = "", start: int = 0) -> PNUStatistics:
        """The statistics of rows in memory. The folds of the rows depend on `name` and `start`.

        Parameters
        ----------
        design : Design
            The settings that the statistics share.
        X : array or data frame (rows, columns)
            Features.
        y : array (rows,)
            Labels; missing values and `unlabeled` mark unlabelled rows.
        name : str
            Name of the file or batch. The folds of its rows depend on it.
        start : int
            Number of the first row in its file.
        """
        accumulator = Accumulator(design)
        for block in blocks_of([ArrayBatch.of(X, y)], design, name, start):
            accumulator.add(block)
        return cls(design, accumulator.total())

    @property
    def counts(self) -> AnyArray:
        """Numbers of rows of each class and, last, of unlabelled rows."""
        return np.rint(self.sums[:, 0, :, -1].sum(axis=0)).astype(np.int64)

    @property
    def n_rows(self) -> int:
        return int(self.counts.sum())

    @property
    def fingerprint(self) -> str:
        """A hash of the design. Statistics with the same fingerprint can be added."""
        return self.design.fingerprint

    def moments(self, group: int, bandwidth: int = 0, fold: int | None = None) -> Moments:
        """Count, sum and sum of outer products of the features of a group, in one fold or in all.

        Parameters
        ----------
        group : int
            Class code, or the number of classes for U.
        bandwidth : int
            Number of the bandwidth.
        fold : int, optional
            The fold; all of them by default.
        """
        part = self.sums[:, bandwidth, group].sum(axis=0) if fold is None else self.sums[fold, bandwidth, group]
        full = unpack(part)
        return Moments(float(full[-1, -1]), full[:-1, -1], full[:-1, :-1])

    def __add__(self, other: PNUStatistics) -> PNUStatistics:
        self._refuse_foreign(other)
        return PNUStatistics(self.design, self.sums + other.sums)

    def __iadd__(self, other: PNUStatistics) -> PNUStatistics:
        self._refuse_foreign(other)
        np.add(self.sums, other.sums, out=self.sums)
        return self

    def __sub__(self, other: PNUStatistics) -> PNUStatistics:
        """Remove rows that were added before."""
        self._refuse_foreign(other)
        sums = self.sums - other.sums
        if (sums[..., -1] < -0.5).any():
            raise ValueError(
                "Cannot subtract these statistics: they contain rows that were not added (a count would fall below "
                "zero). Subtract only rows that were added, with the same file name."
            )
        sums[sums[..., -1] < 0.5] = 0.0  # remove rounding errors of groups that are empty now
        return PNUStatistics(self.design, sums)

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write to a file. An existing file is kept until the new one is complete.

        Parameters
        ----------
        path : str or Path
            The file. Existing statistics are replaced.
        overwrite : bool
            Replace any other existing file, too.
        """
        check_outputs(Output(path, STATISTICS), overwrite=overwrite)
        write_archive(path, KIND, self._content(), compress=False)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> PNUStatistics:
        """Read statistics that were written by `save`.

        Parameters
        ----------
        path : str or Path
            The file.
        """
        return cls._from_archive(path)

    def to_bytes(self) -> bytes:
        """The content of the file that `save` writes, as bytes."""
        file = io.BytesIO()
        dump_archive(file, KIND, self._content(), compress=False)
        return file.getvalue()

    @classmethod
    def from_bytes(cls, data: bytes) -> PNUStatistics:
        """Read statistics from the result of `to_bytes`.

        Parameters
        ----------
        data : bytes
            Result of `to_bytes`.
        """
        return cls._from_archive(io.BytesIO(data))

    @classmethod
    def _from_archive(cls, source: Any) -> PNUStatistics:
        kind, content = read_archive(source, TYPES)
        if kind != KIND:
            raise ModelFileError(f"This file contains a {kind}, not statistics. To read a model, use pnulearn.load.")
        with refuse_damage(source):
            statistics = cls(content["design"], content["sums"])
            if statistics.fingerprint != content["fingerprint"]:
                raise ModelFileError("The statistics do not match their fingerprint: the file was changed or damaged.")
            statistics.refuse_broken()
        return statistics

    def refuse_broken(self) -> None:
        """Raise a ValueError if the sums are not finite or do not have the shape of the design."""
        if self.sums.shape != zero_sums(self.design).shape or not np.isfinite(self.sums).all():
            raise ValueError("its sums are not finite or do not have the shape of the design")

    def _content(self) -> dict[str, Any]:
        return {"fingerprint": self.fingerprint, "design": self.design, "sums": self.sums}

    def _refuse_foreign(self, other: PNUStatistics) -> None:
        if not isinstance(other, PNUStatistics):
            raise TypeError(f"Statistics can only be combined with statistics, got {type(other).__name__}.")
        if self.fingerprint != other.fingerprint:
            words = "; ".join(self.design.differences(other.design))
            raise ValueError(
                f"These statistics cannot be combined. They differ in: {words}. Collect both with the same Design."
            )
