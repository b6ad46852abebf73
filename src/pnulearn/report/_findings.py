"""What a report says, as plain data: computed once, drawn and written elsewhere."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._intervals.posterior_grids import ContradictedPrior, DecisionRates, mass_quantiles
from pnulearn._machine import one_blas_thread
from pnulearn.advice import Advice, advise
from pnulearn.metrics._estimate import Estimate
from pnulearn.metrics._rates import count_decisions, judge_decisions
from pnulearn.priors._sensitivity import Narrowing, shift_probability
from pnulearn.report._ablation import Ablation, run_ablations
from pnulearn.report._columns import ColumnFindings, look_at_columns
from pnulearn.report._rows import RowFindings, judged_probability, judged_scores, look_at_rows
from pnulearn.tables._model import Fitted
from pnulearn.tables._verdict import HARDLY_KNOWN, Verdict, reach_verdict

# How the error and the decisions of a model change over what its prior may be.

LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True)
class AtPrior:
    """If the prior were this: the error of the model, and the share of unlabelled rows to be decided otherwise.

    `level` is the probability that the prior is smaller.
    """

    level: float
    prior: float
    error: float
    changed: float


def look_over_prior(fitted: Fitted, scores: AnyArray) -> list[AtPrior]:
    """The model at five points of the prior's distribution; nothing if the prior is known exactly."""
    classifier, codes = fitted.model.classifier, fitted.codes
    mass = classifier.prior_estimate_.mass
    if mass is None:
        return []
    groups = [scores[codes == code] for code in (1, 0, -1)]
    size = np.array([len(group) for group in groups])
    called = np.array([np.mean(group > 0) if len(group) else 0.0 for group in groups])
    share = np.array([1 - called[0], called[1], called[2]])
    probability = fitted.probability()[codes < 0]
    found = []
    for level, prior in zip(LEVELS, mass_quantiles(mass, LEVELS), strict=True):
        fnr, fpr = DecisionRates(share, size, prior).fit()
        moved = shift_probability(probability, float(classifier.prior_), prior)
        changed = float(np.mean((moved > 0.5) != (probability > 0.5)))
        found.append(AtPrior(level, prior, float(prior * fnr + (1 - prior) * fpr), changed))
    return found


# Whether probabilities mean what they say: rows grouped by them, and the share of positives found in each group.

N_BINS = 5


@dataclass(frozen=True)
class Bin:
    """Rows with a probability between low and high: what was said, and what the labels suggest."""

    low: float
    high: float
    said: float
    found: float | None
    counts: tuple[int, int, int]


def group_by_probability(fitted: Fitted) -> list[Bin]:
    """Shares of positives by predicted probability, from labelled rows reweighted to the population."""
    prior = float(fitted.model.classifier.prior_)
    probability = judged_probability(fitted)[:, 1]
    edges = np.linspace(0, 1, N_BINS + 1)
    place = np.clip(np.digitize(probability, edges[1:-1]), 0, N_BINS - 1)
    totals = [np.sum(fitted.codes == code) for code in (1, 0)]
    bins = []
    for k in range(N_BINS):
        inside = place == k
        counts = tuple(int(np.sum(inside & (fitted.codes == code))) for code in (1, 0, -1))
        mass = prior * counts[0] / totals[0], (1 - prior) * counts[1] / totals[1]
        found = mass[0] / sum(mass) if sum(mass) else None
        said = float(probability[inside].mean()) if inside.any() else float(edges[k : k + 2].mean())
        bins.append(Bin(float(edges[k]), float(edges[k + 1]), said, found, (counts[0], counts[1], counts[2])))
    return bins


# Where to draw the line: what becomes of a thousand rows at every threshold, and what that costs.

THRESHOLDS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
PRICES = (1, 2, 5, 10, 20)  # of a missed positive, in false alarms
THOUSAND = 1000
FEWEST = 0.01  # of the rows on either side; of fewer nothing can be said


@dataclass(frozen=True)
class AtThreshold:
    """If rows with at least this probability were called positive.

    Of a thousand rows: how many are called so, how many of them wrongly, and how many positives are missed.
    """

    threshold: float
    called: float
    false_alarms: float
    missed: float
    precision: Estimate
    recall: Estimate

    def cost(self, price: float) -> float:
        """In false alarms, if missing a positive costs that many of them."""
        return self.false_alarms + price * self.missed


def look_at_thresholds(fitted: Fitted) -> list[AtThreshold]:
    """Every threshold at which the rows can be told apart, from held-out probabilities."""
    classifier = fitted.model.classifier
    probability, prior = judged_probability(fitted)[:, 1], classifier.prior_estimate_
    groups = [np.flatnonzero(fitted.codes == code) for code in (0, 1, -1)]
    theta = float(prior.mean)
    found = []
    for threshold in THRESHOLDS:
        table = count_decisions(groups, (probability >= threshold).astype(int), 2)
        try:
            quality = judge_decisions(table, prior)
        except ContradictedPrior:
            continue
        if quality is None or not FEWEST < quality.called[1] < 1 - FEWEST:
            continue
        recall, precision = quality.recall[1], quality.precision[1]
        right = theta * recall.value
        wrong = right * (1 / precision.value - 1) if precision.value else quality.called[1]
        found.append(
            AtThreshold(
                threshold,
                THOUSAND * (right + wrong),
                THOUSAND * wrong,
                THOUSAND * (theta - right),
                precision,
                recall,
            )
        )
    return found


def cheapest(lines: list[AtThreshold], price: float) -> AtThreshold:
    """The threshold to take at that price; of equally cheap ones that nearest to the middle."""
    return min(lines, key=lambda line: (round(line.cost(price), 6), abs(line.threshold - 0.5)))


# What a report says, as plain data: computed once, drawn and written elsewhere.


@dataclass(frozen=True)
class Findings:
    """All a report needs beside the model itself. What only two classes have is empty or None for more."""

    fitted: Fitted
    verdict: Verdict
    scores: AnyArray
    columns: ColumnFindings
    ablations: list[Ablation]
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
        run_ablations(fitted),
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
