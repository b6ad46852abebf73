"""Squared-loss mutual information regularisation (Niu et al. 2013): class posteriors in closed form."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import linalg
from sklearn.utils.validation import check_is_fitted

from pnulearn._arrays import AnyArray
from pnulearn._parameters import parameters
from pnulearn._problem.inputs import read_features
from pnulearn.baselines._base import Baseline, BaselineProblem, BaselineTraining, Candidate, Parts, candidates

SMALLEST_EIGENVALUE = 1e-10  # relative to the largest; K^(−1/2) keeps nothing below it
SMALLEST_POSTERIOR = 1e-5  # added to raw posteriors, so that rows where all of them are about 0 get equal ones


@parameters
class SMIRClassifier(Baseline):
    """Least-squares fit of the class indicators with a mutual information regulariser on all rows.

    With D the row sums of K, S = D^(−1/2) K D^(−1/2), T = D^(−1/2) K^(1/2) and q_y = T'a on the training rows, the
    coefficients of class y minimise, over l labelled and n rows in all,

        ‖T_l' a − Y_y‖² / (2l) − γ / (2nπ_y) a'Sa + λ/2 ‖a‖²,      λ = γ / (n min π) + alpha.

    The rule for λ is the paper's (there alpha = 0.001): any alpha > 0 keeps the problem convex. Two
    eigendecompositions per bandwidth are enough for all γ, alpha and classes. Supports any number of classes.

    Parameters
    ----------
    information
        γ, the weight of the mutual information; None searches 10⁻⁵ … 10².
    alpha
        difference between λ and the convexity limit; None searches 10⁻⁵ … 10².

    Examples
    --------
    >>> X = np.array([[0.0], [0.2], [1.0], [1.2], [0.1], [1.1]])
    >>> y = np.array([0, 0, 1, 1, np.nan, np.nan])
    >>> SMIRClassifier(information=0.1, bandwidth=0.5, prior=0.5).fit(X, y).predict(X).tolist()
    [0.0, 0.0, 1.0, 1.0, 0.0, 1.0]
    """

    _parts: ClassVar = ("dual_coef",)
    _without_unlabeled: ClassVar = "fitted to the labelled rows only"

    information: Any = None
    alpha: Any = 0.001

    def _learn_finally(self, problem: BaselineProblem, best: Candidate) -> Parts:
        parts = super()._learn_finally(problem, best)
        if not parts["normalized"].all():
            names = self.classes_[~parts["normalized"]].tolist()
            warnings.warn(
                f"The mean posterior of {names} is not positive, so it was not scaled to the class prior. Increase "
                "alpha or decrease information.",
                UserWarning,
                stacklevel=3,
            )
        return parts

    def predict_proba(self, X: Any) -> AnyArray:
        """Class posteriors under the population's class prior, one column per class.

        Parameters
        ----------
        X : array, sparse matrix or data frame (rows, columns)
            Features.
        """
        check_is_fitted(self)
        X = read_features(self, X, reset=False)
        return _posteriors(self._features(X, self.centers_, self.bandwidth_) @ self.dual_coef_)

    def _grid(self) -> dict[str, Sequence[float]]:
        return {
            "information": candidates("information", self.information, zero=True),
            "alpha": candidates("alpha", self.alpha),
        }

    def _learn(self, training: BaselineTraining, grid: Sequence[Candidate]) -> Iterator[Parts]:
        path = SmirPath.factorize(training.gram, training.labeled)
        codes = training.codes[training.labeled]
        for candidate in grid:
            solved = [
                path.solve(candidate["information"], candidate["alpha"], share, training.shares.min(), codes == k)
                for k, share in enumerate(training.shares)
            ]
            coef, normalized = zip(*solved, strict=True)
            yield {"dual_coef": np.column_stack(coef), "normalized": np.array(normalized)}

    def _respond(self, gram: AnyArray, parts: Parts) -> AnyArray:
        scores = 2 * _posteriors(gram @ parts["dual_coef"]) - 1
        return scores if scores.shape[1] > 2 else scores[:, 1]


def _posteriors(raw: AnyArray) -> AnyArray:
    """max(0, q) + 10⁻⁵, normalised over the classes."""
    positive = np.maximum(raw, 0) + SMALLEST_POSTERIOR
    return positive / positive.sum(axis=1, keepdims=True)


@dataclass(frozen=True)
class SmirPath:
    """K = V diag(w) V' and S = Q diag(s) Q': the system is diagonal plus rank l in the basis Q.

    `labels_map` is Q'T_l of shape (n, l); `total` is Q'T1, so that total · α = Σ_i q(x_i).
    """

    values: AnyArray
    vectors: AnyArray
    root_degree: AnyArray
    smi_values: AnyArray
    smi_vectors: AnyArray
    labels_map: AnyArray
    total: AnyArray

    @classmethod
    def factorize(cls, gram: AnyArray, labeled: AnyArray) -> SmirPath:
        """Compute two eigendecompositions. `gram` is overwritten to save an n × n matrix."""
        root_degree = 1 / np.sqrt(gram.sum(axis=0))
        values, vectors = linalg.eigh(gram, driver="evd")
        values = np.maximum(values, 0)
        root = np.sqrt(values)
        labels_map = root_degree[:, None] * (vectors @ (root[:, None] * vectors[labeled].T))
        total = root_degree * (vectors @ (root * vectors.sum(axis=0)))
        gram *= root_degree[:, None]
        gram *= root_degree
        smi_values, smi_vectors = linalg.eigh(gram.T, overwrite_a=True, driver="evd")
        return cls(
            values,
            vectors,
            root_degree,
            np.clip(smi_values, 0, 1),
            smi_vectors,
            smi_vectors.T @ labels_map,
            smi_vectors.T @ total,
        )

    def solve(
        self, information: float, alpha: float, share: float, least_share: float, member: AnyArray
    ) -> tuple[AnyArray, bool]:
        """Coefficients of one class's posterior k(x)'β, and whether its mean could be scaled to the class share.

        [n T_l T_l' + λnl I − (γl/π) S] a = n T_l Y, by the push-through identity with an l × l matrix.
        """
        n, n_labeled = self.labels_map.shape
        ridge = information / (n * least_share) + alpha
        diagonal = n_labeled * (ridge * n - information / share * self.smi_values)
        scaled = self.labels_map / diagonal[:, None]
        inner = np.eye(n_labeled) + n * (self.labels_map.T @ scaled)
        coef = n * (scaled @ linalg.solve(inner, member.astype(float), assume_a="pos"))
        mass = float(self.total @ coef)
        beta = self._expand(coef)
        return (beta * (n * share / mass), True) if mass > 0 else (beta, False)

    def _expand(self, coef: AnyArray) -> AnyArray:
        """β = K^(−1/2) D^(−1/2) a, without the directions in which K is numerically zero."""
        kept = self.values > SMALLEST_EIGENVALUE * self.values[-1]
        inverse_root = np.zeros_like(self.values)
        inverse_root[kept] = 1 / np.sqrt(self.values[kept])
        return self.vectors @ (inverse_root * (self.vectors.T @ (self.root_degree * (self.smi_vectors @ coef))))
