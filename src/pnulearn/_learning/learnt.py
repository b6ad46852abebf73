"""All that a fit leaves behind, in one value: a classifier accepts it whole or not at all."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from pnulearn._arrays import AnyArray
from pnulearn._learning.selection import SearchTable
from pnulearn.metrics._estimate import RiskEstimate
from pnulearn.priors.estimate import PriorEstimate

# A fitted classifier has no such attribute where the value is None; elsewhere None is an answer.
OPTIONAL = frozenset({"validation_scores", "judging_scores", "feature_names_in"})


@dataclass(frozen=True, eq=False)
class Learnt:
    """Every attribute of a fitted `PNUClassifier` that ends in an underscore, without it.

    `function` holds those that the kernel itself names, as `Basis.name_learnt` gives them: `coef_`, `intercept_`, ...
    """

    classes: AnyArray
    prior: Any
    prior_interval: tuple[Any, Any] | None
    prior_estimate: PriorEstimate
    risk_used: str
    search: SearchTable
    bandwidth: float
    mix: float
    alpha: float
    risk: RiskEstimate | None
    function: dict[str, AnyArray]
    n_features_in: int
    feature_names_in: AnyArray | None = None
    validation_scores: AnyArray | None = None
    judging_scores: AnyArray | None = None
    calibration: AnyArray | None = None
    n_iter: int = 1
    converged: bool = True
    prior_doubt: str | None = None
    decisions: AnyArray | None = None
    columns: str = "given"

    def attributes(self) -> dict[str, Any]:
        """Names with the underscore, and values."""
        values = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "function"}
        there = {f"{name}_": value for name, value in values.items() if value is not None or name not in OPTIONAL}
        return there | self.function
