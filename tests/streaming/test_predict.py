"""Batch prediction: the model's answers, in order, whole or not at all, and never twice."""

import copy
import subprocess
import sys
import textwrap

import numpy as np
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit
from tests.problems import COLUMNS, mixture, table, write_parquet

from pnulearn import PNUClassifier
from pnulearn.streaming import _predict as predict
from pnulearn.streaming import fit_files, predict_files

X, Y, _ = mixture(3000)
IDS = np.array([f"row {i}" for i in range(3000)])
SETTINGS = {"centers": X[:8], "prior": 0.3, "mix": 0.2, "alpha": 0.1, "bandwidth": 2.0}


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    return write_parquet(tmp_path_factory.mktemp("rows") / "rows.parquet", X, Y, rows=500, id=IDS)


@pytest.fixture(scope="module")
def model(rows):
    return fit_files(PNUClassifier(**SETTINGS), rows, target="label", columns=COLUMNS)


@pytest.fixture(scope="module")
def scores():
    return PNUClassifier(**SETTINGS).fit(X, Y).decision_function(X)


@pytest.mark.parametrize("ending", [".parquet", ".csv"])
def test_one_file_with_every_row_in_order(model, rows, ending, tmp_path, scores):
    path = predict_files(model, rows, tmp_path / f"out{ending}", keep=["id"], probabilities=True, part_rows=500)
    found = pq.read_table(path) if ending == ".parquet" else arrow_csv.read_csv(path)
    assert found.column_names == ["id", "prediction", "score", "probability"]
    assert found["id"].to_pylist() == IDS.tolist()
    assert_allclose(found["score"], scores, atol=1e-4)
    assert_array_equal(found["prediction"], (np.array(found["score"]) > 0).astype(float))
    assert_allclose(found["probability"], expit(model.calibration_[0, 0] * np.array(found["score"])), atol=1e-12)
    assert [p.name for p in tmp_path.iterdir()] == [f"out{ending}"]  # nothing is left lying about


def test_a_score_of_zero_is_negative_as_in_the_model_itself(model, rows, tmp_path):
    level = copy.deepcopy(model)
    level.coef_, level.intercept_ = np.zeros_like(level.coef_), np.zeros_like(level.intercept_)
    found = pq.read_table(predict_files(level, rows, tmp_path / "out.parquet"))
    assert set(found["score"].to_pylist()) == {0.0}
    assert set(found["prediction"].to_pylist()) == {level.classes_[0]}
    assert set(level.predict(table(X, Y).to_pandas()[list(COLUMNS)])) == {level.classes_[0]}


def test_a_folder_holds_one_file_per_part(model, rows, tmp_path, scores):
    folder = predict_files(model, rows, tmp_path / "out", part_rows=1000)
    assert len(list(folder.glob("part-*.parquet"))) == 3
    assert_allclose(pq.read_table(sorted(folder.glob("part-*")))["score"], scores, atol=1e-4)


def test_csv_in_csv_out(model, tmp_path, scores):
    table(X, Y, id=IDS).to_pandas().to_csv(tmp_path / "rows.csv", index=False)
    path = predict_files(model, tmp_path / "rows.csv", tmp_path / "out.csv", keep=["id", "a"])
    found = arrow_csv.read_csv(path)
    assert_allclose(found["score"], scores, atol=1e-4)
    assert_allclose(found["a"], X[:, 0], rtol=1e-12)
    (tmp_path / "rows.csv").write_text("a,b,c,id\n")
    empty = predict_files(model, tmp_path / "rows.csv", tmp_path / "none.parquet", keep=["id"])
    assert pq.read_table(empty).num_rows == 0


def test_all_columns_that_are_no_features_can_be_kept(model, rows, tmp_path):
    path = predict_files(model, rows, tmp_path / "out.csv", keep="others")
    assert arrow_csv.read_csv(path).column_names[-3:] == ["id", "prediction", "score"]
    nameless = PNUClassifier(**SETTINGS).fit(X, Y)
    with pytest.raises(ValueError, match=r'keep="others" needs a model with feature_names_in_'):
        predict_files(nameless, rows, tmp_path / "out.csv", keep="others")


