"""Columns of whatever a classifier takes: their names, and a copy in which some come from other rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import _safe_indexing

from pnulearn._problem.inputs import as_array, read_foreign

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
