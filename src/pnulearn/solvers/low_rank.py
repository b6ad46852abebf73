r"""Squared loss with few labelled rows: one eigendecomposition, then a small system per grid point.

With F′ the labelled rows, q their weights, R′R the population's Gram matrix and B = s R′R + p I (p = 4λ), the matrix of
a grid point is A = B + F W F′ with W = (1 − s) I, or W = (1 − s)(I − (1 − s) qq′) if an intercept was eliminated. So

    A⁻¹(F z − m) = B⁻¹(F y − m)    where    (I + W F′B⁻¹F) y = z + W F′B⁻¹m.

B⁻¹ comes from whichever side of R is smaller. From R′R = V D V′ it is V (s D + p)⁻¹ V′. From R R′ = U D U′ it is
I/p − R′U s/(p (s D + p)) U′R, which divides by no small eigenvalue and needs no more than inner products of rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pnulearn.solvers.candidates import Training
from pnulearn.solvers.ridge_problem import Population, RidgeProblem

PRODUCTS_AT_ONCE = 2**15  # so many stay in the cache


class Frame(Protocol):
    """The vectors that solutions are made of. Solutions stay in their frame until one is needed: only few are."""

    def coordinates(self, features: NDArray, products: NDArray | None = None) -> NDArray:
        """Inner products of rows of features with the frame, shape (n, f).

        `products` are the rows' inner products with the training rows, if they are known.
        """

    def lift(self, coefficients: NDArray) -> NDArray:
        """Σ coefficients (..., f) × vectors of the frame, shape (..., b)."""


@dataclass(frozen=True)
class Axes:
    """Vectors given outright, as columns (b, f)."""

    vectors: NDArray

    def coordinates(self, features: NDArray, products: NDArray | None = None) -> NDArray:
        return features @ self.vectors

    def lift(self, coefficients: NDArray) -> NDArray:
        return coefficients @ self.vectors.T


@dataclass(frozen=True)
class RowMixtures:
    """Mixtures of the training rows: features (n, b) and as many weights per vector (n, f)."""

    features: NDArray
    weights: NDArray

    def coordinates(self, features: NDArray, products: NDArray | None = None) -> NDArray:
        products = features @ self.features.T if products is None else products
        return products @ self.weights

    def lift(self, coefficients: NDArray) -> NDArray:
        return coefficients @ self.weights.T @ self.features


def is_cheaper(problem: RidgeProblem, side: int) -> bool:
    """Compare flops: one eigendecomposition of that size and r × r systems, or a b × b system per grid point."""
    r, b = problem.rows.shape
    points = len(problem.shares) * len(problem.alphas)
    return 9 * side**3 + points * (side * r**2 + r**3) < points * 2 / 3 * b**3


def solve_from_gram(problem: RidgeProblem, population: Population) -> tuple[NDArray, Frame]:
    """Coefficients (points, K + 1, f) of every output and of the slope, from the eigenvectors of R′R."""
    s, penalty = problem.grid_points
    values, V = np.linalg.eigh(population.gram(problem.origin))
    inverse = 1 / (np.outer(s, values) + penalty[:, None])  # (points, f)
    F, m = problem.rows @ V, problem.mean @ V
    y = _small_systems(problem, weighted_grams(F, (1 - s)[:, None] * inverse), (inverse * m) @ F.T)
    along = rows_times(y, F)
    if not problem.intercept:
        along[:, -1] -= m
    along *= inverse[:, None, :]
    return along, Axes(V)


def solve_from_rows(problem: RidgeProblem, training: Training, population: NDArray) -> tuple[NDArray, Frame]:
    """The same from the eigenvectors of R R′, when the population has fewer rows than there are basis functions."""
    s, penalty = problem.grid_points
    n = len(population)
    rows = _ScaledRows.of(problem, training, population)
    products = rows.products(training)
    values, U = np.linalg.eigh(products[:n, :n])
    F, m = products[n:, :n] @ U, rows.scale[:n] @ U  # m = R′ scale
    inverse = 1 / (np.outer(s, values) + penalty[:, None])
    weights = np.column_stack([-(s / penalty)[:, None] * inverse, 1 / penalty])
    grams = weighted_grams(F, (1 - s)[:, None] * weights, products[n:, n:])
    y = _small_systems(problem, grams, (inverse * m) @ F.T)
    along = rows_times(y, F) * weights[:, None, :-1]
    if not problem.intercept:
        along[:, -1] -= inverse * m
    coefficients = np.concatenate([along, y / penalty[:, None, None]], axis=2)
    return coefficients, RowMixtures(training.features, rows.mixtures(U))


@dataclass(frozen=True)
class _ScaledRows:
    """The rows of R, then of F′: scale × training rows in this order, which an intercept asks to be centred.

    The origin is m_U as weights of all training rows; labelled ones stand in for a population that is not there.
    """

    order: NDArray
    scale: NDArray
    origin: NDArray
    centred: bool

    @classmethod
    def of(cls, problem: RidgeProblem, training: Training, population: NDArray) -> _ScaledRows:
        weight = training.weight[population]
        root = np.sqrt(weight / weight.sum())
        origin = np.zeros(len(training.codes))
        if len(population):
            origin[population] = root**2
        else:
            origin[training.labeled] = problem.q**2
        order = np.concatenate([population, training.labeled])
        return cls(order, np.concatenate([root, problem.q]), origin, problem.intercept)

    def products(self, training: Training) -> NDArray:
        """Inner products of these rows."""
        J = training.features @ training.features.T if training.products is None else training.products
        products = J[np.ix_(self.order, self.order)]
        if self.centred:
            to_origin = J @ self.origin
            to_origin -= 0.5 * (self.origin @ to_origin)
            products -= to_origin[self.order] + to_origin[self.order, None]
        products *= self.scale
        products *= self.scale[:, None]
        return products

    def mixtures(self, U: NDArray) -> NDArray:
        """R′U and the rows of F′, as weights of the training rows."""
        n, columns = len(U), np.arange(len(U), len(self.order))
        weights = np.zeros((len(self.origin), len(self.order)))
        weights[self.order[:n], :n] = self.scale[:n, None] * U
        weights[self.order[n:], columns] = self.scale[n:]
        if self.centred:
            weights -= np.outer(self.origin, np.concatenate([self.scale[:n] @ U, self.scale[n:]]))
        return weights


def _small_systems(problem: RidgeProblem, H: NDArray, mean_part: NDArray) -> NDArray:
    """y of every grid point, shape (points, K + 1, r), from (1 − s) F′B⁻¹F, which is overwritten, and F′B⁻¹m."""
    s, _ = problem.grid_points
    q = problem.q
    right = np.column_stack([q[:, None] * problem.signs, q])
    right = np.repeat(right[None], len(s), axis=0)
    if problem.intercept:
        H -= (1 - s)[:, None, None] * q[:, None] * (q @ H)[:, None, :]
    else:
        right[:, :, -1] += (1 - s)[:, None] * mean_part
    diagonal = np.arange(len(q))
    H[:, diagonal, diagonal] += 1
    return np.linalg.solve(H, right).swapaxes(1, 2)


def weighted_grams(rows: NDArray, weights: NDArray, plus: NDArray | None = None) -> NDArray:
    """rows diag(w) rows′ for every row w of weights, shape (points, r, r).

    If a matrix `plus` is given, weights have one more column, for multiples of it to add.
    """
    r, k = rows.shape
    first, second, place = _pairs(r)
    sums = np.empty((len(weights), len(first)))
    step = max(1, PRODUCTS_AT_ONCE // weights.shape[1])
    for start in range(0, len(first), step):
        i, j = first[start : start + step], second[start : start + step]
        pairs = np.empty((len(i), weights.shape[1]))
        np.multiply(rows[i], rows[j], out=pairs[:, :k])
        if plus is not None:
            pairs[:, -1] = plus[i, j]
        np.matmul(weights, pairs.T, out=sums[:, start : start + step])
    return np.take(sums, place, axis=1)


@lru_cache(maxsize=8)
def _pairs(n: int) -> tuple[NDArray, NDArray, NDArray]:
    """Every pair i ≤ j of n rows, and the number of each pair in a square table."""
    first, second = np.triu_indices(n)
    place = np.empty((n, n), dtype=np.intp)
    place[first, second] = place[second, first] = np.arange(len(first))
    return first, second, place


def rows_times(stack: NDArray, matrix: NDArray) -> NDArray:
    """stack @ matrix as a single product, whatever the leading shape of the stack."""
    flat = stack.reshape(math.prod(stack.shape[:-1]), stack.shape[-1])
    return (flat @ matrix).reshape(*stack.shape[:-1], matrix.shape[-1])
