"""Labels for the unlabelled rows by a convex relaxation: the algorithm behind WellSVM, on plain arrays."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._solvers.cholesky import narrow_root
from pnulearn.baselines.wellsvm.simplex_qp import NARROW, Root, nonnegative_qp, scratch_for, simplex_qp

GAIN = 1e-3  # relative progress below which label generation and mixing stop
NEGLIGIBLE = 1e-10  # of a kernel's entries: solutions are refined, this decides how often
NEWCOMER = 0.1  # weight with which a new label vector enters the mixture


@dataclass(frozen=True)
class Mixture:
    """Weights over label vectors and the margin weights that go with them; `values` holds one entry per round."""

    labels: AnyArray  # (rounds, n), entries ±1
    weight: AnyArray
    alpha: AnyArray
    values: tuple[float, ...]


class MarginDual:
    """Squared-hinge SVMs without bias that share a kernel and costs C_i, and the memory for their matrices.

    Their dual Hessian is K ∘ Σ_t μ_t y_t y_t' + diag(1/C). A narrow root R of the kernel, K ≈ RR', makes them faster.
    """

    def __init__(self, kernel: AnyArray, cost: AnyArray, root: AnyArray | None = None):
        self.kernel, self.cost, self.root = kernel, cost, root
        self._hessian, self._scratch = np.empty_like(kernel), scratch_for(len(kernel))

    def svm(self, labels: AnyArray, support: AnyArray | None = None) -> AnyArray:
        """Dual weights b ≥ 0: f = Σ_i b_i y_i k(x_i, ·) minimises ½|f|² + Σ_i C_i/2 max(0, 1 − y_i f(x_i))²."""
        one = labels[None], np.ones(1)
        return nonnegative_qp(self.hessian(*one), support, self._scratch, self._hessian_root(*one))

    def mixed(self, labels: AnyArray, weight: AnyArray, support: AnyArray | None = None) -> tuple[AnyArray, float]:
        """arg min and min over a in the simplex of ½ a'(hessian)a."""
        root = self._hessian_root(labels, weight)
        return simplex_qp(self.hessian(labels, weight), support, self._scratch, root)

    def hessian(self, labels: AnyArray, weight: AnyArray) -> AnyArray:
        """Of a mixture of label vectors; overwritten by the next one."""
        np.matmul(labels.T * weight, labels, out=self._hessian)
        self._hessian *= self.kernel
        self._hessian[np.diag_indices_from(self._hessian)] += 1 / self.cost
        return self._hessian

    def _hessian_root(self, labels: AnyArray, weight: AnyArray) -> Root | None:
        """√μ_t y_t ∘ R for every label vector side by side, if these are few enough."""
        if self.root is None or len(weight) * self.root.shape[1] >= NARROW * len(self.kernel):
            return None
        factors = labels.T * np.sqrt(weight)
        columns = (factors[:, :, None] * self.root[:, None, :]).reshape(len(self.kernel), -1)
        return Root(columns, 1 / self.cost)

    def label_values(self, alpha: AnyArray, labels: AnyArray) -> AnyArray:
        """(a∘y)'K(a∘y) for every row y of `labels`."""
        signed = labels * alpha
        return np.einsum("ti,ti->t", signed, signed @ self.kernel)


def kernel_root(kernel: AnyArray) -> AnyArray | None:
    """R with K = RR' up to `NEGLIGIBLE` in every entry, if it has few columns: smooth kernels do."""
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
    supervised = dual.svm(first, first * known_only < 1)  # the support, if unlabelled rows cost next to nothing
    mixture = generate_labels(dual, first, unlabeled, supervised > 0)
    scores = kernel @ (mixture.alpha * (mixture.weight @ mixture.labels))
    relaxed = with_top_positive(first, unlabeled, scores, n_positive)
    candidates = [supervised, dual.svm(relaxed, mixture.alpha > 0)]
    # The larger minimum is the wider margin. Its dual sum is 1 / (2 minimum), hence the smaller sum wins.
    better = int(candidates[1].sum() < candidates[0].sum())
    return _self_consistent(dual, (first, relaxed)[better], candidates[better], unlabeled)


