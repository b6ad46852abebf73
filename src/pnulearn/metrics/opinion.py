"""What second models say of every row, as log-odds, and how far that can be trusted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit, logit

from pnulearn._arrays import AnyArray, FloatArray
from pnulearn._problem.inputs import unmasked

LABEL_ODDS = 1.5  # log-odds that a label is given before calibration: right in four of five rows
LEAST_SHARE = 0.01  # a probability below this is not taken for certainty
SLOPE_PENALTY, SHIFT_PENALTY = 1.0, 0.1
STEPS = 30
CLOSE = 1e-8


@dataclass(frozen=True)
class Calibration:
    """P(positive | opinions) = σ(shift + opinions · slopes)."""

    shift: float
    slopes: FloatArray

    def __call__(self, opinions: FloatArray) -> FloatArray:
        return np.asarray(expit(self.shift + opinions @ self.slopes))

    @classmethod
    def mean(cls, parts: Sequence[Calibration]) -> Calibration:
        """One that stands for several."""
        return cls(float(np.mean([p.shift for p in parts])), np.mean([p.slopes for p in parts], axis=0))


def read_opinions(helper: Any, classes: AnyArray, n_rows: int) -> FloatArray:
    """Log-odds (rows, helpers) from labels, probabilities or scores of one or several helpers.

    Values that are labels of the two classes are labels; other numbers within [0, 1] are probabilities of the positive
    class; any other numbers are scores.

    >>> read_opinions(["no", "yes"], np.array(["no", "yes"]), 2).ravel().tolist()
    [-1.5, 1.5]
    """
    columns = _columns(helper)
    for column in columns:
        if len(column) != n_rows:
            raise ValueError(f"helper has {len(column)} rows and y has {n_rows}: an opinion on every row is needed.")
    return np.column_stack([_log_odds(column, classes) for column in columns])


def _columns(helper: Any) -> list[AnyArray]:
    """A column per helper, from one array, a table of several, or a mapping from names to arrays."""
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
        raise ValueError(f"helper has no finite value in row {row}: an opinion on every row is needed.")
    if values.min() >= 0 and values.max() <= 1:
        return np.asarray(logit(np.clip(values, LEAST_SHARE, 1 - LEAST_SHARE)))
    spread = values.std()
    return (values - np.median(values)) / (spread if spread > 0 else 1.0)


def calibrate_opinion(opinions: Sequence[FloatArray], shares: Sequence[AnyArray], prior: float) -> Calibration:
    """Slopes from the labelled rows, weighted to the prior; the shift makes U positive in that share on average.

    Slopes are held near 1 / helpers, which is right for good probabilities, as if by one row.
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
    """The shift at which the mean probability over U is the prior, by Newton's steps."""
    share, shift = share / share.sum(), start
    for _ in range(STEPS):
        p = expit(odds + shift)
        step = (prior - float(share @ p)) / max(float(share @ (p * (1 - p))), 1e-9)
        shift += float(np.clip(step, -2, 2))
        if abs(step) < CLOSE:
            break
    return shift


def take_opinions(opinions: FloatArray, rows: Sequence[AnyArray]) -> list[FloatArray]:
    """Those on P, N and U, all of which are needed."""
    for name, group in zip(("positive", "negative", "unlabelled"), rows, strict=True):
        if not len(group):
            raise ValueError(f"A helper needs positive, negative and unlabelled rows; there are no {name} ones.")
    return [opinions[group] for group in rows]
