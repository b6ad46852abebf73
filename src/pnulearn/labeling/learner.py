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
from sklearn.model_selection import StratifiedKFold
from sklearn.utils.validation import check_is_fitted

from pnulearn._arrays import AnyArray
from pnulearn._estimators.classifier import PNUClassifier
from pnulearn._problem.labels import UNLABELED, Labels
from pnulearn.priors import PriorEstimate

LEAST_PER_CLASS = 2  # labelled rows without which a class cannot be held out
UNLABELED_ROWS = 500  # beside few labels, more of them hardly matter
# A coarse search: on eight real sets with 20 and 60 labels as good as the whole one, in half of the time.
QUICK: dict[str, Any] = {"centers": 100, "mix": (-0.5, 0.0, 0.5), "alpha": (1e-4, 1e-3, 1e-2, 1e-1, 1.0)}
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

    def learn(self, rows: AnyArray, codes: AnyArray, weight: AnyArray, prior: PriorEstimate | None) -> Opinion:
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
        learn = self._learn_pnu if isinstance(self.model, PNUClassifier) else self._learn_supervised
        model, guessed = learn(rows[used], np.searchsorted(known, codes[used]), weight[used], _within(prior, known))
        held_out = np.full(len(codes), -1)  # rows of a class that was not learnt are wrong, whatever is predicted
        held_out[used] = known[guessed]
        return Opinion(model, self._probability(model, known), held_out)

    def _learn_pnu(
        self, rows: AnyArray, codes: AnyArray, weight: AnyArray, prior: PriorEstimate | None
    ) -> tuple[Any, AnyArray]:
        unlabeled = self._unlabeled[~np.isin(self._unlabeled, rows)]
        X = self.X[np.concatenate([rows, unlabeled])]
        labels = Labels(np.arange(codes.max() + 1), np.concatenate([codes, np.full(len(unlabeled), UNLABELED)]))
        model = clone(self.model)
        if prior is not None and model.prior is None:
            model.set_params(prior=prior)
        model.set_params(cv=min(model.cv, len(codes)) if isinstance(model.cv, int) else model.cv, pos_label=None)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what few labels leave open is what the page is about
            model.fit(X, labels, np.concatenate([weight, np.ones(len(unlabeled))]))
        scores = model.validation_scores_[: len(rows)]
        return model, (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)

    def _learn_supervised(
        self, rows: AnyArray, codes: AnyArray, weight: AnyArray, prior: PriorEstimate | None
    ) -> tuple[Any, AnyArray]:
        takes_weight = "sample_weight" in inspect.signature(self.model.fit).parameters
        X, held_out = self.X[rows], np.empty(len(rows), dtype=int)

        def fit(some: AnyArray) -> Any:
            given = {"sample_weight": weight[some]} if takes_weight else {}
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return clone(self.model).fit(X[some], codes[some], **given)

        n_folds = int(min(5, np.bincount(codes).min()))
        for inside, outside in StratifiedKFold(n_folds, shuffle=True, random_state=self.seed).split(X, codes):
            held_out[outside] = fit(inside).predict(X[outside])
        return fit(np.arange(len(rows))), held_out

    def _probability(self, model: Any, known: AnyArray) -> AnyArray:
        n_rows = self.X.shape[0]
        probability = np.zeros((n_rows, self.n_classes))
        for first in range(0, n_rows, BATCH):
            part = slice(first, first + BATCH)
            probability[part, known] = model.predict_proba(self.X[part])
        return probability


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
