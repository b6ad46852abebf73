"""Fitted scikit-learn models as plain arrays that answer alike: they can be kept in a file that runs no code.

Each gives scores (n, classes) as `adjustment.class_scores` takes them from the model itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit, softmax

from pnulearn._arrays import AnyArray
from pnulearn._basis.gaussian import gaussian, squared_distances
from pnulearn._estimators.adjustment import LEAST

ROWS_AT_ONCE = 512
# scikit-learn keeps these to itself; a test compares answers, so a version that renames them is noticed.
GAMMA, BASELINE, PREDICTORS = "_gamma", "_baseline_prediction", "_predictors"


@dataclass(frozen=True, eq=False)
class LinearFunction:
    """Log-probabilities whose odds are linear: a logistic regression."""

    coef: AnyArray
    intercept: AnyArray

    @classmethod
    def of(cls, model: Any) -> LinearFunction:
        return cls(model.coef_.astype(float), model.intercept_.astype(float))

    def __call__(self, X: AnyArray) -> AnyArray:
        return _log_shares(X @ self.coef.T + self.intercept)

    def refuse_broken(self, n_features: int, n_classes: int) -> None:
        n_outputs = 1 if n_classes == 2 else n_classes
        _require(self.coef.shape == (n_outputs, n_features) and self.intercept.shape == (n_outputs,), "its shape")


@dataclass(frozen=True, eq=False)
class KernelFunction:
    """A sum of Gaussians around support vectors, of two classes: (0, g)."""

    centers: AnyArray
    coef: AnyArray
    intercept: float
    bandwidth: float

    @classmethod
    def of(cls, model: Any) -> KernelFunction:
        gamma = float(getattr(model, GAMMA))
        return cls(model.support_vectors_, model.dual_coef_[0], float(model.intercept_[0]), (2 * gamma) ** -0.5)

    def __call__(self, X: AnyArray) -> AnyArray:
        g = gaussian(squared_distances(X, self.centers), self.bandwidth) @ self.coef + self.intercept
        return np.column_stack([np.zeros_like(g), g])

    def refuse_broken(self, n_features: int, n_classes: int) -> None:
        shapes = self.centers.shape[1:] == (n_features,) and self.coef.shape == self.centers.shape[:1]
        _require(n_classes == 2 and shapes and self.bandwidth > 0, "its shape")


@dataclass(frozen=True, eq=False)
class TreesFunction:
    """Trees whose leaves hold shares of classes that are averaged, or parts of log-odds that are added up.

    Nodes of all trees stand in one list; a child stands after its parent, and a leaf is its own child.
    """

    roots: AnyArray
    feature: AnyArray
    threshold: AnyArray
    left: AnyArray
    right: AnyArray
    value: AnyArray
    start: AnyArray
    are_shares: bool

    @classmethod
    def of_forest(cls, model: Any) -> TreesFunction:
        trees = [tree.tree_ for tree in model.estimators_]
        shares = [tree.value[:, 0] / tree.value[:, 0].sum(axis=1, keepdims=True) for tree in trees]
        parts = [(t.feature, t.threshold, t.children_left, t.children_right, t.children_left < 0) for t in trees]
        return cls._join(parts, shares, np.zeros(shares[0].shape[1]), True)

    @classmethod
    def of_boosting(cls, model: Any) -> TreesFunction:
        start, parts, values = np.ravel(getattr(model, BASELINE)), [], []
        for of_round in getattr(model, PREDICTORS):
            for output, tree in enumerate(of_round):
                nodes, odds = tree.nodes, np.zeros((len(tree.nodes), len(start)))
                odds[:, output] = nodes["value"]
                values.append(odds)
                leaf = nodes["is_leaf"].astype(bool)
                parts.append((nodes["feature_idx"], nodes["num_threshold"], nodes["left"], nodes["right"], leaf))
        return cls._join(parts, values, start, False)

    @classmethod
    def _join(cls, parts: list[Any], values: list[AnyArray], start: AnyArray, are_shares: bool) -> TreesFunction:
        sizes = [len(one) for one in values]
        roots = np.cumsum([0, *sizes[:-1]])
        features, thresholds, lefts, rights = [], [], [], []
        for root, (feature, threshold, left, right, leaf) in zip(roots, parts, strict=True):
            own = root + np.arange(len(leaf))
            features.append(np.where(leaf, 0, feature).astype(np.int64))
            thresholds.append(np.where(leaf, 0.0, threshold).astype(float))
            lefts.append(np.where(leaf, own, root + left.astype(np.int64)))
            rights.append(np.where(leaf, own, root + right.astype(np.int64)))
        nodes = [np.concatenate(parts) for parts in (features, thresholds, lefts, rights, values)]
        feature, threshold, left, right, value = nodes
        return cls(roots, feature, threshold, left, right, value, start.astype(float), are_shares)

    def __call__(self, X: AnyArray) -> AnyArray:
        starts = range(0, max(len(X), 1), ROWS_AT_ONCE)
        total = np.concatenate([self._sum(X[k : k + ROWS_AT_ONCE]) for k in starts]) + self.start
        if self.are_shares:
            return np.log(np.clip(total / len(self.roots), LEAST, None))
        return _log_shares(total)

    def _sum(self, X: AnyArray) -> AnyArray:
        """Values of the leaves that rows come to, added up over trees. Forests compare in single precision."""
        rows = X.astype(np.float32) if self.are_shares else X
        node = np.tile(self.roots, (len(X), 1))  # of every row in every tree
        while True:
            below = np.take_along_axis(rows, self.feature[node], axis=1) <= self.threshold[node]
            child = np.where(below, self.left[node], self.right[node])
            if np.array_equal(child, node):
                return self.value[node].sum(axis=1)
            node = child

    def refuse_broken(self, n_features: int, n_classes: int) -> None:
        """Every way down a tree must end, and end inside."""
        n, own = len(self.value), np.arange(len(self.value))
        n_outputs = n_classes if self.are_shares or n_classes > 2 else 1
        one_each = all(len(part) == n for part in (self.feature, self.threshold, self.left, self.right))
        _require(one_each and self.value.shape == (n, n_outputs) and self.start.shape == (n_outputs,), "its shape")
        whole = all(part.dtype.kind == "i" for part in (self.roots, self.feature, self.left, self.right))
        _require(whole and len(self.roots) > 0, "numbers of nodes that are not whole")
        _require(bool(((self.feature >= 0) & (self.feature < n_features)).all()), "a column that is not there")
        _require(bool(((self.roots >= 0) & (self.roots < n)).all()), "a root that is not there")
        for child in (self.left, self.right):
            _require(bool(((child >= own) & (child < n)).all()), "a branch that does not end")


Function = LinearFunction | KernelFunction | TreesFunction
FUNCTIONS = (LinearFunction, KernelFunction, TreesFunction)


def _log_shares(odds: AnyArray) -> AnyArray:
    """Log-probabilities of log-odds (n, 1) of the second of two classes, or of scores of more."""
    shares = softmax(odds, axis=1) if odds.shape[1] > 1 else np.column_stack([expit(-odds), expit(odds)])
    return np.log(np.clip(shares, LEAST, None))


def _require(holds: bool, trouble: str) -> None:
    if not holds:
        raise ValueError(f"a model has {trouble}" if "shape" not in trouble else "a model has not the shape it needs")
