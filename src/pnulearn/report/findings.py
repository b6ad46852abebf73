"""What a report says, as plain data: computed once, drawn and written elsewhere."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._machine import one_blas_thread
from pnulearn.advice import Advice, advise
from pnulearn.priors.narrowing import Narrowing
from pnulearn.report.columns import ColumnFindings, look_at_columns
from pnulearn.report.judged import judged_scores
from pnulearn.report.ladder import Rung, climb
from pnulearn.report.over_prior import AtPrior, look_over_prior
from pnulearn.report.reliability import Bin, group_by_probability
from pnulearn.report.rows import RowFindings, look_at_rows
from pnulearn.report.thresholds import AtThreshold, look_at_thresholds
from pnulearn.tables._model import Fitted
from pnulearn.tables._verdict import HARDLY_KNOWN, Verdict, reach_verdict


@dataclass(frozen=True)
class Findings:
    """All a report needs beside the model itself. What only two classes have is empty or None for more."""

    fitted: Fitted
    verdict: Verdict
    scores: AnyArray
    columns: ColumnFindings
    rungs: list[Rung]
    rows: RowFindings
    thresholds: list[AtThreshold]
    advice: Advice | None
    bins: list[Bin]
    over_prior: list[AtPrior]
    narrowing: Narrowing | None
    seconds: float


def investigate(fitted: Fitted, verdict: Verdict | None = None) -> Findings:
    """Everything the report says about a fitted model; the verdict is reached if it is not known yet."""
    with one_blas_thread():  # many small matrices
        return _investigate(fitted, verdict)


def _investigate(fitted: Fitted, verdict: Verdict | None) -> Findings:
    start = time.perf_counter()
    classifier = fitted.model.classifier
    scores = judged_scores(fitted)
    two = len(classifier.classes_) == 2
    counts = [int(np.sum(fitted.codes == code)) for code in (1, 0, -1)]
    everything = two and min(counts) > 0
    narrowing = fitted.narrow_prior()
    columns = look_at_columns(fitted)
    belief = classifier.prior_estimate_
    unknown = belief.mass is not None and belief.high - belief.low > HARDLY_KNOWN
    return Findings(
        fitted,
        verdict or reach_verdict(fitted.model, narrowing),
        scores,
        columns,
        climb(fitted),
        look_at_rows(fitted, [one.column for one in columns.importances], unknown),
        look_at_thresholds(fitted) if two else [],
        _advice(fitted, scores, counts) if everything else None,
        group_by_probability(fitted) if two and counts[0] and counts[1] else [],
        look_over_prior(fitted, scores) if everything else [],
        narrowing,
        time.perf_counter() - start,
    )


def _advice(fitted: Fitted, scores: AnyArray, counts: list[int]) -> Advice:
    """Error rates get one success and one failure extra, so that no class looks perfect for want of rows."""
    positive, negative = (scores[fitted.codes == code] for code in (1, 0))
    rates = ((np.sum(positive <= 0) + 1) / (counts[0] + 2), (np.sum(negative > 0) + 1) / (counts[1] + 2))
    return advise(counts[0], counts[1], counts[2], float(fitted.model.classifier.prior_), error_rates=rates)
