"""The default: the most accurate method we know for the groups of rows that are there."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._parameters import parameters
from pnulearn.priors.bbe import BBEPrior
from pnulearn.priors.estimate import PriorEstimate
from pnulearn.priors.estimator import PriorEstimator
from pnulearn.priors.scores import ScorePrior


@parameters
class AutoPrior(PriorEstimator):
    """`ScorePrior` if every class has labelled rows, else `BBEPrior` with a warning about what it assumes."""

    needs_every_class = False
    method = "auto"

    n_bootstrap: Any = None  # as many as the method takes

    def estimate(self, X: Any, codes: AnyArray, weight: AnyArray | None = None, n_classes: int = 2) -> PriorEstimate:
        options = {"confidence": self.confidence, "random_state": self.random_state}
        if self.n_bootstrap is not None:
            options["n_bootstrap"] = self.n_bootstrap
        present = np.unique(codes if weight is None else codes[weight > 0])
        if n_classes > 2 or {0, 1} <= set(present.tolist()):
            return ScorePrior(**options).estimate(X, codes, weight, n_classes)
        warnings.warn(
            "One class has no labelled rows, so the prior is estimated from the other one and U. This rests on the "
            "assumption that no part of the missing class looks like the labelled one (irreducibility), and is too "
            "extreme where it fails. Label a few rows of the missing class or pass the prior as a number.",
            UserWarning,
            stacklevel=3,
        )
        return BBEPrior(**options).estimate(X, codes, weight)
