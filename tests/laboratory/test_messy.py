"""Messy tables with known truth go from file to model with no option but the label."""

import json

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from pnulearn.cli import run
from pnulearn.laboratory.messy import MAKERS

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
    "sensors": {"row": "it numbers", "vibration copy": "the same as column 'vibration'", "firmware": "the same value"},
    "survey": {"respondent_id": "it numbers"},
}


@pytest.mark.parametrize("name", MAKERS)
def test_from_file_to_model_with_no_option_but_the_label(name, tmp_path, capsys):
    rng = np.random.default_rng(0)
    table = MAKERS[name](600, rng)
    table.write(tmp_path / "t.csv", rng.choice(600, 120, replace=False))
    path, model = str(tmp_path / "t.csv"), str(tmp_path / "m.pnu")
    assert (
        run(["fit", path, "--label", table.label, "--model", model, "--kernel", "linear", "--folds", "2", "--json"])
        == 0
    )
    facts = json.loads(capsys.readouterr().out)
    assert facts["positive"] == table.words[1]
    assert facts["columns"] == KINDS[name]
    assert all(facts["left_out"][column].startswith(reason) for column, reason in LEFT_OUT[name].items())
    assert set(facts["left_out"]) == set(LEFT_OUT[name])
    assert run(["predict", path, "--model", model, "--only", "--json"]) == 0
    answers = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    chance = [answer[f"probability_{table.words[1]}"] for answer in answers]
    assert roc_auc_score(table.truth, chance) > 0.75
