"""Base class of all classifiers for partly labelled rows: input validation, predictions, HTML for notebooks."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from pnulearn._arrays import AnyArray
from pnulearn._html import show_facts
from pnulearn._kernels.registry import KERNELS
from pnulearn._problem.alignment import refuse_misaligned
from pnulearn._problem.inputs import read_features, read_weights
from pnulearn._problem.labels import Labels, decode_labels
from pnulearn._problem.samples import Samples, Sampling

# HTML that a fitted classifier adds below scikit-learn's diagram in a notebook.


def learnt_table(model: Any) -> str:
    """An HTML table of the main results, with all values escaped; empty before fitting."""
    if not hasattr(model, "search_"):
        return ""
    return show_facts("learnt", facts(model))


def facts(model: Any) -> dict[str, str]:
    """Names and values of the main results, as text."""
    answer = {"classes": ", ".join(map(str, model.classes_.tolist()))}
    prior = ", ".join(f"{value:.3f}" for value in np.atleast_1d(model.prior_))
    interval = model.prior_interval_
    if (
        interval is not None
        and np.ndim(model.prior_) == 0
        and np.isfinite(interval).all()
        and interval[0] < interval[1]
    ):
        prior += f" (interval {interval[0]:.3f} to {interval[1]:.3f})"
    answer["prior"] = prior
    answer["candidates"] = f"{model.search_.weight.size} searched"
    answer["best candidate"] = f"mix {model.mix_:.2g}, alpha {model.alpha_:.2g}"
    if KERNELS[model.kernel].has_bandwidth:
        answer["best candidate"] += f", bandwidth {model.bandwidth_:.3g}"
    if model.search_.columns is not None:
        answer["best candidate"] += f", columns {'as ranks' if model.columns_ == 'ranks' else 'as given'}"
    if model.risk_ is not None:
        answer["validation error"] = str(model.risk_)
    return answer


class PartiallyLabeledClassifier(ClassifierMixin, BaseEstimator):
    """A classifier whose y may have unlabelled rows.

    Subclasses have the parameters `unlabeled` and `pos_label`, call `self._read_problem(X, y, sample_weight)` in `fit`
    and define `_scores`. With two classes, `classes_` is (negative, positive) and scores above 0 predict positive.
    """

    unlabeled: Any
    pos_label: Any
    classes_: AnyArray

    @abstractmethod
    def _scores(self, X: Any) -> AnyArray:
        """g(x): shape (n,) for two classes, (n, n_classes) for more."""

    def _read_problem(self, X: Any, y: ArrayLike | Labels, sample_weight: ArrayLike | None = None) -> Samples:
        """Validated rows, codes and weights. Sets `classes_`."""
        refuse_misaligned(X=X, y=y, sample_weight=sample_weight)
        X = read_features(self, X, reset=True)
        labels = decode_labels(y, self.unlabeled, self.pos_label)
        check_consistent_length(X, labels.codes)
        weight = read_weights(sample_weight, X.shape[0])
        self.classes_ = labels.classes
        return Samples(X, labels.codes, weight, len(labels.classes))

    def decision_function(self, X: Any) -> AnyArray:
        """Scores: positive for the positive class; with more than two classes, one column per class.

        Parameters
        ----------
        X : array, sparse matrix or data frame (rows, columns)
            Features.
        """
        check_is_fitted(self)
        return self._scores(read_features(self, X, reset=False))

    def predict(self, X: Any) -> AnyArray:
        """Class labels as they were in y; never the unlabelled marker.

        Parameters
        ----------
        X : array, sparse matrix or data frame (rows, columns)
            Features.
        """
        scores = self.decision_function(X)
        return self.classes_[(scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)]

    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Accuracy on the labelled rows of y; unlabelled rows are ignored.

        For an unbiased estimate that also uses the unlabelled rows, see `pnulearn.pnu_risk`.

        Parameters
        ----------
        X : array, sparse matrix or data frame (rows, columns)
            Features.
        y : array (rows,)
            Labels; missing values and `unlabeled` mark unlabelled rows.
        sample_weight : array (rows,), optional
            Weights of the rows; one each by default.
        """
        refuse_misaligned(X=X, y=y, sample_weight=sample_weight)
        check_is_fitted(self)
        return labeled_accuracy(decode_labels(y, self.unlabeled, classes=self.classes_), self.predict(X), sample_weight)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def labeled_accuracy(labels: Labels, predicted: AnyArray, sample_weight: ArrayLike | None) -> float:
    """The share of labelled rows that are classified correctly."""
    known = labels.labeled
    check_consistent_length(predicted, labels.codes)
    if len(known) == 0:
        raise ValueError("y has no labelled rows, so accuracy is undefined. Pass y with some labels.")
    weight = read_weights(sample_weight, len(labels.codes))[known]
    if not weight.any():
        raise ValueError("sample_weight is zero for every labelled row, so accuracy is undefined.")
    return float(accuracy_score(labels.classes[labels.codes[known]], predicted[known], sample_weight=weight))


def read_held_out(
    reader: PartiallyLabeledClassifier, X_val: Any, y_val: ArrayLike | None, sampling: Sampling
) -> Samples | None:
    """The validation set that replaces cross-validation, or None. `reader` has already validated the training rows."""
    refuse_misaligned(X_val=X_val, y_val=y_val)
    if X_val is None and y_val is None:
        return None
    if X_val is None or y_val is None:
        raise ValueError("Pass both X_val and y_val, or neither for cross-validation.")
    X = read_features(reader, X_val, reset=False)
    labels = decode_labels(y_val, reader.unlabeled, classes=reader.classes_)
    check_consistent_length(X, labels.codes)
    if len(labels.labeled) == 0:
        raise ValueError("y_val has no labelled rows, so candidates cannot be validated.")
    return Samples(X, labels.codes, np.ones(len(labels.codes)), len(reader.classes_), sampling)
