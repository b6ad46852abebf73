"""The results of a report as plain data. Figures and text are made in other modules."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._intervals.posterior_grids import ContradictedPrior, DecisionRates, mass_quantiles
from pnulearn._machine import one_blas_thread
from pnulearn._problem.labels import Labels
from pnulearn._problem.samples import BY_CLASS, RANDOM, read_sampling
from pnulearn.advice import Advice, ScarCheck, advise, check_scar
from pnulearn.metrics._estimate import Estimate
from pnulearn.metrics._rates import count_decisions, judge_positives
from pnulearn.priors._sensitivity import Narrowing, shift_probability
from pnulearn.report._ablation import Ablation, run_ablations
from pnulearn.report._columns import ColumnFindings, look_at_columns
from pnulearn.report._rows import RowFindings, held_out_probability, held_out_scores, look_at_rows
from pnulearn.tables._model import Fitted
from pnulearn.tables._verdict import HARDLY_KNOWN, Verdict, reach_verdict

# Sensitivity of the error and the decisions to the class prior.

LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True)
class AtPrior:
    """At an assumed prior: the error of the model, and the share of unlabelled rows whose decision would change.

    `level` is the probability that the true prior is smaller.
    """

    level: float
    prior: float
    error: float
    changed: float


def look_over_prior(fitted: Fitted, scores: AnyArray) -> list[AtPrior]:
    """Error and changed decisions at five quantiles of the prior; empty if the prior is known exactly."""
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


# Reliability diagram: rows binned by predicted probability, with the estimated share of positives in each bin.

N_BINS = 5


@dataclass(frozen=True)
class Bin:
    """Rows with a probability between low and high: mean prediction (said), estimated share of positives (found)."""

    low: float
    high: float
    said: float
    found: float | None
    counts: tuple[int, int, int]


def group_by_probability(fitted: Fitted) -> list[Bin]:
    """Shares of positives per bin of predicted probability, from labelled rows reweighted to the population."""
    prior = float(fitted.model.classifier.prior_)
    probability = held_out_probability(fitted)[:, 1]
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


# Choice of a threshold: expected counts per thousand rows and their cost at several thresholds.

THRESHOLDS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
PRICES = (1, 2, 5, 10, 20)  # cost of a false negative in units of a false positive
THOUSAND = 1000
FEWEST = 0.01  # least share of rows on either side of a threshold; with fewer, estimates are too uncertain


@dataclass(frozen=True)
class AtThreshold:
    """Results if rows with a probability above this threshold are predicted positive.

    Per thousand rows: predicted positives, false positives (false alarms) and false negatives (missed).
    """

    threshold: float
    called: float
    false_alarms: float
    missed: float
    precision: Estimate | None
    recall: Estimate | None

    def cost(self, price: float) -> float:
        """Cost in units of a false alarm, if a missed positive costs `price`."""
        return self.false_alarms + price * self.missed


def look_at_thresholds(fitted: Fitted) -> list[AtThreshold]:
    """Results at every threshold that has enough rows on both sides, from held-out probabilities."""
    classifier = fitted.model.classifier
    probability, prior = held_out_probability(fitted)[:, 1], classifier.prior_estimate_
    groups = [np.flatnonzero(fitted.codes == code) for code in (0, 1, -1)]
    if fitted.sampling == RANDOM and not (len(groups[0]) and len(groups[1])):
        groups[2] = np.arange(len(fitted.codes))  # the unlabelled rows lack the labelled ones
    theta = float(prior.value)
    found = []
    for threshold in THRESHOLDS:
        table = count_decisions(groups, (probability > threshold).astype(int), 2)
        try:
            judged = judge_positives(table, prior)
        except ContradictedPrior:
            continue
        if judged is None or not FEWEST < judged[2] < 1 - FEWEST:
            continue
        precision, recall, called = judged
        right = theta * recall.value
        wrong = right * (1 / precision.value - 1) if precision.value else called
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


def all_alike(prior: float) -> tuple[AtThreshold, AtThreshold]:
    """Results if every row is predicted positive (threshold 0), or none (threshold 1)."""
    return (
        AtThreshold(0.0, THOUSAND, THOUSAND * (1 - prior), 0.0, None, None),
        AtThreshold(1.0, 0.0, 0.0, THOUSAND * prior, None, None),
    )


def computed_threshold(price: float) -> float:
    """The threshold of least cost if the probabilities are right, as `predict --costs` uses it."""
    return 1 / (1 + price)


def nearest_to_computed(lines: Sequence[AtThreshold], price: float) -> AtThreshold:
    """The line nearest to the computed threshold; beyond the thresholds that separate rows, one of `all_alike`.

    Lines begin with predicting every row positive and end with none.
    """
    everybody, *between, nobody = lines
    wanted = min(THRESHOLDS, key=lambda threshold: abs(threshold - computed_threshold(price)))
    if wanted < between[0].threshold:
        return everybody
    if wanted > between[-1].threshold:
        return nobody
    return min(between, key=lambda line: abs(line.threshold - wanted))


def cheapest(lines: Sequence[AtThreshold], price: float) -> AtThreshold:
    """The threshold with the lowest cost at that price; among ties, the one nearest to 0.5."""
    return min(lines, key=lambda line: (round(line.cost(price), 6), abs(line.threshold - 0.5)))


@dataclass(frozen=True)
class Findings:
    """All results of a report. Fields that need two classes are empty or None for more classes."""

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
    scar: ScarCheck | None
    seconds: float


def investigate(fitted: Fitted, verdict: Verdict | None = None) -> Findings:
    """Compute all results of the report about a fitted model; the verdict is computed unless it is passed."""
    with one_blas_thread(), warnings.catch_warnings():  # one thread is faster for many small matrices
        warnings.simplefilter("ignore")  # of models that are fitted for comparison: they are not the user's
        return _investigate(fitted, verdict)


def _investigate(fitted: Fitted, verdict: Verdict | None) -> Findings:
    start = time.perf_counter()
    classifier = fitted.model.classifier
    scores = held_out_scores(fitted)
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
        _check_labels(fitted, counts),
        time.perf_counter() - start,
    )


def _check_labels(fitted: Fitted, counts: list[int]) -> ScarCheck | None:
    """Whether labels of one class can be a fair sample of it; None if the prior is not known from elsewhere."""
    classifier, sampling = fitted.model.classifier, read_sampling(fitted.sampling or BY_CLASS)
    given = getattr(classifier, "prior", None)
    if len(classifier.classes_) > 2 or min(counts[:2]) or min(max(counts[:2]), counts[2]) < 2:
        return None
    if given is None or isinstance(given, str) or (sampling == RANDOM and len(fitted.rows) < fitted.table.n_rows):
        return None
    return check_scar(fitted.X, Labels(classifier.classes_, fitted.codes), prior=given, sampling=sampling)


def _advice(fitted: Fitted, scores: AnyArray, counts: list[int]) -> Advice:
    """Advice on labelling. Error rates are smoothed with one pseudo-observation each, so that none is 0 or 1."""
    positive, negative = (scores[fitted.codes == code] for code in (1, 0))
    rates = ((np.sum(positive <= 0) + 1) / (counts[0] + 2), (np.sum(negative > 0) + 1) / (counts[1] + 2))
    return advise(counts[0], counts[1], counts[2], float(fitted.model.classifier.prior_), error_rates=rates)
