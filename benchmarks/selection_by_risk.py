"""Does a model chosen by the PNU risk beat one chosen by the labelled risk? Real data, as in Figure 2 of the paper.

    PNULEARN_DATA=folder python benchmarks/selection_by_risk.py [--trials 100] [--jobs 1]

In every trial 48 kernel models (6 bandwidths x 8 strengths of regularisation) are trained on 10 + 10 labelled rows and
the one with the lowest zero-one risk on 10 + 10 other labels and 300 unlabelled rows is taken. Twenty labels leave
many ties: they go to the first candidate, as in scikit-learn's searches and in the paper, or, in the second table, to
the lower squared-loss risk. `ratio` is the mean test error of the model chosen by the PNU risk over that of the one
chosen by the labelled (PN) risk, with the standard error of the mean of paired differences in units of the latter.
"""

from __future__ import annotations

import os

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")  # before NumPy starts its threads

import argparse

import numpy as np
from joblib import Parallel, delayed
from real_sets import real_set
from scipy.spatial.distance import cdist, pdist

from pnulearn.losses import ZeroOne, as_loss
from pnulearn.metrics._risk import choose_mix, class_parts
from pnulearn.metrics._variance import LossSample, loss_pairs
from pnulearn.risks import pnu
from pnulearn.theory import heuristic_mix

SETS, PRIORS = ("banana", "magic", "spambase", "splice"), (0.3, 0.7)
N_LABELED, N_UNLABELED, N_TEST = 10, 300, 400
BANDWIDTHS, ALPHAS = (1 / 8, 1 / 4, 1 / 2, 1, 3 / 2, 2), 10.0 ** np.arange(-5, 3)
MIXES = ("heuristic", "optimal")
TIES = ("the first candidate", "the lower squared-loss risk")


def load(name: str) -> tuple[np.ndarray, np.ndarray] | None:
    found = real_set(name)
    if found is None:
        print(f"{name}: left out. Set PNULEARN_DATA to a folder with {name}.npz holding X and y (OpenML has the set).")
    return found


