r"""Squared loss on sparse rows with many columns: every (mix, alpha) from one run of conjugate gradients.

All solutions are combinations Φ′a of the training rows φ_i − m_U, so vectors have one entry per row, not column. With
K = ΦΦ′, weights D(s) of the rows and β those of b1 = Φ′β (see `ridge`), the matrix of a grid point is

    a ↦ D(s) K a − (1 − s)² β β′K a + p a,

which is symmetric in the inner product a′K b. K is never formed: K a = Φ(Φ′a) is two sparse products. The penalty
adds a multiple of the identity, so all penalties share one Krylov space and one run solves them all (Jegerlehner,
hep-lat/9612014). All shares of U and right-hand sides are solved in parallel, as columns.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from pnulearn._arrays import AnyArray
from pnulearn._solvers.candidates import Training

TOLERANCE = 1e-9  # of residuals, relative to the right-hand side
ACCEPTABLE = 1e-5
MAX_STEPS = 2000


@dataclass(frozen=True)
class SparseRows:
    """Training rows minus an origin, which is a weighted mean of them; they are never made dense."""

    X: Any
    origin_weight: AnyArray

    @cached_property
    def origin(self) -> AnyArray:
        return np.asarray(self.X.T @ self.origin_weight)

    @cached_property
    def _transposed(self) -> Any:
        return self.X.T.tocsr()

    def lift(self, coefficients: AnyArray) -> AnyArray:
        """Σ coefficients (..., n) × rows, shape (..., d)."""
        flat = coefficients.reshape(-1, coefficients.shape[-1])
        vectors = self._transposed @ np.ascontiguousarray(flat.T) - np.outer(self.origin, flat.sum(axis=1))
        return vectors.T.reshape(*coefficients.shape[:-1], -1)

    def coordinates(self, features: AnyArray, products: AnyArray | None = None) -> AnyArray:
        """Inner products of dense vectors (m, d) with the rows, shape (m, n)."""
        return np.asarray((self.X @ features.T).T) - (features @ self.origin)[:, None]

    def products(self, coefficients: AnyArray) -> AnyArray:
        """K times columns (n, m)."""
        vectors = self._transposed @ coefficients
        vectors -= np.outer(self.origin, coefficients.sum(axis=0))
        return np.asarray(self.X @ vectors) - self.origin @ vectors


def solve_sparse(training: Training, shares: AnyArray) -> tuple[AnyArray, SparseRows, AnyArray]:
    """Coefficients (points, K + 1, n) of every output and of the slope, the rows they belong to, and β."""
    X = training.table if training.rows is None else training.table[training.rows]
    n, labeled = len(training.codes), training.labeled
    codes, weight = training.codes[labeled], training.weight[labeled]
    totals = np.bincount(codes, weights=weight, minlength=len(training.prior))
    beta = np.zeros(n)
    beta[labeled] = training.prior[codes] * weight / totals[codes]
    population = np.zeros(n)
    population[training.population] = training.weight[training.population]
    origin = population / population.sum() if shares.any() else beta
    rows = SparseRows(X, origin)
    signs = np.zeros((n, len(training.outputs)))
    signs[labeled] = np.where(codes[:, None] == training.outputs, 1.0, -1.0)
    right = np.column_stack([beta[:, None] * signs, beta])
    D = (1 - shares)[:, None] * beta + shares[:, None] * origin
    found = _ShiftedGradients(rows, D, (1 - shares) ** 2, beta, right).solve(4 * training.alphas)
    return found.transpose(1, 0, 2, 3).reshape(-1, *found.shape[2:]), rows, beta


class _ShiftedGradients:
    """Conjugate gradients for every share of U and right-hand side at once, in columns, and for all penalties."""

    def __init__(self, rows: SparseRows, D: AnyArray, rank_one: AnyArray, beta: AnyArray, right: AnyArray):
        self.rows, self.beta = rows, beta
        self.shape = len(D), right.shape[1]
        self.D = np.repeat(D.T, right.shape[1], axis=1)  # (n, columns), right-hand sides varying fastest
        self.rank_one = np.repeat(rank_one, right.shape[1])
        self.right = np.tile(right, (1, len(D)))

    def solve(self, penalties: AnyArray) -> AnyArray:
        """Solutions (penalties, shares, right-hand sides, n)."""
        order = np.argsort(penalties)
        state = _State.start(self.right, self.rows.products(self.right), penalties[order])
        for _ in range(MAX_STEPS):
            state.leave_converged()
            if not len(state.columns):
                break
            self._step(state)
        state.warn_if_short()
        unsorted = np.empty_like(state.solutions)
        unsorted[order] = state.solutions
        return unsorted.transpose(0, 2, 1).reshape(len(penalties), *self.shape, -1)

    def _step(self, now: _State) -> None:
        """One step for the least penalty and, from it, for all others, whose residuals are ζ times its residual."""
        Ap = self._apply(now.p, now.Kp, now.columns, now.least)
        alpha = now.rho / _dots(Ap, now.Kp)
        now.r -= alpha * Ap
        Kr = self.rows.products(now.r)
        rho = np.maximum(_dots(now.r, Kr), 0.0)
        beta = rho / now.rho
        ratio = 1 / (1 + now.shifts[:, None] * alpha + alpha * now.beta / now.alpha * (1 - now.ratio))
        for j in np.flatnonzero((np.abs(now.zeta) * np.sqrt(now.rho) > np.sqrt(now.wanted)).any(axis=1)):
            now.solutions[j][:, now.columns] += (alpha * ratio[j]) * now.steps[j]
            now.steps[j] *= beta * ratio[j] ** 2
            now.steps[j] += (now.zeta[j] * ratio[j]) * now.r
        now.zeta, now.ratio = now.zeta * ratio, ratio
        now.p, now.Kp = now.r + beta * now.p, Kr + beta * now.Kp
        now.rho, now.alpha, now.beta = rho, alpha, beta

    def _apply(self, p: AnyArray, Kp: AnyArray, columns: AnyArray, penalty: float) -> AnyArray:
        result = self.D[:, columns] * Kp
        result -= np.outer(self.beta, self.rank_one[columns] * (self.beta @ Kp))
        result += penalty * p
        return result


@dataclass
class _State:
    """State of the iteration; `columns` are the indices not yet converged, and all arrays but `solutions` cover only
    these."""

    least: float
    shifts: AnyArray
    solutions: AnyArray
    columns: AnyArray
    wanted: AnyArray
    rho: AnyArray
    alpha: AnyArray
    beta: AnyArray
    r: AnyArray
    p: AnyArray
    Kp: AnyArray
    steps: AnyArray
    zeta: AnyArray
    ratio: AnyArray  # of ζ to its previous value

    @classmethod
    def start(cls, right: AnyArray, products: AnyArray, penalties: AnyArray) -> _State:
        """Start from zero solutions; penalties must be ascending."""
        m, rho = right.shape[1], _dots(right, products)
        ones = np.ones((len(penalties), m))
        steps = np.repeat(right[None], len(penalties), axis=0)
        return cls(
            least=float(penalties[0]),
            shifts=penalties - penalties[0],
            solutions=np.zeros_like(steps),
            columns=np.arange(m),
            wanted=TOLERANCE**2 * rho,
            rho=rho,
            alpha=np.ones(m),
            beta=np.zeros(m),
            r=right.copy(),
            p=right.copy(),
            Kp=products,
            steps=steps,
            zeta=ones,
            ratio=ones,
        )

    def leave_converged(self) -> None:
        """Drop converged columns from the iteration."""
        active = np.flatnonzero(self.rho > self.wanted)
        if len(active) == len(self.columns):
            return
        for name in ("columns", "wanted", "rho", "alpha", "beta"):
            setattr(self, name, getattr(self, name)[active])
        for name in ("r", "p", "Kp", "steps", "zeta", "ratio"):
            setattr(self, name, getattr(self, name)[..., active])

    def warn_if_short(self) -> None:
        """Warn if columns are far from convergence."""
        n_short = int((self.rho > self.wanted * (ACCEPTABLE / TOLERANCE) ** 2).sum())
        if n_short:
            warnings.warn(
                f"{n_short} systems did not converge in {MAX_STEPS} steps. Leave out the smallest alpha, or scale the "
                "rows of X, e.g. with sklearn.preprocessing.Normalizer.",
                ConvergenceWarning,
                stacklevel=2,
            )


def _dots(a: AnyArray, b: AnyArray) -> AnyArray:
    """Inner products of columns."""
    return np.einsum("nm,nm->m", a, b)