def test_more_classes_have_a_score_each(tmp_path):
    X, y, _ = mixture(900, n_classes=3)
    labels = np.array([None if np.isnan(v) else "abc"[int(v)] for v in y], dtype=object)
    pq.write_table(table(X, labels), tmp_path / "t.parquet")
    model = fit_files(PNUClassifier(centers=9, mix=0.2, random_state=0), tmp_path, target="label")
    found = pq.read_table(predict_files(model, tmp_path / "t.parquet", tmp_path / "out.parquet"))
    assert found.column_names == ["prediction", "score_a", "score_b", "score_c"]
    places = np.argmax([found[f"score_{name}"] for name in "abc"], axis=0)
    assert found["prediction"].to_pylist() == [str(name) for name in model.classes_[places]]


def test_a_killed_run_does_only_what_is_missing(model, rows, tmp_path, monkeypatch):
    from pnulearn.streaming import _predict as predict

    honest, done = predict.write_atomically, []

    def counting(path, write):
        if sum("part-" in name for name in done) == 3:
            raise KeyboardInterrupt
        done.append(str(path))
        honest(path, write)

    monkeypatch.setattr(predict, "write_atomically", counting)
    output = tmp_path / "out.parquet"
    with pytest.raises(KeyboardInterrupt):
        predict_files(model, rows, output, part_rows=500, n_jobs=1)
    assert not output.exists()
    first, done[:] = [name for name in done if "part-" in name], []
    monkeypatch.setattr(predict, "write_atomically", lambda *args: (done.append(str(args[0])), honest(*args)))
    predict_files(model, rows, output, part_rows=500, n_jobs=1)
    again = [name for name in done if "part-" in name]
    assert len(first) == 3
    assert len(again) == 3
    assert pq.read_table(output).num_rows == 3000


def test_output_of_another_model_is_never_mixed_in(model, rows, tmp_path):
    predict_files(model, rows, tmp_path / "out", part_rows=1000)
    other = fit_files(PNUClassifier(**SETTINGS | {"alpha": 10.0}), rows, target="label", columns=COLUMNS)
    with pytest.raises(FileExistsError, match="another model"):
        predict_files(other, rows, tmp_path / "out", part_rows=1000)
    before = pq.read_table(tmp_path / "out" / "part-00000.parquet")["score"]
    predict_files(other, rows, tmp_path / "out", part_rows=1000, overwrite=True)
    assert pq.read_table(tmp_path / "out" / "part-00000.parquet")["score"] != before


def test_an_output_replaces_predictions_and_nothing_else(model, rows, tmp_path):
    path = predict_files(model, rows, tmp_path / "out.csv")
    before = path.read_bytes()
    assert predict_files(model, rows, path).read_bytes() == before
    (tmp_path / "notes.csv").write_text("precious,prediction\n")
    with pytest.raises(FileExistsError, match="overwrite=True"):
        predict_files(model, rows, tmp_path / "notes.csv")
    assert predict_files(model, rows, tmp_path / "notes.csv", overwrite=True).read_bytes() == before
    with pytest.raises(ValueError, match="is also the input"):
        predict_files(model, rows, rows, overwrite=True)
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "thesis.tex").touch()
    for overwrite in (False, True):
        with pytest.raises(FileExistsError, match=r"contains other files \(thesis.tex"):
            predict_files(model, rows, tmp_path / "precious", overwrite=overwrite)


def test_formulas_are_guarded_in_csv_and_left_alone_in_parquet(model, tmp_path):
    ids = np.array(["=1+1", "-5", "@x", "ok", "+1e3"], dtype=object)
    pq.write_table(table(X[:5], Y[:5], id=ids), tmp_path / "rows.parquet")
    found = {}
    for name, guard in (("a.csv", True), ("b.csv", False), ("c.parquet", True)):
        out = predict_files(model, tmp_path / "rows.parquet", tmp_path / name, keep=["id"], guard=guard)
        read = pq.read_table if name.endswith("parquet") else arrow_csv.read_csv
        found[name] = read(out)["id"].to_pylist()
    assert found == {"a.csv": ["'=1+1", "-5", "'@x", "ok", "+1e3"], "b.csv": [*ids], "c.parquet": [*ids]}


