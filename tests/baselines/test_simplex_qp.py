"""The quadratic programmes against SciPy's non-negative least squares and the optimality conditions."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import solve_triangular
from scipy.optimize import nnls

from pnulearn.baselines._wellsvm import Root, _Face, nonnegative_qp, scratch_for, simplex_qp


def random_hessian(seed, n=40):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, n // 3))
    return A @ A.T + np.diag(rng.uniform(0.01, 1, size=n))


@pytest.mark.parametrize("seed", range(5))
def test_it_solves_the_same_problem_as_non_negative_least_squares(seed):
    """Q = RR', and |R'b − R⁻¹1|² is twice the objective up to a constant."""
    Q = random_hessian(seed)
    R = np.linalg.cholesky(Q)
    expected, _ = nnls(R.T, solve_triangular(R, np.ones(len(Q)), lower=True), maxiter=1000)
    found = nonnegative_qp(Q)
    assert 0 < np.count_nonzero(found) < len(Q)
    assert_allclose(found, expected, atol=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_the_starting_support_changes_nothing_but_the_work(seed):
    Q = random_hessian(seed)
    start = np.random.default_rng(seed).random(len(Q)) < 0.3
    assert_allclose(nonnegative_qp(Q, start), nonnegative_qp(Q), atol=1e-12)
    assert_allclose(nonnegative_qp(Q, np.zeros(len(Q), dtype=bool)), nonnegative_qp(Q), atol=1e-12)


def test_the_simplex_minimum_meets_its_optimality_conditions():
    """(Qa)_i is the same where a_i > 0 and larger elsewhere."""
    Q = random_hessian(7)
    a, value, _ = simplex_qp(Q)
    slope, support = Q @ a, a > 0
    assert_allclose(a.sum(), 1)
    assert_allclose(value, a @ Q @ a / 2)
    assert_allclose(slope[support], 2 * value)
    assert (slope[~support] > 2 * value).all()


def test_single_exchanges_end_where_whole_exchanges_would_cycle(monkeypatch):
    monkeypatch.setattr("pnulearn.baselines._wellsvm.PATIENCE", 0)
    Q = random_hessian(3)
    b = nonnegative_qp(Q, np.random.default_rng(0).random(len(Q)) < 0.5)
    assert (b >= 0).all()
    assert (Q @ b >= 1 - 1e-9).all()


@pytest.mark.parametrize("seed", range(5))
def test_the_factor_of_one_set_solves_for_another(seed):
    Q, rng = random_hessian(seed), np.random.default_rng(seed)
    first, other = rng.random((2, len(Q))) < 0.5
    face = _Face(Q, first, scratch_for(len(Q)))
    for free in (first, other, first & other, first | other):
        expected = np.zeros(len(Q))
        expected[free] = np.linalg.solve(Q[np.ix_(free, free)], np.ones(free.sum()))
        assert_allclose(face.solve(free), expected, atol=1e-9)


@pytest.mark.parametrize("n_columns", [None, 3])
def test_a_minimum_solves_systems_of_its_support(n_columns):
    rng = np.random.default_rng(4)
    columns, diagonal = rng.normal(size=(60, 5)), rng.uniform(0.01, 1, size=60)
    Q = columns @ columns.T + np.diag(diagonal)
    right = rng.normal(size=60 if n_columns is None else (60, n_columns))
    for root in (None, Root(columns, diagonal)):
        start = simplex_qp(Q).point > 0
        start[:2] = ~start[:2]  # so that the last face borders the one that was factorised
        found = simplex_qp(Q, start, root=root)
        free = found.point > 0
        expected = np.zeros_like(right)
        expected[free] = np.linalg.solve(Q[np.ix_(free, free)], right[free])
        assert_allclose(found.solve(right), expected, atol=1e-9)


def test_one_scratch_serves_many_programmes():
    scratch = scratch_for(40)
    for seed in range(3):
        Q = random_hessian(seed)
        assert_allclose(nonnegative_qp(Q, scratch=scratch), nonnegative_qp(Q), atol=1e-12)


@pytest.mark.parametrize("error", [0.0, 1e-7, 0.3])  # exact, refined, and of no use
def test_a_root_changes_nothing_but_the_work(error):
    rng = np.random.default_rng(2)
    columns, diagonal = rng.normal(size=(60, 5)), rng.uniform(0.01, 1, size=60)
    Q = columns @ columns.T + np.diag(diagonal)
    near = Root(columns + error * rng.normal(size=columns.shape), diagonal)
    found = nonnegative_qp(Q, root=near)
    assert_allclose(found, nonnegative_qp(Q), atol=1e-9)
    assert 0 < np.count_nonzero(found) < len(Q)
