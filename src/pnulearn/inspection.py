"""Permutation importance and partial dependence of columns, for any classifier, from few labels and unlabelled rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from pnulearn._arrays import AnyArray
from pnulearn._intervals.closed_forms import borrowed_variance, t_half_width, welch_freedom
from pnulearn._numbers import read_count
from pnulearn._problem.alignment import refuse_misaligned
from pnulearn._problem.inputs import as_array, read_foreign, read_random_state
from pnulearn._problem.labels import Labels, decode_labels
from pnulearn.metrics._comparison import shared_mix
from pnulearn.metrics._estimate import Estimate
from pnulearn.priors._estimate import PriorEstimate
from pnulearn.priors._resolve import read_prior, read_share
from pnulearn.risks import pnu

__all__ = ["ColumnImportance", "Effect", "column_effect", "column_importance"]

# Columns of an array, sparse matrix or data frame: their names, and copies with replaced columns.

Group = Sequence[int]  # positions of the columns that are treated as one


def take_rows(X: Any, rows: Any) -> Any:
    """Some rows of an array, a sparse matrix, a data frame or a list."""
    return _safe_indexing(X, rows)


def read_rows(X: Any, n_rows: int | None = None) -> Any:
    """X as a table with at least one row, or with exactly `n_rows`."""
    X = read_foreign(X)
    X = as_array(X) if isinstance(X, list | tuple) else X
    if np.ndim(X) != 2 and not sparse.issparse(X):
        raise ValueError(f"Expected 2D array of rows and columns, got X of shape {np.shape(X)}.")
    found = int(np.shape(X)[0])
    if not found:
        raise ValueError("X has no rows.")
    if n_rows is not None and found != n_rows:
        raise ValueError(f"X has {found} rows and y {n_rows}: they must agree.")
    return X


def refuse_unfitted(model: Any) -> None:
    """Raise TypeError if the model is not a fitted classifier."""
    if not hasattr(model, "classes_"):
        raise TypeError(f"model must be a fitted classifier, got {model!r}.")


def read_groups(X: Any, columns: Mapping[str, Sequence[Any]] | None) -> dict[str, Group]:
    """Column positions by group name. Default: every column is its own group."""
    names = column_names(X)
    if columns is None:
        return {name: [place] for place, name in enumerate(names)}
    if not isinstance(columns, Mapping):
        raise TypeError(f"columns must map names to columns, such as {{'colour': [0, 1]}}, got {columns!r}.")
    return {str(name): [_place(column, names) for column in members] for name, members in columns.items()}


def column_names(X: Any) -> list[str]:
    """Names of a data frame's columns, else x0, x1, …"""
    names = getattr(X, "columns", None)
    return [str(name) for name in names] if names is not None else [f"x{place}" for place in range(np.shape(X)[1])]


def _place(column: Any, names: list[str]) -> int:
    if isinstance(column, int | np.integer) and 0 <= column < len(names):
        return int(column)
    if str(column) in names:
        return names.index(str(column))
    raise ValueError(f"There is no column {column!r} in X. Its columns are {', '.join(names[:8])}.")


def replace_columns(X: Any, places: Group, donors: Any) -> Any:
    """A copy of X with the columns at these positions taken from `donors`, a table with as many rows."""
    if sparse.issparse(X):
        taken = np.isin(np.arange(X.shape[1]), places).astype(float)
        return sparse.csr_array(X @ sparse.diags_array(1 - taken) + donors @ sparse.diags_array(taken))
    if hasattr(X, "with_columns"):  # polars
        return X.with_columns(donors[:, list(places)])
    if hasattr(X, "iloc"):  # pandas; whole columns are replaced to keep their dtypes
        copy = X.copy()
        for place in places:
            copy.isetitem(place, donors.iloc[:, place].set_axis(X.index))
        return copy
    copy = np.array(X)
    copy[:, places] = np.asarray(donors)[:, places]
    return copy


def cells(X: Any, place: int) -> Any:
    """One column as a plain array."""
    if sparse.issparse(X):
        return X[:, [place]].toarray().ravel()
    if hasattr(X, "with_columns"):
        return X[:, place].to_numpy()
    return np.asarray(X.iloc[:, place]) if hasattr(X, "iloc") else np.asarray(X)[:, place]


