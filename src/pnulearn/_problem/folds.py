"""Splitting rows so that P, N and U are each spread evenly over the folds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.model_selection import BaseCrossValidator, StratifiedGroupKFold

from pnulearn._arrays import AnyArray
from pnulearn._numbers import read_count
from pnulearn._problem.inputs import read_random_state
from pnulearn._problem.labels import UNLABELED, decode_labels
from pnulearn._problem.samples import Samples

NEVER = -1  # the fold of rows that are not held out
Split = tuple[AnyArray, AnyArray]  # numbers of the rows to train on and of those held out


class PNUStratifiedKFold(BaseCrossValidator):
    """K folds in which positive, negative and unlabelled rows are each spread evenly.

    A class with fewer rows than folds is spread over as many folds as it has rows; the others hold none of it,
    which is why our scores pool counts over folds.

    Most classifiers cannot be fitted on rows without a label, so those rows are held out for scoring only. For a
    classifier that learns from them, such as `PNUClassifier`, pass train_on_unlabeled=True.

    Parameters
    ----------
    n_splits : int
        Number of folds.
    train_on_unlabeled : bool
        Whether unlabelled rows are among the training rows.
    unlabeled : object, optional
        The value in y that marks unlabelled rows; missing values always do.
    random_state : int, RandomState or None
        Seed; an int makes the result repeatable.

    Examples
    --------
    >>> y = [1, 1, 1, 1, 0, 0, 0, 0] + [None] * 4
    >>> for train, test in PNUStratifiedKFold(2, random_state=0).split(y=y):
    ...     print(sorted(str(y[i]) for i in test))
    ['0', '0', '1', '1', 'None', 'None']
    ['0', '0', '1', '1', 'None', 'None']
    """

    def __init__(
        self,
        n_splits: int = 5,
        *,
        train_on_unlabeled: bool = False,
        unlabeled: Any = None,
        random_state: Any = None,
    ):
        self.n_splits = n_splits
        self.train_on_unlabeled = train_on_unlabeled
        self.unlabeled = unlabeled
        self.random_state = random_state

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """The number of folds.

        Parameters
        ----------
        X : array, sparse matrix or data frame (rows, columns)
            Features.
        y : array (rows,)
            Labels; missing values and `unlabeled` mark unlabelled rows.
        groups : ignored
            For scikit-learn's sake.
        """
        return self.n_splits

    def split(self, X: Any = None, y: Any = None, groups: Any = None) -> Iterator[tuple[AnyArray, AnyArray]]:
        """Yield (train, test) row numbers; X is not looked at and may be left out.

        Parameters
        ----------
        X : array, sparse matrix or data frame (rows, columns)
            Features.
        y : array (rows,)
            Labels; missing values and `unlabeled` mark unlabelled rows.
        groups : None
            Refused here: `PNUStratifiedGroupKFold` keeps the rows of a group together.
        """
        if y is None:
            raise ValueError(f"{type(self).__name__} needs y: it spreads the positive, negative and unlabelled rows.")
        codes = decode_labels(y, self.unlabeled).codes
        for train, test in self.split_groups(codes, groups):
            yield (train if self.train_on_unlabeled else train[codes[train] != UNLABELED]), test

    def split_groups(self, codes: AnyArray, groups: Any) -> Iterator[tuple[AnyArray, AnyArray]]:
        """The same for class codes and the groups of rows, which are refused here.

        Parameters
        ----------
        codes : array (rows,)
            Class codes: −1 unlabelled, 1 positive, 0 negative, or the class number.
        groups : None
            Refused.
        """
        if groups is not None:
            raise ValueError(
                "PNUStratifiedKFold does not look at groups: take PNUStratifiedGroupKFold, which keeps the rows of a "
                "group in one fold."
            )
        return self.split_codes(codes)

    def split_codes(self, codes: AnyArray) -> Iterator[tuple[AnyArray, AnyArray]]:
        """The same for class codes, −1 being unlabelled; every row that is not tested is for training.

        Parameters
        ----------
        codes : array (rows,)
            Class codes: −1 unlabelled, 1 positive, 0 negative, or the class number.
        """
        if read_count("n_splits", self.n_splits, 2) > len(codes):
            raise ValueError(f"n_splits must be at most the number of rows ({len(codes)}), got {self.n_splits}.")
        order = read_random_state(self.random_state).permutation(len(codes))
        fold = assign_folds(codes, self.n_splits, order)
        for k in range(self.n_splits):
            yield np.flatnonzero(fold != k), np.flatnonzero(fold == k)


class PNUStratifiedGroupKFold(PNUStratifiedKFold):
    """The same with all rows of a group in one fold: rows of one patient, customer or document.

    P, N and U are spread as evenly as groups allow.

    Parameters
    ----------
    n_splits : int
        Number of folds.
    train_on_unlabeled : bool
        Whether unlabelled rows are among the training rows.
    unlabeled : object, optional
        The value in y that marks unlabelled rows; missing values always do.
    random_state : int, RandomState or None
        Seed; an int makes the result repeatable.

    Examples
    --------
    >>> y, groups = [1, 1, 0, 0, None, None, 1, 0], [1, 1, 1, 2, 2, 2, 3, 3]
    >>> for train, test in PNUStratifiedGroupKFold(2, random_state=0).split(y=y, groups=groups):
    ...     print(sorted({groups[i] for i in test}))
    [2, 3]
    [1]
    """

    def split_groups(self, codes: AnyArray, groups: Any) -> Iterator[tuple[AnyArray, AnyArray]]:
        """Splits of class codes that keep groups together; every row that is not tested is for training.

        Parameters
        ----------
        codes : array (rows,)
            Class codes: −1 unlabelled, 1 positive, 0 negative, or the class number.
        groups : array (rows,)
            What every row belongs to.
        """
        if groups is None:
            raise ValueError("PNUStratifiedGroupKFold needs groups=, an array with the group of every row.")
        names = read_groups(groups, len(codes))
        n_groups = len(np.unique(names))
        if not 2 <= self.n_splits <= n_groups:
            raise ValueError(f"{self.n_splits} folds need as many groups, and there are {n_groups}.")
        seed = None if self.random_state is None else int(read_random_state(self.random_state).randint(2**31 - 1))
        folds = StratifiedGroupKFold(self.n_splits, shuffle=True, random_state=seed)
        return iter(folds.split(np.zeros(len(codes)), codes, names))


def read_groups(groups: Any, n_rows: int) -> AnyArray:
    """The number of every row's group.

    >>> read_groups(["b", "a", "b"], 3).tolist()
    [1, 0, 1]
    """
    values = np.asarray(groups)
    if values.shape != (n_rows,):
        raise ValueError(f"groups must have one entry for each of the {n_rows} rows, got shape {values.shape}.")
    missing = values != values if values.dtype.kind in "fO" else np.zeros(n_rows, dtype=bool)
    if np.asarray(missing).any() or any(value is None for value in values.tolist()):
        raise ValueError("groups has missing entries: every row needs a group; a row on its own is a group of one.")
    return np.unique(values, return_inverse=True)[1]


def read_pairs(splits: Iterable[Any], n_rows: int) -> list[tuple[AnyArray, AnyArray]]:
    """(train, test) row numbers of the user's own splits, each of which holds rows that exist."""
    pairs = [tuple(_row_numbers(part, n_rows) for part in _two_parts(pair)) for pair in splits]
    if not pairs:
        raise ValueError("cv holds no split: pass pairs (train, test) of row numbers, or a number of folds.")
    return [(train, test) for train, test in pairs]


