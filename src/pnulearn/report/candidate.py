"""The candidate with most weight as a classifier of its own, which is fitted in a moment."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from pnulearn._basis.kernels import KERNELS
from pnulearn._estimators.auto import PNU, AutoPNU
from pnulearn._estimators.classifier import PNUClassifier


def best_candidate(classifier: PNUClassifier | AutoPNU, **parameters: Any) -> Any:
    """A classifier with the settings that the search found and the prior that it used, unfitted.

    Of several learners it is the one with most weight.
    """
    if isinstance(classifier, AutoPNU):
        most = max(classifier.members_, key=lambda member: member.weight).name
        own = best_candidate(classifier.pnu_) if classifier.pnu_ is not None and most == PNU else None
        fresh = AutoPNU((most,), own, prior=as_given(classifier), random_state=classifier.random_state)
        return fresh.set_params(**parameters)
    settings = {
        "mix": classifier.mix_,
        "alpha": classifier.alpha_,
        "bandwidth": classifier.bandwidth_ if KERNELS[classifier.kernel].has_bandwidth else None,
        "columns": getattr(classifier, "columns_", "given"),  # models of older versions know no other
        "selection": "best",
        "prior": as_given(classifier),
        "risk": classifier.risk_used_,
    }
    return clone(classifier).set_params(**settings | parameters)


def as_given(classifier: PNUClassifier | AutoPNU) -> Any:
    """The prior that was used, as it would be given."""
    if np.ndim(classifier.prior_) == 0:
        return float(classifier.prior_)
    return dict(zip(classifier.classes_.tolist(), np.asarray(classifier.prior_).tolist(), strict=True))
