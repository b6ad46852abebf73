"""Kernel matrices and bandwidth candidates."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from pnulearn._kernels.registry import KERNELS
from pnulearn.baselines._base import bandwidth_candidates, gram, refuse_beyond_memory

rng = np.random.default_rng(0)
X, C = rng.normal(size=(7, 3)), rng.normal(size=(4, 3))


def test_the_gaussian_kernel_is_its_formula():
    squares = ((X[:, None] - C) ** 2).sum(axis=2)
    assert_allclose(gram("rbf", X, C, 0.7), np.exp(-squares / (2 * 0.7**2)))


def test_the_laplace_and_polynomial_kernels_are_their_formulas():
    assert_allclose(gram("laplace", X, C, 0.7), np.exp(-np.abs(X[:, None] - C).sum(axis=2) / 0.7))
    inner = (X - C.mean(axis=0)) @ (C - C.mean(axis=0)).T
    assert_allclose(gram("polynomial", X, C, 0.7), (1 + inner / 0.49) ** 3)


@pytest.mark.parametrize("kernel", KERNELS)
def test_no_kernel_matrix_has_a_negative_eigenvalue(kernel):
    values = np.linalg.eigvalsh(gram(kernel, X, X, 0.7))
    assert values[0] > -1e-10 * values[-1]


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("x_type", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("c_type", [np.asarray, sparse.csr_matrix])
def test_sparse_and_dense_rows_agree(kernel, x_type, c_type):
    assert_allclose(gram(kernel, x_type(X), c_type(C), 0.7), gram(kernel, X, C, 0.7), atol=1e-12)


def test_a_large_offset_costs_no_digits():
    assert_allclose(gram("rbf", X + 1e6, C + 1e6, 0.7), gram("rbf", X, C, 0.7), atol=1e-8)


def test_the_candidates_are_multiples_of_the_median_distance():
    line = np.array([[0.0], [1.0], [3.0]])  # distances 1, 2, 3
    assert_allclose(bandwidth_candidates("rbf", line), 2 * np.array([1 / 8, 1 / 4, 1 / 2, 1, 1.5, 2]))


def test_a_random_thousand_rows_are_enough_for_the_median():
    many = rng.normal(size=(5000, 2))
    assert_allclose(bandwidth_candidates("rbf", many, seed=1), bandwidth_candidates("rbf", many, seed=2), rtol=0.1)


def test_identical_rows_have_no_bandwidth():
    with pytest.raises(ValueError, match=r"identical.*bandwidth=1.0"):
        bandwidth_candidates("rbf", np.ones((5, 2)))


def test_too_many_rows_are_refused_with_the_size():
    with pytest.raises(ValueError, match="1000000 rows need about 32000 GB"):
        refuse_beyond_memory(1_000_000)
