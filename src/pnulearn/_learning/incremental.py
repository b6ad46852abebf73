"""Learning batch by batch: statistics are added up, and a model follows as soon as it can."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pnulearn._learning.moment_search import can_validate
from pnulearn._learning.planning import design_from_rows
from pnulearn._learning.settings import Settings
from pnulearn._moments import Design, PNUStatistics


def add_batch(
    settings: Settings,
    known: PNUStatistics | None,
    X: Any,
    y: ArrayLike,
    *,
    classes: ArrayLike | None,
    columns: Sequence[str] | None,
) -> PNUStatistics:
    """The statistics with the rows of a batch; the first batch fixes classes, columns and basis functions."""
    if known is None and classes is None:
        raise ValueError("classes must be passed on the first call to partial_fit, e.g. classes=[0, 1].")
    if known is None:
        known = PNUStatistics.zero(design_from_rows(settings, X, y, columns=columns, classes=classes, dtype="float64"))
    elif classes is not None and set(np.asarray(classes).tolist()) != set(known.design.classes.tolist()):
        raise ValueError(f"classes={list(np.asarray(classes))} differs from {known.design.classes.tolist()} before.")
    return known + PNUStatistics.of(known.design, X, y, name="batches", start=known.n_rows)


def column_attributes(design: Design) -> dict[str, Any]:
    """What scikit-learn keeps of the columns that a design reads."""
    names = {} if design.columns is None else {"feature_names_in_": np.array(design.columns, dtype=object)}
    return {"n_features_in_": design.n_features} | names


def is_enough(settings: Settings, statistics: PNUStatistics) -> bool:
    """Whether all classes are there, or at least what a given prior can do with; and what to validate with."""
    labeled, unlabeled = statistics.counts[:-1] > 0, statistics.counts[-1] > 0
    learnable = labeled.all() or (settings.prior is not None and labeled.any() and unlabeled)
    return bool(learnable and can_validate(statistics))
