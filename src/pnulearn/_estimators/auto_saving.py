"""An `AutoPNU` as plain values and back, without running code."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from pnulearn._estimators.adjustment import Adjustment
from pnulearn._estimators.auto import AutoPNU, Member
from pnulearn._estimators.classifier import PNUClassifier
from pnulearn._estimators.everyday import EVERYDAY, PNU
from pnulearn._estimators.functions import FUNCTIONS
from pnulearn._estimators.saving import PLAIN, contents, restore
from pnulearn._files.shapes import refuse_other_types
from pnulearn.priors.estimate import PriorEstimate

KIND = "AutoPNU"
TYPES = (Member, Adjustment, *FUNCTIONS)
NOT_KEPT = ("members_", "pnu_", "member_scores_")  # said otherwise, or of use to a report only


def auto_contents(model: AutoPNU) -> dict[str, Any]:
    """What a fitted model is made of; one that cannot predict is refused."""
    refuse_broken(model)
    kept = {name: value for name, value in model.get_params(deep=False).items() if name != PNU}
    parameters = {name: value if isinstance(value, (*PLAIN, PriorEstimate)) else None for name, value in kept.items()}
    learnt = {name: value for name, value in vars(model).items() if name.endswith("_") and name not in NOT_KEPT}
    pnu = None if model.pnu_ is None else contents(model.pnu_)
    return {"kind": KIND, "parameters": parameters, "learnt": learnt, "members": model.members_, "pnu": pnu}


def restore_auto(content: dict[str, Any]) -> AutoPNU:
    """The model with these contents; values that do not go together are refused."""
    model = AutoPNU(**content["parameters"])
    model.__dict__.update(content["learnt"])
    model.members_ = content["members"]
    model.pnu_ = None if content["pnu"] is None else restore(PNUClassifier, content["pnu"])
    refuse_broken(model)
    return model


def refuse_broken(model: AutoPNU) -> None:
    """Refuse a model unless its learners fit together, are finite and predict."""
    n_features, n_classes = model.n_features_in_, len(model.classes_)
    for place, member in enumerate(model.members_):
        refuse_other_types(member, f"members_[{place}]", finite=True)
        if member.name == PNU:
            _require(model.pnu_ is not None and model.pnu_.n_features_in_ == n_features, "PNU is missing")
            continue
        _require(member.name in EVERYDAY and member.function is not None, f"no learner {member.name!r}")
        member.function.refuse_broken(n_features, n_classes)  # type: ignore[union-attr]
        n_outputs = None if member.adjustment is None else np.shape(member.adjustment.shift)
        _require(n_outputs == (n_classes,), f"{member.name} has no adjustment")
    weights = np.array([member.weight for member in model.members_])
    _require(
        len(weights) > 0 and bool((weights >= 0).all()) and abs(weights.sum() - 1) < 1e-6, "weights are not shares"
    )
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that columns have no names
        scores = model.decision_function(np.zeros((1, n_features)))
    _require(bool(np.isfinite(scores).all()), "it does not predict")


def _require(holds: bool, trouble: str) -> None:
    if not holds:
        raise ValueError(trouble)
