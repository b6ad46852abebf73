"""Saving a fitted classifier as plain values, so that loading it does not execute code."""

from __future__ import annotations

import warnings
from dataclasses import MISSING, fields
from importlib.metadata import version
from typing import Any, TypeVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from pnulearn._arrays import AnyArray
from pnulearn._files.archive import refuse_other_types
from pnulearn._kernels.registry import KERNELS
from pnulearn._learning.result import OPTIONAL, FitResult
from pnulearn._learning.selection import SearchTable
from pnulearn.losses import Loss
from pnulearn.metrics._estimate import RiskEstimate
from pnulearn.priors._estimate import PriorEstimate

PLAIN = (bool, int, float, str, list, tuple, dict, np.ndarray, np.generic, type(None))
NUMBERS = ("coef_", "intercept_", "centers_", "bandwidths_", "calibration_", "prior_", "rank_values_", "rank_scores_")

LEARNT_TYPES = (SearchTable, RiskEstimate, PriorEstimate)  # dataclasses among the attributes of a fitted model

Model = TypeVar("Model", bound=BaseEstimator)


def contents(model: BaseEstimator) -> dict[str, Any]:
    """Contents of a fitted model as plain values, arrays and dataclasses. Raises a ValueError if it cannot predict."""
    check_is_fitted(model)
    try:
        refuse_broken(model)
    except ValueError as error:
        raise ValueError(f"This model cannot be saved: {error}. Fit it again.") from None
    learnt = {name: value for name, value in vars(model).items() if name.endswith("_")}
    return {"parameters": plain_parameters(model), "learnt": learnt}


def restore(kind: type[Model], content: dict[str, Any]) -> Model:
    """The model with these `contents`. Raises a ValueError if they are inconsistent."""
    model = kind(**content["parameters"])
    vars(model).update(content["learnt"])
    refuse_broken(model)
    return model


def warn_of_other_scikit_learn(what: str, saved_with: str) -> None:
    """Warn if the model was saved with another version of scikit-learn, which does not guarantee compatibility."""
    if saved_with != version("scikit-learn"):
        warnings.warn(
            f"This {what} was saved with scikit-learn {saved_with} and loaded with "
            f"{version('scikit-learn')}, which may change its predictions. Check some of them.",
            UserWarning,
            stacklevel=4,
        )


def refuse_broken(model: Any) -> None:
    """Raise a ValueError unless fitted attributes exist, are finite, have consistent shapes and give predictions."""
    _refuse_absent(model)
    _refuse_not_finite(model)
    _refuse_other_shapes(model)
    refuse_other_types(model.search_, "search_")
    _refuse_search(model.search_)
    if model.risk_ is not None:
        refuse_other_types(model.risk_, "risk_")
    with np.errstate(all="ignore"):
        shares = type(model).predict_proba(_nameless(model), np.zeros((1, model.n_features_in_)))
    _require(
        shares.shape == (1, len(model.classes_)) and bool(np.isfinite(shares).all()), "it gives no finite predictions"
    )


def _refuse_absent(model: Any) -> None:
    needed = {f"{field.name}_" for field in fields(FitResult) if field.default is MISSING and field.name != "function"}
    for name in sorted({*needed, "coef_", "intercept_"} - {f"{name}_" for name in OPTIONAL}):
        _require(hasattr(model, name), f"{name} is missing")
    _require(model.kernel in KERNELS, f"kernel is {model.kernel!r}, which is not known")
    _require(not KERNELS[model.kernel].has_bandwidth or hasattr(model, "centers_"), "centers_ is missing")


def _refuse_not_finite(model: Any) -> None:
    for name in NUMBERS:
        value = getattr(model, name, None)
        if value is not None or name == "prior_":
            array = np.asarray(value)
            _require(array.dtype.kind in "iuf" and bool(np.isfinite(array).all()), f"{name} is not finite")


