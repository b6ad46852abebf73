"""A fitted classifier together with the transformation of a table's columns, saved, loaded and applied as one."""

from __future__ import annotations

import platform
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._estimators.auto import AutoPNU, auto_contents
from pnulearn._estimators.classifier import PNUClassifier
from pnulearn._estimators.saving import contents
from pnulearn._files.archive import refuse_other_types, write_archive
from pnulearn._files.outputs import MODEL, Output, check_outputs
from pnulearn._kernels.registry import KERNELS
from pnulearn._learning.calibration import probabilities
from pnulearn._problem.row_keys import scramble
from pnulearn._reader.frames import as_table
from pnulearn._reader.table import Table
from pnulearn.losses import as_loss
from pnulearn.priors._sensitivity import Narrowing, after_random_labels
from pnulearn.tables._label_column import label_text
from pnulearn.tables._new_rows import NewRows
from pnulearn.tables._plan import ColumnPlan

KIND = "PNUTable"


@dataclass(frozen=True)
class FitRecord:
    """Metadata of a fit: data, options and versions needed to repeat it."""

    source: str
    fingerprint: str
    n_rows: int
    n_used: int
    counts: dict[str, int]
    n_missing: int
    seconds: float
    versions: dict[str, str]
    command: str = ""
    remarks: list[str] = field(default_factory=list)
    giveaways: dict[str, float] = field(default_factory=dict)
    sampling: str | None = None  # how labels were drawn, if that was said
    labeled_rows: AnyArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))  # `hash_rows`, distinct ones


def hash_rows(X: AnyArray) -> AnyArray:
    """A number per row of features, equal for rows with the same values.

    >>> first, again, other = hash_rows(np.array([[1.0, 0.0], [1.0, -0.0], [0.0, 1.0]]))
    >>> bool(first == again), bool(first == other)
    (True, False)
    """
    bits = (np.ascontiguousarray(X, dtype=np.float64) + 0.0).view(np.uint64)
    hashes: AnyArray = np.zeros(len(bits), dtype=np.uint64)
    for column in bits.T:
        hashes = scramble(hashes + np.uint64(0x9E3779B97F4A7C15)) ^ scramble(column + np.uint64(1))
    return scramble(hashes).view(np.int64)


