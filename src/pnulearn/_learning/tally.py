"""Sums over validation rows from which the PNU risk of every candidate follows.

Counts are pooled over folds before any rate is formed, so a fold without negatives does no harm.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn.risks import pnu
from pnulearn.theory import forced_mix, least_variance_mix

TIED = 1e-7  # of the root mean square of a candidate's scores: closer scores are not told apart


@dataclass(frozen=True)
class Tally:
    """Weighted sums per group of validation rows, the last axis running over classes and then the population.

    positive : of the zero-one vote for each output, shape (K, C, J, groups); K is 1 for two classes.
    first, second : of g and g², where g may have been squashed to [−1, 1].
    """

    weight: AnyArray
    positive: AnyArray
    first: AnyArray
    second: AnyArray

    @classmethod
    def of(cls, scores: AnyArray, membership: AnyArray, squash: Callable[[AnyArray], AnyArray] | None = None) -> Tally:
        """From scores (K, C, J, n) and the weight of every row in every group (n, groups)."""
        g = scores if squash is None else squash(scores)
        return cls(membership.sum(axis=0), _votes(scores) @ membership, g @ membership, np.square(g) @ membership)

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            self.weight + other.weight,
            self.positive + other.positive,
            self.first + other.first,
            self.second + other.second,
        )

    def toss(self, classes: AnyArray, n_rows: float) -> Tally:
        """With so many imagined rows of classes that cannot be held out: a coin decides them.

        They score on either side of zero, as far from it as the population does.
        """
        groups = np.isin(np.arange(len(self.weight)), classes)
        spread = n_rows * self._means(self.second)[..., -1:]
        vote = n_rows / max(len(self.positive), 2)
        return Tally(
            np.where(groups, n_rows, self.weight),
            np.where(groups, vote, self.positive),
            np.where(groups, 0.0, self.first),
            np.where(groups, spread, self.second),
        )

    def zero_one(self, prior: AnyArray) -> AnyArray:
        """The PNU zero-one risk of every candidate, shape (C, J)."""
        share = self._means(self.positive)
        return self._risk(prior, 1 - share, share)

    def squared(self, prior: AnyArray) -> AnyArray:
        """The PNU risk of the squared loss, summed over outputs, shape (C, J)."""
        g, g2 = self._means(self.first), self._means(self.second)
        return self._risk(prior, (1 - 2 * g + g2) / 4, (1 + 2 * g + g2) / 4)

    def effective_labels(self, prior: AnyArray) -> float:
        """The number n of labels drawn from the population that would fix the PN risk as well: 1 / Σ θ_c² / n_c."""
        seen = self.weight[:-1] > 0
        return float(1 / np.sum(prior[seen] ** 2 / self.weight[:-1][seen])) if seen.any() else 0.0

    def _means(self, sums: AnyArray) -> AnyArray:
        return sums / np.where(self.weight > 0, self.weight, 1.0)

    def _outputs(self, prior: AnyArray) -> AnyArray:
        """The class that each output speaks for: the positive one of two, or every class."""
        return np.arange(len(prior)) if len(self.positive) > 1 else np.array([1])

    def _risk(self, prior: AnyArray, loss: AnyArray, loss_of_minus: AnyArray) -> AnyArray:
        """One PNU risk per output, with all other classes as its negatives; each error of K outputs counts twice."""
        total = np.zeros(loss.shape[1:-1])
        for k, own in enumerate(self._outputs(prior)):
            others = np.arange(len(prior)) != own
            rest = np.where(others, prior, 0.0)[others] / (1 - prior[own])
            table = pnu(prior[own], self._mix(prior, own)).table
            for side, mean in enumerate((loss[k], loss_of_minus[k])):
                total += table[0, side] * mean[..., own] + table[2, side] * mean[..., -1]
                total += table[1, side] * (mean[..., :-1][..., others] @ rest)
        return total / (1 if len(loss) == 1 else 2)

    def _mix(self, prior: AnyArray, own: int) -> float:
        return validation_mix(prior, self.weight[:-1], self.weight[-1], own)


def validation_mix(prior: AnyArray, n_labeled: AnyArray, n_population: float, own: int = 1) -> float:
    """η of least variance for equal variances of the loss in P, N and U; ±1 if a class has no rows.

    >>> validation_mix(np.array([0.7, 0.3]), np.array([10, 10]), 0), validation_mix(np.array([0.5, 0.5]), [5, 5], 9)
    (0.0, 0.0)
    """
    n_labeled = np.asarray(n_labeled, dtype=float)
    others = np.arange(len(prior)) != own
    forced = forced_mix(n_labeled[own], (n_labeled[others] > 0).all(), n_population)
    if forced is not None:
        return forced
    psi_p = prior[own] ** 2 / n_labeled[own]
    psi_n = float(np.sum(prior[others] ** 2 / n_labeled[others]))
    return float(least_variance_mix(psi_p, psi_n, 1 / n_population))


def membership(codes: AnyArray, weight: AnyArray, n_classes: int, population: AnyArray) -> AnyArray:
    """The weight of every row in every group: its class, and the population, shape (n, n_classes + 1)."""
    groups = np.zeros((len(codes), n_classes + 1))
    labeled = np.flatnonzero(codes >= 0)
    groups[labeled, codes[labeled]] = weight[labeled]
    groups[population, -1] = weight[population]
    return groups


def _votes(scores: AnyArray) -> AnyArray:
    """1 where the output's class is predicted; classes whose scores tie up to rounding share the vote.

    A score that is zero but for rounding has the sign of the machine's last bit, which must not choose a model.
    """
    close = TIED * np.sqrt(np.mean(np.square(scores), axis=-1, keepdims=True))
    if len(scores) == 1:
        return (np.sign(np.where(np.abs(scores) <= close, 0.0, scores)) + 1) / 2
    first = scores >= scores.max(axis=0) - close.max(axis=0)
    return first / first.sum(axis=0)