# Paired difference of the error rates of two decision rules in the population.


def estimate_rise(
    labels: Labels, prior: PriorEstimate, before: AnyArray, after: AnyArray, confidence: float
) -> Estimate:
    """Paired difference of two risks, averaged over repeats, with a Welch t interval."""
    if len(labels.classes) > 2:
        parts, drift = _gaps(weigh_classes(prior.shares), labels, before, after), 0.0
    else:
        mean = float(prior.mean)
        mix = shared_mix(mean, *(len(group) for group in labels.groups))
        parts = _gaps(weigh_samples(mean, mix), labels, before, after)
        # The risk is linear in the prior, so its values at two priors give the slope.
        ends = [_gaps(weigh_samples(end, mix), labels, before, after) for end in (0.25, 0.75)]
        near, far = (sum(float(gap.mean()) for gap, _ in end) for end in ends)
        drift = prior.spread * 2 * (far - near)
    value = sum(float(gap.mean()) for gap, _ in parts)
    variances = np.array([_variance_of_mean(gap, usual) for gap, usual in parts])
    stderr = float(np.hypot(np.sqrt(variances.sum()), drift))
    freedom = welch_freedom(variances, np.array([max(len(gap) - 1, 1) for gap, _ in parts]), stderr**2)
    half = t_half_width(stderr, freedom, confidence)
    return Estimate(value, stderr, value - half, value + half, confidence=confidence)


def _gaps(costs: AnyArray, labels: Labels, before: AnyArray, after: AnyArray) -> list[tuple[AnyArray, AnyArray]]:
    """For every non-empty group: contributions of its rows to the difference, and of U at the same costs."""
    unlabeled = labels.codes < 0
    groups = [(cost, labels.codes == code) for code, cost in zip([*range(len(labels.classes)), -1], costs, strict=True)]
    return [
        (_gap(cost, before[rows], after[:, rows]), _gap(cost, before[unlabeled], after[:, unlabeled]))
        for cost, rows in groups
        if rows.any()
    ]


def _gap(cost: AnyArray, before: AnyArray, after: AnyArray) -> AnyArray:
    return np.asarray(cost[after].mean(axis=0) - cost[before])


def _variance_of_mean(gap: AnyArray, usual: AnyArray) -> float:
    """Sample variance of the mean, or `borrowed_variance` if larger, because few equal values have variance zero."""
    own = float(gap.var(ddof=1)) / len(gap) if len(gap) > 1 else 0.0
    return max(own, borrowed_variance(gap, usual))


def weigh_samples(prior: float, mix: float) -> AnyArray:
    """Contribution of a row of N, P and U to the PNU risk if it is predicted negative, and if positive, (3, 2).

    A negative prediction has the loss of g, a positive one the loss of −g.
    """
    return pnu(prior, mix).table[[1, 0, 2]]


def weigh_classes(shares: AnyArray) -> AnyArray:
    """As `weigh_samples` for more classes: labelled rows are weighted by class shares; U, last, has weight zero."""
    return np.vstack([shares[:, None] * (1 - np.eye(len(shares))), np.zeros(len(shares))])


# Permutation importance: increase of the error rate in the population when a column is shuffled.

Scored = tuple[Any, AnyArray]  # a fitted model, and the rows that it predicts


@dataclass(frozen=True)
class ColumnImportance:
    """Effect of shuffling one column on the error rate and predictions of a model.

    Parameters
    ----------
    column : str
        The column.
    rise : Estimate
        Increase of the error rate in the population, with its interval.
    changed : float
        Share of all rows whose prediction changes. It needs no labels, so it is estimated more precisely.

    Examples
    --------
    >>> print(ColumnImportance("income", Estimate(0.11, 0.02, 0.07, 0.15), 0.24))
    income: error +11.0 points (95 % interval +7.0 to +15.0), 24 % of rows decided otherwise
    """

    column: str
    rise: Estimate
    changed: float

    def __str__(self) -> str:
        low, value, high = (100 * x for x in (self.rise.low, self.rise.value, self.rise.high))
        interval = f"{100 * self.rise.confidence:g} % interval {low:+.1f} to {high:+.1f}"
        moved = f"{100 * self.changed:.0f} % of rows decided otherwise"
        return f"{self.column}: error {value:+.1f} points ({interval}), {moved}"


