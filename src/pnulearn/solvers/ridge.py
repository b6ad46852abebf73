r"""Squared loss: every (mix, alpha) of the grid from one factorisation.

With L = Σ_c θ_c G_c over the labelled classes, G_U the Gram matrix of the population sample and

    b0 = θ m_P − (1 − θ) m_N,    b1 = θ m_P + (1 − θ) m_N − m_U,

the minimiser of a risk with share s = |η| of unlabelled data and tilt t = η (PUNU: s = 1, t = 1 − 2γ) plus λ w′w is

    w(s, t, λ) = ((1 − s) L + s G_U + 4 λ I)⁻¹ (b0 + t b1).

Three facts make a grid cheap. The matrix depends on the mix only through s. The right-hand side is affine in t,
so w = base + t · slope serves both signs of η and every γ. And L has the rank of the labelled rows, which are few:
G_U is diagonalised once and L enters as a low-rank update (`_low_rank`), or, when labelled rows are many, the
matrices are solved one by one (`_dense`).

An unpenalised intercept is eliminated by centring at m_U. In these coordinates the matrix loses
(1 − s)² b1 b1′, the tilt becomes t − (2θ − 1)(1 − s), and everything else stays.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pnulearn.moments import Moments
from pnulearn.solvers.candidates import Training

EMPTY_DIRECTION = 1e-9  # eigenvalues this far below the penalty cannot be told from zero in a decision
FAINT_DIRECTION = 1e-8  # eigenvectors this far below the largest lose their orthogonality to rounding


@dataclass(frozen=True)
class Labeled:
    """Labelled rows: features (r, b), q = sqrt(θ_c × the row's share of its class), and ±1 per output (r, K)."""

    features: NDArray
    root_weight: NDArray
    signs: NDArray


@dataclass(frozen=True)
class LabeledMoments:
    """Labelled rows known by their moments alone, each class weighted by its prior θ_c.

    outer : L = Σ θ_c E_c φφ′, of shape (b, b).
    total, share : Σ θ_c E_c φ and Σ θ_c, over the classes that have rows.
    signed, signed_share : the same with ±θ_c, one row per output (K, b) and (K,).
    """

    outer: NDArray
    total: NDArray
    signed: NDArray
    share: float
    signed_share: NDArray

    def about(self, origin: NDArray) -> LabeledMoments:
        """The moments of φ − origin."""
        cross = np.outer(self.total, origin)
        outer = self.outer - cross - cross.T + self.share * np.outer(origin, origin)
        signed = self.signed - np.outer(self.signed_share, origin)
        return LabeledMoments(outer, self.total - self.share * origin, signed, self.share, self.signed_share)


@dataclass(frozen=True)
class Population:
    """The sample that stands for the population: rows and weights (summing to one), or only their moments."""

    mean: NDArray
    rows: NDArray | None = None
    weight: NDArray | None = None
    moments: Moments | None = None

    @classmethod
    def of_rows(cls, rows: NDArray, weight: NDArray) -> Population:
        weight = weight / weight.sum()
        return cls(weight @ rows, rows, weight)

    @classmethod
    def of_moments(cls, moments: Moments) -> Population:
        return cls(moments.mean, moments=moments)


@dataclass(frozen=True)
class Frame:
    """The vectors that solutions are made of: mixtures rows′ A of given rows, followed by vectors given outright.

    Solutions stay in their frame until one is needed, because only few are.
    """

    rows: NDArray  # (m, b)
    mixtures: NDArray  # (m, k)
    vectors: NDArray  # (b, f − k)

    def coordinates(self, features: NDArray) -> NDArray:
        """Inner products of rows of features with the frame, shape (n, f)."""
        return np.hstack([features @ self.rows.T @ self.mixtures, features @ self.vectors])

    def lift(self, coefficients: NDArray) -> NDArray:
        """Σ coefficients (..., f) × vectors of the frame, shape (..., b)."""
        k = self.mixtures.shape[1]
        return coefficients[..., :k] @ self.mixtures.T @ self.rows + coefficients[..., k:] @ self.vectors.T


@dataclass(frozen=True)
class Grid:
    """Coefficients w = base + t · slope in a frame: base (K, S, J, f), slope (S, J, f), intercepts (..., J)."""

    base: NDArray
    slope: NDArray
    base_intercept: NDArray
    slope_intercept: NDArray
    frame: Frame | None  # None stands for the identity


@dataclass(frozen=True)
class RidgeCandidates:
    """The candidates of a grid: mix number c uses share number place[c] and tilt tilts[c]."""

    grid: Grid
    place: NDArray
    tilts: NDArray

    def scores(self, features: NDArray) -> NDArray:
        """g on rows of features, shape (K, C, J, n)."""
        if self.grid.frame is not None:
            features = self.grid.frame.coordinates(features)
        base = _rows_times(self.grid.base, features.T) + self.grid.base_intercept[..., None]
        slope = _rows_times(self.grid.slope, features.T) + self.grid.slope_intercept[..., None]
        return base[:, self.place] + self.tilts[:, None, None] * slope[self.place]

    def average(self, weights: NDArray) -> tuple[NDArray, NDArray]:
        """Σ weights (C, J) × coefficients: shapes (K, b) and (K,)."""
        per_share, tilted = (np.zeros((self.grid.slope.shape[0], weights.shape[1])) for _ in range(2))
        np.add.at(per_share, self.place, weights)
        np.add.at(tilted, self.place, weights * self.tilts[:, None])
        coefficients = np.einsum("ksjb,sj->kb", self.grid.base, per_share)
        coefficients += np.einsum("sjb,sj->b", self.grid.slope, tilted)
        intercepts = np.einsum("ksj,sj->k", self.grid.base_intercept, per_share) + np.sum(
            self.grid.slope_intercept * tilted
        )
        return coefficients if self.grid.frame is None else self.grid.frame.lift(coefficients), intercepts


def squared_candidates(training: Training) -> RidgeCandidates:
    """Every candidate of a training problem under the squared loss."""
    labeled, codes = training.labeled, training.codes[training.labeled]
    weight = training.weight[labeled]
    class_weight = np.bincount(codes, weights=weight, minlength=len(training.prior))
    root_weight = np.sqrt(training.prior[codes] * weight / class_weight[codes])
    signs = np.where(codes[:, None] == training.outputs, 1.0, -1.0)
    shares, place = np.unique(training.mixes.shares, return_inverse=True)
    centre = 2 * training.prior[training.outputs] - 1 if training.intercept else None
    grid = ridge_grid(
        Labeled(training.features[labeled], root_weight, signs),
        _population(training) if shares.any() else None,
        shares,
        training.alphas,
        centre,
    )
    return RidgeCandidates(grid, place, training.mixes.tilts)


def _population(training: Training) -> Population:
    if training.population_moments is not None:
        return Population.of_moments(training.population_moments)
    return Population.of_rows(training.features[training.population], training.weight[training.population])


def ridge_grid(
    labeled: Labeled | LabeledMoments,
    population: Population | None,
    shares: NDArray,
    alphas: NDArray,
    centre: NDArray | None = None,
) -> Grid:
    """Solve for every share s of unlabelled data and every λ.

    `centre`, the number 2θ − 1 of each output, asks for an unpenalised intercept. Without a population only s = 0
    makes sense.
    """
    if isinstance(labeled, LabeledMoments):
        return _grid_of_moments(labeled, population, shares, alphas, centre)
    rows = labeled.features * labeled.root_weight[:, None]
    mean = labeled.root_weight @ rows if population is None else population.mean
    if centre is not None:
        rows = rows - np.outer(labeled.root_weight, mean)
    problem = _Problem(rows, labeled.root_weight, labeled.signs, mean, centre is not None, shares, alphas)
    directions = min(rows.shape[1], 0 if population is None or population.rows is None else len(population.rows))
    solve = _low_rank if _low_rank_is_cheaper(problem, directions) else _dense
    return _arranged(problem, *solve(problem, population), centre)


def _grid_of_moments(
    labeled: LabeledMoments,
    population: Population | None,
    shares: NDArray,
    alphas: NDArray,
    centre: NDArray | None,
) -> Grid:
    mean = labeled.total if population is None else population.mean
    labeled = labeled if centre is None else labeled.about(mean)
    none = np.zeros(0)
    problem = _Problem(none, none, none, mean, centre is not None, shares, alphas, labeled)
    return _arranged(problem, *_dense(problem, population), centre)


@dataclass(frozen=True)
class _Problem:
    rows: NDArray  # F′: labelled rows scaled by q, of shape (r, b)
    q: NDArray
    signs: NDArray
    mean: NDArray  # m_U
    intercept: bool  # if so, rows are centred at m_U
    shares: NDArray
    alphas: NDArray
    moments: LabeledMoments | None = None  # in place of rows, q and signs

    @property
    def labeled(self) -> LabeledMoments:
        if self.moments is not None:
            return self.moments
        signed = self.q[:, None] * self.signs
        share, signed_share = float(self.q @ self.q), self.q @ signed
        return LabeledMoments(self.rows.T @ self.rows, self.q @ self.rows, signed.T @ self.rows, share, signed_share)

    @property
    def grid_points(self) -> tuple[NDArray, NDArray]:
        """s and 4 λ of every grid point, λ running fastest."""
        return np.repeat(self.shares, len(self.alphas)), np.tile(4 * self.alphas, len(self.shares))


def _low_rank_is_cheaper(problem: _Problem, directions: int) -> bool:
    """Compare flops: one eigendecomposition and r × r systems, or a b × b system per grid point."""
    r, b = problem.rows.shape
    points = len(problem.shares) * len(problem.alphas)
    eigen = 9 * (directions or b) ** 3
    return eigen + points * (b * r**2 + r**3) < points * 2 / 3 * b**3


def _low_rank(problem: _Problem, population: Population | None) -> tuple[NDArray, Frame | None]:
    """Diagonalise the population's covariance once; all else is an update of low rank.

    With B = s Cov_U + 4 λ I the matrix of a grid point is B + E′ W E, where E holds the labelled rows and, if there
    is no intercept, m_U; the right-hand sides are E′z. So w = B⁻¹E′y with y = (I + W E B⁻¹E′)⁻¹ z, a small system.
    Directions in which the population does not vary are not enumerated: there B = 4 λ I.
    """
    s, penalty = problem.grid_points
    rows, weights, right = _update(problem, s)
    values, eigenvectors = _spectrum(population, problem.mean, rows.shape[1], penalty.min())
    inverse = 1 / (np.outer(s, values) + penalty[:, None])  # (points, k)
    inside = eigenvectors.coordinates(rows)
    outside = rows - eigenvectors.lift(inside)
    H = _weighted_grams(inside, inverse) + (outside @ outside.T) / penalty[:, None, None]
    if problem.intercept:
        H -= (1 - s)[:, None, None] * problem.q[:, None] * (problem.q @ H)[:, None, :]
    H *= weights[:, :, None]
    H[:, range(len(rows)), range(len(rows))] += 1
    y = np.linalg.solve(H, np.broadcast_to(right, (len(s), *right.shape))).swapaxes(1, 2)  # (points, K + 1, rows)
    along = _rows_times(y, inside) * inverse[:, None, :]
    coefficients = np.concatenate([along, y / penalty[:, None, None]], axis=2)
    vectors = np.hstack([eigenvectors.vectors, outside.T])
    return coefficients, Frame(eigenvectors.rows, eigenvectors.mixtures, vectors)


def _update(problem: _Problem, s: NDArray) -> tuple[NDArray, NDArray, NDArray]:
    """E, the diagonal of W at every grid point, and z (one column per output and one for the slope).

    With an intercept W is (1 − s)(I − (1 − s) qq′); the caller applies the factor with q.
    """
    right = np.column_stack([problem.q[:, None] * problem.signs, problem.q])
    weights = np.repeat((1 - s)[:, None], len(problem.q), axis=1)
    if problem.intercept:
        return problem.rows, weights, right
    mean_row = np.append(np.zeros(problem.signs.shape[1]), -1.0)
    return np.vstack([problem.rows, problem.mean]), np.column_stack([weights, s]), np.vstack([right, mean_row])


def _dense(problem: _Problem, population: Population | None) -> tuple[NDArray, Frame | None]:
    """A b × b system per grid point, for when labelled rows are many or basis functions few."""
    labeled = problem.labeled
    L, G = labeled.outer, _gram(population, problem.mean if problem.intercept else np.zeros_like(problem.mean))
    slope = labeled.total - (0 if problem.intercept else problem.mean)
    right = np.vstack([labeled.signed, slope]).T
    coefficients = []
    for s in problem.shares:
        A = (1 - s) * L + s * G
        if problem.intercept:
            A -= (1 - s) ** 2 * np.outer(slope, slope)
        stack = A + 4 * problem.alphas[:, None, None] * np.eye(len(A))
        coefficients.append(np.linalg.solve(stack, right[None]).swapaxes(1, 2))
    return np.concatenate(coefficients), None


def _arranged(problem: _Problem, coefficients: NDArray, frame: Frame | None, centre: NDArray | None) -> Grid:
    """Arrange (points, K + 1, f) as a grid and recover w0 = (2θ − 1) − a(s)′w."""
    shape = (len(problem.shares), len(problem.alphas))
    slope = coefficients[:, -1].reshape(*shape, -1)
    base = np.moveaxis(coefficients[:, :-1], 1, 0).reshape(-1, *shape, slope.shape[-1])
    if centre is None:
        return Grid(base, slope, np.zeros(base.shape[:-1]), np.zeros(shape), frame)
    rest = (1 - problem.shares)[:, None]
    base = base - centre[:, None, None, None] * rest[..., None] * slope
    total = problem.q @ problem.rows if problem.moments is None else problem.moments.total
    both = np.vstack([problem.mean, total])
    mean, b1 = both if frame is None else frame.coordinates(both)
    offsets = [part @ mean + rest * (part @ b1) for part in (base, slope)]
    return Grid(base, slope, centre[:, None, None] - offsets[0], -offsets[1], frame)


def _spectrum(population: Population | None, mean: NDArray, b: int, penalty: float) -> tuple[NDArray, Frame]:
    """Eigenvalues (k,) and eigenvectors of the population's covariance, from whichever side is smaller."""
    no_rows = np.zeros((0, b))
    if population is None:
        return np.zeros(0), Frame(no_rows, np.zeros((0, 0)), np.zeros((b, 0)))
    if population.rows is None or len(population.rows) >= b:
        values, vectors = np.linalg.eigh(_gram(population, mean))
        keep = _not_empty(values, penalty)
        return values[keep], Frame(no_rows, np.zeros((0, 0)), vectors[:, keep])
    rows = _scaled_rows(population, mean)
    values, left = np.linalg.eigh(rows @ rows.T)
    clear = values > FAINT_DIRECTION * values[-1]
    faint = _not_empty(values, penalty) & ~clear
    vectors = np.linalg.qr(rows.T @ left[:, faint])[0]
    faint_values = np.square(rows @ vectors).sum(axis=0)
    mixtures = left[:, clear] / np.sqrt(values[clear])
    return np.concatenate([values[clear], faint_values]), Frame(rows, mixtures, vectors)


def _not_empty(values: NDArray, penalty: float) -> NDArray:
    return values > max(EMPTY_DIRECTION * penalty, 16 * np.finfo(float).eps * values[-1])


def _gram(population: Population | None, origin: NDArray) -> NDArray:
    if population is None:
        return np.zeros((len(origin), len(origin)))
    if population.moments is not None:
        return population.moments.centered_at(origin)
    rows = _scaled_rows(population, origin)
    return rows.T @ rows


def _scaled_rows(population: Population, origin: NDArray) -> NDArray:
    assert population.rows is not None
    assert population.weight is not None
    return (population.rows - origin) * np.sqrt(population.weight)[:, None]


def _weighted_grams(rows: NDArray, weights: NDArray) -> NDArray:
    """rows diag(w) rows′ for every row w of weights, one row at a time so that intermediate products stay in cache."""
    grams = np.empty((len(weights), len(rows), len(rows)))
    for i, row in enumerate(rows):
        products = weights @ (rows[i:] * row).T
        grams[:, i, i:] = products
        grams[:, i:, i] = products
    return grams


def _rows_times(stack: NDArray, matrix: NDArray) -> NDArray:
    """stack @ matrix as a single product, whatever the leading shape of the stack."""
    return (stack.reshape(-1, stack.shape[-1]) @ matrix).reshape(*stack.shape[:-1], matrix.shape[-1])
