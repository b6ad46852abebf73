"""Random training problems for the tests of iterative solvers."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from pnulearn import risks
from pnulearn._solvers.objectives import Objective, objective, shares_in_means
from pnulearn.losses import Loss

PRIOR = 0.3
RISKS = {
    "pn": risks.pn(PRIOR),
    "pu": risks.pu(PRIOR),
    "nu": risks.nu(PRIOR),
    "punu": risks.punu(PRIOR, 0.35),
    "pnpu": risks.pnu(PRIOR, 0.5),
    "pnnu": risks.pnu(PRIOR, -0.7),
}


def rows(n_positive: int, n_negative: int, n_unlabeled: int, size: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Features (n, size) of two overlapping classes and the shares of every row in the means over P, N and U."""
    rng = np.random.default_rng(seed)
    codes = np.repeat([1, 0, -1], [n_positive, n_negative, n_unlabeled])
    truth = np.where(codes < 0, rng.random(len(codes)) < PRIOR, codes)
    features = rng.normal(size=(len(codes), size)) + 1.0 * (truth[:, None] - 0.5)
    weight = rng.uniform(0.5, 2, len(codes))
    prior = np.array([1 - PRIOR, PRIOR])
    return features, shares_in_means(codes, weight, np.flatnonzero(codes < 0), prior, own=1)


def random_problem(loss: Loss, risk: str, seed: int, size: int = 5) -> tuple[Objective, np.ndarray]:
    features, shares = rows(9, 7, 30, size, seed)
    return objective(RISKS[risk], loss, shares), features


def penalised(terms: Objective, features: np.ndarray, alpha: float, coef: np.ndarray, intercept: float = 0.0) -> float:
    return terms.value(features @ coef + intercept) + alpha * float(coef @ coef)


@pytest.fixture(scope="session")
def problems() -> SimpleNamespace:
    """The functions of this file; test modules cannot import each other."""
    return SimpleNamespace(prior=PRIOR, risks=RISKS, rows=rows, random=random_problem, penalised=penalised)
