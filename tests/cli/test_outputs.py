"""Nothing is destroyed by an output: not an input, not another output, not a file of another kind."""

import csv
import datetime
import json
import os
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from pnulearn._files.outputs import recognise
from pnulearn.cli import run
from pnulearn.tables import TableError, read_table
from pnulearn.tables._writing import MOST_LETTERS, _cell, _text_cell

FIT = ["-l", "bought", "--kernel", "linear", "--folds", "2"]


def refusal(capsys, *arguments):
    capsys.readouterr()
    code = run(list(map(str, arguments)))
    return code, " ".join(capsys.readouterr().err.replace("│", " ").split())


@pytest.fixture(scope="module")
def predictions(tmp_path_factory, customers, fitted):
    path = tmp_path_factory.mktemp("predictions") / "p.csv"
    assert run(["predict", str(customers), "-m", str(fitted[1]), "-o", str(path)]) == 0
    return path


@pytest.fixture
def place(tmp_path, customers, fitted, predictions):
    """A folder with an input, a model, a report and predictions."""
    (tmp_path / "in.csv").write_bytes(customers.read_bytes())
    (tmp_path / "m.pnu").write_bytes(fitted[1].read_bytes())
    (tmp_path / "r.html").write_bytes(fitted[2].read_bytes())
    (tmp_path / "p.csv").write_bytes(predictions.read_bytes())
    return tmp_path


def contents(folder):
    return {p.name: p.read_bytes() for p in folder.iterdir() if p.is_file()}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["fit", "in.csv", *FIT, "-m", "in.csv"], "--model 'in.csv' is also FILE"),
        (["fit", "in.csv", *FIT, "-m", "./in.csv", "--overwrite"], "is also FILE"),
        (["fit", "in.csv", *FIT, "-m", "hard.csv", "--overwrite"], "is also FILE"),
        (["fit", "in.csv", *FIT, "-m", "soft.csv", "--overwrite"], "is also FILE"),
        (["fit", "[i]*.csv", *FIT, "-m", "in.csv", "--overwrite"], "is also FILE"),
        (["fit", "in.csv", *FIT, "-m", "x", "-r", "x"], "--report 'x' is also --model"),
        (["fit", "in.csv", *FIT, "-m", "new/../x", "-r", "x"], "--report 'x' is also --model"),
        (["predict", "in.csv", "-m", "m.pnu", "-o", "m.pnu"], "--out 'm.pnu' is also --model"),
        (["evaluate", "in.csv", "-l", "bought", "-s", "age", "--report", "in.csv"], "--report 'in.csv' is also FILE"),
        (["evaluate", "in.csv", "-l", "b", "-s", "age", "--report", "p.csv"], "--report 'p.csv'"),
        (["evaluate", "in.csv", "-l", "b", "-s", "age", "--report", "no/where/r.html"], "--report"),
        (["predict", "in.csv", "-m", "m.pnu", "-o", "in.csv", "--overwrite"], "--out 'in.csv' is also FILE"),
        (["fit", "in.csv", *FIT, "-m", "r.html"], "contains a report, not a model"),
        (["fit", "in.csv", *FIT, "-r", "m.pnu"], "contains a model, not a report"),
        (["fit", "in.csv", *FIT, "-m", "p.csv"], "contains predictions, not a model"),
        (["predict", "in.csv", "-m", "m.pnu", "-o", "notes.csv"], "contains something else, not predictions"),
        (["fit", "in.csv", *FIT, "-m", "new"], "is a folder"),
        (["fit", "in.csv", *FIT, "-m", "pipe", "--overwrite"], "a device, a pipe"),
        (["fit", "in.csv", *FIT, "-m", "null", "--overwrite"], "a device, a pipe"),
        (["fit", "in.csv", *FIT, "-m", "circle"], "circular link"),
        (["fit", "in.csv", *FIT, "-m", "nowhere/m"], "no folder"),
    ],
)
def test_what_would_be_lost_is_refused_before_any_work(capsys, place, monkeypatch, arguments, words):
    monkeypatch.chdir(place)
    (place / "new").mkdir()
    (place / "notes.csv").write_text("precious, all of it\n")
    os.link("in.csv", "hard.csv")
    os.symlink("in.csv", "soft.csv")
    os.mkfifo("pipe")
    os.symlink(os.devnull, "null")
    os.symlink("circle", "circle")
    before = contents(place)
    monkeypatch.setattr("pnulearn.tables.read_table", None)  # called, it would end in another error
    code, messages = refusal(capsys, *arguments)
    assert code == 2
    assert words in messages
    assert contents(place) == before


