"""Learning from positive, negative and unlabelled data.

Names and sub-packages are imported when they are first used, so that `pnulearn --help` does not wait for scikit-learn.
"""

from __future__ import annotations

TYPE_CHECKING = False  # typing itself takes longer to import than all of this
if TYPE_CHECKING:
    from typing import Any

    from pnulearn._estimators.auto import AutoPNU
    from pnulearn._estimators.classifier import PNUClassifier as PNUClassifier
    from pnulearn._estimators.labeled_only import LabeledOnly as LabeledOnly
    from pnulearn._estimators.prior_adjusted import PriorAdjusted
    from pnulearn._problem.folds import PNUStratifiedGroupKFold as PNUStratifiedGroupKFold
    from pnulearn._problem.folds import PNUStratifiedKFold as PNUStratifiedKFold
    from pnulearn._table_classifier import TableClassifier as TableClassifier
    from pnulearn.advice import advise as advise
    from pnulearn.advice import advise_for as advise_for
    from pnulearn.advice import check_scar as check_scar
    from pnulearn.metrics import compare as compare
    from pnulearn.metrics import make_pnu_scorer as make_pnu_scorer
    from pnulearn.metrics import pnu_risk as pnu_risk
    from pnulearn.priors import estimate_prior as estimate_prior
    from pnulearn.tables._loading import load as load
    from pnulearn.tables._loading import save as save

    __version__: str

_HOMES = {
    "AutoPNU": "pnulearn._estimators.auto",
    "LabeledOnly": "pnulearn._estimators.labeled_only",
    "PNUClassifier": "pnulearn._estimators.classifier",
    "PNUStratifiedGroupKFold": "pnulearn._problem.folds",
    "PNUStratifiedKFold": "pnulearn._problem.folds",
    "PriorAdjusted": "pnulearn._estimators.prior_adjusted",
    "TableClassifier": "pnulearn._table_classifier",
    "advise": "pnulearn.advice",
    "advise_for": "pnulearn.advice",
    "check_scar": "pnulearn.advice",
    "compare": "pnulearn.metrics",
    "estimate_prior": "pnulearn.priors",
    "load": "pnulearn.tables._loading",
    "make_pnu_scorer": "pnulearn.metrics",
    "pnu_risk": "pnulearn.metrics",
    "save": "pnulearn.tables._loading",
}
_MODULES = (
    *("advice", "baselines", "cli", "inspection", "labeling", "losses", "metrics", "onnx", "plots"),
    *("priors", "ranking", "report", "risks", "streaming", "tables", "theory", "torch"),
)

__all__ = [
    "AutoPNU",
    "LabeledOnly",
    "PNUClassifier",
    "PNUStratifiedGroupKFold",
    "PNUStratifiedKFold",
    "PriorAdjusted",
    "TableClassifier",
    "__version__",
    "advise",
    "advise_for",
    "check_scar",
    "compare",
    "estimate_prior",
    "load",
    "make_pnu_scorer",
    "pnu_risk",
    "save",
]


def __getattr__(name: str) -> Any:
    from importlib import import_module
    from importlib.metadata import version

    if name in _MODULES:
        return import_module(f"pnulearn.{name}")
    if name == "__version__":
        found = version("pnulearn")
    elif name in _HOMES:
        found = getattr(import_module(_HOMES[name]), name)
    else:
        raise AttributeError(f"module 'pnulearn' has no attribute {name!r}")
    globals()[name] = found  # the next time it is simply there
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_MODULES})
