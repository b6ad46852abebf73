"""Sparse linear models: the full default search on text-like rows, and one LogisticRegressionCV on the labelled ones.

python benchmarks/sparse_text.py [ROWS COLUMNS LABELS]: processor time and largest memory, each in its own process.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import time
import warnings
from pathlib import Path

import numpy as np
from page_section import RESULTS, write_section
from scipy import sparse
from sklearn.linear_model import LogisticRegressionCV

from pnulearn import PNUClassifier

DENSITY, SHARE_OF_POSITIVES = 0.001, 0.4


def text_like(n: int, d: int, seed: int = 0) -> tuple[sparse.csr_matrix, np.ndarray]:
    """Rows of density .001 and length one; every fifth word of a positive row is of its class's two per cent."""
    rng = np.random.default_rng(seed)
    truth, k = rng.random(n) < SHARE_OF_POSITIVES, max(1, int(DENSITY * d))
    words = rng.integers(d, size=(n, k))
    own = (rng.random((n, k)) < 0.2) & truth[:, None]
    words[own] = rng.integers(d // 50, size=int(own.sum()))
    X = sparse.csr_matrix((rng.random(n * k) + 0.5, words.ravel(), np.arange(0, n * k + 1, k)), shape=(n, d))
    X.sum_duplicates()
    lengths = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    return sparse.csr_matrix(sparse.diags(1 / lengths) @ X), truth


def measure(name: str, n: int, d: int, n_labeled: int, answer) -> None:
    warnings.simplefilter("ignore")
    X, truth = text_like(n, d)
    y = np.where(np.arange(n) < n_labeled, truth, np.nan)
    start = time.process_time()
    if name == "PNUClassifier":
        model = PNUClassifier(kernel="linear", random_state=0).fit(X, y)
    else:
        model = LogisticRegressionCV(Cs=10, cv=5).fit(X[:n_labeled], y[:n_labeled])
    seconds = time.process_time() - start
    error = float(np.mean(model.predict(X[n_labeled:]) != truth[n_labeled:]))
    answer.put((seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, error))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sizes", type=int, nargs="*", default=[20_000, 100_000, 500])
    parser.add_argument("--out", type=Path, default=RESULTS / "fast.md")
    given = parser.parse_args()
    n, d, n_labeled = given.sizes
    lines = ["| model | processor s | x LogisticRegressionCV | MB | error on U |\n|---|---|---|---|---|"]
    print(lines[0])
    first = None
    for name in ("LogisticRegressionCV", "PNUClassifier"):
        answer = multiprocessing.get_context("spawn").Queue()
        process = multiprocessing.get_context("spawn").Process(target=measure, args=(name, n, d, n_labeled, answer))
        process.start()
        seconds, megabytes, error = answer.get()
        process.join()
        first = first or seconds
        lines.append(f"| {name} | {seconds:.1f} | {seconds / first:.1f} | {megabytes:.0f} | {error:.3f} |")
        print(lines[-1], flush=True)
    text = (
        f"`python benchmarks/sparse_text.py`: {n:,} rows x {d:,} columns, density {DENSITY}, {n_labeled} labels. "
        '`PNUClassifier(kernel="linear")` with the full default search, `LogisticRegressionCV(Cs=10, cv=5)` on the '
        "labelled rows."
    )
    write_section(given.out, "Sparse linear models", "\n\n".join([text, "\n".join(lines)]))


if __name__ == "__main__":
    main()
