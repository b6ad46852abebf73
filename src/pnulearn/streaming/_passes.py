"""Passes over all parts: statistics, with checkpoints to resume from, and the optional second pass for validation."""

from __future__ import annotations

import hashlib
import os
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._files.archive import read_archive, write_archive
from pnulearn._files.refusals import refuse_damage
from pnulearn._learning.moment_search import Fits
from pnulearn._learning.selection import Tally, membership
from pnulearn._moments import BLOCK_ROWS, TYPES, Accumulator, Design, PNUStatistics
from pnulearn._problem.samples import Sampling, population_of
from pnulearn._solvers.ridge import RidgeCandidates
from pnulearn.streaming._sources import Part, Source
from pnulearn.streaming._threads import Runner, part_blocks

# The pass over all parts that collects their statistics, with checkpoints to resume from.


@runtime_checkable
class AddsUp(Protocol):
    """A runner that can sum results on the workers."""

    def add_up(self, work: Callable[[Part], Any], parts: Sequence[Part], group: int) -> Any | None:
        """The sum in the order of the parts, group by group, or None if that fails."""


KIND = "PNUCheckpoint"
SECONDS_BETWEEN = 30.0


def part_statistics(part: Part, source: Source, design: Design) -> PNUStatistics:
    """The statistics of one part."""
    accumulator = Accumulator(design)
    for block in part_blocks(part, source, design):
        accumulator.add(block)
    return PNUStatistics(design, accumulator.total())


def collect(
    source: Source, design: Design, run: Runner, checkpoint: Checkpoint | None = None, verbose: int = 0
) -> PNUStatistics:
    """Sum the statistics of all parts in a fixed order, so that the result is bitwise reproducible."""
    total, done = (None if checkpoint is None else checkpoint.load(design)) or (PNUStatistics.zero(design), 0)
    work = partial(part_statistics, source=source.without_parts(), design=design)
    if checkpoint is None and isinstance(run, AddsUp):
        added = run.add_up(work, source.parts, source.group)
        if added is not None:
            return added
    report = _progress(done, len(source.parts))
    together: PNUStatistics | None = None
    for number, statistics in enumerate(run(work, source.parts[done:]), start=done + 1):
        together = statistics if together is None else together + statistics
        if number % source.group and number < len(source.parts):
            continue
        total += together
        together, done = None, number
        if checkpoint is not None:
            checkpoint.save(total, done, at_once=done == len(source.parts))
        if verbose > 0:
            report(done, total.n_rows)
    return total


def _progress(already: int, n_parts: int) -> Callable[[int, int], None]:
    """Print a line on stderr for every part, with the remaining time."""
    start = time.monotonic()

    def report(done: int, n_rows: int) -> None:
        left = (time.monotonic() - start) / (done - already) * (n_parts - done)
        print(f"pnulearn: part {done} of {n_parts} read, {n_rows} rows, {left:.0f} s left", file=sys.stderr)

    return report


@dataclass
class Checkpoint:
    """A file with the statistics of the first parts, written at intervals.

    An interrupted run resumes after these parts, with bitwise the same result. `plan` is a fingerprint of the data and
    the parameters; a file with another plan is refused.
    """

    path: Path
    plan: str
    seconds: float = SECONDS_BETWEEN

    def __post_init__(self) -> None:
        self._saved = time.monotonic()
        self._content = self._read() if self.path.exists() else None

    @property
    def design(self) -> Design | None:
        """The design of the interrupted run."""
        return None if self._content is None else self._content["statistics"].design

    def load(self, design: Design) -> tuple[PNUStatistics, int] | None:
        """The statistics so far and the number of parts that they include."""
        if self._content is None or self.design is None or self.design.fingerprint != design.fingerprint:
            return None
        content, self._content = self._content, None
        return content["statistics"], content["done"]

    def save(self, statistics: PNUStatistics, done: int, *, at_once: bool = False) -> None:
        """Write a checkpoint if it is due; an OSError such as a full disk is only a warning."""
        if not at_once and time.monotonic() - self._saved < self.seconds:
            return
        try:
            write_archive(self.path, KIND, {"plan": self.plan, "done": done, "statistics": statistics}, compress=False)
        except OSError as error:
            warnings.warn(
                f"The checkpoint {self.path} could not be written ({error}); the run continues.", stacklevel=3
            )
        self._saved = time.monotonic()

    def _read(self) -> dict[str, Any]:
        kind, content = read_archive(self.path, (*TYPES, PNUStatistics))
        if kind != KIND or content.get("plan") != self.plan:
            raise ValueError(
                f"{self.path} is the checkpoint of another run: the data, the target, the columns or the parameters "
                "were different. Delete it to start over, or choose another file."
            )
        with refuse_damage(self.path):
            content["statistics"].refuse_broken()
            if not isinstance(content["done"], int) or content["done"] < 0:
                raise ValueError("its number of parts is unreadable")
        return content


