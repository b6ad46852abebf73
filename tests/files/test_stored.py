"""Models that were stored in the past are read by every later version. Add files here; never rewrite one."""

import json

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from tests.files.damage import STORED

import pnulearn

ANSWERS = json.loads((STORED / "answers.json").read_text())
ROWS = {
    "classifier-v1": np.linspace(-2, 2, 20).reshape(10, 2),
    "table-v1": pd.DataFrame({"age": [20.0, 35.5, None, 61.0], "city": ["Kobe", "Nara", "Kobe", None]}),
}


def test_every_stored_model_is_tried():
    assert set(ANSWERS) == set(ROWS) == {path.stem for path in STORED.glob("*.pnu")}


@pytest.mark.parametrize("name", ANSWERS)
def test_a_stored_model_answers_as_it_did(name):
    model, rows = pnulearn.load(STORED / f"{name}.pnu"), ROWS[name]
    if isinstance(model, pnulearn.PNUClassifier):
        labels, probability = model.predict(rows), model.predict_proba(rows)
    else:
        found = model.predict(rows)
        labels, probability = found.labels, found.probability
    assert labels.tolist() == ANSWERS[name]["labels"]
    assert_allclose(probability, ANSWERS[name]["probability"], rtol=1e-9, atol=1e-12)
