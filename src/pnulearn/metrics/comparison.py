"""Is one model really better than another? Their difference on the same rows, with its interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_consistent_length

from pnulearn._arrays import AnyArray
from pnulearn.losses import Loss, as_loss
from pnulearn.metrics.estimate import RiskEstimate
from pnulearn.metrics.risk import estimate_risk
from pnulearn.metrics.scorer import decode_for, signed_scores
from pnulearn.metrics.spread import BORROWED_ROWS, loss_pairs
from pnulearn.priors.given import read_prior
from pnulearn.risks import Risk, pnu
from pnulearn.theory import forced_mix, heuristic_mix, prior_slope


@dataclass(frozen=True)
class Comparison:
    """Two risks on the same rows, and their difference (first minus second) judged row by row.

    Judging row by row cancels what the models have in common, so the interval of the difference is narrower than
    the two intervals suggest.

    Parameters
    ----------
    first : RiskEstimate
        Risk of the first model.
    second : RiskEstimate
        Risk of the second model.
    difference : float
        First risk minus second.
    stderr : float
        Standard error.
    low : float
        Lower end of the interval.
    high : float
        Upper end of the interval.
    confidence : float
        Probability that the interval is to hold the truth with.
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
        """Who is better in words that are no stronger than the evidence, e.g. "with U", "without".

        Parameters
        ----------
        first : str
            Words for the first model, e.g. "with U".
        second : str
            Words for the second model.
        """
        gap, margin = -100 * self.difference, 50 * (self.high - self.low)
        words = f"The error is {abs(gap):.1f} points {'lower' if gap >= 0 else 'higher'} {first} than {second}"
        chance = "chance alone could explain" if self.verdict == "undecided" else "is more than chance explains"
        return f"{words}, which {chance} ({100 * self.confidence:.0f} % margin {margin:.1f} points)."

    def __str__(self) -> str:
        words = {
            "first": "the first model is better",
            "second": "the second model is better",
            "undecided": "which is better cannot be told from these rows",
        }
        return (
            f"risks {self.first.value:.4f} and {self.second.value:.4f}, difference {self.difference:+.4f} "
            f"[{self.low:+.4f}, {self.high:+.4f}]: {words[self.verdict]}"
        )


def compare(
    model_a: Any,
    model_b: Any,
    X: Any,
    y: ArrayLike,
    prior: Any,
    *,
    loss: str | Loss = "zero_one",
    confidence: float = 0.95,
    unlabeled: Any = None,
    pos_label: Any = None,
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
    loss : str or Loss
        Name of a loss, or a `Loss`.
    confidence : float
        Probability that the interval is to hold the truth with.
    unlabeled : object, optional
        The value in y that marks unlabelled rows; missing values always do.
    pos_label : object, optional
        The positive class, by default the greater label.
    """
    labels = decode_for((model_a, model_b), y, unlabeled, pos_label)
    belief = read_prior(prior)
    negative, positive = labels.classes
    answers = [signed_scores(model, X, negative, positive) for model in (model_a, model_b)]
    for scores in answers:
        check_consistent_length(scores, labels.codes)
    rows = labels.groups
    first, second = ([scores[group] for group in rows] for scores in answers)
    mix = shared_mix(float(belief.mean), *map(len, rows))
    return compare_scores(first, second, belief, mix, loss=loss, confidence=confidence)


def shared_mix(prior: float, n_positive: int, n_negative: int, n_unlabeled: int) -> float:
    """A mix that does not depend on either model, so that the difference is unbiased."""
    forced = forced_mix(n_positive, n_negative, n_unlabeled)
    return heuristic_mix(prior, n_positive, n_negative) if forced is None else forced


def compare_scores(
    scores: Sequence[AnyArray],
    others: Sequence[AnyArray],
    prior: Any,
    mix: float,
    *,
    loss: str | Loss = "zero_one",
    confidence: float = 0.95,
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
    mix : float
        η, the same for both.
    loss : str or Loss
        Name of a loss, or a `Loss`.
    confidence : float
        Probability that the interval is to hold the truth with.
    """
    loss, belief = as_loss(loss), read_prior(prior)
    first, second = (estimate_risk(groups, belief, mix, loss, confidence) for groups in (scores, others))
    variance = paired_variance(pnu(float(belief.mean), mix), loss, scores, others)
    stderr = float(np.hypot(np.sqrt(variance), belief.spread * _slope_gap(mix, loss, scores, others)))
    margin = NormalDist().inv_cdf((1 + confidence) / 2) * stderr
    gap = first.value - second.value
    return Comparison(first, second, gap, stderr, gap - margin, gap + margin, confidence)


def _slope_gap(mix: float, loss: Loss, scores: Sequence[AnyArray], others: Sequence[AnyArray]) -> float:
    """How fast the difference of the risks changes with the prior."""
    slopes = [
        prior_slope(mix, np.array([loss_pairs(g, loss).mean(axis=0) if len(g) else (0.0, 0.0) for g in groups]))
        for groups in (scores, others)
    ]
    return slopes[0] - slopes[1]


def paired_variance(risk: Risk, loss: Loss, scores: Sequence[AnyArray], others: Sequence[AnyArray]) -> float:
    """Variance of the difference of two empirical risks: Σ over samples of the variance of row-wise differences / n."""
    variance = 0.0
    for weights, ours, theirs in zip(risk.table, scores, others, strict=True):
        if not weights.any() or len(ours) == 0:
            continue
        gap, usual = _gaps(weights, loss, ours, theirs), _gaps(weights, loss, scores[2], others[2])
        variance += gap_variance(gap, usual)
    return variance


def gap_variance(gap: AnyArray, usual: AnyArray) -> float:
    """Variance of the mean of row-wise differences.

    A dozen labelled rows on which two models agree would look certain, so every sample borrows a few `usual`
    differences from U, where rows are many.
    """
    borrowed = BORROWED_ROWS * float(np.mean(usual**2)) if len(usual) else 0.0
    square = (float(np.sum(gap**2)) + borrowed) / (len(gap) + BORROWED_ROWS * (len(usual) > 0))
    return max(square - float(np.mean(gap)) ** 2, 0.0) / len(gap)


def _gaps(weights: AnyArray, loss: Loss, ours: AnyArray, theirs: AnyArray) -> AnyArray:
    """What one row adds to the difference of the risks."""
    return weights[0] * (loss(ours) - loss(theirs)) + weights[1] * (loss(-ours) - loss(-theirs))
