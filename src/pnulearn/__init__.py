"""Learning from positive, negative and unlabelled data.

Names and sub-packages are imported when they are first used, so that `pnulearn --help` does not wait for scikit-learn.
"""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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

__version__ = version("pnulearn")
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
    if name in _HOMES:
        found = globals()[name] = getattr(import_module(_HOMES[name]), name)  # the next time it is simply there
        return found
    if name in _MODULES:
        return import_module(f"pnulearn.{name}")
    raise AttributeError(f"module 'pnulearn' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_MODULES})
