"""Ten classes, five labels each, shifted class shares: does PNU beat the supervised fit of the same model?

scikit-learn's digits; 400 unlabelled rows in which 0 to 4 are three times as common as 5 to 9, and errors weighted
to the same shares. Three models: the labelled rows only; the same with the true shares known (PN); all rows (PNU).
"""

from __future__ import annotations

import os

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")  # before NumPy starts its threads

import argparse
from collections.abc import Sequence

import numpy as np
from scipy.stats import ttest_rel
from sklearn.datasets import load_digits

from pnulearn import PNUClassifier

SHARES = np.array([3, 3, 3, 3, 3, 1, 1, 1, 1, 1]) / 20
N_LABELED, N_UNLABELED = 5, 400


def draw(digit: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Row numbers for training, their labels with NaN for unlabelled, and row numbers for testing."""
    rng = np.random.default_rng(seed)
    pools = [rng.permutation(np.flatnonzero(digit == k)) for k in range(10)]
    sizes = (N_UNLABELED * SHARES).round().astype(int)
    labeled = np.concatenate([pool[:N_LABELED] for pool in pools])
    unlabeled = np.concatenate([pool[N_LABELED : N_LABELED + n] for pool, n in zip(pools, sizes, strict=True)])
    test = np.concatenate([pool[N_LABELED + n :] for pool, n in zip(pools, sizes, strict=True)])
    y = np.concatenate([digit[labeled], np.full(len(unlabeled), np.nan)])
    return np.concatenate([labeled, unlabeled]), y, test


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=20)
    X, digit = load_digits(return_X_y=True)
    X = X / 16
    errors = []
    for seed in range(parser.parse_args().seeds):
        rows, y, test = draw(digit, seed)
        weight = (SHARES / np.bincount(digit[test]))[digit[test]]
        labeled, shares = ~np.isnan(y), dict(enumerate(SHARES))
        models = [
            PNUClassifier("pn", random_state=seed).fit(X[rows][labeled], y[labeled]),
            PNUClassifier("pn", prior=shares, random_state=seed).fit(X[rows], y),
            PNUClassifier("pnu", prior=shares, random_state=seed).fit(X[rows], y),
        ]
        errors.append([1 - model.score(X[test], digit[test], sample_weight=weight) for model in models])
        print(f"seed {seed:2}: " + describe(errors[-1]), flush=True)
    print(f"mean of {len(errors)}: " + describe(np.mean(errors, axis=0)))
    supervised, _, pnu = np.transpose(errors)
    print(f"PNU against labelled rows only, paired t-test: p = {ttest_rel(supervised, pnu).pvalue:.2g}")


def describe(errors: Sequence[float]) -> str:
    return "labelled rows only {:.1%}, PN with known shares {:.1%}, PNU {:.1%}".format(*errors)


if __name__ == "__main__":
    main()
