"""The model that learns beside the person, and what it says of labelled rows while it does not know them."""

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
from pnulearn.labeling.holding_out import FOLDS, HeldOut, split
from pnulearn.labeling.lesson import Lesson
from pnulearn.priors import PriorEstimate

LEAST_PER_CLASS = 2  # labelled rows without which a class cannot be held out
UNLABELED_ROWS = 500  # beside few labels, more of them hardly matter
SURVEYED_ROWS = 10_000  # whose mean stands for that of all rows
# A coarse search: on eight real sets with 20 and 60 labels as good as the whole one, in half of the time.
QUICK: dict[str, Any] = {"centers": 100, "mix": (-0.5, 0.0, 0.5), "alpha": (1e-4, 1e-3, 1e-2, 1e-1, 1.0)}
QUICK_FOLDS = 3
FIRST_ROWS, FIRST_ROWS_PNU = 5, 20  # chosen like the mixture (results/labeling-loop.md)
BATCH = 20_000


@dataclass(frozen=True)
class Opinion:
    """A fitted model and what it says of all rows.

    Parameters
    ----------
    model : classifier or None
        None as long as one class is all that is known.
    probability : array (rows, classes) or None
        Of all rows.
    trust : float
        How far probabilities are to be followed, by rows that were held out: from 0, where they say nothing, to 1.
    """

    model: Any = None
    probability: AnyArray | None = None
    trust: float = 1.0


def default_model(seed: int) -> PNUClassifier:
    """A classifier that is refitted in a fraction of a second."""
    return PNUClassifier(random_state=seed, **QUICK)


def first_rows(model: Any) -> int:
    """How many rows are drawn at random before the model is asked which ones it would learn from."""
    return FIRST_ROWS_PNU if isinstance(model, PNUClassifier) else FIRST_ROWS


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
        shuffled = np.random.default_rng(seed).permutation(X.shape[0])
        self._unlabeled, self._surveyed = shuffled[:UNLABELED_ROWS], shuffled[:SURVEYED_ROWS]

    def hold_out(self, lesson: Lesson, prior: PriorEstimate | None) -> HeldOut:
        """What models say of labelled rows that were kept from them, while they were chosen as well as fitted.

        Scores of rows that a classifier held out itself will not do: they helped to choose among its candidates, and
        with thirty labels that makes the error three points too low.

        Parameters
        ----------
        lesson : Lesson
            The labelled rows.
        prior : PriorEstimate or None
            What is known about the shares of the classes.
        """
        known, every_class = self._known(lesson), np.arange(self.n_classes)
        if len(known) < 2 and self._first is None:
            return HeldOut.of_nothing(lesson, self.n_classes)
        if len(known) < 2:  # drawn rows are not those that it was fitted to
            said = self._say(self._first, lesson.rows, every_class)
            return HeldOut.of(
                lesson, said.argmax(axis=1), said, np.tile(self._survey(self._first, every_class), (len(lesson), 1))
            )
        classes = np.full(len(lesson), -1)  # rows of a class that cannot be learnt are wrong, whatever is predicted
        said, everywhere = np.zeros((2, len(lesson), self.n_classes))
        folds = split(lesson.codes, known, np.random.default_rng(self.seed))
        for fold in range(min(FOLDS, int(folds.max()) + 1)):
            outside, inside = folds == fold, (folds >= 0) & (folds != fold)
            model = self._fit(lesson[inside], known, prior, is_quick=True)
            classes[outside] = known[model.predict(self.X[lesson.rows[outside]])]
            said[outside] = self._say(model, lesson.rows[outside], known)
            everywhere[outside] = self._survey(model, known)
        return HeldOut.of(lesson, classes, said, everywhere)

    def learn(self, lesson: Lesson, prior: PriorEstimate | None, trust: float = 1.0) -> Opinion:
        """Fit to these rows.

        Parameters
        ----------
        lesson : Lesson
            The labelled rows.
        prior : PriorEstimate or None
            What is known about the shares of the classes.
        trust : float
            How far the model is to be followed, as rows that were held out have shown.
        """
        known, everyone = self._known(lesson), np.arange(self.X.shape[0])
        if len(known) < 2:
            said = None if self._first is None else self._say(self._first, everyone, np.arange(self.n_classes))
            return Opinion(self._first, said, trust)
        model = self._fit(lesson[np.isin(lesson.codes, known)], known, prior)
        return Opinion(model, self._say(model, everyone, known), trust)

    def _known(self, lesson: Lesson) -> AnyArray:
        """Classes that can be learnt."""
        counts = np.bincount(lesson.codes, minlength=self.n_classes)
        return np.flatnonzero((counts >= LEAST_PER_CLASS) & self._tells_rows_apart)

    def _fit(self, lesson: Lesson, known: AnyArray, prior: PriorEstimate | None, is_quick: bool = False) -> Any:
        """A classifier of the places of classes in `known`; `is_quick` chooses among candidates with fewer folds."""
        model = clone(self.model)
        rows, codes, weight = lesson.rows, np.searchsorted(known, lesson.codes), lesson.weight
        if not isinstance(model, PNUClassifier):
            takes_weight = "sample_weight" in inspect.signature(model.fit).parameters
            given = (self.X[rows], codes, *([weight] if takes_weight else []))
        else:
            unlabeled = self._unlabeled[~np.isin(self._unlabeled, rows)]
            labels = np.concatenate([codes, np.full(len(unlabeled), UNLABELED)])
            weights = np.concatenate([weight, np.ones(len(unlabeled))])
            given = (self.X[np.concatenate([rows, unlabeled])], Labels(np.arange(len(known)), labels), weights)
            folds = QUICK_FOLDS if is_quick else FOLDS
            cv = FOLDS if isinstance(model.cv, str) else model.cv  # rows are left out by the learner itself
            cv = min(cv, len(codes), folds) if isinstance(cv, int) else cv
            prior = _within(prior, known) if model.prior is None else model.prior
            model.set_params(cv=cv, pos_label=None, prior=prior)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what few labels leave open is what the page is about
            return model.fit(*given)

    def _survey(self, model: Any, known: AnyArray) -> AnyArray:
        """Mean class probabilities of all rows."""
        return self._say(model, self._surveyed, known).mean(axis=0)

    def _say(self, model: Any, rows: AnyArray, known: AnyArray) -> AnyArray:
        """Class probabilities of rows by a model that knows some of the classes."""
        probability = np.zeros((len(rows), self.n_classes))
        for first in range(0, len(rows), BATCH):
            part = slice(first, first + BATCH)
            probability[part, known] = model.predict_proba(self.X[rows[part]])
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
