"""From a table to its labels and back: never the same file."""

import json
import re

import numpy as np
import pytest
from tests.labeling.conftest import write_table

from pnulearn import pnu_risk
from pnulearn.cli import run
from pnulearn.labeling import JournalError, journal_of
from pnulearn.labeling._cells import RowReader
from pnulearn.labeling._table_labeling import label_columns, read_task, restore
from pnulearn.priors import PriorEstimate
from pnulearn.tables import TableError, read_table
from pnulearn.tables._label_column import refuse_lost_names
from pnulearn.tables._loading import load_table_model
from pnulearn.tables._provenance import export_names


def label_rows(table, truth, n):
    """Label rows as the page does, and leave the journal."""
    task = read_task(read_table(table), "bought")
    labeler = task.labeler(journal_of(table), refit_every=20)
    for _ in range(n):
        labeler.answer("yes" if truth[labeler.next().row] else "no")
    labeler.next()
    labeler.dont_know()
    labeler.close()
    return task


def test_an_export_has_labels_origins_and_weights(tmp_path, capsys):
    table, out = tmp_path / "table.csv", tmp_path / "labelled.csv"
    truth = write_table(table, n_rows=200, n_labeled=6)
    original = table.read_bytes()
    label_rows(table, truth, 60)
    assert run(["label", str(table), "--label", "bought", "--export", str(out), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert sum(said["labels"].values()) == 66
    assert said["dont_know"] == 1
    assert table.read_bytes() == original
    copy = read_table(out)
    assert copy.names[-4:] == list(export_names("bought"))
    label, origin, marks, weight = (copy.column(name, "text").values for name in copy.names[-4:])
    assert np.array_equal(label[:6], np.where(truth[:6], "yes", "no"))
    assert set(origin[:6]) == {"given"}
    assert sum(value is not None for value in label) == 66
    assert set(origin) == {"given", "random", "margin", "don't know", None}
    assert all((mark == "yes") == (why == "random") for mark, why in zip(marks, origin, strict=True) if mark)
    drawn = np.isin(origin.astype(str), ["random", "margin"])
    assert np.mean(weight[drawn].astype(float)) == pytest.approx(1, abs=0.25)
    assert set(weight[~drawn]) == {"1"}
    assert_weights_are_those_of_lure(journal_of(table), origin, weight, n_rows=200, n_given=6)


def assert_weights_are_those_of_lure(journal, origin, weight, n_rows, n_given):
    """1 + (N − M) / (N − m) (1 / ((N − m + 1) p) − 1) for the m-th of M draws from N rows, from the journal's lines."""
    events = [json.loads(line) for line in journal.read_text().splitlines()]
    answered = {event["draw"] for event in events if event["event"] == "answer"}
    rows = [event for event in events if event["event"] == "draw" and event["draw"] in answered]
    drawn = np.isin(origin.astype(str), ["random", "margin"])
    assert len({weight[event["row"]] for event in rows}) > 10
    assert drawn.sum() == sum(origin[event["row"]] != "don't know" for event in rows)
    first = next(event for event in rows if origin[event["row"]] != "don't know")
    n_left, total = n_rows - n_given, int(drawn.sum())
    assert 0 < first["probability"] <= 1
    wanted = 1 + (n_left - total) / (n_left - 1) * (1 / (n_left * first["probability"]) - 1)
    assert float(weight[first["row"]]) == pytest.approx(wanted, rel=0.05)  # "don't know" changes M and N by one


def test_fit_prior_and_evaluate_read_an_export(tmp_path, capsys):
    table, out, model = tmp_path / "table.csv", tmp_path / "labelled.csv", tmp_path / "m.pnu"
    truth = write_table(table, n_rows=200)
    task = label_rows(table, truth, 60)
    labeler = restore(task, journal_of(table))
    random = [code for draw, code in labeler.answers if draw.reason == "random" and code >= 0]
    assert run(["label", str(table), "--label", "bought", "--export", str(out)]) == 0
    assert run(["fit", str(out), "--label", "bought", "--model", str(model)]) == 0
    fitted = load_table_model(model)
    expected = PriorEstimate.of_counts(np.bincount(random, minlength=2))
    assert fitted.classifier.prior_ == pytest.approx(expected.value)  # rows at random count once each
    assert not {"bought_origin", "bought_at_random", "bought_weight"} & set(fitted.plan.kinds)
    capsys.readouterr()
    assert run(["evaluate", str(out), "--label", "bought", "--model", str(model), "--json"]) == 0
    weighted = json.loads(capsys.readouterr().out)
    scores = fitted.predict(read_table(out)).scores
    y, weight = labeler.codes.astype(float), label_columns(task, labeler).cells
    y[y < 0] = np.nan
    risk = pnu_risk(y, scores, prior=expected, sample_weight=[float(cells[3]) for cells in weight])
    assert weighted["error_rate"] == pytest.approx(risk.value)
    assert run(["prior", str(out), "--label", "bought", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["labels"] == "chosen"
    assert run(["fit", str(out), "--label", "bought", "--weights", "colour"]) == 1
    assert "Weights must be numbers" in capsys.readouterr().err


def test_a_table_without_labels_without_the_column_and_of_pictures_only(tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("size\n" + "\n".join(map(str, range(20))) + "\n")
    task = read_task(read_table(table), "bought")
    assert task.classes == ["no", "yes"]
    assert task.labeler().next() is not None
    assert read_task(read_table(table), "kind", classes=["a", "b", "c"]).classes == ["a", "b", "c"]
    table.write_text("id,bought\n" + "\n".join(f"x{k}," for k in range(20)) + "\n")
    task = read_task(read_table(table), "bought")
    assert "nothing to learn from" in task.remarks[-1]
    labeler = task.labeler(refit_every=5)
    for k in range(12):
        labeler.next()
        labeler.answer("yes" if k % 3 else "no")
    assert labeler.estimate().n_labels == 12


def test_classes_that_do_not_fit_are_named(tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("size,bought\n" + "\n".join(f"{k},{'maybe' if k < 3 else ''}" for k in range(20)) + "\n")
    with pytest.raises(TableError, match=re.escape("name them all with --classes maybe,...")):
        read_task(read_table(table), "bought")
    assert read_task(read_table(table), "bought", classes=["maybe", "never"]).classes == ["maybe", "never"]
    with pytest.raises(TableError, match="'maybe'"):
        read_task(read_table(table), "bought", classes=["no", "yes"])


def test_nothing_to_export_yet_and_another_table(tmp_path):
    table = tmp_path / "table.csv"
    truth = write_table(table, n_rows=50)
    with pytest.raises(JournalError, match="nothing was labelled yet"):
        restore(read_task(read_table(table), "bought"), journal_of(table))
    task = label_rows(table, truth, 5)
    assert len([cells for cells in label_columns(task, restore(task, journal_of(table))).cells if cells[0]]) == 5
    write_table(table, n_rows=50, seed=1)
    with pytest.raises(JournalError, match="belongs to other rows"):
        read_task(read_table(table), "bought").labeler(journal_of(table))


def test_the_command_refuses_what_it_cannot_do(tmp_path, capsys):
    table = tmp_path / "table.csv"
    write_table(table, n_rows=50)
    for options, words in (
        (["--export", str(table)], "is also FILE"),
        (["--mixture", "random"], "NAME=SHARE"),
        (["--mixture", "randon=1"], "No strategy is called"),
        (["--goal", "5"], "goal must lie"),
    ):
        assert run(["label", str(table), "--label", "bought", "--no-open", *options]) in (1, 2)
        assert words in " ".join(capsys.readouterr().err.replace("│", "").split())


def test_an_export_replaces_an_earlier_one_and_nothing_else(tmp_path, capsys):
    table, out = tmp_path / "table.csv", tmp_path / "labelled.csv"
    truth = write_table(table, n_rows=100)
    label_rows(table, truth, 10)
    command = ["label", str(table), "--label", "bought", "--export", str(out), "--json"]
    assert run(command) == 0
    label_rows(table, truth, 10)
    assert run(command) == 0
    assert sum(json.loads(capsys.readouterr().out.splitlines()[-1])["labels"].values()) == 20
    assert sum(value is not None for value in read_table(out).column("bought", "text").values) == 20
    for own in ("id,bought\n1,yes\n", "bought,bought_origin,bought_at_random,bought_weight,mine\n,,,,\n", "hello\n"):
        out.write_text(own)
        assert run(command) == 2
        assert "contains something else, not a table with labels" in " ".join(
            capsys.readouterr().err.replace("│", " ").split()
        )
        assert out.read_text() == own


def test_a_number_lies_above_smaller_ones_only(tmp_path):
    (tmp_path / "visits.csv").write_text("visits\n" + "0\n" * 60 + "1\n" * 20 + "2\n" * 20, encoding="utf-8")
    reader = RowReader(read_table(tmp_path / "visits.csv"), set(), None)
    below = [reader.cells(row)[0]["below"] for row in (0, 60, 99)]
    assert below == pytest.approx([0, 0.6, 0.8], abs=0.01)


def test_the_journal_knows_its_classes(tmp_path, capsys):
    table, out = tmp_path / "t.csv", tmp_path / "x.csv"
    cells = [f"{k}," for k in range(30)]
    table.write_text("\n".join(["size,Churn", *cells]))
    labeler = read_task(read_table(table), "Churn", classes=["No", "Yes"]).labeler(journal_of(table), refit_every=0)
    labeler.next()
    labeler.answer("Yes")
    labeler.close()
    command = ["label", str(table), "--label", "Churn", "--export", str(out), "--json"]
    assert run(command) == 0
    assert json.loads(capsys.readouterr().out)["labels"] == {"No": 0, "Yes": 1}
    assert run([*command, "--classes", "no,yes"]) == 1
    told = " ".join(capsys.readouterr().err.split())
    assert "begun with the classes No,Yes" in told
    assert "--classes No,Yes" in told
    assert "away" not in told
    table.write_text("\n".join(["size,Churn", *cells, "77,no"]))  # the journal's spelling counts
    assert run(command) == 0
    assert json.loads(capsys.readouterr().out)["labels"] == {"No": 1, "Yes": 1}
    table.write_text("\n".join(["size,Churn", *cells, "77,perhaps"]))
    assert run(command) == 1
    assert "'perhaps', and the classes are 'No', 'Yes'" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("classes", "words"),
    [
        ("no,", "A name is missing among the classes 'no,'"),
        ("1,1.0", "'1' and '1.0' are read as one label"),
        ("Yes,yes", "'Yes' and 'yes' are read as one label"),
        ("NA,yes", "'NA' is read as a missing label"),
        ("none,some", "'none' is read as a missing label"),
        ("no,n/a", "'n/a' is read as a missing label"),
        ("=1+1,b", "type 'class =1+1'"),
        ("a,-x", "type 'class -x'"),
        ("+a,b", "type 'class +a'"),
        ("a,@b", "type 'class @b'"),
        ("5%,10%", "type '5' instead"),
    ],
)
def test_names_that_do_not_come_back_from_an_export_are_refused(tmp_path, capsys, classes, words):
    table = tmp_path / "t.csv"
    table.write_text("size\n" + "\n".join(map(str, range(30))))
    assert run(["label", str(table), "--label", "y", "--no-open", f"--classes={classes}", "--export", "x.csv"]) == 1
    assert words in " ".join(capsys.readouterr().err.split())
    assert list(tmp_path.iterdir()) == [table]


@pytest.mark.parametrize(
    "classes", ["no,yes", "0,1", "-1,1", "01,02", "TRUE,FALSE", "a,b,c", "0,0.5,1", "no,not sure,1"]
)
def test_names_that_come_back_are_taken(classes):
    refuse_lost_names(classes.split(","))
