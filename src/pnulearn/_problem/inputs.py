"""Validation of X, sample_weight and random_state. Errors name the row and column, and what to do."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_array, validate_data

from pnulearn._arrays import AnyArray
from pnulearn._problem.labels import is_missing

LARGEST = 1e75  # fourth powers of larger numbers overflow
SMALLEST = 1e-75  # fourth powers of smaller numbers underflow
IMPUTE = "Drop or impute such rows, e.g. with sklearn.impute.SimpleImputer."
ENCODE = "Drop the column, or encode it, e.g. with sklearn.preprocessing.OneHotEncoder."


def read_features(estimator: BaseEstimator, X: Any, *, reset: bool) -> Any:
    """X as a float64 array or CSR matrix, with the columns that `estimator` was fitted to unless `reset`.

    Missing, masked, infinite, text and date values raise an error that names their row and column.
    """
    X = refuse_strange(X)
    options: dict[str, Any] = {
        "accept_sparse": "csr",
        "dtype": np.float64,
        "order": "C",
        "ensure_min_samples": int(reset),
    }
    try:
        found = validate_data(estimator, X, reset=reset, **options)
    except ValueError as error:
        place = _place_of_trouble(X) if "contains" in str(error) else None
        if place is None:
            raise
        raise ValueError(f"{str(error).splitlines()[0]} First at {place}. {IMPUTE}") from None
    _refuse_overflow(X, found)
    if reset:
        refuse_underflow(found)
    return found


def refuse_strange(X: Any) -> Any:
    """X, after an error for masked, text and date values; an array of Python objects is converted to numbers."""
    X = unmasked(X, "X")
    _refuse_doubled_columns(X)
    _refuse_strange_columns(X)
    return X if sparse.issparse(X) or _column_kinds(X) else _numbers(X)


def read_foreign(X: Any) -> Any:
    """X for a wrapped model, which may accept text and missing cells. Raises an error for masked values and dates."""
    X = unmasked(X, "X")
    _refuse_doubled_columns(X)
    if sparse.issparse(X) or _column_kinds(X):
        return X
    if hasattr(X, "dtype") or isinstance(X, str) or not hasattr(X, "__len__"):  # lists may be documents or tokens
        _refuse_dates(as_array(X))
    return X


@contextmanager
def explained(X: Any) -> Iterator[None]:
    """Add the row and column of an invalid cell to errors that a wrapped model raises about X."""
    try:
        yield
    except (TypeError, ValueError) as error:
        words, kind = str(error).partition("\n")[0], TypeError if isinstance(error, TypeError) else ValueError
        try:
            place = _place_of_trouble(refuse_strange(X))
        except (TypeError, ValueError) as ours:
            raise kind(f"The classifier cannot use X: {words} {ours}") from error
        if place is None:
            raise
        raise kind(f"The classifier cannot use X: {words} First at {place}. {IMPUTE}") from error


def read_weights(sample_weight: ArrayLike | None, n_rows: int) -> AnyArray:
    """Validated non-negative finite weights, one per row; ones by default."""
    if sample_weight is None:
        return np.ones(n_rows)
    weight = _weight_numbers(unmasked(sample_weight, "sample_weight"))
    if weight.ndim == 0:
        weight = np.full(n_rows, float(weight))
    check_array(weight, ensure_2d=False, input_name="sample_weight")
    if weight.shape != (n_rows,):
        raise ValueError(f"sample_weight must have shape ({n_rows},), one weight per row of X, got {weight.shape}.")
    if (weight < 0).any():
        row = int(np.flatnonzero(weight < 0)[0])
        raise ValueError(f"sample_weight[{row}] is {weight[row]:g}: weights must not be negative.")
    if not weight.any():
        raise ValueError("sample_weight is zero for every row. At least one weight must be positive.")
    extreme = np.flatnonzero((weight > LARGEST) | ((weight > 0) & (weight < SMALLEST)))
    if len(extreme):
        raise ValueError(
            f"sample_weight[{extreme[0]}] is {weight[extreme[0]]:g}: weights must be 0 or lie between {SMALLEST:g} and "
            f"{LARGEST:g}. Only ratios of weights matter, so divide all of them by one number. Pass 0 to leave out a "
            "row."
        )
    return weight


def _weight_numbers(sample_weight: Any) -> AnyArray:
    try:
        values = np.asarray(sample_weight)
        if values.dtype.kind not in "mMc":
            return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        pass
    raise ValueError(
        f"sample_weight must be one number per row, got {type(sample_weight).__name__} {sample_weight!r:.60}."
    )


def read_random_state(random_state: Any) -> np.random.RandomState:
    """A generator from an integer, a RandomState or None."""
    try:
        return check_random_state(random_state)
    except (TypeError, ValueError):
        raise ValueError(
            f"random_state={random_state!r} cannot be used to seed random numbers. Pass an integer from 0 to "
            "4294967295, a numpy RandomState, or None."
        ) from None


def refuse_no_classifier(classifier: Any, name: str = "classifier") -> None:
    """Raise a TypeError unless scikit-learn can clone and fit it."""
    if isinstance(classifier, type) or not (hasattr(classifier, "fit") and hasattr(classifier, "get_params")):
        raise TypeError(f"{name} must be a scikit-learn classifier such as LogisticRegression(), got {classifier!r}.")


def unmasked(array: Any, name: str) -> Any:
    """A masked array as an ordinary one. Raises a ValueError if any cell is masked."""
    if not isinstance(array, np.ma.MaskedArray):
        return array
    hidden = np.argwhere(np.ma.getmaskarray(array))
    if len(hidden):
        names = ("row", "column")[: array.ndim] if array.ndim <= 2 else ("index",) * array.ndim
        place = ", ".join(f"{word} {where}" for word, where in zip(names, hidden[0].tolist(), strict=True))
        raise ValueError(
            f"{name} is a masked array with {len(hidden)} masked cells, the first at {place}. {IMPUTE} Convert it with "
            f"{name}.filled(numpy.nan) first."
        )
    return np.ma.getdata(array)


def read_mask(at_random: ArrayLike | None, n_rows: int) -> AnyArray | None:
    """A boolean array with one value per row, or None."""
    if at_random is None:
        return None
    mask = np.asarray(at_random)
    if mask.dtype.kind in "iuf" and np.isin(mask, (0, 1)).all():
        mask = mask.astype(bool)
    if mask.dtype.kind != "b" or mask.shape != (n_rows,):
        raise ValueError(
            f"at_random must be True or False for each of the {n_rows} rows, got {mask.dtype} of shape {mask.shape}."
        )
    return mask


def _refuse_doubled_columns(X: Any) -> None:
    """Two columns of one name cannot be told apart when new rows come."""
    seen = set[Any]()
    for name, _ in _column_kinds(X):
        if name in seen:
            raise ValueError(f"X has more than one column {name!r}. Rename or drop one of them.")
        seen.add(name)


def _refuse_strange_columns(X: Any) -> None:
    """Raise a ValueError for dates, categories and text in a data frame, which must not be converted silently."""
    for name, kind in _column_kinds(X):
        text = str(kind).lower()
        if any(word in text for word in ("date", "time", "duration")):
            raise ValueError(
                f"Column {name!r} of X contains dates ({kind}). Convert it to numbers, e.g. days since a fixed day."
            )
        if text.startswith(("category", "categorical", "dictionary", "enum", "string", "large_string", "str")):
            raise ValueError(f"Column {name!r} of X is not numeric ({kind}). {ENCODE}")
        if text.startswith("object"):
            _refuse_words(X[name], name, kind)


def _column_kinds(X: Any) -> list[tuple[Any, Any]]:
    """Names and types of the columns of a data frame or an Arrow table; empty for arrays."""
    schema = getattr(X, "schema", None)
    if schema is not None and hasattr(schema, "types"):  # Arrow
        return list(zip(schema.names, schema.types, strict=True))
    names, kinds = getattr(X, "columns", None), getattr(X, "dtypes", None)
    return [] if names is None or kinds is None else list(zip(names, kinds, strict=True))


def _refuse_words(column: Any, name: Any, kind: Any) -> None:
    """Raise a ValueError for the first cell of an object column that is not a number."""
    for cell in column:
        if not is_missing(cell) and not isinstance(cell, (bool, int, float, np.number, np.bool_)):
            raise ValueError(f"Column {name!r} of X is not numeric ({kind}): it contains {cell!r}. {ENCODE}")


def _numbers(X: Any) -> Any:
    """An array or nested lists as an array of numbers. Raises an error for dates and text."""
    values = as_array(X)
    _refuse_dates(values)
    if values.dtype.kind in "iu" and values.size and max(values.max(), -int(values.min())) > 2**53:
        message = "X contains integers above 2**53, which lose their last digits when converted to floats."
        warnings.warn(message, UserWarning, stacklevel=4)
    if values.dtype.kind not in "OUS" or values.ndim != 2:
        return X
    cells = [[_number(cell, row, column) for column, cell in enumerate(line)] for row, line in enumerate(values)]
    return np.array(cells, dtype=float).reshape(values.shape)


def as_array(X: Any) -> AnyArray:
    """X as an array of at least one dimension. Raises a ValueError if rows have different lengths."""
    try:
        values = np.asarray(X)
    except (TypeError, ValueError):
        raise ValueError("The rows of X have different lengths: every row needs one number per column.") from None
    if values.ndim == 0:
        raise ValueError(f"Expected 2D array of rows and columns, got X of type {type(X).__name__}.")
    return values


def _refuse_dates(values: AnyArray) -> None:
    if values.dtype.kind in "mM":
        raise ValueError(
            f"X contains dates or times ({values.dtype}). Convert them to numbers, e.g. days since a fixed day."
        )


def _number(cell: Any, row: int, column: int) -> float:
    if is_missing(cell):
        return np.nan
    try:
        return float(cell)
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(
            f"X contains {cell!r} at row {row}, column {column}, which is not a number ({error}). {ENCODE}"
        ) from None


def _place_of_trouble(X: Any) -> str | None:
    """Row and column of the first value that is not finite, as text; None if there is none."""
    if sparse.issparse(X):
        entries = sparse.coo_matrix(X)
        bad = np.column_stack([entries.row, entries.col])[~np.isfinite(entries.data)]
    else:
        values = np.asarray(X)
        if values.dtype.kind not in "biuf":
            values = np.array([np.nan if is_missing(cell) else cell for cell in values.ravel()], float).reshape(
                values.shape
            )
        bad = np.argwhere(~np.isfinite(values))
    if len(bad) == 0 or bad.shape[1] != 2:
        return None
    return _place(X, *bad[0].tolist())


def _place(X: Any, row: int, column: int) -> str:
    names = [name for name, _ in _column_kinds(X)]
    return f"row {row}, column {repr(names[column]) if names else column}"


def _refuse_overflow(X: Any, found: Any) -> None:
    values = found.data if sparse.issparse(found) else found
    if not values.size or max(values.max(), -values.min()) <= LARGEST:
        return
    entries = sparse.coo_matrix(found)
    worst = int(np.argmax(np.abs(entries.data)))
    place = _place(X, int(entries.row[worst]), int(entries.col[worst]))
    raise ValueError(
        f"X contains values up to {np.abs(values).max():.3g} (at {place}), whose powers overflow. Correct the cell, or "
        "rescale the columns, e.g. with sklearn.preprocessing.RobustScaler."
    )


def refuse_underflow(found: Any) -> None:
    """Raise a ValueError if all values are so small that their powers underflow."""
    values = found.data if sparse.issparse(found) else found
    largest = max(values.max(), -values.min()) if values.size else 0.0
    if 0 < largest < SMALLEST:
        raise ValueError(
            f"The largest value of X is {largest:.3g}, and powers of such numbers vanish (underflow). Rescale the "
            "columns, e.g. with sklearn.preprocessing.StandardScaler."
        )
