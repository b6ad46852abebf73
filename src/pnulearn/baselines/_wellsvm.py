"""WellSVM (Li, Tsang, Kwok and Zhou, 2013): a convex relaxation of the semi-supervised SVM by label generation."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, lapack, solve

from pnulearn._arrays import AnyArray
from pnulearn._parameters import parameters
from pnulearn._solvers.linear_algebra import narrow_root
from pnulearn.baselines._base import Baseline, BaselineTraining, Candidate, Parts, candidates

# Quadratic programmes of the squared-hinge SVM: over the non-negative orthant and over the simplex.

PATIENCE = 3  # block exchanges without progress before single exchanges, which are guaranteed to terminate
NEARBY = 16  # if fewer than one in so many entries changed, the previous factorisation is updated
NARROW = 0.4  # columns of a root per row below which it is faster than the matrix itself
RESIDUAL, REFINEMENTS = 1e-11, 4


def scratch_for(n: int) -> AnyArray:
    """Reusable memory for programmes of n variables; allocating it can take longer than a factorisation."""
    return np.empty((2, n * n))


class Root(NamedTuple):
    """Q ≈ columns columns' + diag(diagonal), with errors that are small relative to the diagonal."""

    columns: AnyArray
    diagonal: AnyArray


def nonnegative_qp(
    Q: AnyArray, support: AnyArray | None = None, scratch: AnyArray | None = None, root: Root | None = None
) -> AnyArray:
    """arg min ½ b'Qb − 1'b over b ≥ 0, exact up to rounding, for a positive definite Q.

    Block principal pivoting: guess which entries are positive, solve for them, and exchange all entries that violate
    the optimality conditions. It is much faster with a good initial `support`, such as that of a similar Q, with
    reused memory (`scratch_for`), and with a narrow `root`, whose solutions are refined with Q itself.

    >>> nonnegative_qp(np.array([[2.0, 3.0], [3.0, 9.0]]))
    array([0.5, 0. ])
    """
    return _minimize(Q, support, scratch, root)[0]


def _minimize(
    Q: AnyArray, support: AnyArray | None, scratch: AnyArray | None, root: Root | None
) -> tuple[AnyArray, _Face]:
    """The minimiser, and the factorised face, with which similar systems can be solved."""
    free = np.ones(len(Q), dtype=bool) if support is None else support.copy()
    scratch = scratch_for(len(Q)) if scratch is None else scratch
    fewest, patience = len(Q) + 1, PATIENCE
    face = _Face(Q, free.copy(), scratch, root)
    while True:
        if face.distance(free) * NEARBY > len(face.rows):
            face = _Face(Q, free.copy(), scratch, root)
        b, slope, exact = _refine(face, free)
        if not exact and face.root is not None:
            face, root = _Face(Q, free.copy(), scratch), None
            b, slope, _ = _refine(face, free)
        wrong = np.flatnonzero(np.where(free, b < 0, slope < -1e-10))
        if len(wrong) == 0:
            return b, face
        if len(wrong) < fewest:
            fewest, patience = len(wrong), PATIENCE
        elif patience:
            patience -= 1
        else:
            wrong = wrong[-1:]  # Murty's rule: exchanging only the last entry never cycles
        free[wrong] = ~free[wrong]


class SimplexMinimum(NamedTuple):
    """A minimiser, the minimum, and the factorised system of the non-zero entries."""

    point: AnyArray
    value: float
    face: _Face

    def solve(self, right: AnyArray) -> AnyArray:
        """Solve Q x = right (n, k) with x = 0 where the point is 0. Valid until the next programme is solved."""
        return self.face.solve(self.point > 0, right)


def simplex_qp(
    Q: AnyArray, support: AnyArray | None = None, scratch: AnyArray | None = None, root: Root | None = None
) -> SimplexMinimum:
    """arg min and min of ½ a'Qa over a ≥ 0, sum(a) = 1.

    The minimiser is that of the non-negative programme divided by its sum, and the minimum is 1 / (2 sum(b)).
    """
    b, face = _minimize(Q, support, scratch, root)
    return SimplexMinimum(b / b.sum(), 1 / (2 * b.sum()), face)


