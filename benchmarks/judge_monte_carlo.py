"""Bias, reported standard errors and coverage of `pnu_risk` and other metrics, by redrawing the validation rows.

    python benchmarks/judge_monte_carlo.py [--redraws 5000] [--jobs 1]

The model is fixed: its scores are normal, around 0.9 for positives and -0.7 for negatives, so that every true risk is
an integral. `bias` is in standard errors of the mean over redraws (within ±3 is noise); `stderr` is the root mean
square of the reported standard errors over the true one; `cover` is the share of 95 % intervals that hold the truth.
Below the second table stands the worst cell of each column of the first.
"""

from __future__ import annotations

import os

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")  # before NumPy starts its threads

import argparse
from collections.abc import Iterator
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy import stats

from pnulearn.losses import LOSSES, Loss, ZeroOne
from pnulearn.metrics import pnu_auc, pnu_f1, pnu_precision, pnu_recall
from pnulearn.metrics._risk import choose_mix, estimate_linear_risk
from pnulearn.metrics._variance import LossSample, loss_pairs
from pnulearn.risks import pnu, punu
from pnulearn.theory import Psi

PRIOR, MEANS = 0.3, (0.9, -0.7)
LARGE, SMALL = (50, 50, 500), (10, 10, 100)
UNLABELED_SIZES = (1, 5, 10, 20, 22, 23, 24, 30, 50, 100, 300, 1000)
MIXES = {"PN": 0.0, "PU": 1.0, "NU": -1.0, "PNU .5": 0.5, "PNU -.5": -0.5, "PUNU .3": None, "heuristic": "heuristic"}
MIXES |= {"optimal": "optimal"}


def draw(rng: np.random.Generator, sizes: tuple[int, int, int]) -> list[np.ndarray]:
    """Scores on P, on N and on U."""
    positive = rng.random(sizes[2]) < PRIOR
    centers = [np.full(sizes[0], MEANS[0]), np.full(sizes[1], MEANS[1]), np.where(positive, *MEANS)]
    return [rng.normal(center, 1) for center in centers]


def true_risk(loss: Loss) -> float:
    grid, step = np.linspace(-9, 9, 360_001, retstep=True)
    density = [stats.norm.pdf(grid, mean) for mean in MEANS]
    return float(np.sum(PRIOR * loss(grid) * density[0] + (1 - PRIOR) * loss(-grid) * density[1]) * step)


def estimates(loss: Loss, scores: list[np.ndarray], names: list[str]) -> Iterator[tuple[float, float, float, float]]:
    """What `pnu_risk` reports, for every mix; the losses are computed once."""
    samples = [LossSample.of(loss_pairs(g, loss)) for g in scores]
    for name in names:
        eta = choose_mix(samples, PRIOR, MIXES[name]) if MIXES[name] is not None else 0.0
        risk = pnu(PRIOR, eta) if MIXES[name] is not None else punu(PRIOR, 0.3)
        found = estimate_linear_risk(risk, samples, eta, 0.95)
        yield found.value, found.stderr, found.low, found.high


def cross_fitted(loss: Loss, scores: list[np.ndarray], folds: int = 5) -> float:
    """An exactly unbiased alternative to "optimal": every fold uses the mix that the other folds choose."""
    rng = np.random.default_rng(0)
    samples = [LossSample.of(loss_pairs(g, loss)) for g in scores]
    places = [rng.permutation(len(g)) % folds for g in scores]
    value = 0.0
    for k in range(folds):
        rest = [_part(sample, place != k) for sample, place in zip(samples, places, strict=True)]
        table = pnu(PRIOR, choose_mix(rest, PRIOR, "optimal")).table
        for weights, sample, place in zip(table, samples, places, strict=True):
            value += float(sample.share[place == k] @ sample.losses[place == k] @ weights)
    return value


def _part(sample: LossSample, rows: np.ndarray) -> LossSample:
    """Those rows of a sample, of the size that the whole has: the mix is for the whole."""
    return LossSample(sample.losses[rows], sample.share[rows] / sample.share[rows].sum(), sample.size)


