"""Networks by PN, PU, nnPU and PNU risks on small handwritten digits, even or odd, as nnPU's paper has it for MNIST.

    python benchmarks/networks.py [--draws 5] [--ways one] [--rows FILE] [--out FILE]

Two settings on scikit-learn's digits. "nnPU": Kiryo et al. (NeurIPS 2017), even digits positive, 100 positives, 1,000
unlabelled rows in the population's shares, and for PN (and PNU) their number of negatives, ((1 − θ) / 2θ)² n_P. "few
labels": ten of each class, 600 unlabelled rows of which 30 % are positive. The prior is known; two hidden layers of 100
units, sigmoid loss, Adam, and nothing was tuned. Every method twice: one network after 100 epochs, as in the paper, and
the manner of `PNUNetClassifier`, three networks that stop by the held-out risk and are averaged. Rows are appended when
they are done; a second run goes on where the first stopped.
"""

from __future__ import annotations

import os

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")  # before NumPy starts its threads

import argparse
import json
import sys
import time
import warnings
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sklearn.datasets import load_digits

from pnulearn.torch import PNUNetClassifier

SETTINGS: dict[str, dict[str, Any]] = {
    "nnPU": {"n_positive": 100, "n_negative": None, "n_unlabeled": 1000, "prior": None},
    "few labels": {"n_positive": 10, "n_negative": 10, "n_unlabeled": 600, "prior": 0.3},
}
METHODS: dict[str, dict[str, Any]] = {
    "PN": {"risk": "pn"},
    "PU, unbiased": {"risk": "pu", "nonnegative": False},
    "nnPU": {"risk": "pu"},
    "nnPNU": {"risk": "pnu"},
}
WAYS: dict[str, tuple[str, dict[str, Any]]] = {
    "one": ("one network, 100 epochs", {"cv": None}),
    "three": ("three networks, stopped and averaged", {"cv": 3}),
}
COMMON = {"network": (100, 100), "batch_size": 256, "max_epochs": 100}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--ways", nargs="*", choices=WAYS, default=list(WAYS))
    parser.add_argument("--rows", type=Path, default=Path("results/rows/networks.jsonl"))
    parser.add_argument("--out", type=Path, default=Path("results/networks.md"))
    options = parser.parse_args()
    torch.set_num_threads(1)
    rows = read(options.rows)
    done = {(row["setting"], row["draw"], row["way"]) for row in rows}
    for problem in product(SETTINGS, range(options.draws), options.ways):
        if problem in done:
            continue
        start = time.process_time()
        found = list(measure(*problem))
        with options.rows.open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in found)
        print(f"{problem}: {time.process_time() - start:.0f} s", file=sys.stderr, flush=True)
    options.out.write_text(page(read(options.rows)), encoding="utf-8")


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def measure(setting: str, seed: int, way: str) -> Iterator[dict[str, Any]]:
    """A row for every method."""
    X, digit = load_digits(return_X_y=True)
    X, y = X / 16, (digit % 2 == 0).astype(int)
    train, labels, test, prior = draw(y, seed, **SETTINGS[setting])
    for method, own in METHODS.items():
        hidden = labels == 0 if own["risk"] == "pu" else np.zeros(len(labels), dtype=bool)  # PU never sees a negative
        model = PNUNetClassifier(prior=prior, random_state=seed, **COMMON, **own, **WAYS[way][1])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X[train][~hidden], labels[~hidden])
        wrong = model.predict(X[test]) != y[test]
        error = prior * wrong[y[test] == 1].mean() + (1 - prior) * wrong[y[test] == 0].mean()
        judged = {"low": model.risk_.low, "high": model.risk_.high} if model.risk_ else {}
        row = {"setting": setting, "draw": seed, "method": method, "way": way, "error": round(100 * error, 3)}
        yield row | {"training_risk": float(model.training_risks_[-1]), "epochs": model.n_epochs_} | judged


