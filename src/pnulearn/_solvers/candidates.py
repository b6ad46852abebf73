"""What a solver is given and what it returns: one training problem in, a model for every (mix, alpha) out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._solvers.moments import LabeledMoments, Moments

# The rows that a solver works on, and what all problems on the same rows share.


@dataclass(frozen=True)
class FeatureMatrix:
    """Rows of features, and whether an unpenalised intercept joins them."""

    features: AnyArray
    intercept: bool = False

    @property
    def wide(self) -> bool:
        """Whether systems in the rows are cheaper to set up and solve than systems in the features."""
        n, b = self.features.shape
        return 3 * n * b * b + b**3 > n**3

    @cached_property
    def gram(self) -> AnyArray:
        """ΦΦ′ between rows."""
        return self.features @ self.features.T

    def products(self, some: AnyArray) -> AnyArray:
        """Inner products of some rows."""
        if self.wide:
            return self.gram.take(some, axis=0).take(some, axis=1)
        return self.features[some] @ self.features[some].T

    def spread(self, beta: AnyArray, some: AnyArray | slice = slice(None)) -> AnyArray:
        """ΦΦ′β on some rows: scores of the coefficients Φ′β."""
        return self.gram[some] @ beta if self.wide else self.features[some] @ (beta @ self.features)

    @cached_property
    def augmented(self) -> AnyArray:
        """Features with the column of the intercept, if there is one."""
        return np.column_stack([self.features, np.ones(len(self.features))]) if self.intercept else self.features

    def reach(self, push: AnyArray, alpha: float) -> float:
        """How far scores roam when rows are pushed and only the penalty holds them: √(mean of |Φ Φ′push| / 2α)."""
        return float(np.sqrt(np.abs(self.features @ (push @ self.features)).mean() / (2 * alpha)))

    def scores(self, coef: AnyArray, intercept: float) -> AnyArray:
        """g on the rows."""
        return self.features @ coef + intercept


# What a solver is given and what it gives back: one training problem in, every (mix, alpha) of it out.

ALPHAS = np.logspace(-5, 2, 8)
ETAS = np.arange(-10, 11) / 10
GAMMAS = np.arange(21) / 20


@dataclass(frozen=True)
class Mixes:
    """Candidates for the mix: the values users see, and for the solver the share s of U and the tilt t.

    Every risk of the paper is PN + a (PU − PN) + c (NU − PN); s = a + c and t = a − c.
    """

    risk: str
    values: AnyArray
    shares: AnyArray
    tilts: AnyArray

    @classmethod
    def of(cls, risk: str, mix: float | Sequence[float] | None) -> Mixes:
        """PNU: s = |η|, t = η. PUNU: s = 1, t = 1 − 2γ. PN, PU and NU leave no choice.

        >>> Mixes.of("punu", [0.0, 0.5]).tilts.tolist()
        [1.0, 0.0]
        """
        fixed = {"pn": 0.0, "pu": 1.0, "nu": -1.0}
        default = GAMMAS if risk == "punu" else ETAS
        values = np.atleast_1d(np.asarray(fixed.get(risk, default if mix is None else mix), dtype=float))
        if risk == "punu":
            return cls(risk, values, np.ones(len(values)), 1 - 2 * values)
        return cls(risk, values, np.abs(values), values)

    def __len__(self) -> int:
        return len(self.values)

    def take(self, numbers: AnyArray) -> Mixes:
        """The candidates of these numbers alone."""
        return Mixes(self.risk, self.values[numbers], self.shares[numbers], self.tilts[numbers])


@dataclass(frozen=True)
class Training:
    """Rows to learn from, in features, and the candidates to learn.

    `rows` numbers the rows to learn from in a table of features, and in the table of all inner products where that is
    known; None stands for all rows. `population` numbers those of them that stand for U. U's moments may be handed over
    as well, and then its rows may be missing from the table; likewise those of the labelled rows.
    """

    table: AnyArray
    codes: AnyArray
    weight: AnyArray
    population: AnyArray
    prior: AnyArray
    mixes: Mixes
    alphas: AnyArray
    intercept: bool
    population_moments: Moments | None = None
    products: AnyArray | None = None
    rows: AnyArray | None = None
    labeled_moments: LabeledMoments | None = None

    @cached_property
    def features(self) -> AnyArray:
        """Features of the rows to learn from. Solvers that live on inner products never ask for this copy."""
        return self.table if self.rows is None else self.table[self.rows]

    def features_of(self, some: AnyArray) -> AnyArray:
        """Features of some of the rows."""
        return self.table[self._in_table(some)]

    def products_of(self, some: AnyArray) -> AnyArray:
        """Inner products of some of the rows."""
        if self.products is None:
            features = self.features_of(some)
            return features @ features.T
        numbers = self._in_table(some)
        return self.products.take(numbers, axis=0).take(numbers, axis=1)

    @cached_property
    def labeled(self) -> AnyArray:
        return np.flatnonzero(self.codes >= 0)

    @property
    def outputs(self) -> AnyArray:
        """The classes that outputs speak for: the positive one of two, or every class."""
        return np.array([1]) if len(self.prior) == 2 else np.arange(len(self.prior))

    def only(self, mixes: AnyArray, alphas: AnyArray) -> Training:
        """The same rows with the candidates of these numbers."""
        return replace(self, mixes=self.mixes.take(mixes), alphas=self.alphas[alphas])

    def _in_table(self, some: AnyArray) -> AnyArray:
        return some if self.rows is None else self.rows[some]


def find_used(weight: AnyArray) -> tuple[AnyArray, AnyArray]:
    """Numbers of the mixes and of the alphas that have any weight (C, J)."""
    return np.flatnonzero(weight.any(axis=1)), np.flatnonzero(weight.any(axis=0))


class Candidates(Protocol):
    """Fitted models for every mix (C) and alpha (J), with K outputs each."""

    def scores(self, features: AnyArray, products: AnyArray | None = None) -> AnyArray:
        """g on rows of features, shape (K, C, J, n).

        The rows' inner products with the training rows may be handed over where they are already known.
        """

    def average(self, weights: AnyArray) -> tuple[AnyArray, AnyArray]:
        """Σ weights (C, J) × coefficients: a vector of shape (K, b) and an intercept of shape (K,)."""
