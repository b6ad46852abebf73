"""Nothing is destroyed by an output: not an input, not another output, not a file of another kind."""

import csv
import os

import pytest

from pnulearn._files.outputs import recognise
from pnulearn.cli import run

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
        (["predict", "in.csv", "-m", "m.pnu", "-o", "notes.txt"], "contains something else, not predictions"),
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
    (place / "notes.txt").write_text("precious, all of it\n")
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
    (place / "empty").touch()
    assert refusal(capsys, "fit", "in.csv", *FIT, "-m", "m.pnu", "-r", "r.html")[0] == 0
    assert refusal(capsys, "predict", "in.csv", "-m", "m.pnu", "-o", "p.csv")[0] == 0
    assert refusal(capsys, "predict", "in.csv", "-m", "m.pnu", "-o", "p.csv", "--json")[0] == 0
    assert refusal(capsys, "predict", "in.csv", "-m", "m.pnu", "-o", "p.csv")[0] == 0
    assert refusal(capsys, "predict", "in.csv", "-m", "m.pnu", "-o", "empty")[0] == 0
    assert refusal(capsys, "predict", "in.csv", "-m", "m.pnu", "-o", "r.html", "--overwrite")[0] == 0
    found = {p.name: recognise(p) for p in place.iterdir()}
    predictions = dict.fromkeys(("p.csv", "empty", "r.html"), "predictions")
    assert found == {"in.csv": "something else", "m.pnu": "a model", **predictions}


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
