"""Cross-validation with P, N and U distributed evenly over the folds."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.model_selection import BaseCrossValidator, StratifiedGroupKFold

from pnulearn._arrays import AnyArray
from pnulearn._numbers import read_count
from pnulearn._problem.alignment import refuse_misaligned
from pnulearn._problem.inputs import read_random_state
from pnulearn._problem.labels import UNLABELED, decode_labels
from pnulearn._problem.samples import Samples

NEVER = -1  # fold number of rows that are never held out
Split = tuple[AnyArray, AnyArray]  # numbers of the training rows and of the held-out rows


class PNUStratifiedKFold(BaseCrossValidator):
    """K-fold cross-validation stratified by positive, negative and unlabelled rows.

    If a class has fewer rows than there are folds, some folds contain no row of it. The risks of this package therefore
    pool counts over folds.

    Most classifiers cannot be fitted to rows without a label, so unlabelled rows are in the test folds only. For a
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
            For compatibility with scikit-learn.
        """
        return self.n_splits

    def split(self, X: Any = None, y: Any = None, groups: Any = None) -> Iterator[tuple[AnyArray, AnyArray]]:
        """Yield (train, test) row numbers. X is not used and may be omitted.

        Parameters
        ----------
        X : array, sparse matrix or data frame (rows, columns)
            Features.
        y : array (rows,)
            Labels; missing values and `unlabeled` mark unlabelled rows.
        groups : None
            Not supported; use `PNUStratifiedGroupKFold`.
        """
        if y is None:
            raise ValueError(f"{type(self).__name__} needs y to stratify positive, negative and unlabelled rows.")
        refuse_misaligned(y=y, groups=groups)
        codes = decode_labels(y, self.unlabeled).codes
        for train, test in self.split_groups(codes, groups):
            yield (train if self.train_on_unlabeled else train[codes[train] != UNLABELED]), test

    def split_groups(self, codes: AnyArray, groups: Any) -> Iterator[tuple[AnyArray, AnyArray]]:
        """Like `split`, for class codes. Groups raise a ValueError.

        Parameters
        ----------
        codes : array (rows,)
            Class codes: −1 unlabelled, 1 positive, 0 negative, or the class number.
        groups : None
            Not supported.
        """
        if groups is not None:
            raise ValueError(
                "PNUStratifiedKFold does not support groups. Use PNUStratifiedGroupKFold, which keeps the rows of a "
                "group in one fold."
            )
        return self.split_codes(codes)

    def split_codes(self, codes: AnyArray) -> Iterator[tuple[AnyArray, AnyArray]]:
        """Like `split`, for class codes (−1 is unlabelled). Training sets include unlabelled rows.

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
    """`PNUStratifiedKFold` with all rows of a group (a patient, a customer, a document) in one fold.

    P, N and U are distributed as evenly as the groups allow.

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

    __metadata_request__split: ClassVar = {"groups": True}  # scikit-learn's tools pass groups on if routing is enabled

    def split_groups(self, codes: AnyArray, groups: Any) -> Iterator[tuple[AnyArray, AnyArray]]:
        """Splits of class codes that keep groups together. Training sets include unlabelled rows.

        Parameters
        ----------
        codes : array (rows,)
            Class codes: −1 unlabelled, 1 positive, 0 negative, or the class number.
        groups : array (rows,)
            The group of every row.
        """
        if groups is None:
            raise ValueError("PNUStratifiedGroupKFold needs groups=, an array with the group of every row.")
        names = read_groups(groups, len(codes))
        n_groups = len(np.unique(names))
        if not 2 <= self.n_splits <= n_groups:
            raise ValueError(f"n_splits must be between 2 and the number of groups ({n_groups}), got {self.n_splits}.")
        seed = None if self.random_state is None else int(read_random_state(self.random_state).randint(2**31 - 1))
        folds = StratifiedGroupKFold(self.n_splits, shuffle=True, random_state=seed)
        return iter(folds.split(np.zeros(len(codes)), codes, names))


def read_groups(groups: Any, n_rows: int) -> AnyArray:
    """Group numbers of the rows, counted from 0.

    >>> read_groups(["b", "a", "b"], 3).tolist()
    [1, 0, 1]
    """
    values = np.asarray(groups)
    if values.shape != (n_rows,):
        raise ValueError(f"groups must have one entry for each of the {n_rows} rows, got shape {values.shape}.")
    missing = values != values if values.dtype.kind in "fO" else np.zeros(n_rows, dtype=bool)
    if np.asarray(missing).any() or any(value is None for value in values.tolist()):
        raise ValueError("groups has missing entries. Every row needs a group, which may be a group of one row.")
    return np.unique(values, return_inverse=True)[1]


def read_pairs(splits: Iterable[Any], n_rows: int) -> list[tuple[AnyArray, AnyArray]]:
    """The user's splits as pairs (train, test) of row numbers, validated."""
    pairs = [tuple(_row_numbers(part, n_rows) for part in _two_parts(pair)) for pair in splits]
    if not pairs:
        raise ValueError("cv has no splits. Pass pairs (train, test) of row numbers, or a number of folds.")
    return [(train, test) for train, test in pairs]


