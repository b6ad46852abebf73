"""Small models that the topics share."""

from __future__ import annotations

from functools import cache
from typing import Any

from pnulearn import PNUClassifier
from pnulearn.baselines import (
    S4VM,
    EntropyRegularizedClassifier,
    HarmonicClassifier,
    LaplacianSVM,
    SMIRClassifier,
    WellSVM,
)
from tests.attack.rows import X, Y

QUICK = {"prior": 0.4, "mix": 0.2, "alpha": 0.1, "random_state": 0}
BASELINES = (EntropyRegularizedClassifier, HarmonicClassifier, LaplacianSVM, S4VM, SMIRClassifier, WellSVM)


def quick(**parameters: Any) -> PNUClassifier:
    """A classifier without a search."""
    return PNUClassifier(**(QUICK | {"bandwidth": 1.0} | parameters))


@cache
def model() -> PNUClassifier:
    return quick().fit(X, Y)
