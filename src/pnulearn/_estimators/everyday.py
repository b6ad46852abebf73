"""The everyday models that stand beside PNU, by name: how they are made, and what of them is kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pnulearn._estimators.functions import Function, KernelFunction, LinearFunction, TreesFunction

PNU = "pnu"


@dataclass(frozen=True)
class Everyday:
    """A scikit-learn model: from a seed to the unfitted model, and from the fitted one to plain arrays."""

    make: Callable[[int], Any]
    keep: Callable[[Any], Function]
    most_classes: float = float("inf")


# scikit-learn's models are imported when they are made: whoever only predicts need not wait for them.
def _forest(seed: int) -> Any:
    from sklearn.ensemble import ExtraTreesClassifier

    return ExtraTreesClassifier(100, random_state=seed)


def _boosting(seed: int) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(max_iter=50, min_samples_leaf=5, random_state=seed)


def _logistic(seed: int) -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(max_iter=1000)


def _svm(seed: int) -> Any:
    from sklearn.svm import SVC

    return SVC(tol=1e-10)  # the default leaves 1e-3 of a score to the order of rows, and is no faster


EVERYDAY: dict[str, Everyday] = {
    "forest": Everyday(_forest, TreesFunction.of_forest),
    "boosting": Everyday(_boosting, TreesFunction.of_boosting),
    "logistic": Everyday(_logistic, LinearFunction.of),
    "svm": Everyday(_svm, KernelFunction.of, most_classes=2),
}
LEARNERS = (PNU, *EVERYDAY)
