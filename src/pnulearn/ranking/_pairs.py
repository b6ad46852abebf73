"""Pairs of rows of two classes: AUC risks as weighted sums over pairs, for training and for validation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn.losses import Loss
from pnulearn.metrics._curves import count_beaten

# Risks of pairs: what it costs that a row of one sample does not score above a row of another.

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


# Pairs of held-out rows, counted fold by fold: scores of different folds are never compared.

SHARES = np.linspace(0.0, 0.8, 5)  # of pairs with U
HOPELESS = 10.0  # times as much variance as the other side has


@dataclass(frozen=True)
class PairTally:
    """Sums over pairs of all candidates (..., 5 kinds): of pairs not won, and of the squared loss."""

    sizes: AnyArray
    pairs: AnyArray
    lost: AnyArray
    squared: AnyArray

    @classmethod
    def of(cls, scores: AnyArray, samples: Sequence[AnyArray]) -> PairTally:
        """From scores (..., rows) and the row numbers of P, N and U."""
        parts = [scores[..., rows] for rows in samples]
        sizes = np.array([len(rows) for rows in samples])
        pairs = count_pairs(sizes.tolist())
        squared = np.stack([_mean_square(parts[a], parts[b], a == b) for a, b in PAIRS], axis=-1)
        return cls(sizes, pairs, _mean_lost(parts) * pairs, squared * pairs)

    def __add__(self, other: PairTally) -> PairTally:
        return PairTally(
            self.sizes + other.sizes, self.pairs + other.pairs, self.lost + other.lost, self.squared + other.squared
        )

    def risks(self, prior: float) -> tuple[AnyArray, AnyArray]:
        """The PNU risks of all candidates: 1 − AUC, and of the squared loss."""
        weights = pair_weights(prior, validation_mix(prior, self.sizes))
        shares = weights / np.where(self.pairs > 0, self.pairs, 1.0)
        return self.lost @ shares, self.squared @ shares

    @property
    def effective_labels(self) -> float:
        """The harmonic mean of the two numbers of labels; the one there is, if a class has none."""
        labeled = self.sizes[:U][self.sizes[:U] > 0]
        return float(len(labeled) / np.sum(1 / labeled)) if len(labeled) else 0.0


def validation_mix(prior: float, sizes: AnyArray) -> float:
    """η of least variance where rows of all samples vary alike and U is large; ±1 if only U takes a class's place.

    >>> validation_mix(0.5, np.array([5, 5, 0])), round(validation_mix(0.1, np.array([5, 5, 100])), 3)
    (0.0, 0.985)
    """
    n_positive, n_negative, n_unlabeled = (int(size) for size in sizes)
    if not n_unlabeled:
        return 0.0
    if not n_negative or not n_positive:
        return 1.0 if n_positive else -1.0
    sides = side_variances(prior, sizes)
    side = min(sides, key=lambda sign: sides[sign])
    plain = 1 / (n_positive * n_negative)
    mix = side * plain / (plain + sides[side])
    return mix if is_possible(pair_weights(prior, mix), sizes.tolist()) else 0.0


def promising_mixes(prior: float, sizes: AnyArray) -> AnyArray:
    """The mixes to try: those with U in the place of a class, if that does not vary hopelessly beside the other side.

    Where positives are rare, U is nearly N, and P little of what (P, U) has to be rid of.

    >>> promising_mixes(0.05, np.array([15, 15, 500])).round(1).tolist()
    [0.0, 0.2, 0.4, 0.6, 0.8]
    >>> len(promising_mixes(0.5, np.array([15, 15, 500])))
    9
    """
    sides = side_variances(prior, sizes)
    least = min(sides.values())
    return np.unique([side * SHARES + 0.0 for side, variance in sides.items() if variance <= HOPELESS * least])


def side_variances(prior: float, sizes: AnyArray) -> dict[int, float]:
    """How much PU (1) and NU (-1) vary where U is large: by the pairs within a class that are subtracted."""
    n_positive, n_negative = (int(size) for size in sizes[:U])
    odds = prior / (1 - prior)
    return {
        1: odds**2 / (n_positive * max(n_positive - 1, 0.5)),
        -1: odds**-2 / (n_negative * max(n_negative - 1, 0.5)),
    }


def _mean_square(first: AnyArray, second: AnyArray, same: bool) -> AnyArray:
    """The mean of (1 − (s − t))² / 4 over pairs of scores s and t."""
    if not first.shape[-1] or not second.shape[-1] or (same and first.shape[-1] < 2):
        return np.zeros(first.shape[:-1])
    ahead = first.mean(axis=-1) - second.mean(axis=-1)
    scatter = first.var(axis=-1) + second.var(axis=-1)
    if same:
        scatter = scatter * first.shape[-1] / (first.shape[-1] - 1)
    return (np.square(1 - ahead) + scatter) / 4


def _mean_lost(parts: Sequence[AnyArray]) -> AnyArray:
    """Shares of pairs (..., 5) in which the first does not score above the second, ties counting a half."""
    lost = np.full((*parts[0].shape[:-1], len(PAIRS)), 0.5)  # a row against others of its sample
    for kind, (first, second) in enumerate(((P, N), (P, U), (U, N))):
        if parts[first].shape[-1] and parts[second].shape[-1]:
            for place in np.ndindex(parts[0].shape[:-1]):
                lost[(*place, kind)] = 1 - count_beaten(parts[first][place], parts[second][place]).mean()
    return lost
