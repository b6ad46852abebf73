"""How far every row is from the rows that were asked, kept up to date row by row."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse

from pnulearn._arrays import AnyArray

SAMPLE = 500  # rows whose distances say what is near


class KernelDistance:
    """One minus the greatest value of a Gaussian kernel between each row and any row seen.

    Parameters
    ----------
    X : array or sparse matrix (rows, columns)
        Features.
    """

    def __init__(self, X: Any) -> None:
        self._X = X
        self._norms = np.asarray(X.multiply(X).sum(axis=1)).ravel() if issparse(X) else np.einsum("ij,ij->i", X, X)
        some = np.linspace(0, X.shape[0] - 1, min(SAMPLE, X.shape[0])).astype(int)
        between = self._to(some[: len(some) // 2 + 1])[some]
        positive = between[between > 0]
        self._scale = float(np.median(positive)) if positive.size else 1.0
        self._nearest = np.full(X.shape[0], np.inf)
        self._seen: set[int] = set()

    def see(self, rows: AnyArray) -> AnyArray:
        """The distances after these rows, of which any may have been seen before.

        Parameters
        ----------
        rows : array of int
            Row numbers.
        """
        new = [int(row) for row in rows if int(row) not in self._seen]
        if new:
            self._seen.update(new)
            self._nearest = np.minimum(self._nearest, self._to(np.array(new)).min(axis=1))
        return 1 - np.exp(-self._nearest / self._scale) if self._seen else np.ones(len(self._nearest))

    def _to(self, rows: AnyArray) -> AnyArray:
        """Squared distances of all rows to these."""
        products = self._X @ self._X[rows].T
        products = products.toarray() if issparse(products) else products
        return np.maximum(self._norms[:, None] - 2 * products + self._norms[rows], 0)
