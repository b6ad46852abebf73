"""The rows that a solver works on, and what all problems on the same rows share."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pnulearn._arrays import AnyArray


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
