"""Scores and probabilities that a report may judge by: of rows that had no part in them or in weighing candidates."""

from __future__ import annotations

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._learning.calibration import probabilities
from pnulearn.tables._model import Fitted


def judged_scores(fitted: Fitted) -> AnyArray:
    """g of every row, or a column per class; a row that was never held out lies on the boundary, for want of better."""
    return np.nan_to_num(fitted.model.classifier.judging_scores_)


def judged_probability(fitted: Fitted) -> AnyArray:
    """A column per class."""
    return probabilities(judged_scores(fitted), fitted.model.classifier.calibration_)
