"""Fixing the design: parameters of an estimator and a sample of rows give classes, centres and bandwidths."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from pnulearn._learning.parameters import check_parameters
from pnulearn._problem.folds import row_keys
from pnulearn._problem.labels import decode_labels
from pnulearn._problem.samples import Samples
from pnulearn._statistics.blocks import ArrayBatch, blocks_of
from pnulearn._statistics.design import Design
from pnulearn.losses import as_loss
from pnulearn.streaming.sample import RowSample, classes_of, draw_sample, part_labels, reading_design
from pnulearn.streaming.sources import Source
from pnulearn.streaming.threads import Runner


def make_design(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    *,
    columns: Sequence[str] | None = None,
    classes: ArrayLike | None = None,
    dtype: str = "float32",
) -> Design:
    """A design from a sample of rows in memory, which need no more than show what the data are like.

    Columns are in the order of X. Classes that the sample does not show must be named.

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
    check_one_pass(estimator)
    batch = ArrayBatch.of(X, y)
    found = given_classes(estimator, classes)
    if found is None:
        found = decode_labels(y, estimator.unlabeled, estimator.pos_label).classes
    seed = fresh_seed(estimator)
    names = None if columns is None else tuple(columns)
    reading = reading_design(names, batch.X.shape[1], found, estimator.unlabeled, seed)
    blocks = [(block.rows.T.copy(), block.codes) for block in blocks_of([batch], reading, "", 0)]
    rows, codes = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
    return design_of(estimator, reading, rows, codes, dtype)


def plan_design(
    estimator: Any, source: Source, classes: ArrayLike | None, dtype: str, run: Runner, seed: int
) -> tuple[Design, RowSample]:
    """A design for all parts of a source, and the sample of rows it was made from."""
    found = given_classes(estimator, classes)
    counts: list[dict[Any, int]] = []
    if found is None:
        bare = source.without_parts()
        parts = [part.glimpse() for part in source.parts] if source.is_one_shot else source.parts
        counts = list(run(partial(part_labels, source=bare), parts))
        found = classes_of(counts, estimator.unlabeled, estimator.pos_label, untyped=source.is_untyped)
    reading = reading_design(source.columns, source.n_features, found, estimator.unlabeled, seed)
    sample = draw_sample(source, reading, counts, run)
    return design_of(estimator, reading, sample.X, sample.codes, dtype), sample


def design_of(estimator: Any, reading: Design, rows: NDArray, codes: NDArray, dtype: str) -> Design:
    """Choose basis functions from rows as `PNUClassifier.fit` would from all rows."""
    samples = Samples(rows, codes, np.ones(len(codes)), len(reading.classes))
    basis = estimator._basis(samples, row_keys(rows, reading.seed))
    return Design(reading.columns, reading.classes, basis, int(estimator.cv), reading.seed, dtype, reading.unlabeled)


def check_one_pass(estimator: Any) -> None:
    """Refuse what cannot be learnt from sums."""
    check_parameters(estimator)
    if not as_loss(estimator.loss).one_pass:
        raise ValueError(
            f"loss={estimator.loss!r} needs all rows at once. In one pass only loss='squared' can be learnt."
        )
    if not isinstance(estimator.cv, numbers.Integral) or estimator.cv < 2:
        raise ValueError(f"In one pass cv is a number of folds, at least 2; got {estimator.cv!r}.")
    if isinstance(estimator.centers, str) and estimator.centers == "all":
        raise ValueError("centers='all' needs all rows at once. Pass a number, e.g. centers=500, or an array.")


def given_classes(estimator: Any, classes: ArrayLike | None) -> NDArray | None:
    """Classes that the user named, in code order."""
    if classes is None:
        return None
    return decode_labels(np.asarray(classes), estimator.unlabeled, estimator.pos_label).classes


def fresh_seed(estimator: Any) -> int:
    return int(check_random_state(estimator.random_state).randint(2**31))
