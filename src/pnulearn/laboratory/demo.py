"""What the unlabelled rows buy, on data that comes with scikit-learn."""

from __future__ import annotations

import time

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import minmax_scale

from pnulearn._arrays import AnyArray
from pnulearn._estimators.classifier import PNUClassifier

N_MALIGNANT, N_BENIGN, N_UNLABELED = 21, 9, 300
SEEDS = range(6)
MODELS = {
    "labelled rows only": "supervised, which takes the class ratio of the labels for granted",
    "PN": "the labelled rows, weighted to the class prior found from the unlabelled ones",
    "PNU": "all rows in the risk",
}


def run() -> None:
    """Hide most labels of the breast-cancer data, shift the labelled class ratio, compare PN with PNU."""
    start = time.perf_counter()
    X, malignant = load_data()
    n_labeled = N_MALIGNANT + N_BENIGN
    print(f"Breast cancer: {len(X)} tumours, {X.shape[1]} columns, {malignant.mean():.0%} malignant.")
    print(
        f"Labels kept: {N_MALIGNANT} malignant and {N_BENIGN} benign, which is {N_MALIGNANT / n_labeled:.0%} malignant."
    )
    print(f"{N_UNLABELED} rows are unlabelled, the rest is for testing.\n")
    for name, words in MODELS.items():
        print(f"  {name:18} {words}")
    print()
    errors = [_errors(X, malignant, seed) for seed in SEEDS]
    print(f"\n{'Test error':12}" + "".join(f"{title:>20}" for title in MODELS))
    for seed, row in zip(SEEDS, errors, strict=True):
        _print_row(f"seed {seed}", row)
    _print_row("mean", np.mean(errors, axis=0))
    print(f"\n{time.perf_counter() - start:.1f} s")


def _errors(X: AnyArray, malignant: AnyArray, seed: int) -> list[float]:
    """Test errors of the three models; the first seed's PNU model is described."""
    y, test = hide_labels(malignant, seed)
    train = np.setdiff1d(np.arange(len(X)), test)
    labeled = np.flatnonzero(~np.isnan(y))
    supervised = PNUClassifier("pn", random_state=seed).fit(X[labeled], y[labeled])
    pn = PNUClassifier("pn", random_state=seed).fit(X[train], y[train])
    pnu = PNUClassifier(random_state=seed).fit(X[train], y[train])
    if seed == SEEDS[0]:
        _describe(pnu, malignant[train].mean())
    return [float(np.mean(model.predict(X[test]) != malignant[test])) for model in (supervised, pn, pnu)]


def _print_row(name: str, errors: list[float] | AnyArray) -> None:
    print(f"{name:12}" + "".join(f"{error:>20.1%}" for error in errors))


def load_data() -> tuple[AnyArray, AnyArray]:
    """Features scaled to [0, 1], and 1.0 for malignant."""
    X, benign = load_breast_cancer(return_X_y=True)
    return minmax_scale(X), 1.0 - benign


def hide_labels(malignant: AnyArray, seed: int) -> tuple[AnyArray, AnyArray]:
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
    """What the search found out on the way."""
    interval = ""
    if model.prior_interval_ is not None:
        interval = ", interval {:.2f} to {:.2f}".format(*model.prior_interval_)
    print(f"Class prior: {model.prior_:.2f}{interval} (true share in these rows: {true_share:.2f})")
    print(f"Searched: {model.search_.weight.size} candidates x {model.cv} folds")
    print(f"Best candidate: mix {model.mix_:+.1f}, alpha {model.alpha_:g}, bandwidth {model.bandwidth_:.2f}")
    print(f"Validation risk: {model.risk_}")
