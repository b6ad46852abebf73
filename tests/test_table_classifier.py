"""TableClassifier: tables of every library and files give one model, and Python says what the command line says."""

import json
import subprocess
import sys
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import typer
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV

from pnulearn import TableClassifier
from pnulearn._reader.batches import Batches
from pnulearn.cli import app, run
from pnulearn.cli.console import show_facts
from pnulearn.tables import TableError
from pnulearn.tables._options import OPTIONS, TableOptions
from pnulearn.tables._verdict import Concern
from tests.cli.conftest import write_customers

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

FAST = {"prior": 0.4, "kernel": "linear", "cv": 2}


@pytest.fixture(scope="module")
def customers(tmp_path_factory):
    return write_customers(tmp_path_factory.mktemp("tables") / "customers.csv")


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    return write_customers(tmp_path_factory.mktemp("tables") / "fresh.csv", 40, 40, 200, seed=5)


@pytest.fixture(scope="module")
def frame(customers):
    return pd.read_csv(customers)


@pytest.fixture(scope="module")
def model(customers):
    return TableClassifier(**FAST).fit(customers, "bought")


class Stream:
    """Nothing but an Arrow stream, as a relation of DuckDB is."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


def with_categories(frame):
    """Every column of text as a category of polars, with null cells."""
    frame = pl.from_pandas(frame)
    return frame.with_columns(pl.col(pl.String).cast(pl.Categorical))


KINDS = {
    "pandas": lambda frame: frame,
    "polars": pl.from_pandas,
    "polars, categories": with_categories,
    "lazy": lambda frame: pl.from_pandas(frame).lazy(),
    "arrow": pa.Table.from_pandas,
    "batch": pa.RecordBatch.from_pandas,
    "stream": lambda frame: Stream(pa.Table.from_pandas(frame, preserve_index=False)),
}


@pytest.mark.parametrize("kind", KINDS)
def test_frames_of_every_library_give_the_model_of_the_file(kind, frame, model, customers):
    data = KINDS[kind](frame)
    found = TableClassifier(**FAST).fit(data, "bought")
    assert found.model_.plan.kinds == model.model_.plan.kinds
    expected = model.predict_proba(customers)
    assert_allclose(found.predict_proba(data), expected, atol=1e-9)
    assert_array_equal(model.predict(data), model.classes_[expected.argmax(axis=1)])


def test_a_relation_of_duckdb_is_a_table(frame, model, customers):
    duckdb = pytest.importorskip("duckdb")
    table = pa.Table.from_pandas(frame, preserve_index=False)
    relation = duckdb.from_arrow(table)
    assert_array_equal(model.predict(relation), model.predict(customers))


@pytest.mark.parametrize("mark", [None, np.nan, pd.NA])
def test_labels_may_stand_beside_the_table(mark, frame, model, customers):
    y = frame["bought"].astype(object).where(frame["bought"].notna(), mark)
    beside = TableClassifier(**FAST).fit(frame.drop(columns="bought"), y)
    assert beside.model_.label == "bought"
    assert_allclose(beside.predict_proba(frame), model.predict_proba(customers), atol=1e-9)
    nameless = TableClassifier(**FAST).fit(frame.drop(columns="bought"), y.to_numpy())
    assert_allclose(nameless.predict_proba(frame), model.predict_proba(customers), atol=1e-9)


def test_labels_that_do_not_fit_the_table_are_refused(frame):
    with pytest.raises(TableError, match="350 rows"):
        TableClassifier().fit(frame.drop(columns="bought"), [1, 0, None])
    with pytest.raises(TableError, match="already has a column 'bought'"):
        TableClassifier().fit(frame, frame["bought"])


def test_numbers_and_booleans_are_named_as_they_are(frame):
    data = frame.assign(bought=frame["bought"].map({"yes": 1, "no": 0}))
    found = TableClassifier(**FAST, pos_label=0).fit(data, "bought")
    assert found.classes_.tolist() == [1, 0]
    flags = frame.assign(bought=frame["bought"].map({"yes": True, "no": False}))
    assert TableClassifier(**FAST, pos_label=False).fit(flags, "bought").classes_.tolist() == [True, False]


def test_several_files_and_large_ones_are_read_like_one(customers, tmp_path, model):
    lines = customers.read_text().splitlines(keepends=True)
    for number, part in enumerate((lines[1:150], lines[150:])):
        (tmp_path / f"part{number}.csv").write_text(lines[0] + "".join(part))
    several = TableClassifier(**FAST).fit([tmp_path / "part0.csv", tmp_path / "part1.csv"], "bought")
    assert_array_equal(several.predict_proba(customers), model.predict_proba(customers))
    streamed = TableClassifier(**FAST, stream_above=0).fit(str(tmp_path / "part*.csv"), "bought")
    assert "Learnt from all 350 rows, read in batches." in streamed.remarks_
    assert isinstance(streamed._open(tmp_path / "part0.csv")[0], Batches)
    assert (
        streamed.predict(tmp_path / "part0.csv").tolist()
        == streamed.predict(pd.read_csv(tmp_path / "part0.csv")).tolist()
    )


def answer(capsys, *words):
    capsys.readouterr()
    assert run([*map(str, words), "--json", "-q"]) == 0
    return json.loads(capsys.readouterr().out)


def plain(facts):
    return json.loads(json.dumps(facts, default=lambda value: value.tolist()))


@pytest.mark.parametrize("sampling", [None, "random"])
def test_python_and_the_command_line_say_the_same_of_a_fit(customers, capsys, sampling):
    facts = TableClassifier(sampling=sampling, kernel="linear", cv=2).fit(customers, "bought").facts()
    capsys.readouterr()
    show_facts(facts, as_json=True)  # sentences name options instead of parameters
    found = json.loads(capsys.readouterr().out)
    more = [] if sampling is None else ["--sampling", sampling]
    said = answer(capsys, "fit", customers, "-l", "bought", "--kernel", "linear", "--folds", "2", *more)
    for facts in (found, said):
        del facts["seconds"], facts["command"]
    assert {name: said.pop(name) for name in ("model", "report")} == {"model": None, "report": None}
    assert found == said


def test_python_and_the_command_line_say_the_same_of_an_evaluation(model, fresh, tmp_path, capsys):
    model.save(tmp_path / "m.pnu")
    found = model.evaluate(fresh, "bought", helper=["income"], costs=(5, 1))
    more = ["--helper", "income", "--costs", "5", "1", "--prior", "0.4"]
    said = answer(capsys, "evaluate", fresh, "-l", "bought", "-m", tmp_path / "m.pnu", *more)
    assert plain(found.facts()) == said
    assert model.score(fresh, "bought") == 1 - model.evaluate(fresh, "bought").error.value


def test_labels_beside_the_table_judge_the_same(model, fresh):
    data = pd.read_csv(fresh)
    assert (
        model.evaluate(data.drop(columns="bought"), data["bought"]).facts() == model.evaluate(fresh, "bought").facts()
    )


def test_a_saved_model_says_and_predicts_the_same(model, customers, tmp_path):
    model.save(tmp_path / "m.pnu")
    loaded = TableClassifier.load(tmp_path / "m.pnu")
    assert_array_equal(loaded.predict_proba(customers), model.predict_proba(customers))
    assert loaded.verdict_.quality == model.verdict_.quality
    with pytest.raises(ValueError, match="which a model file does not hold"):
        loaded.report(tmp_path / "r.html")


def test_error_and_prior_are_those_of_the_verdict(model):
    assert model.risk_ == model.verdict_.quality.error
    assert (model.prior_, model.prior_interval_) == (model.verdict_.prior.value, model.verdict_.prior.interval)


def test_a_verdict_prints_every_concern_and_every_remedy_once(model):
    concerns = (
        Concern("a", "A is wrong.", "Mend it."),
        Concern("b", "B is, too.", "Mend it."),
        Concern("c", "And C.", "Wait."),
    )
    verdict = replace(model.verdict_, headline="No: A is wrong.", concerns=concerns, assumption="Assumed.")
    assert str(verdict).splitlines() == ["Assumed.", "No: A is wrong.", "Mend it.", "B is, too.", "And C. Wait."]


def test_a_report_is_written(model, tmp_path):
    model.report(tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text()
    assert model.verdict_.headline.split(";")[0] in page.replace("\N{NO-BREAK SPACE}", " ").replace("&#39;", "'")


def test_columns_are_those_of_the_command(model, customers, capsys):
    capsys.readouterr()
    assert run(["columns", str(customers), "-l", "bought", "--json", "-q"]) == 0
    assert model.columns_ == [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_it_is_an_estimator(frame):
    model = TableClassifier(**FAST)
    assert clone(model).get_params() == model.get_params()
    with pytest.raises(NotFittedError):
        model.predict(frame)
    search = GridSearchCV(model, {"scaling": ["standard", "minmax"]}, cv=2, error_score="raise")
    search.fit(frame.drop(columns="bought"), frame["bought"])
    assert 0.5 < search.best_score_ <= 1.1


def test_contradictions_are_refused_in_the_words_of_python(frame):
    with pytest.raises(ValueError, match='sampling="random" declares all labels random'):
        TableClassifier(sampling="random", at_random="city").fit(frame, "bought")
    with pytest.raises(ValueError, match="risk= is for learner=pnu or auto"):
        TableClassifier(learner="forest", risk="pu").fit(frame, "bought")


def test_every_field_of_the_options_is_a_parameter_and_an_option():
    names = [one.name for one in fields(TableOptions)]
    assert sorted(TableClassifier().get_params()) == sorted(names)
    taken = {part.name for part in typer.main.get_command(app).commands["fit"].params}
    assert set(names) - {"verbose"} <= taken
    for name in names:
        assert OPTIONS[name].metadata["meaning"] in " ".join(TableClassifier.__doc__.split())


@pytest.mark.thorough
def test_the_script_of_the_guide_says_the_same_as_the_commands(shared):
    script = Path(__file__).parents[1] / "examples" / "tables_without_command_line.py"
    done = subprocess.run(
        [sys.executable, str(script), str(shared / "data" / "tables")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("the command says the same") == 3
