"""The risk of any model's scores on P, N and U rows, with a standard error and a confidence interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats
from sklearn.utils.validation import check_array, check_consistent_length

from pnulearn.inputs import read_weights
from pnulearn.labels import decode_labels
from pnulearn.losses import Loss, ZeroOne, as_loss
from pnulearn.metrics.spread import LossSample, observed_covariances, smoothed_covariances
from pnulearn.risks import Risk, nu, pn, pnu, pu
from pnulearn.theory import best_mix, heuristic_mix, risk_variance

Mix = float | Literal["optimal", "heuristic"]
FEW = 10  # labelled rows of a class below which estimated variances are too rough to choose a mix


@dataclass(frozen=True)
class RiskEstimate:
    """A risk with its standard error, its confidence interval and the mix that was used.

    >>> print(RiskEstimate(0.21, 0.04, 0.14, 0.3, 0.46))
    0.2100 ± 0.0400, 95 % interval 0.1400 to 0.3000 (mix 0.46)
    """

    value: float
    stderr: float
    low: float
    high: float
    mix: float
    confidence: float = 0.95

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        interval = f"{100 * self.confidence:g} % interval {self.low:.4f} to {self.high:.4f}"
        return f"{self.value:.4f} ± {self.stderr:.4f}, {interval} (mix {self.mix:.2f})"


def pnu_risk(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    prior: float,
    mix: Mix = "optimal",
    loss: str | Loss = "zero_one",
    confidence: float = 0.95,
    nonnegative: bool = False,
    threshold: float = 0.0,
    unlabeled: Any = None,
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
) -> RiskEstimate:
    """Risk of a fixed model in a population with that class prior, from its scores on labelled and unlabelled rows.

    The rows must not have been used to fit the model. Rows with a missing y are unlabelled.

    >>> y = [1, 1, 1, 1, 0, 0, 0, 0] + [None] * 6
    >>> score = [2, 1, 1, -1, -2, -1, -1, 1] + [1, -1, -1, -2, 1, -3]
    >>> estimate = pnu_risk(y, score, prior=0.4)
    >>> round(estimate.value, 3), round(estimate.mix, 2)
    (0.205, 0.38)

    Parameters
    ----------
    y_score : g(x), positive for the positive class. For probabilities pass threshold=0.5.
    prior : share of positives in the population, which the unlabelled rows are drawn from.
    mix : weight of U in [−1, 1]; −1, 0, 1 are the NU, PN and PU risks. "optimal" is the mix of least estimated
        variance for these rows, "heuristic" that for equal variances and unlimited U.
    nonnegative : clip the part that is read off U at zero. Never negative, but biased upwards for good models.
    sample_weight : only the proportions matter; the standard error counts (Σ w)² / Σ w² rows in each sample.
    """
    labels = decode_labels(y_true, unlabeled, pos_label)
    if len(labels.classes) != 2:
        raise ValueError(f"pnu_risk judges two classes, and y_true has {len(labels.classes)}: {labels.classes}.")
    scores = check_array(y_score, ensure_2d=False, dtype=np.float64, input_name="y_score")
    if scores.ndim != 1:
        raise ValueError(f"y_score has shape {scores.shape}; one score per row is needed, e.g. predict_proba(X)[:, 1].")
    check_consistent_length(labels.codes, scores)
    weight = read_weights(sample_weight, len(scores))
    groups = [np.flatnonzero(labels.codes == code) for code in (1, 0, -1)]
    parts = [scores[rows] - threshold for rows in groups]
    return estimate_risk(
        parts, prior, mix, loss, confidence, weights=[weight[rows] for rows in groups], nonnegative=nonnegative
    )


def estimate_risk(
    scores: Sequence[ArrayLike],
    prior: float,
    mix: Mix = "optimal",
    loss: str | Loss = "zero_one",
    confidence: float = 0.95,
    *,
    weights: Sequence[NDArray] | None = None,
    nonnegative: bool = False,
) -> RiskEstimate:
    """`pnu_risk` of scores that are already apart: g on P, on N and on U."""
    loss = as_loss(loss)
    if not 0 < prior < 1:
        raise ValueError(f"prior must lie strictly between 0 and 1, got {prior!r}.")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie strictly between 0 and 1, got {confidence!r}.")
    samples = tuple(
        LossSample.of(np.asarray(g, dtype=float), loss, None if weights is None else weights[i])
        for i, g in enumerate(scores)
    )
    eta = chosen_mix(samples, prior, mix)
    risk = pnu(prior, eta)
    _refuse_empty(risk, samples)
    value = _clipped(prior, eta, samples) if nonnegative else _mean(risk, samples)
    covariance = observed_covariances(samples)
    stderr = float(np.sqrt(risk_variance(risk, covariance)))
    below, above = _margins(risk, samples, covariance, confidence, isinstance(loss, ZeroOne))
    low, high = _mean(risk, samples) - below, _mean(risk, samples) + above
    if nonnegative:
        low, high = max(low, 0.0), max(high, 0.0)
    return RiskEstimate(value, stderr, low, high, eta, confidence)


def chosen_mix(samples: tuple[LossSample, ...], prior: float, mix: Mix) -> float:
    """The mix as a number. Whatever sample is missing, "optimal" and "heuristic" take the risk that does without."""
    if not isinstance(mix, str):
        if not -1 <= mix <= 1:
            raise ValueError(f"mix must lie in [-1, 1] or be 'optimal' or 'heuristic', got {mix!r}.")
        return float(mix)
    if mix not in ("optimal", "heuristic"):
        raise ValueError(f"mix must be a number in [-1, 1], 'optimal' or 'heuristic', got {mix!r}.")
    n_positive, n_negative, n_unlabeled = (sample.size for sample in samples)
    if not n_unlabeled:
        return 0.0
    if not (n_positive and n_negative):
        return 1.0 if n_positive else -1.0
    if mix == "heuristic" or min(n_positive, n_negative) < FEW:
        return heuristic_mix(prior, n_positive, n_negative)
    return best_mix(prior, smoothed_covariances(samples))


def _mean(risk: Risk, samples: tuple[LossSample, ...]) -> float:
    return float(sum(w @ s.mean for w, s in zip(risk.table, samples, strict=True) if w.any()))


def _refuse_empty(risk: Risk, samples: tuple[LossSample, ...]) -> None:
    for name, weights, sample in zip(("positive", "negative", "unlabeled"), risk.table, samples, strict=True):
        if weights.any() and not sample.size:
            raise ValueError(f"This risk needs {name} rows and found none: {risk}. Try mix='optimal'.")


def _clipped(prior: float, eta: float, samples: tuple[LossSample, ...]) -> float:
    """The PNU risk with the two class parts of PU (or NU) kept from falling below zero."""
    value = 0.0
    for share, risk in ((1 - abs(eta), pn(prior)), (abs(eta), pu(prior) if eta > 0 else nu(prior))):
        if share:
            columns = sum(w * s.mean for w, s in zip(risk.table, samples, strict=True) if w.any())
            value += share * float(np.maximum(columns, 0).sum())
    return value


def _margins(
    risk: Risk, samples: tuple[LossSample, ...], covariance: NDArray, confidence: float, binary: bool
) -> tuple[float, float]:
    """Distances from the estimate to both ends of the interval.

    Each sample has its own interval (Wilson's for zero-one losses, Student's otherwise), and independent distances
    add up in squares ("recovery of variance estimates", Zou and Donner 2008). Unlike value ± 1.96 stderr this stays
    honest for ten rows, where a sample without a single error has an estimated variance of zero.
    """
    below = above = 0.0
    for weights, sample, part in zip(risk.table, samples, covariance, strict=True):
        if not weights.any():
            continue
        if binary:
            down, up = _wilson(sample.mean[0], sample.size, confidence)
            factor = weights[0] - weights[1]
            down, up = (factor * down, factor * up) if factor > 0 else (-factor * up, -factor * down)
        else:
            quantile = stats.t.ppf((1 + confidence) / 2, max(sample.size - 1, 1))
            down = up = quantile * np.sqrt(weights @ part @ weights)
        below, above = np.hypot(below, down), np.hypot(above, up)
    return float(below), float(above)


def _wilson(p: float, n: float, confidence: float) -> tuple[float, float]:
    """Distances from p to Wilson's limits."""
    z2 = stats.norm.ppf((1 + confidence) / 2) ** 2
    center = (p + z2 / (2 * n)) / (1 + z2 / n)
    half = np.sqrt(z2 * (p * (1 - p) / n + z2 / (4 * n**2))) / (1 + z2 / n)
    return float(p - center + half), float(center + half - p)
