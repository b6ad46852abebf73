"""ROC and precision-recall curves, AUC and average precision, reliability diagrams and the best threshold.

Given the class prior θ, a positive row scores above an unlabelled one with probability θ/2 + (1 − θ) AUC, and an
unlabelled row scores above a negative one with probability θ AUC + (1 − θ)/2. Each pair of samples therefore gives an
unbiased estimate of AUC. Curves are computed from posterior draws of both error rates at every threshold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from pnulearn._arrays import AnyArray, FloatArray
from pnulearn._extras import import_extra
from pnulearn._intervals.auc_tests import auc_interval, best_pair_mix, pair_weights
from pnulearn._intervals.closed_forms import AUC_PSEUDO_ROWS, auc_stderr, delong_covariance
from pnulearn._intervals.posterior_draws import (
    ScoreDraws,
    curve_band,
    draw_bins,
    draw_scores,
    least_cost_set,
    mean_distance_interval,
    percentile_interval,
)
from pnulearn._intervals.posterior_grids import N_PRIORS
from pnulearn._numbers import read_count
from pnulearn._problem.alignment import refuse_misaligned
from pnulearn._problem.samples import Sampling
from pnulearn.metrics._estimate import Estimate, RiskEstimate
from pnulearn.metrics._population import Population, read_population
from pnulearn.metrics._scored_rows import read_costs, read_scores, split_scored_rows
from pnulearn.priors._estimate import PriorEstimate
from pnulearn.priors._resolve import read_share
from pnulearn.theory import forced_mix

GRID = np.linspace(0, 1, 51)
N_BINS = 10
AXES = {  # names of both axes
    "ROC": ("false positive rate", "recall (true positive rate)"),
    "precision-recall": ("recall", "precision"),
    "reliability": ("predicted probability", "share of positives"),
}
PSEUDO_ROWS = 1.0  # per class; without them the range contains the best threshold in only half of the samples


@dataclass(frozen=True)
class Curve:
    """A curve with a simultaneous band.

    Parameters
    ----------
    name : str
        "ROC", "precision-recall" or "reliability".
    x : array (points,)
        False positive rates, recalls, or mean predicted probabilities.
    y : array (points,)
        True positive rates, precisions, or shares of positives.
    low : array (points,)
        Lower edge of the band.
    high : array (points,)
        Upper edge of the band.
    area : Estimate
        Area under the ROC curve, average precision, or calibration error.
    confidence : float
        Confidence level of the band.
    thresholds : array (points,) or None
        Rows with a score above it are predicted positive: the least threshold at which the false positive rate is at
        most `x`, or the greatest at which the recall is at least `x`. None for a reliability diagram.
    """

    name: str
    x: FloatArray
    y: FloatArray
    low: FloatArray
    high: FloatArray
    area: Estimate
    confidence: float = 0.95
    thresholds: FloatArray | None = None

    def plot(self, ax: Any = None) -> Any:
        """Draw the curve and its band.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Axes to draw on. Default: new axes.
        """
        if ax is None:
            with import_extra("report", "Drawing"):
                import matplotlib.pyplot as plt

            ax = plt.figure(layout="constrained").subplots()
        ax.fill_between(self.x, self.low, self.high, alpha=0.2, label=f"{100 * self.confidence:g} % band")
        ax.plot(self.x, self.y, label=self.name)
        ax.set(xlim=(0, 1), ylim=(0, 1.02), xlabel=AXES[self.name][0], ylabel=AXES[self.name][1])
        ax.legend()
        return ax


def pnu_roc_curve(
    y_true: ArrayLike, y_score: ArrayLike, *, prior: Any = None, confidence: float = 0.95, **options: Any
) -> Curve:
    """ROC curve from P, N and U, with a simultaneous confidence band.

    Parameters
    ----------
    y_true : array (rows,)
        Labels. Missing values and the value `unlabeled` mark unlabelled rows.
    y_score : array (rows,)
        Scores, greater for the positive class.
    prior : float, (float, float), distribution or PriorEstimate
        Class prior: share of positives in the population that the unlabelled rows come from. It may be uncertain; see
        `pnu_risk`. Optional with sampling="random".
    confidence : float
        Confidence level of the band.
    **options : object
        sampling, unlabeled, pos_label and sample_weight, as in `pnu_risk`.

    Examples
    --------
    >>> y = [1] * 10 + [0] * 10 + [None] * 100
    >>> score = [*range(5, 15), *range(10), *range(100)]
    >>> curve = pnu_roc_curve(y, score, prior=0.4)
    >>> bool((curve.low <= curve.y).all() and (curve.y <= curve.high).all())
    True
    """
    draws = _draws(y_true, y_score, prior, **options)
    pairs = zip(draws.fpr[:, ::-1], draws.recall[:, ::-1], strict=True)
    curves = np.array([np.interp(GRID, fpr, recall) for fpr, recall in pairs])
    middle = (draws.recall[:, 1:] + draws.recall[:, :-1]) / 2
    areas = np.sum(-np.diff(draws.fpr, axis=1) * middle, axis=1)
    thresholds = draws.thresholds[np.argmax(draws.fpr[0] <= GRID[:, None] + 1e-12, axis=1)]
    curve = _curve("ROC", GRID, curves, _estimate_area(areas, draws, confidence), confidence, thresholds)
    return replace(curve, low=np.where(GRID > 0, curve.low, 0.0))  # no sample shows that a rate of exactly 0 is reached


def pnu_precision_recall_curve(
    y_true: ArrayLike, y_score: ArrayLike, *, prior: Any = None, confidence: float = 0.95, **options: Any
) -> Curve:
    """Precision-recall curve in a population with this class prior, with a simultaneous confidence band.

    Parameters
    ----------
    y_true : array (rows,)
        Labels. Missing values and the value `unlabeled` mark unlabelled rows.
    y_score : array (rows,)
        Scores, greater for the positive class.
    prior : float, (float, float), distribution or PriorEstimate
        Class prior: share of positives in the population that the unlabelled rows come from. It may be uncertain; see
        `pnu_risk`. Optional with sampling="random".
    confidence : float
        Confidence level of the band.
    **options : object
        sampling, unlabeled, pos_label and sample_weight, as in `pnu_risk`.
    """
    draws = _draws(y_true, y_score, prior, **options)
    grid = GRID[1:]
    precision, recall = draws.precision[:, ::-1], draws.recall[:, ::-1]
    place = [np.minimum(np.searchsorted(r, grid - 1e-12), len(r) - 1) for r in recall]
    curves = np.array([p[k] for p, k in zip(precision, place, strict=True)])
    area = _estimate_area(_average_precision(draws), draws, confidence)
    return _curve("precision-recall", grid, curves, area, confidence, draws.thresholds[::-1][place[0]])


def pnu_average_precision(
    y_true: ArrayLike, y_score: ArrayLike, *, prior: Any = None, confidence: float = 0.95, **options: Any
) -> Estimate:
    """Average precision in a population with this class prior: mean precision at the scores of the positive rows.

    Parameters
    ----------
    y_true : array (rows,)
        Labels. Missing values and the value `unlabeled` mark unlabelled rows.
    y_score : array (rows,)
        Scores, greater for the positive class.
    prior : float, (float, float), distribution or PriorEstimate
        Class prior: share of positives in the population that the unlabelled rows come from. It may be uncertain; see
        `pnu_risk`. Optional with sampling="random".
    confidence : float
        Confidence level of the interval.
    **options : object
        sampling, unlabeled, pos_label and sample_weight, as in `pnu_risk`.
    """
    draws = _draws(y_true, y_score, prior, **options)
    return _estimate_area(_average_precision(draws), draws, confidence)


def pnu_reliability(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    prior: Any = None,
    confidence: float = 0.95,
    n_bins: int = N_BINS,
    **options: Any,
) -> Curve:
    """Reliability diagram: share of positives per bin of predicted probability, with a simultaneous confidence band.

    `area` is the expected calibration error: the mean absolute difference between predicted probabilities and shares of
    positives over bins with equally many rows. Its interval is derived from the band and is conservative.

    Parameters
    ----------
    y_true : array (rows,)
        Labels. Missing values and the value `unlabeled` mark unlabelled rows.
    y_score : array (rows,)
        Predicted probabilities of the positive class.
    prior : float, (float, float), distribution or PriorEstimate
        Class prior: share of positives in the population that the unlabelled rows come from. It may be uncertain; see
        `pnu_risk`. Optional with sampling="random".
    confidence : float
        Confidence level of the band.
    n_bins : int
        Maximum number of bins.
    **options : object
        sampling, unlabeled, pos_label and sample_weight, as in `pnu_risk`.
    """
    confidence, n_bins = read_share(confidence, "confidence"), read_count("n_bins", n_bins)
    scores, weights, population = _read(y_true, y_score, prior, **options)
    if population.sample is not None:  # U and the labelled rows stand for the population
        scores, weights = [[*parts[:2], np.concatenate(parts)] for parts in (scores, weights)]
    if min(g.min(initial=0) for g in scores) < 0 or max(g.max(initial=0) for g in scores) > 1:
        raise ValueError("A reliability diagram needs probabilities between 0 and 1, e.g. predict_proba(X)[:, 1].")
    usual = scores[2] if len(scores[2]) else np.concatenate(scores[:2])
    n_bins = min(n_bins, len(usual))
    edges = np.unique(np.quantile(usual, np.linspace(0, 1, n_bins + 1)[1:-1], method="inverted_cdf"))
    cuts = np.concatenate([[-np.inf], edges[edges < usual.max()], [np.inf]])
    share = draw_bins(scores, population.of_table, weights, cuts)
    place = np.searchsorted(cuts, usual, "left") - 1
    rows = np.bincount(place, minlength=len(cuts) - 1)
    said = np.bincount(place, weights=usual, minlength=len(cuts) - 1) / np.maximum(rows, 1)
    low, high = curve_band(share, confidence)
    if len(scores[0]) and len(scores[1]):
        seen = [np.isin(np.arange(len(said)), np.searchsorted(cuts, part, "left") - 1) for part in scores[:2]]
        low, high = np.where(seen[0], low, 0.0), np.where(seen[1], high, 1.0)
    part = rows / rows.sum()
    value = float(part @ np.abs(share[0] - said))
    stderr = float(np.std(np.abs(share[1:] - said) @ part))
    error = Estimate(value, stderr, *mean_distance_interval(low, high, said, part), confidence=confidence)
    return Curve("reliability", said, share[0], low, high, error, confidence)


def pnu_best_threshold(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    prior: Any = None,
    costs: tuple[float, float] = (1.0, 1.0),
    confidence: float = 0.95,
    **options: Any,
) -> Estimate:
    """Threshold of least expected cost, with a confidence range.

    The range is the smallest interval that contains all thresholds that are not significantly worse than the estimated
    best one. It is conservative. An end is infinite if predicting every row positive, or every row negative, may be
    best. Rows above the threshold are predicted positive; a score equal to it is predicted negative.

    Parameters
    ----------
    y_true : array (rows,)
        Labels. Missing values and the value `unlabeled` mark unlabelled rows.
    y_score : array (rows,)
        Scores, greater for the positive class.
    prior : float, (float, float), distribution or PriorEstimate
        Class prior: share of positives in the population that the unlabelled rows come from. It may be uncertain; see
        `pnu_risk`. Optional with sampling="random".
    costs : (float, float)
        Cost of a false negative and cost of a false positive.
    confidence : float
        Confidence level of the range.
    **options : object
        sampling, unlabeled, pos_label and sample_weight, as in `pnu_risk`.
    """
    read_share(confidence, "confidence")
    draws = _draws(y_true, y_score, prior, pseudo_rows=PSEUDO_ROWS, **options)
    cost = draws.cost(read_costs(costs))
    kept = least_cost_set(cost, confidence)
    best, *drawn = draws.thresholds[np.argmin(cost, axis=1)]
    ends = np.concatenate([[-np.inf], draws.thresholds, [np.inf]])  # extended by one threshold on either side, because
    low, high = float(ends[kept.min()]), float(ends[kept.max() + 2])  # values between thresholds were not evaluated
    return Estimate(float(best), float(np.std(drawn)), low, high, confidence=confidence)


def _read(y_true: ArrayLike, y_score: ArrayLike, prior: Any, **options: Any) -> tuple[Any, Any, Population]:
    if options.pop("groups", None) is not None:
        raise ValueError(
            "Curves, average precision and thresholds do not support groups: intervals would be too narrow. "
            "Pass groups= to pnu_risk, pnu_precision, pnu_recall or compare, or keep one row of each group."
        )
    refuse_misaligned(y_true=y_true, y_score=y_score, sample_weight=options.get("sample_weight"))
    groups = split_scored_rows(
        y_true, options.pop("unlabeled", None), options.pop("pos_label", None), options.pop("sample_weight", None)
    )
    scores = read_scores(y_score, len(groups.weight), 0.0)
    population = read_population(prior, options.pop("sampling", "by_class"), groups, scores)
    if options:
        raise TypeError(
            f"unknown option {next(iter(options))!r}; options are sampling, unlabeled, pos_label and sample_weight."
        )
    return groups.take(scores), groups.weights, population


def _draws(y_true: ArrayLike, y_score: ArrayLike, prior: Any, pseudo_rows: float = 0.0, **options: Any) -> ScoreDraws:
    scores, weights, population = _read(y_true, y_score, prior, **options)
    draws = draw_scores(scores, population.of_unlabeled, weights, pseudo_rows)
    return replace(draws, prior=np.asarray(population.prior(draws.prior)))


def _average_precision(draws: ScoreDraws) -> FloatArray:
    """Σ over thresholds of precision times the increase of recall."""
    recall, precision = draws.recall[:, ::-1], draws.precision[:, ::-1]
    return np.sum(np.diff(recall, axis=1, prepend=0.0) * precision, axis=1)


def _estimate_area(areas: FloatArray, draws: ScoreDraws, confidence: float) -> Estimate:
    """Estimate and interval of an area, from an array that holds the estimate first and then the draws.

    The upper end is 1 if every labelled positive row scores above every negative one.
    """
    read_share(confidence, "confidence")
    areas = np.clip(areas, 0, 1)
    low, high = map(float, percentile_interval(areas, confidence))
    most = 1.0 if draws.perfect else high
    return Estimate(float(areas[0]), float(areas[1:].std()), low, most, confidence=confidence)


def _curve(
    name: str, x: FloatArray, curves: FloatArray, area: Estimate, confidence: float, thresholds: FloatArray
) -> Curve:
    return Curve(name, x, curves[0], *curve_band(curves, confidence), area, confidence, thresholds)


def pnu_auc(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    prior: Any = None,
    mix: float | Literal["optimal"] = "optimal",
    confidence: float = 0.95,
    sampling: Sampling = "by_class",
    unlabeled: Any = None,
    pos_label: Any = None,
) -> RiskEstimate:
    """Area under the ROC curve: probability that a positive row scores above a negative one, ties counting a half.

    Parameters
    ----------
    y_true : array (rows,)
        Labels. Missing values and the value `unlabeled` mark unlabelled rows.
    y_score : array (rows,)
        Scores, greater for the positive class.
    prior : float, (float, float), distribution or PriorEstimate
        Class prior: share of positives in the population that the unlabelled rows come from. It may be uncertain; see
        `pnu_risk`. Optional with sampling="random".
    mix : float or "optimal"
        Weight η of U in [−1, 1]: (1 − η) PN + η PU for η > 0, (1 + η) PN − η NU for η < 0. "optimal" minimises the
        estimated variance.
    confidence : float
        Confidence level of the interval.
    sampling : "by_class" or "random"
        As in `pnu_risk`.
    unlabeled : object, optional
        Value in y that marks unlabelled rows, in addition to missing values.
    pos_label : object, optional
        The positive class. Default: the larger label.

    Examples
    --------
    >>> y = [1] * 4 + [0] * 4 + [None] * 6
    >>> score = [4, 3, 2, -1, 1, -2, -3, -4, 5, 2.5, 0, -0.5, -1.5, -5]
    >>> print(pnu_auc(y, score, prior=0.4))
    0.9262 ± 0.1218, 95 % interval 0.4310 to 1.0000 (mix 0.07)
    """
    refuse_misaligned(y_true=y_true, y_score=y_score)
    confidence = read_share(confidence, "confidence")
    groups = split_scored_rows(y_true, unlabeled, pos_label)
    scores = read_scores(y_score, len(groups.weight), 0.0)
    class_prior = read_population(prior, sampling, groups, scores).of_unlabeled
    samples = groups.take(scores)
    wins = _pairs_won(*samples)
    eta = _choose_mix(wins, class_prior, mix)
    weights, constant = pair_weights(eta, float(class_prior.mean))
    _refuse_empty(weights, samples, eta)
    value = float(np.clip(weights @ _pair_shares(wins) + constant, 0, 1))
    stderr = float(np.hypot(auc_stderr(weights, wins), _prior_deviation(eta, class_prior, wins)))
    fixed = None if mix == "optimal" and all(map(len, wins)) else eta
    low, high = auc_interval(wins, class_prior, confidence, fixed)
    return RiskEstimate(value, stderr, min(low, value), max(high, value), eta, confidence=confidence)


def _pairs_won(positive: AnyArray, negative: AnyArray, unlabeled: AnyArray) -> list[AnyArray]:
    """Per row of P, N and U: share of its pairs (P, N), (P, U), (U, N) whose first row scores higher, (n, 3)."""
    return [
        np.column_stack([count_beaten(positive, negative), count_beaten(positive, unlabeled), 0 * positive]),
        np.column_stack([1 - count_beaten(negative, positive), 0 * negative, 1 - count_beaten(negative, unlabeled)]),
        np.column_stack([0 * unlabeled, 1 - count_beaten(unlabeled, positive), count_beaten(unlabeled, negative)]),
    ]


def count_beaten(scores: AnyArray, others: AnyArray) -> AnyArray:
    """For every score, the share of `others` below it, ties counting a half.

    >>> count_beaten(np.array([1.0, 2.0]), np.array([0.0, 1.0])).tolist()
    [0.75, 1.0]
    """
    ranked = np.sort(others)
    below = np.searchsorted(ranked, scores, "left") + np.searchsorted(ranked, scores, "right")
    return below / (2 * max(len(others), 1))


def _pair_shares(wins: Sequence[AnyArray]) -> AnyArray:
    """Shares of pairs (P, N), (P, U), (U, N) in which the first scores higher; zero if a sample is empty."""
    means = [rows.mean(axis=0) if len(rows) else np.zeros(3) for rows in wins]
    return np.array([means[0][0], means[0][1], means[1][2]])


def _prior_deviation(mix: float, prior: PriorEstimate, wins: Sequence[AnyArray]) -> float:
    """Standard deviation of the estimate over the distribution of the class prior."""
    if not prior.spread or not mix:
        return 0.0
    weights, constants = pair_weights(mix, prior.points(N_PRIORS))
    return float(np.std((weights * _pair_shares(wins)).sum(axis=-1) + constants))


def _choose_mix(wins: Sequence[AnyArray], prior: PriorEstimate, mix: Any) -> float:
    if isinstance(mix, Real) and -1 <= float(mix) <= 1:
        return float(mix)
    if mix != "optimal":
        raise ValueError(f"mix must be a number in [-1, 1] or 'optimal', got {mix!r}.")
    forced = forced_mix(*map(len, wins))
    if forced is not None:
        return forced
    covariance = delong_covariance(wins, AUC_PSEUDO_ROWS)
    drifts = (np.array(_prior_deviation(side, prior, wins) ** 2) for side in (1, -1))
    return float(best_pair_mix(covariance, np.array(float(prior.mean)), *drifts))


def _refuse_empty(weights: AnyArray, samples: Sequence[AnyArray], mix: float) -> None:
    for pair, weight in zip(((0, 1), (0, 2), (2, 1)), weights, strict=True):
        for sample in pair:
            if weight and not len(samples[sample]):
                name = ("positive", "negative", "unlabelled")[sample]
                raise ValueError(f"The AUC at mix {mix:g} needs {name} rows and found none. Use mix='optimal'.")
