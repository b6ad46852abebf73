"""The area under the ROC curve from P, N and U, without assuming anything but the class prior.

A positive row beats an unlabelled one with probability θ/2 + (1 − θ) AUC, and an unlabelled row beats a negative one
with probability θ AUC + (1 − θ)/2, so each pair of samples has its own unbiased estimate. Standard errors follow
DeLong: the variance of each row's share of pairs won, sample by sample.
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from pnulearn._arrays import AnyArray
from pnulearn.metrics.estimate import RiskEstimate, logit_interval
from pnulearn.metrics.rates import N_PRIORS
from pnulearn.metrics.scored_rows import read_scores, split_scored_rows
from pnulearn.priors.estimate import PriorEstimate
from pnulearn.priors.given import read_prior, read_share
from pnulearn.theory import forced_mix

# which pairs (P, N), (P, U), (U, N) the rows of P, N and U take part in
TAKES_PART = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1]], dtype=float)
PSEUDO_ROWS = 0.5  # imagined rows that win all or none of their pairs
FEW_PSEUDO_ROWS = 0.1  # measured: without them intervals from five labels of each class hold the truth in 88 %


def pnu_auc(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    prior: Any,
    mix: float | Literal["optimal"] = "optimal",
    confidence: float = 0.95,
    unlabeled: Any = None,
    pos_label: Any = None,
) -> RiskEstimate:
    """Probability that a positive row scores above a negative one, ties counting a half.

    Parameters
    ----------
    y_true : array (rows,)
        Labels; missing values and `unlabeled` mark unlabelled rows.
    y_score : array (rows,)
        g(x), positive for the positive class. For probabilities pass threshold=0.5.
    prior : float, (float, float), distribution or PriorEstimate
        Share of positives in the population, which the unlabelled rows are drawn from, or what is known about it; see
        `pnu_risk`.
    mix
        as in `pnu_risk`: (1 − η) PN + η PU for η > 0, (1 + η) PN − η NU for η < 0; "optimal" has the least estimated
        variance. The estimate may exceed 1 if mix is near −1 or 1.
    confidence : float
        Probability that the interval is to hold the truth with.
    unlabeled : object, optional
        The value in y that marks unlabelled rows; missing values always do.
    pos_label : object, optional
        The positive class, by default the greater label.

    Examples
    --------
    >>> y = [1] * 4 + [0] * 4 + [None] * 6
    >>> score = [4, 3, 2, -1, 1, -2, -3, -4, 5, 2.5, 0, -0.5, -1.5, -5]
    >>> print(pnu_auc(y, score, prior=0.4))
    0.9262 ± 0.1218, 95 % interval 0.4363 to 0.9853 (mix 0.07)
    """
    belief, confidence = read_prior(prior), read_share(confidence, "confidence")
    prior = float(belief.mean)
    groups = split_scored_rows(y_true, unlabeled, pos_label)
    samples = groups.take(read_scores(y_score, len(groups.weight), 0.0))
    wins = pairs_won(*samples)
    eta = _choose_mix(wins, belief, mix)
    weights, constant = _combination(eta, prior)
    _refuse_empty(weights, samples, eta)
    value = float(weights @ _shares(wins)) + constant
    stderr = float(np.hypot(_stderr(weights, wins), _drift(eta, belief, wins)))
    edge = max(stderr, 0.5 / (len(samples[0]) + len(samples[1])))
    low, high = logit_interval(float(np.clip(value, edge, 1 - edge)), stderr, confidence)
    return RiskEstimate(value, stderr, min(low, value), max(high, value), eta, confidence=confidence)


def pairs_won(positive: AnyArray, negative: AnyArray, unlabeled: AnyArray) -> list[AnyArray]:
    """For P, N and U: every row's share of its pairs (P, N), (P, U), (U, N) that the first of the pair wins, (n, 3)."""
    return [
        np.column_stack([count_beaten(positive, negative), count_beaten(positive, unlabeled), 0 * positive]),
        np.column_stack([1 - count_beaten(negative, positive), 0 * negative, 1 - count_beaten(negative, unlabeled)]),
        np.column_stack([0 * unlabeled, 1 - count_beaten(unlabeled, positive), count_beaten(unlabeled, negative)]),
    ]


