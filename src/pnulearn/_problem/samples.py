"""The rows of a problem: features, the group each row belongs to, and its weight."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._problem.labels import UNLABELED

Sampling = Literal["case_control", "single_set"]


def check_sampling(sampling: Any) -> None:
    """Refuse what is neither of the two."""
    if sampling not in ("case_control", "single_set"):
        raise ValueError(f"sampling must be 'case_control' or 'single_set', got {sampling!r}.")


@dataclass(frozen=True)
class Samples:
    """Rows with their class code (−1 for unlabelled) and weight.

    `sampling` says which rows stand for the population: the unlabelled ones ("case_control", the paper), or all
    rows ("single_set": one sample of which some rows happen to be labelled).

    `at_random` marks labelled rows that were drawn at random from the population, beside others that were gathered by
    class; with "single_set" all of them were. `groups` numbers what rows belong to, if they do not stand alone.
    """

    X: Any
    codes: AnyArray
    weight: AnyArray
    n_classes: int = 2
    sampling: Sampling = "case_control"
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
        if self.sampling == "single_set":
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
    >>> population_of(codes, "case_control").tolist(), population_of(codes, "single_set").tolist()
    ([1, 3], [0, 1, 2, 3])
    """
    return np.arange(len(codes)) if sampling == "single_set" else np.flatnonzero(codes == UNLABELED)
