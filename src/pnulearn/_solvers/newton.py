"""Smooth losses: Newton's method that reuses factorised Hessians, or L-BFGS for models with many coefficients."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy.linalg import LinAlgError
from scipy.linalg.blas import dsyrk, dtrsv
from scipy.optimize import minimize
from scipy.sparse.linalg import LinearOperator, cg

from pnulearn._arrays import AnyArray
from pnulearn._solvers.candidates import FeatureMatrix
from pnulearn._solvers.linear_algebra import factorize, solve_factorized
from pnulearn._solvers.objectives import Minimum, Objective
from pnulearn.losses import Loss

# The space of Newton's method: the coefficients (primal), or one number per row (dual) if there are fewer rows.

NEGLIGIBLE = 1e-2  # relative error allowed in a Hessian


class Space(Protocol):
    """Vectors v that represent coefficients w, with the scores Φw and inner products of the coefficients."""

    size: int

    def scores(self, vector: AnyArray) -> AnyArray:
        """Scores on the rows."""

    def penalty(self, vector: AnyArray, scores: AnyArray, other: AnyArray) -> float:
        """Σ w·w′ over penalised coefficients; `scores` are those of `vector`."""

    def product(self, vector: AnyArray, scores: AnyArray, gradient: AnyArray) -> float:
        """The directional derivative along a vector with these scores, for this gradient."""

    def gradient(self, derivative: AnyArray, alpha: float, vector: AnyArray) -> AnyArray:
        """The gradient of the penalised objective, from the derivatives by each row's score."""

    def length(self, gradient: AnyArray) -> float:
        """An upper bound of the greatest absolute entry of the gradient by the coefficients."""

    def factorize(self, curvature: AnyArray, alpha: float) -> Any:
        """Factorise the Hessian Φ′diag(curvature)Φ + 2α; if it is indefinite, negative curvatures are dropped."""

    def solve(self, factor: Any, gradient: AnyArray) -> AnyArray:
        """The Hessian's inverse times a gradient."""

    def coefficients(self, vector: AnyArray) -> tuple[AnyArray, float]:
        """w and the intercept."""


class CoefficientSpace:
    """A vector is w, followed by the intercept if there is one."""

    def __init__(self, matrix: FeatureMatrix):
        self.matrix, self.intercept = matrix.augmented, matrix.intercept
        self.size = self.matrix.shape[1]
        self.penalised = np.ones(self.size)
        if self.intercept:
            self.penalised[-1] = 0

    def scores(self, vector: AnyArray) -> AnyArray:
        return self.matrix @ vector

    def penalty(self, vector: AnyArray, scores: AnyArray, other: AnyArray) -> float:
        return float((self.penalised * vector) @ other)

    def product(self, vector: AnyArray, scores: AnyArray, gradient: AnyArray) -> float:
        return float(vector @ gradient)

    def gradient(self, derivative: AnyArray, alpha: float, vector: AnyArray) -> AnyArray:
        return derivative @ self.matrix + 2 * alpha * self.penalised * vector

    def length(self, gradient: AnyArray) -> float:
        return float(np.abs(gradient).max())

    def factorize(self, curvature: AnyArray, alpha: float) -> AnyArray:
        try:
            return factorize(self._hessian(curvature, alpha))
        except LinAlgError:  # not convex here
            hessian = self._hessian(np.maximum(curvature, 0) + np.finfo(float).tiny, alpha)
            hessian[-1, -1] += 1e-12  # keeps the system regular if no row determines the intercept
            return factorize(hessian)

    def _hessian(self, curvature: AnyArray, alpha: float) -> AnyArray:
        if (curvature >= 0).all():
            hessian = dsyrk(1.0, (self.matrix * np.sqrt(curvature)[:, None]).T, lower=True)
        else:
            hessian = (self.matrix.T * curvature) @ self.matrix
        hessian.flat[:: self.size + 1] += 2 * alpha * self.penalised
        return hessian

    def solve(self, factor: AnyArray, gradient: AnyArray) -> AnyArray:
        return solve_factorized(factor, gradient)

    def coefficients(self, vector: AnyArray) -> tuple[AnyArray, float]:
        return (vector[:-1], float(vector[-1])) if self.intercept else (vector, 0.0)


class _RowFactor(NamedTuple):
    """The Cholesky factor of 1 + RKR for the rows of non-negligible curvature (`bending`), and R."""

    triangle: AnyArray
    bending: AnyArray
    root: AnyArray
    alpha: float


