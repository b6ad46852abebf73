"""From statistics to a fitted classifier."""

from __future__ import annotations

from pnulearn._estimators.classifier import PNUClassifier, accept
from pnulearn._learning.from_moments import Recount, learn_from_moments
from pnulearn._learning.settings import Settings
from pnulearn._moments import PNUStatistics, RowSample


def fit_statistics(
    estimator: PNUClassifier,
    statistics: PNUStatistics,
    *,
    sample: RowSample | None = None,
    recount: Recount | None = None,
) -> PNUClassifier:
    """Fit a PNUClassifier from statistics; it is then like any other.

    Candidates are told apart by the squared-loss PNU risk, or by the zero-one risk too if `recount` (a second pass)
    counts errors. The `sample` of rows, if there is one, gives the validation risk with its standard error.

    Parameters
    ----------
    estimator : PNUClassifier
        The classifier.
    statistics : PNUStatistics
        Statistics of all rows.
    sample : RowSample, optional
        Rows for the validation risk.
    recount : callable, optional
        A second pass that counts the errors of all candidates.
    """
    settings = Settings.of(estimator.get_params(deep=False), statistics.design.seed)
    return accept(estimator, learn_from_moments(settings, statistics, sample, recount))
