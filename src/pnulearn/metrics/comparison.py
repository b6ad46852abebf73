"""Is one model really better than another? Their difference on the same rows, with its interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from numbers import Real
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit
from sklearn.utils.validation import check_consistent_length

from pnulearn._arrays import AnyArray
from pnulearn._machine.notebook import show_rows
from pnulearn.losses import Loss, as_loss
from pnulearn.metrics.estimate import RiskEstimate
from pnulearn.metrics.risk import estimate_risk
from pnulearn.metrics.scorer import decode_for, signed_scores
from pnulearn.metrics.spread import BORROWED_ROWS, LossSample, loss_pairs, reconcile
from pnulearn.priors.estimate import PriorEstimate
from pnulearn.priors.given import read_prior
from pnulearn.risks import pnu
from pnulearn.theory import best_mix, forced_mix, heuristic_mix, prior_slope


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
    return compare_scores(first, second, belief, loss=loss, confidence=confidence)


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
    mix : float or "optimal"
        η, the same for both; "optimal" is the one at which their difference varies least.
    loss : str or Loss
        Name of a loss, or a `Loss`.
    confidence : float
        Probability that the interval is to hold the truth with.
    """
    loss, belief = as_loss(loss), read_prior(prior)
    gaps = row_differences(scores, others, loss)
    smooth = _borrow_rows(gaps)
    means = np.array([gap.mean if gap.size else np.zeros(2) for gap in smooth])
    eta = float(mix) if isinstance(mix, Real) else _least_variance_mix(smooth, belief, means)
    first, second = (estimate_risk(groups, belief, eta, loss, confidence) for groups in (scores, others))
    stderr, freedom = _spread(pnu(float(belief.mean), eta).table, smooth)
    stderr = float(np.hypot(stderr, belief.spread * prior_slope(eta, means)))
    gap, margin = first.value - second.value, stderr * float(stdtrit(freedom, (1 + confidence) / 2))
    return Comparison(first, second, gap, stderr, gap - margin, gap + margin, confidence)


def row_differences(scores: Sequence[AnyArray], others: Sequence[AnyArray], loss: Loss) -> list[LossSample]:
    """What the first model loses more than the second on every row of P, N and U, if it is positive and if negative."""
    return [
        LossSample.of(loss_pairs(g, loss) - loss_pairs(other, loss)) for g, other in zip(scores, others, strict=True)
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


def _least_variance_mix(smooth: Sequence[LossSample], belief: PriorEstimate, means: AnyArray) -> float:
    """The mix at which the difference varies least; neither risk need be known well for that."""
    forced = forced_mix(*(gap.size for gap in smooth))
    if forced is not None:
        return forced
    theta = float(belief.mean)
    return best_mix(theta, reconcile(smooth, theta), belief.spread, means)