def _refine(face: _Face, free: AnyArray) -> tuple[AnyArray, AnyArray, bool]:
    """The solution on a face, the gradient Q b − 1, and whether it vanishes on the face up to rounding."""
    b = face.solve(free)
    slope = face.slope(b)
    for _ in range(REFINEMENTS if face.root is not None else 0):
        if np.abs(slope[free]).max(initial=0) <= RESIDUAL:
            return b, slope, True
        b -= face.solve(free, slope)
        slope = face.slope(b)
    return b, slope, face.root is None


class _Face:
    """The programme with all but the `free` entries fixed at zero, with a Cholesky factor.

    It also solves systems of similar sets. With a narrow root, it is the factor of 1 + columns' diagonal⁻¹ columns.
    """

    def __init__(self, Q: AnyArray, free: AnyArray, scratch: AnyArray, root: Root | None = None):
        self.Q, self.free, self.rows = Q, free, np.flatnonzero(free)
        m, n = len(self.rows), len(Q)
        self.border: _Border | None = None
        self.root, self.wide = None, Q
        if root is not None and root.columns.shape[1] < NARROW * m:
            self.root = Root(root.columns[self.rows], root.diagonal[self.rows])
            scaled = self.root.columns / np.sqrt(self.root.diagonal)[:, None]
            block = scaled.T @ scaled
            block.flat[:: len(block) + 1] += 1
        else:
            block = scratch[1, : m * m].reshape(m, m)
            if m == n:
                np.copyto(block, Q)
            else:  # mode="clip" avoids a temporary copy that NumPy makes by default; nothing is clipped
                self.wide = np.take(Q, self.rows, axis=0, out=scratch[0, : m * n].reshape(m, n), mode="clip")
                np.take(self.wide, self.rows, axis=1, out=block, mode="clip")
        self.factor: AnyArray = block
        if m:
            self.factor, failed = lapack.dpotrf(block.T, lower=1, overwrite_a=1, clean=0)
            if failed:
                raise LinAlgError("The programme is not strictly convex.")
        self.centre = self._solved(np.ones(m))

    def distance(self, free: AnyArray) -> int:
        """The number of entries that are free in exactly one of the two sets."""
        return int(np.count_nonzero(free != self.free))

    def slope(self, b: AnyArray) -> AnyArray:
        """Q b − 1, computed from the stored rows of Q and those of added entries."""
        if len(self.wide) == len(self.Q):
            return self.Q @ b - 1
        added = np.flatnonzero((b != 0) & ~self.free)
        slope = b[self.rows] @ self.wide - 1
        return slope + b[added] @ self.Q[added] if len(added) else slope

    def solve(self, free: AnyArray, right: AnyArray | None = None) -> AnyArray:
        """The solution of Q b = right (default 1) for a set of free entries; `right` may have several columns."""
        centre = self.centre if right is None else self._solved(right[self.rows])
        b = np.zeros((len(self.Q), *centre.shape[1:]))
        b[self.rows] = centre
        if not self.distance(free):
            return b
        if self.border is None or (self.border.free != free).any():
            self.border = self._bordered(free)
        _, added, columns, inward, schur = self.border
        wanted = np.zeros((len(schur), *centre.shape[1:]))
        wanted[: len(added)] = 1 if right is None else right[added]
        rest = solve(schur, wanted - columns.T @ centre, check_finite=False)
        b[self.rows] -= inward @ rest
        b[added] = rest[: len(added)]
        b[~free] = 0
        return b

    def _bordered(self, free: AnyArray) -> _Border:
        """The system bordered by added entries and by multipliers that keep removed entries at zero.

        It is solved with a Schur complement whose size is their number.
        """
        added, removed = np.flatnonzero(free & ~self.free), np.flatnonzero(~free[self.rows])
        k = len(added)
        columns = np.zeros((len(self.rows), k + len(removed)))
        columns[:, :k] = self.Q[np.ix_(self.rows, added)]
        columns[removed, np.arange(k, columns.shape[1])] = 1
        inward = self._solved(columns)
        schur = -columns.T @ inward
        schur[:k, :k] += self.Q[np.ix_(added, added)]
        return _Border(free.copy(), added, columns, inward, schur)

    def _solved(self, right: AnyArray) -> AnyArray:
        if not len(right):
            return right
        if self.root is None:
            return lapack.dpotrs(self.factor, right, lower=1)[0]
        columns, diagonal = self.root
        light = (right.T / diagonal).T
        return light - ((columns @ lapack.dpotrs(self.factor, columns.T @ light, lower=1)[0]).T / diagonal).T


