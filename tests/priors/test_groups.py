"""Rows apart by class: copies gathered, order forgotten, columns standardised."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.spatial.distance import cdist

from pnulearn._kernels.gaussian import distances
from pnulearn.priors._estimate import settle
from pnulearn.priors._groups import Group, split_groups, standardize, typical_distance


def test_copies_are_gathered_and_their_weights_added():
    X = np.array([[1.0], [2.0], [1.0], [3.0], [1.0]])
    groups = split_groups(X, np.array([1, 1, 1, -1, 0]), np.array([1.0, 0.0, 2.0, 1.0, 1.0]))
    negative, positive = groups.classes
    assert positive.X.tolist() == [[1.0]]  # the row of weight zero is gone
    assert positive.weight.tolist() == [3.0]
    assert negative.weight.tolist() == groups.unlabeled.weight.tolist() == [1.0]


def test_the_order_of_the_rows_is_forgotten():
    rng = np.random.default_rng(0)
    X, codes = rng.normal(size=(30, 3)), rng.integers(-1, 2, 30)
    order = rng.permutation(30)
    for one, other in zip(split_groups(X, codes).all, split_groups(X[order], codes[order]).all, strict=True):
        assert_array_equal(one.X, other.X)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix, sparse.csr_array])
def test_standardised_columns_have_unit_weighted_deviation(kind):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 3)) * [1, 100, 1e-4] + [0, 5, 0]
    X[:, 1] = 7.0  # constant
    weight = rng.integers(1, 4, 40).astype(float)
    groups = standardize(split_groups(kind(X), rng.integers(-1, 2, 40), weight))
    Z = np.concatenate([g.X.toarray() if sparse.issparse(g.X) else g.X for g in groups.all])
    w = np.concatenate([g.weight for g in groups.all])
    mean = np.average(Z, axis=0, weights=w)
    assert_allclose(np.average((Z - mean) ** 2, axis=0, weights=w), [1, 0, 1], atol=1e-9)


def test_size_counts_copies_but_not_small_weights():
    assert Group(np.zeros((3, 1)), np.array([1.0, 2.0, 4.0])).size == pytest.approx(7)
    assert Group(np.zeros((3, 1)), np.full(3, 1e-3)).size == pytest.approx(3)
    assert Group(np.zeros((2, 1)), np.array([0.9, 0.1])).size == pytest.approx(1 / 0.82)  # Kish's effective size


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
def test_distances_of_close_rows_are_exact(kind):
    rng = np.random.default_rng(3)
    A = rng.normal(size=(40, 6))
    B = np.concatenate([A[:10], A[:10] + 1e-6 * rng.normal(size=(10, 6)), rng.normal(size=(20, 6))])
    expected = cdist(A, B)
    assert_allclose(distances(kind(A), kind(B)), expected, rtol=1e-9, atol=1e-16)
    assert (expected[np.arange(10), np.arange(10)] == 0).all()


def test_identical_rows_have_no_distance():
    with pytest.raises(ValueError, match="All rows are identical"):
        typical_distance(np.ones((5, 2)))
    assert typical_distance(np.array([[0.0], [3.0]])) == 3


def test_estimates_are_moved_inside_and_intervals_contain_them():
    one = settle(1.2, [0.9, 1.1], 99, 0.9, "x")
    assert (one.value, one.raw) == (0.99, 1.2)
    assert one.low <= one.value <= one.high < 1
    sure = settle(0.5, [0.5, 0.5], 99, 0.9, "x", value=0.6)
    assert sure.high == 0.6
    several = settle(np.array([0.0, 0.25, 0.75]), np.zeros((0, 3)), 99, 0.9, "x")
    assert several.value.min() == pytest.approx(0.01)
    assert several.value.sum() == pytest.approx(1)
    assert np.isnan(several.low).all()


def test_the_limits_of_classes_and_of_unlabelled_rows_are_told_apart():
    X, codes = np.arange(30.0)[:, None], np.repeat([0, 1, -1], 10)
    limited = split_groups(X, codes).limit(2, 7)  # classes first, as every caller has it
    assert [len(group) for group in limited.all] == [2, 2, 7]
