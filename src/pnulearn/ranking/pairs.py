"""Risks of pairs: what it costs that a row of one sample does not score above a row of another.

With ℓ a margin loss and (A, B) the mean of ℓ(g(a) − g(b)) over pairs,

    PN = (P, N),      PU = [(P, U) − θ (P, P')] / (1 − θ),      NU = [(U, N) − (1 − θ) (N, N')] / θ

are all unbiased for the same risk; pairs of a row with itself are left out of (P, P') and (N, N'). PNU at η mixes PN
with PU (η > 0) or with NU (η < 0).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn.losses import Loss

P, N, U = 0, 1, 2
PAIRS = ((P, N), (P, U), (U, N), (P, P), (N, N))


def pair_weights(prior: float, mix: float) -> AnyArray:
    """Weights of the five kinds of pairs in the PNU risk; they sum to one.

    >>> pair_weights(0.5, 0.0).tolist(), pair_weights(0.25, -1.0).tolist()
    ([1.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 4.0, 0.0, -3.0])
    """
    pu, nu = max(mix, 0.0), max(-mix, 0.0)
    against = 1 - prior
    parts = [1 - pu - nu, pu / against, nu / prior, -pu * prior / against, -nu * against / prior]
    return np.array(parts) + 0.0


def count_pairs(sizes: Sequence[int]) -> AnyArray:
    """How many pairs of every kind there are among samples of these sizes."""
    return np.array([sizes[a] * (sizes[b] - (a == b)) for a, b in PAIRS], dtype=float)


def is_possible(weights: AnyArray, sizes: Sequence[int]) -> bool:
    """Whether every kind of pair that the risk needs can be formed."""
    return bool((count_pairs(sizes)[weights != 0] > 0).all())


@dataclass(frozen=True)
class Moments:
    """Mean (b,) and mean square (b, b) of the features of a sample."""

    size: int
    mean: AnyArray
    second: AnyArray

    @classmethod
    def of(cls, features: AnyArray) -> Moments:
        size = len(features)
        return cls(size, features.sum(axis=0) / max(size, 1), features.T @ features / max(size, 1))


def quadratic_risk(samples: Sequence[Moments], weights: AnyArray) -> tuple[AnyArray, AnyArray]:
    """H and h with  risk(w) = (1 − 2 h'w + w'Hw) / 4  for g = φ'w and the squared loss (1 − m)² / 4."""
    b = len(samples[0].mean)
    H, h = np.zeros((b, b)), np.zeros(b)
    for (first, second), weight in zip(PAIRS, weights, strict=True):
        if not weight:
            continue
        A, B = samples[first], samples[second]
        cross = np.outer(A.mean, B.mean)
        scatter = A.second + B.second - cross - cross.T
        if first == second:
            scatter *= A.size / (A.size - 1)  # without the pairs of a row with itself, which differ by nothing
        H += weight * scatter
        h += weight * (A.mean - B.mean)
    return H, h


def smooth_risk(loss: Loss, scores: Sequence[AnyArray], weights: AnyArray) -> tuple[float, list[AnyArray]]:
    """The risk of any loss from the scores of P, N and U, and its derivative in each of them."""
    value, slopes = 0.0, [np.zeros(len(part)) for part in scores]
    for (first, second), weight in zip(PAIRS, weights, strict=True):
        if not weight:
            continue
        margin = scores[first][:, None] - scores[second]
        cost, slope = loss(margin), loss.derivative(margin)
        if first == second:
            np.fill_diagonal(cost, 0.0)
            np.fill_diagonal(slope, 0.0)
        share = weight / count_pairs([len(part) for part in scores])[PAIRS.index((first, second))]
        value += share * float(cost.sum())
        slopes[first] += share * slope.sum(axis=1)
        slopes[second] -= share * slope.sum(axis=0)
    return value, slopes