def _refuse_other_shapes(model: Any) -> None:
    n_classes, d = len(model.classes_), model.n_features_in_
    n_outputs = 1 if n_classes == 2 else n_classes
    _require(isinstance(d, int) and d > 0, f"n_features_in_ is {d!r}")
    distinct = len(set(np.asarray(model.classes_).tolist()))
    _require(
        np.ndim(model.classes_) == 1 and n_classes > 1 and distinct == n_classes,
        "classes_ are not two or more distinct labels",
    )
    expected = {"intercept_": (n_outputs,), "coef_": (n_outputs, d)}
    if KERNELS[model.kernel].has_bandwidth:
        n_centers, n_bandwidths = len(model.centers_), len(model.bandwidths_)
        expected |= {"centers_": (n_centers, d), "bandwidths_": (n_bandwidths,)}
        expected["coef_"] = (n_outputs, n_bandwidths, n_centers)
        _require(n_centers > 0 and bool((model.bandwidths_ > 0).all()), "bandwidths_ are not positive")
        expected |= _rank_shapes(model)
    if getattr(model, "calibration_", None) is not None:
        expected["calibration_"] = (n_outputs, 2)
    if hasattr(model, "feature_names_in_"):
        expected["feature_names_in_"] = (d,)
    expected["prior_"] = () if n_classes == 2 else (n_classes,)
    for name, shape in expected.items():
        found = np.shape(getattr(model, name))
        _require(found == shape, f"{name} has shape {found}, not {shape}")
    prior = np.atleast_1d(model.prior_)
    _require(bool(((prior > 0) & (prior < 1)).all()), "prior_ is not between 0 and 1")


def _rank_shapes(model: Any) -> dict[str, tuple[int, ...]]:
    """Expected shapes of the attributes for ranks. The knots must be sorted."""
    if not hasattr(model, "ranked_"):
        return {}
    for name in ("rank_values_", "rank_scores_"):
        _require(hasattr(model, name), f"{name} is missing")
        _require(np.ndim(getattr(model, name)) == 2, f"{name} is not two-dimensional")
        _require(bool((np.diff(getattr(model, name)) >= 0).all()), f"{name} is not sorted")
    _require(model.ranked_.dtype.kind == "b", "ranked_ is not boolean")
    shape = (model.n_features_in_, model.rank_values_.shape[1])
    _require(shape[1] > 0, "rank_values_ is empty")
    return {"ranked_": (len(model.bandwidths_),), "rank_values_": shape, "rank_scores_": shape}


def _refuse_search(table: SearchTable) -> None:
    shape = tuple(len(_line(values)) for values in table.values.values())
    for name in ("zero_one", "squared", "weight"):
        found = getattr(table, name).shape
        _require(found == shape, f"search_.{name} has shape {found}, not {shape}")
        _require(getattr(table, name).dtype.kind == "f", f"search_.{name} does not contain floats")
    _require(
        table.columns is None or len(table.columns) == shape[0], "search_.columns does not have one entry per bandwidth"
    )


def _line(values: AnyArray) -> AnyArray:
    _require(
        values.ndim == 1 and values.dtype.kind in "iuf", "an axis of search_ is not a one-dimensional array of numbers"
    )
    return values


def _nameless(model: Any) -> Any:
    """A copy of the model without feature names."""
    twin = type(model)(**model.get_params(deep=False))
    vars(twin).update({name: value for name, value in vars(model).items() if name != "feature_names_in_"})
    return twin


def _require(holds: bool, problem: str) -> None:
    if not holds:
        raise ValueError(problem)


def plain_parameters(model: BaseEstimator) -> dict[str, Any]:
    """Parameters as plain values. A loss is replaced by its name, and a splitter by the default of `cv`."""
    defaults = type(model)().get_params()
    named = {name: value.name if isinstance(value, Loss) else value for name, value in model.get_params(False).items()}
    kept = (*PLAIN, PriorEstimate)
    return {name: value if isinstance(value, kept) else defaults[name] for name, value in named.items()}
