"""Seconds to train with losses that have no closed form, next to the squared loss and to scikit-learn.

Search: the paper's 5,040 models (6 bandwidths x 21 mixes x 8 alphas x 5 folds) on 35 positive, 15 negative and 300
unlabelled rows, and what it would cost to fit every candidate by itself, from zero and on all basis functions.
Single fits: the median bandwidth, all 350 rows as centres, against scikit-learn on as many weighted rows.

One BLAS thread, one process, everything in one run, in seconds of processor time; trust the ratios. Real data from
the folder PNULEARN_DATA (npz files with X and y), otherwise generated data of the same shape.

    python benchmarks/losses.py [squared logistic double_hinge sigmoid ramp]     losses to search with
"""

from __future__ import annotations

import os

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")  # before NumPy starts its threads

import sys
import time
import warnings
from collections.abc import Callable

import numpy as np
from real_sets import partly_labeled, real_or_gaussian_set
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

from pnulearn import PNUClassifier, risks
from pnulearn._kernels.centers import median_distance
from pnulearn._kernels.gaussian import BANDWIDTH_FACTORS, gaussian, squared_distances
from pnulearn._solvers.candidates import ALPHAS, ETAS, FeatureMatrix
from pnulearn._solvers.hinge import minimize_hinge
from pnulearn._solvers.low_rank import reduce_features
from pnulearn._solvers.newton import SmoothProblem
from pnulearn._solvers.objectives import objective
from pnulearn.losses import LOSSES

PRIOR, ETA, ALPHA = 0.5, 0.5, 1e-2
SETS = {"banana": 2, "waveform": 21}
SEPARATE = 60  # candidates that are really fitted by themselves


def seconds(run: Callable[[], object], repeats: int) -> float:
    """The least of several timings: the machine's noise only ever adds."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    return min(times)


def shares() -> np.ndarray:
    return np.stack([np.repeat(part, [35, 15, 300]) for part in ([1 / 35, 0, 0], [0, 1 / 15, 0], [0, 0, 1 / 300])])


def separate_seconds(X: np.ndarray) -> float:
    """Logistic fits of a random part of the grid, each from zero on all 280 basis functions, scaled up to 5,040."""
    rows = np.r_[:28, 35:47, 50:290]  # a training fold
    distances, unit = squared_distances(X[rows], X[rows]), median_distance(X[rows])
    parts = np.repeat([[1 / 28, 0, 0], [0, 1 / 12, 0], [0, 0, 1 / 240]], [28, 12, 240], axis=0).T
    rng = np.random.default_rng(0)
    cells = [(rng.choice(BANDWIDTH_FACTORS), rng.choice(ETAS), rng.choice(ALPHAS)) for _ in range(SEPARATE)]

    def run() -> None:
        for factor, eta, alpha in cells:
            problem = SmoothProblem(FeatureMatrix(gaussian(distances, factor * unit)))
            problem.minimize(objective(risks.pnu(PRIOR, eta), LOSSES["logistic"], parts), alpha)

    return seconds(run, 1) / SEPARATE * 5 * len(BANDWIDTH_FACTORS) * len(ETAS) * len(ALPHAS)


def search_table(losses: list[str]) -> None:
    print(f"{'search of 5,040 models':38}{'seconds':>10}{'x squared':>12}")
    for name, dimension in SETS.items():
        rows = partly_labeled(*real_or_gaussian_set(name, dimension), unlabeled=np.nan)
        times = {loss: search_seconds(loss, *rows) for loss in losses}
        times["logistic, nothing shared"] = separate_seconds(rows[0])
        for loss, value in times.items():
            print(f"{name + ', ' + loss:38}{value:10.2f}{value / times['squared']:12.1f}")


def search_seconds(loss: str, X: np.ndarray, y: np.ndarray) -> float:
    model = PNUClassifier(loss=loss, prior=PRIOR, selection="best", random_state=0)
    return seconds(lambda: model.fit(X, y), 3 if loss == "squared" else 1)


def single_table() -> None:
    print(f"\n{'single fit, 350 rows':60}{'ms':>8}{'ratio':>8}")
    for name, dimension in SETS.items():
        X, _ = partly_labeled(*real_or_gaussian_set(name, dimension))
        for loss, runs in single_fits(X).items():
            ours, *others = ((label, 1e3 * seconds(run, 20)) for label, run in runs.items())
            print(f"{f'{name}, {loss}, {ours[0]}':60}{ours[1]:8.2f}")
            for label, value in others:
                print(f"{f'{name}, {loss}, {label}':60}{value:8.2f}{ours[1] / value:8.2f}")


def single_fits(X: np.ndarray) -> dict[str, dict[str, Callable[[], object]]]:
    """Ours first: PNU at one mix and alpha, in the coordinates that the search works in.

    scikit-learn gets as many rows in the same coordinates, with the same weights and a sign for each.
    """
    unit, C = median_distance(X), 1 / (2 * ALPHA)
    features = reduce_features(gaussian(squared_distances(X, X), unit)).coordinates
    logistic, hinge = (
        objective(risks.pnu(PRIOR, ETA), LOSSES[loss], shares()) for loss in ("logistic", "double_hinge")
    )
    weight, signs = logistic.weight, np.repeat([1, -1, -1], [35, 15, 300])
    regression = LogisticRegression(C=C, fit_intercept=False, max_iter=1000)
    return {
        "logistic": {
            "ours": lambda: SmoothProblem(FeatureMatrix(features)).minimize(logistic, ALPHA),
            "LogisticRegression, same features": lambda: regression.fit(features, signs, weight),
        },
        "double hinge": {
            "ours": lambda: minimize_hinge(hinge, features, ALPHA),
            "SVC, same features": lambda: SVC(kernel="linear", C=C).fit(features, signs, weight),
            "SVC, its own kernel and penalty": lambda: SVC(gamma=0.5 / unit**2, C=C).fit(X, signs, weight),
        },
    }


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    search_table(sys.argv[1:] or ["squared", "logistic"])
    single_table()
