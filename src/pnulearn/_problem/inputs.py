"""Reading X and sample_weight; every refusal says where the trouble is and what to do about it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_array, validate_data

LARGEST = 1e150  # squares of anything beyond overflow


def read_features(estimator: BaseEstimator, X: Any, *, reset: bool) -> Any:
    """X as a float64 array or CSR matrix, checked against what `estimator` was fitted with.

    Missing, infinite, text and date values are refused with their row and column.
    """
    _refuse_strange_columns(X)
    options: dict[str, Any] = {
        "accept_sparse": "csr",
        "dtype": np.float64,
        "order": "C",
        "ensure_min_samples": int(reset),
    }
    try:
        X = validate_data(estimator, X, reset=reset, **options)
    except ValueError as error:
        place = _place_of_trouble(X) if "contains" in str(error) else None
        if place is None:
            raise
        raise ValueError(f"{str(error).splitlines()[0]} {place}") from None
    _refuse_overflow(X)
    return X


def read_weights(sample_weight: ArrayLike | None, n_rows: int) -> NDArray:
    """Non-negative finite weights, one per row; ones if none were given."""
    if sample_weight is None:
        return np.ones(n_rows)
    weight = check_array(sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight")
    if weight.ndim == 0:
        weight = np.full(n_rows, float(weight))
    if weight.shape != (n_rows,):
        raise ValueError(f"sample_weight has shape {weight.shape}; X has {n_rows} rows, so ({n_rows},) is needed.")
    if (weight < 0).any():
        row = int(np.flatnonzero(weight < 0)[0])
        raise ValueError(f"sample_weight[{row}] is {weight[row]:g}: weights must not be negative.")
    if not weight.any():
        raise ValueError("sample_weight is zero for every row: nothing is left to learn from.")
    return weight


def _refuse_strange_columns(X: Any) -> None:
    """Dates and categories in a data frame turn into meaningless numbers, so they are named and refused."""
    kinds = getattr(X, "dtypes", None)
    names = getattr(X, "columns", None)
    if names is None or kinds is None:
        return
    for name, kind in zip(names, kinds, strict=True):
        text = str(kind).lower()
        if any(word in text for word in ("date", "time", "duration")):
            raise ValueError(
                f"Column {name!r} of X holds dates ({kind}). Turn it into numbers first, e.g. days since a fixed day."
            )
        if text.startswith(("category", "categorical", "enum", "string", "str", "object")):
            raise ValueError(
                f"Column {name!r} of X is not numeric ({kind}). Drop it, or encode it, "
                "e.g. with sklearn.preprocessing.OneHotEncoder."
            )


def _place_of_trouble(X: Any) -> str | None:
    """The first row and column that is not finite, in words."""
    if sparse.issparse(X):
        entries = sparse.coo_matrix(X)
        bad = np.column_stack([entries.row, entries.col])[~np.isfinite(entries.data)]
    else:
        bad = np.argwhere(~np.isfinite(np.asarray(X, dtype=float)))
    if len(bad) == 0 or bad.shape[1] != 2:
        return None
    where = bad[0].tolist()
    names = getattr(X, "columns", None)
    column = f"{where[1]}" if names is None else f"{names[where[1]]!r}"
    return (
        f"First at row {where[0]}, column {column}. Drop or impute such rows, e.g. with sklearn.impute.SimpleImputer."
    )


def _refuse_overflow(X: Any) -> None:
    values = X.data if sparse.issparse(X) else X
    if values.size and np.abs(values).max() > LARGEST:
        raise ValueError(
            f"X holds values up to {np.abs(values).max():.3g}, whose squares overflow: rescale the columns first."
        )
