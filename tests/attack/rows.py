"""The inputs by name. Each takes clean rows and labels and gives what is tried instead."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from scipy import sparse

_rng = np.random.default_rng(0)
TRUTH = np.concatenate([np.ones(12), np.zeros(12), _rng.random(36) < 0.4])
X = _rng.normal(size=(60, 3)) + 1.5 * TRUTH[:, None]
Y = np.where(np.arange(60) < 24, TRUTH, np.nan)
SCORES = X.sum(axis=1) - 2.0
NAMES = list("abc")


def spoil(value: Any, kind: type = float) -> Any:
    bad = X.astype(kind)
    bad[3, 1] = value
    return bad


def relabel(positive: Any, negative: Any, missing: Any = None) -> Any:
    return np.array([missing if v != v else positive if v else negative for v in Y], dtype=object)


# Same rows in another form: the answer must be the same.
SAME_X: dict[str, Callable[[], Any]] = {
    "list": lambda: X.tolist(),
    "fortran": lambda: np.asfortranarray(X),
    "read_only": lambda: _read_only(X.copy()),
    "strided": lambda: np.repeat(X, 2, axis=1)[:, ::2],
    "big_endian": lambda: X.astype(">f8"),
    "unmasked": lambda: np.ma.masked_array(X),
    "object_numbers": lambda: X.astype(object),
    "csr": lambda: sparse.csr_matrix(X),
    "csc": lambda: sparse.csc_matrix(X),
    "coo": lambda: sparse.coo_matrix(X),
    "pandas": lambda: pd.DataFrame(X, columns=NAMES),
    "pandas_nullable": lambda: pd.DataFrame(X, columns=NAMES).astype("Float64"),
    "polars": lambda: pl.DataFrame(X, schema=NAMES),
    "arrow": lambda: pa.table({name: X[:, i] for i, name in enumerate(NAMES)}),
}
# Rows that cannot be used.
BAD_X: dict[str, Callable[[], Any]] = {
    "nan": lambda: spoil(np.nan),
    "infinity": lambda: spoil(np.inf),
    "minus_infinity": lambda: spoil(-np.inf),
    "nan_frame": lambda: pd.DataFrame(spoil(np.nan), columns=NAMES),
    "nan_sparse": lambda: sparse.csr_matrix(spoil(np.nan)),
    "na_object": lambda: spoil(pd.NA, object),
    "none_object": lambda: spoil(None, object),
    "word": lambda: spoil("word", object),
    "words": lambda: np.full((60, 3), "word"),
    "words_frame": lambda: pd.DataFrame({"a": ["word"] * 60}),
    "category": lambda: pd.DataFrame({"a": pd.Categorical(["u"] * 60)}),
    "dates_frame": lambda: pd.DataFrame({"a": pd.date_range("2020", periods=60)}),
    "datetime": lambda: X.astype("datetime64[s]"),
    "timedelta": lambda: X.astype("timedelta64[s]"),
    "nat": lambda: np.full((60, 3), np.datetime64("NaT")),
    "masked": lambda: np.ma.masked_array(X, X > 1),
    "complex": lambda: X + 1j,
    "huge": lambda: spoil(1e200),
    "one_dimension": lambda: X[:, 0],
    "three_dimensions": lambda: X[None],
    "no_columns": lambda: X[:, :0],
    "ragged": lambda: [[1.0, 2.0, 3.0], [1.0]] * 30,
    "text": lambda: "words",
    "nothing": lambda: None,
    "dictionary_cells": lambda: spoil({}, object),
}
# Rows that cannot be learnt from, though a fitted model may answer for them.
BAD_TO_FIT: dict[str, Callable[[], Any]] = {
    "no_rows": lambda: X[:0],
    "too_few_rows": lambda: X[:-1],
    "tiny": lambda: X * 1e-160,
    "identical": lambda: np.ones((60, 3)),
}
# The same labels in another form.
SAME_Y: dict[str, Callable[[], Any]] = {
    "y_list": lambda: [None if v != v else int(v) for v in Y],
    "y_nullable": lambda: pd.Series(Y).astype("Int64"),
    "y_polars": lambda: pl.Series([None if v != v else int(v) for v in Y]),
    "y_masked": lambda: np.ma.masked_array(np.nan_to_num(Y, nan=7.0), np.isnan(Y)),
    "y_object": lambda: relabel(1, 0, pd.NA),
}
BAD_Y: dict[str, Callable[[], Any]] = {
    "y_infinite": lambda: np.where(np.arange(60) == 3, np.inf, Y),
    "y_continuous": lambda: np.where(np.isnan(Y), np.nan, Y + 0.3 * np.arange(60)),
    "y_mixed": lambda: relabel("yes", 0),
    "y_dates": lambda: np.full(60, np.datetime64("2020-01-01")),
    "y_no_label": lambda: np.full(60, np.nan),
    "y_short": lambda: Y[:-1],
    "y_two_columns": lambda: np.column_stack([Y, Y]),
    "y_ambiguous": lambda: np.where(np.isnan(Y), -1, Y).astype(int),
    "y_nothing": lambda: None,
}
BAD_SCORES: dict[str, Callable[[], Any]] = {
    "s_nan": lambda: np.where(np.arange(60) == 3, np.nan, SCORES),
    "s_infinite": lambda: np.where(np.arange(60) == 3, np.inf, SCORES),
    "s_masked": lambda: np.ma.masked_array(SCORES, np.arange(60) == 3),
    "s_short": lambda: SCORES[:-1],
    "s_two_columns": lambda: np.column_stack([SCORES, SCORES]),
    "s_words": lambda: np.full(60, "word"),
}
UNSURE_SCORES: dict[str, Callable[[], Any]] = {
    "s_probabilities": lambda: 1 / (1 + np.exp(-SCORES)),
    "s_predictions": lambda: (SCORES > 0).astype(int),
}


def _read_only(array: Any) -> Any:
    array.flags.writeable = False
    return array
