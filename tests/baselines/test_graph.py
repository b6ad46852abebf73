"""Neighbour graphs and Laplacians against their definitions."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.metrics import pairwise_distances

from pnulearn.baselines._lapsvm import laplacian, neighbor_graph

X = np.random.default_rng(0).normal(size=(30, 3))


def test_two_rows_are_joined_if_either_is_among_the_nearest_of_the_other():
    distances = pairwise_distances(X)
    np.fill_diagonal(distances, np.inf)
    near = distances <= np.sort(distances, axis=1)[:, [3]]
    assert_array_equal(neighbor_graph(X, 4, "binary").toarray() > 0, near | near.T)


def test_heat_weights_fall_with_distance_on_the_scale_of_a_neighbour():
    graph = neighbor_graph(X, 4, "heat").toarray()
    distances = pairwise_distances(X)
    scale = np.mean(np.sort(distances, axis=1)[:, 1:5])
    joined = graph > 0
    assert_allclose(graph[joined], np.exp(-(distances[joined] ** 2) / (2 * scale**2)))


@pytest.mark.parametrize("weights", ["heat", "binary"])
def test_the_laplacian_measures_how_much_neighbours_differ(weights):
    graph = neighbor_graph(X, 5, weights)
    f = X[:, 0]
    direct = 0.5 * np.sum(graph.toarray() * (f[:, None] - f) ** 2)
    assert_allclose(f @ (laplacian(graph) @ f), direct)
    assert_allclose(laplacian(graph) @ np.ones(30), 0, atol=1e-12)  # what the other Python LapSVM gets wrong


def test_the_normalised_laplacian_is_its_definition():
    graph = neighbor_graph(X, 5, "heat").toarray()
    degree = graph.sum(axis=1)
    expected = np.eye(30) - graph / np.sqrt(np.outer(degree, degree))
    assert_allclose(laplacian(sparse.csr_matrix(graph), normalized=True).toarray(), expected, atol=1e-12)


@pytest.mark.parametrize("normalized", [False, True])
def test_a_graph_in_two_pieces_has_two_flat_directions(normalized):
    rows = np.concatenate([X[:15], X[15:] + 100])
    values = np.linalg.eigvalsh(laplacian(neighbor_graph(rows, 3), normalized).toarray())
    assert_allclose(values[:2], 0, atol=1e-12)
    assert values.min() > -1e-12


def test_duplicates_are_neighbours_of_weight_one():
    graph = neighbor_graph(np.concatenate([X, X[:1]]), 3)
    assert graph[0, 30] == 1
    assert np.diag(graph.toarray()).sum() == 0


def test_identical_rows_and_few_rows_still_make_a_graph():
    graph = neighbor_graph(np.ones((4, 2)), 2).toarray()
    assert_allclose(graph, (1 - np.eye(4)) * 2 / 3)


def test_rows_that_are_equally_far_share_the_places_that_are_left():
    """The mean over many orders of the rows, each of which breaks the ties in its own way."""
    rows = np.array([[a, b] for a in range(4) for b in range(3)], dtype=float)
    apart, n = pairwise_distances(rows), len(rows)
    rng, total = np.random.default_rng(1), np.zeros((n, n))
    for _ in range(4000):
        order = np.lexsort((rng.random((n, n)), np.round(apart, 9) + 9 * np.eye(n)))
        np.put_along_axis(one := np.zeros((n, n)), order[:, :3], 1, axis=1)
        total += one / 4000
    expected = np.maximum(total, total.T)
    for moved in (rows, rows * (1 + 1e-15), np.nextafter(rows, 9.0)):
        assert_allclose(neighbor_graph(moved, 3, "binary").toarray(), expected, atol=0.05)
    order = rng.permutation(n)
    graph = neighbor_graph(rows, 3)
    assert_allclose(neighbor_graph(rows[order] / 3, 3).toarray(), graph[order][:, order].toarray(), atol=1e-12)
    assert neighbor_graph(X[:3], 10).nnz == 6
    assert neighbor_graph(X[:1], 10).nnz == 0


def test_sparse_rows_give_the_same_graph():
    distinct = sparse.csr_matrix(X)
    assert_allclose(neighbor_graph(distinct, 4).toarray(), neighbor_graph(X, 4).toarray(), atol=1e-6)


def test_unknown_weights_are_refused():
    with pytest.raises(ValueError, match="'heat' or 'binary', got 'cosine'"):
        neighbor_graph(X, 3, "cosine")


@pytest.mark.parametrize("n_neighbors", [0, -1, 2.5, "six"])
def test_a_wrong_number_of_neighbours_is_refused(n_neighbors):
    with pytest.raises(ValueError, match="n_neighbors must be a whole number"):
        neighbor_graph(X, n_neighbors)
