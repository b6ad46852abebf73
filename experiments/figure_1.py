"""Figure 1: how much less the PNU risk of a fixed classifier varies than its PN risk, by the number of U rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from experiments.summary import Curve, Table, Text, draw_panels, group_rows, write_text
from experiments.trials import Cell, Experiment, Pools, Row, Settings, generator, load_scaled
from pnulearn import PNUClassifier
from pnulearn.risks import pnu
from pnulearn.theory import best_mix, risk_variance

SETS = ("banana", "phoneme", "magic", "waveform", "splice")
QUICK_SETS = ("generated-banana", "generated-waveform")
PRIORS = (0.3, 0.5, 0.7)
UNLABELED_SIZES = tuple(range(10, 301, 10))
# the class weights g is trained with: those of its 20 labels (1/2), as the text suggests, or those of the population
WEIGHTS = ("labeled", "population")
N_LABELED = 10  # of each class: for training, and again in every draw
DRAWS = 500
# how the mix is chosen: the paper's formula from all draws, the same from each draw alone, the finite-sample optimum
METHODS = ("asymptotic", "per-draw", "finite")


def cells(sets: Sequence[str], trials: int) -> Iterator[Cell]:
    """Every trial, all sets once before any set twice."""
    for trial in range(trials):
        for name in sets:
            for prior in PRIORS:
                for weights in WEIGHTS:
                    yield {"set": name, "prior": prior, "weights": weights, "trial": trial}


def training_prior(cell: Cell) -> float:
    """θ in the PN risk that trains the classifier."""
    return cell["prior"] if cell["weights"] == "population" else 0.5


def run(cell: Cell, methods: Sequence[str], settings: Settings) -> Iterator[Row]:
    """One row per way to choose the mix: the measured variance ratio for every size, and the theory's."""
    X, positive = load_scaled(cell["set"], settings.data, settings.download)
    rng = generator("figure-1", cell["set"], cell["prior"], cell["trial"])
    pools = Pools(positive, rng)
    rows, y = pools.take(N_LABELED, N_LABELED)
    model = PNUClassifier(
        "pn",
        prior=training_prior(cell),
        columns="given",
        centers="labeled",
        selection="best",
        tie_break="first",
        random_state=0,
    ).fit(X[rows], y)
    rest, truth = pools.rest(most=len(X))
    wrong = (model.decision_function(X[rest]) > 0) != truth
    errors = [int(wrong[truth == 1].sum()), int(wrong[truth == 0].sum())]
    sizes = [int((truth == 1).sum()), int((truth == 0).sum())]
    for method in methods:
        measured, predicted = variance_ratios(errors, sizes, cell["prior"], method, rng)
        yield {**cell, "method": method, "ratio": _round(measured), "theory": _round(predicted)}


