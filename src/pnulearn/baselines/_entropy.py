"""Entropy regularisation (Grandvalet and Bengio, 2004): logistic regression with an entropy penalty on U."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy import linalg, sparse
from scipy.optimize import minimize
from sklearn.utils.validation import check_is_fitted

from pnulearn._arrays import AnyArray
from pnulearn._kernels.registry import KERNELS
from pnulearn._learning.calibration import probabilities
from pnulearn._parameters import parameters
from pnulearn._solvers.linear_algebra import single_precision
from pnulearn.baselines._base import Baseline, BaselineTraining, Candidate, Parts, candidates, stack_outputs

# Rotation of the features to orthogonal coordinates of the row space.

ROUNDING = 1e-12  # largest asymmetry of a kernel matrix, relative to its largest entry
SMALLEST = 1e-10  # directions shorter than this, relative to the longest, are rounding errors


@dataclass(frozen=True)
class Rotated:
    """Coordinates Z = ΦQ with Z'Z diagonal: `lengths` are the norms of its columns, longest first; Q (b, k) is
    orthonormal."""

    coordinates: AnyArray
    lengths: AnyArray
    basis: Any

    def lift(self, coefficients: AnyArray) -> AnyArray:
        """Coefficients of the original features; their norm is unchanged."""
        return np.asarray(self.basis @ coefficients)

    def lower(self, coefficients: AnyArray) -> AnyArray:
        """Coordinates of the projection of these coefficients onto the row space; `lift` is the inverse."""
        return np.asarray(self.basis.T @ coefficients)


def rotate(features: Any) -> Rotated:
    """Rotate dense or sparse features by one eigendecomposition of the smaller Gram matrix.

    >>> rotated = rotate(np.array([[3.0, 0.0, 4.0], [6.0, 0.0, 8.0]]))
    >>> rotated.coordinates.shape, np.abs(rotated.basis).round(2).tolist()
    ((2, 1), [[0.6], [0.0], [0.8]])
    """
    n, b = features.shape
    if n == b and not sparse.issparse(features) and _symmetric(features):
        # A kernel matrix can be decomposed directly.
        values, vectors = linalg.eigh(features, check_finite=False, driver="evd")
        return _keep(vectors * values, np.abs(values), vectors)
    product = features.T @ features if b <= n else features @ features.T
    dense = product.toarray() if sparse.issparse(product) else product
    squares, vectors = linalg.eigh(dense, check_finite=False, driver="evd")
    lengths = np.sqrt(np.maximum(squares, 0))
    if b <= n:
        return _keep(np.asarray(features @ vectors), lengths, vectors)
    safe = np.where(lengths > 0, lengths, 1)
    return _keep(vectors * lengths, lengths, np.asarray(features.T @ vectors) / safe)


def _symmetric(features: AnyArray) -> bool:
    return bool(np.abs(features - features.T).max(initial=0) <= ROUNDING * np.abs(features).max(initial=0))


def _keep(coordinates: AnyArray, lengths: AnyArray, basis: AnyArray) -> Rotated:
    # Squaring the features halves the digits of short directions, so lengths below 1e-7 are rounding errors there.
    # Those between 1e-10 and 1e-7 are kept. They do no harm, because the penalty suppresses short directions.
    order = np.argsort(-lengths)
    kept = order[lengths[order] > SMALLEST * lengths.max(initial=0)]
    return Rotated(coordinates[:, kept], lengths[kept], basis[:, kept])


# The entropy-regularised logistic objective, evaluated for many problems at once.

BARELY = 0.7  # curvature, relative to that of the penalty, below which a direction is solved separately
MANY = 50  # directions from which single precision is faster
WIDE, FEW = 0.99, 100  # coupled directions, per row and in total; if both are exceeded, Newton steps are too slow


def entropy(scores: AnyArray) -> AnyArray:
    """H(p) = log(1 + eᵍ) − p g in nats, p = 1 / (1 + e⁻ᵍ); log 2 at g = 0, even in g.

    >>> entropy(np.array([0.0, 800.0, -800.0])).round(4).tolist()
    [0.6931, 0.0, 0.0]
    """
    size = np.abs(scores)  # H is even, and exp(−|g|) does not overflow
    rarer = np.exp(-size)
    return np.log1p(rarer) + size * rarer / (1 + rarer)


@dataclass
class Points:
    """Current points of several problems, one row each.

    They hold the variables w, the penalties, the value, its gradient in w (`gradient`) and its second derivative in the
    score of every row (`bend`).
    """

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

    Problems that differ only in α and μ are evaluated together, because NumPy's overhead dominates for small arrays.
    """

    def __init__(self, rotated: Rotated, training: BaselineTraining, signs: AnyArray, intercept: bool):
        Z, lengths = rotated.coordinates, rotated.lengths
        self.features = np.asfortranarray(np.column_stack([Z, np.ones(len(Z))]) if intercept else Z)
        self.squares = np.append(lengths**2, len(Z)) if intercept else lengths**2
        self.penalized = (np.arange(self.features.shape[1]) < len(lengths)).astype(float)
        self.signs, self.weight, self.share = np.zeros((3, len(Z)))
        self.signs[training.labeled], self.weight[training.labeled] = signs, training.balance
        self.share[training.unlabeled] = 1 / max(len(training.unlabeled), 1)
        self._rough = single_precision(Z.T)
        self._stretched = np.empty_like(self._rough)  # reused, since allocating is slower than filling

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
        """A typical step per variable: 1 / √curvature if all scores were 0."""
        return 1 / np.sqrt(self._curvature((1 + mu) / (4 * len(self.features)), alpha))

    def n_coupled(self, at: Points) -> AnyArray:
        """The number of directions, longest first, whose curvature is large enough that they must be solved jointly."""
        if not self.penalized.all():  # there is an unpenalised intercept
            return np.full(len(at.w), self.size)
        with np.errstate(divide="ignore", over="ignore"):  # the curvature is 0 if all scores are large
            return np.searchsorted(-self.squares, -2 * BARELY * at.alpha / np.abs(at.bend).max(axis=1))

    def newton_directions(self, at: Points) -> AnyArray:
        """Descent directions: the exact Hessian for coupled directions, the mean curvature of the rows for the others.

        Unlabelled rows with scores near 0 have negative curvature. If the Hessian is indefinite for that reason, the
        absolute values of the curvatures are used. NaN if that matrix has no Cholesky factor either, or if too many
        directions are coupled.
        """
        directions = -at.gradient / self._curvature(np.abs(at.bend).mean(axis=1), at.alpha)
        most = max(WIDE * len(self.features), FEW)
        for i, r in enumerate(self.n_coupled(at)):
            if r > 0:
                step = self._coupled_step(at.bend[i], at.alpha[i], -at.gradient[i, :r]) if r <= most else None
                directions[i, :r] = np.nan if step is None else step
        return directions

    def _curvature(self, bend: AnyArray, alpha: AnyArray) -> AnyArray:
        """The diagonal Hessian for equal curvature of all rows."""
        return bend[:, None] * self.squares + 2 * alpha[:, None] * self.penalized

    def _coupled_step(self, bend: AnyArray, alpha: float, downhill: AnyArray) -> AnyArray | None:
        """The Newton step in the first len(downhill) directions; None if no Hessian is positive definite."""
        for hessian in self._hessians(bend, len(downhill)):
            hessian.flat[:: len(downhill) + 1] += 2 * alpha * self.penalized[: len(downhill)]
            solve = linalg.lapack.dposv if hessian.dtype == float else linalg.lapack.sposv
            _, step, failed = solve(hessian, downhill, lower=1, overwrite_a=1)
            if not failed:
                return step
        return None

    def _hessians(self, bend: AnyArray, r: int) -> Iterator[AnyArray]:
        """Lower triangles without the penalty: the true Hessian, then the one with absolute curvatures."""
        # Single precision is enough for a direction, unless columns are nearly parallel to the intercept.
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


