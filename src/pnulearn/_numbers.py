"""Single numbers as arguments: each is what its name needs, or refused with what was found."""

from __future__ import annotations

from math import inf, isfinite
from numbers import Integral, Real
from typing import Any


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


def _span(low: float, high: float, ends: bool) -> str:
    if low == -inf:
        return ""
    if high == inf:
        return f", at least {low:g}" if ends else f" greater than {low:g}"
    return f" {'' if ends else 'strictly '}between {low:g} and {high:g}"
