"""Kernel ridge regression on one-hot labels, with leave-one-out predictions in closed form."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from sklearn.metrics import euclidean_distances
from sklearn.utils.extmath import safe_sparse_dot

from pnulearn._arrays import AnyArray
from pnulearn.priors._parts.groups import Group, stack, typical_distance

BANDWIDTHS = (0.25, 0.5, 1.0, 2.0)  # multiples of the median distance; a linear kernel comes on top
PENALTIES = (1e-3, 1e-2, 1e-1, 1.0)
MOST_TRAINED = 600  # distinct labelled rows to learn from; the others are held out and only scored


def kernel_scores(classes: Sequence[Group], others: Sequence[Group] = ()) -> list[AnyArray]:
    """Scores of shape (candidates, classes, rows) for every group, each row scored without having been seen.

    All classes have the same total weight, so a score estimates the class probability under equal class shares.
    Rows the candidates were trained on are scored by leaving them out, together with all their copies.
    """
    most = max(MOST_TRAINED // len(classes), 2)
    trained = [group.first(most) for group in classes]
    unseen = [*(group.after(most) for group in classes), *others]
    weight = np.concatenate([group.share for group in trained]) / len(classes)
    targets = np.repeat(np.eye(len(classes)), [len(group) for group in trained], axis=0)
    left_out, predicted = [], []
    for gram, cross in _kernels(trained, unseen):
        for own, coef in _ridge_path(gram, targets, weight):
            left_out.append(own.T)
            predicted.append((cross @ coef).T)
    own_parts = np.split(np.array(left_out), _ends(trained), axis=2)
    unseen_parts = np.split(np.array(predicted), _ends(unseen), axis=2)
    class_scores = [np.concatenate(parts, axis=2) for parts in zip(own_parts, unseen_parts, strict=False)]
    return class_scores + unseen_parts[len(classes) :]


def _ends(groups: Sequence[Group]) -> AnyArray:
    return np.cumsum([len(group) for group in groups])[:-1]


def _kernels(trained: Sequence[Group], unseen: Sequence[Group]) -> Iterator[tuple[AnyArray, AnyArray]]:
    """Gram matrix of the trained rows and their kernel values with the unseen ones, for every kernel."""
    rows, others = stack([group.X for group in trained]), stack([group.X for group in unseen])
    distance = typical_distance(stack([others, rows]))
    own, cross = _squared_distances(rows, rows), _squared_distances(others, rows)
    for multiple in BANDWIDTHS:
        twice_variance = 2 * (multiple * distance) ** 2
        yield np.exp(-own / twice_variance), np.exp(-cross / twice_variance)
    origin = np.asarray(rows.mean(axis=0)).ravel()
    yield _linear(rows, rows, origin), _linear(others, rows, origin)


def _squared_distances(A: Any, B: Any) -> AnyArray:
    return euclidean_distances(A, B, squared=True) if A.shape[0] else np.zeros((0, B.shape[0]))


def _linear(A: Any, B: Any, origin: AnyArray) -> AnyArray:
    """(a − o)'(b − o) / columns + 1, without making sparse rows dense."""
    plain = safe_sparse_dot(A, B.T, dense_output=True)
    return (plain - (A @ origin)[:, None] - B @ origin + origin @ origin) / len(origin) + 1


def _ridge_path(gram: AnyArray, targets: AnyArray, weight: AnyArray) -> Iterator[tuple[AnyArray, AnyArray]]:
    """Leave-one-out predictions and coefficients for every penalty, from one eigendecomposition.

    With G = (S K S + λ I)⁻¹, S² the weights and c = G S Y, the prediction without row i is y_i − c_i / (G_ii S_ii).
    """
    root = np.sqrt(weight)[:, None]
    size, directions = np.linalg.eigh(root * gram * root.T)
    turned = directions.T @ (root * targets)
    for penalty in PENALTIES:
        inverse = 1 / (np.clip(size, 0, None) + penalty)
        coef = directions @ (inverse[:, None] * turned)
        diagonal = (directions**2 @ inverse)[:, None]
        yield targets - coef / (diagonal * root), root * coef
