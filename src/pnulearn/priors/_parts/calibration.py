"""Turning scores into class probabilities: one slope and a shift per class, fitted to held-out rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import log_softmax, softmax

from pnulearn._arrays import AnyArray
from pnulearn.priors._parts.groups import Group

STEPS = 25
LONGEST_STEP = 2.0
CLOSE = 1e-6
RIDGE = 1e-6  # the shifts are only determined up to a constant


@dataclass(frozen=True)
class Calibration:
    """log P(k | x) = log softmax(slope · score + shift)_k for every candidate, and its mean log-loss."""

    slope: AnyArray
    shift: AnyArray
    loss: AnyArray

    def __call__(self, scores: AnyArray) -> AnyArray:
        """Log-probabilities of scores of shape (candidates, classes, rows)."""
        return log_softmax(self.slope[:, None, None] * scores + self.shift[:, :, None], axis=1)


def calibrate(scores: Sequence[AnyArray], classes: Sequence[Group], shares: Any = None) -> Calibration:
    """Slope ≥ 0 and shifts of least log-loss under equal class shares, by Newton steps for all candidates at once.

    `shares` are other weights for the rows of each class, (candidates, rows), each adding up to one. A class of n rows
    aims at (n + 1)/(n + 2) instead of 1 (Platt's rule), which keeps separable classes finite.
    """
    stacked = np.concatenate(scores, axis=2)
    shares = [group.share[None] for group in classes] if shares is None else shares
    weight = np.concatenate(shares, axis=1)[:, None, :] / len(classes)  # candidates, 1, rows
    targets = _smooth_targets(classes)
    unit = stacked.std(axis=(1, 2))
    unit = np.where(unit > 0, unit, 1.0)
    slope, shift = np.zeros(len(stacked)), np.zeros((len(stacked), len(classes)))
    for _ in range(STEPS):
        step = _newton_step(stacked / unit[:, None, None], targets, weight, slope, shift)
        slope, shift = np.clip(slope - step[:, 0], 0, None), shift - step[:, 1:]
        if np.abs(step).max() < CLOSE:
            break
    calibration = Calibration(slope / unit, shift, np.zeros(len(stacked)))
    loss = -np.einsum("ckn,kn,ckn->c", np.broadcast_to(weight, stacked.shape), targets, calibration(stacked))
    return replace(calibration, loss=loss)


def _smooth_targets(classes: Sequence[Group]) -> AnyArray:
    K = len(classes)
    slack = np.array([1 / (group.size + 2) for group in classes])
    of_class = np.eye(K) * (1 - slack - slack / (K - 1))[:, None] + (slack / (K - 1))[:, None]
    return np.repeat(of_class.T, [len(group) for group in classes], axis=1)


def _newton_step(scores: AnyArray, targets: AnyArray, weight: AnyArray, slope: AnyArray, shift: AnyArray) -> AnyArray:
    """Inverse curvature times gradient of the log-loss in (slope, shifts), shortened where it would overshoot."""
    share = softmax(slope[:, None, None] * scores + shift[:, :, None], axis=1)
    weighted, excess = weight * share, weight * (share - targets)
    spread = weighted * (scores - (share * scores).sum(axis=1, keepdims=True))
    gradient = np.column_stack([(excess * scores).sum(axis=(1, 2)), excess.sum(axis=2) + RIDGE * shift])
    curvature = RIDGE * np.tile(np.eye(gradient.shape[1]), (len(scores), 1, 1))
    curvature[:, 0, 0] += (spread * scores).sum(axis=(1, 2))
    curvature[:, 0, 1:] += spread.sum(axis=2)
    curvature[:, 1:, 0] += spread.sum(axis=2)
    curvature[:, 1:, 1:] += np.eye(shift.shape[1]) * weighted.sum(axis=2)[:, None] - weighted @ share.mT
    step = np.linalg.solve(curvature, gradient[..., None])[..., 0]
    return step * np.minimum(1, LONGEST_STEP / np.maximum(np.abs(step).max(axis=1, keepdims=True), LONGEST_STEP))