def test_what_a_killed_run_of_another_model_left_is_cleared(model, rows, tmp_path, monkeypatch):
    def killed(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(predict, "join_parts", killed)
    with pytest.raises(KeyboardInterrupt):
        predict_files(model, rows, tmp_path / "out.csv")
    monkeypatch.undo()
    assert len(list(tmp_path.iterdir())) == 1
    other = fit_files(PNUClassifier(**SETTINGS | {"alpha": 10.0}), rows, target="label", columns=COLUMNS)
    predict_files(other, rows, tmp_path / "out.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["out.csv"]


def test_a_failed_write_leaves_no_output(model, rows, tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pnulearn.streaming._predict.join_parts", full)
    with pytest.raises(OSError, match="No space"):
        predict_files(model, rows, tmp_path / "out.parquet")
    assert not (tmp_path / "out.parquet").exists()


PREDICT = """
    import sys
    import pnulearn
    from pnulearn.streaming import predict_files

    model, rows, output = sys.argv[1:]
    predict_files(pnulearn.load(model), rows, output, part_rows=500, n_jobs=1, overwrite=True)
"""


@pytest.mark.thorough
@pytest.mark.parametrize("names", [("{}/out.parquet",) * 2, ("out.parquet",) * 2, ("out.parquet", "{}/out.parquet")])
def test_two_processes_writing_the_same_output_do_not_mix(model, rows, tmp_path, scores, names):
    """Both start from nothing at the same time; whoever ends last wins, and the file is whole."""
    model.save(tmp_path / "model")
    output = tmp_path / "out.parquet"
    command = [sys.executable, "-c", textwrap.dedent(PREDICT), str(tmp_path / "model"), str(rows)]
    processes = [subprocess.Popen([*command, name.format(tmp_path)], cwd=tmp_path) for name in names]
    assert [process.wait(200) for process in processes] == [0, 0]
    assert_allclose(pq.read_table(output)["score"], scores, atol=1e-4)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model", "out.parquet"]


def test_the_slower_of_two_processes_finds_the_work_done(model, rows, tmp_path, scores, monkeypatch):
    """The other one finishes and clears up while this one is about to write a part."""
    output, honest = tmp_path / "out.parquet", predict.write_atomically

    def late(path, write):
        if path.name.startswith("part-"):
            monkeypatch.setattr(predict, "write_atomically", honest)
            predict_files(model, rows, output)
        return honest(path, write)

    monkeypatch.setattr(predict, "write_atomically", late)
    predict_files(model, rows, output)
    assert_allclose(pq.read_table(output)["score"], scores, atol=1e-4)


@pytest.mark.parametrize(
    ("change", "words"),
    [({"output": "out.xlsx"}, "end in .parquet or .csv"), ({"data": "nowhere/*.csv"}, "Nothing matches")],
)
def test_mistakes_are_named(model, rows, tmp_path, change, words):
    settings = {"data": rows, "output": "out.csv"} | change
    with pytest.raises((ValueError, FileNotFoundError), match=words):
        predict_files(model, settings["data"], tmp_path / settings["output"])


def test_columns_are_found_by_name_or_counted(rows, tmp_path, model):
    pq.write_table(table(X, Y).select(["c", "label", "b", "a"]), tmp_path / "other.parquet")
    one = pq.read_table(predict_files(model, rows, tmp_path / "1.parquet"))
    two = pq.read_table(predict_files(model, tmp_path / "other.parquet", tmp_path / "2.parquet"))
    assert one.equals(two)
    nameless = PNUClassifier(**SETTINGS).fit(X, Y)
    with pytest.raises(ValueError, match="4 feature columns, but the model needs 3"):
        predict_files(nameless, tmp_path / "other.parquet", tmp_path / "3.parquet")
