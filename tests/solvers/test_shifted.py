"""One tridiagonal form against a separate solve for every penalty."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import LinAlgError

from pnulearn._solvers.linear_algebra import solve_shifted


@pytest.mark.parametrize("b", [1, 2, 5, 80])
@pytest.mark.parametrize("shifts", [[1e-4], [1e-4, 1.0, 30.0, 400.0]], ids=len)
@pytest.mark.parametrize("columns", [1, 3])
def test_every_penalty_is_solved(b, shifts, columns):
    rng = np.random.default_rng(b)
    root, right = rng.normal(size=(b, 2 * b)), rng.normal(size=(b, columns))
    A = root @ root.T / b
    before = A.copy()
    found = solve_shifted(A, np.array(shifts), right)
    assert_allclose(found, np.stack([np.linalg.solve(A + p * np.eye(b), right) for p in shifts]), rtol=1e-9, atol=1e-11)
    assert_allclose(A, before, rtol=0)


@pytest.mark.parametrize("shifts", [[0.5], [0.5, 0.6, 0.7]], ids=len)
def test_what_is_not_positive_definite_is_said(shifts):
    with pytest.raises(LinAlgError):
        solve_shifted(np.diag([1.0, -1.0, 2.0]), np.array(shifts), np.ones((3, 1)))
