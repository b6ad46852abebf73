"""The model that learns beside the person: refitted to all labels, judged on rows that were held out."""

from __future__ import annotations

import inspect
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from pnulearn._arrays import AnyArray
from pnulearn._estimators.classifier import PNUClassifier
from pnulearn._problem.labels import UNLABELED, Labels
from pnulearn.priors import PriorEstimate

LEAST_PER_CLASS = 2  # labelled rows without which a class cannot be held out
UNLABELED_ROWS = 500  # beside few labels, more of them hardly matter
# A coarse search: on eight real sets with 20 and 60 labels as good as the whole one, in half of the time.
QUICK: dict[str, Any] = {"centers": 100, "mix": (-0.5, 0.0, 0.5), "alpha": (1e-4, 1e-3, 1e-2, 1e-1, 1.0)}
FOLDS, QUICK_FOLDS = 5, 3
BATCH = 20_000


@dataclass(frozen=True)
class Opinion:
    """A fitted model, what it says of all rows, and what it said of labelled rows while it did not know them.

    Parameters
    ----------
    model : classifier or None
        None as long as one class is all that is known.
    probability : array (rows, classes) or None
        Of all rows.
    held_out : array of int
        Predicted classes of the labelled rows, in the order they were given in.
    """

    model: Any
    probability: AnyArray | None
    held_out: AnyArray


def default_model(seed: int) -> PNUClassifier:
    """A classifier that is refitted in a fraction of a second."""
    return PNUClassifier(random_state=seed, **QUICK)


class Learner:
    """Fits a classifier to the labels so far.

    Parameters
    ----------
    X : array or sparse matrix (rows, columns)
        Features of all rows.
    n_classes : int
        How many classes there are.
    model : classifier
        `PNUClassifier`, or any of scikit-learn's, which learn from the labelled rows alone. One that is fitted already
        is used until there are labels of two classes.
    seed : int
        Of folds and of the choice of unlabelled rows to learn from.
    """

    def __init__(self, X: Any, n_classes: int, model: Any, seed: int = 0) -> None:
        self.X, self.n_classes, self.model, self.seed = X, n_classes, model, seed
        self._first = model if _is_fitted(model, n_classes) else None
        self._tells_rows_apart = issparse(X) or bool(np.ptp(X, axis=0).any())
        self._unlabeled = np.random.default_rng(seed).permutation(X.shape[0])[:UNLABELED_ROWS]

    def learn(
        self,
        rows: AnyArray,
        codes: AnyArray,
        weight: AnyArray,
        prior: PriorEstimate | None,
        is_judged: bool = True,
    ) -> Opinion:
        """Fit to these rows.

        Parameters
        ----------
        rows : array of int
            Numbers of the labelled rows.
        codes : array of int
            Their classes.
        weight : array
            Their weights.
        prior : PriorEstimate or None
            What is known about the shares of the classes.
        is_judged : bool
            Whether rows are held out to judge by, which takes further fits.
        """
        counts = np.bincount(codes, minlength=self.n_classes)
        known = np.flatnonzero((counts >= LEAST_PER_CLASS) & self._tells_rows_apart)
        if len(known) < 2 and self._first is not None:  # drawn rows are not those that it was fitted to
            probability = self._probability(self._first, np.arange(self.n_classes))
            return Opinion(self._first, probability, probability[rows].argmax(axis=1))
        if len(known) < 2:
            majority = int(np.argmax(np.bincount(codes, weight, self.n_classes))) if len(codes) else 0
            return Opinion(None, None, np.full(len(codes), majority))
        used = np.isin(codes, known)
        some = (rows[used], np.searchsorted(known, codes[used]), weight[used], _within(prior, known))
        model = self._fit(*some)
        held_out = np.full(len(codes), -1)  # rows of a class that was not learnt are wrong, whatever is predicted
        if is_judged:
            held_out[used] = known[self._predict_held_out(*some)]
        return Opinion(model, self._probability(model, known), held_out)

    def _predict_held_out(
        self, rows: AnyArray, codes: AnyArray, weight: AnyArray, prior: PriorEstimate | None
    ) -> AnyArray:
        """Classes of the labelled rows by models that were chosen and fitted without them.

        Scores of rows that a classifier held out itself will not do: they helped to choose among its candidates, and
        with thirty labels that makes the error three points too low.
        """
        predicted = np.empty(len(rows), dtype=int)
        folds = _split(codes, np.random.default_rng(self.seed))
        for fold in range(FOLDS):
            outside, inside = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
            if not len(outside):
                continue
            if len(np.unique(codes[inside])) < codes.max() + 1:  # its only rows are held out
                predicted[outside] = np.argmax(np.bincount(codes[inside]))
                continue
            model = self._fit(rows[inside], codes[inside], weight[inside], prior, is_quick=True)
            predicted[outside] = model.predict(self.X[rows[outside]])
        return predicted

    def _fit(
        self, rows: AnyArray, codes: AnyArray, weight: AnyArray, prior: PriorEstimate | None, is_quick: bool = False
    ) -> Any:
        """A classifier of the codes; `is_quick` chooses among candidates with fewer folds."""
        model = clone(self.model)
        if not isinstance(model, PNUClassifier):
            takes_weight = "sample_weight" in inspect.signature(model.fit).parameters
            given = (self.X[rows], codes, *([weight] if takes_weight else []))
        else:
            unlabeled = self._unlabeled[~np.isin(self._unlabeled, rows)]
            labels = np.concatenate([codes, np.full(len(unlabeled), UNLABELED)])
            weights = np.concatenate([weight, np.ones(len(unlabeled))])
            given = (self.X[np.concatenate([rows, unlabeled])], Labels(np.arange(codes.max() + 1), labels), weights)
            cv = (
                min(model.cv, len(codes), QUICK_FOLDS if is_quick else FOLDS) if isinstance(model.cv, int) else model.cv
            )
            model.set_params(cv=cv, pos_label=None, prior=prior if model.prior is None else model.prior)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what few labels leave open is what the page is about
            return model.fit(*given)

    def _probability(self, model: Any, known: AnyArray) -> AnyArray:
        n_rows = self.X.shape[0]
        probability = np.zeros((n_rows, self.n_classes))
        for first in range(0, n_rows, BATCH):
            part = slice(first, first + BATCH)
            probability[part, known] = model.predict_proba(self.X[part])
        return probability


def _split(codes: AnyArray, rng: np.random.Generator) -> AnyArray:
    """The fold of every row: rows of a class are spread over all folds, however few they are."""
    folds = np.empty(len(codes), dtype=int)
    first = 0
    for code in np.unique(codes):
        of_class = rng.permutation(np.flatnonzero(codes == code))
        folds[of_class] = (first + np.arange(len(of_class))) % FOLDS
        first += len(of_class)
    return folds


def _is_fitted(model: Any, n_classes: int) -> bool:
    try:
        check_is_fitted(model)
    except NotFittedError:
        return False
    return len(model.classes_) == n_classes


def _within(prior: PriorEstimate | None, known: AnyArray) -> PriorEstimate | None:
    """The prior of the classes that are known, if it says anything about them."""
    if prior is None or len(known) == len(prior.shares):
        return prior
    shares = prior.shares[known] * (prior.concentration or 10.0)
    return PriorEstimate.of_counts(shares)
