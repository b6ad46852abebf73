"""The design of a fit from files: a first pass determines the classes and draws a sample of rows for centres."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pnulearn._arrays import AnyArray
from pnulearn._estimators.classifier import PNUClassifier
from pnulearn._learning.from_moments import design_from_rows, design_of, reading_design
from pnulearn._learning.settings import Settings
from pnulearn._moments import Design, RowSample, position_keys
from pnulearn._problem.labels import decode_labels
from pnulearn._reader.words import refuse_marker
from pnulearn.streaming._dask import number_rows
from pnulearn.streaming._sources import Part, Source, numbers_if_text
from pnulearn.streaming._threads import Runner, part_blocks

# First pass: the labels that occur, and a sample of rows to choose centres from.

GLIMPSES = 8  # parts to sample from, besides those with the most rows of each label

LabelCounts = dict[Any, int]


def part_labels(part: Part, source: Source) -> LabelCounts:
    """Counts of the labels in a part; only the label column is read."""
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
    """Rows from a few evenly spaced parts and from those with the most rows of each label."""
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


# The design of a fit from files: the classes, and the basis functions from a sample of rows.


def make_design(
    estimator: PNUClassifier,
    X: Any,
    y: ArrayLike,
    *,
    columns: Sequence[str] | None = None,
    classes: ArrayLike | None = None,
    dtype: str = "float32",
) -> Design:
    """A design from a representative sample of rows in memory.

    Columns are in the order of X. `classes` is needed if the sample does not contain all of them.

    Parameters
    ----------
    estimator : PNUClassifier
        The classifier.
    X : array, sparse matrix or data frame (rows, columns)
        Features.
    y : array (rows,)
        Labels; missing values and `unlabeled` mark unlabelled rows.
    columns : sequence of str, optional
        Names of the feature columns; None for plain arrays.
    classes : array
        All labels, in the order of the codes.
    dtype : str
        "float32" or "float64", the precision of the features; sums are always float64.
    """
    settings = Settings.of(estimator.get_params(deep=False))
    return design_from_rows(settings, X, y, columns=columns, classes=classes, dtype=dtype)


def plan_design(
    settings: Settings, source: Source, classes: ArrayLike | None, dtype: str, run: Runner
) -> tuple[Design, RowSample, Source]:
    """A design for all parts of a source, the sample of rows that gave it, and the source with numbered rows."""
    counts: list[dict[Any, int]] = []
    if classes is None:
        bare = source.without_parts()
        parts = [part.glimpse() for part in source.parts] if source.is_one_shot else source.parts
        counts = list(run(partial(part_labels, source=bare), parts))
        found = classes_of(counts, settings.unlabeled, settings.pos_label, untyped=source.is_untyped)
        numbered = number_rows(source, run, [sum(one.values()) for one in counts])
        if len(numbered.parts) < len(source.parts):  # without the empty ones
            counts = [one for one in counts if one]
        source = numbered
    else:
        source = number_rows(source, run)
        found = decode_labels(np.asarray(classes), settings.unlabeled, settings.pos_label).classes
    reading = reading_design(source.columns, source.n_features, found, settings.unlabeled, settings.seed)
    sample = draw_sample(source, reading, counts, run)
    return design_of(settings, reading, sample.X, sample.codes, dtype), sample, source
