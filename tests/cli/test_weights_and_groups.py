"""`--weights` and `--groups`: design weights count by their effective size, rows of one group count together."""

import csv
import json

import numpy as np
import pytest

from pnulearn import TableClassifier
from pnulearn._intervals.closed_forms import effective_counts
from pnulearn.cli import run
from pnulearn.metrics import pnu_risk
from pnulearn.metrics._comparison import compare_scores
from pnulearn.priors import PriorEstimate, estimate_prior
from pnulearn.tables import read_table
from pnulearn.tables._options import TableOptions


def answer(capsys, *arguments):
    capsys.readouterr()
    assert run([*map(str, arguments), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.fixture(scope="module")
def drawn():
    """40 patients with three labelled rows each, 150 unlabelled rows: class, two scores, weight, patient."""
    rng = np.random.default_rng(0)
    patient = np.append(np.repeat(np.arange(40), 3), 40 + np.arange(150))
    y = (rng.random(190) < 0.3)[patient]
    first, second = (np.where(y, 1.0, -1.0) + rng.normal(0, spread, len(y)) for spread in (0.7, 1.0))
    weight = np.where(y & (np.arange(len(y)) < 120), 0.25, 1.0)
    labels = np.where(np.arange(len(y)) < 120, y.astype(float), np.nan)
    return labels, np.round(first, 6), np.round(second, 6), weight, patient


@pytest.fixture(scope="module")
def table(drawn, tmp_path_factory):
    path = tmp_path_factory.mktemp("groups") / "rows.csv"
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["label", "first", "second", "weight", "larger", "patient"])
        for y, a, b, w, p in zip(*drawn, strict=True):
            said = "" if np.isnan(y) else {1.0: "yes", 0.0: "no"}[y]
            writer.writerow([said, a, b, w, 70 * w, f"P{p}"])
    return path


def test_prior_counts_weights_and_groups(capsys, table, drawn):
    y, first, _, _, patient = drawn
    given = ["prior", table, "--label", "label", "--labels", "random", "--drop", "second"]
    plain, weighted, larger, grouped = (
        answer(capsys, *given, *more)
        for more in (
            ["--drop", "weight", "--drop", "larger", "--drop", "patient"],
            ["--weights", "weight", "--drop", "larger", "--drop", "patient"],
            ["--weights", "larger", "--drop", "weight", "--drop", "patient"],
            ["--groups", "patient", "--drop", "larger", "--drop", "weight"],
        )
    )
    assert weighted["prior"] == pytest.approx(larger["prior"], abs=1e-9)
    assert weighted["interval"] == pytest.approx(larger["interval"], abs=1e-9)
    assert weighted["prior"] < plain["prior"] - 0.05
    assert np.ptp(grouped["interval"]) > 1.2 * np.ptp(plain["interval"])
    X = ((first - first.mean()) / first.std())[:, None]
    alone = estimate_prior(X, y, sampling="random", groups=patient, random_state=0)
    assert grouped["prior"] == pytest.approx(alone.value, abs=0.02)


def test_evaluate_and_compare_are_those_of_the_arrays(capsys, table, drawn):
    y, first, second, weight, patient = drawn
    common = ["--label", "label", "--labels", "random", "--threshold", 0, "--weights", "weight", "--groups", "patient"]
    found = answer(capsys, "evaluate", table, "--score", "first", *common)
    truth = pnu_risk(y, first, sampling="random", sample_weight=weight, groups=patient, threshold=0.0)
    assert found["error_rate"] == pytest.approx(truth.value)
    assert found["interval"] == pytest.approx([truth.low, truth.high])
    found = answer(capsys, "compare", table, "--score", "first", "--score", "second", *common)
    rows = [np.flatnonzero(part) for part in (y == 1, y == 0, np.isnan(y))]
    labeled = ~np.isnan(y)
    counts = effective_counts(y[labeled].astype(int), weight[labeled], 2, patient[labeled])
    truth = compare_scores(
        *([score[part] for part in rows] for score in (first, second)),
        PriorEstimate.of_counts(counts),
        weights=[weight[part] for part in rows],
        groups=[patient[part] for part in rows],
    )
    assert found["interval"] == pytest.approx([truth.low, truth.high])


def test_fit_keeps_groups_together_and_out_of_the_features(table):
    options = {"sampling": "random", "drop": ["second", "larger"]}
    alone = TableClassifier(**options | {"drop": ["second", "larger", "weight", "patient"]})
    alone = alone.fit(read_table(table), "label").model_.classifier.prior_estimate_
    options["groups"] = "patient"
    found = TableClassifier(**options | {"drop": ["second", "larger", "weight"]}).fit(read_table(table), "label").model_
    assert found.plan.feature_names == ["first"]
    grouped = found.classifier.prior_estimate_
    assert grouped.high - grouped.low > 1.2 * (alone.high - alone.low)
    weighted = TableClassifier(**options, weights="weight").fit(read_table(table), "label")
    assert weighted.model_.classifier.prior_estimate_.value < alone.value - 0.05
    assert "groups" in TableOptions(groups="patient").needs_memory()


def test_a_groups_column_must_exist_and_is_not_the_label(table, capsys):
    assert run(["prior", str(table), "--label", "label", "--groups", "label"]) == 1
    assert "holds groups" in capsys.readouterr().err
    assert run(["prior", str(table), "--label", "label", "--groups", "doctor", "--labels", "random"]) == 1
    assert "doctor" in capsys.readouterr().err
