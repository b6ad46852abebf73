"""A fitted classifier as plain values, from which the same one can be made again without running code."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from pnulearn.losses import Loss

PLAIN = (bool, int, float, str, list, tuple, dict, np.ndarray, np.generic, type(None))

Model = TypeVar("Model", bound=BaseEstimator)


def contents(model: BaseEstimator) -> dict[str, Any]:
    """What a fitted model is made of, as plain values, arrays and dataclasses."""
    check_is_fitted(model)
    learnt = {name: value for name, value in vars(model).items() if name.endswith("_")}
    return {"parameters": _plain_parameters(model), "learnt": learnt}


def restore(kind: type[Model], content: dict[str, Any]) -> Model:
    """The model with these `contents`."""
    model = kind(**content["parameters"])
    vars(model).update(content["learnt"])
    return model


def _plain_parameters(model: BaseEstimator) -> dict[str, Any]:
    """Parameters as plain values. A loss becomes its name; splitters are no longer needed and become the default."""
    defaults = type(model)().get_params()
    named = {name: value.name if isinstance(value, Loss) else value for name, value in model.get_params(False).items()}
    return {name: value if isinstance(value, PLAIN) else defaults[name] for name, value in named.items()}
