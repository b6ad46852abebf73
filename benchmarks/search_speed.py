"""Seconds for the paper's 5,040-model search: ours, pywsl's fast cross-validation, and GridSearchCV over pywsl.

6 bandwidths x 21 mixes x 8 alphas x 5 folds, 35 positive + 15 negative labelled and 300 unlabelled rows, one BLAS
thread, one process, everything in one run so that only ratios matter. Needs `pip install pnulearn[bench]`; real data
from the folder PNULEARN_DATA (npz files with X and y), otherwise generated data of the same shape.
"""

from __future__ import annotations

import os

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")  # before NumPy starts its threads

import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from pywsl.ssl.pnu_mr import PNU_SL, PNU_SL_FastCV
from scipy.spatial.distance import pdist
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import minmax_scale

from pnulearn import PNUClassifier, PNUStratifiedKFold
from pnulearn.basis import BANDWIDTH_FACTORS
from pnulearn.solvers.candidates import ALPHAS, ETAS

PRIOR, N_CENTERS, REPEATS = 0.5, 350, 5
GRID_SAMPLE = 60  # candidates of GridSearchCV that are really run


def load(name: str, dimension: int) -> tuple[np.ndarray, np.ndarray]:
    """The named set if it is at hand, else two Gaussian classes in as many dimensions."""
    file = Path(os.environ.get("PNULEARN_DATA", "")) / f"{name}.npz"
    if "PNULEARN_DATA" in os.environ and file.is_file():
        with np.load(file) as data:
            return minmax_scale(data["X"].astype(float)), data["y"].astype(int)
    print(f"{name}: not at hand (set PNULEARN_DATA to a folder with {name}.npz), generated data instead")
    rng = np.random.default_rng(0)
    y = rng.choice([-1, 1], size=1000)
    return minmax_scale(rng.normal(size=(1000, dimension)) + 0.5 * y[:, None]), y


def draw(X: np.ndarray, y: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """35 + 15 labelled and 150 + 150 unlabelled rows; 0 marks unlabelled."""
    rng = np.random.default_rng(seed)
    positive, negative = (rng.permutation(np.flatnonzero(y == label)) for label in (1, -1))
    rows = np.concatenate([positive[:35], negative[:15], positive[35:185], negative[15:165]])
    return X[rows], np.repeat([1, -1, 0], [35, 15, 300])


def seconds(run: Callable[[], object], repeats: int) -> float:
    """The least of several timings: the machine's noise only ever adds."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def grid_search_seconds(X: np.ndarray, y: np.ndarray, bandwidths: np.ndarray) -> float:
    """GridSearchCV over pywsl's classifier on a random part of the grid, scaled up to all of it."""
    rng = np.random.default_rng(0)
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
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return seconds(lambda: search.fit(X, y), 1) * len(bandwidths) * len(ETAS) * len(ALPHAS) / GRID_SAMPLE


def linear_algebra_seconds(X: np.ndarray, bandwidths: np.ndarray) -> float:
    """What no exact shared grid can do without: per bandwidth a kernel, per fold one eigendecomposition of U's side."""
    distances = ((X[:, None] - X[None]) ** 2).sum(axis=-1)

    def floor() -> None:
        for bandwidth in bandwidths:
            kernel = np.exp(-distances / (2 * bandwidth**2))
            for _ in range(5):
                rows = kernel[50:290]
                np.linalg.eigh(rows @ rows.T)

    return seconds(floor, 2)


def main() -> None:
    print(f"{'set':8} {'ours, best':>11} {'average':>9} {'2 threads':>10} {'FastCV':>8} {'GridSearchCV*':>14}   ratios")
    for name, dimension in (("banana", 2), ("german", 20)):
        X, y = draw(*load(name, dimension), seed=0)
        bandwidths = np.median(pdist(X)) * np.array(BANDWIDTH_FACTORS)
        options = {"prior": PRIOR, "bandwidth": bandwidths, "centers": "all", "unlabeled": 0, "random_state": 0}
        best = seconds(lambda: PNUClassifier(selection="best", **options).fit(X, y), REPEATS)  # noqa: B023
        average = seconds(lambda: PNUClassifier(**options).fit(X, y), REPEATS)  # noqa: B023
        two = seconds(lambda: PNUClassifier(selection="best", n_jobs=2, **options).fit(X, y), REPEATS)  # noqa: B023
        fast = seconds(
            lambda: PNU_SL_FastCV(X, y, PRIOR, ETAS, 5, "gauss", bandwidths, 4 * ALPHAS, N_CENTERS),  # noqa: B023
            2,
        )
        slow = grid_search_seconds(X, y, bandwidths)
        floor = linear_algebra_seconds(X, bandwidths)
        print(f"{name:8} {best:10.3f}s {average:8.3f}s {two:9.3f}s {fast:7.2f}s {slow:13.1f}s   ", end="")
        print(f"FastCV / best {fast / best:.1f}, FastCV / average {fast / average:.1f}, ", end="")
        print(f"GridSearchCV / best {slow / best:.0f}, one / two threads {best / two:.2f}, ", end="")
        print(f"best / unavoidable linear algebra {best / floor:.2f}")
    print(f"* extrapolated from {GRID_SAMPLE} of 1,008 candidates, 5 folds each")


if __name__ == "__main__":
    main()