# Local minima of the entropy-regularised logistic objective.

MOST_STEPS = 50
SHORTEST = 0.5**10  # smallest fraction of a Newton step


def minimize_confidence(
    objective: ConfidenceObjective,
    starts: AnyArray,
    alphas: AnyArray,
    mus: AnyArray,
    tolerance: float = 1e-8,
    parents: AnyArray | None = None,
) -> AnyArray:
    """Local minima near `starts`, by Newton's method, or by L-BFGS where Newton steps are too slow or fail.

    `tolerance` bounds the gradient in units of `scale`; its square is about the distance of the value from the minimum.
    If `parents[i]` is not negative, problem i starts at the minimum of that problem instead of `starts[i]`.
    """
    parents = np.full(len(starts), -1) if parents is None else parents
    tolerances, scale = tolerance * np.maximum(1.0, mus), objective.scale(alphas, mus)
    found, steps = starts.copy(), np.zeros(len(starts), int)
    running = np.flatnonzero(parents < 0)
    points, moved = objective.at(starts[running], alphas[running], mus[running]), np.ones(len(running), bool)
    while len(running):
        steep = np.abs(points.gradient * scale[running]).max(axis=1) >= tolerances[running]
        going = steep & moved & (steps[running] < MOST_STEPS)
        if going.all():
            steps[running] += 1
            points, moved = _advance(objective, points, objective.newton_directions(points))
        else:
            found[running] = points.w
            for i in running[steep & ~going]:
                found[i] = _descend(objective, found[i], scale[i], alphas[[i]], mus[[i]], tolerances[i])
            ended = np.zeros(len(starts), bool)
            ended[running[~going]] = True
            followers = np.flatnonzero((parents >= 0) & ended[parents])
            found[followers] = found[parents[followers]]
            points = points[going] + objective.at(found[followers], alphas[followers], mus[followers])
            running = np.append(running[going], followers)
            moved = np.ones(len(running), bool)
    return found


