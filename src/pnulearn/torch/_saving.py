"""Saving a fitted network as plain values (weights, layer sizes), so that loading it does not execute code."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import torch
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from pnulearn._arrays import AnyArray
from pnulearn._estimators.saving import LEARNT_TYPES, plain_parameters
from pnulearn._files.archive import read_archive, refuse_other_types
from pnulearn._files.refusals import ModelFileError, refuse_damage
from pnulearn.torch._modules import build_network, is_own, score_rows

KIND = "PNUNetClassifier"

Model = TypeVar("Model", bound=BaseEstimator)


def contents(model: Any) -> dict[str, Any]:
    """Contents of a fitted model as plain values, arrays and dataclasses."""
    check_is_fitted(model)
    learnt = {name: value for name, value in vars(model).items() if name.endswith("_") and name != "networks_"}
    values = plain_parameters(model) | {"device": "cpu"}
    values["network"] = None if is_own(model.network) else [int(size) for size in model.network]
    weights = [{name: _array(value) for name, value in net.state_dict().items()} for net in model.networks_]
    return {"parameters": values, "learnt": learnt, "weights": weights}


def _array(tensor: torch.Tensor) -> AnyArray:
    tensor = tensor.detach().cpu()
    return (tensor.float() if tensor.dtype == torch.bfloat16 else tensor).numpy()


def load_model(kind: type[Model], path: Any, network: Any = None) -> Model:
    """Read a model from a file. `network` is required if it was a module or a function."""
    found, content = read_archive(path, LEARNT_TYPES)
    if found != KIND:
        raise ModelFileError(f"{str(path)!r} contains a {found}, not a {KIND}. Open it with pnulearn.load.")
    with refuse_damage(path):
        return restore(kind, content, network)


def restore(kind: type[Model], content: dict[str, Any], network: Any = None) -> Model:
    """The model with these `contents`. Raises a ValueError if they are inconsistent."""
    values = dict(content["parameters"])
    if values["network"] is None and network is None:
        raise ModelFileError(
            "The network of this model is a module or a function, which is not saved in the file. Pass it to "
            "pnulearn.torch.PNUNetClassifier.load(path, network=...)."
        )
    values["network"] = network if values["network"] is None else tuple(values["network"])
    model: Any = kind(**values)
    vars(model).update(content["learnt"])
    if hasattr(model, "feature_names_in_"):
        model.feature_names_in_ = np.array(model.feature_names_in_, dtype=object)
    _refuse_broken(model)
    model.networks_ = [_with_weights(model, weights) for weights in content["weights"]]
    _require(len(model.networks_) > 0, "it contains no network")
    scores = [score_rows(net, np.zeros((1, model.n_features_in_))) for net in model.networks_]
    _require(bool(np.isfinite(scores).all()), "it gives no finite predictions")
    return model


def _with_weights(model: Any, weights: dict[str, AnyArray]) -> torch.nn.Module:
    for name, value in weights.items():
        _require(isinstance(value, np.ndarray) and value.dtype.kind in "biuf", f"{name} is not an array of numbers")
        _require(bool(np.isfinite(value).all()), f"{name} is not finite")
    tensors = {name: torch.from_numpy(np.ascontiguousarray(value)) for name, value in weights.items()}
    if is_own(model.network):
        net = build_network(model.network, model.n_features_in_)
        net.load_state_dict(tensors)
        return net.eval()
    with torch.device("meta"):  # no memory is allocated until the sizes match the weights
        net = build_network(model.network, model.n_features_in_)
    net.load_state_dict(tensors, assign=True)
    return net.eval()


def _refuse_broken(model: Any) -> None:
    """Raise a ValueError unless the attributes that predictions need are valid."""
    _require(
        isinstance(model.n_features_in_, int) and model.n_features_in_ > 0, "n_features_in_ is not a positive integer"
    )
    classes = np.asarray(model.classes_)
    _require(classes.shape == (2,) and len(set(classes.tolist())) == 2, "classes_ are not two distinct labels")
    _require(isinstance(model.prior_, float) and 0 < model.prior_ < 1, "prior_ is not between 0 and 1")
    names = getattr(model, "feature_names_in_", None)
    _require(names is None or np.shape(names) == (model.n_features_in_,), "feature_names_in_ has the wrong length")
    if model.calibration_ is not None:
        calibration = np.asarray(model.calibration_)
        _require(calibration.shape == (1, 2) and bool(np.isfinite(calibration).all()), "calibration_ is not finite")
    if model.risk_ is not None:
        refuse_other_types(model.risk_, "risk_")


def _require(holds: bool, problem: str) -> None:
    if not holds:
        raise ValueError(problem)
