"""Diverse large-margin separators of labelled and unlabelled rows: random starts, local search, grouping."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn.baselines.s4vm.shared_kernel_svm import GAP, TIED, Separators, SharedKernelSVM

RANDOM_SHARE = 0.8  # of the starts; the others are the supervised labels with every fifth one flipped
FLIPPED = 0.2
ADOPTED = 0.8  # of the rows that would change their label do so in one round
RANDOM_ROUNDS = 10  # after these all do, and the search is a descent
COARSE_GAP, COARSE_STEPS = 1e-2, 20  # of separators whose labels will change
CHANCE_STEPS = 10  # while they change by chance
MOST_ROUNDS = 200
TOLERANCE = 0.1  # of the mean label, around its target
CONTENDERS = 3  # of every group are solved fully: which of them is best coarse separators do not tell

Part = TypeVar("Part", "FoundSeparators", Separators)


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
        n_above = (scores > 0).sum(axis=1)
        kept = np.clip(n_above, self.low, self.high)
        threshold = np.zeros(len(scores), dtype=scores.dtype)
        rows = np.flatnonzero(kept != n_above)
        if not len(rows):
            return threshold
        ordered = np.full((len(rows), scores.shape[1] + 2), np.nan, dtype=scores.dtype)
        ordered[:, 1:-1] = -np.sort(-scores[rows], axis=1)
        each = np.arange(len(rows))
        above, below = ordered[each, kept[rows]], ordered[each, kept[rows] + 1]
        above = np.where(np.isnan(above), np.fmax(below, 0) + 1, above)
        below = np.where(np.isnan(below), np.fmin(above, 0) - 1, below)
        threshold[rows] = (above + below) / 2
        return threshold


@dataclass(frozen=True)
class FoundSeparators:
    """Separators k(x)'coef + offset whose signs on the unlabelled rows are `labels`."""

    labels: AnyArray  # (m, u), entries ±1
    coef: AnyArray  # (m, n)
    offset: AnyArray  # (m,)
    objective: AnyArray  # (m,), ½|f|² + Σ C_i max(0, 1 − y_i f_i), the lower the better

    def take(self, rows: AnyArray) -> FoundSeparators:
        """Some of the candidates."""
        return FoundSeparators(*(getattr(self, name)[rows] for name in self.__dataclass_fields__))


def sample_separators(
    machine: SharedKernelSVM,
    signs: AnyArray,
    supervised: AnyArray,
    balance: Balance,
    n_starts: int,
    n_groups: int,
    seed: int,
) -> FoundSeparators:
    """Different separators found from `n_starts` random labellings and the supervised one, best objective first.

    Of more than can be kept, `n_groups`, only the best few of each group are searched to the end.
    """
    rng = np.random.default_rng(seed)
    unlabeled = np.flatnonzero(signs == 0)
    labels = np.tile(signs.astype(np.float32), (n_starts + 1, 1))  # the precision of coarse separators
    labels[:, unlabeled] = starting_labels(supervised, n_starts, rng)
    found = local_search(machine, labels, unlabeled, balance, n_groups, rng)
    return found.take(_different(found))


def starting_labels(supervised: AnyArray, n_starts: int, rng: np.random.Generator) -> AnyArray:
    """Random labels, then flipped supervised labels, then the supervised labels: shape (n_starts + 1, u)."""
    n_random = round(RANDOM_SHARE * n_starts)
    noise = rng.choice([-1.0, 1.0], size=(n_random, len(supervised)))
    kept = np.where(rng.random((n_starts - n_random, len(supervised))) < FLIPPED, -1.0, 1.0)
    return np.vstack([noise, kept * supervised, supervised])


def local_search(
    machine: SharedKernelSVM,
    labels: AnyArray,
    unlabeled: AnyArray,
    balance: Balance,
    n_groups: int,
    rng: np.random.Generator,
) -> FoundSeparators:
    """Train on the labels, label by the scores under the balance rule, until a separator keeps its own labels.

    Separators are coarse while their labels change. Once all have come to rest the contenders are solved fully, side
    by side, and those that want other labels after all go on.
    """
    finished: list[FoundSeparators] = []
    separators, chance = None, RANDOM_ROUNDS
    last = np.full(len(labels), np.inf)
    for _ in range(MOST_ROUNDS):
        rows, coarse = _come_to_rest(machine, labels, separators, unlabeled, balance, rng, chance)
        if separators is None:
            chosen = _contenders(_rebalance(machine, coarse, unlabeled, balance), n_groups)
            rows, coarse = rows[chosen], coarse.take(chosen)
        separators = machine.solve(coarse.labels, coarse)
        found = _rebalance(machine, separators, unlabeled, balance)
        moving = _moving(found, separators.labels[:, unlabeled], last[rows])
        finished.append(found.take(np.flatnonzero(~moving)))
        if not moving.any():
            break
        separators, found, chance = separators.take(moving), found.take(moving), 0
        labels, last = separators.labels.copy(), found.objective
        labels[:, unlabeled] = found.labels
    else:
        finished.append(found)
    return _join(finished)


