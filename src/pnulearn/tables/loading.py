"""Opening model files, whoever wrote them: `pnulearn fit`, `TableModel.save` or `PNUClassifier.save`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pnulearn._estimators.classifier import PNUClassifier
from pnulearn._estimators.saving import LEARNT_TYPES, restore
from pnulearn._files.archive import ModelFileError, read_archive, refuse_damage
from pnulearn.tables.kinds import TYPES
from pnulearn.tables.model import KIND, FitRecord, TableModel
from pnulearn.tables.plan import ColumnPlan

CLASSIFIER = "PNUClassifier"


def load(path: Any) -> Any:
    """The model in a file: a `PNUClassifier` or, if `pnulearn fit` wrote it, a `TableModel`.

    A `TableModel` predicts tables and data frames with the columns that it was fitted to; its `classifier` is the
    `PNUClassifier` behind them, for instance to export to ONNX. Loading runs no code from the file.

    Parameters
    ----------
    path : str or Path
        The file.
    """
    kind, content = read_archive(path, (*LEARNT_TYPES, ColumnPlan, FitRecord, *TYPES))
    if kind not in (CLASSIFIER, KIND):
        raise ModelFileError(f"{str(path)!r} holds a {kind}, not a model. Load it with {kind}.load.")
    with refuse_damage(path):
        return restore(PNUClassifier, content) if kind == CLASSIFIER else _table_model(content)


def load_table_model(path: str | Path) -> TableModel:
    """A model with the names of its columns, as `pnulearn fit` and `TableModel.save` write it.

    Parameters
    ----------
    path : str or Path
        The file.
    """
    model = load(path)
    if not isinstance(model, TableModel):
        raise ModelFileError(
            f"{str(path)!r} holds a {CLASSIFIER} without the names of its columns: it was saved from Python. Load it "
            "there with pnulearn.load, or fit one from a table with `pnulearn fit`."
        )
    return model


def _table_model(content: dict[str, Any]) -> TableModel:
    """The model, if the features that its columns make are those that its classifier takes."""
    classifier = restore(PNUClassifier, content["classifier"])
    model = TableModel(classifier, content["plan"], content["label"], content["record"])
    model.refuse_broken()
    return model
