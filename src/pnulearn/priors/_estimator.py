"""Base class of the prior estimators: `fit(X, y)` sets `prior_`, `interval_` and `estimate_`."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_consistent_length

from pnulearn._arrays import AnyArray
from pnulearn._numbers import read_count, read_number
from pnulearn._parameters import parameters
from pnulearn._problem.alignment import refuse_misaligned
from pnulearn._problem.inputs import read_features, read_random_state, read_weights, refuse_no_classifier
from pnulearn._problem.labels import decode_labels
from pnulearn.priors._estimate import PriorEstimate


@parameters
class PriorEstimator(BaseEstimator):
    """An estimator of the class prior(s) of the unlabelled rows.

    Parameters
    ----------
    confidence : float
        Confidence level of the interval.
    n_bootstrap : int
        Resamples for the interval; 0 skips it.
    unlabeled : object, optional
        The value in y that marks unlabelled rows; missing values always do.
    pos_label : object, optional
        The positive class, by default the greater label.
    random_state : int, RandomState or None
        Seed; an int makes the result repeatable.

    Attributes
    ----------
    prior_
        prior of the positive class, or of every class in the order of `classes_` if there are more than two.
    interval_
        (low, high), NaN if no interval was requested.
    estimate_
        both as a `PriorEstimate`.
    """

    needs_every_class: ClassVar[bool] = True  # if False, one class and U are enough
    method = ""  # its name in `METHODS`
    limits: ClassVar[Mapping[str, tuple[float, float, bool]]] = {}  # low, high, ends allowed

    confidence: float = 0.9
    n_bootstrap: int = 200
    unlabeled: Any = None
    pos_label: Any = None
    random_state: Any = None

    def refuse_impossible(self) -> None:
        """Raise an error that names the first invalid parameter."""
        read_number("confidence", self.confidence, 0, 1, ends=False)
        if self.n_bootstrap is not None:
            read_count("n_bootstrap", self.n_bootstrap, 0)
        read_random_state(self.random_state)
        if getattr(self, "classifier", None) is not None:
            refuse_no_classifier(self.classifier)
        for name, (low, high, ends) in self.limits.items():
            if getattr(self, name) is not None:
                read_number(name, getattr(self, name), low, high, ends=ends)

    @abstractmethod
    def estimate(self, X: Any, codes: AnyArray, weight: AnyArray | None = None, n_classes: int = 2) -> PriorEstimate:
        """The estimate from validated arrays: codes are −1 for U, 1 for positive, 0 for negative."""

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> PriorEstimator:
        """Estimate the prior from rows X whose labels y may be missing.

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
        self.refuse_impossible()
        X = read_features(self, X, reset=True)
        labels = decode_labels(y, self.unlabeled, self.pos_label)
        check_consistent_length(X, labels.codes)
        weight = read_weights(sample_weight, X.shape[0])
        self.classes_ = labels.classes
        if self.needs_every_class:
            refuse_missing_class(labels.codes, weight, labels.classes.tolist())
        self.estimate_ = self.estimate(X, labels.codes, weight, n_classes=len(labels.classes))
        self.prior_ = self.estimate_.value
        self.interval_ = (self.estimate_.low, self.estimate_.high)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags


def generator(random_state: Any) -> np.random.Generator:
    """A NumPy generator from a seed, a RandomState or None."""
    return np.random.default_rng(read_random_state(random_state).randint(2**31))


def refuse_missing_class(codes: AnyArray, weight: AnyArray | None, names: Sequence[Any]) -> None:
    """Raise an error that names a class without labelled rows; `names` are in code order."""
    present = set(np.unique(codes if weight is None else codes[weight > 0]).tolist())
    for code, name in enumerate(names):
        if code not in present:
            raise ValueError(
                f"No labelled rows of class {name!r}: this method needs every class. With one labelled class and "
                "unlabelled rows, use a method such as 'bbe', or pass prior as a number."
            )