def draw(
    y: np.ndarray, seed: int, n_positive: int, n_negative: int | None, n_unlabeled: int, prior: float | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """Rows to train on, their labels with NaN for unlabelled, rows to test on, and the prior."""
    rng = np.random.default_rng(seed)
    share = float(y.mean()) if prior is None else prior
    n_negative = round(((1 - share) / (2 * share)) ** 2 * n_positive) if n_negative is None else n_negative
    hidden = round(share * n_unlabeled)
    parts = []
    for label, n_known, n_hidden in ((1, n_positive, hidden), (0, n_negative, n_unlabeled - hidden)):
        rows = rng.permutation(np.flatnonzero(y == label))
        parts.append(np.split(rows, [n_known, n_known + n_hidden]))
    train = np.concatenate([parts[0][0], parts[1][0], parts[0][1], parts[1][1]])
    labels = np.repeat([1, 0, np.nan], [n_positive, n_negative, n_unlabeled])
    return train, labels, np.concatenate([parts[0][2], parts[1][2]]), share


def page(rows: list[dict[str, Any]]) -> str:
    lines = [
        "# Networks by PN, PU, nnPU and PNU risks",
        "",
        "Written by `python benchmarks/networks.py`, whose first lines describe the protocol: scikit-learn's",
        "handwritten digits, even or odd, prior known, two hidden layers of 100 units, sigmoid loss, Adam, nothing",
        "tuned. Test error in %, mean ± standard error over draws; in brackets the number of draws in which it was",
        "below PN's, trained the same way.",
    ]
    for setting, numbers in SETTINGS.items():
        chosen = [row for row in rows if row["setting"] == setting]
        about = ", ".join(f"{name} = {value}" for name, value in numbers.items() if value is not None)
        lines += ["", f"## {setting} ({about})"]
        for way, (words, _) in WAYS.items():
            lines += table([row for row in chosen if row["way"] == way], words)
    return "\n".join([*lines, ""])


def table(rows: list[dict[str, Any]], words: str) -> list[str]:
    """Errors of all methods, and differences on the same draws; a way that was not run has none."""
    n_draws = len({row["draw"] for row in rows})
    if n_draws < 2:
        return ["", f"{words[0].upper()}{words[1:]}: not run."]
    lines = ["", f"{words[0].upper()}{words[1:]}, {n_draws} draws:", ""]
    lines += ["| | error | training risk in the last epoch |", "|---|---|---|"]
    for method in METHODS:
        risks = [row["training_risk"] for row in of(rows, method)]
        lines.append(f"| {method} | {cell(rows, method)} | {np.mean(risks):.3f} |")
    pairs = (("nnPU", "PU, unbiased"), ("nnPU", "PN"), ("nnPNU", "nnPU"), ("nnPNU", "PN"))
    gaps = [f"{first} less {second} {difference(rows, first, second)}" for first, second in pairs]
    lines += ["", f"Differences on the same draws, in points: {'; '.join(gaps)}."]
    judged = [row for row in rows if "low" in row]
    if judged:
        held = np.mean([row["low"] <= row["error"] / 100 <= row["high"] for row in judged])
        lines += ["", f"The 95 % interval of `risk_` held the test error in {100 * held:.0f} % of {len(judged)} fits."]
    return lines


def of(rows: list[dict[str, Any]], method: str) -> list[dict[str, Any]]:
    return sorted((row for row in rows if row["method"] == method), key=lambda row: row["draw"])


def errors_of(rows: list[dict[str, Any]], method: str) -> np.ndarray:
    return np.array([row["error"] for row in of(rows, method)])


def cell(rows: list[dict[str, Any]], method: str) -> str:
    errors = errors_of(rows, method)
    better = "" if method == "PN" else f" ({int(np.sum(errors < errors_of(rows, 'PN')))} of {len(errors)})"
    return f"{errors.mean():.1f} ± {errors.std(ddof=1) / np.sqrt(len(errors)):.1f}{better}"


def difference(rows: list[dict[str, Any]], first: str, second: str) -> str:
    gap = errors_of(rows, first) - errors_of(rows, second)
    return f"{gap.mean():+.1f} ± {gap.std(ddof=1) / np.sqrt(len(gap)):.1f}"


if __name__ == "__main__":
    main()
