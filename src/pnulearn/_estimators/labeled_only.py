"""LabeledOnly: any scikit-learn classifier on y with missing labels, fitted to the labelled rows only."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from numpy.typing import ArrayLike
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import _safe_indexing, get_tags, indexable
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _num_samples, check_is_fitted

from pnulearn._arrays import AnyArray
from pnulearn._problem.alignment import refuse_misaligned
from pnulearn._problem.inputs import explained, read_foreign, read_weights, refuse_no_classifier
from pnulearn._problem.labels import decode_labels


def _can(method: str) -> Any:
    """Make a method available if the wrapped classifier (the fitted one, if there is one) has it."""
    return available_if(lambda self: hasattr(getattr(self, "classifier_", self.classifier), method))


class LabeledOnly(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Wrapper that drops unlabelled rows in `fit`, so that a grid search can refit a classifier on all of y.

    `PNUStratifiedKFold` keeps unlabelled rows out of the training folds, but a search refits its best candidate on
    every row. `LabeledOnly(SVC())` accepts missing labels; `SVC()` itself raises an error.

    Parameters
    ----------
    classifier
        any scikit-learn classifier or pipeline; the fitted copy is `classifier_`.
    unlabeled
        the value that marks unlabelled rows, besides missing values.

    Examples
    --------
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn.svm import SVC
    >>> from pnulearn import PNUStratifiedKFold, make_pnu_scorer
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([1.0, 0.0, np.nan], [20, 20, 200])
    >>> X = rng.normal(size=(240, 2)) + 2 * np.concatenate([np.ones(20), np.zeros(20), rng.random(200) < 0.3])[:, None]
    >>> search = GridSearchCV(
    ...     LabeledOnly(SVC()),
    ...     {"classifier__C": [0.01, 1]},
    ...     cv=PNUStratifiedKFold(5, random_state=0),
    ...     scoring=make_pnu_scorer(prior=0.3),
    ... )
    >>> search.fit(X, y).predict([[2, 2], [0, 0]]).tolist()
    [1.0, 0.0]
    """

    def __init__(self, classifier: Any, *, unlabeled: Any = None):
        self.classifier = classifier
        self.unlabeled = unlabeled

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, **fit_params: Any) -> LabeledOnly:
        """Fit a copy of the classifier to the labelled rows.

        Parameters
        ----------
        X : array, sparse matrix or data frame (rows, columns)
            Features.
        y : array (rows,)
            Labels; missing values and `unlabeled` mark unlabelled rows.
        sample_weight : array (rows,), optional
            Weights of the rows; one each by default.
        **fit_params : object
            Passed to the classifier's `fit`. Arrays with one value per row are restricted to the labelled rows.
        """
        refuse_misaligned(X=X, y=y, sample_weight=sample_weight)
        refuse_no_classifier(self.classifier)
        labels = decode_labels(y, self.unlabeled)
        if sample_weight is not None:
            fit_params["sample_weight"] = read_weights(sample_weight, len(labels.codes))
        X, _ = indexable(read_foreign(X), labels.codes)
        rows = labels.labeled
        params = {name: of_rows(value, rows, len(labels.codes)) for name, value in self._route(fit_params).items()}
        known = labels.classes[labels.codes[rows]]
        with explained(X):
            self.classifier_ = clone(self.classifier).fit(_safe_indexing(X, rows), known, **params)
        self.classes_ = self.classifier_.classes_
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.classifier_, name):
                setattr(self, name, getattr(self.classifier_, name))
        return self

    def _route(self, params: dict[str, Any]) -> dict[str, Any]:
        """The parameters for the classifier's `fit`: all of them, unless scikit-learn's metadata routing is enabled."""
        if params and get_config()["enable_metadata_routing"]:
            return dict(process_routing(self, "fit", **params).classifier.fit)
        return params

    def get_metadata_routing(self) -> MetadataRouter:
        """Metadata of `fit` is routed to the classifier's `fit`."""
        mapping = MethodMapping().add(caller="fit", callee="fit")
        return MetadataRouter(owner=type(self).__name__).add(classifier=self.classifier, method_mapping=mapping)

    def _ask(self, method: str, X: Any) -> AnyArray:
        check_is_fitted(self)
        X = read_foreign(X)
        with explained(X):
            return getattr(self.classifier_, method)(X)

    def predict(self, X: Any) -> AnyArray:
        """Class labels as they were in y; never the unlabelled marker.

        Parameters
        ----------
        X : array, sparse matrix or data frame (rows, columns)
            Features.
        """
        return self._ask("predict", X)

    @_can("decision_function")
    def decision_function(self, X: Any) -> AnyArray:
        """Scores of the wrapped classifier.

        Parameters
        ----------
        X : array, sparse matrix or data frame (rows, columns)
            Features.
        """
        return self._ask("decision_function", X)

    @_can("predict_proba")
    def predict_proba(self, X: Any) -> AnyArray:
        """Probabilities of the wrapped classifier, which refer to the class shares among the labelled rows.

        Parameters
        ----------
        X : array, sparse matrix or data frame (rows, columns)
            Features.
        """
        return self._ask("predict_proba", X)

    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Score of the wrapped classifier on the labelled rows. `make_pnu_scorer` also uses the unlabelled rows.

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
        labels = decode_labels(y, self.unlabeled, classes=self.classes_)
        rows = labels.labeled
        X, _ = indexable(X, labels.codes)
        weight = (
            {} if sample_weight is None else {"sample_weight": read_weights(sample_weight, len(labels.codes))[rows]}
        )
        return self.classifier_.score(_safe_indexing(X, rows), labels.classes[labels.codes[rows]], **weight)

    def __sklearn_tags__(self) -> Any:
        tags, inner = super().__sklearn_tags__(), get_tags(self.classifier)
        tags.input_tags, tags.classifier_tags = inner.input_tags, single_label(inner.classifier_tags)
        return tags


def single_label(tags: Any) -> Any:
    """Classifier tags of a wrapper whose y has one label per row, whatever the wrapped classifier accepts."""
    return None if tags is None else replace(tags, multi_label=False)


def of_rows(value: Any, rows: AnyArray, n_rows: int) -> Any:
    """The given rows of a parameter with one value per row; other parameters unchanged."""
    if not hasattr(value, "__len__") or isinstance(value, str) or _num_samples(value) != n_rows:
        return value
    return _safe_indexing(value, rows)
