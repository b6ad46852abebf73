"""A classifier together with what must be done to a table's columns first: fitted, saved and applied as one."""

from __future__ import annotations

import platform
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._basis.kernels import KERNELS
from pnulearn._estimators.auto import LEARNERS, PNU, AutoPNU, auto_contents
from pnulearn._estimators.classifier import PNUClassifier
from pnulearn._estimators.saving import contents
from pnulearn._files.archive import refuse_other_types, write_archive
from pnulearn._files.outputs import MODEL, Output, check_outputs
from pnulearn._learning.calibration import probabilities
from pnulearn._problem.labels import decode_labels
from pnulearn._tables.frames import as_table
from pnulearn._tables.table import Table
from pnulearn.priors.estimate import PriorEstimate
from pnulearn.priors.narrowing import Narrowing, after_random_labels
from pnulearn.tables._label_column import Targets, read_targets
from pnulearn.tables._leakage import find_leaks
from pnulearn.tables._plan import MOST_CATEGORIES, ColumnPlan, Scaling, learn_plan
from pnulearn.tables._provenance import MARKS, WEIGHTS, read_marks, read_weights

KIND = "PNUTable"
MOST_UNLABELED = 10_000  # more of them hardly lower the variance that a few labels leave


@dataclass(frozen=True)
class FitRecord:
    """Where a model came from, enough to find out and to repeat."""

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


@dataclass(frozen=True)
class TableModel:
    """A fitted classifier, the plan of its columns, the name of the label column, and a record of the fit.

    Parameters
    ----------
    classifier : PNUClassifier or AutoPNU
        The fitted classifier, which takes the features that the plan makes.
    plan : ColumnPlan
        What becomes of the columns.
    label : str
        The column of labels.
    record : FitRecord
        Where the model came from.
    """

    classifier: PNUClassifier | AutoPNU
    plan: ColumnPlan
    label: str
    record: FitRecord

    def predict(self, table: Any) -> Predictions:
        """Labels, scores and probabilities for every row of a table with the same columns.

        Parameters
        ----------
        table : Table or data frame
            As `read_table` returns it, or from pandas, polars or Arrow.
        """
        table = as_table(table)
        X, remarks = self.plan.features(table)
        scores = self.classifier.decision_function(X)
        places = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        probability = probabilities(scores, self.classifier.calibration_)
        return Predictions(self.classifier.classes_[places], scores, probability, self.classes, remarks)

    def refuse_broken(self) -> None:
        """Refuse a plan whose values are not finite or whose features are not those that the classifier takes."""
        refuse_other_types(self, "model", finite=True)
        n_features = len(self.plan.feature_names)
        if n_features != self.classifier.n_features_in_:
            raise ValueError(f"its columns make {n_features} features, not {self.classifier.n_features_in_}")

    @property
    def classes(self) -> list[str]:
        """Class names as text; of two, the second is positive."""
        return [label_text(name) for name in self.classifier.classes_.tolist()]

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the model to a file that `pnulearn.load` reads without running code.

        Parameters
        ----------
        path : str or Path
            The file. One that holds a model is replaced.
        overwrite : bool
            Replace a file that holds anything else, too.
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
    """What a model says about rows: `probability` has a column per class."""

    labels: AnyArray
    scores: AnyArray
    probability: AnyArray
    classes: list[str]
    remarks: list[str]


@dataclass(frozen=True)
class Fitted:
    """A model with the rows it was fitted to, or some of them: `rows` are their numbers in the table.

    If the table is itself a sample of a larger one, `numbers` are the numbers of all its rows there.
    """

    model: TableModel
    table: Table
    X: AnyArray
    codes: AnyArray
    rows: AnyArray
    numbers: AnyArray | None = None

    def probability(self) -> AnyArray:
        """Of the positive of two classes, for every row, from scores that were held out."""
        classifier = self.model.classifier
        return probabilities(classifier.validation_scores_, classifier.calibration_)[:, 1]

    def narrow_prior(self) -> Narrowing | None:
        """What the unknown prior costs and what labels drawn at random would tell; None if it is known."""
        classifier, unlabeled = self.model.classifier, self.codes < 0
        if classifier.prior_estimate_.mass is None or np.isnan(classifier.validation_scores_).any():
            return None
        probability = self.probability()[unlabeled] if unlabeled.any() else None
        return after_random_labels(classifier.prior_estimate_, probability=probability)


