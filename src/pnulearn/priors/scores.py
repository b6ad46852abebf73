"""The class prior from how far the mean score of U lies between those of held-out N and P.

For every function h of the features E_U h = θ E_P h + (1 − θ) E_N h, so that

    θ = (mean_U h − mean_N h) / (mean_P h − mean_N h)

whatever h is; a poor h only makes the estimate noisy. The variance is least, to first order, when h is the posterior
probability of the positive class under the shares a : b,

    a = θ²/n_P + θ/n_U,    b = (1 − θ)²/n_N + (1 − θ)/n_U,

because (p_P − p_N) / (a p_P + b p_N) is the optimal contrast. θ and h are found in turns. Rows are scored by candidates
that have not seen them, so the means are those of unseen rows; and as the identity holds for every h, how h was learnt
does not enter the variance to first order: the bootstrap keeps h fixed.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnulearn.priors.energy import energy_prior, read_groups
from pnulearn.priors.estimate import PriorEstimate, settle
from pnulearn.priors.estimator import PriorEstimator, generator
from pnulearn.priors.groups import Groups, standardized
from pnulearn.priors.interval import bayesian_draws
from pnulearn.priors.posteriors import Posteriors, held_out_posteriors
from pnulearn.priors.simplex import least_norm_shares

ROUNDS = 6
LEAST_SHARE = 0.02  # keeps the contrast h from serving one class only
LEAST_GAP = 1e-3  # between the mean scores of P and N; below it the classes cannot be told apart


class ScorePrior(PriorEstimator):
    """Class prior(s) from the mean held-out score of U between those of the classes, with scores of least variance.

    Probabilistic adjusted count with three refinements: scores come from kernel ridge candidates by leaving one row
    out and are averaged over candidates, they are moved to the shares at which the estimate varies least, and the
    interval comes from a Bayesian bootstrap of each sample. `classifier` replaces the kernel candidates by any
    scikit-learn classifier, cross-fitted and calibrated. It is the default because it was the most accurate in our
    comparison (benchmarks/prior_estimation.py).

    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(2, 1, (30, 2)), rng.normal(0, 1, (30 + 140, 2)), rng.normal(2, 1, (60, 2))])
    >>> y = np.array([1] * 30 + [0] * 30 + [-1] * 200)
    >>> print(ScorePrior(unlabeled=-1, random_state=0).fit(X, y).estimate_)
    0.3 [0.2, 0.3] (scores, 90% interval)
    """

    method = "scores"

    def __init__(
        self,
        classifier: Any = None,
        *,
        confidence: float = 0.9,
        n_bootstrap: int = 500,
        unlabeled: Any = None,
        pos_label: Any = None,
        random_state: Any = None,
    ):
        self.classifier = classifier
        self.confidence = confidence
        self.n_bootstrap = n_bootstrap
        self.unlabeled = unlabeled
        self.pos_label = pos_label
        self.random_state = random_state

    def estimate(self, X: Any, codes: NDArray, weight: NDArray | None = None, n_classes: int = 2) -> PriorEstimate:
        groups = standardized(read_groups(X, codes, weight, n_classes))
        posteriors = held_out_posteriors(groups.classes, [groups.unlabeled], self.classifier)
        probabilities = _least_variance_scores(posteriors, groups)
        rng = generator(self.random_state)
        draws = [bayesian_draws(group, self.n_bootstrap, rng) for group in groups.all]
        means = np.stack([h @ draw.share for h, draw in zip(probabilities, draws, strict=True)])
        if _gap(means[:-1, :, 0]) < LEAST_GAP:
            warnings.warn(
                "Held-out scores do not tell the labelled classes apart, so the prior is estimated by energy distance. "
                "Label more rows, or pass the prior as a number.",
                UserWarning,
                stacklevel=2,
            )
            return energy_prior(
                X,
                codes,
                weight,
                n_classes=n_classes,
                confidence=self.confidence,
                n_bootstrap=self.n_bootstrap,
                random_state=self.random_state,
            )
        priors = _matching_shares(means)
        return settle(priors[0], priors[1:], groups.unlabeled.size, self.confidence, self.method)


def _least_variance_scores(posteriors: Posteriors, groups: Groups) -> list[NDArray]:
    """Posterior probabilities under the shares that suit the sample sizes and the prior they lead to."""
    sizes = np.array([group.size for group in groups.classes])
    prior = np.full(len(sizes), 1 / len(sizes))
    for _ in range(ROUNDS):
        probabilities = posteriors.at(least_variance_shares(prior, sizes, groups.unlabeled.size))
        means = np.stack([h @ group.share for group, h in zip(groups.all, probabilities, strict=True)])
        if _gap(means[:-1]) < LEAST_GAP:
            break
        found = np.atleast_1d(_matching_shares(means[:, :, None])[0])
        found = np.array([1 - found[0], found[0]]) if len(sizes) == 2 else found
        prior = np.clip(found, LEAST_SHARE, None) / np.clip(found, LEAST_SHARE, None).sum()
    return probabilities


def least_variance_shares(prior: NDArray, sizes: NDArray, n_unlabeled: float) -> NDArray:
    """Class shares under which the posterior is the contrast of least variance.

    >>> least_variance_shares(np.array([0.7, 0.3]), np.array([10, 10]), np.inf)
    array([0.84, 0.16])
    """
    shares = prior**2 / sizes + prior / n_unlabeled
    return shares / shares.sum()


def _gap(means: NDArray) -> float:
    """By how much a class scores higher on its own column than the others do, at worst."""
    own = np.diag(means)
    return float(np.min(own[None, :] - means + np.diag(np.full(len(own), np.inf))))


def _matching_shares(means: NDArray) -> NDArray:
    """θ solving  mean_U h = Σ θ_k mean_k h  for every weighting; `means` has shape (classes + U, columns of h, r).

    Two classes give the ratio for the positive class as it is, more give the nearest point of the simplex.
    """
    if len(means) == 3:
        low, high, unlabeled = means[:, 1]
        gap = high - low
        return (unlabeled - low) / np.where(gap > 0, np.maximum(gap, 1e-12), 1e-12)
    columns = np.moveaxis(means[:-1] - means[-1], 2, 0)
    return np.array([least_norm_shares(c.T) for c in columns])
