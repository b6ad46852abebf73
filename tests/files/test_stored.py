"""Models that were stored in the past are read by every later version. `stored/write.py` adds files only."""

import json
import shutil

import pytest
from numpy.testing import assert_allclose
from tests.files.stored import write
from tests.files.stored.write import FILES, REFUSED, STORED

import pnulearn
from pnulearn._files.refusals import ModelFileError

ANSWERS = json.loads((STORED / "answers.json").read_text())


def test_every_stored_model_is_tried():
    assert set(ANSWERS) == set(FILES)
    assert {*FILES, *REFUSED} == {path.name for path in STORED.iterdir() if path.suffix in (".pnu", ".npz")}


@pytest.mark.parametrize("name", ANSWERS)
@pytest.mark.filterwarnings("default:This \\w+ was saved with scikit-learn")
def test_a_stored_model_answers_as_it_did(name):
    if "auto" in name:
        pytest.importorskip("skops")
    try:
        found = write.ask(STORED / name)
    except ModelFileError as error:
        if "auto" not in name or "saved with scikit-learn" not in str(error):
            raise
        pytest.skip(str(error))  # scikit-learn need not read what another of its versions wrote
    assert found["labels"] == ANSWERS[name]["labels"]
    assert_allclose(found["probability"], ANSWERS[name]["probability"], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", REFUSED)
def test_an_older_autopnu_is_refused_by_name(name):
    pytest.importorskip("skops")
    said = f"{name}' contains a Member,.* AutoPNU" if "v1" in name else "an AutoPNU of an earlier version"
    with pytest.raises(ModelFileError, match=f"{said}.* Fit and save the model again"):
        pnulearn.load(STORED / name)


def test_a_file_is_added_but_none_is_rewritten(tmp_path, monkeypatch):
    shutil.copy(STORED / "table-v1.pnu", tmp_path)
    monkeypatch.setattr(write, "STORED", tmp_path)
    with pytest.raises(SystemExit, match="never rewritten"):
        write.store("table-v1.pnu")
    with pytest.raises(SystemExit, match="Add a line to FILES"):
        write.store("table-v0.pnu")
    write.store("classifier-linear.pnu")
    assert list(json.loads((tmp_path / "answers.json").read_text())) == ["classifier-linear.pnu"]
    assert isinstance(pnulearn.load(tmp_path / "classifier-linear.pnu"), pnulearn.PNUClassifier)
