"""The entropy-regularised logistic objective and its minimiser."""

from __future__ import annotations

import numpy as np
from scipy import linalg
from scipy.optimize import minimize

from pnulearn._arrays import AnyArray
from pnulearn.baselines._rival.training import RivalTraining
from pnulearn.baselines.entropy.rotation import Rotated

MOST_STEPS = 50
STEPS = 0.5 ** np.arange(11)
BARELY = 0.2  # curvature, in units of the penalty's, below which a direction is solved for by itself
WIDE, FEW = 0.99, 100  # coupled directions, per row and in all, beyond both of which a Newton step does not pay


def entropy(scores: AnyArray) -> AnyArray:
    """H(p) = log(1 + eᵍ) − p g in nats, p = 1 / (1 + e⁻ᵍ); log 2 at g = 0, even in g.

    >>> entropy(np.array([0.0, 800.0, -800.0])).round(4).tolist()
    [0.6931, 0.0, 0.0]
    """
    size = np.abs(scores)  # H is even, and for −|g| nothing overflows
    rarer = np.exp(-size)
    return np.log1p(rarer) + size * rarer / (1 + rarer)


class ConfidenceObjective:
    """Σ c_i log(1 + exp(−y_i g_i)) + (μ/u) Σ H(p_j) + α w'w with g = Zw (+ w₀, the last variable)."""

    def __init__(self, rotated: Rotated, training: RivalTraining, signs: AnyArray, intercept: bool):
        Z, lengths = rotated.coordinates, rotated.lengths
        self.features = np.asfortranarray(np.column_stack([Z, np.ones(len(Z))]) if intercept else Z)
        self.lengths = np.append(lengths, np.sqrt(len(Z))) if intercept else lengths
        self.penalized = (np.arange(self.features.shape[1]) < len(lengths)).astype(float)
        self.signs, self.weight, self.share = np.zeros((3, len(Z)))
        self.signs[training.labeled], self.weight[training.labeled] = signs, training.balance
        self.share[training.unlabeled] = 1 / max(len(training.unlabeled), 1)
        self._stretched = np.empty_like(self.features)  # kept, since a fresh matrix costs more than to fill it
        self._squares = self.features**2
        self._rising = -(lengths**2)

    @property
    def size(self) -> int:
        """The number of variables."""
        return self.features.shape[1]

    def __call__(self, w: AnyArray, alpha: float, mu: float) -> tuple[float, AnyArray]:
        """Value and gradient."""
        value, slope, _ = self.of_scores(self.features @ w, mu)
        return value + self.penalty(w, alpha), slope @ self.features + 2 * alpha * self.penalized * w

    def of_scores(self, g: AnyArray, mu: float) -> tuple[float, AnyArray, AnyArray]:
        """Value without the penalty, and its first and second derivative with respect to every row's score."""
        size, margin, price = np.abs(g), self.signs * g, mu * self.share
        rarer = np.exp(-size)
        p, log = rarer / (1 + rarer), np.log1p(rarer)  # p of the less likely class
        spread = p * (1 - p)
        value = self.weight @ (log + np.maximum(-margin, 0)) + price @ (log + size * p)
        slope = -self.weight * self.signs * np.where(margin > 0, p, 1 - p) - price * g * spread
        bend = spread * (self.weight + price * (size * (1 - 2 * p) - 1))
        return float(value), slope, bend

    def penalty(self, w: AnyArray, alpha: float) -> float:
        """α w'w, the intercept left out."""
        return float(alpha * (self.penalized @ w**2))

    def scale(self, alpha: float, mu: float) -> AnyArray:
        """A typical step per variable: the inverse root of the curvature if every row were undecided."""
        flat = (1 + mu) / (4 * len(self.features)) * self.lengths**2
        return 1 / np.sqrt(flat + 2 * alpha * self.penalized)

    def n_coupled(self, bend: AnyArray, alpha: float) -> int:
        """How many directions, the longest first, bend enough that they must be solved for together."""
        if len(self._rising) < self.size:  # an intercept, which no penalty holds
            return self.size
        return int(np.searchsorted(np.abs(bend).max() * self._rising, -2 * BARELY * alpha))

    def newton_direction(self, gradient: AnyArray, bend: AnyArray, alpha: float, r: int) -> AnyArray | None:
        """Downhill, by the Hessian of the r coupled directions and by its diagonal for all others.

        Undecided unlabelled rows bend downwards; where these make the Hessian indefinite, every row is taken to bend
        upwards by as much. None if even that has no Cholesky factor.
        """
        size, down = np.abs(bend), bend < 0
        direction = -gradient / (size @ self._squares + 2 * alpha * self.penalized)
        if r == 0:
            return direction
        stretched = np.multiply(self.features[:, :r], np.sqrt(size)[:, None], out=self._stretched[:, :r])
        upward = linalg.blas.dsyrk(1.0, stretched, trans=1, lower=1)
        upward.flat[:: r + 1] += 2 * alpha * self.penalized[:r]
        hessians = [upward]
        if down.any():
            hessians.insert(0, linalg.blas.dsyrk(-2.0, stretched[down], trans=1, beta=1.0, c=upward, lower=1))
        for hessian in hessians:
            _, step, failed = linalg.lapack.dposv(hessian, -gradient[:r], lower=1, overwrite_a=1)
            if not failed:
                direction[:r] = step
                return direction
        return None


def minimize_confidence(
    objective: ConfidenceObjective, start: AnyArray, alpha: float, mu: float, tolerance: float = 1e-8
) -> AnyArray:
    """A local minimum near `start`: Newton steps, or L-BFGS where they are dear or lead nowhere.

    `tolerance` bounds the gradient in units of `scale`; its square is about how far the value is from the minimum.
    """
    tolerance *= max(1.0, mu)
    w, g, scale = start, objective.features @ start, objective.scale(alpha, mu)
    loss, slope, bend = objective.of_scores(g, mu)
    value = loss + objective.penalty(w, alpha)
    for _ in range(MOST_STEPS):
        gradient = slope @ objective.features + 2 * alpha * objective.penalized * w
        if np.abs(gradient * scale).max() < tolerance:
            return w
        r = objective.n_coupled(bend, alpha)
        if r > max(WIDE * len(g), FEW):
            break
        direction = objective.newton_direction(gradient, bend, alpha, r)
        if direction is None:
            break
        change, promised = objective.features @ direction, -1e-4 * (gradient @ direction)
        for step in STEPS:
            loss, slope, bend = objective.of_scores(g + step * change, mu)
            reached = loss + objective.penalty(w + step * direction, alpha)
            if reached <= value - step * promised:
                break
        else:
            break
        w, g, value = w + step * direction, g + step * change, reached
    return _descend(objective, w, scale, alpha, mu, tolerance)


def _descend(
    objective: ConfidenceObjective, start: AnyArray, scale: AnyArray, alpha: float, mu: float, tolerance: float
) -> AnyArray:
    def scaled(v: AnyArray) -> tuple[float, AnyArray]:
        value, gradient = objective(v * scale, alpha, mu)
        return value, gradient * scale

    options = {"maxiter": 1000, "gtol": tolerance, "ftol": tolerance**2, "maxcor": 20}
    return minimize(scaled, start / scale, jac=True, method="L-BFGS-B", options=options).x * scale
