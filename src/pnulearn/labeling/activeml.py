"""Strategies of scikit-activeml, as parts of a mixture."""

from __future__ import annotations

from typing import Any

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._problem.labels import UNLABELED
from pnulearn.labeling.strategies import State, Strategy


def from_skactiveml(query_strategy: Any, *, sharpness: float = 4.0, **arguments: Any) -> Strategy:
    """A strategy from one of `skactiveml.pool`: the greater its utility of a row, the likelier the row.

    scikit-activeml takes the row of greatest utility; nothing then says how likely other rows were. Here utilities
    become probabilities: scaled to [0, 1] over the rows that are left, to the power of `sharpness`.

    Parameters
    ----------
    query_strategy : query strategy
        From `skactiveml.pool`, such as `UncertaintySampling()`.
    sharpness : float
        How strongly rows of great utility are preferred; infinity takes the greatest.
    **arguments : object
        Further arguments of its `query`, such as `clf` for strategies that need a classifier of scikit-activeml.
    """

    def strategy(model: Any, X: Any, state: State) -> AnyArray:
        y = np.where(state.codes == UNLABELED, np.nan, state.codes.astype(float))
        left = np.flatnonzero(state.left)
        if not len(left) or np.isnan(y).all():
            return np.ones(len(state.left))
        _, utilities = query_strategy.query(X, y, candidates=left, return_utilities=True, **arguments)
        useful = np.nan_to_num(np.asarray(utilities, dtype=float)[0][left], nan=-np.inf, neginf=-np.inf)
        chances = np.zeros(len(state.left))
        chances[left] = _sharpen(useful, sharpness)
        return chances

    strategy.__name__ = type(query_strategy).__name__
    return strategy


def _sharpen(utilities: AnyArray, sharpness: float) -> AnyArray:
    """Utilities as chances: from 0 for the least to 1 for the greatest, then to a power."""
    finite = np.isfinite(utilities)
    low, high = (utilities[finite].min(), utilities[finite].max()) if finite.any() else (0.0, 0.0)
    if high <= low:
        return np.ones(len(utilities))
    scaled = np.where(finite, (utilities - low) / (high - low), 0.0)
    return (scaled >= 1).astype(float) if np.isinf(sharpness) else scaled**sharpness + 1e-9
