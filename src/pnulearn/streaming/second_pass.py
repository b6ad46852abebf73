"""The optional second pass: the zero-one risk of every candidate on the rows it was not fitted to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._learning.moment_search import Fits
from pnulearn._learning.selection import Tally, membership
from pnulearn._moments import BLOCK_ROWS, Design
from pnulearn._problem.samples import Sampling, population_of
from pnulearn._solvers.ridge import RidgeCandidates
from pnulearn.streaming.reading import part_blocks
from pnulearn.streaming.sources import Part, Source
from pnulearn.streaming.threads import Runner

ByBandwidth = list[Tally | None]


def count_errors(source: Source, design: Design, fits: Sequence[Fits], sampling: Sampling, run: Runner) -> list[Fits]:
    """The same fits with tallies that count votes, from one more pass over the rows."""
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
    """One tally per bandwidth over the rows of a part, each row scored by the candidates that did not see its fold."""
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
                judge = fitted[fold]
                if judge is not None:
                    total[index] = _add(total[index], Tally.of(judge.scores(features[rows]), groups[rows]))
    return total


def _groups(codes: AnyArray, n_classes: int, sampling: Sampling) -> AnyArray:
    return membership(codes, np.ones(len(codes)), n_classes, population_of(codes, sampling))


def _add(one: Tally | None, other: Tally | None) -> Tally | None:
    return other if one is None else one if other is None else one + other
