"""Messy tables with known truth go from file to model with no option but the label."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from experiments.messy_tables import MAKERS
from pnulearn import TableClassifier
from pnulearn.cli import run
from pnulearn.tables import read_table
from pnulearn.tables._verdict import reach_verdict

KINDS = {
    "customers": {
        "number": ["Einkommen", "Rabatt"],
        "codes": ["Stadt", "PLZ"],
        "flag": ["Stammkunde"],
        "date": ["Kunde seit"],
    },
    "tickets": {"category": ["channel"], "number": ["minutes open"], "text": ["message"]},
    "sensors": {"date": ["timestamp"], "number": ["vibration", "temperature"], "flag": ["state"]},
    "survey": {"codes": ["job"], "category": ["party"], "number": ["age", *(f"q{k}" for k in range(1, 9))]},
}
LEFT_OUT = {
    "customers": {"Kundennummer": "an identifier"},
    "tickets": {"ticket": "an identifier", "language": "the same value"},
    "sensors": {"row": "row numbers", "vibration copy": "the same as column 'vibration'", "firmware": "the same value"},
    "survey": {"respondent_id": "row numbers"},
}


FAST = ["--kernel", "linear", "--folds", "2"]


def messy_file(name, path):
    """600 rows, 120 of them labelled at random; which rows are new, and the truth about all."""
    rng = np.random.default_rng(0)
    table = MAKERS[name](600, rng)
    labeled = rng.choice(600, 120, replace=False)
    table.write(path, labeled)
    return table, ~np.isin(np.arange(600), labeled)


@pytest.mark.parametrize("name", MAKERS)
def test_from_file_to_model_with_no_option_but_the_label(name, tmp_path, capsys):
    table, new = messy_file(name, tmp_path / "t.csv")
    path, model = str(tmp_path / "t.csv"), str(tmp_path / "m.pnu")
    assert run(["fit", path, "--label", table.label, "--model", model, *FAST, "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["positive"] == table.words[1]
    assert facts["columns"] == KINDS[name]
    assert all(facts["left_out"][column].startswith(reason) for column, reason in LEFT_OUT[name].items())
    assert set(facts["left_out"]) == set(LEFT_OUT[name])
    assert run(["predict", path, "--model", model, "--only", "--json"]) == 0
    answers = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    chance = np.array([answer[f"probability_{table.words[1]}"] for answer in answers])
    assert roc_auc_score(table.truth[new], chance[new]) > 0.72
    wrong = np.mean((chance > 0.5)[new] != table.truth[new])
    assert facts["verdict"]["error"]["low"] <= wrong <= facts["verdict"]["error"]["high"]
    assert wrong < min(table.truth.mean(), 1 - table.truth.mean())


@pytest.mark.parametrize("name", MAKERS)
def test_labels_drawn_at_random_make_it_clearly_better_than_the_larger_class(name, tmp_path):
    table, new = messy_file(name, tmp_path / "t.csv")
    found = read_table(tmp_path / "t.csv")
    fitted = TableClassifier(kernel="linear", cv=2, sampling="random").fit(found, table.label).fitted_
    wrong = np.mean((fitted.model.predict(found).labels == table.words[1])[new] != table.truth[new])
    assert wrong < 0.85 * min(table.truth.mean(), 1 - table.truth.mean())
    error = reach_verdict(fitted.model).quality.error
    assert error.low <= wrong <= error.high


@pytest.mark.thorough
def test_five_thousand_columns(tmp_path):
    """Numbers, gaps, words and copies side by side, of which two columns matter."""
    rng = np.random.default_rng(0)
    n, width = 120, 5_000
    truth = rng.random(n) < 0.4
    frame = pd.DataFrame(rng.normal(size=(n, width - 4)).round(3), columns=[f"x{k}" for k in range(width - 4)])
    frame["x7"] += 8 * truth
    frame["x9"] = frame["x7"]
    frame["word"], frame["gap"] = np.where(rng.random(n) < 0.5 + 0.4 * truth, "a", "b"), np.nan
    frame["same"] = 1
    frame["y"] = np.where(np.arange(n) < 60, np.where(truth, "yes", "no"), "")
    frame.to_csv(tmp_path / "wide.csv", index=False)
    table = read_table(tmp_path / "wide.csv")
    fitted = TableClassifier(kernel="linear", cv=2, settings={"alpha": 1.0}, prior=0.4).fit(table, "y").fitted_
    left_out = fitted.model.plan.left_out
    assert left_out == {
        "y": "the label",
        "x9": "the same as column 'x7'",
        "gap": "empty",
        "same": "the same value in every row",
    }
    assert len(fitted.model.plan.columns) == width - 4
    assert list(fitted.model.record.giveaways) == ["x7"]
    assert len(fitted.model.predict(table).labels) == n
