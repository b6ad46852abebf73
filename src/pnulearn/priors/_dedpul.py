"""The class prior from the densities of held-out scores of P and U (Ivanov 2020)."""

from __future__ import annotations

import numpy as np
from scipy.ndimage import median_filter
from sklearn.isotonic import IsotonicRegression

from pnulearn._arrays import AnyArray
from pnulearn._parameters import parameters
from pnulearn.priors._groups import Group
from pnulearn.priors._positive_unlabeled import ScoredPrior, Statistic

GRID = 200  # grid points of the densities
LARGEST_RATIO = 50.0


@parameters
class DEDPULPrior(ScoredPrior):
    """EM on the density ratio r = p_P(s) / p_U(s) of held-out P-versus-U scores s.

    Each unlabelled row is negative with probability max(0, 1 − (1 − α) r), α ← their mean, θ = 1 − α. The densities
    are kernel estimates on log-odds; the ratio is capped at 50, smoothed, made monotone in s and, unlike in the
    published code, scaled to mean one over U, as a density ratio must be. Without the scaling EM may converge to θ = 0.
    """

    method = "dedpul"

    n_bootstrap: int = 100

    def _of_scores(self, scores: tuple[AnyArray, AnyArray], labeled: Group, unlabeled: Group) -> Statistic:
        return density_ratio(scores, labeled, unlabeled)


def density_ratio(scores: tuple[AnyArray, AnyArray], labeled: Group, unlabeled: Group) -> Statistic:
    """The estimate from held-out scores of both groups, as a function of their weights."""
    of_labeled, of_unlabeled = scores
    pooled = np.concatenate([of_labeled, of_unlabeled])
    grid = np.linspace(pooled.min(), pooled.max(), GRID)
    # one bandwidth for both: with two, the ratio diverges in the tail of the narrower density
    bandwidth = max(_scott(of_labeled, labeled), _scott(of_unlabeled, unlabeled))
    densities = [_bumps(grid, scores, bandwidth) for scores in (of_labeled, of_unlabeled)]
    order = np.argsort(of_unlabeled)

    def prior(*shares: AnyArray) -> AnyArray:
        f_labeled, f_unlabeled = (bumps @ share for bumps, share in zip(densities, shares, strict=True))
        found = []
        for f_p, f_u, share in zip(f_labeled.T, f_unlabeled.T, shares[1].T, strict=True):
            on_grid = f_p / np.maximum(f_u, 1e-300)
            ratio = _monotone(np.interp(of_unlabeled[order], grid, on_grid), share[order])
            found.append(_positives(ratio, share[order]))
        return np.array(found)

    return prior


def _scott(scores: AnyArray, group: Group) -> float:
    """Scott's bandwidth for one dimension."""
    mean = group.share @ scores
    spread = np.sqrt(group.share @ (scores - mean) ** 2)
    return float(max(spread * group.size ** (-1 / 5), 1e-6))


def _bumps(grid: AnyArray, scores: AnyArray, bandwidth: float) -> AnyArray:
    return np.exp(-(((grid[:, None] - scores) / bandwidth) ** 2) / 2) / bandwidth


def _monotone(ratio: AnyArray, share: AnyArray) -> AnyArray:
    """Smoothed by a running median, capped, and non-decreasing in the score."""
    smooth = median_filter(np.minimum(ratio, LARGEST_RATIO), size=max(len(ratio) // 20, 1), mode="nearest")
    return IsotonicRegression().fit_transform(np.arange(len(smooth)), smooth, sample_weight=np.maximum(share, 1e-12))


def _positives(ratio: AnyArray, share: AnyArray) -> float:
    """θ at which EM from α = 0 converges, in closed form. The ratio is scaled to mean one over U.

    The mean of max(0, 1 − (1 − α) r) is convex in α, equals α at α = 1, and has slope mean(r) = 1 there. It is above α
    until no term is truncated, that is until 1 − (1 − α) r ≥ 0 for the largest r. EM stops there, with
    θ = 1 − α = 1 / max r. Without the scaling it would converge to α = 0 or 1.
    """
    return float(share @ ratio / max(ratio.max(), 1e-300))
