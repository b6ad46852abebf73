"""The rows of each class and of U as distinct rows with weights, in an order that depends on their values only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.metrics import euclidean_distances

from pnulearn._arrays import AnyArray
from pnulearn._problem.labels import UNLABELED
from pnulearn._problem.row_keys import row_keys
from pnulearn.priors._estimator import refuse_missing_class

KEY_SEED = 0
MOST_UNLABELED = 5000
MOST_LABELED = 2000  # per class
MOST_MEASURED = 400


@dataclass(frozen=True)
class Group:
    """Distinct rows of one sample, dense or CSR, and how often each occurs."""

    X: Any
    weight: AnyArray

    def __len__(self) -> int:
        return len(self.weight)

    @property
    def size(self) -> float:
        """Effective sample size. Weights of one or more count as copies, smaller ones as importance weights."""
        return float(self.weight.sum() ** 2 / np.minimum(self.weight, self.weight**2).sum()) if len(self) else 0.0

    @property
    def share(self) -> AnyArray:
        """Weights normalised to sum to one."""
        return self.weight / self.weight.sum()

    def first(self, most: int) -> Group:
        """At most `most` distinct rows: a random choice that does not depend on the order of the rows."""
        return self if len(self) <= most else Group(self.X[:most], self.weight[:most])

    def after(self, most: int) -> Group:
        """The rows that are not in `first(most)`."""
        return Group(self.X[most:], self.weight[most:])


@dataclass(frozen=True)
class Groups:
    """One group per class, in the order of the codes, and the unlabelled rows."""

    classes: tuple[Group, ...]
    unlabeled: Group

    @property
    def all(self) -> tuple[Group, ...]:
        return (*self.classes, self.unlabeled)

    def limit(self, labeled: int, unlabeled: int) -> Groups:
        """At most `labeled` distinct rows of each class and `unlabeled` of U."""
        return Groups(tuple(group.first(labeled) for group in self.classes), self.unlabeled.first(unlabeled))


def read_groups(X: Any, codes: AnyArray, weight: AnyArray | None, n_classes: int) -> Groups:
    """Groups of every class and of U, all non-empty, and small enough for pairwise distances."""
    groups = split_groups(X, codes, weight, n_classes)
    if len(groups.unlabeled) == 0:
        raise ValueError("The class prior is estimated from unlabelled rows; there are none. Pass prior as a number.")
    refuse_missing_class(codes, weight, range(n_classes))
    return groups.limit(MOST_LABELED, MOST_UNLABELED)


def split_groups(X: Any, codes: AnyArray, weight: AnyArray | None = None, n_classes: int = 2) -> Groups:
    """Merge equal rows of each class and of U and sum their weights.

    A row of weight two and the same row twice give the same groups, and the order of the rows does not matter. So all
    results computed from groups, random choices included, are invariant to both.
    """
    weight = np.ones(len(codes)) if weight is None else np.asarray(weight, dtype=float)
    kept = np.flatnonzero(weight > 0)  # rows of weight zero must not affect the rounding of the others
    X, codes, weight = (X, codes, weight) if len(kept) == len(codes) else (X[kept], codes[kept], weight[kept])
    keys = row_keys(X, KEY_SEED, weight)
    groups = []
    for code in (*range(n_classes), UNLABELED):
        rows = np.flatnonzero(codes == code)
        _, first, index = np.unique(keys[rows], return_index=True, return_inverse=True)
        groups.append(Group(X[rows[first]], np.bincount(index, weights=weight[rows], minlength=len(first))))
    return Groups(tuple(groups[:-1]), groups[-1])


def stack(parts: Sequence[Any]) -> Any:
    """Dense or CSR matrices stacked vertically."""
    return sparse.vstack(parts, format="csr") if sparse.issparse(parts[0]) else np.concatenate(parts)


def typical_distance(X: Any) -> float:
    """The median distance between the first few hundred rows, the unit of all bandwidths in this package."""
    few = X[:MOST_MEASURED]
    distances = euclidean_distances(few)[np.triu_indices(few.shape[0], 1)]
    positive = distances[distances > 1e-7]
    if len(positive) == 0:
        raise ValueError(
            "All rows are identical, so no bandwidth can be computed and the classes cannot be separated. Check the "
            "columns of X, or pass prior as a number."
        )
    return float(np.median(positive))


def standardize(groups: Groups) -> Groups:
    """Columns divided by their weighted standard deviation over all rows; constant columns become zero.

    Dense columns are also centred for numerical accuracy, which does not change distances.
    """
    X, weight = stack([group.X for group in groups.all]), np.concatenate([group.weight for group in groups.all])
    share, is_sparse = weight / weight.sum(), sparse.issparse(X)
    mean = share @ X
    deviation = np.sqrt(np.clip(share @ X.power(2) - mean**2, 0, None) if is_sparse else share @ (X - mean) ** 2)
    varies = deviation > 1e-12 * np.abs(mean)
    scale = np.where(varies, 1 / np.where(varies, deviation, 1), 0.0)
    *classes, unlabeled = [
        Group(sparse.csr_matrix(group.X.multiply(scale)) if is_sparse else (group.X - mean) * scale, group.weight)
        for group in groups.all
    ]
    return Groups(tuple(classes), unlabeled)