class RowSpace:
    """A vector is β with w = Φ′β, since minimisers lie in the span of the rows. Hessians need no matrix product.

    With K = ΦΦ′ and R² = curvature / 2α the inverse Hessian of Φ′γ is Φ′(γ − R (1 + RKR)⁻¹ RKγ) / 2α.
    """

    def __init__(self, matrix: FeatureMatrix):
        self.matrix, self.size = matrix, len(matrix.features)
        self._diagonal = np.einsum("ij,ij->i", matrix.features, matrix.features)
        self._known: tuple[AnyArray, AnyArray] = (np.zeros(0), np.zeros(0))

    def scores(self, vector: AnyArray) -> AnyArray:
        """Scores Kβ; the last result is cached, since `length` and `solve` need it for the same gradient."""
        if self._known[0] is not vector:
            self._known = vector, self.matrix.gram @ vector
        return self._known[1]

    def penalty(self, vector: AnyArray, scores: AnyArray, other: AnyArray) -> float:
        return float(scores @ other)

    def product(self, vector: AnyArray, scores: AnyArray, gradient: AnyArray) -> float:
        return float(scores @ gradient)

    def gradient(self, derivative: AnyArray, alpha: float, vector: AnyArray) -> AnyArray:
        return derivative + 2 * alpha * vector

    def length(self, gradient: AnyArray) -> float:
        return float(np.sqrt(np.abs(self.scores(gradient) @ gradient)))

    def factorize(self, curvature: AnyArray, alpha: float) -> _RowFactor:
        """Rows of small curvature are left out; together they change the Hessian by less than NEGLIGIBLE."""
        squares = curvature / (2 * alpha)
        share = squares * self._diagonal
        order = np.argsort(share)
        n_straight = int(np.searchsorted(np.cumsum(share[order]), NEGLIGIBLE))
        bending = np.sort(order[min(n_straight, self.size - 1) :])
        root = np.sqrt(squares[bending])
        system = self.matrix.gram.take(bending, axis=0).take(bending, axis=1)
        system *= root
        system *= root[:, None]
        system.flat[:: len(root) + 1] += 1
        return _RowFactor(factorize(system.T), bending, root, alpha)

    def solve(self, factor: _RowFactor, gradient: AnyArray) -> AnyArray:
        """The inverse Hessian times the gradient, with the scores cached by `length`."""
        bending, root = factor.bending, factor.root
        forward = dtrsv(factor.triangle, root * self.scores(gradient)[bending], lower=1, overwrite_x=1)
        step = gradient.copy()
        step[bending] -= root * dtrsv(factor.triangle, forward, lower=1, trans=1, overwrite_x=1)
        step /= 2 * factor.alpha
        return step

    def coefficients(self, vector: AnyArray) -> tuple[AnyArray, float]:
        return vector @ self.matrix.features, 0.0


# Newton's method and L-BFGS.

WIDEST_NEWTON = 600
TOLERANCE = 1e-8
ROUNDING = 100  # times the tolerance: a gradient up to this size passes if no step reduces it further
SHORT_STEP, SHORTEST_STEP = 0.1, 1e-8
POLISHED = 1e-10  # relative to the scores: size of the last step
MAX_STEPS, MAX_POLISH = 200, 20
MAX_STEPS_LBFGS = 5000
CG_TOLERANCE = 1e-4
FAR = 3.0  # relative to the scores: longer steps need a line search
KEEP_HESSIAN = 0.7  # the Hessian is reused while each step reduces the gradient to at most this share


