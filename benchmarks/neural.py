"""Neural networks on the PNU risks: what unlabelled rows and the non-negative rule buy, over a training run.

One hidden layer of 100 units, sigmoid loss, Adam; the prior is known, mix and epochs were fixed beforehand. Half of
the labelled rows are positive, but only 30 % of the population. Sets: even or odd digits (part of scikit-learn) and,
where the folder PNULEARN_DATA holds mnist_4v9.npz, four or nine. Prints test errors in % after the last epoch, mean and
standard error over seeds, the unbiased risk of the training rows, and in how many seeds the error was below PN's.

    python benchmarks/neural.py [--seeds 20] [--epochs 50]
"""

from __future__ import annotations

import os

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")  # before NumPy starts its threads

import argparse
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from sklearn.datasets import load_digits

from pnulearn import risks
from pnulearn.torch import PNUBatchSampler, PNULoss, label_codes

PRIOR, N_LABELED, N_UNLABELED = 0.3, 10, 600  # N_LABELED of each class
METHODS = {
    "PN": (0.0, False),
    "PU, unbiased": (1.0, False),
    "PU, non-negative": (1.0, True),
    "PNU 0.5, unbiased": (0.5, False),
    "PNU 0.5, non-negative": (0.5, True),
}


def sets() -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Names, features in [0, 1] and labels 1 and 0."""
    X, digit = load_digits(return_X_y=True)
    yield "digits, even or odd", X / 16, digit % 2
    file = Path(os.environ.get("PNULEARN_DATA", "")) / "mnist_4v9.npz"
    if "PNULEARN_DATA" not in os.environ or not file.is_file():
        print("mnist_4v9: left out (set PNULEARN_DATA to a folder with mnist_4v9.npz: X pixels, y ±1)")
        return
    with np.load(file) as data:
        yield "MNIST, 4 or 9", data["X"] / 255.0, (data["y"] == 1).astype(int)


def draw(y: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows to train on, their labels with NaN for unlabelled, and rows to test on, in the population's shares."""
    rng = np.random.default_rng(seed)
    pools = {label: rng.permutation(np.flatnonzero(y == label)) for label in (1, 0)}
    sizes = {1: round(PRIOR * N_UNLABELED), 0: round((1 - PRIOR) * N_UNLABELED)}
    labeled = np.concatenate([pools[label][:N_LABELED] for label in (1, 0)])
    unlabeled = np.concatenate([pools[label][N_LABELED : N_LABELED + sizes[label]] for label in (1, 0)])
    test = np.concatenate([pools[label][N_LABELED + sizes[label] :] for label in (1, 0)])
    return (
        np.concatenate([labeled, unlabeled]),
        np.concatenate([y[labeled], np.full(len(unlabeled), np.nan)]),
        test,
    )


def train(X: np.ndarray, y: np.ndarray, method: str, seed: int, epochs: int) -> tuple[torch.nn.Module, float]:
    """The trained network and its unbiased risk on the training rows."""
    eta, nonnegative = METHODS[method]
    torch.manual_seed(seed)
    rows, codes = torch.tensor(X, dtype=torch.float32), label_codes(y)
    net = torch.nn.Sequential(torch.nn.Linear(X.shape[1], 100), torch.nn.ReLU(), torch.nn.Linear(100, 1))
    loss = PNULoss(risks.pnu(PRIOR, eta), "sigmoid", nonnegative=nonnegative)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3, weight_decay=5e-3)
    batches = PNUBatchSampler(codes, 120, random_state=seed)
    for _ in range(epochs):
        for batch in batches:
            optimizer.zero_grad()
            loss(net(rows[batch]), codes[batch]).backward()
            optimizer.step()
    with torch.no_grad():
        return net, PNULoss(loss.risk, "sigmoid", nonnegative=False)(net(rows), codes).item()


def error(net: torch.nn.Module, X: np.ndarray, y: np.ndarray) -> float:
    """Test error with the classes weighted to the population's shares."""
    with torch.no_grad():
        wrong = (net(torch.tensor(X, dtype=torch.float32))[:, 0] > 0).numpy() != y
    return PRIOR * wrong[y == 1].mean() + (1 - PRIOR) * wrong[y == 0].mean()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--epochs", type=int, default=50)
    options = parser.parse_args()
    torch.set_num_threads(1)
    for name, X, y in sets():
        start = time.process_time()
        print(f"\n{name}: {N_LABELED} + {N_LABELED} labels, {N_UNLABELED} unlabelled, {options.epochs} epochs")
        results: dict[str, list[tuple[float, float]]] = {method: [] for method in METHODS}
        for seed in range(options.seeds):
            rows, labels, test = draw(y, seed)
            for method, outcome in results.items():
                net, risk = train(X[rows], labels, method, seed, options.epochs)
                outcome.append((100 * error(net, X[test], y[test]), risk))
        for method, outcome in results.items():
            errors, training = np.transpose(outcome)
            better = int(np.sum(errors < np.transpose(results["PN"])[0]))
            spread = errors.std(ddof=1) / np.sqrt(len(errors))
            print(
                f"{method:22} error {errors.mean():5.1f} ± {spread:.1f}   training risk {training.mean():6.3f}   "
                f"better than PN in {better} of {len(errors)}"
            )
        print(f"{time.process_time() - start:.0f} s of processor time")


if __name__ == "__main__":
    main()
