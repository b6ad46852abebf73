"""Comparison of two models: the difference of their risks on the same rows, with a confidence interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_consistent_length

from pnulearn._arrays import AnyArray, FloatArray
from pnulearn._html import show_rows
from pnulearn._intervals.closed_forms import BORROWED_ROWS, t_half_width, welch_freedom
from pnulearn._intervals.score_tests import difference_interval
from pnulearn._problem.alignment import refuse_misaligned
from pnulearn._problem.folds import read_groups
from pnulearn._problem.inputs import read_weights
from pnulearn.losses import Loss, ZeroOne, as_loss
from pnulearn.metrics._estimate import RiskEstimate
from pnulearn.metrics._risk import class_parts, estimate_risk, used_samples
from pnulearn.metrics._scored_rows import EQUAL_COSTS, read_costs
from pnulearn.metrics._scorer import decode_for, signed_scores
from pnulearn.metrics._second_model import (
    WORTHWHILE,
    add_pseudo_rows,
    best_weights,
    estimate_helped_risk,
    expect_losses,
    helped_table,
    read_opinions,
    slope_in_prior,
    take_opinions,
)
from pnulearn.metrics._variance import LossSample, decision_shares, loss_pairs, loss_samples, reconcile
from pnulearn.priors._estimate import PriorEstimate
from pnulearn.priors._resolve import read_prior
from pnulearn.risks import pnu
from pnulearn.theory import best_mix, forced_mix, heuristic_mix, prior_slope

UNSEEN_ROWS = 0.5  # of models that differ on 2 to 6 % of the rows, intervals of smooth losses cover .85 without it


@dataclass(frozen=True)
class Comparison:
    """Two risks on the same rows, and their paired difference (first minus second).

    The losses of both models on a row are correlated, so the interval of the paired difference is narrower than the
    intervals of the two risks suggest.

    Parameters
    ----------
    first : RiskEstimate
        Risk of the first model.
    second : RiskEstimate
        Risk of the second model.
    difference : float
        First risk minus second.
    stderr : float
        Standard error of the difference.
    low : float
        Lower end of the interval of the difference.
    high : float
        Upper end of the interval of the difference.
    confidence : float
        Confidence level of the interval.
    """

    first: RiskEstimate
    second: RiskEstimate
    difference: float
    stderr: float
    low: float
    high: float
    confidence: float = 0.95

    @property
    def verdict(self) -> str:
        """ "first" or "second" if the interval of the difference lies on one side of zero, else "undecided"."""
        return "first" if self.high < 0 else "second" if self.low > 0 else "undecided"

    def sentence(self, first: str, second: str) -> str:
        """One sentence that states the difference and whether it is significant.

        Parameters
        ----------
        first : str
            Description of the first model, e.g. "with U".
        second : str
            Description of the second model.
        """
        sign, direction = (-100, "lower") if self.difference <= 0 else (100, "higher")
        low, high = sorted((sign * self.low, sign * self.high))
        words = f"The error is {100 * abs(self.difference):.1f} points {direction} {first} than {second}"
        chance = "chance alone could explain" if self.verdict == "undecided" else "is more than chance explains"
        return f"{words}, which {chance} ({100 * self.confidence:.0f} % interval {low:.1f} to {high:.1f} points)."

    def __str__(self) -> str:
        words = {
            "first": "the first model is better",
            "second": "the second model is better",
            "undecided": "these rows do not show which is better",
        }
        return (
            f"risks {self.first.value:.4f} and {self.second.value:.4f}, difference {self.difference:+.4f} "
            f"[{self.low:+.4f}, {self.high:+.4f}]: {words[self.verdict]}"
        )

    def _repr_html_(self) -> str:
        models = {"first model": self.first, "second model": self.second}
        rows = [(name, f"{one.value:.4f}", f"{one.low:.4f}", f"{one.high:.4f}") for name, one in models.items()]
        rows.append(("difference", f"{self.difference:+.4f}", f"{self.low:+.4f}", f"{self.high:+.4f}"))
        return show_rows(str(self).partition(": ")[2], ("", "risk", "from", "to"), rows)


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
    """Compare two fitted classifiers on held-out rows, some of which may be unlabelled.

    Scores come from decision_function, predict_proba or predict: the first of these that a model has.

    Parameters
    ----------
    model_a : classifier
        First fitted model.
    model_b : classifier
        Second fitted model.
    X : array, sparse matrix or data frame (rows, columns)
        Features.
    y : array (rows,)
        Labels. Missing values and the value `unlabeled` mark unlabelled rows.
    prior : float, (float, float), distribution or PriorEstimate
        Class prior: share of positives in the population that the unlabelled rows come from. It may be uncertain; see
        `pnu_risk`.
    helper : array (rows,) or (rows, helpers), optional
        Predictions of further models on the same rows, as in `pnu_risk`. They are ignored if they do not reduce the
        variance.
    loss : str or Loss
        Name of a loss, or a `Loss`.
    costs : (float, float)
        Cost of a false negative and cost of a false positive.
    confidence : float
        Confidence level of the interval.
    unlabeled : object, optional
        Value in y that marks unlabelled rows, in addition to missing values.
    pos_label : object, optional
        The positive class. Default: the larger label.
    sample_weight : array (rows,), optional
        Weights of the rows, as in `pnu_risk`.
    groups : array (rows,), optional
        Group of every row, if rows of one group may be correlated, as in `pnu_risk`.
    """
    refuse_misaligned(X=X, y=y, sample_weight=sample_weight, groups=groups, helper=helper)
    labels = decode_for((model_a, model_b), y, unlabeled, pos_label)
    class_prior = read_prior(prior)
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
        class_prior,
        loss=loss,
        costs=costs,
        confidence=confidence,
        weights=[weight[group] for group in rows],
        groups=None if apart is None else [apart[group] for group in rows],
        opinions=None if opinions is None else take_opinions(opinions, rows),
    )


def shared_mix(prior: float, n_positive: int, n_negative: int, n_unlabeled: int) -> float:
    """A mix that does not depend on the scores, so that the difference of the two risks is unbiased."""
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
    """Compare two models by their scores on P, N and U, with the same mix for both.

    Parameters
    ----------
    scores : sequence of three arrays
        Scores g on P, on N and on U.
    others : sequence of three arrays
        Scores of the second model on P, on N and on U.
    prior : float, (float, float), distribution or PriorEstimate
        Class prior: share of positives in the population that the unlabelled rows come from. It may be uncertain; see
        `pnu_risk`.
    mix : float or "optimal"
        Mix η of both risks; "optimal" minimises the estimated variance of the difference.
    loss : str or Loss
        Name of a loss, or a `Loss`.
    confidence : float
        Confidence level of the interval.
    costs : (float, float)
        Weights of the losses of positive and of negative rows.
    weights : sequence of three arrays, optional
        Weights of the rows of P, N and U.
    groups : sequence of three arrays, optional
        Group number of every row of P, N and U.
    opinions : sequence of three arrays, optional
        Predictions of further models on P, N and U as log-odds (rows, helpers). Requires mix="optimal".
    """
    loss, class_prior, costs = as_loss(loss), read_prior(prior), read_costs(costs)
    gaps = row_differences(scores, others, loss, weights, groups)
    prices = np.array(costs)
    rare = None if isinstance(loss, ZeroOne) else _rare_differences(gaps, scores, others, loss)
    smooth = _borrow_rows(gaps, rare)
    means = prices * np.array([gap.mean if gap.size else np.zeros(2) for gap in smooth])
    eta = float(mix) if isinstance(mix, Real) else _least_variance_mix(smooth, class_prior, means, prices)
    first, second = (
        estimate_risk(each, class_prior, eta, loss, confidence, weights=weights, groups=groups, costs=costs)
        for each in (scores, others)
    )
    stderr, freedom = _stderr(pnu(float(class_prior.mean), eta).at_costs(costs).table, smooth)
    stderr = float(np.hypot(stderr, class_prior.spread * prior_slope(eta, means)))
    if opinions is not None:
        samples = [loss_samples(each, loss, weights, groups) for each in (scores, others)]
        helped = _compare_with_second_model(samples, gaps, opinions, class_prior, stderr, loss, costs, confidence)
        if helped is not None:
            return helped
    gap = float(sum(class_parts(pnu(float(class_prior.mean), eta).at_costs(costs), gaps)))
    margin = t_half_width(stderr, freedom, confidence)
    low, high = gap - margin, gap + margin
    if isinstance(loss, ZeroOne):
        shares, sizes = _disagreements(scores, others, mix, weights, groups)
        low, high = difference_interval(shares, sizes, class_prior, confidence, costs)
    return Comparison(first, second, gap, stderr, min(low, gap), max(high, gap), confidence)


def _disagreements(
    scores: Sequence[AnyArray],
    others: Sequence[AnyArray],
    mix: float | Literal["optimal"],
    weights: Sequence[ArrayLike] | None,
    groups: Sequence[AnyArray] | None,
) -> tuple[AnyArray, AnyArray]:
    """Shares of P, N and U that the first model alone predicts positive, or the second, (2, 3), and their sizes."""
    found = []
    for one, other in ((scores, others), (others, scores)):
        alone = [
            np.where((np.asarray(a) > 0) & (np.asarray(b) <= 0), 1.0, -1.0) for a, b in zip(one, other, strict=True)
        ]
        samples = loss_samples(alone, weights=weights, groups=groups)
        share, size = decision_shares(samples if mix == "optimal" else used_samples(samples, mix))
        found.append((np.append(1 - share[:1], share[1:]), size))
    return np.array([share for share, _ in found]), np.array([size for _, size in found])


def _compare_with_second_model(
    samples: Sequence[Sequence[LossSample]],
    gaps: Sequence[LossSample],
    opinions: Sequence[FloatArray],
    class_prior: PriorEstimate,
    plain: float,
    loss: Loss,
    costs: tuple[float, float],
    confidence: float,
) -> Comparison | None:
    """The comparison with a second model as control variate, or None if it does not reduce the variance enough.

    The mix and the weight of the second model minimise the variance of the difference. Both risks use the same mix and
    weight. `plain` is the standard error without the second model.
    """
    if not all(gap.size for gap in gaps):
        return None
    theta, prices = float(class_prior.mean), np.array([*costs, 1.0])
    helped, _ = expect_losses(gaps, opinions, theta, costs)
    smooth = _borrow_rows(helped)
    means = prices * np.array([gap.mean for gap in smooth])
    mix, weight, _ = best_weights(theta, reconcile(smooth, theta) * np.outer(prices, prices), class_prior.spread, means)
    table = prices * helped_table(theta, mix, weight)
    stderr, freedom = _stderr(table, smooth)
    stderr = float(np.hypot(stderr, class_prior.spread * slope_in_prior(mix, weight, means)))
    if stderr**2 > WORTHWHILE * plain**2:
        return None
    kind, both = "rate" if isinstance(loss, ZeroOne) else "mean", []
    for each in samples:
        own, calibration = expect_losses(each, opinions, theta, costs, fold_by=gaps)
        smooth_own = add_pseudo_rows(own, calibration(opinions[2]))
        both.append(estimate_helped_risk((mix, weight), own, smooth_own, class_prior, confidence, kind, costs))
    gap = float(sum(row @ sample.mean for row, sample in zip(table, helped, strict=True)))
    margin = t_half_width(stderr, freedom, confidence)
    return Comparison(both[0], both[1], gap, stderr, gap - margin, gap + margin, confidence)


def row_differences(
    scores: Sequence[AnyArray],
    others: Sequence[AnyArray],
    loss: Loss,
    weights: Sequence[ArrayLike] | None = None,
    groups: Sequence[AnyArray] | None = None,
) -> list[LossSample]:
    """Differences of the losses, first minus second, for every row of P, N and U."""
    of_row = [None, None, None] if weights is None else weights
    of_group = [None, None, None] if groups is None else groups
    return [
        LossSample.of(loss_pairs(g, loss) - loss_pairs(other, loss), weight, group)
        for g, other, weight, group in zip(scores, others, of_row, of_group, strict=True)
    ]


def _borrow_rows(gaps: Sequence[LossSample], rare: AnyArray | None = None) -> list[LossSample]:
    """Samples with a few pseudo-observations from U, or from both classes if U is empty.

    Without them a few labelled rows on which both models agree would have an estimated variance of zero. `rare` are
    losses of rows that differ; P and N may lack one by chance, so that they get `UNSEEN_ROWS` of them.
    """
    usual = gaps[2].losses if gaps[2].size else np.concatenate([gap.losses for gap in gaps])
    borrowed = [gap.with_pseudo_rows(usual, BORROWED_ROWS, 1.0) if gap.size else gap for gap in gaps]
    if rare is None or not len(rare):
        return borrowed
    return [gap.with_pseudo_rows(rare, UNSEEN_ROWS, 1.0) if gap.size else gap for gap in borrowed[:2]] + borrowed[2:]


def _rare_differences(
    gaps: Sequence[LossSample], scores: Sequence[AnyArray], others: Sequence[AnyArray], loss: Loss
) -> AnyArray:
    """Differences of the losses in U where there are any; without U those if only one of the models were right."""
    if gaps[2].size:
        return gaps[2].losses[gaps[2].losses.any(axis=1)]
    pairs = [loss_pairs(np.concatenate(part), loss) for part in (scores, others)]
    (right_a, right_b), (wrong_a, wrong_b) = ([pick(pair, axis=1) for pair in pairs] for pick in (np.min, np.max))
    return np.repeat(np.concatenate([wrong_a - right_b, right_a - wrong_b])[:, None], 2, axis=1)


def _stderr(table: AnyArray, smooth: Sequence[LossSample]) -> tuple[float, float]:
    """Standard error of the difference and its Welch-Satterthwaite degrees of freedom."""
    used = [(weights, gap) for weights, gap in zip(table, smooth, strict=True) if weights.any() and gap.size]
    freedoms = np.array([max(gap.size - 1, 1.0) for _, gap in used])
    variances = np.array([float(weights @ gap.covariance @ weights) for weights, gap in used]) / freedoms
    return float(np.sqrt(variances.sum())), welch_freedom(variances, freedoms)


def _least_variance_mix(
    smooth: Sequence[LossSample], class_prior: PriorEstimate, means: AnyArray, prices: AnyArray
) -> float:
    """The mix that minimises the estimated variance of the difference."""
    forced = forced_mix(*(gap.size for gap in smooth))
    if forced is not None:
        return forced
    theta = float(class_prior.mean)
    return best_mix(theta, reconcile(smooth, theta) * np.outer(prices, prices), class_prior.spread, means)
