"""The design of a fit from files: which classes there are, and a sample of rows to choose basis functions from."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pnulearn._estimators.classifier import PNUClassifier
from pnulearn._learning.planning import design_from_rows, design_of, reading_design
from pnulearn._learning.settings import Settings
from pnulearn._moments import Design, RowSample
from pnulearn._problem.labels import decode_labels
from pnulearn.streaming.sample import classes_of, draw_sample, part_labels
from pnulearn.streaming.sources import Source
from pnulearn.streaming.threads import Runner


def make_design(
    estimator: PNUClassifier,
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
    settings = Settings.of(estimator.get_params(deep=False))
    return design_from_rows(settings, X, y, columns=columns, classes=classes, dtype=dtype)


def plan_design(
    settings: Settings, source: Source, classes: ArrayLike | None, dtype: str, run: Runner
) -> tuple[Design, RowSample]:
    """A design for all parts of a source, and the sample of rows it was made from."""
    counts: list[dict[Any, int]] = []
    if classes is None:
        bare = source.without_parts()
        parts = [part.glimpse() for part in source.parts] if source.is_one_shot else source.parts
        counts = list(run(partial(part_labels, source=bare), parts))
        found = classes_of(counts, settings.unlabeled, settings.pos_label, untyped=source.is_untyped)
    else:
        found = decode_labels(np.asarray(classes), settings.unlabeled, settings.pos_label).classes
    reading = reading_design(source.columns, source.n_features, found, settings.unlabeled, settings.seed)
    sample = draw_sample(source, reading, counts, run)
    return design_of(settings, reading, sample.X, sample.codes, dtype), sample