def _advance(
    objective: ConfidenceObjective, points: Points, directions: AnyArray, step: float = 1.0
) -> tuple[Points, AnyArray]:
    """Move every point along its direction with backtracking line search; also returns which points have moved."""
    moved = objective.at(points.w + step * directions, points.alpha, points.mu)
    promised = 1e-4 * step * np.einsum("ij,ij->i", points.gradient, directions)
    paid = moved.value <= points.value + promised
    if not paid.all():
        moved[~paid] = points[~paid]
        again = ~paid & np.isfinite(promised)  # not finite if there is no direction
        if step > SHORTEST and again.any():
            moved[again], paid[again] = _advance(objective, points[again], directions[again], step / 2)
    return moved, paid


def _descend(
    objective: ConfidenceObjective, start: AnyArray, scale: AnyArray, alpha: AnyArray, mu: AnyArray, tolerance: float
) -> AnyArray:
    def scaled(v: AnyArray) -> tuple[float, AnyArray]:
        point = objective.at((v * scale)[None], alpha, mu)
        return float(point.value[0]), point.gradient[0] * scale

    options = {"maxiter": 1000, "gtol": tolerance, "ftol": tolerance**2, "maxcor": 20}
    return minimize(scaled, start / scale, jac=True, method="L-BFGS-B", options=options).x * scale


EXACT, ENOUGH_TO_COMPARE = 1e-8, 1e-5  # tolerances of the final fit and during the search
# The entropy can have a local minimum for every labelling of U. Starting from the supervised solution and increasing
# the weight of the entropy step by step (continuation) leads to a minimum close to the labels.
WEIGHTS_ON_THE_WAY = (0.01, 0.1, 1.0, 10.0, 100.0)