def _two_parts(pair: Any) -> tuple[Any, Any]:
    try:
        train, test = pair
    except (TypeError, ValueError):
        raise ValueError(f"cv must hold pairs (train, test) of row numbers, got {pair!r:.60}.") from None
    return train, test


def _row_numbers(part: Any, n_rows: int) -> AnyArray:
    rows = np.asarray(part)
    if rows.dtype == bool and rows.shape == (n_rows,):
        rows = np.flatnonzero(rows)
    if rows.ndim != 1 or rows.size == 0 or rows.dtype.kind not in "iu":
        raise ValueError(f"cv must hold pairs (train, test) of row numbers, none of them empty; got {part!r:.60}.")
    if rows.min() < 0 or rows.max() >= n_rows:
        wrong = rows[(rows < 0) | (rows >= n_rows)][0]
        raise ValueError(f"cv names row {wrong}, and X has {n_rows} rows, which are counted from 0.")
    return rows


def check_cv(cv: Any, *words: str) -> None:
    """A number of folds, a splitter or pairs of row numbers, or one of these words."""
    if isinstance(cv, str) and cv in words:
        return
    if isinstance(cv, str) or not (isinstance(cv, Integral | Iterable) or hasattr(cv, "split")):
        raise TypeError(
            f"cv must be {''.join(f'{word!r}, ' for word in words)}a number of folds such as 5, a scikit-learn "
            f"splitter, or pairs of row numbers, got {cv!r}."
        )
    if isinstance(cv, Integral) and cv < 2:
        raise ValueError(f"cv must be between 2 and the number of rows, got {cv}.")