@pytest.mark.thorough
def test_a_kind_replaces_its_own_and_with_overwrite_any(capsys, place, monkeypatch):
    monkeypatch.chdir(place)
    (place / "empty.jsonl").touch()
    (place / "r.html").rename(place / "r.csv")
    assert refusal(capsys, "fit", "in.csv", *FIT, "-m", "m.pnu", "-r", "new.html")[0] == 0
    assert refusal(capsys, "fit", "in.csv", *FIT, "-m", "m.pnu", "-r", "new.html")[0] == 0
    assert refusal(capsys, "predict", "in.csv", "-m", "m.pnu", "-o", "p.csv")[0] == 0
    assert refusal(capsys, "predict", "in.csv", "-m", "m.pnu", "-o", "empty.jsonl", "--json")[0] == 0
    assert refusal(capsys, "predict", "in.csv", "-m", "m.pnu", "-o", "r.csv")[0] == 2
    assert refusal(capsys, "predict", "in.csv", "-m", "m.pnu", "-o", "r.csv", "--overwrite")[0] == 0
    found = {p.name: recognise(p) for p in place.iterdir()}
    predictions = dict.fromkeys(("p.csv", "empty.jsonl", "r.csv"), "predictions")
    assert found == {"in.csv": "something else", "m.pnu": "a model", "new.html": "a report", **predictions}


