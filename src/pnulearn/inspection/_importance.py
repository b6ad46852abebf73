"""How much a model's error rises without a column, with a confidence interval."""

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
from pnulearn._problem.inputs import as_array, read_foreign, read_random_state
from pnulearn._problem.labels import Labels, decode_labels
from pnulearn.metrics._comparison import shared_mix
from pnulearn.metrics._estimate import Estimate
from pnulearn.priors._estimate import PriorEstimate
from pnulearn.priors._resolve import read_prior, read_share
from pnulearn.risks import pnu

# Columns of whatever a classifier takes: their names, and a copy in which some come from other rows.

Group = Sequence[int]  # places of the columns that are one to the user


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
        raise ValueError("X has no rows to look at.")
    if n_rows is not None and found != n_rows:
        raise ValueError(f"X has {found} rows and y {n_rows}: they must agree.")
    return X


def refuse_unfitted(model: Any) -> None:
    """Refuse what cannot be asked about rows."""
    if not hasattr(model, "classes_"):
        raise TypeError(f"model must be a fitted classifier, got {model!r}.")


def read_groups(X: Any, columns: Mapping[str, Sequence[Any]] | None) -> dict[str, Group]:
    """The columns that belong together by the name they are known by; every column by itself unless told otherwise."""
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
    """A copy of X whose columns at these places are those of the donors, a table of as many rows."""
    if sparse.issparse(X):
        taken = np.isin(np.arange(X.shape[1]), places).astype(float)
        return sparse.csr_array(X @ sparse.diags_array(1 - taken) + donors @ sparse.diags_array(taken))
    if hasattr(X, "with_columns"):  # polars
        return X.with_columns(donors[:, list(places)])
    if hasattr(X, "iloc"):  # pandas; whole columns, so that every type stays what it is
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


# How much more often a rule errs in the population than another, row by row.


def estimate_rise(
    labels: Labels, prior: PriorEstimate, before: AnyArray, after: AnyArray, confidence: float
) -> Estimate:
    """The mean over repeats of the difference of two risks, judged row by row, with an interval after Welch."""
    if len(labels.classes) > 2:
        parts, drift = _gaps(weigh_classes(prior.shares), labels, before, after), 0.0
    else:
        mean = float(prior.mean)
        mix = shared_mix(mean, *(len(group) for group in labels.groups))
        parts = _gaps(weigh_samples(mean, mix), labels, before, after)
        # A risk is linear in the prior, so two priors tell how far it moves with it.
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
    """For every group with rows: what they add to the difference, and what unlabelled rows would in their place."""
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
    """The sample's own, or with rows borrowed from U if that is more: a dozen rows that agree are not certain."""
    own = float(gap.var(ddof=1)) / len(gap) if len(gap) > 1 else 0.0
    return max(own, borrowed_variance(gap, usual))


def weigh_samples(prior: float, mix: float) -> AnyArray:
    """What a row of N, of P and of U adds to the PNU risk when it is called negative, and when positive, (3, 2).

    Calling a row negative costs the loss of g, calling it positive that of −g.
    """
    return pnu(prior, mix).table[[1, 0, 2]]


def weigh_classes(shares: AnyArray) -> AnyArray:
    """The same for more classes: labelled rows count by the shares of their classes, unlabelled ones, last, do not."""
    return np.vstack([shares[:, None] * (1 - np.eye(len(shares))), np.zeros(len(shares))])


# Which columns matter: how much more often a model errs in the population when one of them is shuffled.

Scored = tuple[Any, AnyArray]  # a fitted model, and the rows that it is asked about


