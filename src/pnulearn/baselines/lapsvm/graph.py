"""Neighbourhood graphs and their Laplacians."""

from __future__ import annotations

from numbers import Integral
from typing import Any, Literal

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph
from sklearn.neighbors import kneighbors_graph

GraphWeights = Literal["heat", "binary"]


def neighbor_graph(X: Any, n_neighbors: int = 6, weights: GraphWeights = "heat") -> sparse.csr_matrix:
    """Symmetric k-nearest-neighbour weights W = max(A, A').

    Two rows are joined if either is among the k nearest of the other. The weight is 1 ("binary") or
    exp(−d² / (2t²)) with t the mean distance to a neighbour ("heat").

    >>> neighbor_graph(np.array([[0.0], [1.0], [3.0]]), 1, "binary").toarray()
    array([[0., 1., 0.],
           [1., 0., 1.],
           [0., 1., 0.]])
    """
    if weights not in ("heat", "binary"):
        raise ValueError(f"graph weights must be 'heat' or 'binary', got {weights!r}.")
    if not isinstance(n_neighbors, Integral) or n_neighbors < 1:
        raise ValueError(f"n_neighbors must be a whole number of at least 1, got {n_neighbors!r}.")
    n_neighbors = min(n_neighbors, X.shape[0] - 1)
    if n_neighbors == 0:  # a single row
        return sparse.csr_matrix((1, 1))
    graph = kneighbors_graph(X, n_neighbors, mode="distance")
    graph.data = np.ones_like(graph.data) if weights == "binary" else _heat(graph.data)
    return sparse.csr_matrix(graph.maximum(graph.T))


def _heat(distances: np.ndarray) -> np.ndarray:
    scale = distances.mean()
    return np.exp(-(distances**2) / (2 * scale**2)) if scale > 0 else np.ones_like(distances)


def laplacian(graph: Any, normalized: bool = False) -> sparse.csr_matrix:
    """D − W, or D^(−1/2) (D − W) D^(−1/2): symmetric, positive semi-definite.

    >>> laplacian(neighbor_graph(np.array([[0.0], [1.0], [3.0]]), 1, "binary")).toarray()
    array([[ 1., -1.,  0.],
           [-1.,  2., -1.],
           [ 0., -1.,  1.]])
    """
    return sparse.csr_matrix(csgraph.laplacian(graph, normed=normalized))