def column_importance(
    model: Any,
    X: Any,
    y: ArrayLike,
    *,
    prior: Any,
    columns: Mapping[str, Sequence[Any]] | None = None,
    cv: Any = None,
    n_repeats: int = 5,
    confidence: float = 0.95,
    unlabeled: Any = None,
    pos_label: Any = None,
    random_state: Any = None,
) -> list[ColumnImportance]:
    """Permutation importance: the increase of the error rate when a column is shuffled. y may have unlabelled rows.

    Columns with a significant increase come first, in descending order. For the others the labels are too few to
    order them by the increase, so they are ordered by the share of predictions that change.

    Parameters
    ----------
    model : classifier
        Any fitted classifier, or a pipeline that accepts X.
    X : array, sparse matrix or data frame (rows, columns)
        Rows the model was not fitted to, or with `cv` those it was.
    y : array (rows,)
        Labels; missing values and `unlabeled` mark unlabelled rows.
    prior : float, (float, float), distribution or PriorEstimate
        Share of positives in the population; a mapping from class to share for more than two classes.
    columns : mapping, optional
        Groups of columns that are shuffled together, such as the features of one category, by name. By default every
        column is its own group.
    cv : splitter, optional
        Fit copies of the model, e.g. in the folds of PNUStratifiedKFold(train_on_unlabeled=True), so that no row is
        predicted by a model that was fitted to it.
    n_repeats : int
        Number of shuffles of every column.
    confidence : float
        Confidence level of the intervals.
    unlabeled : object, optional
        The value in y that marks unlabelled rows; missing values always do.
    pos_label : object, optional
        The positive class, by default that of the model.
    random_state : int, RandomState or None
        Seed; an int makes the result repeatable.
    """
    n_repeats = read_count("n_repeats", n_repeats)
    refuse_unfitted(model)
    if cv is not None and (isinstance(cv, str) or not hasattr(cv, "split")):
        raise TypeError(f"cv must be a splitter such as PNUStratifiedKFold(5, train_on_unlabeled=True), got {cv!r}.")
    refuse_misaligned(X=X, y=y)
    labels = _read_labels(model, y, unlabeled, pos_label)
    if not len(labels.labeled):
        raise ValueError("y has no labelled row, so the increase of the error cannot be estimated.")
    X = read_rows(X, len(labels.codes))
    held_out = [(model, np.arange(len(labels.codes)))] if cv is None else fit_folds(model, X, y, cv)
    return measure_importance(
        held_out,
        X,
        labels,
        read_prior(prior, labels.classes),
        read_groups(X, columns),
        n_repeats=n_repeats,
        confidence=read_share(confidence, "confidence"),
        random_state=read_random_state(random_state),
    )


def fit_folds(model: Any, X: Any, y: Any, cv: Any) -> list[Scored]:
    """A copy of the model per fold, with its held-out rows."""
    return [
        (clone(model).fit(take_rows(X, train), take_rows(y, train)), np.asarray(test)) for train, test in cv.split(X, y)
    ]


LARGEST = 50_000  # rows that are scored at once


