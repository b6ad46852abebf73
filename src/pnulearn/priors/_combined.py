"""The default for one labelled class and U: DEDPUL, best bin estimation and the AUC, with a calibrated interval.

P and U determine an upper bound κ ≥ θ only. How far κ lies above θ depends on how much the classes overlap where the
labelled one is densest, which is seen in part: the AUC of P against U is at most 1 − θ/2, so 2 (1 − AUC) is another
upper bound, and the further it lies above the others the more the classes overlap. On the scale arcsin √θ

    estimate = 0.7 DEDPUL + 0.3 BBE − 0.2 (AUC bound − BBE),

with a two-piece normal distribution. Its deviation is greater below the estimate than above, since θ ≤ κ; both grow
with the overlap of the classes, 1 − AUC of P against N, and with the variance of the bootstrap. The bootstrap keeps the
scores, which few labelled rows determine badly, and with bad scores the bound is higher; so the deviation of a share of
n labelled rows, 1/(2√n) on this scale, is added below. The coefficients were chosen on one half of 36 data sets;
results/positive-unlabelled.md has errors and coverage on the other half, whose figures were seen during the choice and
are somewhat optimistic.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._intervals.posterior_draws import robust_deviation
from pnulearn._intervals.posterior_grids import angle_mass
from pnulearn._parameters import parameters
from pnulearn.priors._bbe import best_bin
from pnulearn.priors._dedpul import density_ratio
from pnulearn.priors._estimate import PriorEstimate, settle
from pnulearn.priors._groups import Group
from pnulearn.priors._positive_unlabeled import ScoredPrior, Statistic, scores_against_unlabeled, tail_shares

BOUND = "bound"  # the name of the method without irreducibility
DENSITY_SHARE = 0.7  # of DEDPUL; best bin estimation has the rest
OVERLAP = 0.2  # of the difference between the AUC bound and best bin estimation, subtracted
LEAST_DOUBT = 0.05  # standard deviation on the scale arcsin √θ that more rows do not remove
DOUBT_BELOW, DOUBT_ABOVE = 1.0, 0.3  # and per unit of 1 − AUC of P against N


@dataclass(frozen=True)
class Combination:
    """The estimate for every weighting, arcsin √θ, and the AUC of the labelled class against the other one."""

    angle: AnyArray
    separation: AnyArray


@parameters
class CombinedPrior(ScoredPrior):
    """DEDPUL, best bin estimation and the bound from the AUC, combined.

    The interval allows for classes that overlap, so it is wide where held-out scores separate them badly. Its upper end
    is a bound even if a part of the negatives is distributed like the positives; its lower end then is not.

    Parameters
    ----------
    irreducible : bool
        Whether no part of the negatives is distributed like the positives. If False, only the upper end is used: all
        shares below the estimate are as probable as the estimate (on the scale arcsin √θ), and the point estimate is
        the mean.
    """

    method = "combined"

    irreducible: bool = True
    n_bootstrap: int = 100

    def _of_scores(self, scores: tuple[AnyArray, AnyArray], labeled: Group, unlabeled: Group) -> Statistic:
        combine = combination(scores, labeled, unlabeled)
        return lambda *weights: np.sin(combine(*weights).angle) ** 2

    def _conclude(
        self, labeled: Group, unlabeled: Group, weights: tuple[AnyArray, AnyArray], is_positive: bool
    ) -> PriorEstimate:
        combine = combination(scores_against_unlabeled(labeled, unlabeled, self.classifier), labeled, unlabeled)
        return self._of_combination(combine(*weights), labeled.size, unlabeled.size, is_positive)

    def _of_combination(
        self, found: Combination, n_labeled: float, n_unlabeled: float, is_positive: bool = True
    ) -> PriorEstimate:
        """The distribution around the estimate, from the data (first entries) and the bootstrap."""
        angle = found.angle if is_positive else np.pi / 2 - found.angle
        estimate = settle(np.sin(angle[0]) ** 2, [], n_unlabeled, self.confidence, self.method)
        if len(angle) == 1 and self.irreducible:
            return estimate
        sampling = robust_deviation(angle[1:]) if len(angle) > 1 else 0.0
        overlap = 1 - float(found.separation[0])
        below, above = (np.hypot(sampling, LEAST_DOUBT + d * overlap) for d in (DOUBT_BELOW, DOUBT_ABOVE))
        below = np.hypot(below, 1 / (2 * np.sqrt(n_labeled))) if self.irreducible else np.inf
        mass = angle_mass(float(angle[0]), *((below, above) if is_positive else (above, below)))
        if self.irreducible:
            return replace(estimate, mass=mass)
        return PriorEstimate.of_mass(mass, BOUND, self.confidence)


def combination(scores: tuple[AnyArray, AnyArray], labeled: Group, unlabeled: Group) -> Callable[..., Combination]:
    """The combined estimate as a function of the weights of both groups."""
    by_bin = best_bin(scores, labeled, unlabeled)
    by_density = density_ratio(scores, labeled, unlabeled)

    def combine(*shares: AnyArray) -> Combination:
        q_labeled, q_unlabeled = tail_shares(scores, (shares[0], shares[1]))
        end = np.zeros((1, q_labeled.shape[1]))
        height = np.concatenate([end, q_labeled])
        auc = np.sum(np.diff(np.concatenate([end, q_unlabeled]), axis=0) * (height[1:] + height[:-1]) / 2, axis=0)
        bin_angle, density_angle, bound = (
            np.arcsin(np.sqrt(np.clip(part, 0, 1)))
            for part in (by_bin(*shares), by_density(*shares), np.minimum(2 * (1 - auc), 1))
        )
        angle = DENSITY_SHARE * density_angle + (1 - DENSITY_SHARE) * bin_angle - OVERLAP * (bound - bin_angle)
        angle = np.clip(angle, 0, np.pi / 2)
        share = np.sin(angle) ** 2
        separation = np.clip((auc - share / 2) / np.maximum(1 - share, 1e-9), 0.5, 1)
        return Combination(angle, separation)

    return combine