class _Border(NamedTuple):
    """The border of a face for another set of free entries: columns, their solutions, and the Schur complement."""

    free: AnyArray
    added: AnyArray
    columns: AnyArray
    inward: AnyArray
    schur: AnyArray


# Label generation: labels for the unlabelled rows by a convex relaxation.

GAIN = 1e-3  # relative progress below which label generation and mixing stop
NEGLIGIBLE = 1e-10  # error of a kernel's entries; a larger one needs more refinements of the solutions
NEWCOMER = 0.1  # largest initial weight of a new label vector in the mixture
FARTHEST = 4.0  # largest factor by which a weight changes in a step


@dataclass(frozen=True)
class Mixture:
    """Weights of label vectors with the minimising dual variables; `values` has one entry per round."""

    labels: AnyArray  # (rounds, n), entries ±1
    weight: AnyArray
    minimum: SimplexMinimum
    values: tuple[float, ...] = ()

    @property
    def alpha(self) -> AnyArray:
        return self.minimum.point

    @property
    def value(self) -> float:
        return self.minimum.value


class MarginDual:
    """Squared-hinge SVMs without bias that share a kernel, costs C_i and memory.

    Their dual Hessian is K ∘ Σ_t μ_t y_t y_t' + diag(1/C). A narrow root R of the kernel, K ≈ RR', makes them faster.
    """

    def __init__(self, kernel: AnyArray, cost: AnyArray, root: AnyArray | None = None):
        self.kernel, self.cost, self.root = kernel, cost, root
        self._hessian, self._scratch = np.empty_like(kernel), scratch_for(len(kernel))

    def svm(self, labels: AnyArray, support: AnyArray | None = None) -> AnyArray:
        """Dual weights b ≥ 0: f = Σ_i b_i y_i k(x_i, ·) minimises ½|f|² + Σ_i C_i/2 max(0, 1 − y_i f(x_i))²."""
        one = labels[None], np.ones(1)
        return nonnegative_qp(self.hessian(*one), support, self._scratch, self._hessian_root(*one))

    def mixed(self, labels: AnyArray, weight: AnyArray, support: AnyArray | None = None) -> Mixture:
        """The mixture with these weights, including arg min and min over a in the simplex of ½ a'(hessian)a."""
        root = self._hessian_root(labels, weight)
        return Mixture(labels, weight, simplex_qp(self.hessian(labels, weight), support, self._scratch, root))

    def hessian(self, labels: AnyArray, weight: AnyArray) -> AnyArray:
        """The dual Hessian of a mixture of label vectors. The array is overwritten by the next call."""
        np.matmul(labels.T * weight, labels, out=self._hessian)
        self._hessian *= self.kernel
        self._hessian[np.diag_indices_from(self._hessian)] += 1 / self.cost
        return self._hessian

    def _hessian_root(self, labels: AnyArray, weight: AnyArray) -> Root | None:
        """√μ_t y_t ∘ R of all label vectors as columns; None if there are too many."""
        if self.root is None or len(weight) * self.root.shape[1] >= NARROW * len(self.kernel):
            return None
        factors = labels.T * np.sqrt(weight)
        columns = (factors[:, :, None] * self.root[:, None, :]).reshape(len(self.kernel), -1)
        return Root(columns, 1 / self.cost)

    def slopes(self, alpha: AnyArray, labels: AnyArray) -> AnyArray:
        """y∘K(y∘a) for every row y of `labels`: its contribution to the gradient in a."""
        return labels * ((labels * alpha) @ self.kernel)


def kernel_root(kernel: AnyArray) -> AnyArray | None:
    """R with K = RR' up to `NEGLIGIBLE` in every entry; None if R has many columns. Smooth kernels need few."""
    root = narrow_root(kernel, NEGLIGIBLE)
    return root if root.shape[1] < NARROW * len(kernel) else None


