"""Model files: they come back the same, and what is no model is refused."""

import json
import pickle

import joblib
import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.model_selection import KFold

import pnulearn
from pnulearn import PNUClassifier
from pnulearn._files.archive import ModelFileError, write_atomically
from pnulearn.losses import LOSSES

QUICK = {"alpha": [1e-2, 1.0], "mix": [0.0, 0.5], "prior": 0.4, "random_state": 0}


@pytest.fixture
def model(gaussians):
    X, y = gaussians()
    return PNUClassifier(**QUICK).fit(X, np.where(np.isnan(y), None, np.where(y == 1, "ja", "nein")))


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_a_saved_model_answers_the_same(gaussians, tmp_path, kernel):
    X, y = gaussians()
    model = PNUClassifier(kernel=kernel, cv=KFold(3), **QUICK).fit(X, y)
    model.save(tmp_path / "model.npz")
    again = pnulearn.load(tmp_path / "model.npz")
    assert_array_equal(again.decision_function(X), model.decision_function(X))
    assert again.risk_ == model.risk_
    assert_array_equal(again.search_.weight, model.search_.weight)
    assert again.get_params()["prior"] == 0.4


def test_a_loss_of_ones_own_comes_back_as_its_name_and_is_not_mistaken_for_another(gaussians, tmp_path):
    class Own(type(LOSSES["logistic"])):
        name = "own"

    X, y = gaussians()
    model = PNUClassifier(loss=Own(), kernel="linear", **QUICK).fit(X, y)
    model.save(tmp_path / "model.npz")
    again = pnulearn.load(tmp_path / "model.npz")
    assert again.loss == "own"
    assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    with pytest.raises(ValueError, match=r"loss must be one of.*got 'own'"):
        again.fit(X, y)


def test_labels_survive(model, gaussians, tmp_path):
    model.save(tmp_path / "model.npz")
    again = pnulearn.load(tmp_path / "model.npz")
    assert_array_equal(again.predict(gaussians()[0]), model.predict(gaussians()[0]))


def test_pickle_and_joblib_work_too(model, gaussians, tmp_path):
    X, _ = gaussians()
    joblib.dump(model, tmp_path / "model.joblib")
    for again in (pickle.loads(pickle.dumps(model)), joblib.load(tmp_path / "model.joblib")):
        assert_array_equal(again.predict(X), model.predict(X))


def rewritten(path, **changes):
    with np.load(path) as file:
        arrays = dict(file)
    header = json.loads(arrays["header"].tobytes()) | changes
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    np.savez(path, **arrays)


def test_a_newer_format_is_refused(model, tmp_path):
    model.save(tmp_path / "model.npz")
    rewritten(tmp_path / "model.npz", version=99)
    with pytest.raises(ModelFileError, match=r"version 99.*Upgrade"):
        pnulearn.load(tmp_path / "model.npz")


def test_another_format_is_refused(model, tmp_path):
    model.save(tmp_path / "model.npz")
    rewritten(tmp_path / "model.npz", format="something")
    with pytest.raises(ModelFileError, match="not a pnulearn model"):
        pnulearn.load(tmp_path / "model.npz")


def test_truncated_files_pickles_and_text_are_refused(model, tmp_path):
    path = tmp_path / "model.npz"
    model.save(path)
    whole = path.read_bytes()
    reasons = {
        whole[: len(whole) // 2]: "not a complete pnulearn model file: it was cut short",
        whole[:900] + bytes(100) + whole[1000:]: "damaged",
        pickle.dumps(model): "is a pickle",
        b"hello": "is not a pnulearn model file",
        b"": "is empty",
    }
    for content, reason in reasons.items():
        path.write_bytes(content)
        with pytest.raises(ModelFileError, match=reason):
            pnulearn.load(path)


def test_coefficients_that_are_not_finite_are_refused(model, tmp_path):
    model.coef_[:] = np.nan
    model.save(tmp_path / "model.npz")
    with pytest.raises(ModelFileError, match="not finite"):
        pnulearn.load(tmp_path / "model.npz")


def test_a_failed_write_leaves_the_old_file_and_no_litter(tmp_path):
    path = tmp_path / "model.npz"
    path.write_bytes(b"old")

    def fail(file):
        file.write(b"half")
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        write_atomically(path, fail)
    assert path.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["model.npz"]


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nowhere\.npz"):
        pnulearn.load(tmp_path / "nowhere.npz")
