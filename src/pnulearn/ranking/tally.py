"""Pairs of held-out rows, counted fold by fold: scores of different folds are never compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn.metrics._curves import count_beaten
from pnulearn.ranking.pairs import PAIRS, N, P, U, count_pairs, is_possible, pair_weights

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
