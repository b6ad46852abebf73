"""Class shares as the point of a convex hull that is nearest to the origin."""

from __future__ import annotations

import numpy as np
from scipy.optimize import nnls

from pnulearn._arrays import AnyArray


def least_norm_shares(columns: AnyArray) -> AnyArray:
    """argmin |C θ|² over θ ≥ 0, Σ θ = 1, exactly.

    It has the direction of the non-negative least squares solution of C β = 0, Σ β = 1: for β = t θ the best scale t
    leaves |C θ|² / (1 + |C θ|²), which grows with |C θ|².

    >>> least_norm_shares(np.array([[1.0, -3.0]]))
    array([0.75, 0.25])
    """
    ones = np.ones((1, columns.shape[1]))
    shares, _ = nnls(np.vstack([columns, ones]), np.append(np.zeros(len(columns)), 1.0))
    return shares / shares.sum()
