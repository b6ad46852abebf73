r"""Squared loss with few labelled rows: one eigendecomposition, then a small system per grid point.

With F′ the labelled rows, q their weights, R′R the population's Gram matrix and B = s R′R + p I (p = 4λ), the matrix of
a grid point is A = B + F W F′ with W = (1 − s) I, or W = (1 − s)(I − (1 − s) qq′) if an intercept was eliminated. So

    A⁻¹(F z − m) = B⁻¹(F y − m)    where    (I + W F′B⁻¹F) y = z + W F′B⁻¹m.

B⁻¹ is computed from the smaller of R′R and R R′. With R′R = V D V′ it is V (s D + p)⁻¹ V′. With R R′ = U D U′ it is
I/p − R′U s/(p (s D + p)) U′R, which does not divide by small eigenvalues and needs only inner products of rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import numpy as np
from scipy.linalg import lapack, solve_triangular

from pnulearn._arrays import AnyArray
from pnulearn._solvers.candidates import Training
from pnulearn._solvers.ridge_problem import Population, RidgeProblem

WORTHWHILE = 0.9
TALL = 3
PRODUCTS_AT_ONCE = 2**17  # a megabyte


@dataclass(frozen=True)
class Reduced:
    """Coordinates Z (n, k) of features Φ ≈ Z Q′ with orthonormal Q (b, k); Q is None if the rank is not much smaller.

    In that case `products`, the inner products of all rows, may be known as well.
    """

    coordinates: AnyArray
    basis: AnyArray | None
    products: AnyArray | None = None

    def project(self, features: AnyArray) -> AnyArray:
        """Coordinates of other rows."""
        return features if self.basis is None else features @ self.basis

    def products_of(self, some: AnyArray, others: AnyArray) -> AnyArray | None:
        """Inner products of some rows with others, if they are known."""
        return None if self.products is None else self.products.take(some, axis=0).take(others, axis=1)

    def lift(self, coefficients: AnyArray) -> AnyArray:
        """Coefficients of the original basis functions, along the last axis."""
        return coefficients if self.basis is None else coefficients @ self.basis.T


def reduce_features(features: AnyArray) -> Reduced:
    """Rotate features into the span of their rows, by a pivoted Cholesky factorisation of the smaller Gram matrix.

    Smooth kernels have a small numerical rank: 350 Gaussians on two-dimensional data may span 30 dimensions to machine
    precision, and the rank never exceeds the number of rows. All minimisers lie in the span of the training rows, so
    the whole search can run in an orthonormal basis of it.
    """
    n, b = features.shape
    if n > TALL * b or min(n, b) < 2:  # the folds' Gram matrices dominate the cost, so a reduction would save little
        return Reduced(features, None)
    if n <= b:
        products = features @ features.T
        factor, pivots, rank = _pivoted_cholesky(products)
        if n == b and rank > WORTHWHILE * b:
            return Reduced(features, None, products)
        top, chosen = np.tril(factor[:rank, :rank]), features[pivots[:rank]]
        basis = solve_triangular(top, chosen, lower=True).T
        basis = np.linalg.qr(basis)[0]
    else:
        factor, pivots, rank = _pivoted_cholesky(features.T @ features)
        if rank > WORTHWHILE * b:
            return Reduced(features, None)
        basis = np.empty((b, rank))
        basis[pivots] = np.linalg.qr(np.tril(factor)[:, :rank])[0]
    return Reduced(features @ basis, basis)


def _pivoted_cholesky(gram: AnyArray) -> tuple[AnyArray, AnyArray, int]:
    """The lower factor L, the order of rows, and the numerical rank."""
    factor, pivots, rank, _ = lapack.dpstrf(gram, lower=1, tol=-1.0)
    return factor, pivots - 1, max(int(rank), 1)


class Frame(Protocol):
    """Vectors of which solutions are linear combinations. Solutions are expanded only if needed, which few are."""

    def coordinates(self, features: AnyArray, products: AnyArray | None = None) -> AnyArray:
        """Inner products of rows of features with the frame, shape (n, f).

        `products` are the rows' inner products with the training rows, if they are known.
        """

    def lift(self, coefficients: AnyArray) -> AnyArray:
        """Σ coefficients (..., f) × vectors of the frame, shape (..., b)."""


@dataclass(frozen=True)
class Axes:
    """Vectors given explicitly, as columns (b, f)."""

    vectors: AnyArray

    def coordinates(self, features: AnyArray, products: AnyArray | None = None) -> AnyArray:
        return features @ self.vectors

    def lift(self, coefficients: AnyArray) -> AnyArray:
        return coefficients @ self.vectors.T


def flops(points: int, r: int, side: int) -> float:
    """Operations of one eigendecomposition of size `side` and an r × r system per grid point."""
    return 9 * side**3 + points * (side * r**2 + r**3)


def solve_from_gram(problem: RidgeProblem, population: Population) -> tuple[AnyArray, Frame]:
    """Coefficients (points, K + 1, f) of every output and of the slope, from the eigenvectors of R′R."""
    s, penalty = problem.grid_points
    values, V = np.linalg.eigh(population.gram(problem.origin))
    inverse = 1 / (np.outer(s, values) + penalty[:, None])  # (points, f)
    F, m = problem.rows @ V, problem.mean @ V
    y = _small_systems(problem, F, inverse, inverse * m)
    along = rows_times(y, F)
    if not problem.intercept:
        along[:, -1] -= m
    along *= inverse[:, None, :]
    return along, Axes(V)


def solve_from_rows(problem: RidgeProblem, training: Training) -> tuple[AnyArray, Frame]:
    """The same from the eigenvectors of R R′, for a population with fewer rows than basis functions."""
    s, penalty = problem.grid_points
    rows = _ScaledRows.of(problem, training)
    n, products = rows.n_population, rows.products()
    values, U = np.linalg.eigh(products[:n, :n])
    F, m = products[n:, :n] @ U, rows.scale[:n] @ U  # m = R′ scale
    inverse = 1 / (np.outer(s, values) + penalty[:, None])
    weights = np.empty((len(s), n + 1))
    np.multiply(inverse, (-s / penalty)[:, None], out=weights[:, :-1])
    weights[:, -1] = 1 / penalty
    mean = inverse * m
    y = _small_systems(problem, F, weights, mean, products[n:, n:])
    coefficients = np.empty((*y.shape[:2], n + y.shape[2]))
    np.multiply(rows_times(y, F), weights[:, None, :-1], out=coefficients[:, :, :n])
    if not problem.intercept:
        coefficients[:, -1, :n] -= mean
    np.divide(y, penalty[:, None, None], out=coefficients[:, :, n:])
    return coefficients, RowMixtures(rows, U)


@dataclass(frozen=True)
class _ScaledRows:
    """The rows of R, then of F′: scale × training rows in this order, centred if there is an intercept.

    The origin is m_U, given as weights of all training rows; without a population it is the mean of labelled rows.
    """

    training: Training
    n_population: int
    order: AnyArray
    scale: AnyArray
    origin: AnyArray | None

    @classmethod
    def of(cls, problem: RidgeProblem, training: Training) -> _ScaledRows:
        if problem.population is None:
            population, weight = training.population[:0], np.zeros(0)
            stand_ins = training.labeled, problem.q**2
        else:
            population, weight = stand_ins = training.population, problem.population.weight
        origin = None
        if problem.intercept:
            origin = np.zeros(len(training.codes))
            origin[stand_ins[0]] = stand_ins[1]
        order, scale = np.concatenate([population, training.labeled]), np.concatenate([np.sqrt(weight), problem.q])
        return cls(training, len(population), order, scale, origin)

    def products(self) -> AnyArray:
        """Inner products of these rows."""
        if self.origin is None:
            products = self.training.products_of(self.order)
        else:
            J = self.training.products_of(np.arange(len(self.origin)))
            to_origin = J @ self.origin
            to_origin -= 0.5 * (self.origin @ to_origin)
            products = J[np.ix_(self.order, self.order)] - (to_origin[self.order] + to_origin[self.order, None])
        products *= self.scale
        products *= self.scale[:, None]
        return products


@dataclass(frozen=True)
class RowMixtures:
    """The frame of R′U and the rows of F′, which are linear combinations of the training rows."""

    rows: _ScaledRows
    U: AnyArray

    def coordinates(self, features: AnyArray, products: AnyArray | None = None) -> AnyArray:
        products = features @ self.rows.training.features.T if products is None else products
        scaled = products.take(self.rows.order, axis=1) * self.rows.scale
        coordinates = self._turn(scaled)
        if self.rows.origin is not None:
            coordinates -= np.outer(products @ self.rows.origin, self._turn(self.rows.scale))
        return coordinates

    def lift(self, coefficients: AnyArray) -> AnyArray:
        n, order, scale = self.rows.n_population, self.rows.order, self.rows.scale
        weights = np.zeros((*coefficients.shape[:-1], len(self.rows.training.codes)))
        weights[..., order[:n]] += (coefficients[..., :n] @ self.U.T) * scale[:n]
        weights[..., order[n:]] += coefficients[..., n:] * scale[n:]
        if self.rows.origin is not None:
            weights -= (coefficients @ self._turn(scale))[..., None] * self.rows.origin
        return weights @ self.rows.training.features

    def _turn(self, scaled: AnyArray) -> AnyArray:
        """Values of the scaled rows converted to this frame."""
        n = len(self.U)
        return np.concatenate([scaled[..., :n] @ self.U, scaled[..., n:]], axis=-1)


def _small_systems(
    problem: RidgeProblem, F: AnyArray, weights: AnyArray, mean: AnyArray, plus: AnyArray | None = None
) -> AnyArray:
    """y of every grid point, shape (points, K + 1, r), where F′B⁻¹F is the weighted Gram matrix of that point.

    `mean` satisfies F′B⁻¹m = F mean. At s = 1, the last share, labelled rows have no weight in the matrix, so no
    system is solved.
    """
    s, _ = problem.grid_points
    q, rest = problem.q, 1 - s[:, None]
    y = np.empty((len(s), len(q), problem.signs.shape[1] + 1))
    y[:, :, :-1] = q[:, None] * problem.signs
    y[:, :, -1] = q if problem.intercept else q + rest * (mean @ F.T)
    some = slice(np.searchsorted(s, 1.0))
    if some.stop:
        H = weighted_grams(F, rest[some] * weights[some], plus)
        if problem.intercept:
            H -= rest[some, :, None] * q[:, None] * (q @ H)[:, None, :]
        diagonal = np.arange(len(q))
        H[:, diagonal, diagonal] += 1
        y[some] = np.linalg.solve(H, y[some])
    return y.swapaxes(1, 2)


def weighted_grams(rows: AnyArray, weights: AnyArray, plus: AnyArray | None = None) -> AnyArray:
    """rows diag(w) rows′ for every row w of weights, shape (points, r, r).

    If a matrix `plus` is given, the last column of weights holds the multiples of it to add.
    """
    r, k = rows.shape
    first, second, place = _pairs(r)
    sums = np.empty((len(weights), len(first)))
    step = max(1, PRODUCTS_AT_ONCE // max(k, 1))
    for start in range(0, len(first), step):
        part = slice(start, start + step)
        np.matmul(weights[:, :k], (rows[first[part]] * rows[second[part]]).T, out=sums[:, part])
    if plus is not None:
        sums += weights[:, k:] * plus[first, second]
    return np.take(sums, place, axis=1)


@lru_cache(maxsize=8)
def _pairs(n: int) -> tuple[AnyArray, AnyArray, AnyArray]:
    """Every pair i ≤ j of n rows, and the number of each pair in a square table."""
    first, second = np.triu_indices(n)
    place = np.empty((n, n), dtype=np.intp)
    place[first, second] = place[second, first] = np.arange(len(first))
    return first, second, place


def rows_times(stack: AnyArray, matrix: AnyArray) -> AnyArray:
    """stack @ matrix as a single product, for any leading shape of the stack."""
    flat = stack.reshape(math.prod(stack.shape[:-1]), stack.shape[-1])
    return (flat @ matrix).reshape(*stack.shape[:-1], matrix.shape[-1])
