"""Harmonic functions on a graph of rows (Zhu, Ghahramani, Lafferty 2003): label propagation in closed form."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import numpy as np
from scipy import linalg
from sklearn.utils.validation import check_is_fitted

from pnulearn._arrays import AnyArray
from pnulearn._parameters import parameters
from pnulearn._problem.inputs import read_features
from pnulearn.baselines._base import Baseline, BaselineTraining, Candidate, Parts, candidates

TINY = 1e-12  # weight of the overall mean, which is the prediction for a row far from all others


@parameters
class HarmonicClassifier(Baseline):
    """Label propagation: unlabelled rows get the mean of their neighbours, scaled to the population's class prior.

    With weights W = K between different rows, d their sums and Y the indicators of the labelled rows, the functions
    f of the classes solve

        (1 + leak) d_i f_i − Σ_j W_ij f_j = leak d_i π,      f = Y on the labelled rows,

    where π are the class shares. A new row gets the mean of f weighted by its kernel. Class k is multiplied by π_k over
    the mean of f_k on the unlabelled rows (class mass normalisation), so that rare classes are predicted, too. One
    eigendecomposition per bandwidth is enough for all leaks. Supports any number of classes.

    Parameters
    ----------
    leak
        weight of the class shares relative to the neighbours of an unlabelled row; None searches 10⁻⁵ … 10².

    Examples
    --------
    >>> X = np.array([[0.0], [0.2], [1.0], [1.2], [0.1], [1.1]])
    >>> y = np.array([0, 0, 1, 1, np.nan, np.nan])
    >>> HarmonicClassifier(leak=0.01, bandwidth=0.2, prior=0.5).fit(X, y).predict(X).tolist()
    [0.0, 0.0, 1.0, 1.0, 0.0, 1.0]
    """

    _parts: ClassVar = ("values", "scale")
    _without_unlabeled: ClassVar = "a kernel-weighted vote of the labelled rows"

    leak: Any = None

    def predict_proba(self, X: Any) -> AnyArray:
        """Class probabilities under the population's class prior, one column per class.

        Parameters
        ----------
        X : array, sparse matrix or data frame (rows, columns)
            Features.
        """
        check_is_fitted(self)
        X = read_features(self, X, reset=False)
        return _mean_values(self._features(X, self.centers_, self.bandwidth_), self.values_, self.scale_)

    def _grid(self) -> dict[str, Sequence[float]]:
        return {"leak": candidates("leak", self.leak)}

    def _learn(self, training: BaselineTraining, grid: Sequence[Candidate]) -> Iterator[Parts]:
        shares, unlabeled = training.shares, training.unlabeled
        values = np.eye(len(shares))[training.codes]  # rows of U are filled in below
        spread = spread_labels(training.gram, values[training.labeled], training.labeled, unlabeled)
        for candidate in grid:
            values = values.copy()
            values[unlabeled] = spread(candidate["leak"], shares)
            mass = values[unlabeled].mean(axis=0) if len(unlabeled) else values.mean(axis=0)
            yield {"values": values, "scale": shares / mass}

    def _respond(self, gram: AnyArray, parts: Parts) -> AnyArray:
        scores = 2 * _mean_values(gram, parts["values"], parts["scale"]) - 1
        return scores if scores.shape[1] > 2 else scores[:, 1]


def spread_labels(gram: AnyArray, known: AnyArray, labeled: AnyArray, unlabeled: AnyArray) -> Any:
    """A function (leak, shares) -> f on the unlabelled rows.

    The matrices (1 + leak) I − D^(−1/2) W D^(−1/2) of all leaks have the same eigenvectors.
    """
    links = gram[np.ix_(unlabeled, unlabeled)]
    np.fill_diagonal(links, 0)
    given = gram[np.ix_(unlabeled, labeled)]
    degree = links.sum(axis=1) + given.sum(axis=1)
    alone = degree == 0
    root = np.sqrt(degree + alone)
    links /= root[:, None]
    links /= root
    values, vectors = linalg.eigh(links, overwrite_a=True, driver="evd") if len(unlabeled) else (np.empty(0), links)
    from_labels, from_shares = vectors.T @ (given @ known / root[:, None]), vectors.T @ root

    def solve(leak: float, shares: AnyArray) -> AnyArray:
        drive = from_labels + leak * from_shares[:, None] * shares
        solution: AnyArray = vectors @ (drive / (1 + leak - values)[:, None]) / root[:, None]
        solution[alone] = shares
        return solution

    return solve


def _mean_values(gram: AnyArray, values: AnyArray, scale: AnyArray) -> AnyArray:
    """Kernel-weighted means of the class functions, multiplied by `scale` and normalised over the classes."""
    answer = (gram @ values + TINY * values.mean(axis=0)) * scale
    return answer / answer.sum(axis=1, keepdims=True)
