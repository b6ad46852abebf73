"""Export to ONNX: a graph of standard operators, in double precision, whose labels agree with ours.

g = Σ_σ φ_σ(x)′w_σ + w_0, where each kernel draws its own φ;    label = classes[g > 0] or classes[argmax g]
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pnulearn._arrays import AnyArray
from pnulearn._basis.kernels import KERNELS
from pnulearn._files.kinds import ONNX
from pnulearn._files.outputs import Output, check_outputs
from pnulearn._files.writing import write_atomically
from pnulearn._machine.extras import import_extra

if TYPE_CHECKING:
    from onnx import ModelProto

    from pnulearn._estimators.classifier import PNUClassifier

OPSET = 18


def to_onnx(model: PNUClassifier) -> ModelProto:
    """The model as ONNX: from X (n, d) in float64 to label (n,), score (n,) or (n, classes), probability (n, classes).

    Rows on the boundary to the last bit may fall on either side.

    Parameters
    ----------
    model : classifier
        A fitted model.
    """
    check_is_fitted(model)
    if model.classes_.dtype.kind not in "biufU":
        raise TypeError(f"Labels of type {model.classes_.dtype} cannot be written to ONNX.")
    onnx = _package()
    graph = _Graph(onnx)
    score = KERNELS[model.kernel].draw(graph, model)
    _answers(graph, model, score)
    exported = onnx.helper.make_model(
        graph.finish(model.n_features_in_),
        opset_imports=[onnx.helper.make_opsetid("", OPSET)],
        producer_name="pnulearn",
        ir_version=9,
    )
    onnx.checker.check_model(exported)
    return exported


def save_onnx(model: PNUClassifier, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
    """Write the ONNX export of a model; the old file stays until the new one is complete.

    Parameters
    ----------
    model : classifier
        A fitted model.
    path : str or Path
        The file. One that holds an export of ours is replaced.
    overwrite : bool
        Replace a file that holds anything else, too.
    """
    check_outputs(Output(path, ONNX), overwrite=overwrite)
    content = to_onnx(model).SerializeToString()
    write_atomically(path, lambda file: file.write(content))


def _package() -> Any:
    with import_extra("onnx", "The export"):
        import onnx
        import onnx.checker
        import onnx.helper
        import onnx.numpy_helper
    return onnx


class _Graph:
    """Nodes and constants in the order they are made; every value is known by its name."""

    def __init__(self, onnx: Any):
        self.onnx = onnx
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.outputs: list[Any] = []

    def constant(self, name: str, value: AnyArray) -> str:
        self.constants.append(self.onnx.numpy_helper.from_array(value, name))
        return name

    def apply(self, operator: str, *inputs: str, name: str, **attributes: Any) -> str:
        self.nodes.append(self.onnx.helper.make_node(operator, list(inputs), [name], **attributes))
        return name

    def output(self, name: str, kind: np.dtype, shape: list[Any]) -> None:
        element = self.onnx.helper.np_dtype_to_tensor_dtype(kind)
        self.outputs.append(self.onnx.helper.make_tensor_value_info(name, element, shape))

    def finish(self, n_features: int) -> Any:
        double = self.onnx.helper.np_dtype_to_tensor_dtype(np.dtype(float))
        rows = self.onnx.helper.make_tensor_value_info("X", double, ["n", n_features])
        return self.onnx.helper.make_graph(self.nodes, "pnulearn", [rows], self.outputs, self.constants)


def _answers(graph: _Graph, model: PNUClassifier, scores: str) -> None:
    """Label, score and probability from the scores (n, 1) or (n, classes)."""
    two = len(model.classes_) == 2
    last = graph.constant("axis", np.array([1]))
    zero, one, half = (graph.constant(f"number{v}", np.array(v)) for v in (0.0, 1.0, 0.5))
    names = model.classes_.astype(object) if model.classes_.dtype.kind == "U" else model.classes_
    classes = graph.constant("classes", names)
    calibration = getattr(model, "calibration_", None)
    if calibration is None:
        shifted = graph.apply("Mul", graph.apply("Add", scores, one, name="shifted"), half, name="half")
        share = graph.apply("Min", graph.apply("Max", shifted, zero, name="above"), one, name="share")
    else:
        slope, shift = graph.constant("slope", calibration[:, 0]), graph.constant("shift", calibration[:, 1])
        odds = graph.apply("Add", graph.apply("Mul", scores, slope, name="sloped"), shift, name="log_odds")
        share = graph.apply("Sigmoid", odds, name="share")
    if two:
        score = graph.apply("Squeeze", scores, last, name="score")
        positive = graph.apply("Cast", graph.apply("Greater", score, zero, name="above_zero"), name="code", to=7)
        other = graph.apply("Sub", one, share, name="other")
        graph.apply("Concat", other, share, name="probability", axis=1)
        graph.apply("Gather", classes, positive, name="label")
    else:
        score = graph.apply("Identity", scores, name="score")
        code = graph.apply("ArgMax", score, name="code", axis=1, keepdims=0)
        total = graph.apply("ReduceSum", share, last, name="total", keepdims=1)
        some = graph.apply("Greater", total, zero, name="some")
        divisor = graph.apply("Where", some, total, one, name="divisor")
        normal = graph.apply("Div", share, divisor, name="normal")
        prior = graph.constant("prior", np.asarray(model.prior_, dtype=float))
        graph.apply("Where", some, normal, prior, name="probability")
        graph.apply("Gather", classes, code, name="label")
    kind = np.dtype(object) if model.classes_.dtype.kind == "U" else model.classes_.dtype
    graph.output("label", kind, ["n"])
    graph.output("score", np.dtype(float), ["n"] if two else ["n", len(model.classes_)])
    graph.output("probability", np.dtype(float), ["n", len(model.classes_)])
