"""Where Newton's method for smooth losses works: in the coefficients, or in a number per row where rows are fewer.

A function g is known by its vector and by its scores on the rows. Gradients are vectors of the same kind, so that the
method itself is written once, in `smooth`.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy.linalg import LinAlgError
from scipy.linalg.blas import dsyrk, dtrsv

from pnulearn._arrays import AnyArray
from pnulearn._solvers.cholesky import factorize, solve_factorized
from pnulearn._solvers.feature_matrix import FeatureMatrix

NEGLIGIBLE = 1e-2  # what a Hessian may miss, relative to the rest of it


class Space(Protocol):
    """Vectors v of a space, scores Φw of the coefficients w that they stand for, and products of the latter."""

    size: int

    def scores(self, vector: AnyArray) -> AnyArray:
        """Scores on the rows."""

    def penalty(self, vector: AnyArray, scores: AnyArray, other: AnyArray) -> float:
        """Σ w·w′ over penalised coefficients; `scores` are those of `vector`."""

    def product(self, vector: AnyArray, scores: AnyArray, gradient: AnyArray) -> float:
        """The change of the objective along a vector, with these scores, at this gradient."""

    def gradient(self, derivative: AnyArray, alpha: float, vector: AnyArray) -> AnyArray:
        """The gradient where rows have these derivatives."""

    def length(self, gradient: AnyArray) -> float:
        """The greatest entry of a gradient by the coefficients, or more."""

    def factorize(self, curvature: AnyArray, alpha: float) -> Any:
        """The Hessian Φ′diag(curvature)Φ + 2α, for `solve`; where rows curve down too much they are left out."""

    def solve(self, factor: Any, gradient: AnyArray) -> AnyArray:
        """The Hessian's inverse times a gradient."""

    def coefficients(self, vector: AnyArray) -> tuple[AnyArray, float]:
        """w and the intercept."""


class CoefficientSpace:
    """A vector is w, followed by the intercept if there is one."""

    def __init__(self, matrix: FeatureMatrix):
        self.matrix, self.intercept = matrix.augmented, matrix.intercept
        self.size = self.matrix.shape[1]
        self.penalised = np.ones(self.size)
        if self.intercept:
            self.penalised[-1] = 0

    def scores(self, vector: AnyArray) -> AnyArray:
        return self.matrix @ vector

    def penalty(self, vector: AnyArray, scores: AnyArray, other: AnyArray) -> float:
        return float((self.penalised * vector) @ other)

    def product(self, vector: AnyArray, scores: AnyArray, gradient: AnyArray) -> float:
        return float(vector @ gradient)

    def gradient(self, derivative: AnyArray, alpha: float, vector: AnyArray) -> AnyArray:
        return derivative @ self.matrix + 2 * alpha * self.penalised * vector

    def length(self, gradient: AnyArray) -> float:
        return float(np.abs(gradient).max())

    def factorize(self, curvature: AnyArray, alpha: float) -> AnyArray:
        try:
            return factorize(self._hessian(curvature, alpha))
        except LinAlgError:  # not convex here
            hessian = self._hessian(np.maximum(curvature, 0) + np.finfo(float).tiny, alpha)
            hessian[-1, -1] += 1e-12  # an intercept that no row holds any more
            return factorize(hessian)

    def _hessian(self, curvature: AnyArray, alpha: float) -> AnyArray:
        if (curvature >= 0).all():
            hessian = dsyrk(1.0, (self.matrix * np.sqrt(curvature)[:, None]).T, lower=True)
        else:
            hessian = (self.matrix.T * curvature) @ self.matrix
        hessian.flat[:: self.size + 1] += 2 * alpha * self.penalised
        return hessian

    def solve(self, factor: AnyArray, gradient: AnyArray) -> AnyArray:
        return solve_factorized(factor, gradient)

    def coefficients(self, vector: AnyArray) -> tuple[AnyArray, float]:
        return (vector[:-1], float(vector[-1])) if self.intercept else (vector, 0.0)


class _RowFactor(NamedTuple):
    """The Cholesky factor of 1 + RKR for the rows that bend, and R."""

    triangle: AnyArray
    bending: AnyArray
    root: AnyArray
    alpha: float


class RowSpace:
    """A vector is β with w = Φ′β: no minimiser lies outside of the rows' span. Hessians cost no product of matrices.

    With K = ΦΦ′ and R² = curvature / 2α the inverse Hessian of Φ′γ is Φ′(γ − R (1 + RKR)⁻¹ RKγ) / 2α.
    """

    def __init__(self, matrix: FeatureMatrix):
        self.matrix, self.size = matrix, len(matrix.features)
        self._diagonal = np.einsum("ij,ij->i", matrix.features, matrix.features)
        self._known: tuple[AnyArray, AnyArray] = (np.zeros(0), np.zeros(0))

    def scores(self, vector: AnyArray) -> AnyArray:
        """Kept until others are asked for: a gradient's length and its place in Newton's equations share them."""
        if self._known[0] is not vector:
            self._known = vector, self.matrix.gram @ vector
        return self._known[1]

    def penalty(self, vector: AnyArray, scores: AnyArray, other: AnyArray) -> float:
        return float(scores @ other)

    def product(self, vector: AnyArray, scores: AnyArray, gradient: AnyArray) -> float:
        return float(scores @ gradient)

    def gradient(self, derivative: AnyArray, alpha: float, vector: AnyArray) -> AnyArray:
        return derivative + 2 * alpha * vector

    def length(self, gradient: AnyArray) -> float:
        return float(np.sqrt(np.abs(self.scores(gradient) @ gradient)))

    def factorize(self, curvature: AnyArray, alpha: float) -> _RowFactor:
        """Rows that hardly bend are left out: all of them together change the Hessian by less than NEGLIGIBLE."""
        squares = curvature / (2 * alpha)
        share = squares * self._diagonal
        order = np.argsort(share)
        n_straight = int(np.searchsorted(np.cumsum(share[order]), NEGLIGIBLE))
        bending = np.sort(order[min(n_straight, self.size - 1) :])
        root = np.sqrt(squares[bending])
        system = self.matrix.gram.take(bending, axis=0).take(bending, axis=1)
        system *= root
        system *= root[:, None]
        system.flat[:: len(root) + 1] += 1
        return _RowFactor(factorize(system.T), bending, root, alpha)

    def solve(self, factor: _RowFactor, gradient: AnyArray) -> AnyArray:
        """Scores of the gradient are known to those who have asked for its length."""
        bending, root = factor.bending, factor.root
        forward = dtrsv(factor.triangle, root * self.scores(gradient)[bending], lower=1, overwrite_x=1)
        step = gradient.copy()
        step[bending] -= root * dtrsv(factor.triangle, forward, lower=1, trans=1, overwrite_x=1)
        step /= 2 * factor.alpha
        return step

    def coefficients(self, vector: AnyArray) -> tuple[AnyArray, float]:
        return vector @ self.matrix.features, 0.0
