"""The classes and U apart, each as distinct rows with weights in an order that depends on their values only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pnulearn.folds import row_keys
from pnulearn.labels import UNLABELED

KEY_SEED = 0


@dataclass(frozen=True)
class Group:
    """Distinct rows of one sample, dense or CSR, and how often each occurs."""

    X: Any
    weight: NDArray

    def __len__(self) -> int:
        return len(self.weight)

    @property
    def total(self) -> float:
        return float(self.weight.sum())


@dataclass(frozen=True)
class Groups:
    """One group per class, in the order of the codes, and the unlabelled rows."""

    classes: tuple[Group, ...]
    unlabeled: Group

    @property
    def all(self) -> tuple[Group, ...]:
        return (*self.classes, self.unlabeled)

    def map(self, change: Callable[[Any], Any]) -> Groups:
        """The same groups with changed features."""
        *classes, unlabeled = (Group(change(group.X), group.weight) for group in self.all)
        return Groups(tuple(classes), unlabeled)


def split_groups(X: Any, codes: NDArray, weight: NDArray | None = None, n_classes: int = 2) -> Groups:
    """Gather equal rows of each class and of U and add up their weights.

    A row of weight two and the same row twice give the same groups, and so does any order of the rows: whatever is
    computed from groups, random choices included, inherits both properties.
    """
    weight = np.ones(len(codes)) if weight is None else np.asarray(weight, dtype=float)
    keys = row_keys(X, KEY_SEED)
    classes = (_gathered(X, keys, weight, np.flatnonzero(codes == k)) for k in range(n_classes))
    return Groups(tuple(classes), _gathered(X, keys, weight, np.flatnonzero(codes == UNLABELED)))


def _gathered(X: Any, keys: NDArray, weight: NDArray, rows: NDArray) -> Group:
    rows = rows[weight[rows] > 0]
    _, first, index = np.unique(keys[rows], return_index=True, return_inverse=True)
    return Group(X[rows[first]], np.bincount(index, weights=weight[rows], minlength=len(first)))


def limited(group: Group, most: int) -> Group:
    """At most `most` distinct rows: the first ones by key, which is a random choice that does not depend on order."""
    return group if len(group) <= most else Group(group.X[:most], group.weight[:most])


def standardized(groups: Groups) -> Groups:
    """Columns divided by their weighted standard deviation over all rows; constant columns become zero.

    Dense columns are centred as well, for accuracy: nothing that only looks at distances notices.
    """
    weight = np.concatenate([group.weight for group in groups.all])
    if sparse.issparse(groups.unlabeled.X):
        mean, deviation = _moments(sparse.vstack([group.X for group in groups.all], format="csr"), weight)
        scale = sparse.diags_array(_inverse(deviation, mean))
        return groups.map(lambda X: sparse.csr_array(X @ scale))
    mean, deviation = _moments(np.concatenate([group.X for group in groups.all]), weight)
    scale = _inverse(deviation, mean)
    return groups.map(lambda X: (X - mean) * scale)


def _moments(X: Any, weight: NDArray) -> tuple[NDArray, NDArray]:
    share = weight / weight.sum()
    mean = share @ X
    if sparse.issparse(X):
        return mean, np.sqrt(np.clip(share @ X.power(2) - mean**2, 0, None))
    return mean, np.sqrt(share @ (X - mean) ** 2)


def _inverse(deviation: NDArray, mean: NDArray) -> NDArray:
    """1 / deviation, or 0 where the column is constant up to rounding."""
    varies = deviation > 1e-12 * np.abs(mean)
    return np.where(varies, 1 / np.where(varies, deviation, 1), 0.0)
