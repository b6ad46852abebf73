"""What the package does, from a messy table to a decision, and what unlabelled rows buy and do not buy."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

from pnulearn.laboratory.exhibits import EXHIBITS, MODELS
from pnulearn.laboratory.shop import shop_table, shop_truth
from pnulearn.report.columns import look_at_columns
from pnulearn.report.sentences import say_columns
from pnulearn.tables import read_table
from pnulearn.tables.model import Fitted, fit_table
from pnulearn.tables.verdict import percent, reach_verdict

REPORT = "shop-report.html"
SEEDS = range(5)


def run() -> None:
    """Fit the shop's table, check the verdict against the truth, write a report; then the two exhibits."""
    start = time.perf_counter()
    try:
        _show_shop()
    except ImportError as error:  # tables need more than the core
        print(f"{error}\n")
    for name in EXHIBITS:
        _show_exhibit(name)
    print(
        "Unlabelled rows pay where labels are few and the model errs unequally on the two classes; where a few\n"
        "labels are enough, they hardly matter. Before you fit, `pnulearn advise` says which it will be; afterwards\n"
        "the report does, beside an honest supervised model."
    )
    print(f"\n{time.perf_counter() - start:.0f} s")


def _show_shop() -> None:
    path, truth = shop_table(), shop_truth()
    print(f"A shop has {len(truth):,} customers. It phoned 100 of them, picked at random: would they renew?")
    print(f"$ pnulearn fit {path.name} --label renews --labels random --report {REPORT}\n")
    fitted = fit_table(read_table(path), "renews", sampling="single_set", command=f"pnulearn fit {path.name} ...")
    print(reach_verdict(fitted.model, fitted.narrow_prior()).headline)
    print(say_columns(look_at_columns(fitted).importances))
    unseen = fitted.codes < 0
    said = fitted.model.predict(fitted.table).labels == "yes"
    print(
        f"The truth, which the model never saw: it errs on {percent(np.mean(said[unseen] != truth[unseen]))} of the "
        f"{unseen.sum():,} customers who were not phoned."
    )
    _write_report(fitted)


def _write_report(fitted: Fitted) -> None:
    try:
        from pnulearn.report import write_report

        write_report(fitted, REPORT)
    except (ImportError, OSError) as error:
        print(f"No report was written: {error}\n")
    else:
        print(f"The report: open {Path(REPORT).resolve()} in a browser.\n")


def _show_exhibit(name: str) -> None:
    exhibit = EXHIBITS[name]
    print(f"{name.capitalize()}: {exhibit.question}")
    print(
        f"{exhibit.n_positive} + {exhibit.n_negative} labels, {exhibit.n_unlabeled} unlabelled rows, "
        f"{percent(exhibit.prior)} positive, {len(SEEDS)} draws. Mean test error:"
    )
    errors = np.mean([exhibit.errors(seed) for seed in SEEDS], axis=0)
    for model, error in zip(MODELS, errors, strict=True):
        print(f"  {model:22}{100 * error:7.1f} %")
    print()