def count_beaten(scores: AnyArray, others: AnyArray) -> AnyArray:
    """For every score the share of the others that lie below it, ties counting a half.

    >>> count_beaten(np.array([1.0, 2.0]), np.array([0.0, 1.0])).tolist()
    [0.75, 1.0]
    """
    ranked = np.sort(others)
    below = np.searchsorted(ranked, scores, "left") + np.searchsorted(ranked, scores, "right")
    return below / (2 * max(len(others), 1))


def _shares(wins: Sequence[AnyArray]) -> AnyArray:
    """Shares of all pairs (P, N), (P, U), (U, N) won; zero where a sample is empty."""
    means = [rows.mean(axis=0) if len(rows) else np.zeros(3) for rows in wins]
    return np.array([means[0][0], means[0][1], means[1][2]])


def _covariance(wins: Sequence[AnyArray], pseudo: float) -> AnyArray:
    """Covariance (3, 3) of the three shares after DeLong: Σ over samples of the rows' covariance over n."""
    total = np.zeros((3, 3))
    for rows, part in zip(wins, TAKES_PART, strict=True):
        if not len(rows):
            continue
        rows = np.vstack([rows, 0 * part, part])
        share = np.repeat([1.0, pseudo / 2], [len(rows) - 2, 2])
        centered = rows - share @ rows / share.sum()
        total += (share[:, None] * centered).T @ centered / share.sum() / max(len(rows) - 3 + pseudo, 1)
    return total


def _stderr(weights: AnyArray, wins: Sequence[AnyArray]) -> float:
    seen, likely, most = (
        float(weights @ _covariance(wins, pseudo) @ weights) for pseudo in (0.0, FEW_PSEUDO_ROWS, PSEUDO_ROWS)
    )
    # Five rows that are nearly in order vary little, and in perfect order not at all; they are not certain for that.
    return float(np.sqrt(max(seen, likely) if seen else most))


def _drift(mix: float, belief: PriorEstimate, wins: Sequence[AnyArray]) -> float:
    """How much the estimate varies over what the prior may be."""
    if not belief.spread or not mix:
        return 0.0
    combinations = [_combination(mix, float(point)) for point in belief.points(N_PRIORS)]
    return float(np.std([weights @ _shares(wins) + constant for weights, constant in combinations]))


def _combination(mix: float, prior: float) -> tuple[AnyArray, float]:
    """Weights of the three shares, and a constant, that make the PNU estimate of AUC."""
    pu, nu = max(mix, 0.0), max(-mix, 0.0)
    weights = np.array([1 - pu - nu, pu / (1 - prior), nu / prior])
    return weights, -pu * prior / (2 * (1 - prior)) - nu * (1 - prior) / (2 * prior)


def _choose_mix(wins: Sequence[AnyArray], belief: PriorEstimate, mix: Any) -> float:
    if isinstance(mix, Real) and -1 <= float(mix) <= 1:
        return float(mix)
    if mix != "optimal":
        raise ValueError(f"mix must be a number in [-1, 1] or 'optimal', got {mix!r}.")
    forced = forced_mix(*map(len, wins))
    if forced is not None:
        return forced
    covariance = _covariance(wins, PSEUDO_ROWS)
    sides = (_best_side(side, float(belief.mean), covariance, _drift(side, belief, wins) ** 2) for side in (1, -1))
    return min(sides, key=lambda found: found[1])[0]


def _best_side(side: int, prior: float, covariance: AnyArray, drift: float) -> tuple[float, float]:
    """The mix of that sign with the least variance, and that variance; `drift` is what the prior adds at ±1."""
    base, step = _combination(0, prior)[0], _combination(side, prior)[0] - _combination(0, prior)[0]
    share = float(np.clip(-(base @ covariance @ step) / (step @ covariance @ step + drift), 0, 1))
    weights = base + share * step
    return side * share, float(weights @ covariance @ weights) + drift * share**2


def _refuse_empty(weights: AnyArray, samples: Sequence[AnyArray], mix: float) -> None:
    for pair, weight in zip(((0, 1), (0, 2), (2, 1)), weights, strict=True):
        for sample in pair:
            if weight and not len(samples[sample]):
                name = ("positive", "negative", "unlabelled")[sample]
                raise ValueError(
                    f"The AUC at mix {mix:g} needs {name} rows and found none. mix='optimal' does without."
                )
