"""Smooth losses: Newton's method, keeping a factorised Hessian for as long as it pays, or L-BFGS for wide models."""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError
from scipy.linalg.blas import dsyrk
from scipy.optimize import minimize

from pnulearn._arrays import AnyArray
from pnulearn._solvers.cholesky import factorize, solve_factorized
from pnulearn._solvers.feature_matrix import FeatureMatrix
from pnulearn._solvers.objectives import Minimum, Objective
from pnulearn.losses import Loss

WIDEST_NEWTON = 600
TOLERANCE = 1e-8
ROUNDING = 100  # a gradient this many tolerances long passes if no step can make it shorter
SHORT_STEP, SHORTEST_STEP = 0.1, 1e-8
MAX_STEPS = 200
MAX_STEPS_LBFGS = 5000
KEEP_HESSIAN = 0.7  # a step with an old Hessian must shrink the gradient to this share


class SmoothProblem:
    """Minimises Σ_i objective_i(φ_i′w + w₀) + α w′w for many objectives and penalties on the same rows.

    >>> from pnulearn import losses
    >>> two = Objective(losses.Logistic(), np.array([0.5, 0.5]), np.array([1.0, -1.0]), np.zeros(2))
    >>> minimum = SmoothProblem(FeatureMatrix(np.array([[1.0], [-1.0]]))).minimize(two, alpha=0.1)
    >>> minimum.coef.round(4), minimum.converged
    (array([1.1775]), True)
    """

    def __init__(self, matrix: FeatureMatrix):
        self.intercept, self.matrix = matrix.intercept, matrix.augmented
        self.penalised = np.ones(self.matrix.shape[1])
        if self.intercept:
            self.penalised[-1] = 0
        self.tolerance = TOLERANCE * max(1.0, float(np.abs(self.matrix).max(initial=0)))
        self._factor: AnyArray | None = None

    def minimize(self, objective: Objective, alpha: float, start: tuple[AnyArray, float] | None = None) -> Minimum:
        """The minimiser, found from `start` (coefficients and intercept); a local one if the loss is not convex."""
        w = np.zeros(self.matrix.shape[1])
        if start is not None:
            w[: len(start[0])] = start[0]
            w[len(start[0]) :] = start[1]
        wide = self.matrix.shape[1] > WIDEST_NEWTON or type(objective.loss).curvature is Loss.curvature
        w, n_iter, converged = (self._lbfgs if wide else self._newton)(objective, alpha, w)
        coef, offset = (w[:-1], float(w[-1])) if self.intercept else (w, 0.0)
        return Minimum(coef, offset, n_iter, converged)

    def _newton(self, objective: Objective, alpha: float, w: AnyArray) -> tuple[AnyArray, int, bool]:
        """Newton steps; between two Hessians the last one is corrected by what the gradients have shown since."""
        scores = self.matrix @ w
        gradient = self._gradient(objective, alpha, w, scores)
        size = np.abs(gradient).max()
        renew = not objective.loss.convex  # which minimum is found must not depend on what was solved before
        broad = False
        pairs: list[tuple[AnyArray, AnyArray, float]] = []
        for n_iter in range(MAX_STEPS):
            if size <= self.tolerance:
                return w, n_iter, True
            if renew or self._factor is None:
                self._factor, pairs = self._factorize(objective, alpha, scores, broad), []
            step = -_correct(self._factor, gradient, pairs)
            along = self.matrix @ step
            length = self._step_length(objective, alpha, w, scores, step, along, gradient)
            if length < SHORTEST_STEP and (broad or not objective.loss.convex) and not pairs:
                break
            broad = length < SHORT_STEP and objective.loss.convex
            if length < SHORTEST_STEP:
                renew = True
                continue
            w, scores = w + length * step, scores + length * along
            last, gradient = gradient, self._gradient(objective, alpha, w, scores)
            previous, size = size, np.abs(gradient).max()
            renew = size > KEEP_HESSIAN * previous or broad
            bend = float(length * step @ (gradient - last))
            if bend > 0:
                pairs.append((length * step, gradient - last, bend))
        return w, n_iter + 1, bool(size <= ROUNDING * self.tolerance)

    def _gradient(self, objective: Objective, alpha: float, w: AnyArray, scores: AnyArray) -> AnyArray:
        return objective.derivative(scores) @ self.matrix + 2 * alpha * self.penalised * w

    def _factorize(self, objective: Objective, alpha: float, scores: AnyArray, broad: bool) -> AnyArray:
        """The Hessian, or where Newton's model holds for short steps only, that of a wider parabola."""
        curvature = objective.broad_curvature(scores) if broad else objective.curvature(scores)
        try:
            return factorize(self._hessian(curvature, alpha))
        except LinAlgError:  # not convex here: the rows that curve down are left out
            curvature = np.maximum(curvature, 0) + np.finfo(float).tiny
            hessian = self._hessian(curvature, alpha)
            hessian[-1, -1] += 1e-12  # an intercept that no row holds any more
            return factorize(hessian)

    def _hessian(self, curvature: AnyArray, alpha: float) -> AnyArray:
        if (curvature >= 0).all():
            hessian = dsyrk(1.0, (self.matrix * np.sqrt(curvature)[:, None]).T, lower=True)
        else:
            hessian = (self.matrix.T * curvature) @ self.matrix
        hessian[np.diag_indices_from(hessian)] += 2 * alpha * self.penalised
        return hessian

    def _step_length(
        self,
        objective: Objective,
        alpha: float,
        w: AnyArray,
        scores: AnyArray,
        step: AnyArray,
        along: AnyArray,
        gradient: AnyArray,
    ) -> float:
        """Halve a full step until the objective falls as much as its slope promises."""
        slope = float(gradient @ step)
        linear, square = 2 * alpha * ((self.penalised * w) @ step), alpha * ((self.penalised * step) @ step)
        now = objective.value(scores)
        length = 1.0
        while length >= SHORTEST_STEP:
            change = objective.value(scores + length * along) - now + length * linear + length**2 * square
            if change <= 1e-4 * length * slope + 1e-14 * abs(now):
                break
            length /= 2
        return length

    def _lbfgs(self, objective: Objective, alpha: float, w: AnyArray) -> tuple[AnyArray, int, bool]:
        def value_and_gradient(w: AnyArray) -> tuple[float, AnyArray]:
            scores = self.matrix @ w
            value = objective.value(scores) + alpha * float(self.penalised @ w**2)
            return value, self._gradient(objective, alpha, w, scores)

        options = {"maxcor": 20, "gtol": self.tolerance, "ftol": 0.0, "maxiter": MAX_STEPS_LBFGS, "maxfun": 10**6}
        found = minimize(value_and_gradient, w, jac=True, method="L-BFGS-B", options=options)
        return found.x, int(found.nit), bool(np.abs(found.jac).max() <= ROUNDING * self.tolerance)


def _correct(factor: AnyArray, gradient: AnyArray, pairs: list[tuple[AnyArray, AnyArray, float]]) -> AnyArray:
    """The gradient times an inverse Hessian after BFGS updates; `pairs` holds steps and changes of the gradient."""
    result, amounts = gradient.copy(), []
    for step, change, bend in reversed(pairs):
        amounts.append(float(step @ result) / bend)
        result -= amounts[-1] * change
    result = solve_factorized(factor, result)
    for (step, change, bend), amount in zip(pairs, reversed(amounts), strict=True):
        result += (amount - float(change @ result) / bend) * step
    return result
