"""What the unlabelled rows buy, on data that comes with scikit-learn."""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import minmax_scale

from pnulearn.classifier import PNUClassifier

N_MALIGNANT, N_BENIGN, N_UNLABELED = 7, 3, 300
SEEDS = range(8)


def run() -> None:
    """Hide most labels of the breast-cancer data, shift the labelled class ratio, compare PN with PNU."""
    start = time.perf_counter()
    X, malignant = load_data()
    print(f"Breast cancer: {len(X)} tumours, {X.shape[1]} columns, {malignant.mean():.0%} malignant.")
    print(
        f"Labels kept: {N_MALIGNANT} malignant, {N_BENIGN} benign (so {N_MALIGNANT / (N_MALIGNANT + N_BENIGN):.0%} of "
        f"the labels are malignant); {N_UNLABELED} rows unlabelled; the rest is for testing.\n"
    )
    errors = []
    for seed in SEEDS:
        y, test = hide_labels(malignant, seed)
        train = np.setdiff1d(np.arange(len(X)), test)
        models = {risk: PNUClassifier(risk=risk, random_state=seed).fit(X[train], y[train]) for risk in ("pnu", "pn")}
        errors.append([np.mean(models[risk].predict(X[test]) != malignant[test]) for risk in ("pn", "pnu")])
        if seed == 0:
            _describe(models["pnu"], malignant[train].mean())
        print(f"seed {seed}: test error  PN {errors[-1][0]:6.1%}   PNU {errors[-1][1]:6.1%}")
    pn, pnu = np.mean(errors, axis=0)
    print(f"\nmean over {len(errors)} seeds:    PN {pn:6.1%}   PNU {pnu:6.1%}    ({time.perf_counter() - start:.1f} s)")


def load_data() -> tuple[NDArray, NDArray]:
    """Features scaled to [0, 1], and 1.0 for malignant."""
    X, benign = load_breast_cancer(return_X_y=True)
    return minmax_scale(X), 1.0 - benign


def hide_labels(malignant: NDArray, seed: int) -> tuple[NDArray, NDArray]:
    """y with NaN for hidden labels, and the numbers of the test rows."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(malignant))
    labeled = np.concatenate(
        [order[malignant[order] == value][:count] for value, count in ((1, N_MALIGNANT), (0, N_BENIGN))]
    )
    rest = order[~np.isin(order, labeled)]
    y = np.full(len(malignant), np.nan)
    y[labeled] = malignant[labeled]
    return y, rest[N_UNLABELED:]


def _describe(model: PNUClassifier, true_share: float) -> None:
    low, high = model.prior_interval_
    print(
        f"Class prior: {model.prior_:.2f}, interval {low:.2f} to {high:.2f} (true share in the rows: {true_share:.2f})"
    )
    print(f"Candidates searched: {model.search_.weight.size} models x {model.cv} folds")
    print(f"Best candidate: mix {model.mix_:+.1f}, alpha {model.alpha_:g}, bandwidth {model.bandwidth_:.2f}")
    print(f"Validation risk from 10 labels and the unlabelled rows: {model.risk_}\n")
