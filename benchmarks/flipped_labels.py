"""Wrong labels: does a bounded loss (ramp) do better than the squared loss when a fifth of the labels is flipped?

Banana: labelled rows, of which one in five carries the other class's label, and 300 unlabelled rows; the share of
positives is known. Both losses get the same rows, folds and candidates (bandwidth, mix, alpha), which are judged by
cross-validation on the flipped labels, as one would have to in practice. Errors are counted on 2,000 other rows with
true labels; the last column is the paired difference to the squared loss with its standard error.

Labels are flipped in one of three ways: `even` anywhere; `one_sided` among positives only; `deep` where a mistake
weighs most, the labelled rows that lie deepest in their class (the mean distance to the nearest ten rows of the other
class less that to the nearest ten of their own).

Real data from the folder PNULEARN_DATA (banana.npz with X and y), otherwise generated bananas; `--data gaussians` are
two round clouds, three standard deviations apart, for the linear model. One BLAS thread.

    python benchmarks/flipped_labels.py [--data banana] [--trials 30] [--labels 50 100 200] [--risks pn pnu]
        [--kernel rbf] [--flips even] [--share 0.2] [--losses squared ramp] [--selection average]
"""

from __future__ import annotations

import os

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")  # before NumPy starts its threads

import argparse

import numpy as np
from real_sets import real_set
from scipy.spatial.distance import cdist
from sklearn.preprocessing import minmax_scale

from experiments.datasets import bananas, two_gaussians
from pnulearn import PNUClassifier
from pnulearn._kernels.centers import median_distance

N_UNLABELED, N_TEST = 300, 2000
ALPHAS, BANDWIDTHS, MIXES = np.logspace(-4, 0, 5), (1 / 4, 1 / 2, 1), (-0.5, 0.0, 0.5)


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Rows scaled to [0, 1], labels ±1."""
    if name == "gaussians":
        X, y = two_gaussians(np.random.default_rng(0), 5000, distance=3.0)
        return minmax_scale(X), y
    found = real_set("banana")
    if found is not None:
        return found
    print("banana: not at hand (set PNULEARN_DATA to a folder with banana.npz), generated bananas instead")
    X, y = bananas(np.random.default_rng(0), 5000)
    return minmax_scale(X), y


def flipped(X: np.ndarray, y: np.ndarray, way: str, share: float, rng: np.random.Generator) -> np.ndarray:
    """Labels of which a share is wrong."""
    order = rng.permutation(np.flatnonzero(y == 1)) if way == "one_sided" else rng.permutation(len(y))
    if way == "deep":
        near = [np.sort(cdist(X, X[y == label]), axis=1)[:, 1:11].mean(axis=1) for label in (1, -1)]
        order = np.argsort(y * (near[0] - near[1]))
    y = y.copy()
    y[order[: round(share * len(y))]] *= -1
    return y


def errors(X: np.ndarray, y: np.ndarray, seed: int, n_labeled: int, risk: str, options: argparse.Namespace) -> list:
    """Test error of every loss for one draw of rows and flips."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(y))
    train, test = order[: n_labeled + N_UNLABELED], order[n_labeled + N_UNLABELED :][:N_TEST]
    labels = np.full(len(train), np.nan)
    labels[:n_labeled] = flipped(X[train[:n_labeled]], y[train[:n_labeled]], options.flips, options.share, rng)
    search = {"alpha": ALPHAS, "prior": float(np.mean(y == 1)), "selection": options.selection, "random_state": seed}
    if options.kernel == "rbf":
        search["bandwidth"] = median_distance(X[train]) * np.array(BANDWIDTHS)
    if risk == "pnu":
        search["mix"] = MIXES
    models = (PNUClassifier(risk, loss, options.kernel, **search) for loss in options.losses)
    return [np.mean(model.fit(X[train], labels).predict(X[test]) != y[test]) for model in models]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", choices=["banana", "gaussians"], default="banana")
    parser.add_argument("--trials", type=int, default=30)
    parser.add_argument("--labels", type=int, nargs="+", default=[50, 100, 200])
    parser.add_argument("--risks", nargs="+", default=["pn", "pnu"])
    parser.add_argument("--kernel", default="rbf")
    parser.add_argument("--flips", choices=["even", "one_sided", "deep"], default="even")
    parser.add_argument("--share", type=float, default=0.2)
    parser.add_argument("--losses", nargs="+", default=["squared", "ramp"])
    parser.add_argument("--selection", default="average")
    options = parser.parse_args()
    X, y = load(options.data)
    print(f"{options.data}, {options.kernel}, {options.share:.0%} of the labels flipped ({options.flips})")
    print(f"{'risk':6}{'labels':>7}  {'loss':14}{'error %':>8}{'less squared':>20}")
    for risk in options.risks:
        for n_labeled in options.labels:
            table = 100 * np.array([errors(X, y, s, n_labeled, risk, options) for s in range(options.trials)])
            for loss, mean, gap in zip(options.losses, table.mean(axis=0), (table - table[:, :1]).T, strict=True):
                spread = gap.std(ddof=1) / np.sqrt(len(gap))
                print(f"{risk:6}{n_labeled:7}  {loss:14}{mean:8.2f}{gap.mean():12.2f} ± {spread:.2f}", flush=True)


if __name__ == "__main__":
    main()