def _come_to_rest(
    machine: SharedKernelSVM,
    labels: AnyArray,
    separators: Separators | None,
    unlabeled: AnyArray,
    balance: Balance,
    rng: np.random.Generator,
    chance: int,
) -> tuple[AnyArray, Separators]:
    """Coarse separators that keep their labels, and from which of the starts they come: starts that are led to the
    same labels go on as one. In the first `chance` rounds only some rows adopt their new labels."""
    rows, last = np.arange(len(labels)), np.full(len(labels), np.inf)
    at_rest: list[tuple[AnyArray, Separators]] = []
    for round_number in range(MOST_ROUNDS):
        by_chance = round_number < chance
        most = CHANCE_STEPS if by_chance else COARSE_STEPS
        coarse = machine.solve(labels, separators, tol=COARSE_GAP, max_iter=most)
        found = _rebalance(machine, coarse, unlabeled, balance)
        moving = _moving(found, labels[:, unlabeled], last)
        at_rest.append((rows[~moving], coarse.take(~moving)))
        on = _first_of_equals(found.labels, np.flatnonzero(moving))
        if len(on) == 0:
            break
        rows, separators, labels, found = rows[on], coarse.take(on), labels[on], found.take(on)
        last = np.full(len(rows), np.inf) if by_chance else found.objective
        adopting = (rng.random(found.labels.shape) < ADOPTED) | (not by_chance)
        labels[:, unlabeled] = np.where(adopting, found.labels, labels[:, unlabeled])
    else:
        at_rest.append((rows, coarse.take(on)))
    return np.concatenate([rows for rows, _ in at_rest]), _join([resting for _, resting in at_rest])


def _moving(found: FoundSeparators, labels: AnyArray, last: AnyArray) -> AnyArray:
    """Whether a separator wants other labels than it was trained on, and is better than the one before.

    Below the accuracy of the solver a lower objective means nothing, and near-ties could alternate for ever.
    """
    return (found.labels != labels).any(axis=1) & (found.objective < (1 - GAP) * last)


def _first_of_equals(labels: AnyArray, rows: AnyArray) -> AnyArray:
    """Those of the rows whose labels no earlier one of them has."""
    bits = np.packbits(labels[rows] > 0, axis=1)
    _, first = np.unique(bits.view(f"V{bits.shape[1]}").ravel() if len(bits) else bits, return_index=True)
    return rows[np.sort(first)]


def representatives(candidates: FoundSeparators, n_groups: int) -> FoundSeparators:
    """The best candidate of each of `n_groups` groups with similar labels."""
    return candidates.take(_best_of_groups(candidates, n_groups, 1))


def _contenders(found: FoundSeparators, n_groups: int) -> AnyArray:
    """Numbers of the best few of each group, of separators that may have the same labels."""
    different = _different(found)
    return different[_best_of_groups(found.take(different), n_groups, CONTENDERS)]


def _different(found: FoundSeparators) -> AnyArray:
    """Numbers of the best separator for each labelling, best objective first."""
    return _first_of_equals(found.labels, _ascending(found.objective))


def _ascending(objective: AnyArray) -> AnyArray:
    """Numbers in ascending order of the objective; those that agree up to rounding stay as they are."""
    order = np.argsort(objective)
    place = np.empty(len(objective), dtype=int)
    place[order] = np.cumsum(np.diff(objective[order], prepend=-np.inf) > TIED * np.abs(objective[order]))
    return np.argsort(place, kind="stable")


def _best_of_groups(candidates: FoundSeparators, n_groups: int, n_each: int) -> AnyArray:
    """Numbers of the best `n_each` of each of `n_groups` groups with similar labels, which must all differ."""
    n_groups = min(n_groups, len(candidates.labels))
    distance = (candidates.labels.shape[1] - candidates.labels @ candidates.labels.T) / 2
    group = group_by_medoids(distance, n_groups)
    members = [np.flatnonzero(group == k) for k in range(n_groups)]
    best = [rows[_ascending(candidates.objective[rows])[:n_each]] for rows in members]
    return np.sort(np.concatenate(best))


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
    threshold = balance.thresholds(found.scores[:, unlabeled]) + machine.tied
    labels = found.labels.copy()
    labels[:, unlabeled] = np.where(found.scores[:, unlabeled] > threshold[:, None], 1.0, -1.0)
    objective = machine.objective(found, labels)
    return FoundSeparators(labels[:, unlabeled], found.coef, found.bias - threshold, objective)


def _join(parts: list[Part]) -> Part:
    names = parts[0].__dataclass_fields__
    return type(parts[0])(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))