class SmoothProblem:
    """Minimises Σ_i objective_i(φ_i′w + w₀) + α w′w for many objectives and penalties on the same rows.

    >>> from pnulearn import losses
    >>> two = Objective(losses.Logistic(), np.array([0.5, 0.5]), np.array([1.0, -1.0]), np.zeros(2))
    >>> minimum = SmoothProblem(FeatureMatrix(np.array([[1.0], [-1.0]]))).minimize(two, alpha=0.1)
    >>> minimum.coef.round(4), minimum.converged
    (array([1.1775]), True)
    """

    def __init__(self, matrix: FeatureMatrix):
        self.matrix = matrix
        self.tolerance = TOLERANCE * max(1.0, float(np.abs(matrix.features).max(initial=0)), float(matrix.intercept))
        self._in_coefficients = _Newton(CoefficientSpace(matrix), self.tolerance, intercept=matrix.intercept)
        wide = matrix.wide and not matrix.intercept
        self._in_rows = _Newton(RowSpace(matrix), self.tolerance, intercept=False) if wide else None

    def minimize(
        self, objective: Objective, alpha: float, start: tuple[AnyArray, float] | AnyArray | None = None
    ) -> Minimum:
        """The minimiser, a local one if the loss is not convex.

        `start` is a pair of coefficients and intercept, or the `vector` of an earlier result.
        """
        rows, loss = self._in_rows, objective.loss
        method = self._in_coefficients if rows is None or not loss.convex or isinstance(start, tuple) else rows
        begin = np.zeros(method.space.size) if start is None else start
        if isinstance(begin, tuple):
            begin = np.append(begin[0], begin[1:] if self.matrix.intercept else ())
        if _bends(loss) and method.space.size <= WIDEST_NEWTON:
            vector, n_iter, converged = method.run(objective, alpha, begin)
        else:
            method = self._in_coefficients
            begin = begin if len(begin) == method.space.size else np.zeros(method.space.size)
            vector, n_iter, converged = self._lbfgs(objective, alpha, begin)
        coef, offset = method.space.coefficients(vector)
        return Minimum(coef, offset, n_iter, converged, vector)

    def _lbfgs(self, objective: Objective, alpha: float, w: AnyArray) -> tuple[AnyArray, int, bool]:
        space = self._in_coefficients.space

        def value_and_gradient(w: AnyArray) -> tuple[float, AnyArray]:
            scores = space.scores(w)
            value = objective.value(scores) + alpha * space.penalty(w, scores, w)
            return value, space.gradient(objective.derivative(scores), alpha, w)

        near = ROUNDING * self.tolerance if _bends(objective.loss) else self.tolerance
        options = {"maxcor": 20, "gtol": near, "ftol": 0.0, "maxiter": MAX_STEPS_LBFGS, "maxfun": 10**6}
        found = minimize(value_and_gradient, w, jac=True, method="L-BFGS-B", options=options)
        w = self._polish(objective, alpha, found.x) if _bends(objective.loss) else found.x
        return w, int(found.nit), bool(np.abs(found.jac).max() <= ROUNDING * self.tolerance)

    def _polish(self, objective: Objective, alpha: float, w: AnyArray) -> AnyArray:
        """Newton-CG steps until scores are unchanged; close to the minimum they are faster than L-BFGS."""
        space = self._in_coefficients.space
        here = _Place.at(space, objective, alpha, w, space.scores(w))
        for _ in range(MAX_POLISH):
            curvature = objective.curvature(here.scores)
            hessian = LinearOperator(
                (space.size, space.size), lambda v, c=curvature: space.gradient(c * space.scores(v), alpha, v)
            )
            step = cg(hessian, -here.gradient, rtol=CG_TOLERANCE, maxiter=2 * space.size)[0]
            along = space.scores(step)
            there = _Place.at(space, objective, alpha, here.v + step, here.scores + along)
            if not there.size <= KEEP_HESSIAN * here.size:
                break
            here = there
            if np.abs(along).max() <= POLISHED * np.abs(here.scores).max() / CG_TOLERANCE:
                break
        return here.v


def _bends(loss: Loss) -> bool:
    """Whether a smooth loss defines its second derivative."""
    return type(loss).curvature is not Loss.curvature


