"""The model that is fitted to the answers, and its cross-validated predictions of labelled rows."""

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
from pnulearn.labeling._draws import Sample
from pnulearn.priors import PriorEstimate

# What a model is fitted to.

# Power of the weights in training. One makes the training risk unbiased and noisy, nought ignores how rows were chosen;
# one half had the lowest error on the sets that it was chosen on (results/labeling-loop.md).
TEMPER = 0.5


@dataclass(frozen=True)
class TrainingSet:
    """Labelled rows with their weights.

    Parameters
    ----------
    rows : array of int
        Their numbers.
    codes : array of int
        Their classes.
    weight : array
        Their weights.
    """

    rows: AnyArray
    codes: AnyArray
    weight: AnyArray

    @classmethod
    def of(cls, sample: Sample, given: AnyArray, is_weighted: bool) -> TrainingSet:
        """The rows that were drawn, in their order, and then other labels that were there before.

        Parameters
        ----------
        sample : Sample
            Rows that were drawn.
        given : array of int (rows,)
            Classes of rows that had a label, −1 for all others.
        is_weighted : bool
            Whether drawn rows weigh by their chances.
        """
        before = np.setdiff1d(np.flatnonzero(given != UNLABELED), sample.rows)
        of_drawn = np.maximum(sample.training_weight, 0) ** TEMPER if is_weighted else np.ones(len(sample))
        rows, codes = np.concatenate([sample.rows, before]), np.concatenate([sample.codes, given[before]])
        return cls(rows, codes, np.concatenate([of_drawn, np.ones(len(before))]))

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, some: AnyArray) -> TrainingSet:
        return TrainingSet(self.rows[some], self.codes[some], self.weight[some])


# Held-out predictions of labelled rows.

FOLDS = 5


@dataclass(frozen=True)
class HeldOut:
    """Held-out predictions of every labelled row, by cross-validation.

    Parameters
    ----------
    classes : array of int (labelled rows,)
        Predicted classes.
    said : array (labelled rows, classes)
        Class probabilities.
    everywhere : array (labelled rows, classes)
        The mean of the same model's probabilities over all rows of the table.
    trust : float
        Shrinkage factor of the probabilities: 0 if they are uninformative, up to 1.
    """

    classes: AnyArray
    said: AnyArray
    everywhere: AnyArray
    trust: float

    @classmethod
    def of_nothing(cls, training_set: TrainingSet, n_classes: int) -> HeldOut:
        """Before there is a model: the most frequent class, and no probabilities.

        Parameters
        ----------
        training_set : TrainingSet
            The labelled rows.
        n_classes : int
            How many classes there are.
        """
        n = len(training_set)
        majority = int(np.argmax(np.bincount(training_set.codes, training_set.weight, n_classes))) if n else 0
        nothing = np.zeros((n, n_classes))
        return cls(np.full(n, majority), nothing, nothing, trust=0.0)

    @classmethod
    def of(cls, training_set: TrainingSet, classes: AnyArray, said: AnyArray, everywhere: AnyArray) -> HeldOut:
        """Held-out predictions with probabilities shrunk towards the class shares by the factor `trust`.

        Parameters
        ----------
        training_set : TrainingSet
            The labelled rows.
        classes : array of int (labelled rows,)
            Predicted classes.
        said : array (labelled rows, classes)
            Class probabilities as models gave them; zeros where none did.
        everywhere : array (labelled rows, classes)
            Means of them over all rows.
        """
        asked = np.flatnonzero(said.any(axis=1))
        if not len(asked):
            return cls(classes, said, everywhere, trust=0.0)
        known = training_set[asked]
        shares = np.bincount(known.codes, known.weight, said.shape[1]) / known.weight.sum()
        trust = measure_trust(said[asked], known.codes, known.weight)
        said, everywhere = trust * said, trust * everywhere
        for values in (said, everywhere):
            values[asked] += (1 - trust) * shares
        return cls(classes, said, everywhere, trust)

    def spread(self, is_known: AnyArray) -> HeldOut:
        """The same for all drawn rows: those that were not labelled get the mean over all rows.

        Parameters
        ----------
        is_known : array of bool (drawn rows,)
            Which of the drawn rows are the first ones here.
        """
        n_known = int(is_known.sum())
        usual = self.everywhere[:n_known].mean(axis=0) if n_known else np.zeros(self.everywhere.shape[1])
        said, everywhere = np.tile(usual, (2, len(is_known), 1))
        said[is_known], everywhere[is_known] = self.said[:n_known], self.everywhere[:n_known]
        classes = np.full(len(is_known), -1)
        classes[is_known] = self.classes[:n_known]
        return HeldOut(classes, said, everywhere, self.trust)


def measure_trust(said: AnyArray, codes: AnyArray, weight: AnyArray) -> float:
    """The regression slope of labels on predicted probabilities, both centred at the class shares; clipped to [0, 1].

    Probabilities shrunk towards the shares by this factor minimise the squared error.

    >>> said = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    >>> measure_trust(said, np.array([1, 0, 1, 0]), np.ones(4)), measure_trust(said, np.array([1, 0, 0, 1]), np.ones(4))
    (1.0, 0.0)

    Parameters
    ----------
    said : array (rows, classes)
        Class probabilities of rows that were held out.
    codes : array of int (rows,)
        Their classes.
    weight : array (rows,)
        Their weights.
    """
    truth = np.eye(said.shape[1])[codes]
    shares = np.average(truth, axis=0, weights=weight)
    foreseen, was = said - shares, truth - shares
    power = float(weight @ (foreseen**2).sum(axis=1))
    return float(np.clip(weight @ (foreseen * was).sum(axis=1) / power, 0, 1)) if power > 0 else 0.0