def variance_ratios(
    errors: Sequence[int], sizes: Sequence[int], prior: float, method: str, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Var[PNU] / Var[PN] over draws, and by the formula, for every number of unlabelled rows.

    The zero-one risks depend on the drawn rows only through how many of them are misclassified, so drawing rows from
    a pool without replacement is drawing from hypergeometric laws.
    """
    rates = np.array(errors) / np.array(sizes)
    measured, predicted = [], []
    for n_unlabeled in UNLABELED_SIZES:
        covariance = zero_one_covariances(rates, prior, n_unlabeled)
        fixed = mix_for(method, prior, covariance)
        p, n, u = draw_rates(errors, sizes, prior, n_unlabeled, rng)
        mix = fixed if fixed is not None else per_draw_mix(p, n, prior)
        plain = prior * p + (1 - prior) * n
        mixed = (1 + mix) * prior * p + (1 - mix) * (1 - prior) * n + mix * (u - prior)
        base = risk_variance(pnu(prior, 0.0), covariance)
        if not base > 0:  # a constant classifier: neither risk varies
            return np.full(len(UNLABELED_SIZES), np.nan), np.full(len(UNLABELED_SIZES), np.nan)
        measured.append(mixed.var() / plain.var())
        predicted.append(np.nan if fixed is None else risk_variance(pnu(prior, fixed), covariance) / base)
    return np.array(measured), np.array(predicted)


def zero_one_covariances(rates: np.ndarray, prior: float, n_unlabeled: float) -> np.ndarray:
    """Covariances (3, 2, 2) of the mean zero-one losses of g and −g on P, N and U, from the two error rates."""
    positive_share = prior * (1 - rates[0]) + (1 - prior) * rates[1]
    variances = [r * (1 - r) for r in (*rates, positive_share)]
    opposite = np.array([[1.0, -1.0], [-1.0, 1.0]])
    return np.array([v / n * opposite for v, n in zip(variances, (N_LABELED, N_LABELED, n_unlabeled), strict=True)])


def mix_for(method: str, prior: float, covariance: np.ndarray) -> float | None:
    """The mix that is fixed over draws, or None if every draw finds its own."""
    if method == "per-draw":
        return None
    if method == "asymptotic":
        covariance = covariance * np.array([1.0, 1.0, 0.0])[:, None, None]
    return best_mix(prior, covariance)


def per_draw_mix(p: np.ndarray, n: np.ndarray, prior: float) -> np.ndarray:
    """The paper's mix from ten rows of each class, with Laplace's rule so that no class looks certain."""
    smooth = [(rate * N_LABELED + 1) / (N_LABELED + 2) for rate in (p, n)]
    psi_p, psi_n = (w**2 * rate * (1 - rate) for w, rate in zip((prior, 1 - prior), smooth, strict=True))
    return (psi_n - psi_p) / (psi_n + psi_p)


def draw_rates(
    errors: Sequence[int], sizes: Sequence[int], prior: float, n_unlabeled: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Error rates on fresh P and N, and the share of U taken for positive, for every draw."""
    wrong = [rng.hypergeometric(e, s - e, N_LABELED, DRAWS) for e, s in zip(errors, sizes, strict=True)]
    positives = rng.binomial(n_unlabeled, prior, DRAWS)
    wrong_in_u = [
        rng.hypergeometric(e - w, s - e - (N_LABELED - w), count)
        for e, s, w, count in zip(errors, sizes, wrong, (positives, n_unlabeled - positives), strict=True)
    ]
    taken = (positives - wrong_in_u[0] + wrong_in_u[1]) / n_unlabeled
    return wrong[0] / N_LABELED, wrong[1] / N_LABELED, taken


def write(rows: Iterable[Row], folder: Path, stem: str) -> list[Path]:
    """Draw measured ratios (points, with standard errors) on the theory (lines), one picture per class weights."""
    every = list(rows)
    rows = [row for row in every if np.isfinite(row["ratio"]).all()]
    labels = ("unlabelled rows", "variance of the PNU risk / variance of the PN risk")
    paths = [write_text(folder / f"{stem}.md", report(rows, len(every) - len(rows)))] if rows else []
    for (weights,), part in group_rows(rows, ("weights",)).items():
        curves = [
            Curve(f"{name}, {method}", f"prior {prior}", UNLABELED_SIZES, *_measured_and_theory(values))
            for (name, prior, method), values in group_rows(part, ("set", "prior", "method")).items()
        ]
        paths += draw_panels(curves, folder / f"{stem}-{weights}.svg", *labels)
    return paths


def report(rows: Sequence[Row], dropped: int) -> str:
    """Every curve at its ends, and how far its points lie from the theory in standard errors."""
    lines = []
    for place, values in group_rows(rows, ("weights", "set", "prior", "method")).items():
        curve = Curve("", "", UNLABELED_SIZES, *_measured_and_theory(values))
        ends = [f"{curve.mean[at]:.3f} ({curve.stderr[at]:.3f})" for at in (0, -1)]
        words = [*map(str, place), str(len(values)), *ends]
        if curve.theory is None:
            words += ["", ""]
        else:
            gap = Curve("", "", UNLABELED_SIZES, curve.values - np.array([row["theory"] for row in values]))
            near = np.abs(gap.mean) <= 2 * gap.stderr
            words += [f"{curve.theory[-1]:.3f}", f"{near.sum()} of {len(near)}"]
        lines.append([Text(word) for word in words])
    heading = ["training weights", "set", "prior", "mix", "trials", "ratio at 10 U", "at 300 U", "theory at 300 U"]
    table = Table([*heading, "points within 2 s.e. of theory"], lines)
    text = "Variance of the PNU risk over that of the PN risk, mean over trials and standard error."
    if dropped:
        text += f" {dropped} curves of constant classifiers, whose risk does not vary, are left out."
    return f"# Figure 1\n\n{text}\n\n{table.markdown()}"


def _measured_and_theory(rows: Sequence[Row]) -> tuple[np.ndarray, np.ndarray | None]:
    theory = np.array([row["theory"] for row in rows], dtype=float)
    return np.array([row["ratio"] for row in rows]), None if np.isnan(theory).all() else theory.mean(axis=0)


def _round(values: np.ndarray) -> list[float]:
    return [round(float(value), 5) for value in values]


FIGURE_1 = Experiment(
    title="variance of the PNU risk over that of the PN risk, by the number of unlabelled rows",
    sets=SETS,
    quick_sets=QUICK_SETS,
    trials=100,
    quick_trials=20,
    methods=METHODS,
    quick_methods=METHODS,
    cells=cells,
    run=run,
    write=write,
)
