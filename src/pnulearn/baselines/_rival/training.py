"""What a rival learns from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._problem.labels import UNLABELED
from pnulearn._problem.samples import Samples


@dataclass(frozen=True)
class RivalProblem:
    """The rows of a problem, the population share of every class, and the seed of all random choices."""

    samples: Samples
    shares: AnyArray
    seed: int


@dataclass(frozen=True)
class RivalTraining:
    """Rows, their kernel matrix (or features), class codes and population shares."""

    X: Any
    gram: AnyArray
    codes: AnyArray
    shares: AnyArray
    seed: int = 0

    @property
    def labeled(self) -> AnyArray:
        """Numbers of the labelled rows."""
        return np.flatnonzero(self.codes != UNLABELED)

    @property
    def unlabeled(self) -> AnyArray:
        """Numbers of the unlabelled rows."""
        return np.flatnonzero(self.codes == UNLABELED)

    @property
    def signs(self) -> AnyArray:
        """+1, −1 or 0 (unlabelled) for every row of a two-class problem."""
        return np.array([-1.0, 1.0, 0.0])[self.codes]

    @property
    def outputs(self) -> list[tuple[AnyArray, float]]:
        """Signs of the labelled rows and the population share of +1: once for two classes, else each class against
        the rest."""
        codes = self.codes[self.labeled]
        positives = [1] if len(self.shares) == 2 else range(len(self.shares))
        return [(np.where(codes == k, 1.0, -1.0), float(self.shares[k])) for k in positives]

    @property
    def balance(self) -> AnyArray:
        """θ_y / n_y for every labelled row: sums to one, and is 1/l if the prior is the labelled share."""
        codes = self.codes[self.labeled]
        return (self.shares / np.bincount(codes, minlength=len(self.shares)))[codes]
