"""Linear algebra for the solvers: Cholesky factors, single precision, one matrix with many ridge penalties."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy.linalg import LinAlgError
from scipy.linalg.lapack import dormqr, dposv, dpotrf, dpotrs, dpstrf, dptsv, dsytrd, dsytrd_lwork

from pnulearn._arrays import AnyArray

# Cholesky factors by LAPACK directly: for small matrices SciPy's input checks take longer than the factorisation.


def factorize(matrix: AnyArray) -> AnyArray:
    """The Cholesky factor of a symmetric positive definite matrix, of which only the lower triangle is read.

    >>> solve_factorized(factorize(np.array([[4.0, 2.0], [2.0, 3.0]])), np.array([2.0, 3.0])).round(12)
    array([0., 1.])
    """
    lower = matrix.flags.f_contiguous
    factor, failed = dpotrf(matrix if lower else matrix.T, lower=int(lower), clean=0, overwrite_a=1)
    if failed:
        raise LinAlgError("not positive definite")
    return factor if lower else factor.T


def solve_factorized(factor: AnyArray, right: AnyArray) -> AnyArray:
    """The solution of a system whose matrix was factorized, for a vector or for columns."""
    lower = factor.flags.f_contiguous
    return dpotrs(factor if lower else factor.T, right, lower=int(lower))[0]


def narrow_root(gram: AnyArray, tolerance: float) -> AnyArray:
    """R with RR' = gram up to `tolerance` in every entry, by a pivoted Cholesky factorisation stopped early.

    The square of a column's greatest entry bounds the error of all entries before that column is added.

    >>> narrow_root(np.array([[1.0, 1.0], [1.0, 1.0]]), 1e-10).tolist()
    [[1.0], [1.0]]
    """
    factor, order, rank, _ = dpstrf(gram, lower=1, tol=tolerance)
    root = np.empty((len(gram), rank))
    root[order - 1] = np.tril(factor[:, :rank])
    return root


# Matrices in single precision.

TINY = 1e-8  # relative to the greatest entry: below single precision


def single_precision(matrix: AnyArray) -> AnyArray:
    """The matrix in C order and float32, with entries that are negligible beside the greatest one set to zero.

    Narrow kernels have entries below 1e-38, and arithmetic with such denormal numbers takes thirty times as long.

    >>> single_precision(np.array([1.0, 1e-4, 1e-40])).tolist()
    [1.0, 9.999999747378752e-05, 0.0]
    """
    size = np.abs(matrix)
    return np.ascontiguousarray(np.where(size < TINY * size.max(initial=0), 0, matrix), dtype=np.float32)


# One symmetric matrix, many penalties: (A + p I) x = r for every p, from one tridiagonal form.

FEWEST_SHIFTS = 3  # with fewer, a Cholesky factorisation for each is cheaper
PANEL = 64


def solve_shifted(matrix: AnyArray, shifts: AnyArray, right: AnyArray) -> AnyArray:
    """Solutions (shifts, b, columns) of (A + p I) x = r, where A + p I must be positive definite.

    >>> A, r = np.diag([1.0, 3.0]), np.ones((2, 1))
    >>> solve_shifted(A, np.array([1.0, 2.0, 3.0]), r)[:, :, 0].round(3).tolist()
    [[0.5, 0.25], [0.333, 0.2], [0.25, 0.167]]
    """
    if len(shifts) < FEWEST_SHIFTS or len(matrix) < 2:
        return np.stack([_solve_one(matrix, float(shift), right) for shift in shifts])
    b, k = right.shape
    reflectors, diagonal, beside, tau, failed = dsytrd(matrix, lower=1, lwork=_best_lwork(b))
    _refuse_failure(failed)
    reflectors = np.asfortranarray(reflectors[1:, :-1])
    turned = _reflect(reflectors, tau, right, "T")
    solutions = np.empty((b, len(shifts) * k), order="F")
    for number, shift in enumerate(shifts):
        _, _, solution, failed = dptsv(diagonal + shift, beside, turned)
        _refuse_failure(failed)
        solutions[:, number * k : (number + 1) * k] = solution
    solutions = _reflect(reflectors, tau, solutions, "N")
    return solutions.reshape(b, len(shifts), k).transpose(1, 0, 2)


def _solve_one(matrix: AnyArray, shift: float, right: AnyArray) -> AnyArray:
    shifted = np.array(matrix, order="F")
    shifted[np.diag_indices_from(shifted)] += shift
    _, solution, failed = dposv(shifted, right, lower=1, overwrite_a=1)
    _refuse_failure(failed)
    return solution


def _reflect(reflectors: AnyArray, tau: AnyArray, columns: AnyArray, transposed: str) -> AnyArray:
    """Q or Q′ times columns; Q does not change the first row."""
    turned = np.array(columns, order="F")
    turned[1:], _, failed = dormqr("L", transposed, reflectors, tau, turned[1:], PANEL * max(1, columns.shape[1]))
    _refuse_failure(failed)
    return turned


def _refuse_failure(failed: int) -> None:
    if failed:
        raise LinAlgError("not positive definite")


@lru_cache(maxsize=64)
def _best_lwork(b: int) -> int:
    return int(dsytrd_lwork(b, lower=1)[0])