def complete_labels(
    kernel: AnyArray, labels: AnyArray, cost: AnyArray, n_positive: int, root: AnyArray | None = None
) -> tuple[AnyArray, AnyArray]:
    """Labels for all rows, and coefficients c of f(x) = Σ_i c_i k(x_i, x).

    labels : +1, −1, and 0 for the unlabelled rows, of which exactly `n_positive` become positive.
    cost : C_i of every row, in Σ_i C_i/2 max(0, 1 − y_i f(x_i))² + ½ |f|².
    root : the `kernel_root`, if there is one.
    """
    unlabeled = labels == 0
    dual = MarginDual(kernel, cost, root)
    known_only = _supervised_scores(kernel, labels, cost)
    first = with_top_positive(labels, unlabeled, known_only, n_positive)
    supervised = dual.svm(first, first * known_only < 1)  # exact if C_unlabeled is about 0
    mixture = generate_labels(dual, first, unlabeled, supervised > 0)
    scores = kernel @ (mixture.alpha * (mixture.weight @ mixture.labels))
    relaxed = with_top_positive(first, unlabeled, scores, n_positive)
    candidates = [supervised, dual.svm(relaxed, mixture.alpha > 0)]
    # A larger minimum means a wider margin. The dual sum is 1 / (2 minimum), so the smaller sum is better.
    better = int(candidates[1].sum() < candidates[0].sum())
    return _self_consistent(dual, (first, relaxed)[better], candidates[better], unlabeled)


def generate_labels(
    dual: MarginDual, first: AnyArray, unlabeled: AnyArray, support: AnyArray | None = None, *, max_rounds: int = 20
) -> Mixture:
    """Solve min over a, max over mixtures of balanced label vectors of ½ a'(K ∘ Σ_t μ_t y_t y_t' + diag(1/C)) a.

    Label vectors are added one at a time, each the most violated one found, until the value stops increasing. Weights
    take one step per round. They are fully optimised when no violated label vector is found, and at the end.
    `support` is that of the SVM with the first labels, if known.
    """
    mixture = dual.mixed(first[None], np.ones(1), support)
    values = [mixture.value]
    for _ in range(max_rounds):
        slopes = dual.slopes(mixture.alpha, mixture.labels)
        new = _violated(dual, mixture, slopes @ mixture.alpha, unlabeled)
        if new is None:
            last, mixture = mixture, mix_labelings(dual, mixture)
            if mixture is last:
                break
            values[-1] = mixture.value
            continue
        grown = _with_newcomer(dual, mixture, new, slopes)
        if grown.value <= (1 + GAIN) * mixture.value:
            grown = mix_labelings(dual, grown)
        if grown.value <= (1 + GAIN) * mixture.value:
            mixture = dual.mixed(
                mixture.labels, mixture.weight, mixture.alpha > 0
            )  # solved again: its factor was overwritten
            break
        mixture = grown
        values.append(mixture.value)
    mixture = mix_labelings(dual, mixture)
    return replace(mixture, values=(*values[:-1], mixture.value))


def _violated(dual: MarginDual, mixture: Mixture, spread: AnyArray, unlabeled: AnyArray) -> AnyArray | None:
    """A label vector with a larger value than those of the mixture, or None."""
    new = violated_labels(dual, mixture.alpha, mixture.labels[spread.argmax()], unlabeled)
    worth = dual.slopes(mixture.alpha, new[None])[0] @ mixture.alpha
    return new if worth > (1 + GAIN) * spread.max() else None


def mix_labelings(dual: MarginDual, mixture: Mixture, steps: int = 100) -> Mixture:
    """Optimise the weights of given label vectors. The value is concave in them, so the slope bounds the gain.

    Stops if the slope towards the best vector, the slope along Newton's step, or the gain of a step is below `GAIN`.
    """
    for _ in range(steps):
        slopes = dual.slopes(mixture.alpha, mixture.labels)
        spread, enough = slopes @ mixture.alpha, 2 * GAIN * mixture.value
        if spread.max() - mixture.weight @ spread <= enough:
            break
        weight = newton_weights(mixture, slopes)
        if (weight - mixture.weight) @ spread <= enough:
            break
        last, mixture = mixture, _moved(dual, mixture, weight, spread)
        if mixture.value <= (1 + GAIN) * last.value:
            break
    return mixture


