"""The candidates of a search: what a hyper-parameter may be, and every combination."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

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
    try:
        values = np.atleast_1d(np.asarray(value, dtype=float))
    except (TypeError, ValueError):
        values = np.array([])
    lowest = "at least 0" if zero else "greater than 0"
    if values.ndim != 1 or values.size == 0 or not np.isfinite(values).all():
        raise ValueError(f"{name} must be None, a number or a sequence of numbers, got {value!r}.")
    if (values < 0).any() or (not zero and (values == 0).any()):
        raise ValueError(f"{name} must be {lowest}, got {value!r}.")
    if (values > LARGEST).any() or ((values > 0) & (values < SMALLEST)).any():
        raise ValueError(f"{name} must lie between {SMALLEST:g} and {LARGEST:g}, got {value!r}.")
    return values.tolist()
