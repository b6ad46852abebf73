"""Model files: saving and loading all kinds of models."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from pnulearn._estimators.auto import KIND as AUTO
from pnulearn._estimators.auto import TYPES as AUTO_TYPES
from pnulearn._estimators.auto import AutoPNU, auto_contents, restore_auto
from pnulearn._estimators.classifier import PNUClassifier
from pnulearn._estimators.pipelines import KIND as PIPELINE
from pnulearn._estimators.pipelines import flatten, rebuild
from pnulearn._estimators.saving import LEARNT_TYPES, restore
from pnulearn._files.archive import read_archive, write_archive
from pnulearn._files.outputs import MODEL, Output, check_outputs
from pnulearn._files.refusals import ModelFileError, refuse_damage
from pnulearn.tables._kinds import TYPES
from pnulearn.tables._model import KIND, FitRecord, TableModel
from pnulearn.tables._plan import ColumnPlan

CLASSIFIER, NETWORK = "PNUClassifier", "PNUNetClassifier"


def save(model: Any, path: str | Path, *, overwrite: bool = False) -> None:
    """Write a model to a file that `load` reads without running code.

    Parameters
    ----------
    model : PNUClassifier, PNUNetClassifier, AutoPNU, TableModel or Pipeline
        A fitted model. A pipeline may contain a classifier of pnulearn and scikit-learn's transformers for scaling,
        encoding, imputation, text and projections; functions and other classes cannot be saved.
    path : str or Path
        The file. An existing model file is replaced.
    overwrite : bool
        Replace any other existing file, too.

    Examples
    --------
    >>> import numpy as np, os, tempfile
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from pnulearn import PNUClassifier, load, save
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> y = np.where(np.arange(60) < 20, X[:, 0] > 0, np.nan)
    >>> model = make_pipeline(StandardScaler(), PNUClassifier(kernel="linear", prior=0.5, cv=2, random_state=0))
    >>> model = model.fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(model, os.path.join(folder, "model.pnu"))
    ...     again = load(os.path.join(folder, "model.pnu"))
    >>> bool((again.predict(X) == model.predict(X)).all())
    True
    """
    if isinstance(model, PNUClassifier | TableModel) or (isinstance(model, BaseEstimator) and hasattr(model, "save")):
        model.save(path, overwrite=overwrite)
        return
    if not isinstance(model, BaseEstimator):
        raise TypeError(f"A {type(model).__name__} is not a model. Pass a PNUClassifier, a TableModel or a Pipeline.")
    check_is_fitted(model)
    auto = isinstance(model, AutoPNU)
    content = auto_contents(model) if isinstance(model, AutoPNU) else flatten(model)
    check_outputs(Output(path, MODEL), overwrite=overwrite)
    write_archive(path, AUTO if auto else PIPELINE, content)


def load(path: Any) -> Any:
    """Load a model from a file: a classifier, a `Pipeline` or, if `pnulearn fit` wrote it, a `TableModel`.

    A `TableModel` predicts tables and data frames with the columns that it was fitted to. Its attribute `classifier`
    is the classifier of features, for instance to export to ONNX. Loading runs no code from the file.

    Parameters
    ----------
    path : str or Path
        The file.
    """
    kind, content = read_archive(path, (*LEARNT_TYPES, ColumnPlan, FitRecord, *TYPES, *AUTO_TYPES))
    makers: dict[str, Callable[[dict[str, Any]], Any]] = {
        CLASSIFIER: partial(restore, PNUClassifier),
        NETWORK: _network,
        KIND: _table_model,
        PIPELINE: rebuild,
        AUTO: restore_auto,
    }
    if kind not in makers:
        raise ModelFileError(f"{str(path)!r} holds a {kind}, not a model. Load it with {kind}.load.")
    with refuse_damage(path):
        return makers[kind](content)


def load_table_model(path: str | Path) -> TableModel:
    """Load a model with its column plan, as written by `pnulearn fit` and `TableModel.save`.

    Parameters
    ----------
    path : str or Path
        The file.
    """
    model = load(path)
    if not isinstance(model, TableModel):
        raise ModelFileError(
            f"{str(path)!r} holds a {type(model).__name__} without a plan of columns: it was saved from Python. Load "
            "it there with pnulearn.load, or fit one from a table with `pnulearn fit`."
        )
    return model


def _network(content: dict[str, Any]) -> Any:
    """Networks need PyTorch, which is imported only when one is loaded."""
    from pnulearn.torch import PNUNetClassifier
    from pnulearn.torch._saving import restore as restore_network

    return restore_network(PNUNetClassifier, content)


def _table_model(content: dict[str, Any]) -> TableModel:
    """The model, if the features of its columns match those of its classifier; otherwise an error."""
    of_auto = content["classifier"].get("kind") == AUTO
    classifier = restore_auto(content["classifier"]) if of_auto else restore(PNUClassifier, content["classifier"])
    model = TableModel(classifier, content["plan"], content["label"], content["record"])
    model.refuse_broken()
    return model
