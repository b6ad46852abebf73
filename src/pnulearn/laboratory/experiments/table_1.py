"""Table 1: sixteen sets, 10 or 50 labels, 300 unlabelled rows, labelled share 0.7 where the population has 0.5."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from pnulearn.laboratory.datasets.catalogue import BENCHMARK
from pnulearn.laboratory.experiments.methods import find_method
from pnulearn.laboratory.experiments.rows import Row
from pnulearn.laboratory.experiments.runner import Cell, Settings
from pnulearn.laboratory.experiments.table_1_report import write
from pnulearn.laboratory.experiments.trials import Trial, counts, draw_trial, load_scaled

SETS: tuple[str, ...] = BENCHMARK
QUICK_SETS: tuple[str, ...] = ("two-gaussians", "generated-banana", "generated-waveform", "breast-cancer")
LABELED_SIZES = (10, 50)
LABELED_SHARE = 0.7
N_UNLABELED = 300
PRIOR = 0.5
VALIDATION = (10, 10)
TRIALS = 50
QUICK_TRIALS = 5
QUICK_METHODS: tuple[str, ...] = (
    "pnu",
    "pnu-average",
    "punu",
    "pn",
    "pu",
    "self-training",
    "label-spreading",
    "svm",
    "logistic",
)
RIVALS = ("er", "lapsvm", "smir", "wellsvm", "s4vm")
OWN = (*QUICK_METHODS, "pn-labeled", "pnu-both")
METHODS: tuple[str, ...] = (*OWN, *RIVALS, *(f"{rival}-labeled" for rival in RIVALS))

__all__ = ["METHODS", "QUICK_METHODS", "QUICK_SETS", "QUICK_TRIALS", "SETS", "TRIALS", "cells", "run", "write"]


def cells(sets: Sequence[str], trials: int) -> Iterator[Cell]:
    """Every trial, all sets once before any set twice, so that a stopped run is a smaller run."""
    for trial in range(trials):
        for name in sets:
            for size in LABELED_SIZES:
                yield {"set": name, "n_labeled": size, "trial": trial}


def run(cell: Cell, methods: Sequence[str], settings: Settings) -> Iterator[Row]:
    """One row per method: its error on the test rows and the seconds it took to learn."""
    trial = draw(cell, settings)
    for name in methods:
        yield {**cell, "method": name, **measure(trial, name)}


def draw(cell: Cell, settings: Settings) -> Trial:
    """The rows of one trial, the same for every method."""
    X, positive = load_scaled(cell["set"], settings.data, settings.download)
    return draw_trial(
        X,
        positive,
        labeled=counts(cell["n_labeled"], LABELED_SHARE),
        unlabeled=counts(N_UNLABELED, PRIOR),
        validation=VALIDATION,
        prior=PRIOR,
        key=("table-1", *cell.values()),
    )


def measure(trial: Trial, name: str) -> Row:
    """Test error in percent, processor seconds of learning including the search, and the prior it ended up with."""
    start = time.process_time()
    model = find_method(name).learn(trial)
    seconds = time.process_time() - start
    row = {"error": round(100 * trial.error(model.predict(trial.X_test)), 4), "seconds": round(seconds, 4)}
    prior = getattr(model, "prior_", None)
    return row if prior is None or prior == trial.prior else {**row, "prior_used": round(float(prior), 5)}