def newton_weights(mixture: Mixture, slopes: AnyArray) -> AnyArray:
    """Newton's step to the weights at which q_t = (a∘y_t)'K(a∘y_t) is the same for all label vectors.

    `slopes` are s_t = y_t∘K(y_t∘a). As long as the same rows have a > 0, the derivative of q_t with respect to μ_u is
    −2 s_t'Q⁻¹s_u, up to a factor that all t share. The step is taken for q^(−1/2), which is linear in the weights if
    the label vectors do not interact, and almost linear for weights near 0.
    """
    weight, spread = mixture.weight, slopes @ mixture.alpha
    give = slopes @ mixture.minimum.solve(slopes.T)
    # The system is singular if vectors differ only in rows with a = 0, hence least squares.
    change = np.linalg.lstsq(give, _excess(spread, weight @ spread), rcond=None)[0]
    moved = np.clip(weight + change, weight / FARTHEST, weight * FARTHEST)
    return moved / moved.sum()


def _with_newcomer(dual: MarginDual, mixture: Mixture, new: AnyArray, slopes: AnyArray) -> Mixture:
    """Add a label vector. Its weight is a Newton step from zero by itself; the others take their own step."""
    slope = dual.slopes(mixture.alpha, new[None])[0]
    level = mixture.weight @ (slopes @ mixture.alpha)
    step = _excess(slope @ mixture.alpha, level) / (slope @ mixture.minimum.solve(slope))
    entering = min(NEWCOMER, step)
    weight = newton_weights(mixture, slopes) if len(slopes) > 1 else mixture.weight
    weight = np.append((1 - entering) * weight, entering)
    return dual.mixed(np.vstack([mixture.labels, new]), weight, mixture.alpha > 0)


def _excess(spread: AnyArray, level: float) -> AnyArray:
    """The decrease of q, in a linear approximation, at which q^(−1/2) equals that of the level."""
    return spread * (np.sqrt(spread / max(level, np.finfo(float).tiny)) - 1)


def _moved(dual: MarginDual, mixture: Mixture, weight: AnyArray, spread: AnyArray) -> Mixture:
    """The mixture with these weights, or with μ_t ← μ_t √q_t / Σ, which never decreases the value, if they do."""
    moved = dual.mixed(mixture.labels, weight, mixture.alpha > 0)
    if moved.value > mixture.value:
        return moved
    pull = mixture.weight * np.sqrt(spread)
    return dual.mixed(mixture.labels, pull / pull.sum(), mixture.alpha > 0)


def violated_labels(dual: MarginDual, alpha: AnyArray, start: AnyArray, unlabeled: AnyArray) -> AnyArray:
    """Local maximum over balanced y of y'Hy, H = (αα') ∘ K, by repeated maximisation of its linearisation.

    H is positive semi-definite, so every step increases the value. The number of positives is that of `start`.
    """
    labels, n_positive = start, int(np.sum(start[unlabeled] > 0))
    slope = alpha * (dual.kernel @ (alpha * labels))
    while True:
        moved = with_top_positive(labels, unlabeled, slope, n_positive)
        if (moved == labels).all():
            return labels
        new_slope = alpha * (dual.kernel @ (alpha * moved))
        if moved @ new_slope <= labels @ slope * (1 + 1e-12):
            return labels
        labels, slope = moved, new_slope


def with_top_positive(labels: AnyArray, unlabeled: AnyArray, scores: AnyArray, n_positive: int) -> AnyArray:
    """Labels whose `n_positive` highest-scoring unlabelled rows are +1 and the other unlabelled rows −1."""
    rows = np.flatnonzero(unlabeled)
    completed = labels.astype(float)
    completed[rows] = -1
    completed[rows[np.argsort(-scores[rows], kind="stable")[:n_positive]]] = 1
    return completed


