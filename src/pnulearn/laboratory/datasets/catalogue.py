"""The data sets we know by name, where each comes from, and how to get it."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn.laboratory.datasets import folder as files
from pnulearn.laboratory.datasets import generators, openml

Loaded = tuple[AnyArray, AnyArray]
Folder = str | os.PathLike[str] | None


@dataclass(frozen=True)
class DataSet:
    """One set: how large it is, its share of positives, and a function that makes it (None: it must be in a folder).

    `note` says how it differs from the paper's version, empty if it does not.
    """

    name: str
    rows: int
    columns: int
    share: float
    source: str
    make: Callable[[], Loaded] | None = None
    note: str = ""


class DataSetMissing(LookupError):
    """A set that is not at hand; the message says how to get it."""


def _generate(name: str, generator: generators.Generator, rows: int, columns: int, share: float = 0.5) -> DataSet:
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
        _generate("two-gaussians", generators.two_gaussians, 4000, 2),
        _generate("generated-banana", generators.bananas, 4000, 2),
        _generate("generated-waveform", generators.waveform, 4000, 21, 0.3335),
        _generate("generated-g50c", generators.g50c, 4000, 50),
        DataSet("breast-cancer", 569, 30, 0.627, "scikit-learn", _breast_cancer),
        DataSet("digits-parity", 1797, 64, 0.496, "scikit-learn", _digits),
    )
}
BENCHMARK = tuple(KNOWN)[:16]  # Table 1 of the paper, in its order
IMAGES = tuple(KNOWN)[16:21]  # what stands in for Places205


def register(data: DataSet) -> None:
    """Make a set known by name. It must bring its own `make`, or lie in the data folder under that name."""
    KNOWN[data.name] = data


def find(name: str, folder: Folder = None) -> str:
    """Where a set would come from now: "folder", "generated", "scikit-learn", …, "OpenML", or "" if from nowhere."""
    if files.file_of(name, folder):
        return "folder"
    known = KNOWN.get(name)
    if known and known.make:
        return known.source
    return "OpenML" if name in openml.SOURCES else ""


def load_data(name: str, folder: Folder = None, download: bool = False) -> Loaded:
    """X as stored and y in {−1, +1}. A file in the folder comes first; OpenML is only asked if download is True.

    >>> X, y = load_data("generated-g50c")
    >>> X.shape, sorted(set(y.tolist()))
    ((4000, 50), [-1, 1])
    """
    path = files.file_of(name, folder)
    if path:
        return files.read_file(path)
    known = KNOWN.get(name)
    if known and known.make:
        return known.make()
    if download and name in openml.SOURCES:
        return openml.fetch(name)
    raise DataSetMissing(how_to_get(name))


def how_to_get(name: str) -> str:
    """What to type to have a set that is not at hand."""
    place = f"put {name}.npz (arrays X and y) in a folder and pass --data FOLDER or set {files.VARIABLE}"
    if name not in KNOWN:
        return f"{name} is not a known data set: {place}, or choose from: {', '.join(KNOWN)}."
    download = f", or pass --download (OpenML {openml.SOURCES[name].number})" if name in openml.SOURCES else ""
    return f"{name} ({KNOWN[name].source}) is not at hand: {place}{download}."


def listing(folder: Folder = None) -> list[dict[str, Any]]:
    """Every set by name with rows, columns, share of positives, source, whether it is at hand, and how to get it."""
    rows = [_describe(data, folder) for data in KNOWN.values()]
    for name in files.names_in(folder):
        if name not in KNOWN:
            X, y = load_data(name, folder)
            share = float(np.mean(y == 1))
            rows.append(_describe(DataSet(name, X.shape[0], X.shape[1], share, "folder"), folder))
    return rows


def _describe(data: DataSet, folder: Folder) -> dict[str, Any]:
    origin = find(data.name, folder)
    at_hand = origin not in ("", "OpenML")
    return {
        "name": data.name,
        "rows": data.rows,
        "columns": data.columns,
        "share": data.share,
        "source": data.source,
        "at_hand": at_hand,
        "how": origin if at_hand else how_to_get(data.name),
        "note": data.note,
    }