def assign_folds(codes: AnyArray, n_splits: int, key: AnyArray, weight: AnyArray | None = None) -> AnyArray:
    """A fold number per row: within each group, rows in the order of `key` fill the folds with equal weight.

    Rows of a group that share a key stay together, so a repeated row is never split between training and
    validation, and a row of weight two is treated as the row twice.
    """
    if not 2 <= n_splits <= len(codes):
        raise ValueError(f"cv must be between 2 and the number of rows ({len(codes)}), got {n_splits}.")
    weight = np.ones(len(codes)) if weight is None else weight
    fold = np.zeros(len(codes), dtype=int)
    for group in np.unique(codes):
        rows = np.flatnonzero(codes == group)
        _, index = np.unique(key[rows], return_inverse=True)
        mass = np.bincount(index, weights=weight[rows])
        middle = (np.cumsum(mass) - mass / 2) / mass.sum()
        fold[rows] = np.minimum((middle * n_splits).astype(int), n_splits - 1)[index]
    return fold


def own_splits(
    cv: Any, codes: AnyArray, kept: AnyArray, groups: AnyArray | None = None, seed: int | None = None
) -> list[Split]:
    """The user's splits of all rows, renumbered for the rows that are kept; none if cv is a number, without groups."""
    if isinstance(cv, Integral):
        if groups is None:
            return []
        cv = PNUStratifiedGroupKFold(int(cv), random_state=seed)
    if isinstance(cv, PNUStratifiedKFold):
        splits = cv.split_codes(codes) if groups is None else cv.split_groups(codes, groups)
    elif hasattr(cv, "split"):
        splits = cv.split(np.zeros(len(codes)), codes, groups)
    elif groups is not None:
        raise ValueError("groups and given splits exclude each other: pass cv as a number or a splitter with groups=.")
    else:
        splits = cv
    pairs = read_pairs(splits, len(codes))
    return [(np.flatnonzero(np.isin(kept, train)), np.flatnonzero(np.isin(kept, test))) for train, test in pairs]


def content_splits(n_folds: int, samples: Samples, keys: AnyArray, classes: AnyArray, n_candidates: int) -> list[Split]:
    """Folds by the rows' content; none if there is nothing to choose and too little to validate with.

    A class with a single labelled row keeps it in every training part, and is judged by U and the other classes.
    """
    distinct = [len(np.unique(keys[samples.codes == code])) for code in range(samples.n_classes)]
    lonely = [code for code, count in enumerate(distinct) if count == 1]
    if lonely and n_candidates == 1:
        return []
    if lonely:
        _refuse_unless_judged(classes[lonely].tolist(), distinct, len(samples.population))
    fold = assign_folds(samples.codes, min(n_folds, len(samples.codes)), keys, samples.weight)
    fold[np.isin(samples.codes, lonely)] = NEVER
    return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in np.unique(fold[fold != NEVER])]


def _refuse_unless_judged(lonely: list[Any], distinct: list[int], n_population: int) -> None:
    """A class may go without validation if U and another class have rows to hold out."""
    if n_population > 1 and max(distinct) > 1:
        return
    missing = "no other class has more" if n_population > 1 else "there are no unlabelled rows to judge it by"
    raise ValueError(
        f"Class {lonely[0]!r} has a single labelled row, too few to cross-validate, and {missing}. Label one more, "
        "pass X_val and y_val, or fix mix, alpha and bandwidth."
    )


def never_held_out(codes: AnyArray, splits: list[Split]) -> tuple[int, ...]:
    """Classes all of whose rows every split trains on.

    >>> never_held_out(np.array([1, 0, 0]), [(np.array([0, 1]), np.array([2])), (np.array([0, 2]), np.array([1]))])
    (1,)
    """
    if not splits:
        return ()
    held_out = np.concatenate([codes[test] for _, test in splits])
    return tuple(np.setdiff1d(codes[codes >= 0], held_out).tolist())
