"""Precision, recall and F1 of a decision rule, estimated from P, N and U.

Values are those at the error rates of greatest likelihood. Standard errors and intervals are those of the posterior
under Jeffreys' priors, which keeps its promise for ten rows and near 0 and 1, where the delta method and the
bootstrap do not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pnulearn._arrays import AnyArray
from pnulearn._problem.folds import read_groups
from pnulearn.metrics.costs import read_costs
from pnulearn.metrics.estimate import Estimate
from pnulearn.metrics.rates import Called, rates_under, weighted_quantiles
from pnulearn.metrics.risk import loss_samples
from pnulearn.metrics.scored_rows import read_scores, split_scored_rows
from pnulearn.metrics.spread import LossSample
from pnulearn.priors.given import read_prior, read_share


def pnu_precision(y_true: ArrayLike, y_score: ArrayLike, *, prior: Any, **options: Any) -> Estimate:
    """Share of positives among the rows called positive, in a population with that class prior.

    Parameters
    ----------
    y_true : array (rows,)
        Labels; missing values and `unlabeled` mark unlabelled rows.
    y_score
        rows with a score above `threshold` (by default 0; take 0.5 for probabilities) are called positive.
    prior : float, (float, float), distribution or PriorEstimate
        Share of positives in the population, which the unlabelled rows are drawn from, or what is known about it; see
        `pnu_risk`.
    **options
        threshold, confidence, unlabeled, pos_label, sample_weight and groups, as in `pnu_risk`.

    Examples
    --------
    >>> y = [1] * 10 + [0] * 10 + [None] * 100
    >>> score = [1] * 8 + [-1] * 2 + [1] * 1 + [-1] * 9 + [1] * 35 + [-1] * 65
    >>> print(pnu_precision(y, score, prior=0.4))
    0.8700 ...
    """
    return _estimate(_precision, y_true, y_score, prior, **options)


def pnu_recall(y_true: ArrayLike, y_score: ArrayLike, *, prior: Any, **options: Any) -> Estimate:
    """Share of positives that are called positive, 1 − FNR. Options as in `pnu_precision`.

    Parameters
    ----------
    y_true : array (rows,)
        Labels; missing values and `unlabeled` mark unlabelled rows.
    y_score : array (rows,)
        g(x), positive for the positive class. For probabilities pass threshold=0.5.
    prior : float, (float, float), distribution or PriorEstimate
        Share of positives in the population, which the unlabelled rows are drawn from, or what is known about it; see
        `pnu_risk`.
    **options : object
        Further arguments, passed on.
    """
    return _estimate(_recall, y_true, y_score, prior, **options)


def pnu_f1(y_true: ArrayLike, y_score: ArrayLike, *, prior: Any, **options: Any) -> Estimate:
    """Harmonic mean of precision and recall in a population with that class prior. Options as in `pnu_precision`.

    Parameters
    ----------
    y_true : array (rows,)
        Labels; missing values and `unlabeled` mark unlabelled rows.
    y_score : array (rows,)
        g(x), positive for the positive class. For probabilities pass threshold=0.5.
    prior : float, (float, float), distribution or PriorEstimate
        Share of positives in the population, which the unlabelled rows are drawn from, or what is known about it; see
        `pnu_risk`.
    **options : object
        Further arguments, passed on.
    """
    return _estimate(_f1, y_true, y_score, prior, **options)


def pnu_specificity(y_true: ArrayLike, y_score: ArrayLike, *, prior: Any, **options: Any) -> Estimate:
    """Share of negatives that are called negative, 1 − FPR. Options as in `pnu_precision`.

    Parameters
    ----------
    y_true : array (rows,)
        Labels; missing values and `unlabeled` mark unlabelled rows.
    y_score : array (rows,)
        g(x), positive for the positive class. For probabilities pass threshold=0.5.
    prior : float, (float, float), distribution or PriorEstimate
        Share of positives in the population, which the unlabelled rows are drawn from, or what is known about it; see
        `pnu_risk`.
    **options : object
        Further arguments, passed on.
    """
    return _estimate(_specificity, y_true, y_score, prior, **options)


def pnu_cost(
    y_true: ArrayLike, y_score: ArrayLike, *, prior: Any, costs: tuple[float, float], **options: Any
) -> Estimate:
    """What errors cost per row of the population: c_fn θ FNR + c_fp (1 − θ) FPR. Options as in `pnu_precision`.

    Parameters
    ----------
    y_true : array (rows,)
        Labels; missing values and `unlabeled` mark unlabelled rows.
    y_score : array (rows,)
        g(x), positive for the positive class. For probabilities pass threshold=0.5.
    prior : float, (float, float), distribution or PriorEstimate
        Share of positives in the population, which the unlabelled rows are drawn from, or what is known about it; see
        `pnu_risk`.
    costs : (float, float)
        What a positive row that is called negative costs, and a negative one that is called positive.
    **options : object
        Further arguments, passed on.

    Examples
    --------
    >>> y = [1] * 10 + [0] * 10 + [None] * 100
    >>> score = [1] * 8 + [-1] * 2 + [1] * 1 + [-1] * 9 + [1] * 35 + [-1] * 65
    >>> print(pnu_cost(y, score, prior=0.4, costs=(5, 1)))
    0.4937 ...
    """
    missed, alarm = read_costs(costs)
    return _estimate(lambda _, wrong: missed * wrong[0] + alarm * wrong[1], y_true, y_score, prior, **options)


def _estimate(
    metric: Callable[[AnyArray, AnyArray], AnyArray],
    y_true: ArrayLike,
    y_score: ArrayLike,
    prior: float,
    *,
    threshold: float | None = None,
    confidence: float = 0.95,
    unlabeled: Any = None,
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
) -> Estimate:
    belief, confidence = read_prior(prior), read_share(confidence, "confidence")
    rows = split_scored_rows(y_true, unlabeled, pos_label, sample_weight)
    scores = rows.take(read_scores(y_score, len(rows.weight), threshold))
    apart = None if groups is None else rows.take(read_groups(groups, len(rows.weight)))
    called = count_called(loss_samples(scores, weights=rows.weights, groups=apart), float(belief.mean))
    value = float(metric(*_shares(called.fit(), called.prior)))
    priors, rates, probability = rates_under(called.share, called.size, belief)
    drawn = metric(*_shares(rates, priors))
    mean = probability @ drawn
    stderr = float(np.sqrt(probability @ (drawn - mean) ** 2))
    low, high = weighted_quantiles(drawn, probability, confidence)
    return Estimate(value, stderr, min(low, value), max(high, value), confidence=confidence)


def count_called(samples: Sequence[LossSample], prior: float) -> Called:
    """What a decision rule at zero says of P, of N and of U, from its zero-one losses there."""
    sides = (0, 1, 1)  # the loss of g is an error on P, that of −g one on N and a row called positive on U
    share = [sample.mean[side] if sample.size else 0.0 for sample, side in zip(samples, sides, strict=True)]
    return Called(np.array(share), np.array([sample.size for sample in samples]), prior)


def _shares(rates: AnyArray, prior: AnyArray | float) -> tuple[AnyArray, AnyArray]:
    """Of the population: positives found; and, in two rows, positives missed and negatives called positive."""
    return prior * (1 - rates[0]), np.stack([prior * rates[0], (1 - prior) * rates[1]])


def _recall(true: AnyArray, wrong: AnyArray) -> AnyArray:
    return true / (true + wrong[0])


def _specificity(true: AnyArray, wrong: AnyArray) -> AnyArray:
    """Both arguments are shares of the population, and what is neither found, missed nor a false alarm is right."""
    return 1 - wrong[1] / (1 - true - wrong[0])


def _precision(true: AnyArray, wrong: AnyArray) -> AnyArray:
    """Zero if nothing is called positive, as scikit-learn has it."""
    called = true + wrong[1]
    return true / np.where(called > 0, called, 1.0)


def _f1(true: AnyArray, wrong: AnyArray) -> AnyArray:
    return 2 * true / (2 * true + wrong.sum(axis=0))
