"""How far scores move when nothing but rounding or the order of rows changes.

`python -m tests.machines.steadiness OUT --methods ... --problems ...` writes the scores of this process as JSON, so
that processes with other BLAS kernels can be compared; `python -m tests.machines.run` does that.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_info

from pnulearn import AutoPNU, PNUClassifier, baselines, estimate_prior, priors

from .problems import PROBLEMS, Problem

TOLERANCE = 1e-8  # of the root mean square of the scores
TOLERANCE_OF_PRIORS = 1e-10
FEW = {"alpha": [0.01, 0.1], "bandwidth": None, "cv": 3}
METHODS: dict[str, Callable[..., Any]] = {
    "default": PNUClassifier,
    "given": partial(PNUClassifier, columns="given"),
    "known prior": lambda prior=None, **given: PNUClassifier(prior=prior, **given),
    "five folds": partial(PNUClassifier, cv=5),
    "best": partial(PNUClassifier, selection="best"),
    "linear": partial(PNUClassifier, kernel="linear"),
    "AutoPNU": AutoPNU,
}
LOSSES = ("logistic", "hyperbolic", "hinge", "double_hinge", "ramp", "sigmoid")
for loss in LOSSES:
    fits = partial(PNUClassifier, loss=loss, alpha=[0.01, 0.1], cv=3)
    METHODS[loss] = partial(fits, risk="pn" if loss == "hinge" else "pnu")
    METHODS[f"{loss}, linear"] = partial(fits, kernel="linear", risk="pn" if loss == "hinge" else "pu")
METHODS |= {
    "entropy": partial(baselines.EntropyRegularizedClassifier, alpha=[0.01, 0.1], entropy=[0.1, 1.0], cv=3),
    "LapSVM": partial(baselines.LaplacianSVM, alpha=[0.01, 0.1], manifold=0.1, cv=3),
    "SMIR": partial(baselines.SMIRClassifier, information=[0.1, 1.0], cv=3),
    "WellSVM": partial(baselines.WellSVM, C_unlabeled=[0.01, 0.1], cv=3),
    "S4VM": partial(baselines.S4VM, C_unlabeled=0.1, n_starts=20, cv=3),
}
NEED_PRIOR = {"known prior", "entropy", "LapSVM", "SMIR", "WellSVM", "S4VM"}


PRIORS = [f"prior {name}" for name in priors.METHODS]


def tolerance(method: str) -> float:
    return TOLERANCE_OF_PRIORS if method in PRIORS else TOLERANCE


def scores(method: str, problem: Problem, X: NDArray | None = None, y: NDArray | None = None, **given: Any) -> NDArray:
    """decision_function of the new rows, by a model of the problem's rows or of X and y instead; or what a prior is."""
    X, y = problem.X if X is None else X, problem.y if y is None else y
    options = {"prior": problem.prior} if method in NEED_PRIOR else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if method in PRIORS:
            found = estimate_prior(X, y, method.removeprefix("prior "), random_state=0)
            return np.array([found.value, found.raw, found.low, found.high])
        model = METHODS[method](random_state=0, **options, **given).fit(X, y)
    return np.asarray(model.decision_function(problem.X_new))


def disturbances(problem: Problem) -> Iterator[tuple[str, NDArray, NDArray]]:
    """The rows with other last bits, in another unit to the last bit, and in another order."""
    rng = np.random.default_rng(0)
    up = np.where(rng.random(problem.X.shape) < 0.5, np.inf, -np.inf)
    order = rng.permutation(len(problem.y))
    yield "last bits", np.nextafter(problem.X, up), problem.y
    yield "times 1 + 1e-15", problem.X * (1 + 1e-15), problem.y
    yield "rows in another order", problem.X[order], problem.y[order]


def movement(before: Any, now: Any) -> float:
    """The largest difference of two sets of scores, in units of their root mean square."""
    before, now = np.asarray(before), np.asarray(now)
    return float(np.abs(now - before).max() / np.sqrt(np.mean(np.square(before))))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--methods", nargs="+", default=[*METHODS, *PRIORS])
    parser.add_argument("--problems", nargs="+", default=list(PROBLEMS))
    given = parser.parse_args()
    kernels = sorted({str(one["architecture"]) for one in threadpool_info() if one.get("user_api") == "blas"})
    found: dict[str, Any] = {"kernels": kernels, "scores": {}}
    for problem in given.problems:
        for method in given.methods:
            found["scores"][f"{method} / {problem}"] = scores(method, PROBLEMS[problem]()).tolist()
            given.out.write_text(json.dumps(found))


if __name__ == "__main__":
    main()
