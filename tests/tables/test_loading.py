"""`pnulearn.load` opens what the command line wrote, and the model answers data frames as it answers files."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

import pnulearn
from pnulearn._files.refusals import ModelFileError
from pnulearn.onnx import to_onnx
from pnulearn.tables import TableError, read_table
from pnulearn.tables._loading import load_table_model
from pnulearn.tables._model import TableModel


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=80), "city": rng.choice(["Nara", "Kobe"], 80)})
    frame["y"] = np.where(np.arange(80) < 40, np.where(frame["x"] > 0, "yes", "no"), "")
    frame.loc[3, "x"] = np.nan
    path = tmp_path_factory.mktemp("table") / "t.csv"
    frame.to_csv(path, index=False)
    return frame, path


@pytest.fixture(scope="module")
def path(table, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "m.pnu"
    pnulearn.TableClassifier(kernel="linear", cv=2, prior=0.5).fit(table[1], "y").save(path)
    return path


def test_load_gives_the_table_model_with_its_classifier(path, table):
    model = pnulearn.load(path)
    assert isinstance(model, TableModel)
    assert isinstance(model.classifier, pnulearn.PNUClassifier)
    assert len(to_onnx(model.classifier).graph.node) > 0
    frame, file = table
    expected = model.predict(read_table(file))
    for data in (frame, pl.from_pandas(frame), pa.Table.from_pandas(frame)):
        found = model.predict(data)
        assert_array_equal(found.scores, expected.scores)
        assert_array_equal(found.labels, expected.labels)


def test_arrays_and_doubled_names_are_refused_with_the_way_out(path, table):
    model = pnulearn.load(path)
    with pytest.raises(TableError, match=r"A table with named columns is needed, got ndarray.*model\.classifier"):
        model.predict(np.zeros((2, 3)))
    with pytest.raises(TableError, match="more than one column 'x'"):
        model.predict(pd.concat([table[0], table[0][["x"]]], axis=1))


def test_statistics_and_classifiers_are_told_from_table_models(tmp_path):
    X = np.random.default_rng(0).normal(size=(40, 2))
    y = np.where(np.arange(40) < 20, (X[:, 0] > 0).astype(float), np.nan)
    pnulearn.PNUClassifier(kernel="linear", prior=0.5, random_state=0).fit(X, y).save(tmp_path / "m")
    with pytest.raises(ModelFileError, match="saved from Python"):
        load_table_model(tmp_path / "m")


def test_a_plan_that_does_not_fit_its_classifier_is_refused(path, tmp_path):
    model = pnulearn.load(path)
    other = TableModel(model.classifier, type(model.plan)(model.plan.columns[:1], {}), "y", model.record)
    with pytest.raises(ValueError, match="its columns give 1 features, not 3"):
        other.save(tmp_path / "m")