@dataclass(frozen=True)
class ColumnImportance:
    """What shuffling one column does to a model.

    Parameters
    ----------
    column : str
        The column.
    rise : Estimate
        How much the error in the population rises, with its interval.
    changed : float
        Share of all rows that are decided otherwise. It needs no labels, so it is known far better.

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
    """How much the error rises when a column is shuffled, most important column first; y may have unlabelled rows.

    Columns whose rise is more than chance explains come first, by their rise. Of the others a few labels cannot tell
    the order, so they come by the share of decisions that they move.

    Parameters
    ----------
    model : classifier
        Any fitted classifier, or a pipeline that takes X as you know it.
    X : array, sparse matrix or data frame (rows, columns)
        Rows the model was not fitted to, or with `cv` those it was.
    y : array (rows,)
        Labels; missing values and `unlabeled` mark unlabelled rows.
    prior : float, (float, float), distribution or PriorEstimate
        Share of positives in the population; a mapping from class to share for more than two classes.
    columns : mapping, optional
        Columns that are one to you, such as the features of one category, by the name of the whole. By default every
        column stands for itself.
    cv : splitter, optional
        Fit copies of the model, e.g. in the folds of PNUStratifiedKFold(train_on_unlabeled=True), so that no row is
        judged by a model that saw it.
    n_repeats : int
        Times that every column is shuffled.
    confidence : float
        Probability that the intervals are to hold the truth with.
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
    labels = _read_labels(model, y, unlabeled, pos_label)
    if not len(labels.labeled):
        raise ValueError("y has no labelled row, so nobody can tell how much the error rises.")
    X = read_rows(X, len(labels.codes))
    judged = [(model, np.arange(len(labels.codes)))] if cv is None else fit_folds(model, X, y, cv)
    return measure_importance(
        judged,
        X,
        labels,
        read_prior(prior, labels.classes),
        read_groups(X, columns),
        n_repeats=n_repeats,
        confidence=read_share(confidence, "confidence"),
        random_state=read_random_state(random_state),
    )


def fit_folds(model: Any, X: Any, y: Any, cv: Any) -> list[Scored]:
    """A copy of the model per fold, with the rows that it has not seen."""
    return [
        (clone(model).fit(take_rows(X, train), take_rows(y, train)), np.asarray(test)) for train, test in cv.split(X, y)
    ]


def measure_importance(
    judged: Iterable[Scored],
    X: Any,
    labels: Labels,
    prior: PriorEstimate,
    groups: Mapping[str, Group],
    *,
    n_repeats: int,
    confidence: float = 0.95,
    random_state: Any,
) -> list[ColumnImportance]:
    """The same from models and the rows that each is asked about; every row is asked about once."""
    n_rows = len(labels.codes)
    before = np.zeros(n_rows, dtype=int)
    after = np.zeros((len(groups), n_repeats, n_rows), dtype=np.int32)
    for model, rows in judged:
        decide, part = _decider(model, labels), take_rows(X, rows)
        before[rows] = decide(part)
        for column, places in enumerate(groups.values()):
            for repeat in range(n_repeats):
                donors = take_rows(part, random_state.permutation(len(rows)))
                after[column, repeat, rows] = decide(replace_columns(part, places, donors))
    found = []
    for name, decisions in zip(groups, after, strict=True):
        rise = estimate_rise(labels, prior, before, decisions, confidence)
        found.append(ColumnImportance(name, rise, float(np.mean(decisions != before))))
    return sorted(found, key=_rank)


def _rank(one: ColumnImportance) -> tuple[float, float]:
    """Rises that are more than chance come first; among the others labels cannot tell, but decisions can."""
    return -max(one.rise.value, 0.0) if one.rise.low > 0 else 0.0, -one.changed


def _read_labels(model: Any, y: ArrayLike, unlabeled: Any, pos_label: Any) -> Labels:
    """y in the classes of the model; of two, the positive one comes last."""
    classes = np.asarray(model.classes_)
    names = classes[classes != unlabeled] if unlabeled is not None else classes
    if pos_label is not None and len(names) == 2:
        names = np.array([*names[names != pos_label], pos_label], dtype=names.dtype)
    return decode_labels(y, unlabeled, classes=names)


def _decider(model: Any, labels: Labels) -> Callable[[Any], AnyArray]:
    """Class codes of what a model predicts."""
    code = {name: place for place, name in enumerate(labels.classes.tolist())}
    return lambda X: np.array([code.get(name, -1) for name in np.asarray(model.predict(X)).tolist()])
