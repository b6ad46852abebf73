"""The entropy-regularised logistic objective, of many problems side by side."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import linalg

from pnulearn._arrays import AnyArray
from pnulearn._solvers.single_precision import single_precision
from pnulearn.baselines._rival.training import RivalTraining
from pnulearn.baselines.entropy.rotation import Rotated

BARELY = 0.7  # curvature, in units of the penalty's, below which a direction is solved for by itself
MANY = 50  # directions, from which on single precision is faster
WIDE, FEW = 0.99, 100  # coupled directions, per row and in all, beyond both of which a Newton step does not pay


def entropy(scores: AnyArray) -> AnyArray:
    """H(p) = log(1 + eᵍ) − p g in nats, p = 1 / (1 + e⁻ᵍ); log 2 at g = 0, even in g.

    >>> entropy(np.array([0.0, 800.0, -800.0])).round(4).tolist()
    [0.6931, 0.0, 0.0]
    """
    size = np.abs(scores)  # H is even, and for −|g| nothing overflows
    rarer = np.exp(-size)
    return np.log1p(rarer) + size * rarer / (1 + rarer)


@dataclass
class Points:
    """Where problems stand, a row for each: variables w, value, its gradient by w, and how much it bends by every
    score."""

    w: AnyArray
    alpha: AnyArray
    mu: AnyArray
    value: AnyArray
    gradient: AnyArray
    bend: AnyArray

    def __getitem__(self, rows: AnyArray) -> Points:
        return Points(*(array[rows] for array in vars(self).values()))

    def __setitem__(self, rows: AnyArray, others: Points) -> None:
        for array, other in zip(vars(self).values(), vars(others).values(), strict=True):
            array[rows] = other

    def __add__(self, others: Points) -> Points:
        return Points(*map(np.concatenate, zip(vars(self).values(), vars(others).values(), strict=True)))


class ConfidenceObjective:
    """Σ c_i log(1 + exp(−y_i g_i)) + (μ/u) Σ H(p_j) + α w'w with g = Zw (+ w₀, the last variable).

    Small arrays cost NumPy as much as large ones, so that problems which differ in α and μ alone go side by side.
    """

    def __init__(self, rotated: Rotated, training: RivalTraining, signs: AnyArray, intercept: bool):
        Z, lengths = rotated.coordinates, rotated.lengths
        self.features = np.asfortranarray(np.column_stack([Z, np.ones(len(Z))]) if intercept else Z)
        self.squares = np.append(lengths**2, len(Z)) if intercept else lengths**2
        self.penalized = (np.arange(self.features.shape[1]) < len(lengths)).astype(float)
        self.signs, self.weight, self.share = np.zeros((3, len(Z)))
        self.signs[training.labeled], self.weight[training.labeled] = signs, training.balance
        self.share[training.unlabeled] = 1 / max(len(training.unlabeled), 1)
        self._rough = single_precision(Z.T)
        self._stretched = np.empty_like(self._rough)  # kept, since a fresh matrix costs more than to fill it

    @property
    def size(self) -> int:
        """The number of variables."""
        return self.features.shape[1]

    def at(self, w: AnyArray, alpha: AnyArray, mu: AnyArray) -> Points:
        """Values and derivatives."""
        value, slope, bend = self._of_scores(w @ self.features.T, mu)
        shrunk = alpha[:, None] * self.penalized * w
        value += np.einsum("ij,ij->i", shrunk, w)
        return Points(w, alpha, mu, value, slope @ self.features + 2 * shrunk, bend)

    def _of_scores(self, g: AnyArray, mu: AnyArray) -> tuple[AnyArray, AnyArray, AnyArray]:
        """Values without the penalty, and their first and second derivatives with respect to every row's score."""
        size, margin, price = np.abs(g), self.signs * g, mu[:, None] * self.share
        rarer = np.exp(-size)
        p, log = rarer / (1 + rarer), np.log1p(rarer)  # p of the less likely class
        spread = p * (1 - p)
        value = (log + np.maximum(-margin, 0)) @ self.weight + mu * ((log + size * p) @ self.share)
        slope = -self.weight * self.signs * np.where(margin > 0, p, 1 - p) - price * g * spread
        bend = spread * (self.weight + price * (size * (1 - 2 * p) - 1))
        return value, slope, bend

    def scale(self, alpha: AnyArray, mu: AnyArray) -> AnyArray:
        """A typical step per variable: the inverse root of the curvature if every row were undecided."""
        return 1 / np.sqrt(self._curvature((1 + mu) / (4 * len(self.features)), alpha))

    def n_coupled(self, at: Points) -> AnyArray:
        """How many directions, the longest first, bend enough that they must be solved for together."""
        if not self.penalized.all():  # an intercept, which no penalty holds
            return np.full(len(at.w), self.size)
        with np.errstate(divide="ignore", over="ignore"):  # where all rows are decided, no direction bends
            return np.searchsorted(-self.squares, -2 * BARELY * at.alpha / np.abs(at.bend).max(axis=1))

    def newton_directions(self, at: Points) -> AnyArray:
        """Downhill, by the Hessian of the coupled directions and as if every row bent by the mean for all others.

        Undecided unlabelled rows bend downwards; where these make the Hessian indefinite, every row is taken to bend
        upwards by as much. NaN where even that has no Cholesky factor, or where too many directions are coupled.
        """
        directions = -at.gradient / self._curvature(np.abs(at.bend).mean(axis=1), at.alpha)
        most = max(WIDE * len(self.features), FEW)
        for i, r in enumerate(self.n_coupled(at)):
            if r > 0:
                step = self._coupled_step(at.bend[i], at.alpha[i], -at.gradient[i, :r]) if r <= most else None
                directions[i, :r] = np.nan if step is None else step
        return directions

    def _curvature(self, bend: AnyArray, alpha: AnyArray) -> AnyArray:
        """The Hessian, which is diagonal if every row bends by as much."""
        return bend[:, None] * self.squares + 2 * alpha[:, None] * self.penalized

    def _coupled_step(self, bend: AnyArray, alpha: float, downhill: AnyArray) -> AnyArray | None:
        """The Newton step of the first directions, as many as `downhill` has entries."""
        for hessian in self._hessians(bend, len(downhill)):
            hessian.flat[:: len(downhill) + 1] += 2 * alpha * self.penalized[: len(downhill)]
            solve = linalg.lapack.dposv if hessian.dtype == float else linalg.lapack.sposv
            _, step, failed = solve(hessian, downhill, lower=1, overwrite_a=1)
            if not failed:
                return step
        return None

    def _hessians(self, bend: AnyArray, r: int) -> Iterator[AnyArray]:
        """Lower halves without the penalty: the true one, then that of rows which all bend upwards."""
        # Single precision is enough for a direction, unless columns as they come are nearly parallel to an intercept.
        if r >= MANY and self.penalized.all():
            root, down = single_precision(np.sqrt(np.abs(bend))), bend < 0
            stretched = np.multiply(self._rough[:r], root, out=self._stretched[:r])
            upward = linalg.blas.ssyrk(1.0, stretched.T, trans=1, lower=1)
            if down.any():
                yield linalg.blas.ssyrk(-2.0, stretched[:, down].T, trans=1, beta=1.0, c=upward, lower=1)
            yield upward
        Z = self.features[:, :r]
        for bends in (bend, np.abs(bend)):
            yield linalg.blas.dgemm(1.0, Z, Z * bends[:, None], trans_a=1)
