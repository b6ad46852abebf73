"""Missing cells: whether a column has so many that being filled says something of its own."""

from __future__ import annotations

import numpy as np

from pnulearn._arrays import AnyArray

OFTEN = 0.05
FEWEST = 5  # filled and empty cells


def often_missing(missing: AnyArray) -> bool:
    """
    >>> often_missing(np.arange(100) < 10), often_missing(np.arange(100) < 3)
    (True, False)
    """
    share = missing.mean()
    return bool(min(share, 1 - share) >= OFTEN and min(missing.sum(), (~missing).sum()) >= FEWEST)


def append_filled(features: AnyArray, missing: AnyArray, flagged: bool) -> AnyArray:
    """Features (rows, n) of a column, with one more, 1 where its cell is filled, if the column is flagged."""
    features = features.reshape(len(missing), -1)
    return np.column_stack([features, ~missing]) if flagged else features


def say_unknown(name: str, strange: list[str], what: str = "they are treated as missing") -> list[str]:
    """A remark about cells that a model has not met."""
    if not strange:
        return []
    shown = ", ".join(map(repr, strange[:3])) + (", ..." if len(strange) > 3 else "")
    return [f"Column {name!r} has values the model has never seen ({shown}); {what}."]
