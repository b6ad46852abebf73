"""Models that were stored in the past are read by every later version. `stored/write.py` adds files only."""

import json
import shutil

import pytest
from numpy.testing import assert_allclose
from tests.files.stored import write
from tests.files.stored.write import ROWS, STORED

import pnulearn

ANSWERS = json.loads((STORED / "answers.json").read_text())


def test_every_stored_model_is_tried():
    assert set(ANSWERS) == {path.stem for path in STORED.glob("*.pnu")}
    assert {name.split("-")[0] for name in ANSWERS} == set(ROWS)


@pytest.mark.parametrize("name", ANSWERS)
def test_a_stored_model_answers_as_it_did(name):
    found = write.ask(pnulearn.load(STORED / f"{name}.pnu"), ROWS[name.split("-")[0]])
    assert found["labels"] == ANSWERS[name]["labels"]
    assert_allclose(found["probability"], ANSWERS[name]["probability"], rtol=1e-9, atol=1e-12)


def test_a_file_is_added_but_none_is_rewritten(tmp_path, monkeypatch):
    shutil.copy(STORED / "table-v1.pnu", tmp_path)
    monkeypatch.setattr(write, "STORED", tmp_path)
    with pytest.raises(SystemExit, match="never rewritten"):
        write.store("table-v1")
    write.store("classifier-v2")
    assert list(json.loads((tmp_path / "answers.json").read_text())) == ["classifier-v2"]
    assert isinstance(pnulearn.load(tmp_path / "classifier-v2.pnu"), pnulearn.PNUClassifier)
