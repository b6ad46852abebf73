"""Learning from positive, negative and unlabelled data.

Names are imported when they are first used, so that `pnulearn --help` does not wait for scikit-learn.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pnulearn.classifier import PNUClassifier, load
    from pnulearn.folds import PNUStratifiedKFold

_HOMES = {
    "PNUClassifier": "pnulearn.classifier",
    "PNUStratifiedKFold": "pnulearn.folds",
    "load": "pnulearn.classifier",
}

__all__ = ["PNUClassifier", "PNUStratifiedKFold", "load"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'pnulearn' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return [*globals(), *__all__]
