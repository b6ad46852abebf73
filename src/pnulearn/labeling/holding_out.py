"""Labelled rows as models see them that do not know their labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn.labeling.lesson import Lesson

FOLDS = 5


@dataclass(frozen=True)
class HeldOut:
    """What was said of every labelled row by a model that was kept from it.

    Parameters
    ----------
    classes : array of int (labelled rows,)
        Predicted classes.
    said : array (labelled rows, classes)
        Class probabilities.
    everywhere : array (labelled rows, classes)
        The mean of the same model's probabilities over all rows of the table.
    trust : float
        How far the probabilities are to be followed: from 0, where they say nothing, to 1.
    """

    classes: AnyArray
    said: AnyArray
    everywhere: AnyArray
    trust: float

    @classmethod
    def of_nothing(cls, lesson: Lesson, n_classes: int) -> HeldOut:
        """Before there is a model: the most frequent class, and no probabilities.

        Parameters
        ----------
        lesson : Lesson
            The labelled rows.
        n_classes : int
            How many classes there are.
        """
        n = len(lesson)
        majority = int(np.argmax(np.bincount(lesson.codes, lesson.weight, n_classes))) if n else 0
        nothing = np.zeros((n, n_classes))
        return cls(np.full(n, majority), nothing, nothing, trust=0.0)

    @classmethod
    def of(cls, lesson: Lesson, classes: AnyArray, said: AnyArray, everywhere: AnyArray) -> HeldOut:
        """With probabilities drawn towards the shares of the classes, as far as they are not to be trusted.

        Parameters
        ----------
        lesson : Lesson
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
        known = lesson[asked]
        shares = np.bincount(known.codes, known.weight, said.shape[1]) / known.weight.sum()
        trust = measure_trust(said[asked], known.codes, known.weight)
        said, everywhere = trust * said, trust * everywhere
        for values in (said, everywhere):
            values[asked] += (1 - trust) * shares
        return cls(classes, said, everywhere, trust)


def measure_trust(said: AnyArray, codes: AnyArray, weight: AnyArray) -> float:
    """The slope of what rows are on what was said of them, both less the shares of the classes; from 0 to 1.

    Probabilities drawn towards the shares by this factor have the least squared error.

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