class _Newton:
    """Newton's method in a space; the last Hessian is reused within a problem and for the next problem."""

    def __init__(self, space: Space, tolerance: float, *, intercept: bool):
        self.space, self.tolerance, self.intercept = space, tolerance, intercept
        self._factor: Any = None
        self._alpha = np.nan

    def run(self, objective: Objective, alpha: float, v: AnyArray) -> tuple[AnyArray, int, bool]:
        """Newton steps with BFGS updates between two factorisations; returns vector, iterations, convergence.

        For a convex objective, a full step that is not too long and shrinks the gradient is accepted without a line
        search.
        """
        space, convex = self.space, objective.loss.convex
        here = _Place.at(space, objective, alpha, v, space.scores(v))
        # The Hessian of an earlier problem is not reused if the objective is not convex, because the minimum found must
        # not depend on earlier problems. With an unpenalised intercept it is not reused for another alpha either, where
        # steps may diverge.
        renew, self._alpha = not convex or (self.intercept and alpha != self._alpha), alpha
        broad = False
        pairs: list[_Pair] = []
        for n_iter in range(MAX_STEPS):
            if here.size <= self.tolerance:
                return self._polish(objective, alpha, here, pairs), n_iter, True
            if renew or self._factor is None:
                # If only short Newton steps are accepted, use the curvature of a wider parabola.
                curvature = objective.broad_curvature(here.scores) if broad else objective.curvature(here.scores)
                self._factor, pairs = space.factorize(curvature, alpha), []
            step, along = self._direction(here.gradient, pairs)
            length = 1.0
            there = _Place.at(space, objective, alpha, here.v + step, here.scores + along) if convex else None
            far = np.abs(along).max() > FAR * (1 + np.abs(here.scores).max())  # the old Hessian may not apply here
            if there is None or far or not there.size <= KEEP_HESSIAN * here.size:
                length = self._step_length(objective, alpha, here, step, along)
                if length < SHORTEST_STEP and (broad or not convex) and not pairs:
                    break
                broad = length < SHORT_STEP and convex
                if length < SHORTEST_STEP:
                    renew = True
                    continue
                if there is None or length < 1:
                    there = _Place.at(space, objective, alpha, here.v + length * step, here.scores + length * along)
            else:
                broad = False
            renew = there.size > KEEP_HESSIAN * here.size or broad
            change = there.gradient - here.gradient
            bend = length * space.product(step, along, change)
            if bend > 0 and not renew:
                pairs.append(_Pair(length * step, length * along, change, bend))
            here = there
        return here.v, n_iter + 1, bool(here.size <= ROUNDING * self.tolerance)

    def _polish(self, objective: Objective, alpha: float, here: _Place, pairs: list[_Pair]) -> AnyArray:
        """Full steps until scores change by rounding errors only, so that all machines give the same result."""
        space, fresh = self.space, False
        for _ in range(MAX_POLISH):
            if self._factor is None:
                self._factor, pairs, fresh = space.factorize(objective.curvature(here.scores), alpha), [], True
            step, along = self._direction(here.gradient, pairs)
            if np.abs(along).max() <= POLISHED * np.abs(here.scores).max():
                return here.v + step
            there = _Place.at(space, objective, alpha, here.v + step, here.scores + along)
            if there.size <= KEEP_HESSIAN * here.size:
                change = there.gradient - here.gradient
                pairs = [*pairs, _Pair(step, along, change, space.product(step, along, change))]
                here = there
            elif fresh:  # the gradient consists of rounding errors
                break
            else:
                self._factor = None
        return here.v

    def _direction(self, gradient: AnyArray, pairs: list[_Pair]) -> tuple[AnyArray, AnyArray]:
        """The step −H⁻¹ gradient, with H⁻¹ after BFGS updates (two-loop recursion), and its scores."""
        space, rest, amounts = self.space, gradient, []
        for pair in reversed(pairs):
            amounts.append(space.product(pair.step, pair.along, rest) / pair.bend)
            rest = rest - amounts[-1] * pair.change
        step = -space.solve(self._factor, rest)
        along = space.scores(step)
        for pair, amount in zip(pairs, reversed(amounts), strict=True):
            missing = amount + space.product(step, along, pair.change) / pair.bend
            step, along = step - missing * pair.step, along - missing * pair.along
        return step, along

    def _step_length(self, objective: Objective, alpha: float, here: _Place, step: AnyArray, along: AnyArray) -> float:
        """Backtracking line search by the Armijo condition."""
        space, now = self.space, objective.value(here.scores)
        slope = space.product(step, along, here.gradient)
        linear, square = 2 * alpha * space.penalty(step, along, here.v), alpha * space.penalty(step, along, step)
        length = 1.0
        while length >= SHORTEST_STEP:
            change = objective.value(here.scores + length * along) - now + length * linear + length**2 * square
            if change <= 1e-4 * length * slope + 1e-14 * abs(now):
                break
            length /= 2
        return length


class _Place(NamedTuple):
    """A vector with its scores, its gradient and the gradient's size."""

    v: AnyArray
    scores: AnyArray
    gradient: AnyArray
    size: float

    @classmethod
    def at(cls, space: Space, objective: Objective, alpha: float, v: AnyArray, scores: AnyArray) -> _Place:
        gradient = space.gradient(objective.derivative(scores), alpha, v)
        return cls(v, scores, gradient, space.length(gradient))


class _Pair(NamedTuple):
    """A BFGS pair: a step with its scores, the change of the gradient, and their product."""

    step: AnyArray
    along: AnyArray
    change: AnyArray
    bend: float
