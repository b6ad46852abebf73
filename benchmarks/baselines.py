"""Seconds per fit of the baselines, and what sharing a factorisation over the grid saves.

    python benchmarks/baselines.py                       # Gaussian blobs
    PNULEARN_DATA=folder python benchmarks/baselines.py  # banana, spambase and waveform from a folder of npz with X, y
    python benchmarks/baselines.py large [5000]          # that many unlabelled rows: seconds and peak memory

One BLAS thread; CPU time, because wall time on a shared machine measures the neighbours.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from sklearn.preprocessing import minmax_scale
from threadpoolctl import threadpool_limits

from pnulearn.baselines import EntropyRegularizedClassifier, LaplacianSVM, SMIRClassifier
from pnulearn.baselines._base import Baseline, BaselineTraining, bandwidth_candidates, gram
from pnulearn.baselines._lapsvm import hinge_machine, laplacian, neighbor_graph

N_POSITIVE, N_NEGATIVE, N_UNLABELED = 35, 15, 300
LARGE = ("LaplacianSVM, one model", "LaplacianSVM, 8 x 8 grid", "SMIRClassifier, one model")


def problems() -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Name, rows and labels (NaN for unlabelled) of every problem, 50 labelled and 300 unlabelled rows."""
    folder = os.environ.get("PNULEARN_DATA")
    if folder is None:
        print("# Gaussian blobs only: set PNULEARN_DATA to a folder of npz files with X and y for real data")
        truth = np.repeat([1, 0, 1, 0], [N_POSITIVE, N_NEGATIVE, N_UNLABELED // 2, N_UNLABELED // 2])
        yield "blobs", np.random.default_rng(0).normal(size=(len(truth), 10)) + truth[:, None], partly(truth)
        return
    for name in ("banana", "spambase", "waveform"):
        with np.load(Path(folder) / f"{name}.npz") as file:
            X, truth = minmax_scale(file["X"].astype(float)), (file["y"] > 0).astype(int)
        rng = np.random.default_rng(0)
        positive, negative = (rng.permutation(np.flatnonzero(truth == k)) for k in (1, 0))
        p, n = np.cumsum([N_POSITIVE, N_UNLABELED // 2]), np.cumsum([N_NEGATIVE, N_UNLABELED // 2])
        rows = np.concatenate([positive[: p[0]], negative[: n[0]], positive[p[0] : p[1]], negative[n[0] : n[1]]])
        yield name, X[rows], partly(truth[rows])


def partly(truth: np.ndarray) -> np.ndarray:
    return np.where(np.arange(len(truth)) < N_POSITIVE + N_NEGATIVE, truth, np.nan)


def seconds(work: Callable[[], object], repeats: int = 3) -> float:
    times = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def baselines(bandwidth: float) -> dict[str, tuple[Baseline, Baseline]]:
    """For every baseline, one fixed model and the search over the paper's grid."""
    common = {"prior": 0.5, "random_state": 0}
    fixed = {"bandwidth": bandwidth, **common}
    return {
        "EntropyRegularizedClassifier": (
            EntropyRegularizedClassifier(alpha=1e-3, entropy=0.1, **fixed),
            EntropyRegularizedClassifier(**common),
        ),
        "LaplacianSVM, squared hinge": (LaplacianSVM(alpha=1e-3, manifold=1.0, **fixed), LaplacianSVM(**common)),
        "LaplacianSVM, hinge": (
            LaplacianSVM(alpha=1e-3, manifold=1.0, loss="hinge", **fixed),
            LaplacianSVM(loss="hinge", **common),
        ),
        "SMIRClassifier": (SMIRClassifier(information=0.1, **fixed), SMIRClassifier(**common)),
    }


def fits(name: str, X: np.ndarray, y: np.ndarray) -> None:
    """One model; the whole grid validated on held-out rows; the whole grid by five folds."""
    for baseline, (fixed, searching) in baselines(bandwidth_candidates("rbf", X)[3]).items():
        one = seconds(lambda model=fixed: model.fit(X, y))
        held_out = seconds(lambda model=searching: model.fit(X, y, X_val=X[:50:2], y_val=y[:50:2]), 1)
        folds = seconds(lambda model=searching: model.fit(X, y), 1)
        n_candidates = searching.search_.weight.size
        print(f"| {name} | {baseline} | {one:.3f} | {n_candidates} | {held_out:.2f} | {folds:.2f} |", flush=True)


def full_newton(X: np.ndarray, y: np.ndarray, bandwidth: float) -> np.ndarray:
    """One Laplacian SVM as its reference code solves it: Newton steps with an n x n system each."""
    K, bent, n = *naive_matrices(X, bandwidth), len(X)
    labeled, signs = ~np.isnan(y), 2 * np.nan_to_num(y, nan=0.5) - 1
    weight = np.where(signs > 0, 0.5 / N_POSITIVE, 0.5 / N_NEGATIVE)
    active = labeled
    for _ in range(50):
        c = weight * active
        system = np.empty((n + 1, n + 1))
        system[0, 0], system[0, 1:], system[1:, 0] = 0, 1, c
        system[1:, 1:] = c[:, None] * K + bent
        solution = np.linalg.solve(system, np.concatenate([[0], c * signs]))
        before, active = active, labeled & (signs * (K @ solution[1:] + solution[0]) < 1)
        if np.array_equal(before, active):
            break
    return solution


def full_solve(X: np.ndarray, y: np.ndarray, bandwidth: float) -> np.ndarray:
    """One Laplacian SVM with the hinge as Belkin et al. write it: an n x n solve, then a quadratic programme."""
    K, bent = naive_matrices(X, bandwidth)
    labeled = np.flatnonzero(~np.isnan(y))
    columns = np.linalg.solve(bent, np.eye(len(X))[:, labeled])
    weight = np.where(y[labeled] == 1, 0.5 / N_POSITIVE, 0.5 / N_NEGATIVE)
    beta, _ = hinge_machine(K[labeled] @ columns, 2 * y[labeled] - 1, weight)
    return columns @ beta


def naive_matrices(X: np.ndarray, bandwidth: float) -> tuple[np.ndarray, np.ndarray]:
    """K, and αI + γLK with dense matrices."""
    K = gram("rbf", X, X, bandwidth)
    return K, 1e-3 * np.eye(len(X)) + laplacian(neighbor_graph(X)).toarray() @ K / len(X) ** 2


def grid_against_one(name: str, X: np.ndarray, y: np.ndarray) -> None:
    """All 64 penalties of the Laplacian SVM from rows to coefficients, as a multiple of one naive fit."""
    codes = np.where(np.isnan(y), -1, np.nan_to_num(y)).astype(int)
    bandwidth = bandwidth_candidates("rbf", X)[3]
    for loss, naive in (("squared_hinge", full_newton), ("hinge", full_solve)):
        model = LaplacianSVM(loss=loss)
        values = model._grid()
        grid = [{"alpha": alpha, "manifold": manifold} for alpha in values["alpha"] for manifold in values["manifold"]]

        def whole_grid(model: LaplacianSVM = model, grid: list = grid) -> list:
            training = BaselineTraining(X, gram("rbf", X, X, bandwidth), codes, np.array([0.5, 0.5]))
            return list(model._learn(training, grid))

        one, many = seconds(lambda naive=naive: naive(X, y, bandwidth), 15), seconds(whole_grid, 5)
        print(f"| {name} | {loss} | {1000 * one:.1f} | {1000 * many:.1f} | {many / one:.1f} |", flush=True)


def large(which: str, n_unlabeled: int) -> None:
    """One large fit; memory is the peak beyond what was in use before, in n x n matrices of doubles."""
    rng = np.random.default_rng(0)
    n = N_POSITIVE + N_NEGATIVE + n_unlabeled
    truth = np.arange(n) % 2
    X, y = rng.normal(size=(n, 10)) + truth[:, None], partly(truth)
    options = {"bandwidth": 3.0, "prior": 0.5, "verbose": 1}
    model: Baseline = LaplacianSVM(**options)
    if which.endswith("one model"):
        fixed = {"information": 0.1} if which.startswith("SMIR") else {"alpha": 1e-3, "manifold": 1.0}
        model = (SMIRClassifier if which.startswith("SMIR") else LaplacianSVM)(**options, **fixed)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    model.fit(X, y, X_val=X[:50], y_val=truth[:50])
    peak = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    print(f"| {which} | {n} | {time.process_time() - start:.0f} | {peak / (8 * n * n):.2f} |", flush=True)


def main() -> None:
    command = sys.argv[1] if len(sys.argv) > 1 else "fits"
    if command == "large":
        n_unlabeled = sys.argv[2] if len(sys.argv) > 2 else "5000"
        print("| fit | rows | CPU s | peak memory / 8n² bytes |\n|---|---|---|---|", flush=True)
        for which in LARGE:  # a process each, because a process never gives its peak back
            subprocess.run([sys.executable, __file__, "one", which, n_unlabeled], check=True)
        return
    if command == "one":
        return large(sys.argv[2], int(sys.argv[3]))
    found = list(problems())
    print("| set | loss | one naive fit, ms | 8 x 8 grid, ms | ratio |\n|---|---|---|---|---|")
    for problem in found:
        grid_against_one(*problem)
    print("\n| set | baseline | one model, s | candidates | all, held-out set, s | all, five folds, s |")
    print("|---|---|---|---|---|---|")
    for problem in found:
        fits(*problem)


if __name__ == "__main__":
    with threadpool_limits(limits=1):
        main()
