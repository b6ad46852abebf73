"""Problems with a known answer, in memory and on disk."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

COLUMNS = ("a", "b", "c")


def mixture(n: int, *, n_classes: int = 2, labeled: float = 0.1, seed: int = 0, offset: float = 0.0):
    """Rows around one corner of a simplex per class, a few of them labelled: X, y with NaN, and the true classes."""
    rng = np.random.default_rng(seed)
    priors = {2: [0.7, 0.3], 3: [0.5, 0.3, 0.2]}[n_classes]
    truth = rng.choice(n_classes, size=n, p=priors)
    corners = 2.5 * np.eye(n_classes, 3)
    X = rng.normal(size=(n, 3)) + corners[truth] + offset
    y = np.where(rng.random(n) < labeled, truth, np.nan)
    y[:n_classes] = np.arange(n_classes)
    truth[:n_classes] = np.arange(n_classes)
    return X, y, truth


def table(X, y, **more) -> pa.Table:
    """Columns a, b, c and a nullable label."""
    columns = {name: X[:, j] for j, name in enumerate(COLUMNS)}
    return pa.table({**columns, "label": pa.array(y, from_pandas=True), **more})


def write_parquet(path: Path, X, y, rows: int = 1000, **more) -> Path:
    pq.write_table(table(X, y, **more), path, row_group_size=rows)
    return path


def splits_of(design, name: str, n: int):
    """The folds of a design as splits for PNUClassifier(cv=...)."""
    folds = design.folds(name, 0, n)
    return [(np.flatnonzero(folds != k), np.flatnonzero(folds == k)) for k in range(design.n_folds)]


def load_arrays(path):
    """All arrays of an npz file, which is closed again."""
    with np.load(path) as file:
        return dict(file)
