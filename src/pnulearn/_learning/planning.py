"""Fixing the design: settings and a sample of rows give classes, centres and bandwidths."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pnulearn._arrays import AnyArray
from pnulearn._basis.kernels import choose_basis
from pnulearn._basis.linear import LinearBasis
from pnulearn._learning.settings import Settings
from pnulearn._moments import ArrayBatch, Design, blocks_of
from pnulearn._problem.inputs import refuse_underflow
from pnulearn._problem.labels import decode_labels
from pnulearn._problem.row_keys import row_keys


def design_from_rows(
    settings: Settings,
    X: Any,
    y: ArrayLike,
    *,
    columns: Sequence[str] | None = None,
    classes: ArrayLike | None = None,
    dtype: str = "float32",
) -> Design:
    """A design from rows in memory, which need no more than show what the data are like."""
    settings.refuse_beyond_one_pass()
    batch = ArrayBatch.of(X, y)
    found = decode_labels(y if classes is None else np.asarray(classes), settings.unlabeled, settings.pos_label).classes
    names = None if columns is None else tuple(columns)
    reading = reading_design(names, batch.X.shape[1], found, settings.unlabeled, settings.seed)
    blocks = [(block.rows.T.copy(), block.codes) for block in blocks_of([batch], reading, "", 0)]
    rows, codes = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
    return design_of(settings, reading, rows, codes, dtype)


def design_of(settings: Settings, reading: Design, rows: AnyArray, codes: AnyArray, dtype: str) -> Design:
    """Choose basis functions from rows as `learn_from_rows` would from all rows."""
    refuse_underflow(rows)
    keys = row_keys(rows, reading.seed)
    basis = choose_basis(settings.kernel, rows, codes >= 0, keys, settings.centers, settings.bandwidth)
    return Design(reading.columns, reading.classes, basis, settings.n_folds, reading.seed, dtype, reading.unlabeled)


def reading_design(
    columns: tuple[str, ...] | None, n_features: int, classes: AnyArray, unlabeled: Any, seed: int
) -> Design:
    """A design that reads rows as they are, in float64."""
    basis = LinearBasis(np.zeros(n_features))
    return Design(columns, classes, basis, seed=seed, dtype="float64", unlabeled=unlabeled)
