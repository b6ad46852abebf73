"""The rows of a problem: features, the group each row belongs to, and its weight."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pnulearn._problem.labels import UNLABELED

Sampling = Literal["case_control", "single_set"]


@dataclass(frozen=True)
class Samples:
    """Rows with their class code (−1 for unlabelled) and weight.

    `sampling` says which rows stand for the population: the unlabelled ones ("case_control", the paper), or all
    rows ("single_set": one sample of which some rows happen to be labelled).
    """

    X: Any
    codes: NDArray
    weight: NDArray
    n_classes: int = 2
    sampling: Sampling = "case_control"

    @property
    def labeled(self) -> NDArray:
        """Numbers of the labelled rows."""
        return np.flatnonzero(self.codes != UNLABELED)

    @property
    def unlabeled(self) -> NDArray:
        """Numbers of the unlabelled rows."""
        return np.flatnonzero(self.codes == UNLABELED)

    @property
    def population(self) -> NDArray:
        """Numbers of the rows that stand for the population, "U" in every formula."""
        return population_of(self.codes, self.sampling)

    def split(self) -> tuple[NDArray, NDArray, NDArray]:
        """Numbers of the positive rows, of the negative ones and of those that stand for the population: P, N and U."""
        return np.flatnonzero(self.codes == 1), np.flatnonzero(self.codes == 0), self.population

    @property
    def counts(self) -> NDArray:
        """Total weight of the labelled rows of each class."""
        labeled = self.labeled
        return np.bincount(self.codes[labeled], weights=self.weight[labeled], minlength=self.n_classes)

    def take(self, rows: NDArray) -> Samples:
        """The same problem on some of its rows."""
        return Samples(self.X[rows], self.codes[rows], self.weight[rows], self.n_classes, self.sampling)


def population_of(codes: NDArray, sampling: Sampling) -> NDArray:
    """Numbers of the rows that stand for the population: the unlabelled ones, or all.

    >>> codes = np.array([1, -1, 0, -1])
    >>> population_of(codes, "case_control").tolist(), population_of(codes, "single_set").tolist()
    ([1, 3], [0, 1, 2, 3])
    """
    return np.arange(len(codes)) if sampling == "single_set" else np.flatnonzero(codes == UNLABELED)
