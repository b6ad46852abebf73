"""Export to ONNX: a graph of standard operators, in double or single precision, with the same labels as the model.

g = Σ_σ φ_σ(x)′w_σ + w_0, where each kernel exports its own φ;    label = classes[g > 0] or classes[argmax g]

The graph of a `PriorAdjusted` is that of its model by skl2onnx, and then slope × log-probabilities + shift.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pnulearn._arrays import AnyArray
from pnulearn._estimators.prior_adjusted import LEAST, has_odds
from pnulearn._extras import import_extra
from pnulearn._files.outputs import ONNX, Output, check_outputs
from pnulearn._files.writing import write_atomically
from pnulearn._kernels.registry import KERNELS

if TYPE_CHECKING:
    from onnx import ModelProto

    from pnulearn._estimators.classifier import PNUClassifier
    from pnulearn._estimators.prior_adjusted import PriorAdjusted

OPSET = 18
ML_OPSET = 3  # of the operators for trees and other models of scikit-learn
DTYPES = ("float64", "float32")


def to_onnx(
    model: PNUClassifier | PriorAdjusted, *, dtype: str = "float64", feature_names: Sequence[str] | None = None
) -> ModelProto:
    """The model as ONNX: from X (n, d) to label (n,), score (n,) or (n, classes), probability (n, classes).

    Rows exactly on the decision boundary may get either label because of rounding.

    Parameters
    ----------
    model : PNUClassifier or PriorAdjusted
        A fitted model. For a `PriorAdjusted`, skl2onnx converts the model inside; it must be installed, know that kind
        of model, and the model must have `predict_proba` and take rows of numbers.
    dtype : str
        "float64", or "float32" for runtimes without double precision. With "float32", X, all computations and all
        outputs have about seven digits.
    feature_names : sequence of str, optional
        Names of the columns of X, stored in the metadata of the export; by default those of the fitted model.

    Examples
    --------
    >>> import numpy as np
    >>> from pnulearn import PNUClassifier
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> y = np.where(np.arange(60) < 20, X[:, 0] > 0, np.nan)
    >>> model = PNUClassifier(kernel="linear", prior=0.5, cv=2, random_state=0).fit(X, y)
    >>> to_onnx(model, dtype="float32").graph.input[0].type.tensor_type.elem_type  # float
    1
    """
    check_is_fitted(model)
    adjusted = hasattr(model, "adjustment_")
    if not adjusted and not hasattr(model, "kernel"):
        raise TypeError(
            f"A {type(model).__name__} cannot be exported to ONNX, only a PNUClassifier (fit with learner='pnu') or a "
            "PriorAdjusted can."
        )
    if dtype not in DTYPES:
        raise ValueError(f"dtype must be one of {', '.join(map(repr, DTYPES))}, got {dtype!r}.")
    if model.classes_.dtype.kind not in "biufU":
        raise TypeError(f"Labels of type {model.classes_.dtype} cannot be exported to ONNX.")
    onnx = _package()
    graph = _Graph(onnx, np.dtype(dtype))
    opsets = [onnx.helper.make_opsetid("", OPSET)]
    if adjusted:
        opsets += _draw_adjusted(graph, model)
    else:
        _answers(graph, model, KERNELS[model.kernel].draw(graph, vars(model)))
    exported = onnx.helper.make_model(
        graph.finish(model.n_features_in_), opset_imports=opsets, producer_name="pnulearn", ir_version=9
    )
    names = getattr(model, "feature_names_in_", None) if feature_names is None else feature_names
    if names is not None:
        onnx.helper.set_model_props(exported, {"feature_names": json.dumps(list(map(str, names)))})
    onnx.checker.check_model(exported)
    return exported


def save_onnx(
    model: PNUClassifier | PriorAdjusted,
    path: str | os.PathLike[str],
    *,
    overwrite: bool = False,
    dtype: str = "float64",
    feature_names: Sequence[str] | None = None,
) -> None:
    """Write the ONNX export of a model. An existing file is replaced only when the new one is complete.

    Parameters
    ----------
    model : classifier
        A fitted model.
    path : str or Path
        The file. An existing export of pnulearn is replaced.
    overwrite : bool
        Also replace any other file.
    dtype : str
        "float64" or "float32", as in `to_onnx`.
    feature_names : sequence of str, optional
        Names of the columns of X, as in `to_onnx`.
    """
    check_outputs(Output(path, ONNX), overwrite=overwrite)
    content = to_onnx(model, dtype=dtype, feature_names=feature_names).SerializeToString()
    write_atomically(path, lambda file: file.write(content))


def _package() -> Any:
    with import_extra("onnx", "The export"):
        import onnx
        import onnx.checker
        import onnx.helper
        import onnx.numpy_helper
    return onnx


class _Graph:
    """Nodes and constants in the order of creation; values are referred to by name."""

    def __init__(self, onnx: Any, dtype: np.dtype):
        self.onnx = onnx
        self.dtype = dtype
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.outputs: list[Any] = []

    def constant(self, name: str, value: AnyArray) -> str:
        """Add a constant: floats in the precision of the graph, integers and strings unchanged."""
        value = value.astype(self.dtype) if value.dtype == np.float64 else value
        self.constants.append(self.onnx.numpy_helper.from_array(value, name))
        return name

    def apply(self, operator: str, *inputs: str, name: str, also: tuple[str, ...] = (), **attributes: Any) -> str:
        """Add a node and return its output `name`; `also` are further outputs."""
        self.nodes.append(self.onnx.helper.make_node(operator, list(inputs), [name, *also], **attributes))
        return name

    def output(self, name: str, kind: np.dtype, shape: list[Any]) -> None:
        element = self.onnx.helper.np_dtype_to_tensor_dtype(kind)
        self.outputs.append(self.onnx.helper.make_tensor_value_info(name, element, shape))

    def finish(self, n_features: int) -> Any:
        element = self.onnx.helper.np_dtype_to_tensor_dtype(self.dtype)
        rows = self.onnx.helper.make_tensor_value_info("X", element, ["n", n_features])
        return self.onnx.helper.make_graph(self.nodes, "pnulearn", [rows], self.outputs, self.constants)


def _answers(graph: _Graph, model: PNUClassifier, scores: str) -> None:
    """Label, score and probability from the scores (n, 1) or (n, classes)."""
    answer = _answer_two if len(model.classes_) == 2 else _answer_many
    _name_outputs(graph, model.classes_, answer(graph, scores, model))


def _name_outputs(graph: _Graph, classes: AnyArray, code: str) -> None:
    """Add the label of every row, and declare the three outputs."""
    names = classes.astype(object) if classes.dtype.kind == "U" else classes
    names = names.astype(graph.dtype) if names.dtype.kind == "f" else names
    graph.apply("Gather", graph.constant("classes", names), code, name="label")
    graph.output("label", names.dtype, ["n"])
    graph.output("score", graph.dtype, ["n"] if len(classes) == 2 else ["n", len(classes)])
    graph.output("probability", graph.dtype, ["n", len(classes)])


def _draw_adjusted(graph: _Graph, model: PriorAdjusted) -> list[Any]:
    """The wrapped model by skl2onnx, then its adjustment. Returns the operator sets that the model needs."""
    if not has_odds(model.estimator_):
        raise TypeError(
            f"{type(model.estimator_).__name__} has no predict_proba, so its PriorAdjusted cannot be exported to ONNX. "
            "Wrap it in sklearn.calibration.CalibratedClassifierCV."
        )
    shares, opsets = _draw_probabilities(graph, model)
    least = graph.constant("least", np.array(LEAST))
    odds = graph.apply("Log", graph.apply("Max", shares, least, name="clipped"), name="odds")
    slope, shift = graph.constant("slope", np.array(model.adjustment_.slope)), np.asarray(model.adjustment_.shift)
    sloped = graph.apply("Mul", odds, slope, name="sloped")
    shifted = graph.apply("Add", sloped, graph.constant("shift", shift), name="shifted")
    graph.apply("Softmax", shifted, name="probability", axis=1)
    if len(model.classes_) == 2:
        gap = graph.apply("MatMul", shifted, graph.constant("gap", np.array([-1.0, 1.0])), name="score")
        above = graph.apply("Greater", gap, graph.constant("bottom", np.array(0.0)), name="above_zero")
        code = graph.apply("Cast", above, name="code", to=7)
    else:
        logs = graph.apply("LogSoftmax", shifted, name="score", axis=1)
        code = graph.apply("ArgMax", logs, name="code", axis=1, keepdims=0)
    _name_outputs(graph, model.classes_, code)
    return opsets


def _draw_probabilities(graph: _Graph, model: PriorAdjusted) -> tuple[str, list[Any]]:
    """Copy the nodes of the wrapped model; the name of its probabilities, columns as in `model.classes_`."""
    with import_extra("skl2onnx", "The export of a PriorAdjusted"):
        from skl2onnx import to_onnx as convert
        from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType
    from onnx.compose import add_prefix

    kind = DoubleTensorType if graph.dtype == np.float64 else FloatTensorType
    inner = convert(
        model.estimator_,
        initial_types=[("X", kind([None, model.n_features_in_]))],
        options={"zipmap": False},
        target_opset={"": OPSET, "ai.onnx.ml": ML_OPSET},
    )
    inner = add_prefix(inner, "model_", rename_inputs=False)
    graph.nodes.extend(inner.graph.node)
    graph.constants.extend(inner.graph.initializer)
    own = model.estimator_.classes_.tolist()
    order = np.array([own.index(name) for name in model.classes_.tolist()])
    shares = graph.apply("Cast", inner.graph.output[1].name, name="own_shares", to=_element(graph))
    columns = graph.apply("Gather", shares, graph.constant("order", order), name="shares", axis=1)
    return columns, [opset for opset in inner.opset_import if opset.domain]


def _element(graph: _Graph) -> int:
    return int(graph.onnx.helper.np_dtype_to_tensor_dtype(graph.dtype))


def _answer_two(graph: _Graph, scores: str, model: PNUClassifier) -> str:
    """Add score and probability to the graph; returns the name of the class code."""
    calibration = getattr(model, "calibration_", None)
    zero, one = graph.constant("bottom", np.array(0.0)), graph.constant("top", np.array(1.0))
    if calibration is None:
        above = graph.apply("Max", _halved(graph, scores), zero, name="above")
        share = graph.apply("Min", above, one, name="share")
    else:
        share = graph.apply("Sigmoid", _log_odds(graph, scores, calibration), name="share")
    graph.apply("Concat", graph.apply("Sub", one, share, name="other"), share, name="probability", axis=1)
    score = graph.apply("Squeeze", scores, graph.constant("axis", np.array([1])), name="score")
    return graph.apply("Cast", graph.apply("Greater", score, zero, name="above_zero"), name="code", to=7)


def _answer_many(graph: _Graph, scores: str, model: PNUClassifier) -> str:
    calibration = getattr(model, "calibration_", None)
    if calibration is None:
        _draw_nearest_distribution(graph, _halved(graph, scores), len(model.classes_))
    else:
        negative = graph.apply("Neg", _log_odds(graph, scores, calibration), name="negative")
        log_share = graph.apply("Neg", graph.apply("Softplus", negative, name="softplus"), name="log_share")
        graph.apply("Softmax", log_share, name="probability", axis=1)
    return graph.apply("ArgMax", graph.apply("Identity", scores, name="score"), name="code", axis=1, keepdims=0)


def _draw_nearest_distribution(graph: _Graph, rows: str, n_classes: int) -> None:
    """`calibration.nearest_distribution`, with the sums of the k largest as a product with a triangular matrix."""
    triangle = np.triu(np.ones((n_classes, n_classes))) / np.arange(1.0, n_classes + 1)
    ordered = graph.apply("TopK", rows, graph.constant("all", np.array([n_classes])), name="ordered", also=("places",))
    sums = graph.apply("MatMul", ordered, graph.constant("triangle", triangle), name="sums")
    parts = graph.constant("parts", 1 / np.arange(1.0, n_classes + 1))
    levels = graph.apply("Sub", sums, parts, name="levels")
    tau = graph.apply("ReduceMax", levels, graph.constant("axis", np.array([1])), name="tau", keepdims=1)
    graph.apply("Relu", graph.apply("Sub", rows, tau, name="beyond"), name="probability")


def _halved(graph: _Graph, scores: str) -> str:
    """(1 + g) / 2, the probability for a score of the squared loss."""
    shifted = graph.apply("Add", scores, graph.constant("unit", np.array(1.0)), name="shifted")
    return graph.apply("Mul", shifted, graph.constant("half", np.array(0.5)), name="halved")


def _log_odds(graph: _Graph, scores: str, calibration: AnyArray) -> str:
    slope, shift = graph.constant("slope", calibration[:, 0]), graph.constant("shift", calibration[:, 1])
    return graph.apply("Add", graph.apply("Mul", scores, slope, name="sloped"), shift, name="log_odds")
