"""An `AutoPNU` as plain values and back: PNU as in its own files, scikit-learn's models as skops writes them."""

from __future__ import annotations

import warnings
import zipfile
from importlib.metadata import version
from io import BytesIO
from typing import Any

import numpy as np
from sklearn.exceptions import InconsistentVersionWarning

from pnulearn._arrays import AnyArray
from pnulearn._estimators.adjustment import Adjustment
from pnulearn._estimators.auto import PNU, SUPERVISED, AutoPNU, Member
from pnulearn._estimators.classifier import PNUClassifier
from pnulearn._estimators.saving import PLAIN, contents, restore, warn_of_other_scikit_learn
from pnulearn._files.archive import refuse_other_types
from pnulearn._files.errors import ModelFileError
from pnulearn._machine import import_extra
from pnulearn.priors.estimate import PriorEstimate

KIND = "AutoPNU"
TYPES = (Adjustment,)
NOT_KEPT = ("members_", "pnu_", "member_scores_")  # said otherwise, or of use to a report only
PLAIN_FIELDS = ("name", "weight", "risk", "adjustment")  # of a member; its model is kept by skops
# What skops does not trust by itself: the nodes of trees, which are arrays.
TREES = ["sklearn.tree._tree.Tree", "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor"]


def auto_contents(model: AutoPNU) -> dict[str, Any]:
    """What a fitted model is made of; one that cannot predict is refused."""
    refuse_broken(model)
    kept = {name: value for name, value in model.get_params(deep=False).items() if name != PNU}
    return {
        "kind": KIND,
        "parameters": {name: v if isinstance(v, (*PLAIN, PriorEstimate)) else None for name, v in kept.items()},
        "learnt": {name: value for name, value in vars(model).items() if name.endswith("_") and name not in NOT_KEPT},
        "members": [{name: getattr(member, name) for name in PLAIN_FIELDS} for member in model.members_],
        "models": _dump({member.name: member.model for member in model.members_ if member.name != PNU}),
        "scikit-learn": version("scikit-learn"),
        "pnu": None if model.pnu_ is None else contents(model.pnu_),
    }


def restore_auto(content: dict[str, Any]) -> AutoPNU:
    """The model with these contents; values that do not go together are refused."""
    model = AutoPNU(**content["parameters"])
    model.__dict__.update(content["learnt"])
    models = _load(content["models"], content["scikit-learn"])
    model.members_ = [Member(**member, model=models.get(member["name"])) for member in content["members"]]
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
        known = member.name in SUPERVISED and type(member.model) is type(SUPERVISED[member.name](0))
        _require(known, f"{member.name!r} is a {type(member.model).__name__}")
        own = member.model.n_features_in_, member.model.classes_.tolist()
        _require(own == (n_features, list(range(n_classes))), f"{member.name} has other columns or classes")
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


def _dump(models: dict[str, Any]) -> AnyArray | None:
    """Fitted scikit-learn models as bytes; None if there are none, so that PNU alone does not need skops."""
    if not models:
        return None
    with import_extra("skops", "Saving an AutoPNU with models of scikit-learn"):
        import skops.io
    return np.frombuffer(skops.io.dumps(models), dtype=np.uint8)


def _load(packed: AnyArray | None, saved_with: str) -> dict[str, Any]:
    """The models in these bytes. skops makes scikit-learn's classes and the nodes of trees, and nothing else."""
    if packed is None:
        return {}
    with import_extra("skops", "Loading an AutoPNU with models of scikit-learn"):
        import skops.io
    content = packed.tobytes()
    _refuse_compressed(content)
    warn_of_other_scikit_learn("AutoPNU", saved_with)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", InconsistentVersionWarning)  # one for every tree; we have warned
            return skops.io.loads(content, trusted=TREES)
    except Exception as error:
        if saved_with == version("scikit-learn"):
            raise
        raise ModelFileError(
            f"This AutoPNU was saved with scikit-learn {saved_with}, and version {version('scikit-learn')} cannot read "
            f"its models ({error}). Install scikit-learn {saved_with}, or fit the model again."
        ) from error


def _refuse_compressed(content: bytes) -> None:
    """Refuse an archive that would take more memory than its own size: skops does not compress."""
    members = zipfile.ZipFile(BytesIO(content)).infolist()
    stored = all(member.compress_type == zipfile.ZIP_STORED for member in members)
    _require(stored and sum(member.file_size for member in members) <= len(content), "its models are compressed")


def _require(holds: bool, trouble: str) -> None:
    if not holds:
        raise ValueError(trouble)
