"""Labels for the unlabelled rows by a convex relaxation: the algorithm behind WellSVM, on plain arrays."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn.baselines.wellsvm.simplex_qp import nonnegative_qp, simplex_qp

GAIN = 1e-3  # relative progress below which label generation and mixing stop
NEWCOMER = 0.1  # weight with which a new label vector enters the mixture


@dataclass(frozen=True)
class Mixture:
    """Weights over label vectors and the margin weights that go with them; `values` holds one entry per round."""

    labels: AnyArray  # (rounds, n), entries ±1
    weight: AnyArray
    alpha: AnyArray
    values: tuple[float, ...]


def complete_labels(kernel: AnyArray, labels: AnyArray, cost: AnyArray, n_positive: int) -> tuple[AnyArray, AnyArray]:
    """Labels for all rows, and coefficients c of f(x) = Σ_i c_i k(x_i, x).

    labels : +1, −1, and 0 for the unlabelled rows, of which exactly `n_positive` become positive.
    cost : C_i of every row, in Σ_i C_i/2 max(0, 1 − y_i f(x_i))² + ½ |f|².
    """
    unlabeled = labels == 0
    first = _labels_of_supervised_svm(kernel, labels, cost, n_positive)
    mixture = generate_labels(kernel, first, unlabeled, cost)
    scores = kernel @ (mixture.alpha * (mixture.weight @ mixture.labels))
    relaxed = with_top_positive(first, unlabeled, scores, n_positive)
    candidates = [squared_hinge_svm(kernel, y, cost) for y in (first, relaxed)]
    # The larger minimum is the wider margin. Its dual sum is 1 / (2 minimum), hence the smaller sum wins.
    better = int(candidates[1].sum() < candidates[0].sum())
    return _self_consistent(kernel, (first, relaxed)[better], candidates[better], cost, unlabeled)


def squared_hinge_svm(kernel: AnyArray, labels: AnyArray, cost: AnyArray, support: AnyArray | None = None) -> AnyArray:
    """Dual weights b ≥ 0: f = Σ_i b_i y_i k(x_i, ·) minimises ½|f|² + Σ_i C_i/2 max(0, 1 − y_i f(x_i))², no bias."""
    return nonnegative_qp(_dual_hessian(kernel, labels[None], np.ones(1), cost), support)


def generate_labels(
    kernel: AnyArray, first: AnyArray, unlabeled: AnyArray, cost: AnyArray, *, max_rounds: int = 20
) -> Mixture:
    """min over a, max over mixtures of balanced label vectors: ½ a'(K ∘ Σ_t μ_t y_t y_t' + diag(1/C)) a.

    Label vectors are added one at a time, each the most violated one found, until the value stops growing.
    """
    mixture = _mix_labelings(kernel, first[None], np.ones(1), cost)
    for _ in range(max_rounds):
        spread = _label_values(kernel, mixture.alpha, mixture.labels)
        new = violated_labels(kernel, mixture.alpha, mixture.labels[spread.argmax()], unlabeled)
        if _label_values(kernel, mixture.alpha, new[None])[0] <= (1 + GAIN) * spread.max():
            break
        labels = np.vstack([mixture.labels, new])
        grown = _mix_labelings(
            kernel, labels, np.append((1 - NEWCOMER) * mixture.weight, NEWCOMER), cost, mixture.alpha > 0
        )
        if grown.values[-1] <= (1 + GAIN) * mixture.values[-1]:
            break
        mixture = Mixture(grown.labels, grown.weight, grown.alpha, mixture.values + grown.values)
    return mixture


def violated_labels(kernel: AnyArray, alpha: AnyArray, start: AnyArray, unlabeled: AnyArray) -> AnyArray:
    """Local maximum over balanced y of y'Hy, H = (αα') ∘ K, by maximising its linearisation again and again.

    H is positive semi-definite, so every step increases the value; the number of positives stays that of `start`.
    """
    labels, n_positive = start, int(np.sum(start[unlabeled] > 0))
    value = _label_values(kernel, alpha, labels[None])[0]
    while True:
        slope = alpha * (kernel @ (alpha * labels))
        moved = with_top_positive(labels, unlabeled, slope, n_positive)
        new_value = _label_values(kernel, alpha, moved[None])[0]
        if new_value <= value * (1 + 1e-12):
            return labels
        labels, value = moved, new_value


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


def _labels_of_supervised_svm(kernel: AnyArray, labels: AnyArray, cost: AnyArray, n_positive: int) -> AnyArray:
    known = np.flatnonzero(labels)
    b = squared_hinge_svm(kernel[np.ix_(known, known)], labels[known], cost[known])
    return with_top_positive(labels, labels == 0, kernel[:, known] @ (b * labels[known]), n_positive)


def _mix_labelings(
    kernel: AnyArray,
    labels: AnyArray,
    weight: AnyArray,
    cost: AnyArray,
    support: AnyArray | None = None,
    steps: int = 100,
) -> Mixture:
    """Best mixture of the given label vectors: μ_t ← μ_t √q_t / Σ, q_t = (a∘y_t)'K(a∘y_t), never lowers the value."""
    alpha, value = simplex_qp(_dual_hessian(kernel, labels, weight, cost), support)
    for _ in range(steps if len(weight) > 1 else 0):
        pull = weight * np.sqrt(_label_values(kernel, alpha, labels))
        if not pull.any() or np.abs(pull / pull.sum() - weight).max() < GAIN:
            break
        weight, last = pull / pull.sum(), value
        alpha, value = simplex_qp(_dual_hessian(kernel, labels, weight, cost), alpha > 0)
        if value <= last * (1 + GAIN):
            break
    return Mixture(labels, weight, alpha, (value,))


def _self_consistent(
    kernel: AnyArray, labels: AnyArray, dual: AnyArray, cost: AnyArray, unlabeled: AnyArray, rounds: int = 10
) -> tuple[AnyArray, AnyArray]:
    """Retrain on completed labels and complete them again until nothing changes."""
    n_positive = int(np.sum(labels[unlabeled] > 0))
    for _ in range(rounds):
        moved = with_top_positive(labels, unlabeled, kernel @ (dual * labels), n_positive)
        if (moved == labels).all():
            break
        labels, dual = moved, squared_hinge_svm(kernel, moved, cost, dual > 0)
    return labels, dual * labels


def _label_values(kernel: AnyArray, alpha: AnyArray, labels: AnyArray) -> AnyArray:
    """(a∘y)'K(a∘y) for every row y of `labels`."""
    signed = labels * alpha
    return np.einsum("ti,ti->t", signed, signed @ kernel)


def _dual_hessian(kernel: AnyArray, labels: AnyArray, weight: AnyArray, cost: AnyArray) -> AnyArray:
    """K ∘ Σ_t μ_t y_t y_t' + diag(1/C)."""
    hessian = kernel * ((labels.T * weight) @ labels)
    hessian[np.diag_indices_from(hessian)] += 1 / cost
    return hessian
