"""Reading X, sample_weight and random_state; every refusal says where the trouble is and what to do about it."""

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

LARGEST = 1e75  # fourth powers of anything beyond overflow
SMALLEST = 1e-75  # and of anything below vanish
IMPUTE = "Drop or impute such rows, e.g. with sklearn.impute.SimpleImputer."
ENCODE = "Drop the column, or encode it, e.g. with sklearn.preprocessing.OneHotEncoder."


def read_features(estimator: BaseEstimator, X: Any, *, reset: bool) -> Any:
    """X as a float64 array or CSR matrix, checked against what `estimator` was fitted with.

    Missing, masked, infinite, text and date values are refused with their row and column.
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
    """X without masks, words and dates; an array of Python objects becomes one of numbers."""
    X = unmasked(X, "X")
    _refuse_strange_columns(X)
    return X if sparse.issparse(X) or _column_kinds(X) else _numbers(X)


def read_foreign(X: Any) -> Any:
    """X for somebody else's model, which may take words and missing cells: masks, dates and None would be misread."""
    X = unmasked(X, "X")
    if sparse.issparse(X) or _column_kinds(X):
        return X
    if hasattr(X, "dtype") or isinstance(X, str) or not hasattr(X, "__len__"):  # lists may hold documents, or tokens
        _refuse_dates(as_array(X))
    return X


@contextmanager
def explained(X: Any) -> Iterator[None]:
    """What somebody else's model says against X, with the row and column that are in its way."""
    try:
        yield
    except (TypeError, ValueError) as error:
        words, kind = str(error).partition("\n")[0], TypeError if isinstance(error, TypeError) else ValueError
        try:
            place = _place_of_trouble(refuse_strange(X))
        except (TypeError, ValueError) as ours:
            raise kind(f"The classifier refused X: {words} {ours}") from error
        if place is None:
            raise
        raise kind(f"The classifier refused X: {words} First at {place}. {IMPUTE}") from error


