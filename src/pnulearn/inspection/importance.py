"""Which columns matter: how much more often a model errs in the population when one of them is shuffled."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from pnulearn._arrays import AnyArray
from pnulearn._numbers import read_count
from pnulearn._problem.inputs import read_random_state
from pnulearn._problem.labels import Labels, decode_labels
from pnulearn.inspection.columns import Group, read_groups, read_rows, refuse_unfitted, replace_columns, take_rows
from pnulearn.inspection.rise import estimate_rise
from pnulearn.metrics._estimate import Estimate
from pnulearn.priors.estimate import PriorEstimate
from pnulearn.priors.resolve import read_prior, read_share

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
