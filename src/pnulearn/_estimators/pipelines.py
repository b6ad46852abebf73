"""Saving a scikit-learn pipeline as plain values, so that loading it does not execute code from the file.

Only the classes listed below are saved and restored, by setting their attributes. Pickle is not used. Saving raises a
TypeError for values that are not plain data, such as functions.
"""

from __future__ import annotations

from collections import UserList
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import version
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import Bunch

from pnulearn._estimators.classifier import PNUClassifier
from pnulearn._estimators.saving import contents, restore, warn_of_other_scikit_learn

KIND = "PNUPipeline"
TAG = "kind of value"
_MODULES = {
    "pipeline": "Pipeline FeatureUnion",
    "compose": "ColumnTransformer",
    "preprocessing": (
        "Binarizer FunctionTransformer KBinsDiscretizer MaxAbsScaler MinMaxScaler Normalizer OneHotEncoder "
        "OrdinalEncoder PolynomialFeatures PowerTransformer QuantileTransformer RobustScaler StandardScaler"
    ),
    "impute": "MissingIndicator SimpleImputer",
    "decomposition": "PCA TruncatedSVD",
    "feature_extraction": "DictVectorizer FeatureHasher",
    "feature_extraction.text": "CountVectorizer HashingVectorizer TfidfTransformer TfidfVectorizer",
    "feature_selection": "VarianceThreshold",
    "kernel_approximation": "Nystroem RBFSampler",
}
KNOWN = {name: f"sklearn.{module}" for module, names in _MODULES.items() for name in names.split()}
# Classifiers that are imported on demand, with their package; its module `_saving` has `contents` and `restore`.
LATE = {"PNUNetClassifier": "pnulearn.torch"}
PLAIN = (bool, int, float, str, np.generic, type(None))


def flatten(model: BaseEstimator) -> dict[str, Any]:
    """A fitted pipeline, or any scikit-learn estimator listed above, as plain values."""
    return {"model": _plain(model, type(model).__name__), "scikit-learn": version("scikit-learn")}


def rebuild(content: dict[str, Any]) -> Any:
    """The estimator with this content. Warns if it was saved with another version of scikit-learn."""
    warn_of_other_scikit_learn("pipeline", content["scikit-learn"])
    return _value(content["model"])


def _plain(value: Any, where: str) -> Any:
    if isinstance(value, PLAIN) or (isinstance(value, np.ndarray) and value.dtype.kind in "biufcUSMm"):
        return value
    if isinstance(value, UserList):  # of ColumnTransformer before scikit-learn 1.7
        return _plain(value.data, where)
    if isinstance(value, list | tuple):
        return type(value)(_plain(item, where) for item in value)
    for name, (kind, parts, _) in VALUES.items():
        if isinstance(value, kind):
            return {TAG: name, "parts": [_plain(part, where) for part in parts(value)]}
    if isinstance(value, type) and issubclass(value, np.generic):
        return {TAG: "type", "parts": [np.dtype(value).name]}
    if isinstance(value, PNUClassifier):
        return {TAG: "PNUClassifier", "parts": contents(value)}
    name = type(value).__name__
    if type(value).__module__.startswith(f"{LATE.get(name, '-')}."):
        return {TAG: name, "parts": import_module(f"{LATE[name]}._saving").contents(value)}
    if isinstance(value, BaseEstimator) and type(value).__module__.startswith(f"{KNOWN.get(name, '-')}"):
        return {TAG: "estimator", "name": name, "parts": _plain(vars(value), name)}
    raise TypeError(
        f"{where} contains a {name}, which cannot be saved in a model file, because restoring it would execute code. "
        "Save with skops or joblib instead, or save the classifier alone with model[-1].save(path)."
    )


def _value(content: Any) -> Any:
    if isinstance(content, list | tuple):
        return type(content)(map(_value, content))
    if not isinstance(content, dict):
        return content
    kind, parts = content[TAG], content["parts"]
    if kind == "PNUClassifier":
        return restore(PNUClassifier, parts)
    if kind in LATE:
        return import_module(f"{LATE[kind]}._saving").restore(getattr(import_module(LATE[kind]), kind), parts)
    if kind == "type":
        return np.dtype(parts[0]).type
    if kind == "estimator":
        cls = getattr(import_module(KNOWN[content["name"]]), content["name"])
        estimator = cls.__new__(cls)
        estimator.__dict__.update(_value(parts))
        return estimator
    return VALUES[kind][2](*map(_value, parts))


def _objects(shape: tuple[int, ...], items: list[Any]) -> Any:
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array.reshape(shape)


# Kinds of values: the type, a function that takes it apart, and one that builds it from the parts.
VALUES: dict[str, tuple[Any, Callable[[Any], Any], Callable[..., Any]]] = {
    "bunch": (
        Bunch,
        lambda value: [list(value), list(value.values())],
        lambda k, v: Bunch(**dict(zip(k, v, strict=True))),
    ),
    "dict": (dict, lambda value: [list(value), list(value.values())], lambda k, v: dict(zip(k, v, strict=True))),
    "set": (set, lambda value: [sorted(value)], set),
    "slice": (slice, lambda value: [value.start, value.stop, value.step], slice),
    "dtype": (np.dtype, lambda value: [value.str], np.dtype),
    "objects": (np.ndarray, lambda value: [value.shape, value.ravel().tolist()], _objects),
    "sparse": (
        (sparse.csr_matrix, sparse.csr_array),
        lambda value: [value.data, value.indices, value.indptr, value.shape],
        lambda data, indices, pointers, shape: sparse.csr_matrix((data, indices, pointers), shape=shape),
    ),
}