def test_formulas_are_guarded_unless_asked_otherwise(capsys, tmp_path, fitted):
    cells = ["=1+1", "+cmd|x", "-2+3", "@SUM(A1)", "\tx", "plain"]
    with open(tmp_path / "t.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["age", "income", "city", "=note"])
        writer.writerows([["-3", "+2.5", "Nara", cell] for cell in cells])

    def answer(*options):
        run(["predict", str(tmp_path / "t.csv"), "-m", str(fitted[1]), "-o", str(tmp_path / "p.csv"), *options])
        with open(tmp_path / "p.csv", newline="") as file:
            return [row[:4] for row in csv.reader(file)]

    header, *rows = answer()
    assert header[3] == "'=note"
    assert [row[3] for row in rows] == [f"'{cell}" for cell in cells[:5]] + ["plain"]
    assert all(row[:2] == ["-3", "+2.5"] for row in rows)
    header, *rows = answer("--no-guard")
    assert header[3] == "=note"
    assert [row[3] for row in rows] == cells


def test_a_folder_is_no_model(capsys, place):
    code, messages = refusal(capsys, "predict", place / "in.csv", "-m", place)
    assert code == 1
    assert "is a folder" in messages


# Predictions in every format, with the columns of the table as they are.

IDS = [2**53 + k for k in range(80)]


@pytest.fixture(scope="module")
def typed(tmp_path_factory):
    """A Parquet table with cells that a conversion would change, and a model of its numbers."""
    place = tmp_path_factory.mktemp("typed")
    rng = np.random.default_rng(0)
    side = rng.random(80) < 0.5
    table = pa.table(
        {
            "id": pa.array(IDS),
            "price": pa.array([Decimal("12345678901234567890.12")] * 80),
            "day": pa.array([datetime.date(2024, 1, 31)] * 80),
            "note": pa.array([" NA ", "=1+1", 'a<b & "c"', "_x0041_ \x07"] * 20, pa.large_string()),
            "short": pa.array(np.full(80, 0.1, dtype=np.float32)),
            "x": rng.normal(size=80) + 2 * side,
            "y": pa.array(np.where(side, "yes", "no"), mask=np.arange(80) >= 40),
        }
    )
    parquet.write_table(table, place / "t.parquet")
    drop = [word for name in ("price", "day", "note", "short", "id") for word in ("--drop", name)]
    command = ["fit", str(place / "t.parquet"), "-l", "y", "--prior", "0.4", "--kernel", "linear", "--folds", "2", "-q"]
    assert run([*command, *drop, "-m", str(place / "m.pnu")]) == 0
    return place


def written(place, folder, name, *options):
    out = folder / name
    for _ in range(2):  # the second run replaces the first
        assert run(["predict", str(place / "t.parquet"), "-m", str(place / "m.pnu"), "-o", str(out), *options]) == 0
    return out


def test_predictions_as_parquet_keep_types(typed, tmp_path):
    found = parquet.read_table(written(typed, tmp_path, "p.parquet"))
    before = parquet.read_table(typed / "t.parquet")
    assert found.select(before.column_names).equals(before)
    assert found.column_names[-2:] == ["predicted_y", "probability_yes"]


def test_predictions_as_csv_and_json_lines_keep_digits(typed, tmp_path):
    with open(written(typed, tmp_path, "p.csv", "--no-guard"), newline="") as file:
        first, second, *_ = csv.DictReader(file)
    shown = {"id": str(IDS[0]), "price": "12345678901234567890.12", "day": "2024-01-31", "note": " NA ", "short": "0.1"}
    assert shown.items() <= first.items()
    assert second["note"] == "=1+1"
    line = written(typed, tmp_path, "p.jsonl").read_text().splitlines()[0]
    assert json.loads(line, parse_float=Decimal)["price"] == Decimal("12345678901234567890.12")
    assert json.loads(line)["id"] == IDS[0]


def test_predictions_as_excel_are_a_workbook(typed, tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    path = written(typed, tmp_path, "p.xlsx")
    names, *rows = openpyxl.load_workbook(path).active.iter_rows(values_only=True)
    assert names[-2:] == ("predicted_y", "probability_yes")
    assert [row[0] for row in rows] == list(map(str, IDS))  # Excel has 15 digits, so longer numbers are text
    assert rows[0][1] == "12345678901234567890.12"
    assert rows[0][2] == datetime.datetime(2024, 1, 31)
    assert [row[3] for row in rows[:3]] == [" NA ", "=1+1", 'a<b & "c"']
    assert isinstance(rows[0][5], float)
    again = read_table(path)
    assert again.column("x").values.tolist() == parquet.read_table(typed / "t.parquet")["x"].to_pylist()
    assert again.column("note").levels[2] == "_x0041_ \x07"


def test_numbers_of_a_text_file_are_numbers_in_excel(customers, fitted, tmp_path):
    out = tmp_path / "p.xlsx"
    assert run(["predict", str(customers), "-m", str(fitted[1]), "-o", str(out), "--keep", "age"]) == 0
    assert read_table(out).column("age").kind == "number"


@pytest.mark.parametrize(
    "out, words", [("p.txt", "must end in one of"), ("p", "must end in"), ("p.xls", "must end in")]
)
def test_other_endings_are_refused(capsys, customers, fitted, tmp_path, out, words):
    code, said = refusal(capsys, "predict", customers, "-m", fitted[1], "-o", tmp_path / out)
    assert (code, list(tmp_path.iterdir())) == (2, [])
    assert words in said


def test_json_and_another_format_contradict_each_other(capsys, customers, fitted, tmp_path):
    code, said = refusal(capsys, "predict", customers, "-m", fitted[1], "-o", tmp_path / "p.csv", "--json")
    assert code == 2
    assert "Leave --json out" in said


def test_a_threshold_or_costs_decide_where_the_line_is(capsys, customers, fitted):
    def answers(*options):
        capsys.readouterr()
        assert run(["predict", str(customers), "-m", str(fitted[1]), "--only", *options]) == 0
        out, said = capsys.readouterr()
        lines = list(csv.DictReader(out.splitlines()))
        return [line["predicted_bought"] for line in lines], [float(line["probability_yes"]) for line in lines], said

    _, probability, _ = answers()
    for options, threshold in ((("--threshold", "0.2"), 0.2), (("--costs", "3", "1"), 0.25)):
        labels, _, said = answers(*options)
        assert labels == ["yes" if share > threshold else "no" for share in probability]
    assert "'yes' is predicted above a probability of 25 %" in said
    code, said = refusal(capsys, "predict", customers, "-m", fitted[1], "--threshold", "0.2", "--costs", "3", "1")
    assert code != 0
    assert "--threshold and --costs both set the threshold: pass one of them" in said


def test_a_cell_of_excel_takes_as_many_letters_as_excel_allows():
    assert MOST_LETTERS * "a" in _text_cell(MOST_LETTERS * "a")
    with pytest.raises(TableError, match=r"one has 32,768\. Write \.csv"):
        _text_cell((MOST_LETTERS + 1) * "a")


def test_dates_before_1901_are_text_in_excel_which_counts_them_otherwise():
    assert _cell(datetime.date(1900, 3, 1)) == _text_cell("1900-03-01")
    assert _cell(datetime.date(1901, 1, 1)) == '<c s="1"><v>367.0</v></c>'


def test_a_write_protected_folder_is_refused_before_the_fit(place, monkeypatch, capsys):
    monkeypatch.chdir(place)
    (place / "locked").mkdir()
    real = os.access
    monkeypatch.setattr("os.access", lambda path, mode: "locked" not in str(path) and real(path, mode))
    monkeypatch.setattr("pnulearn.TableClassifier.fit", lambda *_, **__: pytest.fail("it was fitted"))
    code, words = refusal(capsys, "fit", "in.csv", *FIT, "-m", "locked/m.pnu")
    assert code == 2
    assert "is write-protected" in words