def plan_of(source: Source, *facts: Any) -> str:
    """A fingerprint of the data and the parameters."""
    text = repr([source.columns, source.target, [repr(part) for part in source.parts], facts])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def as_checkpoint(
    path: str | os.PathLike[str] | None, plan: str, source: Source, seconds: float = SECONDS_BETWEEN
) -> Checkpoint | None:
    if path is None:
        return None
    if source.is_one_shot:
        raise ValueError("An iterator of batches cannot be resumed, so it takes no checkpoint. Use files.")
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"checkpoint must be the path of a file, got {path!r}.")
    if not Path(path).absolute().parent.is_dir():
        raise FileNotFoundError(
            f"There is no folder {str(Path(path).parent)!r} to write the checkpoint {str(path)!r} to."
        )
    return Checkpoint(Path(path), plan, seconds)


# The optional second pass: the zero-one risk of every candidate on held-out rows.

ByBandwidth = list[Tally | None]


def count_errors(source: Source, design: Design, fits: Sequence[Fits], sampling: Sampling, run: Runner) -> list[Fits]:
    """The same fits with tallies of prediction errors, from one more pass over the rows."""
    candidates = [one.candidates for one in fits]
    bare = source.without_parts()
    work = partial(part_tally, source=bare, design=design, candidates=candidates, sampling=sampling)
    total: ByBandwidth = [None] * len(fits)
    for tallies in run(work, source.parts):
        total = [_add(one, other) for one, other in zip(total, tallies, strict=True)]
    return [replace(one, tally=tally) for one, tally in zip(fits, total, strict=True)]


def part_tally(
    part: Part,
    source: Source,
    design: Design,
    candidates: Sequence[tuple[RidgeCandidates | None, ...]],
    sampling: Sampling,
) -> ByBandwidth:
    """One tally per bandwidth over the rows of a part, from held-out scores."""
    block_features = design.basis.block_features(BLOCK_ROWS, design.dtype)
    total: ByBandwidth = [None] * len(candidates)
    for block in part_blocks(part, source, design):
        order = np.argsort(block.folds, kind="stable")
        groups = _groups(block.codes[order], len(design.classes), sampling)
        folds, starts = np.unique(block.folds[order], return_index=True)
        slices = [slice(*ends) for ends in zip(starts, [*starts[1:], len(order)], strict=True)]
        block_features.load(block.rows, order)
        for index, fitted in enumerate(candidates):
            features = block_features.features(index)[:, :-1]
            for fold, rows in zip(folds, slices, strict=True):
                model = fitted[fold]
                if model is not None:
                    total[index] = _add(total[index], Tally.of(model.scores(features[rows]), groups[rows]))
    return total


def _groups(codes: AnyArray, n_classes: int, sampling: Sampling) -> AnyArray:
    return membership(codes, np.ones(len(codes)), n_classes, population_of(codes, sampling))


def _add(one: Tally | None, other: Tally | None) -> Tally | None:
    return other if one is None else one if other is None else one + other
