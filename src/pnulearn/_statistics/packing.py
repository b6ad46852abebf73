"""Symmetric matrices as their upper triangles, row by row."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from pnulearn._arrays import AnyArray


@lru_cache(maxsize=4)
def triangle(size: int) -> AnyArray:
    """Places of the upper triangle, row by row, in a flattened matrix of that size."""
    return np.flatnonzero(np.triu(np.ones((size, size), dtype=bool)))


def unpack(packed: AnyArray) -> AnyArray:
    """The symmetric matrix whose upper triangle was packed.

    >>> unpack(np.array([1.0, 2.0, 3.0])).tolist()
    [[1.0, 2.0], [2.0, 3.0]]
    """
    size = int((np.sqrt(8 * packed.shape[-1] + 1) - 1) / 2)
    full = np.zeros((size, size))
    full.reshape(-1)[triangle(size)] = packed
    return full + np.triu(full, 1).T
