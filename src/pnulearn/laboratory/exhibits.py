"""Two experiments on data of scikit-learn: one where unlabelled rows help much, and one where they hardly do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import minmax_scale

from pnulearn._arrays import AnyArray
from pnulearn._estimators.classifier import PNUClassifier

MODELS = ("logistic regression", "labels and prior", "with unlabelled rows")


@dataclass(frozen=True, eq=False)
class Exhibit:
    """A question, how many rows of each kind there are, and the share of positives in the population.

    Parameters
    ----------
    question : str
        What is to be predicted.
    load : callable
        Gives features in [0, 1] and True for positive.
    n_positive, n_negative, n_unlabeled : int
        Rows of the three kinds.
    prior : float
        Share of positives among unlabelled and test rows, which the last two models are told.
    """

    question: str
    load: Callable[[], tuple[AnyArray, AnyArray]]
    n_positive: int
    n_negative: int
    n_unlabeled: int
    prior: float

    def errors(self, seed: int) -> tuple[float, ...]:
        """Test errors of the three `MODELS` in one draw.

        Parameters
        ----------
        seed : int
            Seed of the draw.
        """
        X, positive = self.load()
        labeled, unlabeled, test = self._draw(positive, np.random.default_rng(seed))
        y = np.where(np.isin(np.arange(len(X)), labeled), positive.astype(float), np.nan)
        train = np.concatenate([labeled, unlabeled])
        models = (
            LogisticRegression(max_iter=1000).fit(X[labeled], y[labeled]),
            PNUClassifier("pn", prior=self.prior, random_state=seed).fit(X[labeled], y[labeled]),
            PNUClassifier(prior=self.prior, random_state=seed).fit(X[train], y[train]),
        )
        return tuple(float(np.mean(model.predict(X[test]) != positive[test])) for model in models)

    def _draw(self, positive: AnyArray, rng: np.random.Generator) -> tuple[AnyArray, AnyArray, AnyArray]:
        """Labelled, unlabelled and test rows; the last two have the share of positives that was promised."""
        of_each = [rng.permutation(np.flatnonzero(positive == value)) for value in (True, False)]
        labeled = np.concatenate([of_each[0][: self.n_positive], of_each[1][: self.n_negative]])
        rest = [of_each[0][self.n_positive :], of_each[1][self.n_negative :]]
        shares = (self.prior, 1 - self.prior)
        counts = [round(self.n_unlabeled * share) for share in shares]
        unlabeled = np.concatenate([rows[:count] for rows, count in zip(rest, counts, strict=True)])
        rest = [rows[count:] for rows, count in zip(rest, counts, strict=True)]
        n_test = min(len(rows) / share for rows, share in zip(rest, shares, strict=True))
        test = np.concatenate([rows[: int(n_test * share)] for rows, share in zip(rest, shares, strict=True)])
        return labeled, unlabeled, test


def _digits() -> tuple[AnyArray, AnyArray]:
    X, digit = load_digits(return_X_y=True)
    return X / 16, digit % 2 == 0


def _tumours() -> tuple[AnyArray, AnyArray]:
    X, benign = load_breast_cancer(return_X_y=True)
    return minmax_scale(X), benign == 0


EXHIBITS = {
    "digits": Exhibit("is a handwritten digit even?", _digits, 10, 3, 200, 0.3),
    "tumours": Exhibit("is a tumour malignant?", _tumours, 21, 9, 200, 0.37),
}
