"""Figure 2: does choosing a PN classifier by the PNU risk instead of the PN risk lower its error?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from experiments.figure_1 import N_LABELED, QUICK_SETS, SETS, UNLABELED_SIZES, cells, training_prior
from experiments.summary import Curve, Table, Text, draw_panels, group_rows, write_text
from experiments.trials import Cell, Experiment, Pools, Row, Settings, counts, generator, load_scaled
from pnulearn._kernels.centers import median_distance
from pnulearn._kernels.gaussian import BANDWIDTH_FACTORS, GaussianBasis
from pnulearn._solvers.candidates import ALPHAS, Mixes, Training
from pnulearn._solvers.ridge import squared_candidates
from pnulearn.theory import heuristic_mix, least_variance_mix

# the mix of the validation score: for equal variances (0 at prior 1/2), from each candidate's own error rates as if U
# were unlimited, and the same with the number of U rows taken into account
METHODS = ("heuristic", "estimated", "finite")


def run(cell: Cell, methods: Sequence[str], settings: Settings) -> Iterator[Row]:
    """One row per choice of mix: test error of the PN-tuned and, for every size, of the PNU-tuned classifier."""
    X, positive = load_scaled(cell["set"], settings.data, settings.download)
    prior = cell["prior"]
    rng = generator("figure-2", cell["set"], cell["prior"], cell["trial"])
    pools = Pools(positive, rng)
    rows, y = pools.take(N_LABELED, N_LABELED)
    labeled, y_val = pools.take(N_LABELED, N_LABELED)
    unlabeled = rng.permutation(pools.take(*counts(max(UNLABELED_SIZES), prior))[0])
    test, truth = pools.rest()
    votes = candidate_votes(X[rows], y, training_prior(cell), X[np.concatenate([labeled, unlabeled, test])])
    on_labels, on_unlabeled, on_test = np.split(votes, np.cumsum([len(labeled), len(unlabeled)]), axis=1)
    p, n = error_rates(on_labels, y_val)
    test_p, test_n = error_rates(on_test, truth)
    test_error = prior * test_p + (1 - prior) * test_n
    by_pn = float(test_error[np.argmin(np.round(prior * p + (1 - prior) * n, 12))])
    taken = np.cumsum(on_unlabeled, axis=1)
    for method in methods:
        tuned = []
        for size in UNLABELED_SIZES:
            mix = validation_mix(method, p, n, prior, size)
            score = (1 + mix) * prior * p + (1 - mix) * (1 - prior) * n + mix * (taken[:, size - 1] / size - prior)
            tuned.append(round(float(test_error[np.argmin(np.round(score, 12))]), 5))
        yield {**cell, "method": method, "error_pn": round(by_pn, 5), "error_pnu": tuned}


def candidate_votes(X: np.ndarray, y: np.ndarray, prior: float, X_new: np.ndarray) -> np.ndarray:
    """Whether each candidate (alphas slowest, then bandwidths) takes each row for positive: shape (48, n)."""
    basis = GaussianBasis(X, median_distance(X) * np.array(BANDWIDTH_FACTORS))
    here, there = basis.prepare(X), basis.prepare(X_new)
    shares = np.array([1 - prior, prior])
    nobody = np.array([], dtype=int)
    votes = []
    for index in range(len(basis.bandwidths)):
        features = basis.features(here, index)
        training = Training(
            features, y.astype(int), np.ones(len(y)), nobody, shares, Mixes.of("pn", None), ALPHAS, intercept=False
        )
        votes.append(squared_candidates(training).scores(basis.features(there, index))[0, 0] > 0)
    return np.stack(votes, axis=1).reshape(-1, len(X_new))


def error_rates(votes: np.ndarray, truth: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Share of positives and of negatives that each candidate gets wrong."""
    return 1 - votes[:, truth == 1].mean(axis=1), votes[:, truth == 0].mean(axis=1)


def validation_mix(method: str, p: np.ndarray, n: np.ndarray, prior: float, n_unlabeled: int) -> np.ndarray | float:
    """η of the PNU score of every candidate; error rates are smoothed by Laplace's rule."""
    if method == "heuristic":
        return heuristic_mix(prior, N_LABELED, N_LABELED)
    p, n = ((rate * N_LABELED + 1) / (N_LABELED + 2) for rate in (p, n))
    psi_p = prior**2 * p * (1 - p) / N_LABELED
    psi_n = (1 - prior) ** 2 * n * (1 - n) / N_LABELED
    taken = prior * (1 - p) + (1 - prior) * n
    psi_u = taken * (1 - taken) / n_unlabeled if method == "finite" else 0.0
    return least_variance_mix(psi_p, psi_n, psi_u)


def write(rows: Iterable[Row], folder: Path, stem: str) -> list[Path]:
    """Draw the mean over trials of error(PNU-tuned) / error(PN-tuned), one picture per class weights."""
    rows = list(rows)
    labels = ("unlabelled rows for validation", "error of the PNU-tuned / error of the PN-tuned classifier")
    paths = [write_text(folder / f"{stem}.md", report(rows))] if rows else []
    for (weights,), part in group_rows(rows, ("weights",)).items():
        curves = [
            Curve(f"{name}, {method}", f"prior {prior}", UNLABELED_SIZES, ratios(values))
            for (name, prior, method), values in group_rows(part, ("set", "prior", "method")).items()
        ]
        paths += draw_panels(curves, folder / f"{stem}-{weights}.svg", *labels)
    return paths


def ratios(rows: Sequence[Row]) -> np.ndarray:
    """Error of the PNU-tuned over that of the PN-tuned classifier, per trial and size."""
    pn = np.array([row["error_pn"] for row in rows])
    return np.array([row["error_pnu"] for row in rows])[pn > 0] / pn[pn > 0, None]


def report(rows: Sequence[Row]) -> str:
    """Every curve at its ends; a ratio of mean errors beside the mean of ratios."""
    lines = []
    for place, values in group_rows(rows, ("weights", "set", "prior", "method")).items():
        curve = Curve("", "", UNLABELED_SIZES, ratios(values))
        pn = np.mean([row["error_pn"] for row in values])
        ends = [f"{curve.mean[at]:.3f} ({curve.stderr[at]:.3f})" for at in (0, -1)]
        of_means = np.mean([row["error_pnu"][-1] for row in values]) / pn
        words = [*map(str, place), str(len(values)), *ends, f"{100 * pn:.1f}", f"{of_means:.3f}"]
        lines.append([Text(word) for word in words])
    heading = ["training weights", "set", "prior", "mix", "trials", "mean ratio at 10 U", "at 300 U"]
    table = Table([*heading, "error % of PN-tuned", "ratio of means at 300 U"], lines)
    return "# Figure 2\n\nError of the PNU-tuned over that of the PN-tuned classifier.\n\n" + table.markdown()


FIGURE_2 = Experiment(
    title="error after choosing a PN classifier by the PNU risk over error after choosing it by the PN risk",
    sets=SETS,
    quick_sets=QUICK_SETS,
    trials=1000,
    quick_trials=40,
    methods=METHODS,
    quick_methods=METHODS,
    cells=cells,
    run=run,
    write=write,
)
