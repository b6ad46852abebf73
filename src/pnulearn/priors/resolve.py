"""What `prior=...` means: nothing, a number, a mapping, a method."""

from __future__ import annotations

from typing import Any

import numpy as np

from pnulearn.priors.energy import energy_prior
from pnulearn.priors.estimate import PriorEstimate


def resolve_prior(prior: Any, X: Any, codes: Any, weight: Any, *, classes: Any, random_state: Any) -> PriorEstimate:
    """The prior as an estimate, whichever way it was given."""
    if prior is None:
        return energy_prior(X, codes, weight, n_classes=len(classes), random_state=random_state)
    if isinstance(prior, dict):
        v = np.array([prior[c] for c in classes])
        return PriorEstimate(v, v, v, 1.0, "given", v)
    return PriorEstimate(prior, prior, prior, 1.0, "given", prior)
