"""The class prior of greatest likelihood for U, given calibrated class probabilities (Saerens et al. 2002)."""

from __future__ import annotations

from dataclasses import field
from typing import Any

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._parameters import parameters
from pnulearn.priors._parts.calibration import calibrate
from pnulearn.priors._parts.groups import Groups, standardize
from pnulearn.priors._parts.interval import Draws, bayesian_draws
from pnulearn.priors._parts.posteriors import held_out_posteriors
from pnulearn.priors.energy import read_groups
from pnulearn.priors.estimate import PriorEstimate, settle
from pnulearn.priors.estimator import PriorEstimator, generator

CLOSE = 1e-6
MOST_STEPS = 1000


@parameters
class EMPrior(PriorEstimator):
    """EM on the class probabilities of U: each row is shared out by its posterior, and the shares are the new prior.

        θ_k ← mean over U of  p_k(x) θ_k / Σ_j p_j(x) θ_j,     p = probabilities under equal class shares

    It climbs a concave likelihood, so the start does not matter. The probabilities are held out and calibrated; they
    come from kernel ridge candidates, or from `classifier` if one is given. Where they are wrong the estimate is
    biased, which `ScorePrior` avoids.

    Parameters
    ----------
    classifier : classifier, optional
        Scores the rows, held out; kernel ridge candidates by default.
    """

    method = "em"

    classifier: Any = field(default=None, kw_only=False)

    def estimate(self, X: Any, codes: AnyArray, weight: AnyArray | None = None, n_classes: int = 2) -> PriorEstimate:
        groups = standardize(read_groups(X, codes, weight, n_classes))
        rng = generator(self.random_state)
        draws = [bayesian_draws(group, self.n_bootstrap, rng) for group in groups.all]
        probabilities = self._calibrate(groups, draws)
        priors = most_likely_shares(probabilities, draws[-1].share.T)
        priors = priors[:, 1] if n_classes == 2 else priors
        return settle(priors[0], priors[1:], groups.unlabeled.size, self.confidence, self.method)

    def _calibrate(self, groups: Groups, draws: list[Draws]) -> AnyArray:
        """Probabilities of U (weightings, classes, rows), calibrated anew for each weighting."""
        K = len(groups.classes)
        posteriors = held_out_posteriors(groups.classes, [groups.unlabeled], self.classifier)
        scores = [np.log(np.clip(p, 1e-9, None))[None] for p in posteriors.at(np.full(K, 1 / K))]
        shape = draws[0].share.shape[1:]
        repeated = [np.broadcast_to(score, shape + score.shape[1:]) for score in scores[:-1]]
        calibration = calibrate(repeated, groups.classes, [draw.share.T for draw in draws[:-1]])
        return np.exp(calibration(scores[-1]))


def most_likely_shares(probabilities: AnyArray, share: AnyArray) -> AnyArray:
    """EM for every weighting: probabilities (r, classes, rows) and weights (r, rows) give shares (r, classes)."""
    prior = np.full(probabilities.shape[:2], 1 / probabilities.shape[1])
    for _ in range(MOST_STEPS):
        mixture = np.einsum("rkn,rk->rn", probabilities, prior)
        update = prior * np.einsum("rkn,rn->rk", probabilities, share / mixture)
        done = np.abs(update - prior).max() < CLOSE
        prior = update
        if done:
            break
    return prior