def split(codes: AnyArray, known: AnyArray, rng: np.random.Generator) -> AnyArray:
    """The fold of every row, −1 for other classes: rows of a class are spread over all folds, however few they are.

    Parameters
    ----------
    codes : array of int
        Classes of the rows.
    known : array of int
        Classes to split.
    rng : Generator
        Shuffles the rows of every class.
    """
    folds, first = np.full(len(codes), -1), 0
    for code in known:
        of_class = rng.permutation(np.flatnonzero(codes == code))
        folds[of_class] = (first + np.arange(len(of_class))) % FOLDS
        first += len(of_class)
    return folds


# The model that is refitted during labelling, and its held-out predictions.

LEAST_PER_CLASS = 2  # labelled rows without which a class cannot be held out
UNLABELED_ROWS = 500  # beside few labels, more of them hardly matter
SURVEYED_ROWS = 10_000  # whose mean stands for that of all rows
# A coarse search: on eight real sets with 20 and 60 labels as good as the whole one, in half of the time.
QUICK: dict[str, Any] = {"centers": 100, "mix": (-0.5, 0.0, 0.5), "alpha": (1e-4, 1e-3, 1e-2, 1e-1, 1.0)}
QUICK_FOLDS = 3
FIRST_ROWS, FIRST_ROWS_PNU = 5, 20  # chosen like the mixture (results/labeling-loop.md)
BATCH = 20_000


@dataclass(frozen=True)
class CurrentModel:
    """A fitted model and its predictions for all rows.

    Parameters
    ----------
    model : classifier or None
        None as long as one class is all that is known.
    probability : array (rows, classes) or None
        Of all rows.
    trust : float
        Shrinkage factor of the probabilities, from held-out rows: 0 if they are uninformative, up to 1.
    """

    model: Any = None
    probability: AnyArray | None = None
    trust: float = 1.0


def default_model(seed: int) -> PNUClassifier:
    """A classifier that is refitted in a fraction of a second."""
    return PNUClassifier(random_state=seed, **QUICK)


def first_rows(model: Any) -> int:
    """Number of rows drawn at random before the model's predictions are used to choose rows."""
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

    def hold_out(self, training_set: TrainingSet, prior: PriorEstimate | None) -> HeldOut:
        """Nested cross-validation: each row is held out from both the fit and the model selection.

        The held-out scores of the classifier itself were used for its model selection; with thirty labels they make
        the error three points too low.

        Parameters
        ----------
        training_set : TrainingSet
            The labelled rows.
        prior : PriorEstimate or None
            The class prior.
        """
        known, every_class = self._known(training_set), np.arange(self.n_classes)
        if len(known) < 2 and self._first is None:
            return HeldOut.of_nothing(training_set, self.n_classes)
        if len(known) < 2:  # drawn rows are not those that it was fitted to
            said = self._say(self._first, training_set.rows, every_class)
            return HeldOut.of(
                training_set,
                said.argmax(axis=1),
                said,
                np.tile(self._survey(self._first, every_class), (len(training_set), 1)),
            )
        classes = np.full(
            len(training_set), -1
        )  # rows of a class that cannot be learnt are wrong, whatever is predicted
        said, everywhere = np.zeros((2, len(training_set), self.n_classes))
        folds = split(training_set.codes, known, np.random.default_rng(self.seed))
        for fold in range(min(FOLDS, int(folds.max()) + 1)):
            outside, inside = folds == fold, (folds >= 0) & (folds != fold)
            model = self._fit(training_set[inside], known, prior, is_quick=True)
            classes[outside] = known[model.predict(self.X[training_set.rows[outside]])]
            said[outside] = self._say(model, training_set.rows[outside], known)
            everywhere[outside] = self._survey(model, known)
        return HeldOut.of(training_set, classes, said, everywhere)

    def learn(self, training_set: TrainingSet, prior: PriorEstimate | None, trust: float = 1.0) -> CurrentModel:
        """Fit to these rows.

        Parameters
        ----------
        training_set : TrainingSet
            The labelled rows.
        prior : PriorEstimate or None
            What is known about the shares of the classes.
        trust : float
            Shrinkage factor of the probabilities, from held-out rows.
        """
        known, everyone = self._known(training_set), np.arange(self.X.shape[0])
        if len(known) < 2:
            said = None if self._first is None else self._say(self._first, everyone, np.arange(self.n_classes))
            return CurrentModel(self._first, said, trust)
        model = self._fit(training_set[np.isin(training_set.codes, known)], known, prior)
        return CurrentModel(model, self._say(model, everyone, known), trust)

    def _known(self, training_set: TrainingSet) -> AnyArray:
        """Classes that can be learnt."""
        counts = np.bincount(training_set.codes, minlength=self.n_classes)
        return np.flatnonzero((counts >= LEAST_PER_CLASS) & self._tells_rows_apart)

    def _fit(
        self, training_set: TrainingSet, known: AnyArray, prior: PriorEstimate | None, is_quick: bool = False
    ) -> Any:
        """A classifier of the places of classes in `known`; `is_quick` chooses among candidates with fewer folds."""
        model = clone(self.model)
        rows, codes, weight = training_set.rows, np.searchsorted(known, training_set.codes), training_set.weight
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
            warnings.simplefilter("ignore")  # warnings about few labels are expected here
            return model.fit(*given)

    def _survey(self, model: Any, known: AnyArray) -> AnyArray:
        """Mean class probabilities of all rows."""
        return self._say(model, self._surveyed, known).mean(axis=0)

    def _say(self, model: Any, rows: AnyArray, known: AnyArray) -> AnyArray:
        """Class probabilities of rows by a model fitted to some of the classes."""
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
