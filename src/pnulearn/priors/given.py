"""What a given `prior=` may be, decided here for the whole package.

A number or a share for every class is taken as certain. A pair (low, high), a distribution from `scipy.stats` and a
`PriorEstimate` say how sure one is.
"""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from typing import Any

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._intervals.posterior_grids import distribution_mass
from pnulearn.priors.estimate import PriorEstimate


def read_prior(prior: Any, classes: AnyArray | None = None) -> PriorEstimate:
    """Any form of a given prior as an estimate; `classes` are needed to read a mapping.

    >>> print(read_prior((0.1, 0.3)))
    0.19 [0.10, 0.30] (between 0.1 and 0.3, 90% interval)
    """
    if isinstance(prior, PriorEstimate):
        return _fitting(prior, classes)
    if is_vague(prior):
        if classes is not None and len(classes) > 2:
            raise ValueError(
                f"y has {len(classes)} classes, and a range or a distribution describes the share of one of two. Pass "
                "a mapping from class to share."
            )
        return _from_range(prior) if isinstance(prior, tuple) else _from_distribution(prior)
    if isinstance(prior, Mapping) and classes is None:
        raise TypeError(f"prior must be a number between 0 and 1 here, got {prior!r}.")
    if classes is None:
        return PriorEstimate.known(read_share(prior))
    shares = read_shares(prior, classes)
    return PriorEstimate.known(float(shares[1]) if len(classes) == 2 else shares)


def is_vague(prior: Any) -> bool:
    """Whether this is a range or a distribution: knowledge that data may add to."""
    return isinstance(prior, tuple) or hasattr(prior, "cdf")


def _from_range(prior: Any) -> PriorEstimate:
    if len(prior) != 2:
        raise ValueError(f"A range for prior has two ends, e.g. prior=(0.1, 0.3), got {prior!r}.")
    low, high = (read_share(end, "Both ends of prior") for end in prior)
    if not low < high:
        raise ValueError(f"The lower end of prior comes first, e.g. prior=(0.1, 0.3), got {prior!r}.")
    return PriorEstimate.of_range(low, high)


def _from_distribution(prior: Any) -> PriorEstimate:
    name = getattr(getattr(prior, "dist", None), "name", type(prior).__name__)
    return PriorEstimate.of_mass(distribution_mass(prior), f"a {name} distribution")


def _fitting(prior: PriorEstimate, classes: AnyArray | None) -> PriorEstimate:
    n_shares = len(prior.shares)
    n_classes = 2 if classes is None else len(classes)
    if n_shares != n_classes:
        raise ValueError(f"The estimate given as prior is for {n_shares} classes, and there are {n_classes}.")
    return prior


def read_share(value: Any, name: str = "prior") -> float:
    """A number strictly between 0 and 1.

    >>> read_share(0.3)
    0.3
    """
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} must be a number between 0 and 1, got {value!r}.")
    share = float(value)
    if not 0 < share < 1:
        hint = f" Did you mean {share / 100:g}?" if 2 <= share < 100 else ""
        raise ValueError(f"{name} must lie strictly between 0 and 1, got {value!r}.{hint}")
    return share


def read_shares(prior: Any, classes: AnyArray) -> AnyArray:
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


def _from_mapping(prior: Mapping[Any, Any], names: list[Any]) -> AnyArray:
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
