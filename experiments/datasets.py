"""Data sets by name: generated, bundled with scikit-learn, from a folder of files, or from OpenML.

A set is X as stored and y in {−1, +1}. A file in the data folder comes first: npz with X and y, or csv and parquet
with a column y (the last column if none is called y).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

Loaded = tuple[np.ndarray, np.ndarray]
Folder = str | os.PathLike[str] | None
Generator = Callable[[np.random.Generator, int], Loaded]

FOLDER_VARIABLE = "PNULEARN_DATA"
ENDINGS = (".npz", ".parquet", ".csv")
G50C_DISTANCE = 3.29  # between the class means: the Bayes error is 5 %
SHARE_TOLERANCE = 0.005


@dataclass(frozen=True)
class DataSet:
    """One set: its size, its share of positives, and a function that makes it (None: it must be in a folder).

    `note` says how it differs from the paper's version, empty if it does not.
    """

    name: str
    rows: int
    columns: int
    share: float
    source: str
    make: Callable[[], Loaded] | None = None
    note: str = ""


@dataclass(frozen=True)
class OpenMLSource:
    """Where a set is on OpenML and what its positive class is called there.

    rows and share are what the download must look like, so that a changed file is noticed. `one_hot` encodes nominal
    columns as indicators; otherwise they become integer codes. `columns` keeps the first so many, `drop` leaves names
    out.
    """

    number: int
    positive: tuple[str, ...]
    rows: int
    share: float
    columns: int | None = None
    drop: tuple[str, ...] = ()
    one_hot: bool = False


class DataSetMissing(LookupError):
    """A set that is not available; the message says how to get it."""


class ChangedSource(ValueError):
    """A download that is not the set it used to be."""


def two_gaussians(rng: np.random.Generator, n: int, d: int = 2, distance: float = 2.0) -> Loaded:
    """Two unit Gaussians with means `distance` apart, in equal shares.

    The Bayes error is Φ(−distance / 2), reached by a linear classifier.
    """
    y = _balanced_labels(rng, n)
    X = rng.standard_normal((n, d)) + np.outer(y, np.full(d, distance / (2 * np.sqrt(d))))
    return X, y


def g50c(rng: np.random.Generator, n: int) -> Loaded:
    """The recipe of g50c: two unit Gaussians in 50 dimensions with a Bayes error of 5 %."""
    return two_gaussians(rng, n, d=50, distance=G50C_DISTANCE)


def bananas(rng: np.random.Generator, n: int, noise: float = 0.35) -> Loaded:
    """Two interleaving half circles of radius 1 with Gaussian noise."""
    y = _balanced_labels(rng, n)
    angle = rng.uniform(0, np.pi, n)
    X = np.column_stack([y * np.cos(angle) + (1 - y) / 2, y * np.sin(angle) + (1 - y) / 4])
    return X + noise * rng.standard_normal((n, 2)), y


def waveform(rng: np.random.Generator, n: int) -> Loaded:
    """Breiman's waves in 21 dimensions: one pair of base waves against the two other pairs, a third positive.

    A row is u h_a + (1 − u) h_b + noise with triangles h_1, h_2, h_3 centred at 7, 15 and 11; positive rows mix the
    first and the second.
    """
    time = np.arange(1, 22)
    triangles = np.stack([np.maximum(6 - np.abs(time - center), 0) for center in (7, 15, 11)])
    pairs = np.array([(0, 1), (0, 2), (1, 2)])
    kind = rng.permutation(n) % 3
    share = rng.uniform(size=(n, 1))
    first, second = triangles[pairs[kind, 0]], triangles[pairs[kind, 1]]
    return share * first + (1 - share) * second + rng.standard_normal((n, 21)), np.where(kind == 0, 1, -1)


def _balanced_labels(rng: np.random.Generator, n: int) -> np.ndarray:
    return np.where(rng.permutation(n) < n / 2, 1, -1)


def _generate(name: str, generator: Generator, rows: int, columns: int, share: float = 0.5) -> DataSet:
    return DataSet(name, rows, columns, share, "generated", lambda: generator(np.random.default_rng(0), rows))


def _breast_cancer() -> Loaded:
    from sklearn.datasets import load_breast_cancer

    X, y = load_breast_cancer(return_X_y=True)
    return X, np.where(y == 1, 1, -1)


def _digits() -> Loaded:
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    return X, np.where(y % 2 == 0, 1, -1)


OTHER_ROWS = "a random part of the full file"
KNOWN = {
    item.name: item
    for item in (
        DataSet("banana", 5300, 2, 0.448, "KEEL"),
        DataSet("phoneme", 5404, 5, 0.293, "ELENA"),
        DataSet("magic", 19020, 10, 0.648, "UCI"),
        DataSet("image", 2310, 18, 0.571, "UCI", note="the grouping of classes is a guess: not comparable"),
        DataSet("susy", 10000, 18, 0.459, "UCI", note=OTHER_ROWS),
        DataSet("german", 1000, 20, 0.300, "UCI", note="integer codes for nominal columns"),
        DataSet("waveform", 5000, 21, 0.329, "UCI", note="which class is positive is inferred"),
        DataSet("ijcnn1", 20000, 22, 0.096, "LIBSVM", note=OTHER_ROWS),
        DataSet("g50c", 550, 50, 0.500, "SSL book"),
        DataSet("covtype", 10000, 54, 0.484, "UCI", note=OTHER_ROWS),
        DataSet("spambase", 4601, 57, 0.394, "UCI"),
        DataSet("splice", 3175, 60, 0.519, "LIBSVM"),
        DataSet("phishing", 11055, 68, 0.557, "LIBSVM"),
        DataSet("a9a", 20000, 123, 0.239, "LIBSVM", note=f"123 columns where the paper lists 83; {OTHER_ROWS}"),
        DataSet("coil2", 1500, 241, 0.500, "SSL book"),
        DataSet("w8a", 49749, 300, 0.030, "LIBSVM"),
        DataSet("cifar_cat_v_dog_effnet", 12000, 1280, 0.500, "CIFAR-10 through EfficientNet-Lite0"),
        DataSet("fmnist_tshirt_v_shirt", 14000, 784, 0.500, "Fashion-MNIST"),
        DataSet("fmnist_pullover_v_coat", 14000, 784, 0.500, "Fashion-MNIST"),
        DataSet("mnist_4v9", 13782, 784, 0.495, "MNIST"),
        DataSet("mnist_7v9", 14251, 784, 0.512, "MNIST"),
        _generate("two-gaussians", two_gaussians, 4000, 2),
        _generate("generated-banana", bananas, 4000, 2),
        _generate("generated-waveform", waveform, 4000, 21, 0.3335),
        _generate("generated-g50c", g50c, 4000, 50),
        DataSet("breast-cancer", 569, 30, 0.627, "scikit-learn", _breast_cancer),
        DataSet("digits-parity", 1797, 64, 0.496, "scikit-learn", _digits),
    )
}
BENCHMARK = tuple(KNOWN)[:16]  # Table 1 of the paper, in its order
IMAGES = tuple(KNOWN)[16:21]  # used in place of Places205

OPENML = {
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


def register(data: DataSet) -> None:
    """Make a set known by name. It must bring its own `make`, or be in the data folder under that name."""
    KNOWN[data.name] = data


def load_data(name: str, folder: Folder = None, download: bool = False) -> Loaded:
    """X as stored and y in {−1, +1}. A file in the folder comes first; OpenML is only asked if download is True.

    >>> X, y = load_data("generated-g50c")
    >>> X.shape, sorted(set(y.tolist()))
    ((4000, 50), [-1, 1])
    """
    path = _file_of(name, folder)
    if path:
        return _read_file(path)
    known = KNOWN.get(name)
    if known and known.make:
        return known.make()
    if download and name in OPENML:
        return download_set(name)
    raise DataSetMissing(_how_to_get(name))


def find(name: str, folder: Folder = None) -> str:
    """Where a set would come from now: "folder", "generated", "scikit-learn", …, "OpenML", or "" if from nowhere."""
    if _file_of(name, folder):
        return "folder"
    known = KNOWN.get(name)
    if known and known.make:
        return known.source
    return "OpenML" if name in OPENML else ""


def list_data(folder: Folder = None) -> list[dict[str, Any]]:
    """Every set by name with rows, columns, share of positives, source, and whether it is available."""
    sets = dict(KNOWN)
    for name in _names_in(folder):
        if name not in sets:
            X, y = load_data(name, folder)
            sets[name] = DataSet(name, X.shape[0], X.shape[1], float(np.mean(y == 1)), "folder")
    return [
        {
            "name": data.name,
            "rows": data.rows,
            "columns": data.columns,
            "share": data.share,
            "source": data.source,
            "available": find(data.name, folder) not in ("", "OpenML"),
        }
        for data in sets.values()
    ]


def _how_to_get(name: str) -> str:
    place = f"put {name}.npz (arrays X and y) in a folder and pass --data FOLDER or set {FOLDER_VARIABLE}"
    if name not in KNOWN:
        return f"{name} is not a known data set: {place}, or choose from: {', '.join(KNOWN)}."
    download = f", or pass --download (OpenML {OPENML[name].number})" if name in OPENML else ""
    return f"{name} ({KNOWN[name].source}) is not available: {place}{download}."


def _data_folder(folder: Folder) -> Path | None:
    """The folder given, else the one that PNULEARN_DATA names, else none."""
    name = folder or os.environ.get(FOLDER_VARIABLE)
    if not name:
        return None
    path = Path(name).expanduser()
    if not path.is_dir():
        raise FileNotFoundError(
            f"{str(path)!r} is not a folder. Pass --data or set {FOLDER_VARIABLE} to a folder of data files."
        )
    return path


def _file_of(name: str, folder: Folder) -> Path | None:
    path = _data_folder(folder)
    found = [path / f"{name}{ending}" for ending in ENDINGS if (path / f"{name}{ending}").is_file()] if path else []
    return found[0] if found else None


def _names_in(folder: Folder) -> list[str]:
    path = _data_folder(folder)
    return sorted({file.stem for file in path.iterdir() if file.suffix in ENDINGS}) if path else []


def _read_file(path: Path) -> Loaded:
    X, y = _read_npz(path) if path.suffix == ".npz" else _read_table(path)
    if X.ndim != 2 or len(X) != len(y) or X.dtype.kind not in "biuf":
        raise ValueError(f"{path}: needs X of numbers with one row per label, found X {X.dtype} {X.shape}.")
    labels = np.unique(y)
    if len(labels) != 2:
        raise ValueError(f"{path}: y must hold two labels, found {len(labels)}: {labels[:5].tolist()}.")
    return X, np.where(y == labels[1], 1, -1)


def _read_npz(path: Path) -> Loaded:
    with np.load(path, allow_pickle=False) as content:
        missing = {"X", "y"} - set(content.files)
        if missing:
            raise ValueError(f"{path}: no array {sorted(missing)[0]!r}, found {sorted(content.files)}.")
        return content["X"], content["y"]


def _read_table(path: Path) -> Loaded:
    table = pd.read_parquet(path) if path.suffix == ".parquet" else pd.read_csv(path)
    target = "y" if "y" in table else table.columns[-1]
    X, y = table.drop(columns=target), table[target]
    wrong = [name for name in X if X[name].dtype.kind not in "biuf"]
    if wrong:
        raise ValueError(f"{path}: column {wrong[0]!r} is not numeric. Encode it first.")
    if y.isna().any():
        raise ValueError(f"{path}: column {target!r} has no label in row {int(y.isna().argmax()) + 1}.")
    return X.to_numpy(), y.to_numpy()


def download_set(name: str) -> Loaded:
    """Download a set, or take it from scikit-learn's cache. scikit-learn compares the file with OpenML's checksum."""
    from sklearn.datasets import fetch_openml

    source = OPENML[name]
    bunch = fetch_openml(data_id=source.number, as_frame="auto", parser="auto")
    y = np.array([str(label) for label in bunch.target])
    positive = np.isin(y, source.positive)
    if len(y) != source.rows or abs(positive.mean() - source.share) > SHARE_TOLERANCE:
        raise ChangedSource(
            f"OpenML {source.number} has {len(y)} rows with a share of {positive.mean():.3f} positive; {name} should "
            f"have {source.rows} and {source.share:.3f}. Labels found: {np.unique(y)[:8].tolist()}."
        )
    return _as_numbers(bunch.data, source), np.where(positive, 1, -1)


def _as_numbers(data: Any, source: OpenMLSource) -> np.ndarray:
    """Columns as numbers; nominal ones as integer codes or indicators."""
    if hasattr(data, "toarray"):
        return data.toarray()
    if not hasattr(data, "columns"):
        return np.asarray(data, dtype=float)
    names = [name for name in data.columns if name not in source.drop][: source.columns]
    columns = [_encode(data[name], source.one_hot) for name in names]
    return np.concatenate(columns, axis=1).astype(float)


def _encode(column: Any, one_hot: bool) -> np.ndarray:
    if column.dtype.kind in "biuf":
        return column.to_numpy()[:, None]
    values, codes = np.unique(column.to_numpy().astype(str), return_inverse=True)
    return np.eye(len(values))[codes] if one_hot else codes[:, None]
