"""The ONNX export says what the model says."""

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from pnulearn import PNUClassifier, PriorAdjusted
from pnulearn._kernels.registry import KERNELS
from pnulearn.onnx import save_onnx, to_onnx

onnx = pytest.importorskip("onnx")

CLASSES = {"words": ["ham", "spam"], "numbers": [0, 1], "flags": [False, True], "three": ["a", "b", "c"]}


def run_graph(exported, rows):
    """All answers of a graph."""
    return _runner(exported.SerializeToString()).run(None, {"X": rows})


def runner(model):
    return _runner(to_onnx(model).SerializeToString())


def _runner(exported):
    """onnxruntime where it is installed, else ONNX's own slow reference."""
    try:
        from onnxruntime import InferenceSession
    except ImportError:
        from onnx.reference import ReferenceEvaluator

        return ReferenceEvaluator(exported)
    return InferenceSession(exported)


def fitted(kind, kernel):
    rng = np.random.default_rng(0)
    X = 1000 + rng.normal(size=(120, 3))  # an offset, so that carelessly squared distances would show
    truth = (X[:, 0] > 1000).astype(int) + (kind == "three") * (X[:, 1] > 1000)
    y = np.array(CLASSES[kind], dtype=object)[truth]
    y[60:] = None
    prior = dict(zip(CLASSES[kind], (0.3, 0.4, 0.3), strict=True)) if kind == "three" else 0.5
    model = PNUClassifier(kernel=kernel, prior=prior, cv=3, random_state=0).fit(X, y)
    return model, 1000 + rng.normal(size=(10_000, 3))


@pytest.mark.parametrize("kind", CLASSES)
@pytest.mark.parametrize("kernel", KERNELS)
def test_labels_of_ten_thousand_rows_agree(kind, kernel):
    model, rows = fitted(kind, kernel)
    label, score, probability = runner(model).run(None, {"X": rows})
    assert (label == model.predict(rows)).all()
    np.testing.assert_allclose(score, model.decision_function(rows), atol=1e-9)
    np.testing.assert_allclose(probability, model.predict_proba(rows), atol=1e-9)


@pytest.mark.parametrize("kind", CLASSES)
@pytest.mark.parametrize("kernel", KERNELS)
def test_single_precision_says_the_same_to_its_digits(kind, kernel):
    model, rows = fitted(kind, kernel)
    exported = to_onnx(model, dtype="float32")
    kinds = {one.name: one.type.tensor_type.elem_type for one in [*exported.graph.input, *exported.graph.output]}
    assert kinds["X"] == kinds["score"] == kinds["probability"] == onnx.TensorProto.FLOAT
    single = rows[:2000].astype(np.float32)
    label, score, probability = run_graph(exported, single)
    expected = model.decision_function(single.astype(float))
    scale = np.abs(expected).max()
    np.testing.assert_allclose(score, expected, atol=2e-3 * scale)
    np.testing.assert_allclose(probability, model.predict_proba(single.astype(float)), atol=2e-3 * max(scale, 1))
    agree = label == model.predict(single.astype(float))
    assert agree.mean() > 0.995


def test_the_names_of_features_go_along():
    model, _ = fitted("numbers", "linear")
    exported = to_onnx(model, feature_names=["a", "b", "c"])
    assert {one.key: one.value for one in exported.metadata_props} == {"feature_names": '["a", "b", "c"]'}
    with pytest.raises(ValueError, match=r"'float64', 'float32', got 'half'"):
        to_onnx(model, dtype="half")


def test_calibrated_probabilities_of_other_losses_agree():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    y = np.where(np.arange(80) < 40, (X[:, 0] > 0).astype(float), np.nan)
    model = PNUClassifier(loss="logistic", kernel="linear", prior=0.5, mix=[0.0, 0.5], alpha=0.01, cv=2, random_state=0)
    model.fit(X, y)
    rows = rng.normal(size=(1000, 2))
    label, _, probability = runner(model).run(None, {"X": rows})
    assert model.calibration_ is not None
    assert (label == model.predict(rows)).all()
    np.testing.assert_allclose(probability, model.predict_proba(rows), atol=1e-9)


def test_a_file_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    model, _ = fitted("words", "linear")
    path = tmp_path / "m.onnx"
    save_onnx(model, path)
    assert onnx.load(path).producer_name == "pnulearn"
    before = path.read_bytes()
    monkeypatch.setattr("pnulearn._files.writing.os.fsync", lambda _: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        save_onnx(model, path)
    assert path.read_bytes() == before


def test_an_unfitted_model_is_refused():
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        to_onnx(PNUClassifier())


def adjusted(kind, estimator):
    """A PriorAdjusted whose labels have other shares than the population."""
    rng = np.random.default_rng(0)
    names = np.array(CLASSES[kind], dtype=object)
    truth = rng.integers(len(names), size=400)
    X = rng.normal(size=(400, 3)) + 1.5 * np.eye(3)[truth]
    y = names[truth].copy()
    y[120:] = None
    prior = dict(zip(CLASSES[kind], (0.2, 0.5, 0.3), strict=True)) if kind == "three" else 0.3
    model = PriorAdjusted(estimator, prior, cv=3, random_state=0).fit(X, y)
    return model, rng.normal(size=(3000, 3)) + 0.5


MODELS = {
    "logistic": LogisticRegression(),
    "forest": RandomForestClassifier(20, random_state=0),
    "pipeline": make_pipeline(StandardScaler(), LogisticRegression()),
    "calibrated": CalibratedClassifierCV(LinearSVC(), cv=3),
}


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["words", "numbers", "three"])
@pytest.mark.parametrize("name", MODELS)
def test_a_model_under_the_prior_says_the_same_where_skl2onnx_knows_it(kind, name):
    pytest.importorskip("skl2onnx", reason="skl2onnx is an extra")
    model, rows = adjusted(kind, MODELS[name])
    label, score, probability = runner(model).run(None, {"X": rows})
    assert (label == model.predict(rows)).all()
    np.testing.assert_allclose(probability, model.predict_proba(rows), atol=1e-5)
    expected = model.decision_function(rows)
    np.testing.assert_allclose(score, expected, atol=1e-4 * np.abs(expected).max())


def test_a_model_without_probabilities_is_refused_with_the_remedy():
    model, _ = adjusted("numbers", LinearSVC())
    with pytest.raises(TypeError, match=r"LinearSVC has no predict_proba.*CalibratedClassifierCV"):
        to_onnx(model)


def test_without_skl2onnx_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "skl2onnx", None)
    model, _ = adjusted("numbers", LogisticRegression())
    with pytest.raises(ImportError, match=r"pip install.*skl2onnx"):
        to_onnx(model)
