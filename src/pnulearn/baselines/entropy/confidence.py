"""The entropy-regularised logistic objective and its minimiser."""

from __future__ import annotations

import numpy as np
from scipy import linalg
from scipy.optimize import minimize
from scipy.special import expit

from pnulearn._arrays import AnyArray
from pnulearn.baselines._rival.training import RivalTraining
from pnulearn.baselines.entropy.rotation import Rotated

MOST_STEPS = 50
SHORTEST_STEP = 0.1


def entropy(scores: AnyArray) -> AnyArray:
    """H(p) = log(1 + eᵍ) − p g in nats, p = 1 / (1 + e⁻ᵍ); log 2 at g = 0, even in g.

    >>> entropy(np.array([0.0, 800.0, -800.0])).round(4).tolist()
    [0.6931, 0.0, 0.0]
    """
    size = np.abs(scores)  # H is even, and for −|g| nothing overflows
    return np.log1p(np.exp(-size)) + size * expit(-size)


class ConfidenceObjective:
    """Σ c_i log(1 + exp(−y_i g_i)) + (μ/u) Σ H(p_j) + α w'w with g = Zw (+ w₀, the last variable)."""

    def __init__(self, rotated: Rotated, training: RivalTraining, signs: AnyArray, intercept: bool):
        Z, lengths = rotated.coordinates, rotated.lengths
        self.features = np.column_stack([Z, np.ones(len(Z))]) if intercept else Z
        self.lengths = np.append(lengths, np.sqrt(len(Z))) if intercept else lengths
        self.penalized = (np.arange(self.features.shape[1]) < len(lengths)).astype(float)
        self.labeled, self.unlabeled = training.labeled, training.unlabeled
        self.signs, self.weight = signs, training.balance

    @property
    def size(self) -> int:
        """The number of variables."""
        return self.features.shape[1]

    def __call__(self, w: AnyArray, alpha: float, mu: float) -> tuple[float, AnyArray]:
        """Value and gradient."""
        g = self.features @ w
        margin, free = self.signs * g[self.labeled], g[self.unlabeled]
        value = self.weight @ np.logaddexp(0, -margin) + alpha * (self.penalized @ w**2)
        slope = np.zeros(len(g))
        slope[self.labeled] = -self.weight * self.signs * expit(-margin)
        if len(free):
            value += mu * entropy(free).mean()
            slope[self.unlabeled] = -mu / len(free) * free * expit(free) * expit(-free)
        return float(value), self.features.T @ slope + 2 * alpha * self.penalized * w

    def hessian(self, w: AnyArray, alpha: float, mu: float) -> AnyArray:
        """The lower triangle; not positive definite where unlabelled rows are undecided."""
        g = self.features @ w
        p = expit(g)
        bend = p * (1 - p)
        bend[self.labeled] *= self.weight
        free = self.unlabeled
        bend[free] *= mu / max(len(free), 1) * (g[free] * (2 * p[free] - 1) - 1)
        stretched = np.sqrt(np.abs(bend))[:, None] * self.features
        up = linalg.blas.dsyrk(1.0, stretched[bend > 0].T, lower=1)
        if (bend < 0).any():
            up = linalg.blas.dsyrk(-1.0, stretched[bend < 0].T, lower=1, beta=1.0, c=up, overwrite_c=1)
        up[np.diag_indices(self.size)] += 2 * alpha * self.penalized
        return up

    def scale(self, alpha: float, mu: float) -> AnyArray:
        """A typical step per variable: the inverse root of the curvature if every row were undecided."""
        flat = (1 + mu) / (4 * len(self.features)) * self.lengths**2
        return 1 / np.sqrt(flat + 2 * alpha * self.penalized)


def minimize_confidence(
    objective: ConfidenceObjective, start: AnyArray, alpha: float, mu: float, tolerance: float = 1e-8
) -> AnyArray:
    """A local minimum near `start`: Newton steps where the objective is convex, L-BFGS where it is not.

    `tolerance` bounds the gradient in units of `scale`; its square is about how far the value is from the minimum.
    """
    tolerance *= max(1.0, mu)
    w, scale = start, objective.scale(alpha, mu)
    value, gradient = objective(w, alpha, mu)
    for _ in range(MOST_STEPS):
        if np.abs(gradient * scale).max() < tolerance:
            return w
        try:
            factor = linalg.cho_factor(objective.hessian(w, alpha, mu), lower=True, check_finite=False)
        except linalg.LinAlgError:
            break
        direction = -linalg.cho_solve(factor, gradient, check_finite=False)
        step, promised = 1.0, -1e-4 * (gradient @ direction)
        new_value, new_gradient = objective(w + direction, alpha, mu)
        while new_value > value - step * promised and step > SHORTEST_STEP:
            step /= 2
            new_value, new_gradient = objective(w + step * direction, alpha, mu)
        if new_value > value:
            break
        w, value, gradient = w + step * direction, new_value, new_gradient
    return _descend(objective, w, scale, alpha, mu, tolerance)


def _descend(
    objective: ConfidenceObjective, start: AnyArray, scale: AnyArray, alpha: float, mu: float, tolerance: float
) -> AnyArray:
    def scaled(v: AnyArray) -> tuple[float, AnyArray]:
        value, gradient = objective(v * scale, alpha, mu)
        return value, gradient * scale

    options = {"maxiter": 1000, "gtol": tolerance, "ftol": tolerance**2, "maxcor": 20}
    return minimize(scaled, start / scale, jac=True, method="L-BFGS-B", options=options).x * scale