def generate_labels(
    dual: MarginDual, first: AnyArray, unlabeled: AnyArray, support: AnyArray | None = None, *, max_rounds: int = 20
) -> Mixture:
    """min over a, max over mixtures of balanced label vectors: ½ a'(K ∘ Σ_t μ_t y_t y_t' + diag(1/C)) a.

    Label vectors are added one at a time, each the most violated one found, until the value stops growing. `support`
    is that of the SVM with the first labels, if it is known.
    """
    mixture = _mix_labelings(dual, first[None], np.ones(1), support)
    for _ in range(max_rounds):
        spread = dual.label_values(mixture.alpha, mixture.labels)
        new = violated_labels(dual, mixture.alpha, mixture.labels[spread.argmax()], unlabeled)
        if dual.label_values(mixture.alpha, new[None])[0] <= (1 + GAIN) * spread.max():
            break
        labels = np.vstack([mixture.labels, new])
        weight = np.append((1 - NEWCOMER) * mixture.weight, NEWCOMER)
        grown = _mix_labelings(dual, labels, weight, mixture.alpha > 0)
        if grown.values[-1] <= (1 + GAIN) * mixture.values[-1]:
            break
        mixture = Mixture(grown.labels, grown.weight, grown.alpha, mixture.values + grown.values)
    return mixture


def violated_labels(dual: MarginDual, alpha: AnyArray, start: AnyArray, unlabeled: AnyArray) -> AnyArray:
    """Local maximum over balanced y of y'Hy, H = (αα') ∘ K, by maximising its linearisation again and again.

    H is positive semi-definite, so every step increases the value; the number of positives stays that of `start`.
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
    """⌈rate · n_rows⌉, unharmed by a rate such as 0.7 that is not a binary fraction."""
    return min(n_rows, max(0, math.ceil(rate * n_rows - 1e-9)))


def _supervised_scores(kernel: AnyArray, labels: AnyArray, cost: AnyArray) -> AnyArray:
    """Of all rows, by the SVM of the labelled ones."""
    known = np.flatnonzero(labels)
    b = MarginDual(kernel[np.ix_(known, known)], cost[known]).svm(labels[known])
    return kernel[:, known] @ (b * labels[known])


def _mix_labelings(
    dual: MarginDual, labels: AnyArray, weight: AnyArray, support: AnyArray | None = None, steps: int = 100
) -> Mixture:
    """Best mixture of the given label vectors: μ_t ← μ_t √q_t / Σ, q_t = (a∘y_t)'K(a∘y_t), never lowers the value."""
    alpha, value = dual.mixed(labels, weight, support)
    for _ in range(steps if len(weight) > 1 else 0):
        pull = weight * np.sqrt(dual.label_values(alpha, labels))
        if not pull.any() or np.abs(pull / pull.sum() - weight).max() < GAIN:
            break
        weight, last = pull / pull.sum(), value
        alpha, value = dual.mixed(labels, weight, alpha > 0)
        if value <= last * (1 + GAIN):
            break
    return Mixture(labels, weight, alpha, (value,))


def _self_consistent(
    dual: MarginDual, labels: AnyArray, b: AnyArray, unlabeled: AnyArray, rounds: int = 10
) -> tuple[AnyArray, AnyArray]:
    """Retrain on completed labels and complete them again until nothing changes."""
    n_positive = int(np.sum(labels[unlabeled] > 0))
    for _ in range(rounds):
        moved = with_top_positive(labels, unlabeled, dual.kernel @ (b * labels), n_positive)
        if (moved == labels).all():
            break
        labels, b = moved, dual.svm(moved, b > 0)
    return labels, b * labels
