"""Learning from positive, negative and unlabelled data.

Names are imported when they are first used, so that `pnulearn --help` does not wait for scikit-learn.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pnulearn.advice import advise, advise_for
    from pnulearn.classifier import PNUClassifier, load
    from pnulearn.folds import PNUStratifiedKFold
    from pnulearn.labeled_only import LabeledOnly
    from pnulearn.metrics import compare, make_pnu_scorer, pnu_risk
    from pnulearn.priors import estimate_prior

_HOMES = {
    "LabeledOnly": "pnulearn.labeled_only",
    "PNUClassifier": "pnulearn.classifier",
    "PNUStratifiedKFold": "pnulearn.folds",
    "advise": "pnulearn.advice",
    "advise_for": "pnulearn.advice",
    "compare": "pnulearn.metrics",
    "estimate_prior": "pnulearn.priors",
    "load": "pnulearn.classifier",
    "make_pnu_scorer": "pnulearn.metrics",
    "pnu_risk": "pnulearn.metrics",
}

__all__ = [
    "LabeledOnly",
    "PNUClassifier",
    "PNUStratifiedKFold",
    "advise",
    "advise_for",
    "compare",
    "estimate_prior",
    "load",
    "make_pnu_scorer",
    "pnu_risk",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'pnulearn' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return [*globals(), *__all__]
