"""Labels that were there before the first question."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike

from pnulearn._arrays import AnyArray
from pnulearn._problem.labels import UNLABELED, decode_labels, is_missing
from pnulearn.labeling.draws import Draw


def read_given(y: ArrayLike | None, classes: Sequence[Hashable] | None, n_rows: int) -> tuple[list[Hashable], AnyArray]:
    """Class names, and the code of every row, −1 where there is no label."""
    if classes is not None and len(set(classes)) < max(2, len(classes)):
        raise ValueError(f"Two different classes or more are needed, got {list(classes)}.")
    if y is None or all(is_missing(value) for value in np.asarray(y, dtype=object).ravel()):
        if classes is None:
            raise ValueError("Without any label nobody knows the classes: pass classes=['no', 'yes'], say.")
        return list(classes), np.full(n_rows, UNLABELED)
    labels = decode_labels(y, classes=None if classes is None else np.array(list(classes)))
    if len(labels.codes) != n_rows:
        raise ValueError(f"X has {n_rows} rows and y {len(labels.codes)}: they must be as many.")
    return labels.classes.tolist(), labels.codes


def as_draws(given: AnyArray, seed: int) -> Iterator[tuple[Draw, int]]:
    """Labels of rows that were drawn at random, as draws in an order that does not hang on them, with their codes."""
    rows = np.random.default_rng([seed, 2**31]).permutation(np.flatnonzero(given != UNLABELED))
    for number, row in enumerate(rows):
        n_left = len(given) - number
        yield Draw(number, int(row), 1 / n_left, n_left), int(given[row])
