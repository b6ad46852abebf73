"""The golden cases: every one asks public entry points something and returns the answers by name.

Internals are not called, so that they can move. A deliberate change of a number rewrites the stored values in the
same commit, which says why.
"""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Callable, Mapping
from contextlib import redirect_stderr, redirect_stdout
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score

from pnulearn import (
    LabeledOnly,
    PNUClassifier,
    PNUStratifiedKFold,
    advise,
    advise_for,
    baselines,
    compare,
    estimate_prior,
    load,
    make_pnu_scorer,
    pnu_risk,
    theory,
)
from pnulearn.__main__ import main
from pnulearn._learning.selection import SearchTable
from pnulearn.metrics import pnu_auc, pnu_f1, pnu_precision, pnu_recall
from pnulearn.priors import METHODS, prior_sensitivity
from pnulearn.risks import nu, pn, pnu, pu, punu
from pnulearn.streaming import fit_files, predict_files

from .data import Problem, bundled, gaussians, messy_table

Quantities = dict[str, Any]
CASES: dict[str, Callable[[], Quantities]] = {}
COLUMNS = ["first", "second", "third"]


def case(function: Callable[[], Quantities]) -> Callable[[], Quantities]:
    """Register a function under its own name."""
    CASES[function.__name__] = function
    return function


# What is written down


