"""Learning batch by batch: statistics are added up inside the estimator."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pnulearn._learning.moment_search import usable_folds
from pnulearn._problem.inputs import read_features
from pnulearn._statistics.statistics import PNUStatistics
from pnulearn.streaming.learn import fit_statistics
from pnulearn.streaming.planning import check_one_pass, make_design


def add_batch(estimator: Any, X: Any, y: ArrayLike, classes: ArrayLike | None) -> Any:
    """Add rows to an estimator's statistics and fit it to all of them, as soon as that is possible."""
    check_one_pass(estimator)
    known: PNUStatistics | None = vars(estimator).get("_statistics")
    if known is None and classes is None:
        classes = getattr(estimator, "classes_", None)  # an earlier fit knows them, though its rows are not counted
    if known is None and classes is None:
        raise ValueError("classes must be passed on the first call to partial_fit, e.g. classes=[0, 1].")
    X = read_features(estimator, X, reset=known is None)
    if known is None:
        names = getattr(estimator, "feature_names_in_", None)
        design = make_design(estimator, X, y, columns=names, classes=classes, dtype="float64")
        known = PNUStatistics.zero(design)
    elif classes is not None and set(np.asarray(classes).tolist()) != set(known.design.classes.tolist()):
        raise ValueError(f"classes={list(np.asarray(classes))} differs from {known.design.classes.tolist()} before.")
    batch = PNUStatistics.of(known.design, X, y, name="batches", start=known.n_rows)
    estimator._statistics = known + batch
    if _is_enough(estimator, estimator._statistics):
        fit_statistics(estimator, estimator._statistics)
    return estimator


def _is_enough(estimator: Any, statistics: PNUStatistics) -> bool:
    """Whether all classes are there, or at least what a given prior can do with; and what to validate with."""
    labeled, unlabeled = statistics.counts[:-1] > 0, statistics.counts[-1] > 0
    learnable = labeled.all() or (estimator.prior is not None and labeled.any() and unlabeled)
    return bool(learnable and usable_folds(statistics).any())
