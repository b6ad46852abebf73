"""Diverse large-margin separators of labelled and unlabelled rows: random starts, local search, grouping."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn.baselines.s4vm.shared_kernel_svm import GAP, Separators, SharedKernelSVM

RANDOM_SHARE = 0.8  # of the starts; the others are the supervised labels with every fifth one flipped
FLIPPED = 0.2
ADOPTED = 0.8  # of the rows that would change their label do so in one round
RANDOM_ROUNDS = 10  # after these all do, and the search is a descent
COARSE_GAP, COARSE_STEPS = 1e-2, 50  # of separators whose labels change by chance
MOST_ROUNDS = 200
TOLERANCE = 0.1  # of the mean label, around its target


@dataclass(frozen=True)
class Balance:
    """The least and the greatest number of positives among the unlabelled rows."""

    low: int
    high: int

    @classmethod
    def around(cls, mean_label: float, signs: AnyArray) -> Balance:
        """Mean label of all rows within ±0.1 of the target; `signs` is 0 for unlabelled rows."""
        n, n_positive, n_unlabeled = len(signs), int(np.sum(signs > 0)), int(np.sum(signs == 0))
        at_least = math.ceil(n * (1 + mean_label - TOLERANCE) / 2 - 1e-9) - n_positive
        at_most = n - math.ceil(n * (1 - mean_label - TOLERANCE) / 2 - 1e-9) - n_positive
        low = min(max(at_least, 0), n_unlabeled)
        return cls(low, min(max(at_most, low), n_unlabeled))

    def thresholds(self, scores: AnyArray) -> AnyArray:
        """Per row of scores, the number nearest to zero that a permitted number of scores exceeds.

        It is zero if zero will do, else midway between two scores; equal scores stay on one side.
        """
        ordered = -np.sort(-scores, axis=1)
        n_above = np.clip((scores > 0).sum(axis=1), self.low, self.high)
        padded = np.pad(ordered, ((0, 0), (1, 1)), constant_values=np.nan)
        rows = np.arange(len(scores))
        above, below = padded[rows, n_above], padded[rows, n_above + 1]
        above = np.where(np.isnan(above), np.fmax(below, 0) + 1, above)
        below = np.where(np.isnan(below), np.fmin(above, 0) - 1, below)
        return np.where((below <= 0) & (above > 0), 0.0, (above + below) / 2)


@dataclass(frozen=True)
class FoundSeparators:
    """Separators k(x)'coef + offset whose signs on the unlabelled rows are `labels`."""

    labels: AnyArray  # (m, u), entries ±1
    coef: AnyArray  # (m, n)
    offset: AnyArray  # (m,)
    objective: AnyArray  # (m,), ½|f|² + Σ C_i max(0, 1 − y_i f_i), the lower the better

    def take(self, rows: AnyArray) -> FoundSeparators:
        """Some of the candidates."""
        return FoundSeparators(self.labels[rows], self.coef[rows], self.offset[rows], self.objective[rows])


def sample_separators(
    machine: SharedKernelSVM, signs: AnyArray, supervised: AnyArray, balance: Balance, n_starts: int, seed: int
) -> FoundSeparators:
    """Different separators found from `n_starts` random labellings and the supervised one, best objective first."""
    rng = np.random.default_rng(seed)
    unlabeled = np.flatnonzero(signs == 0)
    labels = np.tile(signs, (n_starts + 1, 1))
    labels[:, unlabeled] = starting_labels(supervised, n_starts, rng)
    found = local_search(machine, labels, unlabeled, balance, rng)
    found = found.take(np.argsort(found.objective, kind="stable"))
    _, first = np.unique(found.labels, axis=0, return_index=True)
    return found.take(np.sort(first))


def starting_labels(supervised: AnyArray, n_starts: int, rng: np.random.Generator) -> AnyArray:
    """Random labels, then flipped supervised labels, then the supervised labels: shape (n_starts + 1, u)."""
    n_random = round(RANDOM_SHARE * n_starts)
    noise = rng.choice([-1.0, 1.0], size=(n_random, len(supervised)))
    kept = np.where(rng.random((n_starts - n_random, len(supervised))) < FLIPPED, -1.0, 1.0)
    return np.vstack([noise, kept * supervised, supervised])