@parameters
class EntropyRegularizedClassifier(Baseline):
    """Logistic regression with an entropy penalty on the predictions for the unlabelled rows.

    With g(x) = φ(x)'w (+ w₀), p = 1 / (1 + e⁻ᵍ) and H(p) the entropy in nats, minimises

        Σ_labelled c_i log(1 + exp(−y_i g_i)) + (entropy / u) Σ_unlabelled H(p_j) + alpha w'w.

    The class weights c_i = θ_y / n_y correct for class shares of the labels that differ from the population; with
    prior="labeled" they are 1/l, which is the original method. The problem is not convex. It is solved for increasing
    weights of the entropy, each starting from the previous solution. More than two classes: one against the rest.

    Parameters
    ----------
    alpha, entropy
        weights of the two penalties; None searches 10⁻⁵ … 10² for each.
    kernel
        "linear" (the columns and an unpenalised intercept), or "rbf", "laplace", "polynomial" (around every training
        row, no intercept).

    Examples
    --------
    >>> X = np.array([[0.0], [0.2], [1.0], [1.2], [0.1], [1.1]])
    >>> y = np.array([0, 0, 1, 1, np.nan, np.nan])
    >>> model = EntropyRegularizedClassifier(alpha=0.001, entropy=0.1, bandwidth=0.5, prior=0.5).fit(X, y)
    >>> model.predict(X).tolist()
    [0.0, 0.0, 1.0, 1.0, 0.0, 1.0]
    """

    _parts: ClassVar = ("coef", "intercept")
    _without_unlabeled: ClassVar = "a plain logistic regression"

    alpha: Any = None
    entropy: Any = None
    kernel: str = "rbf"

    def predict_proba(self, X: Any) -> AnyArray:
        """Class probabilities under the population's class prior, one column per class.

        Parameters
        ----------
        X : array, sparse matrix or data frame (rows, columns)
            Features.
        """
        check_is_fitted(self)
        scores = self.decision_function(X)
        return probabilities(scores, np.tile([1.0, 0.0], (1 if scores.ndim == 1 else scores.shape[1], 1)))

    def _grid(self) -> dict[str, Sequence[float]]:
        return {"alpha": candidates("alpha", self.alpha), "entropy": candidates("entropy", self.entropy, zero=True)}

    @property
    def _intercept(self) -> bool:
        """Whether the basis functions are the columns and an intercept, instead of kernels around rows."""
        return KERNELS[self.kernel].intercept

    @property
    def _needs_gram(self) -> bool:
        return not self._intercept

    def _features(self, X: Any, centers: Any, bandwidth: float | None) -> Any:
        return X if self._intercept else super()._features(X, centers, bandwidth)

    def _respond(self, gram: Any, parts: Parts) -> AnyArray:
        return gram @ parts["coef"] + parts["intercept"]

    def _learn(self, training: BaselineTraining, grid: Sequence[Candidate]) -> Iterator[Parts]:
        rotated = rotate(training.gram)
        outputs = [self._solve_grid(training, rotated, signs, grid) for signs, _ in training.outputs]
        for solutions in zip(*outputs, strict=True):
            yield stack_outputs([self._part(rotated, solution) for solution in solutions])

    def _solve_grid(
        self, training: BaselineTraining, rotated: Rotated, signs: AnyArray, grid: Sequence[Candidate]
    ) -> list[AnyArray]:
        """The minimiser of every candidate, for one output."""
        objective = ConfidenceObjective(rotated, training, signs, intercept=self._intercept)
        tolerance = EXACT if len(grid) == 1 else ENOUGH_TO_COMPARE
        alphas, entropies = (np.array(sorted({c[name] for c in grid})) for name in ("alpha", "entropy"))
        supervised = self._supervised(training, rotated, signs, alphas, tolerance)
        solved = _follow_paths(objective, supervised, alphas, entropies, tolerance)
        return [solved[c["entropy"]][np.searchsorted(alphas, c["alpha"])] for c in grid]

    def _supervised(
        self, training: BaselineTraining, rotated: Rotated, signs: AnyArray, alphas: AnyArray, tolerance: float
    ) -> AnyArray:
        """Start of the paths: minimisers without entropy, computed in the row space of the labelled rows."""
        labeled = training.labeled
        known = replace(training, X=None, gram=training.gram[labeled], codes=training.codes[labeled])
        span = rotate(known.gram)
        objective = ConfidenceObjective(span, known, signs, intercept=self._intercept)
        start = np.zeros((len(alphas), objective.size))
        solutions = minimize_confidence(objective, start, alphas, np.zeros(len(alphas)), tolerance)
        k = len(span.lengths)
        return np.column_stack([rotated.lower(span.lift(solutions[:, :k].T)).T, solutions[:, k:]])

    def _part(self, rotated: Rotated, solution: AnyArray) -> Parts:
        coef, bias = (solution[:-1], solution[-1]) if self._intercept else (solution, 0.0)
        return {"coef": rotated.lift(coef), "intercept": float(bias)}


def _follow_paths(
    objective: ConfidenceObjective, supervised: AnyArray, alphas: AnyArray, entropies: AnyArray, tolerance: float
) -> dict[float, AnyArray]:
    """Solutions of all alphas for every entropy weight.

    Each problem starts at the solution for the next smaller weight in WEIGHTS_ON_THE_WAY, so that the result for a
    weight does not depend on the other candidates.
    """
    weights = sorted({*entropies, *(step for step in WEIGHTS_ON_THE_WAY if step < max(entropies))})
    below = [max((i for i in range(k) if weights[i] in WEIGHTS_ON_THE_WAY), default=-1) for k in range(len(weights))]
    n, m = len(alphas), len(weights)
    parents = [i * n + a if i >= 0 else -1 for i in below for a in range(n)]
    solutions = minimize_confidence(
        objective, np.tile(supervised, (m, 1)), np.tile(alphas, m), np.repeat(weights, n), tolerance, np.array(parents)
    )
    return dict(zip(weights, np.split(solutions, m), strict=True))
