"""`pnulearn export`: export a model to ONNX."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from pnulearn.cli.console import remark, show_facts
from pnulearn.cli.options import Json, Overwrite, existing_models


class Precision(StrEnum):
    float64 = "float64"
    float32 = "float32"


def export(
    model: Annotated[
        Path,
        typer.Argument(
            metavar="MODEL", help="Model file written by `pnulearn fit` or `save`.", callback=existing_models
        ),
    ],
    onnx: Annotated[Path, typer.Option("--onnx", metavar="FILE", help="Write an ONNX model here.")],
    precision: Annotated[
        Precision, typer.Option(help="Precision of the input, the computations and the output.")
    ] = Precision.float64,
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """Export a model to ONNX.

    The input of the exported model are the features of the table's columns, in the order that is printed. The outputs
    are label, score and probability.
    """
    from pnulearn._files.outputs import Output, check_outputs
    from pnulearn.onnx import save_onnx
    from pnulearn.tables._loading import load
    from pnulearn.tables._model import TableModel

    try:
        check_outputs(
            Output(onnx, "an ONNX model", "--onnx", "--overwrite"), inputs={"MODEL": model}, overwrite=overwrite
        )
    except (OSError, ValueError) as error:
        raise typer.BadParameter(str(error)) from None
    found = load(model)
    classifier, names = (found.classifier, found.plan.feature_names) if isinstance(found, TableModel) else (found, None)
    save_onnx(classifier, onnx, overwrite=overwrite, dtype=precision.value, feature_names=names)
    if names is None:
        names = [str(name) for name in getattr(classifier, "feature_names_in_", range(classifier.n_features_in_))]
    facts = {
        "onnx": str(onnx),
        "precision": precision.value,
        "classes": classifier.classes_.tolist(),
        "features": names,
    }
    show_facts(facts, json)
    if isinstance(found, TableModel):
        remark(
            "X has these features, not the columns of the table: compute them with load(MODEL).plan.features(table)."
        )
