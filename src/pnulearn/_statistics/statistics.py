"""Sums over rows from which every squared-loss model follows: they are collected anywhere and added up."""

from __future__ import annotations

import io
import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._basis.kernels import KERNELS
from pnulearn._files.archive import dump_archive, read_archive, write_archive
from pnulearn._files.errors import ModelFileError, refuse_damage
from pnulearn._files.outputs import STATISTICS, Output, check_outputs
from pnulearn._solvers.moments import Moments
from pnulearn._statistics.accumulate import Accumulator, zero_sums
from pnulearn._statistics.blocks import ArrayBatch, blocks_of
from pnulearn._statistics.design import Design
from pnulearn._statistics.packing import unpack

KIND = "PNUStatistics"
TYPES: tuple[type, ...] = (Design, *KERNELS.values())


@dataclass(frozen=True, eq=False)
class PNUStatistics:
    """Σ φφ′ with φ = (basis functions, 1), per fold, bandwidth and group of rows (the classes, then U).

    `sums` has shape (folds, bandwidths, groups, (b + 1)(b + 2) / 2): upper triangles, row by row. Statistics of the
    same design add and subtract; those of another are refused.

    Parameters
    ----------
    design : Design
        What all statistics that are added up agree on.
    sums : array (folds, bandwidths, groups, (b + 1)(b + 2) / 2)
        Upper triangles, row by row.

    Examples
    --------
    >>> from pnulearn._basis.linear import LinearBasis
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
            What all statistics that are added up agree on.
        """
        return cls(design, zero_sums(design))

    @classmethod
    def of(cls, design: Design, X: Any, y: Any, *, name: str = "", start: int = 0) -> PNUStatistics:
        """The statistics of rows in memory; `name` and `start` say where they come from, which decides their folds.

        Parameters
        ----------
        design : Design
            What all statistics that are added up agree on.
        X : array, sparse matrix or data frame (rows, columns)
            Features.
        y : array (rows,)
            Labels; missing values and `unlabeled` mark unlabelled rows.
        name : str
            Name of the file or batch, which decides the folds of its rows.
        start : int
            Number of the first row in its file.
        """
        accumulator = Accumulator(design)
        for block in blocks_of([ArrayBatch.of(X, y)], design, name, start):
            accumulator.add(block)
        return cls(design, accumulator.total())

    @property
    def counts(self) -> AnyArray:
        """Rows of each class and, last, unlabelled rows."""
        return np.rint(self.sums[:, 0, :, -1].sum(axis=0)).astype(np.int64)

    @property
    def n_rows(self) -> int:
        return int(self.counts.sum())

    @property
    def fingerprint(self) -> str:
        """Statistics with the same fingerprint may be added."""
        return self.design.fingerprint

    def moments(self, group: int, bandwidth: int = 0, fold: int | None = None) -> Moments:
        """Count, sum and sum of outer products of a group's features, in one fold or in all.

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
        """Forget rows that were added before."""
        self._refuse_foreign(other)
        sums = self.sums - other.sums
        if (sums[..., -1] < -0.5).any():
            raise ValueError(
                "These statistics hold rows that the others do not (a count would fall below zero). "
                "Subtract only what was added, under the same file name."
            )
        sums[sums[..., -1] < 0.5] = 0.0  # nothing is left of this group, so neither may rounding be
        return PNUStatistics(self.design, sums)

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write to a file, replacing an older one only when complete.

        Parameters
        ----------
        path : str or Path
            The file. One that holds statistics is replaced.
        overwrite : bool
            Replace a file that holds anything else, too.
        """
        check_outputs(Output(path, STATISTICS), overwrite=overwrite)
        write_archive(path, KIND, self._content(), compress=False)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> PNUStatistics:
        """Statistics that were written by `save`.

        Parameters
        ----------
        path : str or Path
            The file.
        """
        return cls._from_archive(path)

    def to_bytes(self) -> bytes:
        """The content of the file that `save` writes, for sending elsewhere."""
        file = io.BytesIO()
        dump_archive(file, KIND, self._content(), compress=False)
        return file.getvalue()

    @classmethod
    def from_bytes(cls, data: bytes) -> PNUStatistics:
        """Statistics that were packed by `to_bytes`.

        Parameters
        ----------
        data : bytes
            What `to_bytes` returned.
        """
        return cls._from_archive(io.BytesIO(data))

    @classmethod
    def _from_archive(cls, source: Any) -> PNUStatistics:
        kind, content = read_archive(source, TYPES)
        if kind != KIND:
            raise ModelFileError(f"This file holds a {kind}, not statistics. To read a model, use pnulearn.load.")
        with refuse_damage(source):
            statistics = cls(content["design"], content["sums"])
            if statistics.fingerprint != content["fingerprint"]:
                raise ModelFileError("The statistics do not match their fingerprint: the file was changed or damaged.")
            statistics.refuse_broken()
        return statistics

    def refuse_broken(self) -> None:
        """Refuse sums that are not of the design's shape, or not finite."""
        if self.sums.shape != zero_sums(self.design).shape or not np.isfinite(self.sums).all():
            raise ValueError("its sums are not finite or not of the design's shape")

    def _content(self) -> dict[str, Any]:
        return {"fingerprint": self.fingerprint, "design": self.design, "sums": self.sums}

    def _refuse_foreign(self, other: PNUStatistics) -> None:
        if not isinstance(other, PNUStatistics):
            raise TypeError(f"Statistics are added to statistics, not to {type(other).__name__}.")
        if self.fingerprint != other.fingerprint:
            words = "; ".join(self.design.differences(other.design))
            raise ValueError(
                f"These statistics cannot be combined, they differ in: {words}. Collect both with the same Design."
            )
