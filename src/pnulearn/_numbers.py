"""Numbers as arguments: each is what its name needs, or refused with what was found."""

from __future__ import annotations

from math import inf, isfinite
from numbers import Integral, Real
from typing import Any

import numpy as np

from pnulearn._arrays import AnyArray


def read_number(name: str, value: Any, low: float = -inf, high: float = inf, *, ends: bool = True) -> float:
    """A finite number between low and high; the ends belong to it or not.

    >>> read_number("delta", 0.1, 0, 1)
    0.1
    """
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number{_span(low, high, ends)}, got {value!r}.")
    number = float(value)
    if not isfinite(number) or not (low <= number <= high if ends else low < number < high):
        hint = f" Did you mean {number / 100:g}?" if name == "prior" and 1 < number < 100 else ""
        raise ValueError(f"{name} must be a number{_span(low, high, ends)}, got {value!r}.{hint}")
    return number


def read_count(name: str, value: Any, least: int = 1) -> int:
    """A whole number, at least that.

    >>> read_count("n_labels", 15)
    15
    """
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be a whole number, at least {least}, got {value!r}.")
    if value < least:
        raise ValueError(f"{name} must be a whole number, at least {least}, got {value!r}.")
    return int(value)


def read_numbers(name: str, value: Any, low: float, high: float, *, zero: bool = False, why: str = "") -> AnyArray:
    """One number or several, each between low and high, or 0 where that is allowed; `why` tells the reason.

    >>> read_numbers("alpha", 0.1, 1e-9, 1).tolist(), read_numbers("entropy", [0, 1], 1e-9, 1, zero=True).tolist()
    ([0.1], [0.0, 1.0])
    """
    refusal = f"{name} must be a number or several{' that are 0 or lie' if zero else ''} between {low:g} and {high:g}"
    refusal += f"{', ' if why else ''}{why}, got {value!r}."
    try:
        array = np.atleast_1d(np.asarray(value, dtype=float))
    except (TypeError, ValueError):
        raise TypeError(refusal) from None
    inside = (array >= low) & (array <= high) | (zero & (array == 0))
    if array.ndim != 1 or not len(array) or not inside.all():
        raise ValueError(refusal)
    return array


def _span(low: float, high: float, ends: bool) -> str:
    if low == -inf:
        return ""
    if high == inf:
        return f", at least {low:g}" if ends else f" greater than {low:g}"
    return f" {'' if ends else 'strictly '}between {low:g} and {high:g}"
