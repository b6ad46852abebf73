"""Held-out class probabilities: scores of unseen rows, calibrated and averaged over candidates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
from scipy.special import log_softmax, softmax
from sklearn.base import clone
from sklearn.utils.extmath import safe_sparse_dot

from pnulearn._arrays import AnyArray
from pnulearn._kernels.basis import stays_sparse
from pnulearn._kernels.gaussian import gaussian, squared_distances
from pnulearn._kernels.ranks import NormalRanks
from pnulearn._problem.folds import assign_folds
from pnulearn._problem.row_keys import LABELS_PER_CELL, MOST_CELLS, row_keys
from pnulearn.priors._groups import KEY_SEED, Group, stack, typical_distance

LEAST_TRUST = 1e-3  # candidates with less weight than this, relative to the best one, are dropped
BANDWIDTHS = (0.25, 0.5, 1.0, 2.0)  # multiples of the median distance; a linear kernel is added
PENALTIES = (1e-3, 1e-2, 1e-1, 1.0)
MOST_TRAINED = 600  # distinct labelled rows to fit; the others are only scored
STEPS = 25
LONGEST_STEP = 2.0
CLOSE = 1e-6
RIDGE = 1e-6  # the shifts are only determined up to a constant


@dataclass(frozen=True)
class Posteriors:
    """Log-probabilities (candidates, classes, rows) of every group under equal class shares.

    The groups are the classes in order, then the others. `trust` are the weights of the candidates; they sum to one.
    """

    logits: list[AnyArray]
    trust: AnyArray

    def at(self, prior: AnyArray) -> list[AnyArray]:
        """Probabilities (classes, rows) of every group under these class shares: p_k π_k / Σ p_j π_j."""
        shift = np.log(prior)[:, None]
        return [np.tensordot(self.trust, softmax(logits + shift, axis=1), 1) for logits in self.logits]


def held_out_posteriors(
    classes: Sequence[Group], others: Sequence[Group], classifier: Any = None, *, with_ranks: bool = False
) -> Posteriors:
    """Held-out class probabilities of all groups.

    Without a classifier, kernel ridge candidates are averaged with weights from their leave-one-out likelihood.
    `with_ranks` adds candidates that see columns as normal ranks, unless dense rows would be too large.
    """
    if classifier is None:
        scores = kernel_scores(classes, others, with_ranks=with_ranks)
    else:
        scores = fold_scores(classifier, classes, others)
    calibrated = calibrate(scores[: len(classes)], classes)
    trust = softmax(-calibrated.loss * sum(group.size for group in classes))
    kept = trust > LEAST_TRUST * trust.max()
    return Posteriors([calibrated(score)[kept] for score in scores], trust[kept] / trust[kept].sum())


def fold_scores(
    classifier: Any, classes: Sequence[Group], others: Sequence[Group], n_splits: int = 5
) -> list[AnyArray]:
    """Scores (1, classes, rows) of a scikit-learn classifier, cross-fitted; other rows get the mean over the folds."""
    rows, weight = stack([group.X for group in classes]), np.concatenate([group.weight for group in classes])
    codes = np.repeat(np.arange(len(classes)), [len(group) for group in classes])
    smallest = min(len(group) for group in classes)
    if smallest < 2:
        raise ValueError("A classifier needs at least two distinct labelled rows of each class for cross-fitting.")
    fold = assign_folds(codes, min(n_splits, smallest), np.arange(len(codes)), weight)
    own, other = np.zeros((len(codes), len(classes))), [np.zeros((len(group), len(classes))) for group in others]
    for k in np.unique(fold):
        train, test = fold != k, fold == k
        options = {} if (weight == 1).all() else {"sample_weight": weight[train]}
        fitted = clone(classifier).fit(rows[train], codes[train], **options)
        own[test] = _scores(fitted, rows[test])
        for total, group in zip(other, others, strict=True):
            total += _scores(fitted, group.X) / len(np.unique(fold))
    parts = np.split(own, np.cumsum([len(group) for group in classes])[:-1])
    return [part.T[None] for part in [*parts, *other]]


def _scores(fitted: Any, X: Any) -> AnyArray:
    if hasattr(fitted, "predict_proba"):
        return np.log(np.clip(fitted.predict_proba(X), 1e-9, None))
    scores = fitted.decision_function(X)
    return np.column_stack([-scores, scores]) / 2 if scores.ndim == 1 else scores


def kernel_scores(
    classes: Sequence[Group], others: Sequence[Group] = (), *, with_ranks: bool = False
) -> list[AnyArray]:
    """Held-out scores of shape (candidates, classes, rows) for every group.

    All classes have the same total weight, so a score estimates the class probability under equal class shares.
    Training rows are scored by leave-one-out, all copies of a row left out together. If there are few distinct rows
    (one verdict, a few categories), equal rows are different objects, and one of them is left out.
    """
    most = max(MOST_TRAINED // len(classes), 2)
    trained = [group.first(most) for group in classes]
    unseen = [*(group.after(most) for group in classes), *others]
    weight = np.concatenate([group.share for group in trained]) / len(classes)
    targets = np.repeat(np.eye(len(classes)), [len(group) for group in trained], axis=0)
    part = _part_left_out(classes)
    left_out, predicted = [], []
    views = [(trained, unseen)]
    if with_ranks and not stays_sparse(rows := stack([group.X for group in (*trained, *unseen)])):
        ranks = NormalRanks.learn(rows, np.concatenate([group.weight for group in (*trained, *unseen)]))
        views.append((_ranked(trained, ranks), _ranked(unseen, ranks)))
    for gram, cross in chain.from_iterable(_kernels(*view) for view in views):
        for own, coef in _ridge_path(gram, targets, weight, part):
            left_out.append(own.T)
            predicted.append((cross @ coef).T)
    own_parts = np.split(np.array(left_out), np.cumsum(list(map(len, trained)))[:-1], axis=2)
    unseen_parts = np.split(np.array(predicted), np.cumsum(list(map(len, unseen)))[:-1], axis=2)
    class_scores = [np.concatenate(parts, axis=2) for parts in zip(own_parts, unseen_parts, strict=False)]
    return class_scores + unseen_parts[len(classes) :]


def _ranked(groups: Sequence[Group], ranks: NormalRanks) -> list[Group]:
    """The same rows with every column replaced by its normal ranks."""
    return [Group(ranks.apply(group.X), group.weight) for group in groups]


def _kernels(trained: Sequence[Group], unseen: Sequence[Group]) -> Iterator[tuple[AnyArray, AnyArray]]:
    """Gram matrix of the training rows and their kernel values with the other rows, for every kernel."""
    rows, others = stack([group.X for group in trained]), stack([group.X for group in unseen])
    distance = typical_distance(stack([others, rows]))
    own, cross = squared_distances(rows, rows), squared_distances(others, rows)
    for multiple in BANDWIDTHS:
        yield gaussian(own, multiple * distance), gaussian(cross, multiple * distance)
    origin = np.asarray(rows.mean(axis=0)).ravel()
    yield _linear(rows, rows, origin), _linear(others, rows, origin)


def _linear(A: Any, B: Any, origin: AnyArray) -> AnyArray:
    """(a − o)'(b − o) / columns + 1, without making sparse rows dense."""
    plain = safe_sparse_dot(A, B.T, dense_output=True)
    return (plain - (A @ origin)[:, None] - B @ origin + origin @ origin) / len(origin) + 1


