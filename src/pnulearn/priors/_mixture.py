"""The mixture of the classes that is nearest to U in mean dissimilarity: energy distance, kernel mean matching.

With M_kl the mean dissimilarity of rows of class k to rows of class l, and q_k that of class k to U, the squared
distance between the mixture Σ θ_k p_k and p_U is  2 q'θ − θ'M θ + const.  For two classes its minimiser is

    θ = (M_PN − M_NN + q_N − q_P) / (2 M_PN − M_PP − M_NN).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import cholesky, helmert, solve_triangular
from scipy.optimize import nnls

from pnulearn._arrays import AnyArray
from pnulearn._intervals.posterior_draws import RowWeights, bayesian_bootstrap
from pnulearn.priors._estimate import PriorEstimate, settle
from pnulearn.priors._groups import Groups

ROWS_AT_ONCE = 1000  # columns of a block of dissimilarities, which bounds the memory
ROUNDING = 1e-9  # relative to the dissimilarities themselves

Dissimilarity = Callable[[Any, Any], AnyArray]


@dataclass(frozen=True)
class MeanDissimilarities:
    """M of shape (r, K, K), q of shape (r, K) and `apart` of shape (r, K) for r weightings of the rows.

    The diagonal of M averages over all pairs, including every row with itself (V-statistic). Divided by `apart`,
    the share of pairs of different rows, it becomes unbiased (U-statistic).
    """

    between: AnyArray
    to_unlabeled: AnyArray
    apart: AnyArray

    def correct(self) -> MeanDissimilarities:
        """With U-statistics on the diagonal of M."""
        classes = np.arange(self.between.shape[1])
        between = self.between.copy()
        between[:, classes, classes] /= np.where(self.apart > ROUNDING, self.apart, 1)
        return MeanDissimilarities(between, self.to_unlabeled, np.ones_like(self.apart))


def match_mixture(
    groups: Groups,
    dissimilarity: Dissimilarity,
    *,
    method: str,
    bias_correction: bool = True,
    confidence: float = 0.9,
    n_bootstrap: int = 500,
    rng: np.random.Generator,
) -> PriorEstimate:
    """The nearest mixture with a Bayesian-bootstrap interval; `dissimilarity` must be zero between equal rows."""
    draws = [bayesian_bootstrap(group.weight, n_bootstrap, rng) for group in groups.all]
    means = mean_dissimilarities(groups, dissimilarity, draws)
    if bias_correction and (means.apart[0] <= ROUNDING).any():
        _warn(method, "a class has a single labelled row")
        bias_correction = False
    priors, separated = nearest_mixtures(means.correct() if bias_correction else means)
    if not separated.all():
        plain, plainly_separated = nearest_mixtures(means)
        if not plainly_separated[0]:
            raise ValueError(
                f"The {method} method finds no difference between the labelled classes, so the prior cannot be "
                "estimated. Pass the prior as a number, or add columns in which the classes differ."
            )
        if not separated[0]:
            _warn(method, "the labelled classes are closer to each other than sampling error explains")
        priors = np.where(separated[:, None], priors, plain)
    if priors.shape[1] == 2:
        priors = priors[:, 1]
    return settle(priors[0], priors[1:], groups.unlabeled.size, confidence, method)


def _warn(method: str, reason: str) -> None:
    warnings.warn(
        f"The {method} estimate of the prior falls back to the V-statistic because {reason}; it is biased "
        "towards equal shares. Label more rows or pass the prior as a number.",
        UserWarning,
        stacklevel=4,
    )


def mean_dissimilarities(groups: Groups, dissimilarity: Dissimilarity, draws: list[RowWeights]) -> MeanDissimilarities:
    """All mean dissimilarities under all weightings, by matrix products over blocks of rows."""
    labeled = np.concatenate([draw.share for draw in draws[:-1]])
    starts = np.cumsum([0, *(len(draw.share) for draw in draws[:-2])])
    columns = []
    for group, draw in zip(groups.all, draws, strict=True):
        toward = np.concatenate([_toward(rows.X, group.X, draw.share, dissimilarity) for rows in groups.classes])
        columns.append(np.add.reduceat(labeled * toward, starts, axis=0).T)
    apart = np.stack([draw.apart for draw in draws[:-1]], axis=1)
    return MeanDissimilarities(np.stack(columns[:-1], axis=2), columns[-1], apart)


def _toward(rows: Any, others: Any, share: AnyArray, dissimilarity: Dissimilarity) -> AnyArray:
    """Mean dissimilarity of each row to the others, one column per weighting."""
    total = np.zeros((rows.shape[0], share.shape[1]))
    for start in range(0, others.shape[0], ROWS_AT_ONCE):
        stop = start + ROWS_AT_ONCE
        total += dissimilarity(rows, others[start:stop]) @ share[start:stop]
    return total


def nearest_mixtures(means: MeanDissimilarities) -> tuple[AnyArray, AnyArray]:
    """θ of shape (r, K), not clipped for two classes, and whether the classes are separated."""
    if means.between.shape[1] == 2:
        return _two_classes(means)
    solved = [_on_simplex(M, q) for M, q in zip(means.between, means.to_unlabeled, strict=True)]
    priors, separated = zip(*solved, strict=True)
    return np.array(priors), np.array(separated)


def _two_classes(means: MeanDissimilarities) -> tuple[AnyArray, AnyArray]:
    (NN, NP), (_, PP) = np.moveaxis(means.between, 0, 2)
    N_U, P_U = means.to_unlabeled.T
    distance = 2 * NP - PP - NN
    separated = distance > ROUNDING * NP
    prior = (NP - NN + N_U - P_U) / np.where(separated, distance, 1)
    return np.stack([1 - prior, prior], axis=1), separated


def _on_simplex(M: AnyArray, q: AnyArray) -> tuple[AnyArray, bool]:
    """argmin of 2 q'θ − θ'M θ over θ ≥ 0, Σ θ = 1, exactly; equal shares if it is not convex there.

    With z = Z'θ for an orthonormal basis Z of the subspace Σ θ = 0, the objective is |R z − b|² + const,
    R'R = −Z'M Z, hence |C θ|² with the columns C_k = (R Z')_k − b.
    """
    K = len(q)
    Z = helmert(K).T
    curvature = -Z.T @ M @ Z
    if np.linalg.eigvalsh(curvature)[0] <= ROUNDING * M.max():
        return np.full(K, 1 / K), False
    R = cholesky(curvature)
    b = solve_triangular(R, Z.T @ (M.mean(axis=1) - q), trans="T")
    return least_norm_shares(R @ Z.T - b[:, None]), True


def least_norm_shares(columns: AnyArray) -> AnyArray:
    """argmin |C θ|² over θ ≥ 0, Σ θ = 1, exactly.

    It is proportional to the non-negative least squares solution β of C β = 0, Σ β = 1: for β = t θ the best scale t
    leaves the residual |C θ|² / (1 + |C θ|²), which increases with |C θ|².

    >>> least_norm_shares(np.array([[1.0, -3.0]]))
    array([0.75, 0.25])
    """
    ones = np.ones((1, columns.shape[1]))
    shares, _ = nnls(np.vstack([columns, ones]), np.append(np.zeros(len(columns)), 1.0))
    return shares / shares.sum()
