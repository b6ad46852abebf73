"""A second model as a control variate: its predictions on the same rows reduce the variance of a risk.

    θ mean_P(a − c h) + (1 − θ) mean_N(b − c h) + mean_U(c h)

has the same mean for every c and every h that does not depend on the labels. Here a and b are the losses of a row if it
is positive and if it is negative, and h is the expected loss under the second model. The PNU risk is the case
h = ℓ(−g). The mix and the weight c are chosen together to minimise the variance (`best_weights`). The second model is
first calibrated out of fold, so its predictions may be labels, probabilities for another prior, or scores. With c = 1
and labels drawn at random this is prediction-powered inference (Angelopoulos et al. 2023, Science 382).

In the code `opinions` are the predictions of the second models as log-odds (rows, models).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from scipy.special import expit, logit

from pnulearn._arrays import AnyArray, FloatArray
from pnulearn._intervals.closed_forms import effective_jeffreys_interval, mover, prior_distances, skewed_t_distances
from pnulearn._problem.inputs import unmasked
from pnulearn.metrics._estimate import HelpedEstimate, RiskEstimate
from pnulearn.metrics._scored_rows import EQUAL_COSTS
from pnulearn.metrics._variance import LossSample, observed_covariances, pseudo_row_losses, reconcile
from pnulearn.priors._estimate import PriorEstimate

FOLDS = 5
# Pseudo-observations per class: with random labels, and rows of U with the labels predicted by the second model.
UNINFORMED_ROWS, INFORMED_ROWS = 1.0, 1.0
WORTHWHILE = 0.95  # the second model is used only if it reduces the variance below this fraction
WIDER = 1.05  # and if the interval does not become wider than this factor
LABEL_ODDS = 1.5  # log-odds of a predicted label before calibration: about 80 % accuracy
LEAST_SHARE = 0.01  # probabilities are clipped to [LEAST_SHARE, 1 - LEAST_SHARE]
SLOPE_PENALTY, SHIFT_PENALTY = 1.0, 0.1
STEPS = 30
CLOSE = 1e-8


def estimate_with_second_model(
    plain: RiskEstimate,
    samples: Sequence[LossSample],
    opinions: Sequence[FloatArray],
    prior: PriorEstimate,
    kind: str,
    costs: tuple[float, float] = EQUAL_COSTS,
) -> HelpedEstimate:
    """The risk with a second model, or the plain estimate if the second model does not reduce its variance enough.

    `opinions` are log-odds on P, N and U; `samples` hold the losses of g and −g on the same rows.
    """
    theta = float(prior.mean)
    helped, calibration = expect_losses(samples, opinions, theta, costs)
    smooth = add_pseudo_rows(helped, calibration(opinions[2]))
    means = np.array([sample.mean for sample in smooth]) * [*costs, 1.0]
    covariance = reconcile(smooth, theta) * np.outer([*costs, 1.0], [*costs, 1.0])
    without = best_weights(theta, covariance, prior.spread, means, most_helper=0.0)
    best = best_weights(theta, covariance, prior.spread, means)
    if best[2] < WORTHWHILE * without[2]:
        found = estimate_helped_risk(best[:2], helped, smooth, prior, plain.confidence, kind, costs)
        if found.high - found.low <= WIDER * (plain.high - plain.low):
            return found
    return HelpedEstimate(
        plain.value, plain.stderr, plain.low, plain.high, plain.mix, helper=0.0, confidence=plain.confidence
    )


def expect_losses(
    samples: Sequence[LossSample],
    opinions: Sequence[FloatArray],
    prior: float,
    costs: tuple[float, float] = EQUAL_COSTS,
    fold_by: Sequence[LossSample] | None = None,
) -> tuple[list[LossSample], Calibration]:
    """Samples with a third column, the expected loss under the second model: h = c_fn p ℓ(g) + c_fp (1 − p) ℓ(−g).

    For labelled rows, p is calibrated on the other folds. For rows of U, p is the mean over folds. `fold_by`, if given,
    holds other losses of the same rows from which the folds are assigned.
    """
    by = samples if fold_by is None else fold_by
    folds = [_assign_folds(sample, opinion) for sample, opinion in zip(by[:2], opinions[:2], strict=True)]
    shares = [np.zeros(len(sample.losses)) for sample in samples]
    parts = []
    for fold in range(FOLDS):
        kept = [place != fold for place in folds]
        fitted = calibrate_opinion(
            [opinions[0][kept[0]], opinions[1][kept[1]], opinions[2]],
            [samples[0].share[kept[0]], samples[1].share[kept[1]], samples[2].share],
            prior,
        )
        for k in (0, 1):
            shares[k][~kept[k]] = fitted(opinions[k][~kept[k]])
        parts.append(fitted)
    shares[2] = np.mean([fitted(opinions[2]) for fitted in parts], axis=0)
    helped = []
    for sample, p in zip(samples, shares, strict=True):
        expected = costs[0] * p * sample.losses[:, 0] + costs[1] * (1 - p) * sample.losses[:, 1]
        helped.append(LossSample(np.column_stack([sample.losses, expected]), sample.share, sample.size))
    return helped, Calibration.mean(parts)


def _assign_folds(sample: LossSample, opinion: FloatArray) -> AnyArray:
    """Fold of every row, derived from its content, not its position. Similar rows go to different folds."""
    order = np.lexsort((sample.losses[:, 0], *opinion.T))
    fold = np.empty(len(order), dtype=int)
    fold[order] = np.arange(len(order)) % FOLDS
    return fold


def add_pseudo_rows(helped: Sequence[LossSample], probability: FloatArray) -> list[LossSample]:
    """P and N with a few pseudo-observations; without them few labels could give a variance of zero.

    `INFORMED_ROWS` are rows of U labelled by the second model, with `probability` on U. `UNINFORMED_ROWS` have either
    label with equal weight.
    """
    population = helped[2]
    losses = pseudo_row_losses([population])
    smooth = []
    for sample, weight in zip(helped[:2], (probability, 1 - probability), strict=True):
        informed = population.share * weight
        total = sample.size + INFORMED_ROWS
        both = np.concatenate([sample.losses, population.losses])
        share = np.concatenate([sample.size * sample.share, INFORMED_ROWS * informed / informed.sum()]) / total
        smooth.append(LossSample(both, share, sample.size).with_pseudo_rows(losses, UNINFORMED_ROWS, 0.5))
    return [*smooth, population]


def helped_table(prior: float, mix: float, helper: float) -> FloatArray:
    """Weights (3, 3): rows P, N, U; columns loss of g, loss of −g, expected loss."""
    pu, nu = max(mix, 0.0), max(-mix, 0.0)
    return np.array(
        [
            [prior * (1 - nu), -prior * pu, -prior * helper],
            [(prior - 1) * nu, (1 - prior) * (1 - pu), (prior - 1) * helper],
            [nu, pu, helper],
        ]
    )


def slope_in_prior(mix: float, helper: float, means: AnyArray) -> float:
    """Derivative of the risk with respect to the prior, in which it is linear."""
    return float(np.sum((helped_table(0.75, mix, helper) - helped_table(0.25, mix, helper)) * means)) / 0.5


def best_weights(
    prior: float, covariance: AnyArray, prior_sd: float, means: AnyArray, most_helper: float = 1.0
) -> tuple[float, float, float]:
    """Mix in [−1, 1] and weight of the second model in [0, most_helper] that minimise the variance, and the minimum.

    For mixes of one sign the variance is quadratic in both; its minimum on the rectangle lies inside or on an edge.
    """
    found = []
    for side in (1.0, -1.0):
        tables = [helped_table(prior, *pair) for pair in ((0.0, 0.0), (side, 0.0), (0.0, 1.0))]
        steps = [tables[0], tables[1] - tables[0], tables[2] - tables[0]]
        slopes = [slope_in_prior(*pair, means) for pair in ((0.0, 0.0), (side, 0.0), (0.0, 1.0))]
        drifts = prior_sd * np.array([slopes[0], slopes[1] - slopes[0], slopes[2] - slopes[0]])
        form = np.einsum("aci,cij,bcj->ab", steps, covariance, steps) + np.outer(drifts, drifts)
        for share, helper in _corners_and_edges(form, most_helper):
            point = np.array([1.0, share, helper])
            found.append((side * share, helper, float(point @ form @ point)))
    return min(found, key=lambda each: each[2])


def _corners_and_edges(form: AnyArray, most: float) -> list[tuple[float, float]]:
    """Candidates for the minimum of a quadratic form over [0, 1] × [0, most]."""
    slope, curve = -form[1:, 0], form[1:, 1:] + 1e-12 * max(np.trace(form), 1e-300) * np.eye(2)
    points = []
    inside = np.linalg.solve(curve, slope)
    if 0 <= inside[0] <= 1 and 0 <= inside[1] <= most:
        points.append((float(inside[0]), float(inside[1])))
    for axis, end in product((0, 1), (0.0, 1.0)):
        end = end * (most if axis else 1.0)
        other = 1 - axis
        free = float(np.clip((slope[other] - curve[other, axis] * end) / curve[other, other], 0, 1 if axis else most))
        points.append((free, end) if axis else (end, free))
    return points


def estimate_helped_risk(
    weights: tuple[float, float],
    helped: Sequence[LossSample],
    smooth: Sequence[LossSample],
    prior: PriorEstimate,
    confidence: float,
    kind: str,
    costs: tuple[float, float] = EQUAL_COSTS,
) -> HelpedEstimate:
    """Value, standard error and interval of the risk for a given mix and weight of the second model."""
    mix, helper = weights
    prices = np.array([*costs, 1.0])
    table, means = prices * helped_table(float(prior.mean), mix, helper), np.array([sample.mean for sample in smooth])
    value = float(sum(row @ sample.mean for row, sample in zip(table, helped, strict=True)))
    variance = sum(row @ s.covariance @ row / s.size for row, s in zip(table, smooth, strict=True))
    slope = slope_in_prior(mix, helper, prices * means)
    stderr = float(np.sqrt(variance + (prior.spread * slope) ** 2))
    if kind == "rate":
        most = max(costs)
        ends = effective_jeffreys_interval(value / most, float(np.sum(table * means)) / most, stderr / most, confidence)
        low, high = (most * end for end in ends)
        value = float(np.clip(value, 0, most))
    else:
        parts = [prior_distances(slope, prior, confidence)]
        for row, sample, covariance in zip(table, helped, observed_covariances(helped), strict=True):
            own = float(np.sqrt(row @ covariance @ row))
            parts.append(skewed_t_distances(sample.losses @ row, sample.share, sample.size, own, confidence))
        down, up = mover(parts)
        low, high = value - down, value + up
    return HelpedEstimate(value, stderr, low, high, mix, helper=helper, confidence=confidence)


@dataclass(frozen=True)
class Calibration:
    """Logistic calibration: P(positive | opinions) = σ(shift + opinions · slopes)."""

    shift: float
    slopes: FloatArray

    def __call__(self, opinions: FloatArray) -> FloatArray:
        return np.asarray(expit(self.shift + opinions @ self.slopes))

    @classmethod
    def mean(cls, parts: Sequence[Calibration]) -> Calibration:
        """Calibration with the mean coefficients of several calibrations."""
        return cls(float(np.mean([p.shift for p in parts])), np.mean([p.slopes for p in parts], axis=0))


def read_opinions(helper: Any, classes: AnyArray, n_rows: int) -> FloatArray:
    """Log-odds (rows, models) from labels, probabilities or scores of one or several second models.

    Values equal to the class labels are treated as labels, other numbers in [0, 1] as probabilities of the positive
    class, and all other numbers as scores.

    >>> read_opinions(["no", "yes"], np.array(["no", "yes"]), 2).ravel().tolist()
    [-1.5, 1.5]
    """
    columns = _columns(helper)
    for column in columns:
        if len(column) != n_rows:
            raise ValueError(f"helper has {len(column)} rows and y has {n_rows}: a prediction for every row is needed.")
    return np.column_stack([_log_odds(column, classes) for column in columns])


def _columns(helper: Any) -> list[AnyArray]:
    """A column per second model, from one array, a table of several, or a mapping from names to arrays."""
    if hasattr(helper, "items") and not hasattr(helper, "dtype") and not hasattr(helper, "shape"):
        return [np.asarray(unmasked(column, "helper")) for column in helper.values()]
    values = np.asarray(unmasked(helper, "helper"))
    if values.ndim not in (1, 2) or values.shape[0] == 0:
        raise ValueError(f"helper must have one column per second model, got an array of shape {values.shape}.")
    return [values] if values.ndim == 1 else list(values.T)


def _log_odds(column: AnyArray, classes: AnyArray) -> FloatArray:
    known = set(np.asarray(classes).tolist())
    if set(column.tolist()) <= known:
        return np.where(column == classes[1], LABEL_ODDS, -LABEL_ODDS)
    try:
        values = column.astype(float)
    except (TypeError, ValueError):
        strange = next(value for value in column.tolist() if value not in known)
        raise ValueError(
            f"helper holds {strange!r}, which is neither a number nor one of the labels {sorted(known)}."
        ) from None
    if not np.isfinite(values).all():
        row = int(np.flatnonzero(~np.isfinite(values))[0])
        raise ValueError(f"helper has no finite value in row {row}: a prediction for every row is needed.")
    if values.min() >= 0 and values.max() <= 1:
        return np.asarray(logit(np.clip(values, LEAST_SHARE, 1 - LEAST_SHARE)))
    spread = values.std()
    return (values - np.median(values)) / (spread if spread > 0 else 1.0)


def calibrate_opinion(opinions: Sequence[FloatArray], shares: Sequence[AnyArray], prior: float) -> Calibration:
    """Logistic regression on labelled rows, weighted to the prior; the intercept then matches the mean over U to it.

    A ridge penalty worth about one row shrinks slopes towards 1 / models, the value for calibrated probabilities.
    """
    n_helpers = opinions[2].shape[1]
    rows = np.concatenate([opinions[0], opinions[1]])
    design = np.column_stack([np.ones(len(rows)), rows])
    positive = np.repeat([1.0, 0.0], [len(opinions[0]), len(opinions[1])])
    weight = len(rows) * np.concatenate(
        [factor * share / share.sum() for factor, share in zip((prior, 1 - prior), shares, strict=False) if len(share)]
    )
    center = np.append(0.0, np.full(n_helpers, 1 / n_helpers))
    penalty = np.append(SHIFT_PENALTY, np.full(n_helpers, SLOPE_PENALTY))
    found = center
    for _ in range(STEPS):
        p = expit(design @ found)
        gradient = design.T @ (weight * (positive - p)) - penalty * (found - center)
        curvature = (design.T * (weight * p * (1 - p))) @ design + np.diag(penalty)
        step = np.clip(np.linalg.solve(curvature, gradient), -2, 2)
        found = found + step
        if np.abs(step).max() < CLOSE:
            break
    return Calibration(_matching_shift(opinions[2] @ found[1:], shares[2], prior, float(found[0])), found[1:])


def _matching_shift(odds: FloatArray, share: AnyArray, prior: float, start: float) -> float:
    """Intercept at which the mean probability over U equals the prior, by Newton's method."""
    share, shift = share / share.sum(), start
    for _ in range(STEPS):
        p = expit(odds + shift)
        step = (prior - float(share @ p)) / max(float(share @ (p * (1 - p))), 1e-9)
        shift += float(np.clip(step, -2, 2))
        if abs(step) < CLOSE:
            break
    return shift


def take_opinions(opinions: FloatArray, rows: Sequence[AnyArray]) -> list[FloatArray]:
    """Log-odds on P, N and U. Raises if one of them is empty."""
    for name, group in zip(("positive", "negative", "unlabelled"), rows, strict=True):
        if not len(group):
            raise ValueError(f"helper= needs positive, negative and unlabelled rows; there are no {name} ones.")
    return [opinions[group] for group in rows]
