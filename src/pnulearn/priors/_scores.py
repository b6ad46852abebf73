"""The class prior from the position of the mean score of U between the mean held-out scores of N and P.

For every function h of the features E_U h = θ E_P h + (1 − θ) E_N h, so that

    θ = (mean_U h − mean_N h) / (mean_P h − mean_N h)

whatever h is; a poor h only makes the estimate noisy. The variance is least, to first order, when h is the posterior
probability of the positive class under the shares a : b,

    a = θ²/n_P + θ/n_U,    b = (1 − θ)²/n_N + (1 − θ)/n_U,

because (p_P − p_N) / (a p_P + b p_N) is the optimal contrast. θ and h are computed alternately. All scores are held
out. The identity holds for every h, so to first order the fit of h does not contribute to the variance: the bootstrap
keeps h fixed.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.stats import norm

from pnulearn._arrays import AnyArray
from pnulearn._intervals.posterior_draws import bayesian_bootstrap
from pnulearn._intervals.posterior_grids import jeffreys_mass, ratio_mass
from pnulearn._parameters import parameters
from pnulearn.priors._energy import energy_prior
from pnulearn.priors._estimate import PriorEstimate, settle
from pnulearn.priors._estimator import PriorEstimator, generator
from pnulearn.priors._groups import Groups, read_groups, standardize
from pnulearn.priors._mixture import least_norm_shares
from pnulearn.priors._posteriors import Posteriors, held_out_posteriors

ROUNDS = 8
LEAST_SHARE = 0.02  # smallest share of a class in the contrast h
LEAST_GAP = 1e-3  # between the mean scores of P and N; below it the classes are not separated
EXPECTED_ROWS = 10  # weight of the expected mean of a class, in labelled rows


@parameters
class ScorePrior(PriorEstimator):
    """Class prior(s) from the mean held-out score of U between those of the classes, with scores of least variance.

    A refinement of probabilistic adjusted count. Leave-one-out scores of kernel ridge candidates, on columns as given
    and on ranks, are averaged and converted to the class shares at which the estimate has the least variance. The means
    of small classes are shrunk towards those that the model expects. With two classes `raw` is the ratio, and the
    distribution is the ratio's posterior with Student's likelihood (Fieller's pivot) and Jeffreys' prior. The point
    estimate is the median of a narrower distribution: the mean of the wide one lies near 1/2, which is a poor estimate
    for rare classes. With more classes the distribution comes from a Bayesian bootstrap of each sample.

    This is the default method because it was the most accurate in our comparison (benchmarks/prior_estimation.py).

    Parameters
    ----------
    classifier : classifier, optional
        Any scikit-learn classifier, cross-fitted and calibrated; kernel ridge candidates by default.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(2, 1, (30, 2)), rng.normal(0, 1, (30 + 140, 2)), rng.normal(2, 1, (60, 2))])
    >>> y = np.array([1] * 30 + [0] * 30 + [-1] * 200)
    >>> print(ScorePrior(unlabeled=-1, random_state=0).fit(X, y).estimate_)
    0.3 [0.2, 0.3] (scores, 90% interval)
    """

    method = "scores"

    classifier: Any = field(default=None, kw_only=False)
    n_bootstrap: int = 500

    def estimate(self, X: Any, codes: AnyArray, weight: AnyArray | None = None, n_classes: int = 2) -> PriorEstimate:
        groups = standardize(read_groups(X, codes, weight, n_classes))
        posteriors = held_out_posteriors(groups.classes, [groups.unlabeled], self.classifier, with_ranks=True)
        contrast = _contrast(posteriors, groups)
        if contrast.gap(groups) < LEAST_GAP:
            return self._energy_instead(X, codes, weight, n_classes)
        if n_classes == 2:
            return self._of_ratio(contrast, groups)
        rng = generator(self.random_state)
        draws = [bayesian_bootstrap(group.weight, self.n_bootstrap, rng) for group in groups.all]
        priors = matching_shares(contrast.means([draw.share for draw in draws]))
        return settle(priors[0], priors[1:], groups.unlabeled.size, self.confidence, self.method)

    def _of_ratio(self, contrast: Contrast, groups: Groups) -> PriorEstimate:
        means = contrast.means([group.share[:, None] for group in groups.all])
        raw = float(matching_shares(means)[0])
        value = _median_within(raw, contrast.deviation(raw, groups))
        estimate = settle(raw, [], groups.unlabeled.size, self.confidence, self.method, value)
        if self.n_bootstrap == 0:
            return estimate
        sizes = np.array([group.size for group in groups.classes])
        return replace(estimate, mass=ratio_mass(means[:, 1, 0], contrast.variances(groups), sizes))

    def _energy_instead(self, X: Any, codes: AnyArray, weight: AnyArray | None, n_classes: int) -> PriorEstimate:
        warnings.warn(
            "Held-out scores do not separate the labelled classes, so the prior is estimated by energy distance. "
            "Label more rows, or pass the prior as a number.",
            UserWarning,
            stacklevel=3,
        )
        found = energy_prior(
            X,
            codes,
            weight,
            n_classes=n_classes,
            confidence=self.confidence,
            n_bootstrap=self.n_bootstrap,
            random_state=self.random_state,
        )
        if n_classes > 2 or found.mass is None:
            return found
        return replace(found, mass=jeffreys_mass())  # a point estimate without a reliable spread


@dataclass(frozen=True)
class Contrast:
    """Scores h of every group (classes, rows), and the mean of h that the model expects of each class (class, entry).

    `reliance` is the weight of the observed mean of a class; the expected mean has the rest.
    """

    scores: Sequence[AnyArray]
    expected: AnyArray
    reliance: AnyArray

    def means(self, shares: Sequence[AnyArray]) -> AnyArray:
        """Means of h, shape (classes + U, entries of h, weightings), for weights (rows, weightings) of every group.

        The shift towards the expected means is computed from the first weighting (the data) and applied to all, so
        that shrinkage does not reduce the variance of the replicates.
        """
        means = np.stack([h @ share for h, share in zip(self.scores, shares, strict=True)])
        means[:-1] += ((1 - self.reliance)[:, None] * (self.expected - means[:-1, :, 0]))[:, :, None]
        return means

    def gap(self, groups: Groups) -> float:
        """Smallest lead of a class over another class in the mean of its own entry of h."""
        means = self.means([group.share[:, None] for group in groups.all])[:-1, :, 0]
        excess = np.diag(means) - means
        return float(excess[~np.eye(len(means), dtype=bool)].min())

    def deviation(self, prior: float, groups: Groups) -> float:
        """Standard error of the two-class ratio, to first order."""
        theta = float(np.clip(prior, LEAST_SHARE, 1 - LEAST_SHARE))
        variance = np.square([1 - theta, theta, 1.0]) @ self.variances(groups)
        return float(np.sqrt(variance)) / self.gap(groups)

    def variances(self, groups: Groups) -> AnyArray:
        """Variances of the mean of h for the positive class, in N, P and U."""
        found = []
        for h, group in zip(self.scores, groups.all, strict=True):
            found.append(float(group.share @ (h[1] - group.share @ h[1]) ** 2) / max(group.size - 1, 1))
        return np.array(found)


def _contrast(posteriors: Posteriors, groups: Groups) -> Contrast:
    """The scores of least variance, alternating between the prior and the scores."""
    sizes = np.array([group.size for group in groups.classes])
    shares = [group.share[:, None] for group in groups.all]
    prior = np.full(len(sizes), 1 / len(sizes))
    for _ in range(ROUNDS):
        scores = posteriors.at(least_variance_shares(prior, sizes, groups.unlabeled.size))
        belonging = posteriors.at(prior)[-1] * groups.unlabeled.share
        expected = belonging @ scores[-1].T / belonging.sum(axis=1, keepdims=True)
        contrast = Contrast(scores, expected, sizes / (sizes + EXPECTED_ROWS))
        if contrast.gap(groups) < LEAST_GAP:
            break
        found = matching_shares(contrast.means(shares))[0]
        inside = np.maximum([1 - found, found] if len(sizes) == 2 else found, LEAST_SHARE)
        prior = inside / inside.sum()
    return contrast


def least_variance_shares(prior: AnyArray, sizes: AnyArray, n_unlabeled: float) -> AnyArray:
    """Class shares under which the posterior is the contrast of least variance.

    >>> least_variance_shares(np.array([0.7, 0.3]), np.array([10, 10]), np.inf)
    array([0.84, 0.16])
    """
    shares = prior**2 / sizes + prior / n_unlabeled
    return shares / shares.sum()


def matching_shares(means: AnyArray) -> AnyArray:
    """θ solving  mean_U h = Σ θ_k mean_k h  for every weighting; `means` has shape (classes + U, entries of h, r).

    With two classes this is the ratio for the positive class, not clipped; with more, the nearest point of the simplex.
    """
    if len(means) == 3:
        low, high, unlabeled = means[:, 1]
        return (unlabeled - low) / np.maximum(high - low, 1e-12)
    columns = np.moveaxis(means[:-1] - means[-1], 2, 0)
    return np.array([least_norm_shares(c.T) for c in columns])


def _median_within(raw: float, deviation: float) -> float:
    """The median of a normal distribution around `raw`, truncated to [0, 1].

    >>> _median_within(0.4, 0.01), _median_within(-0.1, 0.1)
    (0.4, 0.04)
    """
    below, above = norm.cdf([(0 - raw) / deviation, (1 - raw) / deviation]) if deviation > 0 else (0.0, 1.0)
    if above - below < 1e-12:
        return float(np.clip(raw, 0, 1))
    return float(np.clip(raw + deviation * norm.ppf((below + above) / 2), 0, 1))
