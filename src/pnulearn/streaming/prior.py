"""The class prior from statistics alone: the mixture of the classes whose mean features are nearest to U's.

In any features m_U = Σ θ_c m_c. With squared distances |φ − φ′|² / 2 between rows in place of the energy distance, all
mean dissimilarities follow from first and second moments,

    M_kl = (tr G_k + tr G_l) / 2 − m_k · m_l,

so the solver of `pnulearn.priors` applies, and every row of the data counts.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from pnulearn.moments import Moments
from pnulearn.priors.estimate import PriorEstimate, settle
from pnulearn.priors.mixture import MeanDissimilarities, nearest_mixtures
from pnulearn.streaming.statistics import PNUStatistics

REPLICATES = 500
CONFIDENCE = 0.9
METHOD = "mean features"


def prior_from_moments(statistics: PNUStatistics, seed: int = 0) -> PriorEstimate:
    """Class shares in the population that U is drawn from, with an interval."""
    counts = statistics.counts
    if (counts[:-1] == 0).any():
        missing = statistics.design.classes[int(np.argmin(counts[:-1]))]
        raise ValueError(
            f"There are no labelled rows of class {missing!r}, so the prior cannot be estimated. Pass prior=..."
        )
    groups = _comparable(statistics)
    means = _dissimilarities(groups, [group.mean[None] for group in groups], noise=1)
    priors, separated = nearest_mixtures(means)
    if not separated[0]:
        raise ValueError(
            "The labelled classes do not differ enough for U to say anything about their shares. "
            "Pass the prior as a number, or add columns in which the classes differ."
        )
    rng = np.random.default_rng(seed)
    drawn = [_replicates(group, rng) for group in groups]
    replicates, fine = nearest_mixtures(_dissimilarities(groups, drawn, noise=2))
    replicates = replicates[fine]
    if len(counts) == 3:
        return settle(priors[0, 1], replicates[:, 1], counts[-1], CONFIDENCE, METHOD)
    return settle(priors[0], replicates, counts[-1], CONFIDENCE, METHOD)


def _comparable(statistics: PNUStatistics) -> list[Moments]:
    """Moments of every class and U under the largest bandwidth; raw columns are brought to the same spread."""
    index = int(np.argmax(statistics.design.basis.bandwidths))
    groups = [statistics.moments(group, index) for group in range(statistics.design.n_groups)]
    if not statistics.design.basis.intercept:
        return groups
    spread = np.sqrt(np.clip(np.diag(groups[-1].centered_at(groups[-1].mean)), 0, None))
    scale = np.where(spread > 0, 1 / np.where(spread > 0, spread, 1), 0.0)
    return [Moments(group.weight, group.total * scale, group.outer * np.outer(scale, scale)) for group in groups]


def _dissimilarities(groups: list[Moments], means: list[NDArray], noise: int) -> MeanDissimilarities:
    """From means of shape (r, b); `noise` times the variance of a mean has entered its square and is taken out."""
    squares = np.array([np.trace(group.gram) for group in groups])
    products = np.array([[np.einsum("rb,rb->r", a, b) for b in means] for a in means])
    for k, group in enumerate(groups):
        spread = squares[k] - group.mean @ group.mean
        products[k, k] -= noise * spread / max(group.weight - 1, 1)
    M = np.moveaxis((squares[:, None] + squares)[..., None] / 2 - products, 2, 0)
    return MeanDissimilarities(M[:, :-1, :-1], M[:, :-1, -1], np.ones((len(M), len(groups) - 1)))


def _replicates(group: Moments, rng: np.random.Generator) -> NDArray:
    """Means as they might have come out, (REPLICATES, b): normal around the mean with its covariance."""
    values, vectors = eigh(group.centered_at(group.mean))
    deviations = np.sqrt(np.clip(values, 0, None) / max(group.weight - 1, 1))
    return group.mean + (rng.standard_normal((REPLICATES, len(values))) * deviations) @ vectors.T
