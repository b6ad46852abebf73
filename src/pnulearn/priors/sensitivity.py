"""What the uncertainty of the prior does to decisions: the classifier refitted at both ends of the interval."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from pnulearn._arrays import AnyArray
from pnulearn.priors.estimate import PriorEstimate


@dataclass(frozen=True)
class PriorSensitivity:
    """Decisions at the low end, at the estimate and at the high end of a prior's interval.

    `changed` says for which rows the decision is not the same at both ends, `share` how many of them.

    Parameters
    ----------
    estimate : PriorEstimate
        The prior with its interval.
    decisions : array (3, rows)
        Decisions at low, value and high.
    changed : array (rows,) of bool
        Rows decided differently at both ends.
    """

    estimate: PriorEstimate
    decisions: AnyArray
    changed: AnyArray

    @property
    def share(self) -> float:
        return float(self.changed.mean())

    def __str__(self) -> str:
        return (
            f"Between prior {self.estimate.low:.3f} and {self.estimate.high:.3f}, {self.changed.sum()} of "
            f"{len(self.changed)} decisions change ({self.share:.1%})."
        )


def prior_sensitivity(
    classifier: Any, X: Any, y: ArrayLike, estimate: PriorEstimate, X_new: Any = None
) -> PriorSensitivity:
    """Refit a two-class classifier that has a parameter `prior` at low, value and high, and compare its decisions.

    The decisions are those for X_new, by default for X itself.

    Parameters
    ----------
    classifier : classifier, optional
        Scores the rows, held out; kernel ridge candidates by default.
    X : array, sparse matrix or data frame (rows, columns)
        Features.
    y : array (rows,)
        Labels; missing values and `unlabeled` mark unlabelled rows.
    estimate : PriorEstimate
        The prior with its interval.
    X_new : like X, optional
        Rows to decide; X by default.
    """
    ends = np.array([estimate.low, estimate.value, estimate.high], dtype=float)
    if ends.ndim != 1 or np.isnan(ends).any():
        raise ValueError("The estimate needs one prior with an interval: two classes, and n_bootstrap above 0.")
    rows = X if X_new is None else X_new
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "prior=.* was given")  # the ends are tried, not believed
        decisions = np.array([clone(classifier).set_params(prior=float(end)).fit(X, y).predict(rows) for end in ends])
    return PriorSensitivity(estimate, decisions, decisions[0] != decisions[2])
