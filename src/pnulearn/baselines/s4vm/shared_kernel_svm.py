"""Many SVMs that share one kernel matrix and differ in their labels only, solved side by side."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, reduce
from typing import NamedTuple

import numpy as np
from scipy.linalg import cholesky, lapack, solve_triangular

from pnulearn._arrays import AnyArray
from pnulearn._solvers.cholesky import narrow_root
from pnulearn._solvers.single_precision import single_precision

RELAXATION = 1.6  # the usual over-relaxation; saves about a third of the iterations
CHECK_EVERY, CHECK_SHARE = 10, 0.25  # steps between two looks at the gap: that many, or that share of those done
GAP = 1e-3  # relative duality gap at which a separator is good enough
MOST_STEPS = 300
STIFF = 3.0  # times ρ where labels stay: small gaps are reached sooner. While they change, a soft ρ finds better ones
NEGLIGIBLE = 1e-6  # what may be missing of a kernel's diagonal in a step; gaps are those of the whole kernel
TIED = 1e-5  # single precision does not tell what is closer
WORTHWHILE = 0.4  # of as many columns as rows


@dataclass(frozen=True)
class Separators:
    """One separator per row: f(x) = Σ_i coef_i k(x_i, x) + bias, with the labels it was trained on."""

    labels: AnyArray  # (m, n), entries ±1
    coef: AnyArray  # (m, n)
    price: AnyArray  # (m, n), multipliers of the box constraints: about y − f
    bias: AnyArray  # (m,)
    scores: AnyArray  # (m, n), f at the training rows

    def take(self, rows: AnyArray) -> Separators:
        """Some of the separators."""
        return Separators(*(getattr(self, name)[rows] for name in self.__dataclass_fields__))


class _Step(NamedTuple):
    """What a step needs, in one precision: its matrix, K, ρ, C.

    K is given as one factor, or as two narrow ones; the matrix of a step is then that of two narrow ones, plus 1.
    """

    matrix: tuple[AnyArray, ...]
    kernel: tuple[AnyArray, ...]
    rho: AnyArray
    cost: AnyArray

    def apply(self, points: AnyArray, out: AnyArray) -> AnyArray:
        """points (m, n) times the matrix of a step."""
        np.matmul(_times(points, *self.matrix[:-1]), self.matrix[-1], out=out)
        if len(self.matrix) > 1:
            out += points
        return out

    def smooth(self, coef: AnyArray) -> AnyArray:
        """Scores without bias."""
        return _times(coef, *self.kernel)

    def single(self) -> _Step:
        """In single precision, and row by row in memory: few separators times columns take up to twice as long."""
        matrix, kernel = (tuple(map(single_precision, factors)) for factors in (self.matrix, self.kernel))
        return _Step(matrix, kernel, self.rho.astype(np.float32), self.cost.astype(np.float32))


def _times(points: AnyArray, *factors: AnyArray) -> AnyArray:
    return reduce(np.matmul, factors, points)


def narrow_columns(kernel: AnyArray) -> AnyArray:
    """F with K = FF′, or none where it would have many columns."""
    F = narrow_root(kernel, NEGLIGIBLE * kernel.diagonal().max())
    return F if F.shape[1] <= WORTHWHILE * len(kernel) else F[:, :0]


class SharedKernelSVM:
    """min ½|f|² + Σ_i C_i max(0, 1 − y_i (f(x_i) + bias)) for many label vectors y at once.

    With f = Σ_i c_i k(x_i, ·) the dual is: min ½ c'Kc − y'c, sum(c) = 0, c_i between 0 and y_i C_i. Only the box and
    the linear term depend on y, so ADMM needs one inverse of K + diag(ρ) for all labellings, and a step for all of
    them is one matrix product. ρ = 1/C puts all boxes on one scale; the floor keeps ρ comparable to K.
    """

    def __init__(self, kernel: AnyArray, cost: AnyArray, columns: AnyArray | None = None):
        """`columns` are the `narrow_columns` of the kernel, if they are known."""
        self.kernel = kernel
        self.columns = narrow_columns(kernel) if columns is None else columns
        self.cost = cost
        self.floor = 0.1 * kernel.diagonal().mean()
        self.rho = np.maximum(1 / cost, self.floor)
        self.tied = TIED * min(1.0, float(cost.sum() * kernel.diagonal().max()))  # of scores, of which 1 is a margin

    @cached_property
    def _soft(self) -> _Step:
        return self._single(self.rho)

    @cached_property
    def _stiff(self) -> _Step:
        wide = self.cost.max() * self.floor > 0.5  # in other boxes few steps are left, and another factor takes longer
        return self._single(STIFF * self.rho) if wide else self._soft

    @cached_property
    def _exact(self) -> _Step:
        return self._double(STIFF * self.rho)

    def _double(self, rho: AnyArray) -> _Step:
        """What leads to stationary points of the penalised dual on sum(c) = 0: ρ(K + ρ)⁻¹ without its mean."""
        lower, _ = lapack.dpotri(cholesky(self.kernel + np.diag(rho), lower=True), lower=1)
        inverse = np.tril(lower) + np.tril(lower, -1).T
        ones = inverse.sum(axis=1)
        inverse -= np.outer(ones, ones / ones.sum())
        inverse *= rho[:, None]
        return _Step((inverse,), (self.kernel,), rho, self.cost)

    def _single(self, rho: AnyArray) -> _Step:
        """Of a smooth kernel few columns matter: K = FF′ gives (K + ρ)⁻¹ = 1/ρ − GG′ with as few."""
        F = self.columns
        if not F.shape[1]:
            return self._double(rho).single()
        inner = cholesky(np.eye(F.shape[1]) + F.T @ (F / rho[:, None]), lower=True)
        G = solve_triangular(inner, (F / rho[:, None]).T, lower=True).T
        ones = 1 / rho - G @ G.sum(axis=0)
        G = np.column_stack([G, ones / np.sqrt(ones.sum())])
        return _Step((rho[:, None] * G, -G.T), (F, F.T), rho, self.cost).single()

    def solve(
        self, labels: AnyArray, start: Separators | None = None, *, tol: float = GAP, max_iter: int = MOST_STEPS
    ) -> Separators:
        """One separator per row of `labels`, from the given ones if labels changed little since.

        tol : relative duality gap to reach, unless `max_iter` steps pass before. Steps are in single precision where
        that is a thousand times finer than the gap.
        """
        step = self._soft if tol > GAP else self._stiff if tol == GAP else self._exact
        labels = labels.astype(step.rho.dtype, copy=False)
        coef, price = (part.astype(step.rho.dtype, copy=False) for part in self._starting_point(labels, start, step))
        smooth, bias = np.empty_like(coef), np.empty_like(coef[:, 0])
        active: AnyArray | slice = slice(None)  # all of them, as long as a copy can be saved
        done = 0
        while True:
            n_steps = min(max(CHECK_EVERY, int(CHECK_SHARE * done)), max_iter - done)
            done += n_steps
            y = labels[active]
            coef[active], price[active] = _iterate(step, y, coef[active], price[active], n_steps)
            smooth[active], bias[active] = _scores(step, y, coef[active], price[active])
            if done == max_iter:
                break
            gap, objective = _gap(step, y, coef[active], smooth[active], bias[active])
            going_on = gap > tol * objective
            if not going_on.any():
                break
            if not going_on.all():
                active = np.arange(len(labels))[active][going_on]
        if tol <= GAP:
            bias = best_bias(smooth, labels, step.cost)
        return Separators(labels, coef, price, bias, smooth + bias[:, None])

    def _starting_point(self, labels: AnyArray, start: Separators | None, step: _Step) -> tuple[AnyArray, AnyArray]:
        if start is None:
            return np.zeros_like(labels), np.zeros_like(labels)
        # Keep the scores y − price, and put every relabelled row where those scores say it belongs.
        price = start.price + (labels - start.labels)
        moved = np.where(price * labels > 0, labels * step.cost, 0)
        return np.where(labels == start.labels, start.coef, moved), price

    def objective(self, found: Separators, labels: AnyArray) -> AnyArray:
        """½|f|² + Σ_i C_i max(0, 1 − y_i f(x_i)) of every separator, for labels that may not be its own."""
        norm = np.einsum("ti,ti->t", found.coef, found.scores - found.bias[:, None])
        return norm / 2 + np.maximum(0, 1 - labels * found.scores) @ self.cost


def _iterate(step: _Step, labels: AnyArray, coef: AnyArray, price: AnyArray, n_steps: int) -> tuple[AnyArray, AnyArray]:
    """Coefficients and prices after a few steps.

    Both are kept in z = c + price / ρ, of which c is the part within the box: with M the matrix of a step and y the
    labels a step of ADMM is z ← z + RELAXATION ((2c − z + y / ρ) M − c).
    """
    bound = labels * step.cost
    low, high = np.minimum(bound, 0), np.maximum(bound, 0)
    pulled = step.apply(labels / step.rho, np.empty_like(coef))
    moved, mirrored, z = np.empty_like(coef), np.empty_like(coef), coef + price / step.rho
    for _ in range(n_steps):
        np.maximum(z, low, out=coef)
        np.minimum(coef, high, out=coef)
        np.add(coef, coef, out=mirrored)
        mirrored -= z
        step.apply(mirrored, moved)
        moved += pulled
        moved -= coef
        moved *= RELAXATION
        z += moved
    np.maximum(z, low, out=coef)
    np.minimum(coef, high, out=coef)
    return coef, step.rho * (z - coef)


def _scores(step: _Step, labels: AnyArray, coef: AnyArray, price: AnyArray) -> tuple[AnyArray, AnyArray]:
    """f without bias, and the bias."""
    smooth = step.smooth(coef)
    return smooth, (labels - price - smooth).mean(axis=1)


def _gap(step: _Step, labels: AnyArray, coef: AnyArray, smooth: AnyArray, bias: AnyArray) -> tuple[AnyArray, AnyArray]:
    """Duality gap Σ_i C_i max(0, m_i) − |c_i| m_i, m = 1 − y f, and the objective.

    While sum(c) is not yet 0, bias · sum(c) is what the dual value is uncertain by.
    """
    short = 1 - labels * (smooth + bias[:, None])
    hinge = np.maximum(0, short) @ step.cost
    gap = hinge - np.einsum("ti,ti->t", np.abs(coef), short) + np.abs(bias * coef.sum(axis=1))
    return gap, hinge + np.einsum("ti,ti->t", coef, smooth) / 2


def best_bias(scores: AnyArray, labels: AnyArray, cost: AnyArray) -> AnyArray:
    """arg min over b of Σ_i C_i max(0, 1 − y_i (s_i + b)), per row; the middle where a whole interval is best.

    The slope in b is −(cost of the positives) + (cost of the rows with y_i − s_i < b), so b is a weighted quantile.
    """
    kinks = labels - scores
    order = np.argsort(kinks, axis=1)
    kinks = np.take_along_axis(kinks, order, axis=1)
    passed = np.cumsum(cost[order], axis=1)
    target = ((labels > 0) @ cost)[:, None]
    slack = 1e-9 * cost.sum()
    last = scores.shape[1] - 1
    left = np.minimum((passed < target - slack).sum(axis=1), last)
    right = np.clip((passed <= target + slack).sum(axis=1), left, last)
    rows = np.arange(len(scores))
    return (kinks[rows, left] + kinks[rows, right]) / 2
