"""What not knowing the class prior costs, how much of it evidence brings back, and whether stated errors hold.

    PNULEARN_DATA=folder OPENBLAS_NUM_THREADS=1 python benchmarks/prior_cost.py --draws 2 --first 30

Real sets at population priors .1 to .9, with labels drawn at random from the population (if a class does not turn up,
labelling goes on until it does) or as many of each class. Every problem is appended to the rows when it is done; a
second run goes on where the first stopped, `--seconds` of processor time stop it between two problems, and `--draws 0`
only writes results/prior-cost.md (prior_cost_page). The problems of a draw come in a random order, so that any part of
them stands for all. Rules were chosen on every second of the paper's sixteen sets; the others are reported apart.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
from page_section import RESULTS
from prior_cost_page import LABELS, PRIORS, SETS, write_page
from real_sets import real_set
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.preprocessing import minmax_scale

from pnulearn import PNUClassifier, estimate_prior

Array = np.ndarray
KEY = ("set", "prior", "labels", "unlabeled", "sampling", "draw")
MOST_TEST_ROWS, LEAST_TEST_ROWS = 1000, 150  # of each class
SHARES = {"class": 0.5, "uneven": 0.7}  # of positives among labels that were gathered by class
RANGE = 0.1  # what a user knows who is sure of the prior within this distance


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=Path, default=RESULTS / "rows" / "prior-cost.jsonl", help="JSON lines to add to")
    parser.add_argument(
        "--draws", type=int, default=2, help="of every set, prior, size and sampling; 0 writes the page"
    )
    parser.add_argument("--first", type=int, default=0, help="number of the first draw, to share draws out")
    parser.add_argument("--unlabeled", type=int, default=300)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--seconds", type=float, default=float("inf"), help="of processor time, after which to stop")
    options = parser.parse_args()
    draws = range(options.first, options.first + options.draws)
    run(options.rows, options.sets.split(","), options.unlabeled, draws, options.seconds)
    if options.rows.parent == RESULTS / "rows":
        write_page(read(options.rows))


def run(path: Path, sets: list[str], n_unlabeled: int, draws: range, seconds: float) -> None:
    done = {tuple(row[name] for name in KEY) for row in read(path)}
    problems = [problem for draw in draws for problem in shuffled(draw, sets)]
    for number, (draw, n_labels, sampling, prior, name) in enumerate(problems):
        key = (name, prior, n_labels, n_unlabeled, sampling, draw)
        data = None if key in done else load(name)
        drawn = None if data is None else draw_rows(*data, *key[1:])
        if drawn is None:
            continue
        result = {**dict(zip(KEY, key, strict=True)), **solve(*drawn, prior, sampling)}
        with path.open("a") as file:
            file.write(json.dumps(result) + "\n")
        if number % 20 == 0:
            print(f"{number} of {len(problems)} problems", file=sys.stderr)
        if time.process_time() > seconds:
            break


def shuffled(draw: int, sets: list[str]) -> list[tuple]:
    problems = list(product([draw], LABELS, ("random", "class"), PRIORS, sets))
    return [problems[i] for i in np.random.default_rng(draw).permutation(len(problems))]


@cache
def load(name: str) -> tuple[Array, Array] | None:
    """Rows within [0, 1] and labels 0 and 1."""
    if name == "breast-cancer":
        X, y = load_breast_cancer(return_X_y=True)
    elif name == "digits-parity":
        X, y = load_digits(return_X_y=True)
        y = (y % 2 == 0).astype(int)
    else:
        found = real_set(name)
        if found is None:
            return None
        X, y = found
    return minmax_scale(X.astype(float)), (y > 0).astype(int)


def draw_rows(X: Array, y: Array, prior: float, n_labels: int, n_unlabeled: int, sampling: str, draw: int):
    """Rows and labels to learn from, NaN where unlabelled, and others to test on; None if there are too few rows.

    No row is drawn twice: a small set that stands for a population by repeating rows varies more than it seems to.
    """
    rng = np.random.default_rng([draw, int(1000 * prior), n_labels, n_unlabeled, sampling == "class", len(X)])
    of_class = [rng.permutation(np.flatnonzero(y == code)) for code in (0, 1)]
    if sampling == "random":
        labels = _label_at_random(rng, prior, n_labels)
    else:
        labels = np.arange(n_labels) < n_labels * SHARES[sampling]
    n_positive = rng.binomial(n_unlabeled, prior)
    counts = [((~labels).sum(), n_unlabeled - n_positive), (labels.sum(), n_positive)]
    if any(len(rows) < sum(count) + LEAST_TEST_ROWS for rows, count in zip(of_class, counts, strict=True)):
        return None
    parts = [np.split(rows, np.cumsum(count)) for rows, count in zip(of_class, counts, strict=True)]
    labeled, unlabeled = (np.concatenate([part[i] for part in parts]) for i in (0, 1))
    held = np.concatenate([part[2][:MOST_TEST_ROWS] for part in parts])
    known = np.concatenate([y[labeled], np.full(n_unlabeled, np.nan)])
    return X[np.concatenate([labeled, unlabeled])], known, X[held], y[held]


def _label_at_random(rng: np.random.Generator, prior: float, n_labels: int) -> Array:
    """Which labels are positive; where one class did not turn up, rows are labelled until it does."""
    labels = rng.random(n_labels) < prior
    while labels.all() or not labels.any():
        labels = np.append(labels, rng.random() < prior)
    return labels


def solve(X: Array, known: Array, X_test: Array, y_test: Array, prior: float, sampling: str) -> dict:
    """Errors, stated risks and prior intervals of every way to deal with the prior."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ways = {"known": prior, "new": None}
        if sampling == "random":
            ways["before"] = float(estimate_prior(X, known, random_state=0))  # labels told nothing about the prior
        else:
            ways["range"] = (max(prior - RANGE, 0.005), min(prior + RANGE, 0.995))
        fits = {
            way: PNUClassifier(prior=given, sampling=sampling, random_state=0).fit(X, known)
            for way, given in ways.items()
        }
    return {way: judge(model, X_test, y_test, prior) for way, model in fits.items()}


def judge(model: PNUClassifier, X_test: Array, y_test: Array, prior: float) -> dict:
    wrong = model.predict(X_test) != y_test
    error = prior * wrong[y_test == 1].mean() + (1 - prior) * wrong[y_test == 0].mean()
    risk, estimate = model.risk_, model.prior_estimate_
    return {
        "error": float(error),
        "risk": None if risk is None else [risk.value, risk.low, risk.high],
        "prior": [float(model.prior_), float(estimate.low), float(estimate.high)],
    }


def read(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


if __name__ == "__main__":
    main()