def _part_left_out(classes: Sequence[Group]) -> AnyArray | float:
    """The part of a row's weight that leave-one-out removes: all of it, or one copy if there are few distinct rows."""
    n_labels = sum(group.size for group in classes)
    if sum(map(len, classes)) > len(classes) * MOST_CELLS:
        return 1.0
    keys = row_keys(stack([group.X for group in classes]), KEY_SEED)
    if not 1 < len(np.unique(keys)) <= min(MOST_CELLS, n_labels // LABELS_PER_CELL):
        return 1.0
    return 1 / np.maximum(np.concatenate([group.weight for group in classes]), 1)[:, None]


def _ridge_path(
    gram: AnyArray, targets: AnyArray, weight: AnyArray, part: AnyArray | float = 1.0
) -> Iterator[tuple[AnyArray, AnyArray]]:
    """Leave-one-out predictions and coefficients for every penalty, from one eigendecomposition.

    With G = (S K S + λ I)⁻¹, S² the weights and c = G S Y, row i has the residual λ c_i / S_ii and the leverage
    h_i = 1 − λ G_ii. Without a part q of its weight, the residual is divided by 1 − q h_i.
    """
    root = np.sqrt(weight)[:, None]
    size, directions = np.linalg.eigh(root * gram * root.T)
    turned = directions.T @ (root * targets)
    for penalty in PENALTIES:
        inverse = 1 / (np.clip(size, 0, None) + penalty)
        coef = directions @ (inverse[:, None] * turned)
        diagonal = (directions**2 @ inverse)[:, None]
        kept = part * diagonal + (1 - part) / penalty  # (1 − q h) / λ
        yield targets - coef / (kept * root), root * coef


@dataclass(frozen=True)
class Calibration:
    """log P(k | x) = log softmax(slope · score + shift)_k for every candidate, and its mean log-loss."""

    slope: AnyArray
    shift: AnyArray
    loss: AnyArray

    def __call__(self, scores: AnyArray) -> AnyArray:
        """Log-probabilities of scores of shape (candidates, classes, rows)."""
        return log_softmax(self.slope[:, None, None] * scores + self.shift[:, :, None], axis=1)


def calibrate(scores: Sequence[AnyArray], classes: Sequence[Group], shares: Any = None) -> Calibration:
    """Slope ≥ 0 and shifts of least log-loss under equal class shares, by Newton steps for all candidates at once.

    `shares` are optional weights of the rows of each class, (candidates, rows), each summing to one. The target of a
    class of n rows is (n + 1)/(n + 2) instead of 1 (Platt's rule), so that the slope is finite for separable classes.
    """
    stacked = np.concatenate(scores, axis=2)
    shares = [group.share[None] for group in classes] if shares is None else shares
    weight = np.concatenate(shares, axis=1)[:, None, :] / len(classes)  # candidates, 1, rows
    targets = _smooth_targets(classes)
    unit = stacked.std(axis=(1, 2))
    unit = np.where(unit > 0, unit, 1.0)
    slope, shift = np.zeros(len(stacked)), np.zeros((len(stacked), len(classes)))
    for _ in range(STEPS):
        step = _newton_step(stacked / unit[:, None, None], targets, weight, slope, shift)
        slope, shift = np.clip(slope - step[:, 0], 0, None), shift - step[:, 1:]
        if np.abs(step).max() < CLOSE:
            break
    calibration = Calibration(slope / unit, shift, np.zeros(len(stacked)))
    loss = -np.einsum("ckn,kn,ckn->c", np.broadcast_to(weight, stacked.shape), targets, calibration(stacked))
    return replace(calibration, loss=loss)


def _smooth_targets(classes: Sequence[Group]) -> AnyArray:
    K = len(classes)
    slack = np.array([1 / (group.size + 2) for group in classes])
    of_class = np.eye(K) * (1 - slack - slack / (K - 1))[:, None] + (slack / (K - 1))[:, None]
    return np.repeat(of_class.T, [len(group) for group in classes], axis=1)


def _newton_step(scores: AnyArray, targets: AnyArray, weight: AnyArray, slope: AnyArray, shift: AnyArray) -> AnyArray:
    """Inverse Hessian times gradient of the log-loss in (slope, shifts), shortened if it would overshoot."""
    share = softmax(slope[:, None, None] * scores + shift[:, :, None], axis=1)
    weighted, excess = weight * share, weight * (share - targets)
    spread = weighted * (scores - (share * scores).sum(axis=1, keepdims=True))
    gradient = np.column_stack([(excess * scores).sum(axis=(1, 2)), excess.sum(axis=2) + RIDGE * shift])
    curvature = RIDGE * np.tile(np.eye(gradient.shape[1]), (len(scores), 1, 1))
    curvature[:, 0, 0] += (spread * scores).sum(axis=(1, 2))
    curvature[:, 0, 1:] += spread.sum(axis=2)
    curvature[:, 1:, 0] += spread.sum(axis=2)
    curvature[:, 1:, 1:] += np.eye(shift.shape[1]) * weighted.sum(axis=2)[:, None] - weighted @ share.mT
    step = np.linalg.solve(curvature, gradient[..., None])[..., 0]
    return step * np.minimum(1, LONGEST_STEP / np.maximum(np.abs(step).max(axis=1, keepdims=True), LONGEST_STEP))
