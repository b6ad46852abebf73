"""Data sets by name."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

from experiments import datasets


def test_two_gaussians_have_the_bayes_error_they_promise():
    X, y = datasets.two_gaussians(np.random.default_rng(0), 40000, d=3, distance=2.0)
    wrong = np.sign(X.sum(axis=1)) != y  # the line half-way between the means
    assert_allclose(wrong.mean(), norm.cdf(-1), atol=0.006)


def test_g50c_overlaps_by_five_percent():
    X, y = datasets.g50c(np.random.default_rng(1), 40000)
    assert X.shape == (40000, 50)
    assert_allclose(np.mean(np.sign(X.sum(axis=1)) != y), 0.05, atol=0.005)


def test_bananas_are_bent():
    """Neighbours find what no line can."""
    X, y = datasets.bananas(np.random.default_rng(2), 3000)
    line = LogisticRegression().fit(X[:2000], y[:2000]).score(X[2000:], y[2000:])
    near = KNeighborsClassifier(15).fit(X[:2000], y[:2000]).score(X[2000:], y[2000:])
    assert near > line + 0.02


def test_waveform_has_the_means_of_its_waves():
    X, y = datasets.waveform(np.random.default_rng(3), 30000)
    time = np.arange(1, 22)
    first, second = (np.maximum(6 - abs(time - center), 0) for center in (7, 15))
    assert_allclose(X[y == 1].mean(axis=0), (first + second) / 2, atol=0.1)
    assert_allclose(np.mean(y == 1), 1 / 3, atol=1e-3)


@pytest.mark.parametrize("name", [name for name, data in datasets.KNOWN.items() if data.make])
def test_sets_that_need_no_file_are_what_the_list_says(name):
    X, y = datasets.load_data(name)
    known = datasets.KNOWN[name]
    assert X.shape == (known.rows, known.columns)
    assert_allclose(np.mean(y == 1), known.share, atol=6e-4)
    assert set(np.unique(y)) == {-1, 1}


@pytest.mark.parametrize("name", [*datasets.BENCHMARK, *datasets.IMAGES])
def test_files_of_the_benchmark_are_what_the_list_says(name, shared):
    X, y = datasets.load_data(name, shared / "data")
    known = datasets.KNOWN[name]
    assert X.shape == (known.rows, known.columns)
    assert_allclose(np.mean(y == 1), known.share, atol=6e-4)


def _frame() -> pd.DataFrame:
    return pd.DataFrame({"a": [1.0, 2.0, 3.0], "y": ["no", "yes", "no"], "b": [4, 5, 6]})


@pytest.mark.parametrize("ending", ["npz", "csv", "parquet"])
def test_a_file_in_the_folder_is_a_data_set(ending, tmp_path):
    path, frame = tmp_path / f"mine.{ending}", _frame()
    if ending == "npz":
        np.savez(path, X=frame[["a", "b"]].to_numpy(), y=frame["y"].to_numpy().astype(str))
    elif ending == "csv":
        frame.to_csv(path, index=False)
    else:
        frame.to_parquet(path)
    X, y = datasets.load_data("mine", tmp_path)
    assert_allclose(X, [[1, 4], [2, 5], [3, 6]])
    assert y.tolist() == [-1, 1, -1]
    (row,) = [row for row in datasets.list_data(tmp_path) if row["name"] == "mine"]
    assert (row["rows"], row["columns"], row["available"]) == (3, 2, True)


def test_the_folder_can_come_from_the_environment(tmp_path, monkeypatch):
    np.savez(tmp_path / "mine.npz", X=np.eye(2), y=[0, 1])
    monkeypatch.setenv("PNULEARN_DATA", str(tmp_path))
    assert datasets.find("mine") == "folder"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"X": np.eye(2)}, "no array 'y'"),
        ({"X": np.eye(3), "y": [0, 1, 2]}, "two labels, found 3"),
        ({"X": np.eye(2), "y": [0, 1, 1]}, "one row per label"),
        ({"X": np.array([["a"], ["b"]]), "y": [0, 1]}, "needs X of numbers"),
    ],
)
def test_a_file_that_is_no_data_set_is_refused_by_name(content, message, tmp_path):
    np.savez(tmp_path / "bad.npz", **content)
    with pytest.raises(ValueError, match=message) as refusal:
        datasets.load_data("bad", tmp_path)
    assert "bad.npz" in str(refusal.value)


def test_a_text_column_is_refused_by_name(tmp_path):
    pd.DataFrame({"colour": ["red", "blue"], "y": [0, 1]}).to_csv(tmp_path / "bad.csv", index=False)
    with pytest.raises(ValueError, match="colour"):
        datasets.load_data("bad", tmp_path)


def test_a_missing_set_says_how_to_get_it(monkeypatch):
    monkeypatch.delenv("PNULEARN_DATA", raising=False)
    with pytest.raises(datasets.DataSetMissing, match=r"--data.*PNULEARN_DATA.*OpenML 1489"):
        datasets.load_data("phoneme")
    with pytest.raises(datasets.DataSetMissing, match="not a known data set"):
        datasets.load_data("nonsense")


def test_a_folder_that_is_none_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="not a folder"):
        datasets.load_data("banana", tmp_path / "nowhere")


class _Bunch:
    def __init__(self, data, target):
        self.data, self.target = data, target


def _fake_openml(monkeypatch, bunch):
    import sklearn.datasets

    asked = {}
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", lambda **options: asked.update(options) or bunch)
    return asked


def test_openml_columns_are_encoded_and_the_positive_class_is_named(monkeypatch):
    n = 1000
    data = pd.DataFrame({"kind": pd.Categorical(["x", "z", "y", "x", "z"] * (n // 5)), "age": np.arange(n)})
    asked = _fake_openml(monkeypatch, _Bunch(data, pd.Series(["bad"] * 300 + ["good"] * 700)))
    X, y = datasets.load_data("german", download=True)
    assert asked["data_id"] == 31
    assert_allclose(X[:5], [[0, 0], [2, 1], [1, 2], [0, 3], [2, 4]])
    assert y[299:301].tolist() == [1, -1]


def test_openml_one_hot_spreads_every_column(monkeypatch):
    n = 11055
    data = pd.DataFrame(
        {"a": pd.Categorical(np.resize(["-1", "1"], n)), "b": pd.Categorical(np.resize(list("uvw"), n))}
    )
    _fake_openml(monkeypatch, _Bunch(data, pd.Series(["1"] * 6157 + ["-1"] * 4898)))
    X, _ = datasets.download_set("phishing")
    assert_allclose(X[:3], [[1, 0, 1, 0, 0], [0, 1, 0, 1, 0], [1, 0, 0, 0, 1]])


def test_a_changed_download_is_noticed(monkeypatch):
    _fake_openml(monkeypatch, _Bunch(np.eye(1000), np.array(["bad"] * 400 + ["good"] * 600)))
    with pytest.raises(datasets.ChangedSource, match=r"0\.400 positive.*0\.300"):
        datasets.download_set("german")
