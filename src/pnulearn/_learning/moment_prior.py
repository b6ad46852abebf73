"""The class prior from statistics alone, by how far the mean score of U lies between those of the classes.

For every function h of the features E_U h = Σ θ_c E_c h. Here h are PN models of each fold's complement, and their mean
and covariance on the fold follow from its moments, so all rows count and none has been seen by the model that scores
it. `pnulearn.priors.ScorePrior` does the same with rows in memory.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._intervals.closed_forms import ratio_deviation
from pnulearn._intervals.posterior_grids import normal_mass
from pnulearn._learning.moment_search import Fits, MomentProblem, explore_moments
from pnulearn._moments import PNUStatistics, unpack
from pnulearn._solvers.candidates import ALPHAS, Mixes
from pnulearn.priors._parts.mixture import least_norm_shares
from pnulearn.priors.estimate import PriorEstimate, settle

REPLICATES = 500
CONFIDENCE = 0.9
LEAST_GAP = 1e-3  # between the mean scores of two classes, as in ScorePrior


@dataclass(frozen=True)
class HeldOutScores:
    """Count, mean (K,) and covariance (K, K) of a group's scores by models that have not seen its rows."""

    count: float
    mean: AnyArray
    covariance: AnyArray

    def replicates(self, rng: np.random.Generator) -> AnyArray:
        """Means as they might have come out, shape (REPLICATES, K)."""
        return rng.multivariate_normal(self.mean, self.covariance / self.count, size=REPLICATES, method="eigh")


def prior_from_moments(statistics: PNUStatistics, seed: int = 0, n_jobs: int | None = None) -> PriorEstimate:
    """Class shares in the population that U is drawn from, with an interval; every class needs labelled rows."""
    groups = held_out_scores(statistics, n_jobs)
    means = np.stack([group.mean for group in groups])
    if _gap(means[:-1]) < LEAST_GAP:
        raise ValueError(
            "Held-out scores do not tell the labelled classes apart, so U says nothing about their shares. Pass the "
            "prior as a number, label more rows, or add columns in which the classes differ."
        )
    if len(groups) == 3:
        return _of_ratio(groups)
    rng = np.random.default_rng(seed)
    drawn = np.stack([group.replicates(rng) for group in groups], axis=1)
    replicates = np.array([_shares(one) for one in drawn if _gap(one[:-1]) >= LEAST_GAP])
    return settle(_shares(means), replicates, groups[-1].count, CONFIDENCE, "scores")


def _of_ratio(groups: list[HeldOutScores]) -> PriorEstimate:
    """Two classes: the ratio varies normally around the prior, by a row more or less of either class at the least."""
    raw = float(_shares(np.stack([group.mean for group in groups])))
    of_means = np.array([group.covariance[0, 0] / group.count for group in groups])
    gap = float(groups[1].mean[0] - groups[0].mean[0])
    deviation = ratio_deviation(raw, of_means, gap, np.array([group.count for group in groups[:2]]))
    estimate = settle(raw, [], groups[-1].count, CONFIDENCE, "scores")
    mass = normal_mass(raw, deviation)
    return replace(estimate, mass=mass)


def held_out_scores(statistics: PNUStatistics, n_jobs: int | None = None) -> list[HeldOutScores]:
    """Scores of every class and of U by the PN candidate that is best on held-out rows, the classes weighing alike."""
    n_classes = len(statistics.design.classes)
    equal = np.full(n_classes, 1 / n_classes)
    problem = MomentProblem(statistics, equal, Mixes.of("pn", None), ALPHAS)
    fits = explore_moments(problem, n_jobs)
    risks = np.stack([one.tally.squared(equal) for one in fits if one.tally is not None])
    index, _, alpha = np.unravel_index(int(np.argmin(risks)), risks.shape)
    return [_scores(problem, fits[index], int(index), int(alpha), group) for group in range(n_classes + 1)]


def _scores(problem: MomentProblem, fits: Fits, index: int, alpha: int, group: int) -> HeldOutScores:
    """Pool a group's score sums over folds: W M with the models' coefficients W (K, b + 1) and the fold's moments M."""
    total = np.zeros((len(problem.outputs) + 1, len(problem.outputs) + 1))
    for fold, candidates in enumerate(fits.candidates):
        if candidates is not None:
            choice = np.zeros((1, len(ALPHAS)))
            choice[0, alpha] = 1.0
            coef, intercept = candidates.average(choice)
            W = np.vstack([np.column_stack([coef, intercept]), np.append(np.zeros(coef.shape[1]), 1.0)])
            total += W @ unpack(problem.statistics.sums[fold, index, group]) @ W.T
    count = float(total[-1, -1])
    mean = total[:-1, -1] / count
    return HeldOutScores(count, mean, total[:-1, :-1] / count - np.outer(mean, mean))


def _gap(means: AnyArray) -> float:
    """By how much a class scores higher on its own output than the others do, at worst."""
    if means.shape[1] == 1:
        return float(means[1, 0] - means[0, 0])
    own = np.diag(means)
    return float(np.min(own - means + np.diag(np.full(len(own), np.inf))))


def _shares(means: AnyArray) -> AnyArray:
    """θ with mean_U = Σ θ_c mean_c: the positive class's share of two, or the nearest point of the simplex."""
    if means.shape[1] == 1:
        low, high, unlabeled = means[:, 0]
        return np.asarray((unlabeled - low) / (high - low))
    return least_norm_shares((means[:-1] - means[-1]).T)