def split(y: np.ndarray, prior: float, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Row numbers: labelled rows to train on, P, N and U to validate on, and a test sample of either class."""
    positive, negative = (rng.permutation(np.flatnonzero(y == label)) for label in (1, -1))
    n_unlabeled = rng.binomial(N_UNLABELED, prior)
    cuts = np.cumsum([N_LABELED, N_LABELED])
    p_train, p_val, p_rest = np.split(positive, cuts)
    n_train, n_val, n_rest = np.split(negative, cuts)
    unlabeled = np.concatenate([p_rest[:n_unlabeled], n_rest[: N_UNLABELED - n_unlabeled]])
    return {
        "train": np.concatenate([p_train, n_train]),
        "P": p_val,
        "N": n_val,
        "U": unlabeled,
        "test P": p_rest[n_unlabeled:][:N_TEST],
        "test N": n_rest[N_UNLABELED - n_unlabeled :][:N_TEST],
    }


def candidate_scores(X: np.ndarray, rows: dict[str, np.ndarray], prior: float) -> dict[str, np.ndarray]:
    """Scores (candidates, rows) of kernel models with squared loss and the PN risk, for every group of rows."""
    centers = X[rows["train"]]
    weight = np.repeat([prior, 1 - prior], N_LABELED) / N_LABELED
    sign = np.repeat([1.0, -1.0], N_LABELED)
    scores: dict[str, list[np.ndarray]] = {name: [] for name in rows if name != "train"}
    for factor in BANDWIDTHS:
        scale = 2 * (factor * np.median(pdist(centers))) ** 2
        kernel = np.exp(-cdist(centers, centers, "sqeuclidean") / scale)
        left, right = (kernel.T * weight) @ kernel, (kernel.T * weight) @ sign
        coefs = [np.linalg.solve(left + 4 * alpha * np.eye(len(centers)), right) for alpha in ALPHAS]
        for name, found in scores.items():
            found.extend(np.array(coefs) @ np.exp(-cdist(centers, X[rows[name]], "sqeuclidean") / scale))
    return {name: np.array(found) for name, found in scores.items()}


def chosen(scores: dict[str, np.ndarray], prior: float, mix: float | str) -> list[int]:
    """The candidate of least zero-one risk on the validation rows, for every way to break ties."""
    samples = [scores[group] for group in "PNU"]
    common = heuristic_mix(prior, N_LABELED, N_LABELED) if isinstance(mix, str) else mix
    if mix == "optimal":
        first = np.array([optimal_risk(candidate, prior) for candidate in zip(*samples, strict=True)])
    else:
        first = risks_at(common, prior, "zero_one", samples)
    seconds = (np.arange(len(first)), risks_at(common, prior, "squared", samples))
    return [int(np.lexsort([second, first.round(12)])[0]) for second in seconds]


def optimal_risk(scores: tuple[np.ndarray, ...], prior: float) -> float:
    """What `pnu_risk` reports, without the interval."""
    samples = [LossSample.of(loss_pairs(g, ZeroOne())) for g in scores]
    return float(class_parts(pnu(prior, choose_mix(samples, prior, "optimal")), samples).sum())


def risks_at(mix: float, prior: float, loss: str, samples: list[np.ndarray]) -> np.ndarray:
    """PNU risks of all candidates at one mix."""
    table, ell = pnu(prior, mix).table, as_loss(loss)
    return sum(w[0] * ell(g).mean(axis=1) + w[1] * ell(-g).mean(axis=1) for w, g in zip(table, samples, strict=True))


def test_errors(scores: dict[str, np.ndarray], prior: float) -> np.ndarray:
    return prior * np.mean(scores["test P"] <= 0, axis=1) + (1 - prior) * np.mean(scores["test N"] > 0, axis=1)


def run(name: str, X: np.ndarray, y: np.ndarray, prior: float, trials: int) -> np.ndarray:
    """Test errors (trials, ties, 4): chosen by PN, by PNU at each mix, and the best candidate there was."""
    rows = []
    for trial in range(trials):
        rng = np.random.default_rng([trial, round(100 * prior), SETS.index(name)])
        scores = candidate_scores(X, split(y, prior, rng), prior)
        errors = test_errors(scores, prior)
        choices = np.array([chosen(scores, prior, mix) for mix in (0.0, *MIXES)]).T
        rows.append([[*errors[ours], errors.min()] for ours in choices])
    return np.array(rows)


def describe(errors: np.ndarray) -> str:
    means = errors.mean(axis=0)
    text = f"{means[0]:7.4f} {means[-1]:7.4f}"
    for k in range(1, len(MIXES) + 1):
        deviation = np.std(errors[:, k] - errors[:, 0], ddof=1) / np.sqrt(len(errors)) / means[0]
        text += f"   {means[k]:7.4f} {means[k] / means[0]:6.3f} ± {deviation:.3f}"
    return text


def print_tables(found: dict[tuple[str, float], np.ndarray]) -> None:
    heads = "".join(f"   {'PNU, ' + mix:^22}" for mix in MIXES)
    for k, words in enumerate(TIES):
        print(f"\nTies go to {words}")
        print(f"{'set':10} {'prior':>5} {'PN':>7} {'best':>7}{heads}   (test error, ratio to PN)")
        for (name, prior), errors in found.items():
            print(f"{name:10} {prior:5.1f} {describe(errors[:, k])}")
        scaled = np.concatenate([errors[:, k] / errors[:, k, 0].mean() for errors in found.values()])
        print(f"{'all':10} {'':5} {describe(scaled)}   (each set and prior scaled to PN = 1)")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    options = parser.parse_args()
    data = {name: found for name in SETS if (found := load(name))}
    cells = [(name, prior) for name in data for prior in PRIORS]
    tasks = (delayed(run)(name, *data[name], prior, options.trials) for name, prior in cells)
    found = dict(zip(cells, Parallel(options.jobs, verbose=10)(tasks), strict=True))
    if found:
        print_tables(found)
