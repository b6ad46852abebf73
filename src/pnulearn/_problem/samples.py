"""The rows of a problem: features, class codes, weights and how labels were sampled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._problem.labels import UNLABELED

Sampling = Literal["by_class", "random"]
BY_CLASS: Sampling = "by_class"
RANDOM: Sampling = "random"
ALIASES: dict[str, Sampling] = {"case_control": BY_CLASS, "single_set": RANDOM}  # names in the literature


def read_sampling(sampling: Any) -> Sampling:
    """The validated value of `sampling`, with aliases resolved.

    >>> read_sampling("random"), read_sampling("case_control")
    ('random', 'by_class')
    """
    found = ALIASES.get(sampling, sampling) if isinstance(sampling, str) else sampling
    if found not in (BY_CLASS, RANDOM):
        raise ValueError(
            "sampling must be 'random' if the labelled rows were drawn at random from the population (or, with "
            "positives alone, from its positives, which are then missing among the unlabelled rows), else 'by_class'; "
            f"got {sampling!r}."
        )
    return found


@dataclass(frozen=True)
class Samples:
    """Rows with their class code (−1 for unlabelled) and weight.

    `sampling` determines which rows represent the population: the unlabelled ones ("by_class", as in the paper), or all
    rows ("random": one random sample, some rows of which are labelled). If all labels are of one class, "random" means
    that some rows of this class are labelled, so that the unlabelled rows lack them.

    `at_random` marks labelled rows that were drawn at random from the population, if the others were drawn by class; it
    is not needed with "random". `groups` are the group numbers of the rows, if rows are not independent.
    """

    X: Any
    codes: AnyArray
    weight: AnyArray
    n_classes: int = 2
    sampling: Sampling = BY_CLASS
    at_random: AnyArray | None = None
    groups: AnyArray | None = None

    @property
    def labeled(self) -> AnyArray:
        """Numbers of the labelled rows."""
        return np.flatnonzero(self.codes != UNLABELED)

    @property
    def unlabeled(self) -> AnyArray:
        """Numbers of the unlabelled rows."""
        return np.flatnonzero(self.codes == UNLABELED)

    @property
    def population(self) -> AnyArray:
        """Numbers of the rows that represent the population, "U" in the formulas."""
        return population_of(self.codes, self.sampling)

    def split(self) -> tuple[AnyArray, AnyArray, AnyArray]:
        """Numbers of the positive rows, the negative rows and those that represent the population: P, N and U."""
        return np.flatnonzero(self.codes == 1), np.flatnonzero(self.codes == 0), self.population

    @property
    def counts(self) -> AnyArray:
        """Total weight of the labelled rows of each class."""
        return self._count(self.labeled)

    @property
    def random_counts(self) -> AnyArray | None:
        """Total weight of each class among labelled rows drawn at random from the population, or None."""
        if self.sampling == RANDOM:
            return self.counts
        if self.at_random is None or not self.at_random.any():
            return None
        if self.n_classes == 2 and np.count_nonzero(self.counts) < 2:
            return None  # labels of one class do not say how common it is
        return self._count(np.flatnonzero(self.at_random & (self.codes != UNLABELED)))

    def take(self, rows: AnyArray) -> Samples:
        """The problem restricted to some of its rows."""
        at_random = None if self.at_random is None else self.at_random[rows]
        groups = None if self.groups is None else self.groups[rows]
        return Samples(
            self.X[rows], self.codes[rows], self.weight[rows], self.n_classes, self.sampling, at_random, groups
        )

    def _count(self, rows: AnyArray) -> AnyArray:
        return np.bincount(self.codes[rows], weights=self.weight[rows], minlength=self.n_classes)


def population_of(codes: AnyArray, sampling: Sampling) -> AnyArray:
    """Numbers of the rows that represent the population: the unlabelled ones, or all.

    >>> codes = np.array([1, -1, 0, -1])
    >>> population_of(codes, "by_class").tolist(), population_of(codes, "random").tolist()
    ([1, 3], [0, 1, 2, 3])
    """
    return np.arange(len(codes)) if sampling == RANDOM else np.flatnonzero(codes == UNLABELED)
