"""How a column acts: the average probability of a class if every row had this value in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._numbers import read_count
from pnulearn._problem.inputs import read_random_state
from pnulearn.inspection._importance import (
    Group,
    cells,
    column_names,
    read_groups,
    read_rows,
    refuse_unfitted,
    replace_columns,
    take_rows,
)

N_POINTS, N_ROWS = 12, 300
TAIL = 0.02  # beyond, values are so rare that the model knows little about them


@dataclass(frozen=True, eq=False)
class Effect:
    """Average probabilities over the values of one column.

    Parameters
    ----------
    column : str
        The column.
    values : list
        Its values: numbers in order, or categories, most frequent first.
    average : array (classes, values)
        Average probability of each class, or of the positive one of two.
    low, high : array (classes, values)
        Least and greatest average over several models; the average itself if there is but one.
    classes : list
        Names of the classes.
    """

    column: str
    values: list[Any]
    average: AnyArray
    low: AnyArray
    high: AnyArray
    classes: list[Any]

    @property
    def is_ordered(self) -> bool:
        """Whether the values are numbers."""
        return all(isinstance(value, float) for value in self.values)

    @property
    def span(self) -> float:
        """Greatest difference that the column makes to an average."""
        return float(np.ptp(self.average, axis=1).max())


def column_effect(
    model: Any, X: Any, column: Any, *, n_points: int = N_POINTS, n_rows: int = N_ROWS, random_state: Any = None
) -> Effect:
    """Partial dependence of the predicted probability on one column, over values that occur in it.

    Parameters
    ----------
    model : classifier
        Any fitted classifier with predict_proba, or a pipeline that takes X as you know it.
    X : array, sparse matrix or data frame (rows, columns)
        Rows to average over.
    column : str or int
        The column.
    n_points : int
        Values to look at: spread evenly over the rows, or the most frequent ones.
    n_rows : int
        Rows to average over, a random choice if X has more.
    random_state : int, RandomState or None
        Seed; an int makes the result repeatable.
    """
    refuse_unfitted(model)
    n_points, n_rows, X = read_count("n_points", n_points), read_count("n_rows", n_rows), read_rows(X)
    ((_, places),) = read_groups(X, {"column": [column]}).items()
    values = cells(X, places[0])
    shown = choose_rows(values, n_points)
    if not len(shown):
        raise ValueError(f"Column {column!r} has no value: all of its cells are missing or NaN.")
    some = sample_rows(X, n_rows, read_random_state(random_state))
    named = [as_value(values[row]) for row in shown]
    return trace_effect([model], X, some, column_names(X)[places[0]], places, shown, named)


def trace_effect(
    models: Sequence[Any], X: Any, some: AnyArray, name: str, places: Group, shown: AnyArray, values: list[Any]
) -> Effect:
    """The effect of columns at these places, with values from the rows `shown`, averaged over `some` rows."""
    part = take_rows(X, some)
    curves = np.array(
        [
            [_probability(model, replace_columns(part, places, take_rows(X, np.full(len(some), row)))) for row in shown]
            for model in models
        ]
    ).transpose(0, 2, 1)
    classes = np.asarray(models[0].classes_).tolist()
    if len(classes) == 2:
        curves, classes = curves[:, 1:], classes[1:]
    return Effect(name, values, curves.mean(axis=0), curves.min(axis=0), curves.max(axis=0), classes)


def choose_rows(values: AnyArray, n_points: int = N_POINTS) -> AnyArray:
    """Rows whose values stand for all: quantiles of numbers in order, else the most frequent values.

    >>> choose_rows(np.array(["b", "a", "b", "c", "b", "a"], dtype=object), 2).tolist()
    [0, 1]
    >>> choose_rows(np.array([3.0, 1.0, 2.0, np.nan])).tolist()
    [1, 2, 0]
    """
    present = np.array([value is not None and value == value for value in values.tolist()])
    rows = np.flatnonzero(present)
    if values.dtype.kind in "fiub":
        order = rows[np.argsort(values[rows], kind="stable")]
        if len(np.unique(values[rows])) > n_points:
            places = np.linspace(TAIL, 1 - TAIL, n_points) * (len(order) - 1)
            order = order[np.round(places).astype(int)]
        return order[np.unique(values[order], return_index=True)[1]]
    texts = np.array([str(value) for value in values[rows].tolist()])
    _, first, counts = np.unique(texts, return_index=True, return_counts=True)
    return rows[first[np.argsort(-counts, kind="stable")][:n_points]]


def sample_rows(X: Any, n_rows: int, random_state: Any) -> AnyArray:
    """Row numbers, all or a random choice."""
    total = np.shape(X)[0]
    return np.arange(total) if total <= n_rows else np.sort(random_state.choice(total, n_rows, replace=False))


def as_value(value: Any) -> Any:
    """Numbers as float, all else as text."""
    return float(value) if isinstance(value, int | float | np.number) and not isinstance(value, bool) else str(value)


def _probability(model: Any, X: Any) -> AnyArray:
    if not hasattr(model, "predict_proba"):
        raise TypeError(f"{type(model).__name__} has no predict_proba, of which an effect is the average.")
    average: AnyArray = np.asarray(model.predict_proba(X)).mean(axis=0)
    return average