def fit_table(
    table: Table,
    label: str,
    *,
    positive: str | None = None,
    unlabeled: str | None = None,
    drop: tuple[str, ...] = (),
    at_random: str | None = None,
    weights: str | None = None,
    kinds: Mapping[str, str] | None = None,
    most_categories: int = MOST_CATEGORIES,
    scaling: Scaling = "standard",
    most_unlabeled: int = MOST_UNLABELED,
    command: str = "",
    seed: int = 0,
    learner: str = PNU,
    **parameters: Any,
) -> Fitted:
    """Fit a `PNUClassifier` with these parameters, or another `learner`, to a table whose label column is partly empty.

    Parameters
    ----------
    table : Table
        As `read_table` returns it.
    label : str
        The column of labels.
    positive : str, optional
        The label that counts as positive.
    unlabeled : object, optional
        The value in y that marks unlabelled rows; missing values always do.
    drop : tuple of str
        Columns to leave out.
    at_random : str, optional
        A column of yes and no that marks rows labelled at random; it is no feature.
    weights : str, optional
        A column of weights of the rows; it is no feature. Rows labelled at random count once each, whatever they weigh.
    kinds : mapping, optional
        Kinds of columns by name, where they are not those that the cells suggest.
    most_categories : int
        Categories that have a feature each; columns of more share features by hashing.
    scaling : str
        How number columns are scaled.
    most_unlabeled : int
        Unlabelled rows to use at most; a random choice of them beyond that.
    command : str
        The command line, for the report.
    seed : int
        Seed.
    learner : str
        "pnu", "forest", "boosting", "logistic", "svm", or "auto", which averages all of them by their PNU risk.
    **parameters : object
        Parameters of `PNUClassifier`; of other learners `prior`, `sampling` and `cv`.
    """
    start = time.perf_counter()
    targets = read_targets(table, label, positive=positive, unlabeled=unlabeled)
    without = left_out(label, drop, at_random) | ({weights: WEIGHTS} if weights else {})
    plan = learn_plan(table, without=without, scaling=scaling, kinds=kinds, most_categories=most_categories)
    rows, remarks = _chosen_rows(targets, most_unlabeled, seed)
    X, _ = plan.features(table)
    X = X[rows]
    labels = decode_labels(targets.y[rows], pos_label=targets.positive)
    giveaways = find_leaks(plan, X, labels.codes)
    marked = None if at_random is None else read_marks(table, at_random, rows, labels.codes)
    classifier = _make_classifier(learner, parameters).set_params(pos_label=targets.positive, random_state=seed)
    weight = read_weights(table, weights)
    if marked is not None and weight is not None and classifier.prior is None:
        counts = np.bincount(labels.codes[marked & (labels.codes >= 0)], minlength=len(labels.classes))
        classifier.set_params(
            prior=PriorEstimate.of_counts(counts)
        )  # weights say how rows were chosen: these by chance
        marked = None
    classifier.fit(X, labels, None if weight is None else weight[rows], at_random=marked)
    record = FitRecord(
        table.source,
        table.fingerprint,
        table.n_rows,
        len(rows),
        {label_text(name): count for name, count in targets.counts.items()},
        sum(int(table.column(column.name).missing.sum()) for column in plan.columns),
        time.perf_counter() - start,
        versions(),
        command,
        [*table.remarks, *targets.remarks, *remarks],
        giveaways,
    )
    return Fitted(TableModel(classifier, plan, label, record), table, X, labels.codes, rows)


def left_out(label: str, drop: Sequence[str], at_random: str | None) -> dict[str, str]:
    """Columns that are no features, with the reasons."""
    return dict.fromkeys(drop, "by request") | ({at_random: MARKS} if at_random else {}) | {label: "the label"}


def _make_classifier(learner: str, parameters: dict[str, Any]) -> PNUClassifier | AutoPNU:
    """The learner of that name; what PNU alone has a use for goes to the PNU among the learners."""
    if learner == PNU:
        return PNUClassifier(**parameters)
    common = {name: parameters[name] for name in ("prior", "sampling", "cv") if name in parameters}
    if learner == "auto":
        columns = "both" if KERNELS[parameters.get("kernel", "rbf")].has_bandwidth else "given"
        return AutoPNU(LEARNERS, PNUClassifier(**{"columns": columns} | parameters), **common)
    return AutoPNU((learner,), **common)


def label_text(label: Any) -> str:
    """A label as it would stand in a table."""
    return str(label).lower() if isinstance(label, bool | np.bool_) else str(label)


def _chosen_rows(targets: Targets, most_unlabeled: int, seed: int) -> tuple[AnyArray, list[str]]:
    """All labelled rows and at most so many unlabelled ones, in the order of the table."""
    missing = np.array([value is None for value in targets.y])
    unlabeled = np.flatnonzero(missing)
    if len(unlabeled) <= most_unlabeled:
        return np.arange(len(missing)), []
    chosen = np.random.default_rng(seed).choice(unlabeled, most_unlabeled, replace=False)
    remark = f"Learnt from {most_unlabeled} of {len(unlabeled)} unlabelled rows, chosen at random (--most-unlabeled)."
    return np.sort(np.concatenate([np.flatnonzero(~missing), chosen])), [remark]


def versions() -> dict[str, str]:
    """Of what a fit depends on."""
    from importlib.metadata import version

    names = ("pnulearn", "numpy", "scipy", "scikit-learn")
    return {"python": platform.python_version(), **{name: version(name) for name in names}}