@dataclass(frozen=True)
class TableModel:
    """A fitted classifier, the plan of its columns, the name of the label column, and a record of the fit.

    Parameters
    ----------
    classifier : PNUClassifier or AutoPNU
        The fitted classifier of the features that the plan produces.
    plan : ColumnPlan
        Transformation of columns to features.
    label : str
        The column of labels.
    record : FitRecord
        Metadata of the fit.
    """

    classifier: PNUClassifier | AutoPNU
    plan: ColumnPlan
    label: str
    record: FitRecord

    def predict(self, table: Any, *, threshold: float | None = None) -> Predictions:
        """Labels, scores and probabilities for every row of a table with the same columns.

        Parameters
        ----------
        table : Table or data frame
                As `read_table` returns it, a data frame, or any object with an Arrow stream.
        threshold : float, optional
                The positive class is predicted above this probability; 0.5 by default.
        """
        table = as_table(table)
        X, found = self.plan.transform(table)
        scores = self.classifier.decision_function(X)
        places = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        probability = probabilities(scores, self.classifier.calibration_)
        if threshold is not None:
            self._refuse_threshold(threshold)
            places = (probability[:, 1] > threshold).astype(int)
        seen = np.isin(hash_rows(X), self.record.labeled_rows) if len(self.record.labeled_rows) else None
        labels = self.classifier.classes_[places]
        return Predictions(labels, scores, probability, self.classes, found.remarks(), seen, found)

    def _refuse_threshold(self, threshold: float) -> None:
        if len(self.classes) != 2:
            raise ValueError(f"A threshold or costs need two classes; the model has {len(self.classes)}.")
        if not 0 <= threshold <= 1:
            raise ValueError(f"threshold= is a probability between 0 and 1, got {threshold:g}.")

    def refuse_broken(self) -> None:
        """Raise an error if the plan has non-finite values or its features do not match the classifier."""
        refuse_other_types(self, "model", finite=True)
        n_features = len(self.plan.feature_names)
        if n_features != self.classifier.n_features_in_:
            raise ValueError(f"its columns give {n_features} features, not {self.classifier.n_features_in_}")

    @property
    def classes(self) -> list[str]:
        """Class names as text; of two, the second is positive."""
        return [label_text(name) for name in self.classifier.classes_.tolist()]

    def facts(self) -> dict[str, Any]:
        """Facts about the model as plain values by name."""
        classifier, record, plan = self.classifier, self.record, self.plan
        how = _learner_facts(classifier) if isinstance(classifier, AutoPNU) else _search_facts(classifier)
        interval, risk = classifier.prior_interval_, classifier.risk_
        return {
            "fitted_to": record.source,
            "rows": {"labelled": record.counts, "unlabelled": record.n_rows - sum(record.counts.values())},
            "rows_used": record.n_used,
            "label": self.label,
            "positive": self.classes[1] if len(self.classes) == 2 else None,
            "columns": {kind: [name for name, k in plan.kinds.items() if k == kind] for kind in plan.kinds.values()},
            "left_out": {name: reason for name, reason in plan.left_out.items() if name != self.label} or None,
            "sampling": record.sampling,
            "prior": classifier.prior_,
            "prior_interval": None if interval is None else list(interval),
            "prior_doubt": classifier.prior_doubt_,
            **how,
            "validation_error": None if risk is None else risk.value,
            "validation_interval": None if risk is None else [risk.low, risk.high],
            "seconds": record.seconds,
            "versions": record.versions,
            "command": record.command or None,
        }

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the model to a file that `pnulearn.load` reads without running code.

        Parameters
        ----------
        path : str or Path
            The file. An existing model file is replaced.
        overwrite : bool
            Replace any other existing file, too.
        """
        check_outputs(Output(path, MODEL), overwrite=overwrite)
        self.refuse_broken()
        classifier = (
            auto_contents(self.classifier) if isinstance(self.classifier, AutoPNU) else contents(self.classifier)
        )
        parts = {"classifier": classifier, "plan": self.plan, "label": self.label, "record": self.record}
        write_archive(path, KIND, parts)


@dataclass(frozen=True)
class Predictions:
    """Predictions for rows: `probability` has a column per class.

    `remarks` say how the cells differ from those of the fit. `seen` is true for rows with the features of a labelled
    row that the model was fitted to, None if that is not known. `cells` counts cells, to be added up over batches.
    """

    labels: AnyArray
    scores: AnyArray
    probability: AnyArray
    classes: list[str]
    remarks: list[str]
    seen: AnyArray | None = None
    cells: NewRows | None = None


@dataclass(frozen=True)
class Fitted:
    """A model with the rows it was fitted to, or a sample of them: `rows` are their indices in the table.

    If the table is itself a sample of a larger one, `numbers` are the row numbers in the latter. `sampling` is how
    labels were drawn, None if not given.
    """

    model: TableModel
    table: Table
    X: AnyArray
    codes: AnyArray
    rows: AnyArray
    numbers: AnyArray | None = None
    sampling: str | None = None

    def probability(self) -> AnyArray:
        """Held-out probability of the positive class of two, for every row."""
        classifier = self.model.classifier
        return probabilities(classifier.validation_scores_, classifier.calibration_)[:, 1]

    def narrow_prior(self) -> Narrowing | None:
        """The cost of the uncertain prior and the gain from labels drawn at random; None if the prior is known."""
        classifier, unlabeled = self.model.classifier, self.codes < 0
        if classifier.prior_estimate_.mass is None or np.isnan(classifier.validation_scores_).any():
            return None
        probability = self.probability()[unlabeled] if unlabeled.any() else None
        return after_random_labels(classifier.prior_estimate_, probability=probability)


def _search_facts(classifier: PNUClassifier) -> dict[str, Any]:
    """The candidate with the largest weight."""
    return {
        "risk": classifier.risk_used_,
        "loss": as_loss(classifier.loss).name,
        "candidates": int(classifier.search_.weight.size),
        "mix": classifier.mix_,
        "alpha": classifier.alpha_,
        "bandwidth": classifier.bandwidth_ if KERNELS[classifier.kernel].has_bandwidth else None,
        "columns_as": getattr(classifier, "columns_", "given"),
    }


def _learner_facts(classifier: AutoPNU) -> dict[str, Any]:
    """Error of each learner alone, and its weight in the average."""
    return {
        "learners": {
            one.name: {"part": one.weight, "error_alone": None if one.risk is None else one.risk.value}
            for one in classifier.members_
        }
    }


def versions() -> dict[str, str]:
    """Versions of the packages that a fit depends on."""
    from importlib.metadata import version

    names = ("pnulearn", "numpy", "scipy", "scikit-learn")
    return {"python": platform.python_version(), **{name: version(name) for name in names}}
