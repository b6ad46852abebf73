"""How the error and the decisions of a model change over what its prior may be."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._intervals.posterior_grids import DecisionRates, mass_quantiles
from pnulearn.priors.narrowing import shift_probability
from pnulearn.tables._model import Fitted

LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True)
class AtPrior:
    """If the prior were this: the error of the model, and the share of unlabelled rows to be decided otherwise.

    `level` is the probability that the prior is smaller.
    """

    level: float
    prior: float
    error: float
    changed: float


def look_over_prior(fitted: Fitted, scores: AnyArray) -> list[AtPrior]:
    """The model at five points of the prior's distribution; nothing if the prior is known exactly."""
    classifier, codes = fitted.model.classifier, fitted.codes
    mass = classifier.prior_estimate_.mass
    if mass is None:
        return []
    groups = [scores[codes == code] for code in (1, 0, -1)]
    size = np.array([len(group) for group in groups])
    called = np.array([np.mean(group > 0) if len(group) else 0.0 for group in groups])
    share = np.array([1 - called[0], called[1], called[2]])
    probability = fitted.probability()[codes < 0]
    found = []
    for level, prior in zip(LEVELS, mass_quantiles(mass, LEVELS), strict=True):
        fnr, fpr = DecisionRates(share, size, prior).fit()
        moved = shift_probability(probability, float(classifier.prior_), prior)
        changed = float(np.mean((moved > 0.5) != (probability > 0.5)))
        found.append(AtPrior(level, prior, float(prior * fnr + (1 - prior) * fpr), changed))
    return found
