"""Rates of decisions from P, N and U: precision, recall, F1, specificity, cost, lift, and gain over the larger class.

Values are maximum-likelihood estimates, standard errors those of the posterior under Jeffreys' priors, and intervals
come from score tests (`pnulearn._intervals.score_tests`), which hold with few rows and near 0 and 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pnulearn._arrays import AnyArray
from pnulearn._intervals.posterior_draws import draw_decisions
from pnulearn._intervals.posterior_grids import N_QUANTILES, DecisionRates, beta_quantiles, decision_rates_posterior
from pnulearn._intervals.score_tests import (
    F1,
    PRECISION,
    RECALL,
    Measure,
    cost_measure,
    gain_measure,
    lift_measure,
    other_class,
    rate_interval,
)
from pnulearn._problem.alignment import refuse_misaligned
from pnulearn._problem.folds import read_groups
from pnulearn._problem.samples import BY_CLASS, Sampling, read_sampling
from pnulearn.metrics._estimate import Estimate, estimate_from_posterior
from pnulearn.metrics._population import read_population
from pnulearn.metrics._scored_rows import read_costs, read_scores, split_scored_rows
from pnulearn.metrics._variance import decision_shares, loss_samples
from pnulearn.priors._estimate import PriorEstimate
from pnulearn.priors._resolve import read_prior, read_share

EQUAL = 1e-9  # shares that differ by less are equal up to rounding


def pnu_precision(y_true: ArrayLike, y_score: ArrayLike, *, prior: Any = None, **options: Any) -> Estimate:
    """Precision in a population with this class prior: share of positives among rows predicted positive.

    Parameters
    ----------
    y_true : array (rows,)
        Labels. Missing values and the value `unlabeled` mark unlabelled rows.
    y_score : array (rows,)
        Scores; rows above `threshold` (default 0; pass 0.5 for probabilities) are predicted positive, others negative.
    prior : float, (float, float), distribution or PriorEstimate
        Class prior: share of positives in the population that the unlabelled rows come from. It may be uncertain; see
        `pnu_risk`. Optional with sampling="random".
    **options : object
        threshold, confidence, sampling, unlabeled, pos_label, sample_weight and groups, as in `pnu_risk`.

    Examples
    --------
    >>> y = [1] * 10 + [0] * 10 + [None] * 100
    >>> score = [1] * 8 + [-1] * 2 + [1] * 1 + [-1] * 9 + [1] * 35 + [-1] * 65
    >>> print(pnu_precision(y, score, prior=0.4))
    0.8700 ...
    """
    return _estimate_rate(_precision, PRECISION, y_true, y_score, prior, **options)


def pnu_recall(y_true: ArrayLike, y_score: ArrayLike, *, prior: Any = None, **options: Any) -> Estimate:
    """Recall: share of positives that are predicted positive, 1 − FNR. Options as in `pnu_precision`.

    Parameters
    ----------
    y_true : array (rows,)
        Labels. Missing values and the value `unlabeled` mark unlabelled rows.
    y_score : array (rows,)
        g(x), positive for the positive class. For probabilities pass threshold=0.5.
    prior : float, (float, float), distribution or PriorEstimate
        Class prior: share of positives in the population that the unlabelled rows come from. It may be uncertain; see
        `pnu_risk`. Without it, or without unlabelled rows, the labelled positive rows alone are used, unless
        sampling="random" and both classes are labelled.
    **options : object
        threshold, confidence, sampling, unlabeled, pos_label, sample_weight and groups, as in `pnu_risk`.
    """
    return _estimate_rate(_recall, RECALL, y_true, y_score, prior, alone=0, **options)


def pnu_f1(y_true: ArrayLike, y_score: ArrayLike, *, prior: Any = None, **options: Any) -> Estimate:
    """F1 score in a population with this class prior. Options as in `pnu_precision`.

    Parameters
    ----------
    y_true : array (rows,)
        Labels. Missing values and the value `unlabeled` mark unlabelled rows.
    y_score : array (rows,)
        g(x), positive for the positive class. For probabilities pass threshold=0.5.
    prior : float, (float, float), distribution or PriorEstimate
        Class prior: share of positives in the population that the unlabelled rows come from. It may be uncertain; see
        `pnu_risk`. Optional with sampling="random".
    **options : object
        threshold, confidence, sampling, unlabeled, pos_label, sample_weight and groups, as in `pnu_risk`.
    """
    return _estimate_rate(_f1, F1, y_true, y_score, prior, **options)


def pnu_specificity(y_true: ArrayLike, y_score: ArrayLike, *, prior: Any = None, **options: Any) -> Estimate:
    """Specificity: share of negatives that are predicted negative, 1 − FPR. Options as in `pnu_precision`.

    Parameters
    ----------
    y_true : array (rows,)
        Labels. Missing values and the value `unlabeled` mark unlabelled rows.
    y_score : array (rows,)
        g(x), positive for the positive class. For probabilities pass threshold=0.5.
    prior : float, (float, float), distribution or PriorEstimate
        Class prior: share of positives in the population that the unlabelled rows come from. It may be uncertain; see
        `pnu_risk`. Without it, or without unlabelled rows, the labelled negative rows alone are used, unless
        sampling="random" and both classes are labelled.
    **options : object
        threshold, confidence, sampling, unlabeled, pos_label, sample_weight and groups, as in `pnu_risk`.
    """
    return _estimate_rate(_specificity, other_class(RECALL), y_true, y_score, prior, alone=1, **options)


def pnu_cost(
    y_true: ArrayLike, y_score: ArrayLike, *, prior: Any = None, costs: tuple[float, float], **options: Any
) -> Estimate:
    """Cost of errors per row of the population: c_fn θ FNR + c_fp (1 − θ) FPR. Options as in `pnu_precision`.

    Parameters
    ----------
    y_true : array (rows,)
        Labels. Missing values and the value `unlabeled` mark unlabelled rows.
    y_score : array (rows,)
        g(x), positive for the positive class. For probabilities pass threshold=0.5.
    prior : float, (float, float), distribution or PriorEstimate
        Class prior: share of positives in the population that the unlabelled rows come from. It may be uncertain; see
        `pnu_risk`. Optional with sampling="random".
    costs : (float, float)
        Cost of a false negative and cost of a false positive.
    **options : object
        threshold, confidence, sampling, unlabeled, pos_label, sample_weight and groups, as in `pnu_risk`.

    Examples
    --------
    >>> y = [1] * 10 + [0] * 10 + [None] * 100
    >>> score = [1] * 8 + [-1] * 2 + [1] * 1 + [-1] * 9 + [1] * 35 + [-1] * 65
    >>> print(pnu_cost(y, score, prior=0.4, costs=(5, 1)))
    0.4937 ...
    """
    missed, alarm = read_costs(costs)

    def cost(_: AnyArray, wrong: AnyArray) -> AnyArray:
        return np.asarray(missed * wrong[0] + alarm * wrong[1])

    return _estimate_rate(cost, lambda given: cost_measure(given, (missed, alarm)), y_true, y_score, prior, **options)


def _estimate_rate(
    metric: Callable[[AnyArray, AnyArray], AnyArray],
    measure: Measure | Callable[[PriorEstimate], Measure],
    y_true: ArrayLike,
    y_score: ArrayLike,
    prior: Any,
    *,
    threshold: float | None = None,
    confidence: float = 0.95,
    sampling: Sampling = "by_class",
    unlabeled: Any = None,
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    alone: int | None = None,
) -> Estimate:
    """The estimate of a metric; `alone` is the place of the sample, P or N, whose errors determine it."""
    refuse_misaligned(y_true=y_true, y_score=y_score, sample_weight=sample_weight, groups=groups)
    confidence = read_share(confidence, "confidence")
    rows = split_scored_rows(y_true, unlabeled, pos_label, sample_weight)
    y_scores = read_scores(y_score, len(rows.weight), threshold)
    scores = rows.take(y_scores)
    apart = None if groups is None else rows.take(read_groups(groups, len(rows.weight)))
    share, size = decision_shares(loss_samples(scores, weights=rows.weights, groups=apart))
    prior = prior if prior is None else read_prior(prior)
    counted = read_sampling(sampling) != BY_CLASS and size[:2].all()  # random labels of both classes tell the prior
    if alone is not None and size[alone] and (not size[2] or (prior is None and not counted)):
        return _correct_share(1 - float(share[alone]), float(size[alone]), confidence)
    population = read_population(prior, sampling, rows, y_scores, apart)
    class_prior = population.of_unlabeled
    theta = float(class_prior.mean)
    value = float(metric(*_population_shares(DecisionRates(share, size, theta).fit(), population.prior(theta))))
    priors, rates, probability = decision_rates_posterior(share, size, class_prior)
    values = metric(*_population_shares(rates, population.prior(priors)))
    measure = measure if isinstance(measure, Measure) else measure(population.of_table)
    interval = rate_interval(share, size, class_prior, measure.of_population(population.prior), confidence)
    return estimate_from_posterior(value, values, probability, confidence, interval)


def _correct_share(value: float, size: float, confidence: float) -> Estimate:
    """Share of correct predictions among the rows of one class, from these rows alone: a binomial proportion."""
    values = beta_quantiles(size * value, size * (1 - value), N_QUANTILES)
    share, sizes = np.array([1 - value, 0.0, 0.0]), np.array([size, 0.0, 0.0])
    interval = rate_interval(share, sizes, PriorEstimate.known(0.5), RECALL, confidence)
    return estimate_from_posterior(value, values, np.full(N_QUANTILES, 1 / N_QUANTILES), confidence, interval)


def _population_shares(rates: AnyArray, prior: AnyArray | float) -> tuple[AnyArray, AnyArray]:
    """Shares of the population: true positives, and an array with false negatives and false positives."""
    return prior * (1 - rates[0]), np.stack([prior * rates[0], (1 - prior) * rates[1]])


def _recall(true: AnyArray, wrong: AnyArray) -> AnyArray:
    return true / (true + wrong[0])


def _specificity(true: AnyArray, wrong: AnyArray) -> AnyArray:
    """The share of negatives is 1 − true positives − false negatives."""
    return 1 - wrong[1] / (1 - true - wrong[0])


def _precision(true: AnyArray, wrong: AnyArray) -> AnyArray:
    """Zero if nothing is predicted positive, as in scikit-learn."""
    called = true + wrong[1]
    return true / np.where(called > 0, called, 1.0)


def _f1(true: AnyArray, wrong: AnyArray) -> AnyArray:
    return 2 * true / (2 * true + wrong.sum(axis=0))


@dataclass(frozen=True)
class Quality:
    """Rates of a decision rule in the population, and its gain over always predicting the larger class.

    Parameters
    ----------
    error : Estimate
        Error rate.
    yardstick : Estimate
        Error rate of the baseline that always predicts the larger class.
    gain : Estimate
        yardstick − error, estimated jointly because both depend on the class prior.
    precision : tuple of Estimate
        Precision of every class.
    recall : tuple of Estimate
        Recall of every class.
    lift : tuple of Estimate
        Precision divided by the share of the class, for every class; 1 for random decisions.
    called : tuple of float
        Share of the population that is predicted to be in each class.
    chance_better : float
        Posterior probability that the error rate is below the baseline's.
    larger : int
        Code of the larger class.
    """

    error: Estimate
    yardstick: Estimate
    gain: Estimate
    precision: tuple[Estimate, ...]
    recall: tuple[Estimate, ...]
    lift: tuple[Estimate, ...]
    called: tuple[float, ...]
    chance_better: float
    larger: int


def count_decisions(
    groups: Sequence[AnyArray], called: AnyArray, n_classes: int, weight: AnyArray | None = None
) -> AnyArray:
    """Number of rows by group and predicted class, (groups, classes).

    Weighted rows are scaled to Kish's effective sample size (Σ w)² / Σ w².

    Parameters
    ----------
    groups : sequence of arrays
        Row numbers of every class in code order, then of unlabelled rows.
    called : array (rows,)
        Predicted class code of every row.
    n_classes : int
        Number of classes.
    weight : array (rows,), optional
        Weights of the rows.

    Examples
    --------
    >>> count_decisions([np.array([0]), np.array([1, 2]), np.array([3])], np.array([0, 1, 0, 1]), 2).tolist()
    [[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]
    """
    weight = np.ones(len(called)) if weight is None else weight
    table = np.zeros((len(groups), n_classes))
    for row, group in zip(table, groups, strict=True):
        w = weight[group]
        if w.any():
            row += np.bincount(called[group], weights=w, minlength=n_classes) * w.sum() / (w**2).sum()
    return table


def judge_decisions(
    table: AnyArray, prior: PriorEstimate, error: Estimate | None = None, confidence: float = 0.95
) -> Quality | None:
    """Rates of a decision rule from its table of counts; None if fewer than two groups have rows.

    Parameters
    ----------
    table : array (classes + 1, classes)
        Counts from `count_decisions`.
    prior : PriorEstimate
        Class prior and its uncertainty.
    error : Estimate, optional
        Error rate, if already estimated.
    confidence : float
        Confidence level of every interval.

    Examples
    --------
    >>> table = np.array([[9.0, 1.0], [2.0, 8.0], [65.0, 35.0]])
    >>> found = judge_decisions(table, PriorEstimate.known(0.4))
    >>> print(found.precision[1])
    0.8700 ± 0.1000, 95 % interval 0.6052 to 0.9871
    >>> round(found.yardstick.value, 3), found.larger
    (0.4, 0)
    """
    if not _has_enough_groups(table):
        return None
    two = table.shape[1] == 2
    shares, rates, probability = _posterior_of_two(table, prior) if two else _posterior_of_many(table, prior)
    likely = _fit_two(table, prior) if two else (np.asarray(prior.shares), table[:-1] / _row_sums(table[:-1]))
    drawn, best = _measures(shares, rates), _measures(*(part[..., None] for part in likely))

    def estimate(values: AnyArray, value: float, measure: Measure | None = None) -> Estimate:
        interval = None
        if two and measure is not None:
            interval = rate_interval(*_shares_of_two(table), prior, measure, confidence)
        return estimate_from_posterior(value, values, probability, confidence, interval)

    def by_class(name: str, *measures: Measure) -> tuple[Estimate, ...]:
        given = measures if two else [None] * len(drawn[name])
        return tuple(map(estimate, drawn[name], best[name][:, 0].tolist(), given))

    larger = int(np.argmax(likely[0] > likely[0].max() - EQUAL))  # the first of equally large classes
    wrong, always = 1 - drawn["right"].sum(axis=0), 1 - shares[larger]
    error = (
        estimate(wrong, 1 - float(best["right"].sum()), cost_measure(prior) if two else None)
        if error is None
        else error
    )
    lifts = [lift_measure(prior, positive) for positive in (False, True)] if two else []
    yardstick = estimate(always, 1 - float(likely[0][larger]))
    return Quality(
        error,
        yardstick,
        estimate(always - wrong, yardstick.value - error.value, gain_measure(prior, larger == 1) if two else None),
        by_class("precision", other_class(PRECISION), PRECISION),
        by_class("recall", other_class(RECALL), RECALL),
        by_class("lift", *lifts),
        tuple(_called_shares(table, likely).tolist()),
        float(probability @ (wrong < always)),
        larger,
    )


def judge_positives(
    table: AnyArray, prior: PriorEstimate, confidence: float = 0.95
) -> tuple[Estimate, Estimate, float] | None:
    """Precision and recall of the positive one of two classes and the share called positive, as `judge_decisions` has.

    It takes a quarter of the time, for tables of many thresholds; None if fewer than two groups have rows.
    """
    if not _has_enough_groups(table):
        return None
    shares, rates, probability = _posterior_of_two(table, prior)
    likely = _fit_two(table, prior)
    drawn, best = _measures(shares, rates), _measures(*(part[..., None] for part in likely))
    precision, recall = (
        estimate_from_posterior(
            float(best[name][1, 0]),
            drawn[name][1],
            probability,
            confidence,
            rate_interval(*_shares_of_two(table), prior, measure, confidence),
        )
        for name, measure in (("precision", PRECISION), ("recall", RECALL))
    )
    return precision, recall, float(_called_shares(table, likely)[1])


def _has_enough_groups(table: AnyArray) -> bool:
    """Whether at least two groups have rows; with more than two classes, every class needs rows."""
    seen = table.sum(axis=1) > 0
    return bool(seen.sum() > 1 and (table.shape[1] == 2 or seen[:-1].all()))


def _measures(shares: AnyArray, rates: AnyArray) -> dict[str, AnyArray]:
    """Measures (K, n) from class shares (K, n) and rates (K, K, n) of predicted classes within true classes."""
    right = np.einsum("kn,kkn->kn", shares, rates)
    called = np.einsum("kn,kjn->jn", shares, rates)
    precision = right / np.where(called > 0, called, 1.0)
    return {"right": right, "precision": precision, "recall": right / shares, "lift": precision / shares}


def _called_shares(table: AnyArray, likely: tuple[AnyArray, AnyArray]) -> AnyArray:
    """Shares of predicted classes: observed on U, or computed from the rates if U is empty."""
    return table[-1] / table[-1].sum() if table[-1].any() else likely[0] @ likely[1]


def _row_sums(table: AnyArray) -> AnyArray:
    return table.sum(axis=1, keepdims=True)


def _shares_of_two(table: AnyArray) -> tuple[AnyArray, AnyArray]:
    """Error shares of P and N, share of U predicted positive, and the three sample sizes."""
    size = table.sum(axis=1)[[1, 0, 2]]
    return table[[1, 0, 2], [0, 1, 1]] / np.maximum(size, 1e-300), size


def _posterior_of_two(table: AnyArray, prior: PriorEstimate) -> tuple[AnyArray, AnyArray, AnyArray]:
    theta, (fnr, fpr), probability = decision_rates_posterior(*_shares_of_two(table), prior)
    return np.stack([1 - theta, theta]), np.array([[1 - fpr, fpr], [fnr, 1 - fnr]]), probability


def _fit_two(table: AnyArray, prior: PriorEstimate) -> tuple[AnyArray, AnyArray]:
    theta = float(prior.mean)
    fnr, fpr = DecisionRates(*_shares_of_two(table), theta).fit()
    return np.array([1 - theta, theta]), np.array([[1 - fpr, fpr], [fnr, 1 - fnr]])


def _posterior_of_many(table: AnyArray, prior: PriorEstimate) -> tuple[AnyArray, AnyArray, AnyArray]:
    shares, rates = draw_decisions(table, prior)
    n_draws = rates.shape[-1]
    return shares, rates, np.full(n_draws, 1 / n_draws)