def measure_importance(
    held_out: Iterable[Scored],
    X: Any,
    labels: Labels,
    prior: PriorEstimate,
    groups: Mapping[str, Group],
    *,
    n_repeats: int,
    confidence: float = 0.95,
    random_state: Any,
) -> list[ColumnImportance]:
    """`column_importance` from pairs of a model and its held-out rows; every row occurs once."""
    n_rows = len(labels.codes)
    before = np.zeros(n_rows, dtype=int)
    after = np.zeros((len(groups), n_repeats, n_rows), dtype=np.int32)
    for model, rows in held_out:
        decide, part = _decider(model, labels), take_rows(X, rows)
        before[rows] = decide(part)
        at_once = max(1, LARGEST // max(len(rows), 1))
        for column, places in enumerate(groups.values()):
            for first in range(0, n_repeats, at_once):
                last = min(first + at_once, n_repeats)
                shuffled = [random_state.permutation(len(rows)) for _ in range(first, last)]
                copies = take_rows(part, np.tile(np.arange(len(rows)), len(shuffled)))
                donors = take_rows(part, np.concatenate(shuffled))
                decided = decide(replace_columns(copies, places, donors)).reshape(len(shuffled), len(rows))
                after[column, first:last, rows] = decided.T
    found = []
    for name, decisions in zip(groups, after, strict=True):
        rise = estimate_rise(labels, prior, before, decisions, confidence)
        found.append(ColumnImportance(name, rise, float(np.mean(decisions != before))))
    return sorted(found, key=_rank)


def _rank(one: ColumnImportance) -> tuple[float, float]:
    """Sort key: significant increases first, then the share of changed predictions."""
    return -max(one.rise.value, 0.0) if one.rise.low > 0 else 0.0, -one.changed


def _read_labels(model: Any, y: ArrayLike, unlabeled: Any, pos_label: Any) -> Labels:
    """y encoded in the classes of the model; the positive one of two comes last."""
    classes = np.asarray(model.classes_)
    names = classes[classes != unlabeled] if unlabeled is not None else classes
    if pos_label is not None and len(names) == 2:
        names = np.array([*names[names != pos_label], pos_label], dtype=names.dtype)
    return decode_labels(y, unlabeled, classes=names)


def _decider(model: Any, labels: Labels) -> Callable[[Any], AnyArray]:
    """A function that returns the class codes of a model's predictions."""
    code = {name: place for place, name in enumerate(labels.classes.tolist())}
    return lambda X: np.array([code.get(name, -1) for name in np.asarray(model.predict(X)).tolist()])


# Partial dependence: average predicted probability if every row had the same value in a column.

N_POINTS, N_ROWS = 12, 300
TAIL = 0.02  # values beyond these quantiles are too rare for reliable predictions


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
        Smallest and largest average over several models; equal to the average for one model.
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
        """Largest difference between average probabilities over the values of the column."""
        return float(np.ptp(self.average, axis=1).max())


def column_effect(
    model: Any, X: Any, column: Any, *, n_points: int = N_POINTS, n_rows: int = N_ROWS, random_state: Any = None
) -> Effect:
    """Partial dependence of the predicted probability on one column, over values that occur in it.

    Parameters
    ----------
    model : classifier
        Any fitted classifier with predict_proba, or a pipeline that accepts X.
    X : array, sparse matrix or data frame (rows, columns)
        Rows to average over.
    column : str or int
        The column.
    n_points : int
        Number of values to evaluate: quantiles of a numeric column, or the most frequent categories.
    n_rows : int
        Number of rows to average over; a random subset if X has more.
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
    """The effect of columns at these positions, with values from the rows `shown`, averaged over the rows `some`."""
    part = take_rows(X, np.tile(some, len(shown)))  # all values at once: a call for every value takes ten times as long
    changed = replace_columns(part, places, take_rows(X, np.repeat(shown, len(some))))
    each = np.array([_probability(model, changed) for model in models])
    curves = each.reshape(len(models), len(shown), len(some), -1).mean(axis=2).transpose(0, 2, 1)
    classes = np.asarray(models[0].classes_).tolist()
    if len(classes) == 2:
        curves, classes = curves[:, 1:], classes[1:]
    return Effect(name, values, curves.mean(axis=0), curves.min(axis=0), curves.max(axis=0), classes)


def choose_rows(values: AnyArray, n_points: int = N_POINTS) -> AnyArray:
    """Rows whose values represent the column: quantiles of numbers, in order, else the most frequent values.

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
    """Row numbers: all, or a random subset of `n_rows`."""
    total = np.shape(X)[0]
    return np.arange(total) if total <= n_rows else np.sort(random_state.choice(total, n_rows, replace=False))


def as_value(value: Any) -> Any:
    """Numbers as float, all else as text."""
    return float(value) if isinstance(value, int | float | np.number) and not isinstance(value, bool) else str(value)


def _probability(model: Any, X: Any) -> AnyArray:
    if not hasattr(model, "predict_proba"):
        raise TypeError(f"{type(model).__name__} has no predict_proba, which column_effect needs.")
    return np.asarray(model.predict_proba(X))
