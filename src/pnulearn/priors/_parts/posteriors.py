"""Class probabilities for rows the classifier has not seen: held-out scores, calibrated, averaged over candidates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import softmax
from sklearn.base import clone

from pnulearn._arrays import AnyArray
from pnulearn._problem.folds import assign_folds
from pnulearn.priors._parts.calibration import calibrate
from pnulearn.priors._parts.groups import Group, stack
from pnulearn.priors._parts.kernel_scores import kernel_scores

LEAST_TRUST = 1e-3  # candidates trusted less than this, relative to the best one, are left out


@dataclass(frozen=True)
class Posteriors:
    """Log-probabilities (candidates, classes, rows) of every group under equal class shares.

    The groups are the classes in order, then the others. `trust` weighs the candidates and adds up to one.
    """

    logits: list[AnyArray]
    trust: AnyArray

    def at(self, prior: AnyArray) -> list[AnyArray]:
        """Probabilities (classes, rows) of every group if the classes had these shares: p_k π_k / Σ p_j π_j."""
        shift = np.log(prior)[:, None]
        return [np.tensordot(self.trust, softmax(logits + shift, axis=1), 1) for logits in self.logits]


def held_out_posteriors(classes: Sequence[Group], others: Sequence[Group], classifier: Any = None) -> Posteriors:
    """Learn to tell the classes apart and say what rows that were not learnt from look like.

    Without a classifier, kernel ridge candidates are averaged by the likelihood of the left-out rows.
    """
    scores = kernel_scores(classes, others) if classifier is None else fold_scores(classifier, classes, others)
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
        raise ValueError(
            "A classifier can only be cross-fitted with at least two distinct labelled rows of each class."
        )
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
