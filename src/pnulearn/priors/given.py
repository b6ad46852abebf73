"""What a given `prior=` may be, decided here for the whole package: a number, or a share for every class."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray


def read_share(value: Any, name: str = "prior") -> float:
    """A number strictly between 0 and 1.

    >>> read_share(0.3)
    0.3
    """
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} must be a number between 0 and 1, got {value!r}.")
    share = float(value)
    if not 0 < share < 1:
        hint = f" Did you mean {share / 100:g}?" if 1 < share < 100 else ""
        raise ValueError(f"{name} must lie strictly between 0 and 1, got {value!r}.{hint}")
    return share


def read_shares(prior: Any, classes: NDArray) -> NDArray:
    """The share of every class, in the order of the classes, from the share of the positive one or from a mapping."""
    if isinstance(prior, Mapping):
        return _from_mapping(prior, classes.tolist())
    if len(classes) > 2:
        raise ValueError(
            f"y has {len(classes)} classes, so prior must name a share for each: "
            f"prior={{{', '.join(f'{name!r}: ...' for name in classes.tolist())}}}. Got {prior!r}."
        )
    share = read_share(prior)
    return np.array([1 - share, share])


def _from_mapping(prior: Mapping[Any, Any], names: list) -> NDArray:
    """Every class has a share, and they add up to one."""
    unknown = [name for name in prior if name not in names]
    if unknown:
        raise ValueError(f"prior names {unknown[0]!r}, which is not a class of y: {names}.")
    given = {name: read_share(prior[name]) for name in names if name in prior}
    missing = [name for name in names if name not in given]
    if missing:
        raise ValueError(f"prior has no share for class {missing[0]!r}; every class of {names} needs one.")
    shares = np.array([given[name] for name in names])
    if not np.isclose(shares.sum(), 1, atol=1e-6):
        raise ValueError(f"The shares in prior add up to {shares.sum():g}, not to 1: {dict(prior)!r}.")
    return shares / shares.sum()
