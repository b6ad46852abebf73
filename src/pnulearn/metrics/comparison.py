"""Is one model really better than another? Their difference on the same rows, with its interval."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from numbers import Real
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit
from sklearn.utils.validation import check_consistent_length

from pnulearn._arrays import AnyArray, FloatArray
from pnulearn._problem.folds import read_groups
from pnulearn._problem.inputs import read_weights
from pnulearn.losses import Loss, ZeroOne, as_loss
from pnulearn.metrics.costs import EQUAL_COSTS, read_costs
from pnulearn.metrics.difference import Comparison
from pnulearn.metrics.estimate import RiskEstimate
from pnulearn.metrics.helper import (
    WORTHWHILE,
    best_weights,
    expect_losses,
    helped_table,
    imagine_rows,
    judge_helped,
    slope_in_prior,
)
from pnulearn.metrics.opinion import read_opinions, take_opinions
from pnulearn.metrics.risk import estimate_risk, loss_samples
from pnulearn.metrics.scorer import decode_for, signed_scores
from pnulearn.metrics.spread import BORROWED_ROWS, LossSample, loss_pairs, reconcile
from pnulearn.priors.estimate import PriorEstimate
from pnulearn.priors.given import read_prior
from pnulearn.risks import pnu
from pnulearn.theory import best_mix, forced_mix, heuristic_mix, prior_slope


def compare(
    model_a: Any,
    model_b: Any,
    X: Any,
    y: ArrayLike,
    prior: Any,
    *,
    helper: Any = None,
    loss: str | Loss = "zero_one",
    costs: tuple[float, float] = EQUAL_COSTS,
    confidence: float = 0.95,
    unlabeled: Any = None,
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
) -> Comparison:
    """Compare two fitted classifiers on rows that neither was fitted to; y may have unlabelled rows.

    Models answer through decision_function, predict_proba or predict, whichever they have.

    Parameters
    ----------
    model_a : classifier
        The first model, fitted.
    model_b : classifier
        The second model, fitted.
    X : array, sparse matrix or data frame (rows, columns)
        Features.
    y : array (rows,)
        Labels; missing values and `unlabeled` mark unlabelled rows.
    prior : float, (float, float), distribution or PriorEstimate
        Share of positives in the population, which the unlabelled rows are drawn from, or what is known about it; see
        `pnu_risk`.
    helper : array (rows,) or (rows, helpers), optional
        What second models say of the same rows, as in `pnu_risk`; it is left out where it does not pay.
    loss : str or Loss
        Name of a loss, or a `Loss`.
    costs : (float, float)
        What a positive row that is called negative costs, and a negative one that is called positive.
    confidence : float
        Probability that the interval is to hold the truth with.
    unlabeled : object, optional
        The value in y that marks unlabelled rows; missing values always do.
    pos_label : object, optional
        The positive class, by default the greater label.
    sample_weight : array (rows,), optional
        Weights of the rows, as in `pnu_risk`.
    groups : array (rows,), optional
        What every row belongs to, if rows of one group may be alike, as in `pnu_risk`.
    """
    labels = decode_for((model_a, model_b), y, unlabeled, pos_label)
    belief = read_prior(prior)
    negative, positive = labels.classes
    answers = [signed_scores(model, X, negative, positive) for model in (model_a, model_b)]
    for scores in answers:
        check_consistent_length(scores, labels.codes)
    n_rows = len(labels.codes)
    weight = read_weights(sample_weight, n_rows)
    rows = [group[weight[group] > 0] for group in labels.groups]
    first, second = ([scores[group] for group in rows] for scores in answers)
    apart = None if groups is None else read_groups(groups, n_rows)
    opinions = None if helper is None else read_opinions(helper, labels.classes, n_rows)
    return compare_scores(
        first,
        second,
        belief,
        loss=loss,
        costs=costs,
        confidence=confidence,
        weights=[weight[group] for group in rows],
        groups=None if apart is None else [apart[group] for group in rows],
        opinions=None if opinions is None else take_opinions(opinions, rows),
    )


def shared_mix(prior: float, n_positive: int, n_negative: int, n_unlabeled: int) -> float:
    """A mix that does not depend on either model, so that the difference is unbiased."""
    forced = forced_mix(n_positive, n_negative, n_unlabeled)
    return heuristic_mix(prior, n_positive, n_negative) if forced is None else forced


def compare_scores(
    scores: Sequence[AnyArray],
    others: Sequence[AnyArray],
    prior: Any,
    mix: float | Literal["optimal"] = "optimal",
    *,
    loss: str | Loss = "zero_one",
    costs: tuple[float, float] = EQUAL_COSTS,
    confidence: float = 0.95,
    weights: Sequence[ArrayLike] | None = None,
    groups: Sequence[AnyArray] | None = None,
    opinions: Sequence[FloatArray] | None = None,
) -> Comparison:
    """The comparison of scores on P, on N and on U, at a mix that is the same for both.

    Parameters
    ----------
    scores : sequence of three arrays
        g on P, on N and on U.
    others : sequence of three arrays
        The same of the second model.
    prior : float, (float, float), distribution or PriorEstimate
        Share of positives in the population, which the unlabelled rows are drawn from, or what is known about it; see
        `pnu_risk`.
    mix : float or "optimal"
        η, the same for both; "optimal" is the one at which their difference varies least.
    loss : str or Loss
        Name of a loss, or a `Loss`.
    confidence : float
        Probability that the interval is to hold the truth with.
    costs : (float, float)
        Weights of the losses of positive and of negative rows.
    weights : sequence of three arrays, optional
        Weights of the rows of P, N and U.
    groups : sequence of three arrays, optional
        Numbers of the groups that rows of P, N and U belong to.
    opinions : sequence of three arrays, optional
        What second models say on P, N and U as log-odds (rows, helpers); needs mix="optimal".
    """
    loss, belief, costs = as_loss(loss), read_prior(prior), read_costs(costs)
    gaps = row_differences(scores, others, loss, weights, groups)
    prices = np.array(costs)
    smooth = _borrow_rows(gaps)
    means = prices * np.array([gap.mean if gap.size else np.zeros(2) for gap in smooth])
    eta = float(mix) if isinstance(mix, Real) else _least_variance_mix(smooth, belief, means, prices)
    first, second = (
        estimate_risk(each, belief, eta, loss, confidence, weights=weights, groups=groups, costs=costs)
        for each in (scores, others)
    )
    stderr, freedom = _spread(pnu(float(belief.mean), eta).at_costs(costs).table, smooth)
    stderr = float(np.hypot(stderr, belief.spread * prior_slope(eta, means)))
    if opinions is not None:
        samples = [loss_samples(each, loss, weights, groups) for each in (scores, others)]
        helped = _compare_with_helper(samples, gaps, opinions, belief, stderr, loss, costs, confidence)
        if helped is not None:
            return helped
    return _conclude(first, second, stderr, freedom, confidence)


def _conclude(
    first: RiskEstimate, second: RiskEstimate, stderr: float, freedom: float, confidence: float
) -> Comparison:
    gap, margin = first.value - second.value, stderr * float(stdtrit(freedom, (1 + confidence) / 2))
    return Comparison(first, second, gap, stderr, gap - margin, gap + margin, confidence)


def _compare_with_helper(
    samples: Sequence[Sequence[LossSample]],
    gaps: Sequence[LossSample],
    opinions: Sequence[FloatArray],
    belief: PriorEstimate,
    plain: float,
    loss: Loss,
    costs: tuple[float, float],
    confidence: float,
) -> Comparison | None:
    """The comparison at the mix and the weight of the helper of least variance; None if the helper does not pay.

    `plain` is the standard error without it. Both models are judged at the same weights, so the difference is that of
    the two risks.
    """
    if not all(gap.size for gap in gaps):
        return None
    theta, prices = float(belief.mean), np.array([*costs, 1.0])
    helped, _ = expect_losses(gaps, opinions, theta, costs)
    smooth = _borrow_rows(helped)
    means = prices * np.array([gap.mean for gap in smooth])
    mix, weight, _ = best_weights(theta, reconcile(smooth, theta) * np.outer(prices, prices), belief.spread, means)
    stderr, freedom = _spread(prices * helped_table(theta, mix, weight), smooth)
    stderr = float(np.hypot(stderr, belief.spread * slope_in_prior(mix, weight, means)))
    if stderr**2 > WORTHWHILE * plain**2:
        return None
    kind, both = "rate" if isinstance(loss, ZeroOne) else "mean", []
    for each in samples:
        own, calibration = expect_losses(each, opinions, theta, costs, fold_by=gaps)
        imagined = imagine_rows(own, calibration(opinions[2]))
        both.append(judge_helped((mix, weight), own, imagined, belief, confidence, kind, costs))
    return _conclude(both[0], both[1], stderr, freedom, confidence)


def row_differences(
    scores: Sequence[AnyArray],
    others: Sequence[AnyArray],
    loss: Loss,
    weights: Sequence[ArrayLike] | None = None,
    groups: Sequence[AnyArray] | None = None,
) -> list[LossSample]:
    """What the first model loses more than the second on every row of P, N and U, if it is positive and if negative."""
    of_row = [None, None, None] if weights is None else weights
    of_group = [None, None, None] if groups is None else groups
    return [
        LossSample.of(loss_pairs(g, loss) - loss_pairs(other, loss), weight, group)
        for g, other, weight, group in zip(scores, others, of_row, of_group, strict=True)
    ]


def gap_variance(gap: AnyArray, usual: AnyArray) -> float:
    """Variance of the mean of row-wise differences; every sample borrows a few `usual` ones, as in `compare`."""
    share = np.repeat([1.0, BORROWED_ROWS], [len(gap), len(usual)])
    share[len(gap) :] /= max(len(usual), 1)
    rows, share = np.append(gap, usual), share / share.sum()
    return float(share @ (rows - share @ rows) ** 2) / max(len(gap) - 1, 1)


def _borrow_rows(gaps: Sequence[LossSample]) -> list[LossSample]:
    """A dozen labelled rows on which two models agree would look certain, so every sample borrows a few rows from U.

    There rows are many. Without U the rows of both classes are borrowed.
    """
    usual = gaps[2].losses if gaps[2].size else np.concatenate([gap.losses for gap in gaps])
    return [gap.joined_by(usual, BORROWED_ROWS, 1.0) if gap.size else gap for gap in gaps]


def _spread(table: AnyArray, smooth: Sequence[LossSample]) -> tuple[float, float]:
    """Standard error of the difference, and its degrees of freedom after Welch and Satterthwaite."""
    parts, freedoms = [], []
    for weights, gap in zip(table, smooth, strict=True):
        if weights.any() and gap.size:
            freedoms.append(max(gap.size - 1, 1.0))
            parts.append(float(weights @ gap.covariance @ weights) / freedoms[-1])
    total = sum(parts)
    curvature = sum(part**2 / freedom for part, freedom in zip(parts, freedoms, strict=True))
    return float(np.sqrt(total)), total**2 / curvature if curvature > 0 else inf


def _least_variance_mix(
    smooth: Sequence[LossSample], belief: PriorEstimate, means: AnyArray, prices: AnyArray
) -> float:
    """The mix at which the difference varies least; neither risk need be known well for that."""
    forced = forced_mix(*(gap.size for gap in smooth))
    if forced is not None:
        return forced
    theta = float(belief.mean)
    return best_mix(theta, reconcile(smooth, theta) * np.outer(prices, prices), belief.spread, means)
