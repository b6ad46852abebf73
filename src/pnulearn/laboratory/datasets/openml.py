"""Sets that OpenML has, turned into X and y as the paper used them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pnulearn._arrays import AnyArray

SHARE_TOLERANCE = 0.005


@dataclass(frozen=True)
class OpenMLSource:
    """Where a set is on OpenML and what its positive class is called there.

    rows and share are what the download must look like, so that a changed file is noticed. `one_hot` spreads nominal
    columns out; otherwise they become integer codes. `columns` keeps the first so many, `drop` leaves names out.
    """

    number: int
    positive: tuple[str, ...]
    rows: int
    share: float
    columns: int | None = None
    drop: tuple[str, ...] = ()
    one_hot: bool = False


SOURCES = {
    "banana": OpenMLSource(1460, ("2",), 5300, 0.448),
    "phoneme": OpenMLSource(1489, ("2",), 5404, 0.293),
    "magic": OpenMLSource(1120, ("g",), 19020, 0.648),
    "image": OpenMLSource(36, ("window", "path", "grass", "cement"), 2310, 0.571, drop=("region-pixel-count",)),
    "german": OpenMLSource(31, ("bad",), 1000, 0.300),
    "waveform": OpenMLSource(60, ("1",), 5000, 0.331, columns=21),
    "covtype": OpenMLSource(293, ("1", "1.0"), 581012, 0.488),
    "spambase": OpenMLSource(44, ("1",), 4601, 0.394),
    "phishing": OpenMLSource(4534, ("1",), 11055, 0.557, one_hot=True),
    "a9a": OpenMLSource(1430, ("1", "1.0"), 48842, 0.239),
}


class ChangedSource(ValueError):
    """A download that is not the set it used to be."""


def fetch(name: str, cache: str | None = None) -> tuple[AnyArray, AnyArray]:
    """Download a set, or take it from scikit-learn's cache. scikit-learn compares the file with OpenML's checksum."""
    from sklearn.datasets import fetch_openml

    source = SOURCES[name]
    bunch = fetch_openml(data_id=source.number, data_home=cache, as_frame="auto", parser="auto")
    y = np.array([str(label) for label in bunch.target])
    positive = np.isin(y, source.positive)
    if len(y) != source.rows or abs(positive.mean() - source.share) > SHARE_TOLERANCE:
        raise ChangedSource(
            f"OpenML {source.number} has {len(y)} rows with a share of {positive.mean():.3f} positive; {name} should "
            f"have {source.rows} and {source.share:.3f}. Labels found: {np.unique(y)[:8].tolist()}."
        )
    return _numbers(bunch.data, source), np.where(positive, 1, -1)


def _numbers(data: Any, source: OpenMLSource) -> AnyArray:
    """Columns as numbers; nominal ones as integer codes or spread out."""
    if hasattr(data, "toarray"):
        return data.toarray()
    if not hasattr(data, "columns"):
        return np.asarray(data, dtype=float)
    names = [name for name in data.columns if name not in source.drop][: source.columns]
    columns = [_encode(data[name], source.one_hot) for name in names]
    return np.concatenate(columns, axis=1).astype(float)


def _encode(column: Any, one_hot: bool) -> AnyArray:
    if column.dtype.kind in "biuf":
        return column.to_numpy()[:, None]
    values, codes = np.unique(column.to_numpy().astype(str), return_inverse=True)
    return np.eye(len(values))[codes] if one_hot else codes[:, None]