def share_of(rate: float, n_rows: int) -> int:
    """⌈rate · n_rows⌉, robust to rounding errors of rates such as 0.7."""
    return min(n_rows, max(0, math.ceil(rate * n_rows - 1e-9)))


def _supervised_scores(kernel: AnyArray, labels: AnyArray, cost: AnyArray) -> AnyArray:
    """Scores of all rows by an SVM fitted to the labelled rows."""
    known = np.flatnonzero(labels)
    b = MarginDual(kernel[np.ix_(known, known)], cost[known]).svm(labels[known])
    return kernel[:, known] @ (b * labels[known])


def _self_consistent(
    dual: MarginDual, labels: AnyArray, b: AnyArray, unlabeled: AnyArray, rounds: int = 10
) -> tuple[AnyArray, AnyArray]:
    """Retrain on the completed labels and complete them again until they no longer change."""
    n_positive = int(np.sum(labels[unlabeled] > 0))
    for _ in range(rounds):
        moved = with_top_positive(labels, unlabeled, dual.kernel @ (b * labels), n_positive)
        if (moved == labels).all():
            break
        labels, b = moved, dual.svm(moved, b > 0)
    return labels, b * labels


WORK = 20  # cost of a fit in n³ flops, measured with C_unlabeled = 0.1


@parameters
class WellSVM(Baseline):
    """Large-margin classifier of labelled and unlabelled rows, by a convex relaxation over the unknown labels.

    The method searches for the label vector y with the widest margin of a squared-hinge SVM without bias, among those
    that agree with the known labels and make the share `prior` of U positive. Relaxed to mixtures Σ_t μ_t y_t y_t', the
    problem is convex:

        min over a in the simplex, max over μ in the simplex of ½ a'(K ∘ Σ_t μ_t y_t y_t' + diag(1/C_i)) a,

    The y_t are generated one by one, each the most violated. The labels are then made consistent with the SVM trained
    on them, which is the final classifier.

    Parameters
    ----------
    C, C_unlabeled
        cost C_i of a labelled and of an unlabelled row; None searches 10⁻⁵ … 10².
    kernel : str
        "rbf", "linear", "laplace" or "polynomial".
    prior
        share of positives imposed on the unlabelled rows; the original method uses "labeled".

    Examples
    --------
    >>> X = np.array([[-1.0], [-0.8], [1.0], [1.2], [-0.9], [1.1]])
    >>> y = np.array([0, 0, 1, 1, np.nan, np.nan])
    >>> model = WellSVM(C_unlabeled=0.1, bandwidth=0.5, prior=0.5).fit(X, y)
    >>> model.predict(X).tolist(), model.transduction_.tolist()
    ([0.0, 0.0, 1.0, 1.0, 0.0, 1.0], [0.0, 0.0, 1.0, 1.0, 0.0, 1.0])
    """

    _without_unlabeled: ClassVar = "a plain SVM"
    _multi_class: ClassVar = False
    _cheaper: ClassVar = "To make it faster, use a random sample of the unlabelled rows."

    C: Any = 1.0
    C_unlabeled: Any = None
    kernel: str = "rbf"

    def _grid(self) -> dict[str, Sequence[float]]:
        return {"C": candidates("C", self.C), "C_unlabeled": candidates("C_unlabeled", self.C_unlabeled)}

    def _work(self, n_rows: int) -> float:
        return WORK * n_rows**3

    def _learn(self, training: BaselineTraining, grid: Sequence[Candidate]) -> Iterator[Parts]:
        signs, unlabeled = training.signs, training.unlabeled
        n_positive = share_of(training.shares[1], len(unlabeled))
        if len(unlabeled) and n_positive in (0, len(unlabeled)):
            warnings.warn(
                f"A share of {training.shares[1]:.3g} positives gives all {len(unlabeled)} unlabelled rows one class.",
                UserWarning,
                stacklevel=2,
            )
        root = kernel_root(training.gram)
        for candidate in grid:
            cost = np.where(signs == 0, float(candidate["C_unlabeled"]), float(candidate["C"]))
            labels, coef = complete_labels(training.gram, signs, cost, n_positive, root)
            yield {"dual_coef": coef, "intercept": 0.0, "transduction": self.classes_[(labels > 0).astype(int)]}
