"""Seconds for the paper's 5,040-model search: ours, pywsl's fast cross-validation, and GridSearchCV over pywsl.

6 bandwidths x 21 mixes x 8 alphas x 5 folds, 35 positive + 15 negative labelled and 300 unlabelled rows, one BLAS
thread, one process. The contenders take turns for several rounds, each for a similar time, and ratios are those of mean
times: what slows the machine down meets all of them. Needs `pip install pnulearn[bench]`; real data from the folder
PNULEARN_DATA (npz files with X and y), otherwise generated data of the same shape.
"""

from __future__ import annotations

import os

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")  # before NumPy starts its threads

import time
import warnings
from collections.abc import Callable
from functools import partial

import numpy as np
from pywsl.ssl.pnu_mr import PNU_SL, PNU_SL_FastCV
from real_sets import partly_labeled, real_or_gaussian_set
from scipy.spatial.distance import pdist
from sklearn.model_selection import GridSearchCV

from pnulearn import PNUClassifier, PNUStratifiedKFold
from pnulearn._kernels.gaussian import BANDWIDTH_FACTORS
from pnulearn._solvers.candidates import ALPHAS, ETAS

PRIOR, N_CENTERS, ROUNDS = 0.5, 350, 5
OUR_REPEATS = 10
GRID_SAMPLE = 60  # candidates of GridSearchCV that are really run


def mean_seconds(contenders: dict[str, tuple[Callable[[], object], int]]) -> dict[str, float]:
    """Mean time of each contender, which runs as often as its number says in every round."""
    total = dict.fromkeys(contenders, 0.0)
    for _ in range(ROUNDS):
        for name, (run, repeats) in contenders.items():
            start = time.perf_counter()
            for _ in range(repeats):
                run()
            total[name] += time.perf_counter() - start
    return {name: total[name] / ROUNDS / repeats for name, (_, repeats) in contenders.items()}


def grid_search(X: np.ndarray, y: np.ndarray, bandwidths: np.ndarray, seed: int) -> Callable[[], object]:
    """GridSearchCV over pywsl's classifier on a random part of the grid."""
    rng = np.random.default_rng(seed)
    cells = rng.choice(len(bandwidths) * len(ETAS) * len(ALPHAS), GRID_SAMPLE, replace=False)
    b, m, a = np.unravel_index(cells, (len(bandwidths), len(ETAS), len(ALPHAS)))
    candidates = [
        {"sigma": [bandwidths[i]], "eta": [ETAS[j]], "lam": [4 * ALPHAS[k]]} for i, j, k in zip(b, m, a, strict=True)
    ]
    search = GridSearchCV(
        PNU_SL(PRIOR, n_basis=N_CENTERS),
        candidates,
        cv=PNUStratifiedKFold(5, train_on_unlabeled=True, unlabeled=0, random_state=0),
        scoring="accuracy",
        refit=False,
    )
    return lambda: search.fit(X, y)


def linear_algebra(X: np.ndarray, bandwidths: np.ndarray) -> Callable[[], None]:
    """What no exact shared grid can do without: per bandwidth a kernel, per fold one eigendecomposition of U's side."""
    distances = ((X[:, None] - X[None]) ** 2).sum(axis=-1)

    def floor() -> None:
        for bandwidth in bandwidths:
            kernel = np.exp(-distances / (2 * bandwidth**2))
            for _ in range(5):
                rows = kernel[50:290]
                np.linalg.eigh(rows @ rows.T)

    return floor


def compare(name: str, dimension: int) -> None:
    """Time every contender on one set and print a line."""
    X, y = partly_labeled(*real_or_gaussian_set(name, dimension))
    bandwidths = np.median(pdist(X)) * np.array(BANDWIDTH_FACTORS)
    options = {"prior": PRIOR, "bandwidth": bandwidths, "centers": "all", "unlabeled": 0, "random_state": 0}
    models = {
        "best": PNUClassifier(selection="best", cv=5, **options),
        "average": PNUClassifier(cv=5, **options),
        "default": PNUClassifier(**options),  # the average, every row judged by models without it
        "two threads": PNUClassifier(selection="best", cv=5, n_jobs=2, **options),
    }
    contenders = {key: (partial(model.fit, X, y), OUR_REPEATS) for key, model in models.items()}
    contenders |= {
        "FastCV": (lambda: PNU_SL_FastCV(X, y, PRIOR, ETAS, 5, "gauss", bandwidths, 4 * ALPHAS, N_CENTERS), 1),
        "GridSearchCV": (grid_search(X, y, bandwidths, seed=0), 1),
        "floor": (linear_algebra(X, bandwidths), OUR_REPEATS),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pywsl's
        took = mean_seconds(contenders)
    took["GridSearchCV"] *= len(bandwidths) * len(ETAS) * len(ALPHAS) / GRID_SAMPLE
    print(f"{name:8}" + "".join(f"{took[key]:14.3f}s" for key in took))
    best = took["best"]
    ratios = {f"{key} / best": took[key] / best for key in ("FastCV", "GridSearchCV")}
    ratios |= {
        "FastCV / average": took["FastCV"] / took["average"],
        "FastCV / default": took["FastCV"] / took["default"],
        "one thread / two": best / took["two threads"],
        "best / unavoidable linear algebra": best / took["floor"],
    }
    print(" " * 8 + ", ".join(f"{key} {value:.3g}" for key, value in ratios.items()), flush=True)


def main() -> None:
    print(
        f"{'set':8}" + "".join(f"{name:>15}" for name in ("best", "average", "default", "two threads", "FastCV")),
        end="",
    )
    print(f"{'GridSearchCV*':>15}{'floor':>15}")
    for name, dimension in (("banana", 2), ("german", 20)):
        compare(name, dimension)
    print(f"* extrapolated from {GRID_SAMPLE} of 1,008 candidates, 5 folds each")


if __name__ == "__main__":
    main()
