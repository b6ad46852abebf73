"""The light pass before the pass: which labels there are, and a sample of rows to choose centres from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnulearn._basis.linear import LinearBasis
from pnulearn._problem.labels import decode_labels
from pnulearn._statistics.design import Design, position_keys
from pnulearn._tables.labels import refuse_marker
from pnulearn.streaming.batches import numbers_if_text
from pnulearn.streaming.reading import part_blocks
from pnulearn.streaming.sources import Part, Source
from pnulearn.streaming.threads import Runner

MOST_UNLABELED = 10_000
MOST_LABELED = 2_000  # per class
GLIMPSES = 8  # parts that a sample is drawn from, besides those richest in some label

LabelCounts = dict[Any, int]


@dataclass(frozen=True)
class RowSample:
    """Rows with class code and key; the rows with the smallest keys are a random sample of those that were seen."""

    X: NDArray
    codes: NDArray
    keys: NDArray
    names: NDArray  # of the part each row is from, and its number there: they decide its fold
    places: NDArray

    @classmethod
    def merged(cls, samples: Iterable[RowSample]) -> RowSample:
        """The rows of all, thinned to at most MOST_UNLABELED unlabelled ones and MOST_LABELED of each class."""
        whole = cls(*(np.concatenate(parts) for parts in zip(*(vars(one).values() for one in samples), strict=True)))
        order = np.argsort(whole.keys, kind="stable")
        rank = np.empty(len(order), dtype=int)
        for group in np.unique(whole.codes):
            members = order[whole.codes[order] == group]
            rank[members] = np.arange(len(members))
        kept = np.flatnonzero(rank < np.where(whole.codes < 0, MOST_UNLABELED, MOST_LABELED))
        return whole.take(kept[np.argsort(whole.keys[kept], kind="stable")])

    def take(self, rows: NDArray) -> RowSample:
        return RowSample(*(part[rows] for part in vars(self).values()))

    def folds(self, design: Design) -> NDArray:
        """The folds these rows have in a design."""
        pairs = zip(self.names, self.places, strict=True)
        return np.array([design.folds(str(name), int(place), 1)[0] for name, place in pairs], dtype=int)


def part_labels(part: Part, source: Source) -> LabelCounts:
    """How often each label occurs in a part; only the column of labels is read."""
    counts: Counter[Any] = Counter()
    for batch in part.batches(() if source.target is None else (source.target,)):
        counts.update(batch.label_counts())
    return dict(counts)


def classes_of(counts: Sequence[LabelCounts], unlabeled: Any, pos_label: Any, *, untyped: bool) -> NDArray:
    """The classes, by the same rules as for labels in memory."""
    found: Counter[Any] = Counter()
    for one in counts:
        found.update(one)
    labels = [label for label in found if label is not None]
    refuse_marker("The column of labels", {label: found[label] for label in labels if label != unlabeled})
    labels = numbers_if_text(labels, unlabeled) if untyped else labels
    values = np.empty(len(labels) + (None in found), dtype=object)
    values[: len(labels)] = labels
    return decode_labels(values, unlabeled, pos_label).classes


def draw_sample(source: Source, reading: Design, counts: Sequence[LabelCounts], run: Runner) -> RowSample:
    """Rows from a few parts that are spread over all, among them the richest in each label."""
    places = set(np.linspace(0, len(source.parts) - 1, GLIMPSES).round().astype(int).tolist())
    for label in {label for one in counts for label in one}:
        places.add(int(np.argmax([one.get(label, 0) for one in counts])))
    parts = [source.parts[place].glimpse() for place in sorted(places)]
    work = partial(part_sample, source=source.without_parts(), reading=reading)
    return RowSample.merged(run(work, parts))


def part_sample(part: Part, source: Source, reading: Design) -> RowSample:
    """A sample of the rows of a part."""
    sample = None
    for block in part_blocks(part, source, reading):
        keys = position_keys(part.name, reading.seed + 1, block.start, len(block.codes))
        places = np.arange(block.start, block.start + len(keys))
        fresh = RowSample(block.rows.T.copy(), block.codes, keys, np.full(len(keys), part.name), places)
        sample = fresh if sample is None else RowSample.merged([sample, fresh])
    if sample is None:
        empty = np.zeros(0, dtype=int)
        return RowSample(np.zeros((0, source.n_features)), empty, empty.astype(np.uint64), empty.astype(str), empty)
    return sample


def reading_design(
    columns: tuple[str, ...] | None, n_features: int, classes: NDArray, unlabeled: Any, seed: int
) -> Design:
    """A design that reads rows as they are, in float64."""
    basis = LinearBasis(np.zeros(n_features))
    return Design(columns, classes, basis, seed=seed, dtype="float64", unlabeled=unlabeled)
