"""The light pass before the pass: which labels there are, and a sample of rows to choose centres from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._moments import Design, RowSample, position_keys
from pnulearn._problem.labels import decode_labels
from pnulearn._tables.labels import refuse_marker
from pnulearn.streaming.batches import numbers_if_text
from pnulearn.streaming.reading import part_blocks
from pnulearn.streaming.sources import Part, Source
from pnulearn.streaming.threads import Runner

GLIMPSES = 8  # parts that a sample is drawn from, besides those richest in some label

LabelCounts = dict[Any, int]


def part_labels(part: Part, source: Source) -> LabelCounts:
    """How often each label occurs in a part; only the column of labels is read."""
    counts: Counter[Any] = Counter()
    for batch in part.batches(() if source.target is None else (source.target,)):
        counts.update(batch.label_counts())
    return dict(counts)


def classes_of(counts: Sequence[LabelCounts], unlabeled: Any, pos_label: Any, *, untyped: bool) -> AnyArray:
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
    return RowSample.merge(run(work, parts))


def part_sample(part: Part, source: Source, reading: Design) -> RowSample:
    """A sample of the rows of a part."""
    sample = None
    for block in part_blocks(part, source, reading):
        keys = position_keys(part.name, reading.seed + 1, block.start, len(block.codes))
        places = np.arange(block.start, block.start + len(keys))
        fresh = RowSample(block.rows.T.copy(), block.codes, keys, np.full(len(keys), part.name), places)
        sample = fresh if sample is None else RowSample.merge([sample, fresh])
    if sample is None:
        empty = np.zeros(0, dtype=int)
        return RowSample(np.zeros((0, source.n_features)), empty, empty.astype(np.uint64), empty.astype(str), empty)
    return sample