def thinned(values: Any, n_kept: int = 16) -> NDArray:
    """About so many of the values, evenly spaced."""
    flat = np.ravel(values)
    return flat[:: max(1, len(flat) // n_kept)]


def estimate_numbers(estimate: Any) -> list[float]:
    return [estimate.value, estimate.stderr, estimate.low, estimate.high]


def prior_numbers(estimate: Any) -> Quantities:
    return {name: getattr(estimate, name) for name in ("value", "low", "high", "raw")}


def answers(model: Any, X: Any) -> Quantities:
    """What any fitted classifier says of new rows."""
    found = {"classes": model.classes_.astype(str), "predict": model.predict(X).astype(str)}
    found["decision_function"] = model.decision_function(X)
    return found | ({"predict_proba": model.predict_proba(X)} if hasattr(model, "predict_proba") else {})


def learnt(model: PNUClassifier, X: Any) -> Quantities:
    """What a fitted PNUClassifier says of new rows, and what it learnt on the way."""
    found = answers(model, X) | {"prior": model.prior_, "risk_used": [model.risk_used_]}
    found |= {name: getattr(model, f"{name}_") for name in ("mix", "alpha", "bandwidth")}
    optional = {"prior_interval": model.prior_interval_, "calibration": model.calibration_}
    if model.risk_ is not None:
        optional["risk"] = [*estimate_numbers(model.risk_), model.risk_.mix]
    for name in ("zero_one", "squared", "weight"):
        scores = getattr(model.search_, name)
        found[f"search_{name}"] = [scores.sum(), scores.min(), scores.max(), *thinned(scores, 6)]
    return found | {name: value for name, value in optional.items() if value is not None}


# PNUClassifier.fit


def fit_case(
    name: str, problem: Callable[[], Problem] = gaussians, *, rows: Callable[[Problem], Mapping] | None = None, **given
) -> None:
    """Register a fit; `rows` replaces or adds arguments of fit, `prior=...` the true prior unless it is given."""

    def run() -> Quantities:
        data = problem()
        model = PNUClassifier(**{"prior": data.prior, "columns": "given", "cv": 5, "random_state": 0} | given)
        model.fit(**{"X": data.X, "y": data.y} | (rows(data) if rows else {}))
        return learnt(model, data.X_new) | {"validation_scores": thinned(model.validation_scores_)}

    CASES[f"fit_{name}"] = run


breast_cancer = partial(bundled, "breast_cancer", 40, 160, 2)
iris, wine = partial(bundled, "iris", 30, 100, 3), partial(bundled, "wine", 40, 120, 3)
digits = partial(bundled, "digits", 60, 140, 5)
many_rows = partial(gaussians, n_labeled=40, n_unlabeled=700, seed=1)

for kernel in ("rbf", "linear"):
    for risk in ("pn", "pu", "nu", "punu", "pnu"):
        fit_case(f"{risk}_{kernel}", risk=risk, kernel=kernel)
    for risk in ("punu", "pnu"):
        for tie_break in ("risk", "first"):
            options = {"risk": risk, "kernel": kernel, "selection": "best", "tie_break": tie_break}
            fit_case(f"{risk}_{kernel}_best_{tie_break}", **options)
    for loss in ("logistic", "double_hinge", "ramp", "sigmoid", "hinge"):
        for risk in ("pn",) if loss == "hinge" else ("pn", "pu", "punu", "pnu"):
            mix = {"pnu": [-0.5, 0.0, 0.5], "punu": [0.2, 0.8]}.get(risk)
            options = {"risk": risk, "loss": loss, "kernel": kernel, "mix": mix, "alpha": [0.01, 0.1], "cv": 2}
            fit_case(f"{loss}_{risk}_{kernel}", bandwidth=1.5, **options)
    fit_case(f"breast_cancer_{kernel}", breast_cancer, kernel=kernel, prior=None)
    fit_case(f"breast_cancer_{kernel}_best", breast_cancer, kernel=kernel, selection="best")
    fit_case(f"iris_{kernel}", iris, kernel=kernel)
    fit_case(f"wine_{kernel}_estimated_prior", wine, kernel=kernel, prior=None)
    fit_case(f"digits_{kernel}", digits, kernel=kernel, alpha=[0.01, 0.1, 1.0])
    fit_case(f"digits_{kernel}_pn_best", digits, kernel=kernel, risk="pn", selection="best")
    fit_case(
        f"iris_{kernel}_logistic", iris, kernel=kernel, loss="logistic", mix=0.5, alpha=[0.01, 0.1], bandwidth=0.5, cv=2
    )
    fit_case(
        f"weights_{kernel}",
        kernel=kernel,
        rows=lambda data: {"sample_weight": np.arange(len(data.y)) % 4},  # a quarter of the rows weigh nothing
    )
    fit_case(
        f"sparse_{kernel}", breast_cancer, kernel=kernel, rows=lambda data: {"X": sparse.csr_matrix(data.X.round(1))}
    )
    fit_case(f"single_set_{kernel}", kernel=kernel, sampling="single_set")
    fit_case(f"many_rows_{kernel}", many_rows, kernel=kernel, alpha=[0.001, 0.1], cv=3)
    fit_case(
        f"held_out_{kernel}",
        kernel=kernel,
        rows=lambda data: {"X_val": data.X[::2] + 0.1, "y_val": data.y[::2]},
    )
    fit_case(f"one_candidate_{kernel}", kernel=kernel, mix=0.3, alpha=0.1, bandwidth=1.0)

fit_case("estimated_prior", prior=None)
fit_case("energy_prior", prior="energy")
fit_case("centers_labeled", centers="labeled")
fit_case("centers_all", many_rows, centers="all", mix=[0.0, 0.5], alpha=0.1, bandwidth=[1.0, 2.0], cv=2)
fit_case("centers_number", centers=25)
fit_case("centers_array", centers=np.random.default_rng(5).normal(size=(15, 3)))
fit_case("three_folds_another_seed", cv=3, random_state=7)
fit_case("own_folds", cv=PNUStratifiedKFold(4, random_state=0))
fit_case("sklearn_folds", cv=StratifiedKFold(3))
even, odd = np.arange(0, 100, 2), np.arange(1, 100, 2)
fit_case("given_splits", cv=[(even, odd), (odd, even)])
fit_case("two_threads", n_jobs=2)
fit_case("rows_left_out", cv="auto")
fit_case("rows_left_out_estimated_prior", breast_cancer, cv="auto", prior=None)
fit_case("rows_left_out_iris", iris, cv="auto")
fit_case("columns_both", columns="both")
fit_case("defaults", breast_cancer, columns="auto", cv="auto", prior=None)
fit_case("words_and_pos_label", pos_label="ham", prior=0.6, rows=lambda data: {"y": data.named("ham", "spam")})
fit_case("marked_unlabeled", unlabeled=-1, rows=lambda data: {"y": np.nan_to_num(data.y, nan=-1)})
fit_case("only_positives", risk="pu", rows=lambda data: {"y": np.where(data.y == 1, 1, np.nan)})
fit_case("only_negatives", risk="nu", rows=lambda data: {"y": np.where(data.y == 0, 0, np.nan)})


# Batches and files


def batch_case(name: str, problem: Callable[[], Problem], **options: Any) -> None:
    def run() -> Quantities:
        data = problem()
        model = PNUClassifier(centers=20, random_state=0, **{"prior": data.prior, "columns": "given"} | options)
        rows = np.random.default_rng(0).permutation(len(data.y))
        for batch in np.array_split(rows, 3):
            model.partial_fit(data.X[batch], data.y[batch], classes=np.unique(data.truth))
        return learnt(model, data.X_new)

    CASES[f"partial_fit_{name}"] = run


five_classes = partial(gaussians, n_labeled=100, n_unlabeled=400, n_classes=5, seed=2)
for kernel in ("rbf", "linear"):
    batch_case(kernel, many_rows, kernel=kernel)
    batch_case(f"{kernel}_five_classes", five_classes, kernel=kernel)
batch_case("estimated_prior_best", many_rows, prior=None, selection="best")
batch_case("defaults", many_rows, columns="auto", prior=None)


def write_table(path: Path, data: Problem) -> Path:
    """Features and the label as a Parquet or CSV file; missing labels are empty."""
    import pyarrow as pa
    from pyarrow import csv, parquet

    label = pa.array(data.y, mask=np.isnan(data.y))
    table = pa.table([*(pa.array(column) for column in data.X.T), label], names=[*COLUMNS, "label"])
    parquet.write_table(table, path) if path.suffix == ".parquet" else csv.write_csv(table, path)
    return path


def files_case(name: str, suffix: str = "", *, fit: Mapping[str, Any] | None = None, **options: Any) -> None:
    """Register fit_files on arrays, or on a file with that suffix, which predict_files then predicts."""

    def run() -> Quantities:
        data = many_rows()
        model = PNUClassifier(centers=30, random_state=0, **{"prior": data.prior, "columns": "given"} | options)
        given = {"part_rows": 200, "dtype": "float64"} | (fit or {})  # sums in single precision differ by processor
        if not suffix:
            return learnt(fit_files(model, (data.X, data.y), **given), data.X_new)
        import pandas as pd

        with TemporaryDirectory() as folder:
            path = write_table(Path(folder, f"rows{suffix}"), data)
            fit_files(model, path, target="label", **given)
            predicted = pd.read_csv(predict_files(model, path, Path(folder, "answers.csv"), probabilities=True))
        found = learnt(model, pd.DataFrame(data.X_new, columns=COLUMNS))
        return found | {f"file_{name}": thinned(predicted[name]) for name in ("prediction", "score", "probability")}

    CASES[f"fit_files_{name}"] = run


files_case("arrays")
files_case("arrays_defaults", columns="auto", prior=None)
files_case("arrays_linear", kernel="linear")
files_case("arrays_second_pass", fit={"second_pass": True}, prior=None)
files_case("arrays_best", selection="best", risk="punu")
files_case("parquet", ".parquet", prior=None)
files_case("csv", ".csv", fit={"second_pass": True})


# Priors


NEED_EVERY_CLASS = (None, "scores", "energy", "energy_v", "kernel_mean", "em")


def prior_case(method: str | None) -> None:
    def run() -> Quantities:
        data = gaussians(n_labeled=60, n_unlabeled=80)
        y = data.y if method in NEED_EVERY_CLASS else np.where(data.y == 1, 1, np.nan)
        found = estimate_prior(data.X, y, method, random_state=0)
        return prior_numbers(found) | {"method": [found.method]}

    CASES[f"prior_{method or 'auto'}"] = run


for method in (None, *METHODS):
    prior_case(method)


@case
def prior_of_five_classes() -> Quantities:
    data = gaussians(n_labeled=60, n_unlabeled=150, n_classes=5)
    found = {method: estimate_prior(data.X, data.y, method, random_state=0) for method in ("scores", "energy", "em")}
    return {f"{method}_{name}": value for method in found for name, value in prior_numbers(found[method]).items()}


@case
def prior_with_weights() -> Quantities:
    data = gaussians(n_labeled=60, n_unlabeled=150)
    weight = 1 + np.arange(len(data.y)) % 3
    return prior_numbers(estimate_prior(data.X, data.y, "energy", sample_weight=weight, random_state=0))


# Judging


def judged_rows() -> tuple[NDArray, NDArray]:
    """Labels, most of them missing, and the scores of a mediocre model."""
    data = gaussians(n_labeled=40, n_unlabeled=200, seed=4)
    return data.y, 0.7 * (data.truth - 0.5) + np.random.default_rng(1).normal(size=len(data.y), scale=0.5)


def risk_case(loss: str) -> None:
    def run() -> Quantities:
        y, score = judged_rows()
        weight = 1 + np.arange(len(y)) % 3
        mixes = (-1.0, -0.5, 0.0, 0.3, 1.0, "optimal", "heuristic")
        found = {f"mix_{mix}": pnu_risk(y, score, prior=0.4, mix=mix, loss=loss) for mix in mixes}
        found["weighted"] = pnu_risk(y, score, prior=0.4, loss=loss, sample_weight=weight)
        found["nonnegative"] = pnu_risk(y, score, prior=0.4, mix=0.9, loss=loss, nonnegative=True)
        found["other_confidence"] = pnu_risk(y, score, prior=0.3, loss=loss, confidence=0.8, threshold=0.1)
        return {name: [*estimate_numbers(risk), risk.mix] for name, risk in found.items()}

    CASES[f"pnu_risk_{loss}"] = run


LOSSES = ("zero_one", "squared", "logistic", "double_hinge", "ramp", "sigmoid", "hinge", "truncated_squared")
for loss in LOSSES:
    risk_case(loss)


@case
def metrics() -> Quantities:
    y, score = judged_rows()
    weight = 1 + np.arange(len(y)) % 3
    found = {}
    for metric in (pnu_precision, pnu_recall, pnu_f1):
        found[metric.__name__] = estimate_numbers(metric(y, score, prior=0.4))
        found[f"{metric.__name__}_weighted"] = estimate_numbers(
            metric(y, score, prior=0.4, threshold=0.2, sample_weight=weight)
        )
    for mix in (-0.5, 0.0, 0.5, "optimal"):
        found[f"pnu_auc_{mix}"] = estimate_numbers(pnu_auc(y, score, prior=0.4, mix=mix))
    return found


@case
def scorer_and_comparison() -> Quantities:
    data, fresh = gaussians(), gaussians(n_labeled=40, n_unlabeled=100)
    model = LabeledOnly(LogisticRegression())
    scorers = {f"score_{loss}": make_pnu_scorer(prior=0.4, loss=loss) for loss in LOSSES}
    folds = PNUStratifiedKFold(4, random_state=0)
    found = {
        name: cross_val_score(model, data.X, data.y, scoring=scorer, cv=folds, error_score="raise")
        for name, scorer in scorers.items()
    }
    ours = PNUClassifier(prior=0.4, cv=5, random_state=0).fit(data.X, data.y)
    result = compare(ours, model.fit(data.X, data.y), fresh.X, fresh.y, 0.4)
    found |= {name: estimate_numbers(getattr(result, name)) for name in ("first", "second")}
    found |= {name: getattr(result, name) for name in ("difference", "stderr", "low", "high")}
    return found | {"verdict": [result.verdict]}


@case
def folds() -> Quantities:
    y = gaussians().y
    splits = PNUStratifiedKFold(3, random_state=0).split(np.zeros((len(y), 1)), y)
    return {f"test_{number}": test for number, (_, test) in enumerate(splits)}


# Theory


ADVICE = ("mix", "paper_mix", "variance_ratio", "limit_ratio", "pu_against_pn", "nu_against_pn")


@case
def advice() -> Quantities:
    data = gaussians()
    model = PNUClassifier(prior=0.4, cv=5, random_state=0).fit(data.X, data.y)
    fresh = gaussians(n_labeled=40, n_unlabeled=100)
    given = {
        "even": advise(10, 10, 300, prior=0.3),
        "few_unlabeled": advise(50, 20, 5, prior=0.5),
        "with_rates": advise(20, 80, 1000, prior=0.7, error_rates=(0.1, 0.3)),
        "no_negatives": advise(20, 0, 1000, prior=0.7),
        "measured": advise_for(model, fresh.X, fresh.y, prior=0.4),
    }
    found: Quantities = {}
    for name, one in given.items():
        found[name] = [getattr(one, field) for field in (*ADVICE, "unlabeled_to_help", "unlabeled_enough")]
        found[f"{name}_words"] = [one.best, one.label_next]
    return found


@case
def theory_of_risks() -> Quantities:
    sizes = (20, 30, 500)
    risks = {"pn": pn(0.3), "pu": pu(0.3), "nu": nu(0.3), "punu": punu(0.3, 0.2), "pnu": pnu(0.3, -0.4)}
    covariance = np.array([[[0.2, 0.05], [0.05, 0.1]], [[0.3, 0.02], [0.02, 0.2]], [[0.01, 0.0], [0.0, 0.02]]])
    found: Quantities = {}
    for name, risk in risks.items():
        found[f"table_{name}"] = risk.table
        found[f"variance_{name}"] = theory.risk_variance(risk, covariance)
        for loss in ("ramp", "truncated_squared"):
            found[f"bound_{name}_{loss}"] = theory.error_bound(0.05, risk, sizes, loss=loss, radius=2.0)
    psi = theory.Psi.of_rates(0.2, 0.25, prior=0.3, sizes=sizes)
    found["psi"] = [psi.positive, psi.negative, psi.unlabeled, psi.best_mix, psi.best_punu_mix, psi.ratio(0.3)]
    found["helpful_mixes"] = theory.helpful_mixes(psi)
    found["unlabeled"] = [theory.unlabeled_to_help(psi, 500, 0.3), theory.unlabeled_enough(psi, 500)]
    found["heuristic_mix"] = theory.heuristic_mix(0.3, 20, 30)
    found["best_mix"] = theory.best_mix(0.3, covariance)
    return found | {"best_share": theory.best_share(pu(0.3), nu(0.3), covariance)}


@case
def sensitivity_to_the_prior() -> Quantities:
    data = gaussians()
    model = PNUClassifier(prior=0.4, alpha=0.1, bandwidth=1.5, cv=5, random_state=0)
    found = prior_sensitivity(model, data.X, data.y, estimate_prior(data.X, data.y, "energy", random_state=0))
    return {"decisions": found.decisions.sum(axis=1), "share": found.share}


# Baselines


def searched(table: SearchTable) -> Quantities:
    """The candidates in the order of the grid; risks only if there was something to choose."""
    names, axes = list(table.values), np.meshgrid(*table.values.values(), indexing="ij")
    columns = dict(zip(names, axes, strict=True))
    if table.weight.size > 1:
        columns |= {"zero_one": table.zero_one, "squared": table.squared}
    return {f"search_{name}": thinned(column.ravel()) for name, column in columns.items()}


def baseline_case(name: str, kind: type, problem: Callable[[], Problem] = gaussians, **options: Any) -> None:
    def run() -> Quantities:
        data = problem()
        model = kind(prior=data.prior, random_state=0, cv=3, **options).fit(data.X, data.y)
        return answers(model, data.X_new) | searched(model.search_)

    CASES[f"baseline_{name}"] = run


for kernel in ("rbf", "linear"):
    entropy = {"alpha": [0.01, 0.1], "entropy": 0.1}
    baseline_case(f"entropy_{kernel}", baselines.EntropyRegularizedClassifier, kernel=kernel, **entropy)
    baseline_case(f"lapsvm_{kernel}", baselines.LaplacianSVM, kernel=kernel, alpha=[0.01, 0.1], manifold=0.1)
    baseline_case(f"wellsvm_{kernel}", baselines.WellSVM, kernel=kernel, C_unlabeled=[0.01, 0.1], bandwidth=1.5)
    baseline_case(f"s4vm_{kernel}", baselines.S4VM, kernel=kernel, C_unlabeled=0.1, bandwidth=1.5, n_starts=20)
baseline_case("smir", baselines.SMIRClassifier, information=[0.1, 1.0])
baseline_case("lapsvm_hinge", baselines.LaplacianSVM, loss="hinge", alpha=0.01, manifold=[0.01, 0.1])
baseline_case("smir_iris", baselines.SMIRClassifier, iris, information=0.1, bandwidth=0.5)
baseline_case("entropy_iris", baselines.EntropyRegularizedClassifier, iris, alpha=0.01, entropy=0.1, bandwidth=0.5)


# Saved models


def export_case(name: str, problem: Callable[[], Problem], **options: Any) -> None:
    """Register a model that is saved and loaded again, and one that ONNX's own evaluator runs."""

    def fitted() -> tuple[PNUClassifier, NDArray]:
        data = problem()
        return PNUClassifier(**{"prior": data.prior, "cv": 5, "random_state": 0} | options).fit(
            data.X, data.y
        ), data.X_new

    def saved() -> Quantities:
        model, X = fitted()
        with TemporaryDirectory() as folder:
            model.save(Path(folder, "model.pnu"))
            return learnt(load(Path(folder, "model.pnu")), X)

    def exported() -> Quantities:
        from onnx.reference import ReferenceEvaluator

        from pnulearn.onnx import to_onnx

        model, X = fitted()
        label, score, probability = ReferenceEvaluator(to_onnx(model)).run(None, {"X": X})
        return {"label": label.astype(str), "score": score, "probability": probability}

    CASES[f"saved_{name}"], CASES[f"onnx_{name}"] = saved, exported


export_case("rbf", gaussians)
export_case("linear_iris", iris, kernel="linear")
export_case("logistic", gaussians, loss="logistic", mix=0.3, alpha=0.1, bandwidth=1.5, cv=2)


# The command line


FIT_FACTS = ("prior", "prior_interval", "mix", "alpha", "bandwidth", "validation_error", "validation_interval")


def command(*words: object) -> Any:
    """What the command `pnulearn` answers in JSON; None if it writes a file instead."""
    arguments, answer = ["pnulearn", *map(str, words)], io.StringIO()
    with patch.object(sys, "argv", arguments), redirect_stdout(answer), redirect_stderr(io.StringIO()) as messages:
        try:
            main()
        except SystemExit as done:
            if done.code:
                raise RuntimeError(messages.getvalue()) from done
    return json.loads(answer.getvalue()) if answer.getvalue() else None


def fit_and_predict(folder: str, text: str) -> tuple[Path, Path, Quantities]:
    """Fit a model to a table; its facts and its predictions."""
    table, model, predicted = (Path(folder, name) for name in ("table.csv", "model.pnu", "predicted.csv"))
    table.write_text(text, encoding="utf-8")
    facts = command("fit", table, "--label", "bought", "--positive", "yes", "--model", model, "--folds", 5, "--json")
    command("predict", table, "--model", model, "--only", "--out", predicted)
    found = {name: facts[name] for name in FIT_FACTS}
    found |= {f"{kind}_columns": names for kind, names in facts["columns"].items()}
    found |= {"left_out": sorted(facts["left_out"]), "candidates": facts["candidates"]}
    with predicted.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    found["predicted"] = [row["predicted_bought"] for row in rows[::8]]
    found["probability"] = [float(row["probability_yes"]) for row in rows[::8]]
    return table, model, found


@case
def command_line() -> Quantities:
    with TemporaryDirectory() as folder:
        table, model, found = fit_and_predict(folder, messy_table())
        judged = command("evaluate", table, "--label", "bought", "--model", model, "--json")
        prior = command("prior", table, "--label", "bought", "--positive", "yes", "--json")
    found |= {f"evaluate_{name}": judged[name] for name in ("error_rate", "standard_error", "interval", "prior", "mix")}
    return found | {f"prior_{name}": prior[name] for name in ("prior", "interval")}


@case
def command_line_decimal_comma() -> Quantities:
    with TemporaryDirectory() as folder:
        return fit_and_predict(folder, messy_table(","))[2]
