"""What the two kinds of errors cost."""

from __future__ import annotations

from typing import Any

import numpy as np

EQUAL_COSTS = (1.0, 1.0)


def read_costs(costs: Any) -> tuple[float, float]:
    """Two positive, finite costs.

    >>> read_costs((5, 1))
    (5.0, 1.0)
    """
    try:
        values = np.asarray(costs, dtype=float)
    except (TypeError, ValueError):
        values = np.zeros(0)
    if values.shape != (2,) or not (np.isfinite(values).all() and (values > 0).all()):
        raise ValueError(f"costs must be two positive numbers, of a missed positive and a false alarm, got {costs!r}.")
    return float(values[0]), float(values[1])


def weighted_prior(prior: float, costs: tuple[float, float]) -> float:
    """The prior of a population in which every class counts what its errors cost: c_fn θ / (c_fn θ + c_fp (1 − θ)).

    >>> weighted_prior(0.5, (4.0, 1.0))
    0.8
    """
    return costs[0] * prior / (costs[0] * prior + costs[1] * (1 - prior))