def _two_parts(pair: Any) -> tuple[Any, Any]:
    try:
        train, test = pair
    except (TypeError, ValueError):
        raise ValueError(f"cv must contain pairs (train, test) of row numbers, got {pair!r:.60}.") from None
    return train, test


def _row_numbers(part: Any, n_rows: int) -> AnyArray:
    rows = np.asarray(part)
    if rows.dtype == bool and rows.shape == (n_rows,):
        rows = np.flatnonzero(rows)
    if rows.ndim != 1 or rows.size == 0 or rows.dtype.kind not in "iu":
        raise ValueError(f"cv must contain pairs (train, test) of row numbers, none of them empty; got {part!r:.60}.")
    if rows.min() < 0 or rows.max() >= n_rows:
        wrong = rows[(rows < 0) | (rows >= n_rows)][0]
        raise ValueError(f"cv contains row number {wrong}, but X has {n_rows} rows, numbered from 0.")
    return rows


def check_cv(cv: Any, *words: str) -> None:
    """Raise an error unless cv is a number of folds, a splitter, an iterable of splits, or one of these words."""
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
    """A fold number per row: within each class, rows in the order of `key` fill the folds with equal weight.

    Rows of a class with the same key are in the same fold, so copies of a row are never split between training and
    validation. A row of weight two is equivalent to two copies.
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
    """The user's splits, renumbered for the rows that are kept; empty if cv is a number and there are no groups."""
    if isinstance(cv, Integral):
        if groups is None:
            return []
        cv = PNUStratifiedGroupKFold(int(cv), random_state=seed)
    if isinstance(cv, PNUStratifiedKFold):
        splits = cv.split_codes(codes) if groups is None else cv.split_groups(codes, groups)
    elif hasattr(cv, "split"):
        splits = cv.split(np.zeros(len(codes)), codes, groups)
    elif groups is not None:
        raise ValueError("groups= cannot be combined with a list of splits. Pass cv as a number or a splitter.")
    else:
        splits = cv
    pairs = read_pairs(splits, len(codes))
    return [(np.flatnonzero(np.isin(kept, train)), np.flatnonzero(np.isin(kept, test))) for train, test in pairs]


def content_splits(n_folds: int, samples: Samples, keys: AnyArray, classes: AnyArray, n_candidates: int) -> list[Split]:
    """Folds derived from row contents; empty if there is a single candidate and too few rows for validation.

    The row of a class with a single labelled row is in every training set. The risk is then estimated from U and the
    other classes.
    """
    distinct = [len(np.unique(keys[samples.codes == code])) for code in range(samples.n_classes)]
    lonely = [code for code, count in enumerate(distinct) if count == 1]
    if lonely and n_candidates == 1:
        return []
    if lonely:
        _refuse_unless_validated(classes[lonely].tolist(), distinct, len(samples.population))
    fold = assign_folds(samples.codes, min(n_folds, len(samples.codes)), keys, samples.weight)
    fold[np.isin(samples.codes, lonely)] = NEVER
    return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in np.unique(fold[fold != NEVER])]


def _refuse_unless_validated(lonely: list[Any], distinct: list[int], n_population: int) -> None:
    """Raise a ValueError unless U and another class have rows to hold out."""
    if n_population > 1 and max(distinct) > 1:
        return
    missing = "no other class has more" if n_population > 1 else "there are no unlabelled rows for validation"
    raise ValueError(
        f"Class {lonely[0]!r} has a single labelled row, too few for cross-validation, and {missing}. Label another "
        "row, pass X_val and y_val, or fix mix, alpha and bandwidth."
    )


def never_held_out(codes: AnyArray, splits: list[Split]) -> tuple[int, ...]:
    """Classes without any held-out row.

    >>> never_held_out(np.array([1, 0, 0]), [(np.array([0, 1]), np.array([2])), (np.array([0, 2]), np.array([1]))])
    (1,)
    """
    if not splits:
        return ()
    held_out = np.concatenate([codes[test] for _, test in splits])
    return tuple(np.setdiff1d(codes[codes >= 0], held_out).tolist())


def warn_never_held_out(names: list[Any]) -> None:
    """Warn about classes of which no labelled row can be held out."""
    warnings.warn(
        f"Class {names[0]!r} has a single labelled row, which every training fold needs. The error rate of this class "
        "is therefore estimated from the unlabelled rows alone, and risk_ has a wide confidence interval. "
        "Label one more.",
        UserWarning,
        stacklevel=4,
    )
