"""Matrices in single precision."""

from __future__ import annotations

import numpy as np

from pnulearn._arrays import AnyArray

TINY = 1e-8  # beside one: what single precision loses


def single_precision(matrix: AnyArray) -> AnyArray:
    """Row by row in memory, with zero for what is lost beside the greatest entry.

    Entries of narrow kernels are below 1e-38, and arithmetic with such numbers takes thirty times as long.

    >>> single_precision(np.array([1.0, 1e-4, 1e-40])).tolist()
    [1.0, 9.999999747378752e-05, 0.0]
    """
    size = np.abs(matrix)
    return np.ascontiguousarray(np.where(size < TINY * size.max(initial=0), 0, matrix), dtype=np.float32)