def local_search(
    machine: SharedKernelSVM, labels: AnyArray, unlabeled: AnyArray, balance: Balance, rng: np.random.Generator
) -> FoundSeparators:
    """Train on the labels, label by the scores under the balance rule, until a separator keeps its own labels."""
    finished: list[FoundSeparators] = []
    separators: Separators | None = None
    last = np.full(len(labels), np.inf)
    for round_number in range(MOST_ROUNDS):
        if round_number < RANDOM_ROUNDS:
            separators = _solve_coarsely(machine, labels, separators, unlabeled, balance)
        else:
            separators = machine.solve(labels, separators)
        found = _rebalance(machine, separators, unlabeled, balance)
        moving = (found.labels != labels[:, unlabeled]).any(axis=1)
        # Below the accuracy of the solver a lower objective means nothing, and near-ties could alternate for ever.
        moving &= (found.objective < (1 - GAP) * last) | (round_number <= RANDOM_ROUNDS)
        finished.append(found.take(np.flatnonzero(~moving)))
        rows = np.flatnonzero(moving)
        if len(rows) == 0:
            break
        separators, labels, found = separators.take(rows), labels[rows], found.take(rows)
        last = found.objective
        adopting = (rng.random(found.labels.shape) < ADOPTED) | (round_number >= RANDOM_ROUNDS)
        labels[:, unlabeled] = np.where(adopting, found.labels, labels[:, unlabeled])
    else:
        finished.append(found)
    return _join(finished)


def _solve_coarsely(
    machine: SharedKernelSVM, labels: AnyArray, start: Separators | None, unlabeled: AnyArray, balance: Balance
) -> Separators:
    """Coarse separators for labels that will change by chance; those that would keep theirs are solved fully."""
    coarse = machine.solve(labels, start, tol=COARSE_GAP, max_iter=COARSE_STEPS)
    found = _rebalance(machine, coarse, unlabeled, balance)
    stay = np.flatnonzero((found.labels == labels[:, unlabeled]).all(axis=1))
    return coarse.put(stay, machine.solve(labels[stay], coarse.take(stay))) if len(stay) else coarse


def representatives(candidates: FoundSeparators, n_groups: int) -> FoundSeparators:
    """The best candidate of each of `n_groups` groups with similar labels."""
    n_groups = min(n_groups, len(candidates.labels))
    distance = (candidates.labels.shape[1] - candidates.labels @ candidates.labels.T) / 2
    group = group_by_medoids(distance, n_groups)
    members = [np.flatnonzero(group == k) for k in range(n_groups)]
    return candidates.take(np.sort([rows[candidates.objective[rows].argmin()] for rows in members]))


def group_by_medoids(distance: AnyArray, n_groups: int) -> AnyArray:
    """Group numbers by k-medoids: nearest medoid, then the most central member, while distances shrink.

    The first medoid is row 0 and every further one the row farthest from those chosen, so no draw is involved.
    """
    medoids = [0]
    while len(medoids) < n_groups:
        medoids.append(int(distance[medoids].min(axis=0).argmax()))
    total = np.inf
    while distance[medoids].min(axis=0).sum() < total:
        total = distance[medoids].min(axis=0).sum()
        group = distance[medoids].argmin(axis=0)
        medoids = [_most_central(distance, np.flatnonzero(group == k)) for k in range(n_groups)]
    return group


def _most_central(distance: AnyArray, rows: AnyArray) -> int:
    return int(rows[distance[np.ix_(rows, rows)].sum(axis=1).argmin()])


def _rebalance(machine: SharedKernelSVM, found: Separators, unlabeled: AnyArray, balance: Balance) -> FoundSeparators:
    threshold = balance.thresholds(found.scores[:, unlabeled])
    labels = found.labels.copy()
    labels[:, unlabeled] = np.where(found.scores[:, unlabeled] > threshold[:, None], 1.0, -1.0)
    objective = machine.objective(found, labels)
    return FoundSeparators(labels[:, unlabeled], found.coef, found.bias - threshold, objective)


def _join(parts: list[FoundSeparators]) -> FoundSeparators:
    names = FoundSeparators.__dataclass_fields__
    return FoundSeparators(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))
