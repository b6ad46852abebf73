"""Model files: they come back the same, and what is no model is refused."""

import json
import pickle
import struct
import tracemalloc
import zipfile

import joblib
import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.model_selection import KFold

import pnulearn
from pnulearn import PNUClassifier
from pnulearn._files.archive import read_archive, write_archive
from pnulearn._files.refusals import ModelFileError
from pnulearn._files.writing import write_atomically
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
        whole[: len(whole) // 2]: "not a complete pnulearn model file: it was truncated",
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
    path = tmp_path / "model.npz"
    model.save(path)
    with np.load(path) as file:
        arrays = dict(file)
    np.savez(path, **arrays | {"array.learnt.coef_": np.full_like(arrays["array.learnt.coef_"], np.nan)})
    with pytest.raises(ModelFileError, match="coef_ is not finite"):
        pnulearn.load(path)


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


@pytest.mark.parametrize("name", ["coef_", "intercept_", "centers_", "bandwidths_", "prior_"])
def test_a_model_that_is_not_finite_is_not_saved(model, tmp_path, name):
    setattr(model, name, np.full_like(getattr(model, name), np.nan))
    with pytest.raises(ValueError, match=f"cannot be saved: {name} is not finite"):
        model.save(tmp_path / "model.npz")
    assert list(tmp_path.iterdir()) == []


SPOILS = {
    "search_": lambda parts: parts["search_"]["fields"].pop("weight"),
    "classes_": lambda parts: parts.pop("classes_"),
    "n_features_in_": lambda parts: parts.update(n_features_in_=99),
    "prior_": lambda parts: parts.update(prior_=1.5),
    "calibration_": lambda parts: parts.update(calibration_={"list": [float("nan")]}),
    "risk_": lambda parts: parts["risk_"]["fields"].update(low="far"),
    "intercept_": lambda parts: parts.update(intercept_=parts["coef_"]),
}


@pytest.mark.parametrize("spoil", SPOILS.values(), ids=SPOILS)
def test_values_that_do_not_go_together_are_refused(model, tmp_path, spoil):
    path = tmp_path / "model.npz"
    model.save(path)
    with np.load(path) as file:
        content = json.loads(file["header"].tobytes())["content"]
    spoil(content["dict"]["learnt"]["dict"])
    rewritten(path, content=content)
    with pytest.raises(ModelFileError, match=r"model\.npz"):
        pnulearn.load(path)


def test_members_that_the_header_does_not_name_cost_nothing(model, tmp_path):
    path = tmp_path / "model.npz"
    model.save(path)
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive, archive.open("unused.npy", "w") as member:
        for _ in range(100):
            member.write(bytes(1 << 20))
    tracemalloc.start()
    pnulearn.load(path)
    assert tracemalloc.get_traced_memory()[1] < 20e6
    tracemalloc.stop()


@pytest.mark.parametrize("name", ["header", "array.learnt.coef_"])
def test_a_bomb_is_refused_before_it_is_unpacked(model, tmp_path, name):
    path = tmp_path / "model.npz"
    model.save(path)
    with zipfile.ZipFile(path) as archive:
        members = {info.filename: archive.read(info) for info in archive.infolist() if info.filename != f"{name}.npy"}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, content in members.items():
            archive.writestr(member, content)
        with archive.open(f"{name}.npy", "w") as file:
            for _ in range(100):
                file.write(bytes(1 << 20))
    tracemalloc.start()
    with pytest.raises(ModelFileError, match="unpacks to"):
        pnulearn.load(path)
    assert tracemalloc.get_traced_memory()[1] < 20e6
    tracemalloc.stop()


def test_a_large_model_is_stored_so_that_it_can_be_read(tmp_path):
    """Zeros pack a thousandfold, which a reader could not tell from a bomb."""
    write_archive(tmp_path / "a", "PNUClassifier", {"zeros": np.zeros(10**7)})
    assert_array_equal(read_archive(tmp_path / "a")[1]["zeros"], np.zeros(10**7))


def in_long_form(raw, n_bytes=None, offset=0):
    """The same archive with the records in which archives beyond 4 GB end."""
    body, end = raw[:-22], raw[-22:]
    count, size, start = struct.unpack("<HLL", end[10:20])
    size = size if n_bytes is None else n_bytes
    long = struct.pack("<4sQHHLLQQQQ", b"PK\6\6", 44, 45, 45, 0, 0, count, count, size, start)
    return body + long + struct.pack("<4sLQL", b"PK\6\7", 0, len(body) + offset, 1) + end


@pytest.mark.parametrize("n_members", [60_000, 66_000])  # in the short and in the long form
def test_a_table_of_contents_without_end_is_refused_before_it_is_read(tmp_path, n_members):
    record = struct.Struct("<4s4B4HL2L5H2L")
    body = b"".join(
        record.pack(b"PK\1\2", 20, 0, 20, 0, 0, 0, 0, 0, 0, 0, 0, 60, 0, 0, 0, 0, 0, 0) + b"%060d" % number
        for number in range(n_members)
    )
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, min(n_members, 65535), min(n_members, 65535), len(body), 4, 0)
    raw = b"PK\3\4" + body + end
    path = tmp_path / "model.npz"
    path.write_bytes(raw if n_members < 65535 else in_long_form(raw))
    tracemalloc.start()
    with pytest.raises(ModelFileError, match="table of contents is larger"):
        pnulearn.load(path)
    assert tracemalloc.get_traced_memory()[1] < 1e6
    tracemalloc.stop()


def test_an_archive_in_the_long_form_is_read_if_it_is_where_it_says(model, tmp_path):
    path = tmp_path / "model.npz"
    model.save(path)
    raw = path.read_bytes()
    path.write_bytes(in_long_form(raw))
    assert pnulearn.load(path).risk_ == model.risk_
    path.write_bytes(in_long_form(raw, offset=1))
    with pytest.raises(ModelFileError, match="not where the end record"):
        pnulearn.load(path)
