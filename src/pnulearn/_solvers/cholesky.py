"""Cholesky factors straight from LAPACK: on small matrices SciPy's checks take longer than the work."""

from __future__ import annotations

from scipy.linalg import LinAlgError
from scipy.linalg.lapack import dpotrf, dpotrs

from pnulearn._arrays import AnyArray


def factorize(matrix: AnyArray) -> AnyArray:
    """The factor of a symmetric positive definite matrix of which the lower triangle is read.

    >>> import numpy as np
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