def cross_fit_row(name: str, redraws: int) -> str:
    """Bias and spread of "optimal" and of its cross-fitted alternative."""
    loss, rng = LOSSES[name], np.random.default_rng(3)
    draws = [draw(rng, SMALL) for _ in range(redraws)]
    found = np.array([[*_values(loss, scores), cross_fitted(loss, scores)] for scores in draws])
    bias, deviation = (found.mean(axis=0) - true_risk(loss)) / found.std(axis=0), found.std(axis=0)
    spread = deviation / deviation[0]
    return (
        f"{name:18} {bias[0]:8.3f} {bias[1]:14.3f} {spread[1]:7.3f} {bias[2]:19.3f} {spread[2]:7.3f} "
        f"{1 / np.sqrt(redraws):8.3f}"
    )


def _values(loss: Loss, scores: list[np.ndarray]) -> list[float]:
    return [value for value, *_ in estimates(loss, scores, ["PN", "optimal"])]


def summary(found: np.ndarray, truth: float) -> dict[str, float]:
    """found: (redraws, 4) with value, stderr, low, high."""
    value, stderr, low, high = found.T
    return {
        "bias": (value.mean() - truth) / (value.std() / np.sqrt(len(value))),
        "bias / sd": (value.mean() - truth) / value.std(),
        "stderr": np.sqrt(np.mean(stderr**2)) / value.std(),
        "cover": np.mean((low <= truth) & (truth <= high)),
    }


def risk_rows(loss: Loss, sizes: tuple[int, int, int], redraws: int, names: list[str]) -> list[dict[str, Any]]:
    """One row per risk."""
    rng = np.random.default_rng(0)
    truth = true_risk(loss)
    found = np.array([list(estimates(loss, draw(rng, sizes), names)) for _ in range(redraws)])
    return [
        {"loss": loss.name, "risk": name, "true": truth, **summary(found[:, k], truth)} for k, name in enumerate(names)
    ]


def print_rows(rows: list[dict[str, Any]]) -> None:
    for s in rows:
        numbers = f"{s['bias']:6.2f} {s['bias / sd']:8.3f} {s['stderr']:7.3f} {s['cover']:6.3f}"
        print(f"{s['loss']:18} {s['risk']:10} {s['true']:7.4f} {numbers}", flush=True)


def conclude(cells: list[dict[str, Any]]) -> None:
    """The worst of every column."""
    stderr, cover = ([cell[name] for cell in cells] for name in ("stderr", "cover"))
    print(
        f"\nAt 50 + 50 + 500 rows, {len(cells)} cells: bias at most {max(abs(c['bias']) for c in cells):.2f} standard"
    )
    print(f"errors, stderr {min(stderr):.3f} to {max(stderr):.3f}, cover {min(cover):.3f} to {max(cover):.3f}")


def metric_rows(sizes: tuple[int, int, int], redraws: int) -> list[str]:
    fnr, fpr = stats.norm.cdf(-MEANS[0]), stats.norm.cdf(MEANS[1])
    found, false, missed = PRIOR * (1 - fnr), (1 - PRIOR) * fpr, PRIOR * fnr
    truths = {
        pnu_precision: found / (found + false),
        pnu_recall: 1 - fnr,
        pnu_f1: 2 * found / (2 * found + false + missed),
        pnu_auc: stats.norm.cdf((MEANS[0] - MEANS[1]) / np.sqrt(2)),
    }
    y = np.repeat([1.0, 0.0, np.nan], sizes)
    rng = np.random.default_rng(1)
    draws = [np.concatenate(draw(rng, sizes)) for _ in range(redraws)]
    lines = []
    for metric, truth in truths.items():
        results = [metric(y, g, prior=PRIOR) for g in draws]
        s = summary(np.array([(e.value, e.stderr, e.low, e.high) for e in results]), truth)
        lines.append(f"{metric.__name__:18} {truth:7.4f} {s['bias / sd']:8.3f} {s['stderr']:7.3f} {s['cover']:6.3f}")
    return lines


