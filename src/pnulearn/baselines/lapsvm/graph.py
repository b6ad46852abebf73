"""Neighbourhood graphs and their Laplacians."""

from __future__ import annotations

from numbers import Integral
from typing import Any, Literal

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from pnulearn._arrays import AnyArray
from pnulearn._basis.gaussian import distances

ROWS_AT_ONCE = 1000
TIED = 1e-8  # distances that differ by less, relative to themselves, are equal

GraphWeights = Literal["heat", "binary"]


def neighbor_graph(X: Any, n_neighbors: int = 6, weights: GraphWeights = "heat") -> sparse.csr_matrix:
    """Symmetric k-nearest-neighbour weights W = max(A, A').

    Two rows are joined if either is among the k nearest of the other. The weight is 1 ("binary") or
    exp(−d² / (2t²)) with t the mean distance to a neighbour ("heat"). Rows that are equally far, up to rounding, share
    the places that are left: their weight is its mean over all ways to choose among them.

    >>> neighbor_graph(np.array([[0.0], [1.0], [3.0]]), 1, "binary").toarray()
    array([[0., 1., 0.],
           [1., 0., 1.],
           [0., 1., 0.]])
    """
    if weights not in ("heat", "binary"):
        raise ValueError(f"graph weights must be 'heat' or 'binary', got {weights!r}.")
    if not isinstance(n_neighbors, Integral) or n_neighbors < 1:
        raise ValueError(f"n_neighbors must be a whole number of at least 1, got {n_neighbors!r}.")
    n = X.shape[0]
    n_neighbors = min(n_neighbors, n - 1)
    if n_neighbors == 0:  # a single row
        return sparse.csr_matrix((1, 1))
    parts = [_neighbors(X, np.arange(i, min(i + ROWS_AT_ONCE, n)), n_neighbors) for i in range(0, n, ROWS_AT_ONCE)]
    rows, columns, share, apart = (np.concatenate(part) for part in zip(*parts, strict=True))
    heat = 1.0 if weights == "binary" else _heat(apart, np.average(apart, weights=share))
    graph = sparse.csr_matrix((share * heat, (rows, columns)), shape=(n, n))
    return sparse.csr_matrix(graph.maximum(graph.T))


def _neighbors(X: Any, rows: AnyArray, n_neighbors: int) -> tuple[AnyArray, AnyArray, AnyArray, AnyArray]:
    """Pairs of a row and a neighbour, the share of a place among the nearest that the neighbour has, its distance."""
    apart = distances(X[rows], X)
    apart[np.arange(len(rows)), rows] = np.inf
    farthest = np.partition(apart, n_neighbors - 1, axis=1)[:, [n_neighbors - 1]]
    nearer = apart < (1 - TIED) * farthest
    tied = (apart <= (1 + TIED) * farthest) & ~nearer
    left = n_neighbors - nearer.sum(axis=1, keepdims=True)
    share = np.where(tied, left / tied.sum(axis=1, keepdims=True), nearer)
    row, column = np.nonzero(share)
    return rows[row], column, share[row, column], apart[row, column]


def _heat(apart: AnyArray, scale: float) -> AnyArray:
    return np.exp(-(apart**2) / (2 * scale**2)) if scale > 0 else np.ones_like(apart)


def laplacian(graph: Any, normalized: bool = False) -> sparse.csr_matrix:
    """D − W, or D^(−1/2) (D − W) D^(−1/2): symmetric, positive semi-definite.

    >>> laplacian(neighbor_graph(np.array([[0.0], [1.0], [3.0]]), 1, "binary")).toarray()
    array([[ 1., -1.,  0.],
           [-1.,  2., -1.],
           [ 0., -1.,  1.]])
    """
    return sparse.csr_matrix(csgraph.laplacian(graph, normed=normalized))
