"""Newton's equations of many problems on the same rows, no more exact than a guess has to be: in single precision.

The equations of one problem are γ + diag(give) g = push with scores g = ΦΦ′γ / 2α. They are solved in coordinates of
the rows where few of these do, and else in the rows that give.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from scipy.linalg.blas import ssyrk
from scipy.linalg.lapack import spotrf, spotrs

from pnulearn._arrays import AnyArray
from pnulearn._solvers.single_precision import TINY, single_precision

NEGLIGIBLE = 0.01  # what a row that is left out may add to a Hessian, relative to the rest of it
MOST = 0.85  # the share of rows from which on all are kept


class Systems(Protocol):
    """The equations of B problems, factorised."""

    def solve(self, push: AnyArray) -> tuple[AnyArray, AnyArray]:
        """Scores and γ (B, n); not a number where a problem's system is too close to singular."""


class BlurredRows(Protocol):
    """Inner products of n rows."""

    def spread(self, beta: AnyArray) -> AnyArray:
        """ΦΦ′β of every problem (B, n)."""

    def systems(self, give: AnyArray, alphas: AnyArray) -> Systems:
        """Of problems with these gives (B, n) and penalties (B,)."""


class LeadingCoordinates:
    """Rows by coordinates (n, k) with about the same inner products."""

    def __init__(self, coordinates: AnyArray):
        self.coordinates = single_precision(coordinates)

    def spread(self, beta: AnyArray) -> AnyArray:
        return (beta @ self.coordinates) @ self.coordinates.T

    def systems(self, give: AnyArray, alphas: AnyArray) -> Systems:
        return _CoordinateSystems(self.coordinates, give, alphas)


class AllRows:
    """Rows by their inner products."""

    def __init__(self, gram: AnyArray):
        self.gram = single_precision(gram)

    def spread(self, beta: AnyArray) -> AnyArray:
        return beta @ self.gram

    def systems(self, give: AnyArray, alphas: AnyArray) -> Systems:
        return _RowSystems(self.gram, give, alphas)


class _CoordinateSystems:
    """(Z′diag(give)Z + 2α) w = Z′push, g = Zw."""

    def __init__(self, coordinates: AnyArray, give: AnyArray, alphas: AnyArray):
        self.coordinates, self.give = coordinates, give
        self.factors = [self._factorize(*one) for one in zip(np.sqrt(give), alphas, strict=True)]

    def _factorize(self, root: AnyArray, alpha: float) -> AnyArray | None:
        hessian = ssyrk(1.0, (self.coordinates * root[:, None]).T, lower=1)
        hessian.flat[:: len(hessian) + 1] += 2 * alpha
        return _factorize(hessian)

    def solve(self, push: AnyArray) -> tuple[AnyArray, AnyArray]:
        right = push @ self.coordinates
        for place, factor in enumerate(self.factors):
            right[place] = _solve(factor, right[place])
        scores = right @ self.coordinates.T
        return scores, push - self.give * scores


class _RowSystems:
    """(1 + RKR) R⁻¹γ = R⁻¹push with R² = give / 2α, for the rows that bend; others have γ = push."""

    def __init__(self, gram: AnyArray, give: AnyArray, alphas: AnyArray):
        self.gram, self.doubled = gram, (2 * alphas)[:, None].astype(np.float32)
        squares = give / self.doubled
        shares = squares * gram.diagonal()
        self.parts = [self._factorize(*one) for one in zip(squares, shares, strict=True)]

    def _factorize(self, squares: AnyArray, shares: AnyArray) -> tuple[AnyArray | slice, AnyArray, AnyArray | None]:
        """The rows that bend, R and the factor."""
        bending = np.flatnonzero(~(shares < min(NEGLIGIBLE, shares.max())))
        if len(bending) > MOST * len(shares):  # leaving rows out would take longer than it saves
            root = np.maximum(np.sqrt(squares), TINY)
            return slice(None), root, self._factor(self.gram * root, root)
        root = np.sqrt(squares[bending])
        system = self.gram.take(bending, axis=0).take(bending, axis=1)
        system *= root
        return bending, root, self._factor(system, root)

    @staticmethod
    def _factor(system: AnyArray, root: AnyArray) -> AnyArray | None:
        system *= root[:, None]
        system.flat[:: len(root) + 1] += 1
        return _factorize(system.T)

    def solve(self, push: AnyArray) -> tuple[AnyArray, AnyArray]:
        gamma = push.copy()
        for place, (bending, _, _) in enumerate(self.parts):
            gamma[place, bending] = 0
        held = gamma @ self.gram
        for place, (bending, root, factor) in enumerate(self.parts):
            right = push[place, bending] / root - root * held[place, bending]
            gamma[place, bending] = root * _solve(factor, right)
        return (gamma @ self.gram) / self.doubled, gamma


def _factorize(matrix: AnyArray) -> AnyArray | None:
    factor, failed = spotrf(matrix, lower=1, clean=0, overwrite_a=1)
    return None if failed else factor


def _solve(factor: AnyArray | None, right: AnyArray) -> AnyArray:
    return np.full_like(right, np.nan) if factor is None else spotrs(factor, right, lower=1)[0]
