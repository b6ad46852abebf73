"""Cholesky factors straight from LAPACK: on small matrices SciPy's checks take longer than the work."""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError
from scipy.linalg.lapack import dpotrf, dpotrs, dpstrf

from pnulearn._arrays import AnyArray


def factorize(matrix: AnyArray) -> AnyArray:
    """The factor of a symmetric positive definite matrix of which the lower triangle is read.

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
    """R with RR' = gram up to `tolerance` in every entry, by as few columns as pivoting needs.

    The square of a column's greatest entry is what every entry was off by before it joined; it never grows.

    >>> narrow_root(np.array([[1.0, 1.0], [1.0, 1.0]]), 1e-10).tolist()
    [[1.0], [1.0]]
    """
    factor, order, rank, _ = dpstrf(gram, lower=1, tol=tolerance)
    root = np.empty((len(gram), rank))
    root[order - 1] = np.tril(factor[:, :rank])
    return root
