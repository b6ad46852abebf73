"""The candidates of a search: what a hyper-parameter may be, and every combination."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pnulearn._numbers import read_numbers

LARGEST, SMALLEST = 1e30, 1e-30  # what lies beyond makes systems that have no solution in floating point
STRENGTHS = tuple(10.0**power for power in range(-5, 3))  # the paper's grid for every regularisation weight

Candidate = dict[str, Any]
Axes = Mapping[str, Sequence[Any]]  # the values of every hyper-parameter, bandwidth first


def combine(axes: Axes) -> list[Candidate]:
    """Every combination; neighbours share a bandwidth, so that they can share a kernel matrix."""
    return [dict(zip(axes, choice, strict=True)) for choice in product(*axes.values())]


def candidates(
    name: str, value: Any, default: Sequence[float] | Callable[[], ArrayLike] = STRENGTHS, *, zero: bool = False
) -> list[float]:
    """The values to try: `default` for None, else the user's number or numbers, checked.

    >>> candidates("alpha", 0.1), candidates("alpha", [1, 2])
    ([0.1], [1.0, 2.0])
    """
    if value is None:
        return np.asarray(default() if callable(default) else default, dtype=float).tolist()
    return read_numbers(name, value, SMALLEST, LARGEST, zero=zero).tolist()