def ratio_row(n: int, redraws: int) -> str:
    """Zero-one loss, FNR 0.2, FPR 0.25, prior 0.3, ten validation labels of each class and n unlabelled rows."""
    rng, fnr, fpr = np.random.default_rng([2, n]), 0.2, 0.25
    said = PRIOR * (1 - fnr) + (1 - PRIOR) * fpr
    unlimited = Psi.of_rates(fnr, fpr, prior=PRIOR, sizes=(10, 10, np.inf)).best_mix
    psi = Psi.of_rates(fnr, fpr, prior=PRIOR, sizes=(10, 10, n))
    p, q, u = (rng.binomial(size, rate, 400_000) / size for size, rate in ((10, fnr), (10, fpr), (n, said)))
    pn, correction = PRIOR * p + (1 - PRIOR) * q, PRIOR * p - (1 - PRIOR) * q + u - PRIOR
    ratios = [np.var(pn + eta * correction) / np.var(pn) for eta in (unlimited, psi.best_mix)]
    chosen = [_estimated_mix(*rates, n) for rates in zip(p[:redraws], q[:redraws], u[:redraws], strict=True)]
    estimated = np.var(pn[:redraws] + chosen * correction[:redraws]) / np.var(pn[:redraws])
    return (
        f"{n:5d} {psi.ratio(unlimited):8.3f} {ratios[0]:8.3f} {psi.ratio(psi.best_mix):10.3f} {ratios[1]:9.3f} "
        f"{estimated:14.3f}"
    )


def _estimated_mix(p: float, q: float, u: float, n: int) -> float:
    signs = [np.repeat([-1.0, 1.0], [round(10 * p), 10 - round(10 * p)])]
    signs += [np.repeat([1.0, -1.0], [round(size * r), size - round(size * r)]) for size, r in ((10, q), (n, u))]
    return choose_mix([LossSample.of(loss_pairs(g, ZeroOne())) for g in signs], PRIOR, "optimal")


def main(redraws: int, jobs: int) -> None:
    parallel = Parallel(jobs, return_as="generator")
    cells = []
    for sizes, names in ((LARGE, list(MIXES)), (SMALL, ["PN", "heuristic", "optimal"])):
        print(f"\nn_P, n_N, n_U = {sizes}, {redraws} redraws")
        print(f"{'loss':18} {'risk':10} {'true':>7} {'bias':>6} {'bias/sd':>8} {'stderr':>7} {'cover':>6}")
        for rows in parallel(delayed(risk_rows)(loss, sizes, redraws, names) for loss in LOSSES.values()):
            print_rows(rows)
            cells += rows if sizes == LARGE else []
    conclude(cells)
    print(f"\nIs the bias of the estimated mix worth removing? n_P, n_N, n_U = {SMALL}, {redraws // 2} redraws")
    print("bias in true standard deviations; spread = standard deviation over that of the PN risk")
    heads = f"{'PN bias':>8} {'optimal: bias':>14} {'spread':>7} {'cross-fitted: bias':>19} {'spread':>7} {'noise':>8}"
    print(f"{'loss':18} {heads}")
    for line in parallel(delayed(cross_fit_row)(name, redraws // 2) for name in ("zero_one", "squared", "logistic")):
        print(line, flush=True)
    for sizes in (LARGE, SMALL):
        print(f"\nOther metrics, n_P, n_N, n_U = {sizes}, {redraws // 10} redraws")
        print(f"{'metric':18} {'true':>7} {'bias/sd':>8} {'stderr':>7} {'cover':>6}")
        print("\n".join(metric_rows(sizes, redraws // 10)), flush=True)
    print("\nVariance of the PNU risk over that of the PN risk, 10 + 10 labels: formula, simulation")
    print(f"{'n_U':>5} {'paper mix':>17} {'finite-sample mix':>20} {'estimated mix':>14}")
    for line in parallel(
        delayed(ratio_row)(n, redraws // 2) for n in (1, 5, 10, 20, 22, 23, 24, 30, 50, 100, 300, 1000)
    ):
        print(line, flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--redraws", type=int, default=5000)
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    options = parser.parse_args()
    main(options.redraws, options.jobs)
