"""Which row to label next: functions (model, X, state) -> probabilities."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.sparse import issparse

from pnulearn._arrays import AnyArray
from pnulearn._problem.labels import UNLABELED
from pnulearn.labeling._draws import RANDOM

# How far every row is from the rows that were asked, kept up to date row by row.

SAMPLE = 500  # rows whose distances say what is near


class KernelDistance:
    """One minus the greatest value of a Gaussian kernel between each row and any row seen.

    Parameters
    ----------
    X : array or sparse matrix (rows, columns)
        Features.
    """

    def __init__(self, X: Any) -> None:
        self._X = X
        self._norms = np.asarray(X.multiply(X).sum(axis=1)).ravel() if issparse(X) else np.einsum("ij,ij->i", X, X)
        some = np.linspace(0, X.shape[0] - 1, min(SAMPLE, X.shape[0])).astype(int)
        between = self._to(some[: len(some) // 2 + 1])[some]
        positive = between[between > 0]
        self._scale = float(np.median(positive)) if positive.size else 1.0
        self._nearest = np.full(X.shape[0], np.inf)
        self._seen: set[int] = set()

    def see(self, rows: AnyArray) -> AnyArray:
        """The distances after these rows, of which any may have been seen before.

        Parameters
        ----------
        rows : array of int
            Row numbers.
        """
        new = [int(row) for row in rows if int(row) not in self._seen]
        if new:
            self._seen.update(new)
            self._nearest = np.minimum(self._nearest, self._to(np.array(new)).min(axis=1))
        return 1 - np.exp(-self._nearest / self._scale) if self._seen else np.ones(len(self._nearest))

    def _to(self, rows: AnyArray) -> AnyArray:
        """Squared distances of all rows to these."""
        products = self._X @ self._X[rows].T
        products = products.toarray() if issparse(products) else products
        return np.maximum(self._norms[:, None] - 2 * products + self._norms[rows], 0)


# Which row to label next: functions (model, X, state) -> probabilities.

Strategy = Callable[[Any, Any, "State"], AnyArray]
SHARPNESS = 4.0  # how strongly the rows that a strategy likes best are preferred to others
LEAST_RANDOM = 0.1  # below it, single rows weigh more than ten and intervals say nothing


@dataclass(frozen=True)
class State:
    """The data available to a strategy.

    Parameters
    ----------
    codes : array of int (rows,)
        The class of every labelled row, −1 for all others.
    left : array of bool (rows,)
        Rows that can be asked.
    probability : array (rows, classes) or None
        Class probabilities by the model, None before there is one.
    n_classes : int
        How many classes there are.
    distance : array (rows,) or None
        One minus the greatest kernel value between a row and any row that was asked.
    trust : float
        Shrinkage factor of the model's probabilities, from held-out rows, between 0 and 1.
    """

    codes: AnyArray
    left: AnyArray
    probability: AnyArray | None
    n_classes: int
    distance: AnyArray | None = field(default=None, repr=False)
    trust: float = 1.0


def at_random(model: Any, X: Any, state: State) -> AnyArray:
    """Uniform probabilities: these rows represent the whole table.

    Parameters
    ----------
    model : classifier or None
        Not used.
    X : array (rows, columns)
        Not used.
    state : State
        Which rows there are.
    """
    return np.ones(len(state.left))


def margin(model: Any, X: Any, state: State) -> AnyArray:
    """Rows with a small margin between the two likeliest classes, mixed with uniform sampling as `trust` decreases.

    The margins of a poor model are noise; rows drawn at random then improve it more.

    Parameters
    ----------
    model : classifier or None
        Not used: `state` has its probabilities.
    X : array (rows, columns)
        Not used.
    state : State
        With the model's probabilities.
    """
    if state.probability is None:
        return np.ones(len(state.left))
    two = np.partition(state.probability, -2, axis=1)[:, -2:]
    unsure = np.clip(1 - (two[:, 1] - two[:, 0]), 0, 1) ** SHARPNESS + 1e-9
    return state.trust * unsure / unsure.mean() + 1 - state.trust


def risk_change(model: Any, X: Any, state: State) -> AnyArray:
    """Rows whose label is expected to change the estimated risk most.

    A label of class c moves its part of the risk, θ_c E_c[ℓ], by θ_c (ℓ − E_c[ℓ]) / (n_c + 1), ℓ being the squared
    loss of the row; the expectation is over the model's own probabilities. Rare classes and surprises weigh most.

    Parameters
    ----------
    model : classifier or None
        Not used: `state` has its probabilities.
    X : array (rows, columns)
        Not used.
    state : State
        With the model's probabilities and the labels so far.
    """
    if state.probability is None:
        return np.ones(len(state.left))
    loss = (1 - state.probability) ** 2
    change = np.zeros(len(loss))
    for code in range(state.n_classes):
        of_class = state.codes == code
        share, mean = state.probability[:, code].mean(), loss[of_class, code].mean() if of_class.any() else 0.25
        change += state.probability[:, code] * share * np.abs(loss[:, code] - mean) / (of_class.sum() + 1)
    top = change.max()
    return (change / top) ** 2 + 1e-9 if top > 0 else np.ones(len(loss))


def diversity(model: Any, X: Any, state: State) -> AnyArray:
    """Rows far, by kernel distance, from every row that was asked.

    Parameters
    ----------
    model : classifier or None
        Not used.
    X : array (rows, columns)
        Not used: `state` has the distances.
    state : State
        With the distances.
    """
    return np.ones(len(state.left)) if state.distance is None else state.distance**2 + 1e-9


STRATEGIES: dict[str, Strategy] = {
    RANDOM: at_random,
    "margin": margin,
    "risk_change": risk_change,
    "diversity": diversity,
}
NO_DISTANCE = {RANDOM, "margin", "risk_change"}  # all others may look at distances, which take time to keep
MIXTURE: dict[str, float] = {RANDOM: 0.5, "margin": 0.5}


def read_mixture(mixture: Mapping[str | Strategy, float] | str | Strategy | None) -> dict[str, tuple[Strategy, float]]:
    """Names, functions and shares that sum to one, from what a user may say.

    Parameters
    ----------
    mixture : mapping, str, function or None
        Shares by name or function; one strategy for all rows that are not drawn at random; None for the default.

    Examples
    --------
    >>> {name: share for name, (_, share) in read_mixture({"random": 3, "margin": 1}).items()}
    {'random': 0.75, 'margin': 0.25}
    """
    asked: dict[Any, float] = dict(MIXTURE)
    if isinstance(mixture, Mapping):
        asked = dict(mixture)
    elif mixture is not None:
        asked = {RANDOM: 1.0} if mixture in (RANDOM, at_random) else {RANDOM: 0.5, mixture: 0.5}
    parts = {_name(key): (_find(key), float(share)) for key, share in asked.items()}
    shares = [share for _, share in parts.values()]
    if not all(np.isfinite(share) and share >= 0 for share in shares) or not sum(shares) > 0:
        raise ValueError(f"Shares of a mixture are numbers from 0 on, not all zero; got {asked}.")
    return {name: (strategy, share / sum(shares)) for name, (strategy, share) in parts.items()}


def _name(key: str | Strategy) -> str:
    if isinstance(key, str):
        return key
    known = [name for name, strategy in STRATEGIES.items() if strategy is key]
    return known[0] if known else getattr(key, "__name__", type(key).__name__)


def _find(key: str | Strategy) -> Strategy:
    if callable(key):
        return key
    if key not in STRATEGIES:
        raise ValueError(f"No strategy is called {key!r}. Choose among {', '.join(STRATEGIES)}, or pass a function.")
    return STRATEGIES[key]


# Strategies of scikit-activeml, as parts of a mixture.


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
