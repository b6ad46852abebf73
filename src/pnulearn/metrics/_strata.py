"""Strata of rows with similar predictions of second models ("helpers"), for post-stratification."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.special import logit

from pnulearn._arrays import AnyArray, FloatArray, IntArray
from pnulearn._problem.inputs import unmasked
from pnulearn._problem.labels import is_missing
from pnulearn.metrics._second_model import LEAST_SHARE, calibrate_opinion

MOST_CELLS = 20  # combinations of predictions that are kept apart if labels were chosen by them
MOST_STRATA = 10
LABELS_PER_STRATUM = 25  # with 10, intervals cover less: strata without relation to the label look useful by chance
LEAST_LABELS = 2  # a stratum with fewer labels is merged with its neighbour
N_BINS = 64  # of the calibrated probability, for the rule of Dalenius and Hodges


def read_helpers(helper: Any, n_rows: int) -> dict[str, AnyArray]:
    """Columns of predictions by name: from one array, a table, a data frame or a mapping from names to arrays.

    >>> list(read_helpers({"judge": ["good", "bad"]}, 2))
    ['judge']
    """
    if isinstance(helper, Mapping):
        columns = {str(name): np.asarray(unmasked(column, "helper")) for name, column in helper.items()}
    elif hasattr(helper, "columns") and hasattr(helper, "shape"):
        columns = {str(name): np.asarray(helper[name]) for name in helper.columns}
    else:
        values = np.asarray(unmasked(helper, "helper"))
        if values.ndim not in (1, 2):
            raise ValueError(f"helper must have one column per second model, got an array of shape {values.shape}.")
        columns = {"helper": values} if values.ndim == 1 else {f"helper {k}": c for k, c in enumerate(values.T)}
    if not columns:
        raise ValueError("helper has no column. Pass one prediction per row, or leave helper out.")
    for name, column in columns.items():
        if column.shape != (n_rows,):
            raise ValueError(f"{name} has shape {column.shape} and y has {n_rows} rows: one prediction per row.")
        missing = np.zeros(n_rows, dtype=bool) if column.dtype.kind in "biuU" else _missing(column)
        if missing.any():
            raise ValueError(
                f"{name} is missing in {int(missing.sum())} rows, first in row {int(np.argmax(missing))}. Every row "
                "needs a prediction: leave these rows out, or give them a value of their own such as 'none'."
            )
    return columns


def _missing(column: AnyArray) -> AnyArray:
    if column.dtype.kind == "f":
        return np.asarray(np.isnan(column))
    return np.fromiter(map(is_missing, column.tolist()), dtype=bool, count=len(column))


def is_number(column: AnyArray) -> bool:
    return column.dtype.kind in "biuf"


def encode_helpers(columns: Mapping[str, AnyArray], labeled: IntArray, positive: AnyArray) -> FloatArray:
    """Columns as numbers (rows, columns), increasing in the chance that a row is positive for categories.

    Probabilities become log-odds, other numbers are standardised. A category becomes the smoothed log-odds of the
    labels in it; with one column this only gives the order of the categories.
    """
    return np.column_stack([_encode(column, labeled, positive) for column in columns.values()])


def _encode(column: AnyArray, labeled: IntArray, positive: AnyArray) -> FloatArray:
    if is_number(column):
        values = column.astype(float)
        if not np.isfinite(values).all():
            raise ValueError("helper holds infinite values. Replace them by the largest finite score.")
        if values.min() >= 0 and values.max() <= 1:
            return np.asarray(logit(np.clip(values, LEAST_SHARE, 1 - LEAST_SHARE)))
        return (values - np.median(values)) / (values.std() or 1.0)
    codes = np.unique(column.astype(str), return_inverse=True)[1]
    counts = np.bincount(codes[labeled], minlength=codes.max() + 1)
    good = np.bincount(codes[labeled], weights=positive, minlength=codes.max() + 1)
    overall = (positive.sum() + 0.5) / (len(positive) + 1)
    odds = logit((good + overall) / (counts + 1))
    return np.asarray(odds[codes] + 1e-9 * codes)  # equal odds stay different categories


def separate_cells(opinions: FloatArray, most: int = MOST_CELLS) -> IntArray | None:
    """Combinations of predictions as strata; None if there are too many."""
    if any(len(np.unique(column)) > most for column in opinions.T):
        return None  # scores: finding all combinations of many rows takes long
    cells, code = np.unique(opinions, axis=0, return_inverse=True)
    return code.ravel() if len(cells) <= most else None


def few_cells(opinions: FloatArray, labeled: IntArray) -> IntArray | None:
    """Combinations of predictions as strata if there are enough labels for so many; rare ones are merged."""
    code = separate_cells(opinions, max(2, len(labeled) // LABELS_PER_STRATUM))
    return None if code is None else _merge(code, opinions.mean(axis=1), labeled)


def score_ranges(opinions: FloatArray, labeled: IntArray, positive: AnyArray, weight: AnyArray) -> IntArray:
    """Ranges of a calibrated probability as strata, for labels that were chosen by scores.

    They follow the rule of Dalenius and Hodges (equal parts of the cumulative square root of the density), which
    approximates the strata of least variance. Neighbours are merged until every stratum has labels.

    References
    ----------
    Dalenius and Hodges (1959), Minimum variance stratification. JASA 54.
    """
    most = int(np.clip(len(labeled) // LABELS_PER_STRATUM, 2, MOST_STRATA))
    probability = _calibrated(opinions, labeled, positive, weight)
    return _merge(_ranges(probability, most), probability, labeled)


def _calibrated(opinions: FloatArray, labeled: IntArray, positive: AnyArray, weight: AnyArray) -> FloatArray:
    """Probability of the positive class; the mean opinion if only one class is labelled."""
    if positive.min() == positive.max():
        return np.asarray(opinions.mean(axis=1))
    chosen = [labeled[positive == 1], labeled[positive == 0]]
    parts = [*chosen, np.arange(len(opinions))]
    share = float(np.clip(positive.mean(), LEAST_SHARE, 1 - LEAST_SHARE))
    return calibrate_opinion([opinions[rows] for rows in parts], [weight[rows] for rows in parts], share)(opinions)


def _ranges(values: FloatArray, n_strata: int) -> IntArray:
    low, high = values.min(), values.max()
    bins = np.minimum(((values - low) / ((high - low) or 1.0) * N_BINS).astype(int), N_BINS - 1)
    root = np.cumsum(np.sqrt(np.bincount(bins, minlength=N_BINS)))
    stratum = np.minimum((root - root[0] / 2) / root[-1] * n_strata, n_strata - 1).astype(int)
    return np.unique(stratum[bins], return_inverse=True)[1]


def _merge(code: IntArray, probability: FloatArray, labeled: IntArray) -> IntArray:
    """Strata in order of their mean probability, joined with the nearer neighbour while they have too few labels."""
    size = np.bincount(code)
    center = np.bincount(code, weights=probability) / size
    parts = [([k], center[k], size[k]) for k in np.argsort(center, kind="stable")]
    labels = np.bincount(code[labeled], minlength=len(size))
    while len(parts) > 1:
        few = [index for index, (members, _, _) in enumerate(parts) if labels[members].sum() < LEAST_LABELS]
        if not few:
            break
        one = few[0]
        beside = [k for k in (one - 1, one + 1) if 0 <= k < len(parts)]
        other = min(beside, key=lambda k: abs(parts[k][1] - parts[one][1]))
        left, right = sorted((one, other))
        a, b = parts[left], parts[right]
        total = a[2] + b[2]
        parts[left : right + 1] = [(a[0] + b[0], (a[1] * a[2] + b[1] * b[2]) / total, total)]
    place = np.empty(len(size), dtype=int)
    for index, (members, _, _) in enumerate(parts):
        place[members] = index
    return place[code]
