"""The interface of a solver: it takes one training problem and returns a model for every (mix, alpha)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._solvers.moments import LabeledMoments, Moments

# The rows that a solver works on, with quantities shared by all problems on the same rows.


@dataclass(frozen=True)
class FeatureMatrix:
    """Rows of features, and whether there is an unpenalised intercept."""

    features: AnyArray
    intercept: bool = False

    @property
    def wide(self) -> bool:
        """Whether linear systems of the size of the rows (dual) are cheaper than those of the features (primal)."""
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
        """ΦΦ′β on some rows: the scores of the coefficients Φ′β."""
        return self.gram[some] @ beta if self.wide else self.features[some] @ (beta @ self.features)

    @cached_property
    def augmented(self) -> AnyArray:
        """Features with the column of the intercept, if there is one."""
        return np.column_stack([self.features, np.ones(len(self.features))]) if self.intercept else self.features

    def reach(self, push: AnyArray, alpha: float) -> float:
        """The typical size of unconstrained scores, √(mean of |Φ Φ′push| / 2α)."""
        return float(np.sqrt(np.abs(self.features @ (push @ self.features)).mean() / (2 * alpha)))

    def scores(self, coef: AnyArray, intercept: float) -> AnyArray:
        """g on the rows."""
        return self.features @ coef + intercept


# Training problems and candidates.

ALPHAS = np.logspace(-5, 2, 8)
ETAS = np.arange(-10, 11) / 10
GAMMAS = np.arange(21) / 20


@dataclass(frozen=True)
class Mixes:
    """Candidates for the mix: the user's values, and for the solver the share s of U and the tilt t.

    Every risk of the paper is PN + a (PU − PN) + c (NU − PN); s = a + c and t = a − c.
    """

    risk: str
    values: AnyArray
    shares: AnyArray
    tilts: AnyArray

    @classmethod
    def of(cls, risk: str, mix: float | Sequence[float] | None) -> Mixes:
        """PNU: s = |η|, t = η. PUNU: s = 1, t = 1 − 2γ. PN, PU and NU have one fixed value.

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
        """The candidates with these indices."""
        return Mixes(self.risk, self.values[numbers], self.shares[numbers], self.tilts[numbers])


@dataclass(frozen=True)
class Training:
    """Training rows as features, and the candidates to fit.

    `rows` are the indices of the training rows in `table` and, if known, in the matrix `products` of inner products;
    None means all rows. `population` are the indices, among the training rows, of those that represent U. If the
    moments of U or of the labelled rows are given, these rows may be missing from the table.
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
        """Features of the training rows; copied on first use, since solvers based on inner products need none."""
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
        """The class of each output: the positive class of two, or every class."""
        return np.array([1]) if len(self.prior) == 2 else np.arange(len(self.prior))

    def only(self, mixes: AnyArray, alphas: AnyArray) -> Training:
        """The same rows with the mixes and alphas of these indices."""
        return replace(self, mixes=self.mixes.take(mixes), alphas=self.alphas[alphas])

    def _in_table(self, some: AnyArray) -> AnyArray:
        return some if self.rows is None else self.rows[some]


def find_used(weight: AnyArray) -> tuple[AnyArray, AnyArray]:
    """Indices of the mixes and of the alphas with nonzero weight (C, J)."""
    return np.flatnonzero(weight.any(axis=1)), np.flatnonzero(weight.any(axis=0))


class Candidates(Protocol):
    """Fitted models for every mix (C) and alpha (J), with K outputs each."""

    def scores(self, features: AnyArray, products: AnyArray | None = None) -> AnyArray:
        """g on rows of features, shape (K, C, J, n).

        `products` are the rows' inner products with the training rows, if they are known already.
        """

    def average(self, weights: AnyArray) -> tuple[AnyArray, AnyArray]:
        """Weighted sum over candidates, weights (C, J): coefficients (K, b) and intercepts (K,)."""