def read_weights(sample_weight: ArrayLike | None, n_rows: int) -> AnyArray:
    """Non-negative finite weights, one per row; ones if none were given."""
    if sample_weight is None:
        return np.ones(n_rows)
    weight = _weight_numbers(unmasked(sample_weight, "sample_weight"))
    if weight.ndim == 0:
        weight = np.full(n_rows, float(weight))
    check_array(weight, ensure_2d=False, input_name="sample_weight")
    if weight.shape != (n_rows,):
        raise ValueError(f"sample_weight has shape {weight.shape}; X has {n_rows} rows, so ({n_rows},) is needed.")
    if (weight < 0).any():
        row = int(np.flatnonzero(weight < 0)[0])
        raise ValueError(f"sample_weight[{row}] is {weight[row]:g}: weights must not be negative.")
    if not weight.any():
        raise ValueError("sample_weight is zero for every row: nothing is left to learn from.")
    extreme = np.flatnonzero((weight > LARGEST) | ((weight > 0) & (weight < SMALLEST)))
    if len(extreme):
        raise ValueError(
            f"sample_weight[{extreme[0]}] is {weight[extreme[0]]:g}: weights must be 0 or lie between {SMALLEST:g} and "
            f"{LARGEST:g}. Only their proportions matter, so divide them all by one number, and pass 0 to leave out a "
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
    """A generator from a whole number, a RandomState or None."""
    try:
        return check_random_state(random_state)
    except (TypeError, ValueError):
        raise ValueError(
            f"random_state={random_state!r} cannot be used to seed random numbers: pass a whole number from 0 to "
            "4294967295, a numpy RandomState, or None."
        ) from None


def refuse_no_classifier(classifier: Any, name: str = "classifier") -> None:
    """Refuse what scikit-learn could not copy and fit."""
    if isinstance(classifier, type) or not (hasattr(classifier, "fit") and hasattr(classifier, "get_params")):
        raise TypeError(f"{name} must be a scikit-learn classifier such as LogisticRegression(), got {classifier!r}.")


def unmasked(array: Any, name: str) -> Any:
    """A masked array without masked cells as an ordinary one; a mask is never dropped without a word."""
    if not isinstance(array, np.ma.MaskedArray):
        return array
    hidden = np.argwhere(np.ma.getmaskarray(array))
    if len(hidden):
        names = ("row", "column")[: array.ndim] if array.ndim <= 2 else ("index",) * array.ndim
        place = ", ".join(f"{word} {where}" for word, where in zip(names, hidden[0].tolist(), strict=True))
        raise ValueError(
            f"{name} is a masked array with {len(hidden)} masked cells, the first at {place}. {IMPUTE} "
            f"{name}.filled(numpy.nan) makes them visible to it."
        )
    return np.ma.getdata(array)


def read_mask(at_random: ArrayLike | None, n_rows: int) -> AnyArray | None:
    """A yes or no for every row; None stays None."""
    if at_random is None:
        return None
    mask = np.asarray(at_random)
    if mask.dtype.kind in "iuf" and np.isin(mask, (0, 1)).all():
        mask = mask.astype(bool)
    if mask.dtype.kind != "b" or mask.shape != (n_rows,):
        raise ValueError(
            f"at_random must say True or False for each of the {n_rows} rows, got {mask.dtype} of shape {mask.shape}."
        )
    return mask


def _refuse_strange_columns(X: Any) -> None:
    """Dates and categories in a data frame turn into meaningless numbers, so they are named and refused."""
    for name, kind in _column_kinds(X):
        text = str(kind).lower()
        if any(word in text for word in ("date", "time", "duration")):
            raise ValueError(
                f"Column {name!r} of X holds dates ({kind}). Turn it into numbers first, e.g. days since a fixed day."
            )
        if text.startswith(("category", "categorical", "dictionary", "enum", "string", "large_string", "str")):
            raise ValueError(f"Column {name!r} of X is not numeric ({kind}). {ENCODE}")
        if text.startswith("object"):
            _refuse_words(X[name], name, kind)


def _column_kinds(X: Any) -> list[tuple[Any, Any]]:
    """Names and types of the columns of a data frame or an Arrow table; nothing for arrays."""
    schema = getattr(X, "schema", None)
    if schema is not None and hasattr(schema, "types"):  # Arrow
        return list(zip(schema.names, schema.types, strict=True))
    names, kinds = getattr(X, "columns", None), getattr(X, "dtypes", None)
    return [] if names is None or kinds is None else list(zip(names, kinds, strict=True))


def _refuse_words(column: Any, name: Any, kind: Any) -> None:
    """A column of Python objects may hold numbers, and is refused for its first cell that is something else."""
    for cell in column:
        if not is_missing(cell) and not isinstance(cell, (bool, int, float, np.number, np.bool_)):
            raise ValueError(f"Column {name!r} of X is not numeric ({kind}): it holds {cell!r}. {ENCODE}")


def _numbers(X: Any) -> Any:
    """An array or nested lists as an array; dates and words are refused, for neither becomes a number by itself."""
    values = as_array(X)
    _refuse_dates(values)
    if values.dtype.kind in "iu" and values.size and max(values.max(), -int(values.min())) > 2**53:
        warnings.warn("X holds whole numbers beyond 2**53, which lose their last digits.", UserWarning, stacklevel=4)
    if values.dtype.kind not in "OUS" or values.ndim != 2:
        return X
    cells = [[_number(cell, row, column) for column, cell in enumerate(line)] for row, line in enumerate(values)]
    return np.array(cells, dtype=float).reshape(values.shape)


def as_array(X: Any) -> AnyArray:
    """X as an array of at least one dimension, whose rows are equally long."""
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
            f"X holds dates or times ({values.dtype}). Turn them into numbers first, e.g. days since a fixed day."
        )


def _number(cell: Any, row: int, column: int) -> float:
    if is_missing(cell):
        return np.nan
    try:
        return float(cell)
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(
            f"X holds {cell!r} at row {row}, column {column}, which is not a number ({error}). {ENCODE}"
        ) from None


def _place_of_trouble(X: Any) -> str | None:
    """The first row and column that is not finite, in words."""
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
        f"X holds values up to {np.abs(values).max():.3g} (at {place}), whose powers overflow: correct the cell, or "
        "rescale the columns first, e.g. with sklearn.preprocessing.RobustScaler."
    )


def refuse_underflow(found: Any) -> None:
    """Refuse rows so small that their powers vanish."""
    values = found.data if sparse.issparse(found) else found
    largest = max(values.max(), -values.min()) if values.size else 0.0
    if 0 < largest < SMALLEST:
        raise ValueError(
            f"X holds no value beyond {largest:.3g}, and powers of such numbers vanish: rescale the columns first, "
            "e.g. with sklearn.preprocessing.StandardScaler."
        )
