"""The rows of a problem: features, the group each row belongs to, and its weight."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._problem.labels import UNLABELED

Sampling = Literal["by_class", "random"]
BY_CLASS: Sampling = "by_class"
RANDOM: Sampling = "random"
ALIASES: dict[str, Sampling] = {"case_control": BY_CLASS, "single_set": RANDOM}  # of the literature


def read_sampling(sampling: Any) -> Sampling:
    """How labelled rows were drawn: at random from the population, or not ("by_class").

    >>> read_sampling("random"), read_sampling("case_control")
    ('random', 'by_class')
    """
    found = ALIASES.get(sampling, sampling) if isinstance(sampling, str) else sampling
    if found not in (BY_CLASS, RANDOM):
        raise ValueError(
            "sampling must be 'random' if the labelled rows were drawn at random from the population, else 'by_class'; "
            f"got {sampling!r}."
        )
    return found


@dataclass(frozen=True)
class Samples:
    """Rows with their class code (−1 for unlabelled) and weight.

    `sampling` says which rows stand for the population: the unlabelled ones ("by_class", the paper), or all
    rows ("random": one sample of which some rows happen to be labelled).

    `at_random` marks labelled rows that were drawn at random from the population, beside others that were gathered by
    class; with "random" all of them were. `groups` numbers what rows belong to, if they do not stand alone.
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
        """Numbers of the rows that stand for the population, "U" in every formula."""
        return population_of(self.codes, self.sampling)

    def split(self) -> tuple[AnyArray, AnyArray, AnyArray]:
        """Numbers of the positive rows, of the negative ones and of those that stand for the population: P, N and U."""
        return np.flatnonzero(self.codes == 1), np.flatnonzero(self.codes == 0), self.population

    @property
    def counts(self) -> AnyArray:
        """Total weight of the labelled rows of each class."""
        return self._count(self.labeled)

    @property
    def random_counts(self) -> AnyArray | None:
        """The same of rows whose labels were drawn at random from the population, None if there are none."""
        if self.sampling == RANDOM:
            return self.counts
        if self.at_random is None or not self.at_random.any():
            return None
        return self._count(np.flatnonzero(self.at_random & (self.codes != UNLABELED)))

    def take(self, rows: AnyArray) -> Samples:
        """The same problem on some of its rows."""
        at_random = None if self.at_random is None else self.at_random[rows]
        groups = None if self.groups is None else self.groups[rows]
        return Samples(
            self.X[rows], self.codes[rows], self.weight[rows], self.n_classes, self.sampling, at_random, groups
        )

    def _count(self, rows: AnyArray) -> AnyArray:
        return np.bincount(self.codes[rows], weights=self.weight[rows], minlength=self.n_classes)


def population_of(codes: AnyArray, sampling: Sampling) -> AnyArray:
    """Numbers of the rows that stand for the population: the unlabelled ones, or all.

    >>> codes = np.array([1, -1, 0, -1])
    >>> population_of(codes, "by_class").tolist(), population_of(codes, "random").tolist()
    ([1, 3], [0, 1, 2, 3])
    """
    return np.arange(len(codes)) if sampling == RANDOM else np.flatnonzero(codes == UNLABELED)
