"""Answers go along when their table is saved again, sorted, extended or cut; rows that are not found are told."""

import json

import numpy as np
import pandas as pd
import pytest

from pnulearn.cli import run
from pnulearn.labeling import JournalError, journal_of
from pnulearn.labeling._found_rows import RowMarks, find_rows
from pnulearn.labeling._repair import repair_journal
from pnulearn.labeling._table_labeling import label_columns, read_task, restore
from pnulearn.tables import read_table


def customers(n=120, seed=0, first=1000):
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < 0.4
    frame = pd.DataFrame(
        {
            "customer": [f"c{first + 7 * k}" for k in range(n)],
            "size": (rng.normal(2.5 * truth) * 1000).round() / 1000,
            "since": pd.date_range("2020-01-01", periods=n).strftime("%Y-%m-%d"),
            "colour": rng.choice(["red", "blue"], n),
            "big": rng.choice(["TRUE", "FALSE"], n),
            "bought": "",
        }
    )
    return frame, dict(zip(frame.customer, np.where(truth, "yes", "no"), strict=True))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "t.csv"


def start(path, frame, truth, n=40, **options):
    """Label n rows of a table, of which one is answered with don't know, one skipped and one taken back."""
    frame.to_csv(path, index=False)
    task = read_task(read_table(path), "bought", classes=("no", "yes"))
    labeler = task.labeler(journal_of(path), refit_every=0, **options)
    label(labeler, frame, truth, n)
    labeler.dont_know(labeler.next())
    labeler.skip(labeler.next())
    labeler.next()
    labeler.answer("yes")
    labeler.undo()
    labeler.close()
    return {frame.customer[draw.row]: (code, draw.probability) for draw, code in labeler.answers}


def label(labeler, frame, truth, n):
    for _ in range(n):
        labeler.answer(truth[frame.customer[labeler.next().row]])


def resumed(path, **options):
    task = read_task(read_table(path), "bought", classes=("no", "yes"))
    return task, task.labeler(journal_of(path), refit_every=0, **options)


def answers_of(labeler, frame):
    return {frame.customer[draw.row]: (code, draw.probability) for draw, code in labeler.answers}


def grown(frame, seed=3):
    """The rows in another order, with new ones anywhere between them."""
    more, truth = customers(50, seed=9, first=50_000)
    return pd.concat([frame, more]).sample(frac=1, random_state=seed).reset_index(drop=True), truth


def test_answers_go_along_when_rows_are_added_anywhere_and_labelling_goes_on(path):
    frame, truth = customers()
    before = start(path, frame, truth)
    larger, more = grown(frame)
    larger.to_csv(path, index=False)
    told = read_task(read_table(path), "bought", classes=("no", "yes")).resume(journal_of(path)).remarks
    assert "41 of 41 labelled rows were found again" in " ".join(told)
    assert "come from the same population" in " ".join(told)
    task, labeler = resumed(path)
    assert answers_of(labeler, larger) == before
    assert len(before) == 41
    assert labeler.n_left == 170 - 41
    label(labeler, larger, truth | more, 30)
    progress = labeler.refresh()
    assert progress.n_labels == 70
    assert progress.error.low <= progress.error.value <= progress.error.high
    assert np.isfinite(progress.error.n_effective)
    after = answers_of(labeler, larger)
    labeler.close()
    assert before.items() <= after.items()
    again = resumed(path)[1]  # the journal replays, and nothing is found anew
    assert answers_of(again, larger) == after
    again.close()
    assert len(list(path.parent.glob("*.before-*"))) == 1
    assert answers_of(restore(task, journal_of(path)), larger) == after
    assert repair_journal(journal_of(path)).dropped == []


@pytest.mark.parametrize("dialect", ["semicolon", "xlsx", "quoted", "columns", "numbers"])
def test_a_table_that_is_saved_again_keeps_its_answers(path, dialect):
    frame, truth = customers()
    before = start(path, frame, truth)
    if dialect == "semicolon":
        frame.to_csv(path, index=False, sep=";", decimal=",", encoding="utf-16")
    elif dialect == "xlsx":
        frame.assign(since=pd.to_datetime(frame.since), big=frame.big == "TRUE").to_excel(
            path.with_suffix(".xlsx"), index=False
        )
        path.with_suffix(".xlsx").replace(path)
    elif dialect == "quoted":
        frame.to_csv(path, index=False, quoting=1, lineterminator="\r\n")
    elif dialect == "columns":
        frame.assign(new=1.5)[["new", *frame.columns[::-1]]].to_csv(path, index=False)
    else:
        frame.assign(size=frame["size"].map("{:.6f}".format)).to_csv(path, index=False)
    _, labeler = resumed(path)
    assert answers_of(labeler, frame) == before
    labeler.close()


def test_rows_that_are_gone_are_told_and_the_copy_keeps_them(path, capsys):
    frame, truth = customers()
    before = start(path, frame, truth)
    gone = list(before)[:5]
    smaller = frame[~frame.customer.isin(gone)].reset_index(drop=True)
    smaller.to_csv(path, index=False)
    out = path.with_name("out.csv")
    raw = journal_of(path).read_bytes()
    command = ["label", str(path), "--label", "bought", "--classes", "no,yes", "--export", str(out), "--json"]
    assert run(command) == 0
    told = capsys.readouterr()
    assert "36 of 41 labelled rows were found again" in " ".join(told.err.split())
    assert "5 labelled rows are not in the table any more" in " ".join(told.err.split())
    assert sum(json.loads(told.out)["labels"].values()) + json.loads(told.out)["dont_know"] == 36
    assert journal_of(path).read_bytes() == raw  # an export only reads
    found = pd.read_csv(out).dropna(subset=["bought"])
    assert {name: truth[name] for name in found.customer} == dict(zip(found.customer, found.bought, strict=True))
    resumed(path)[1].close()
    assert next(path.parent.glob("*.before-1")).read_bytes() == raw


def test_cells_that_change_are_found_by_an_identifier_that_is_to_be_trusted(path):
    frame, truth = customers()
    before = start(path, frame, truth)
    changed = frame.sample(frac=1, random_state=1).reset_index(drop=True)
    changed.loc[::10, "size"] += 5
    changed.to_csv(path, index=False)
    _, labeler = resumed(path)
    assert answers_of(labeler, changed) == before
    labeler.close()


def test_numbers_of_rows_that_are_given_anew_identify_nothing(path):
    frame, truth = customers()
    frame.insert(0, "row", range(len(frame)))
    before = start(path, frame, truth)
    changed = frame.sample(frac=1, random_state=1).reset_index(drop=True).assign(row=range(len(frame)))
    changed.loc[::3, "size"] += 5  # a third of the rows cannot be found: their numbers name other rows
    changed.to_csv(path, index=False)
    marks = RowMarks(read_table(path), "bought")
    assert marks.identifier == "row"
    told = read_task(read_table(path), "bought", classes=("no", "yes")).resume(journal_of(path)).remarks
    assert "name it with --id" in " ".join(told)
    _, labeler = resumed(path)
    after = answers_of(labeler, changed)
    labeler.close()
    assert len(before) > len(after) > 15
    assert after.items() <= before.items()


def test_where_all_cells_have_changed_the_identifier_must_be_named(path, capsys):
    frame, truth = customers()
    before = start(path, frame, truth)
    changed = frame.assign(size=frame["size"] + 1).sample(frac=1, random_state=1).reset_index(drop=True)
    changed.to_csv(path, index=False)
    command = ["label", str(path), "--label", "bought", "--classes", "no,yes", "--export", str(path.with_name("o"))]
    assert run(command) == 1
    assert "0 of the 41 labelled rows can be found" in (told := " ".join(capsys.readouterr().err.split()))
    assert "--id" in told
    assert run([*command, "--id", "custome"]) == 1
    assert "has no column 'custome'" in " ".join(capsys.readouterr().err.split())
    assert run([*command, "--id", "customer"]) == 0
    _, labeler = resumed(path, identifier="customer")
    assert answers_of(labeler, changed) == before
    labeler.close()


def test_equal_rows_are_interchangeable_and_each_is_used_once(path):
    frame = pd.DataFrame({"a": np.arange(60) % 4, "bought": ""})
    frame.to_csv(path, index=False)
    task = read_task(read_table(path), "bought", classes=("no", "yes"))
    labeler = task.labeler(journal_of(path), refit_every=0)
    for _ in range(20):
        labeler.answer("yes" if frame.a[labeler.next().row] > 1 else "no")
    labeler.close()
    turned = frame[::-1].reset_index(drop=True)
    turned.to_csv(path, index=False)
    _, labeler = resumed(path)
    rows = [draw.row for draw, _ in labeler.answers]
    assert len(set(rows)) == 20
    assert all((turned.a[draw.row] > 1) == (code == 1) for draw, code in labeler.answers)
    labeler.close()


def test_labels_that_came_into_the_table_meanwhile(path):
    frame, truth = customers()
    before = start(path, frame, truth, n=20)
    known = {name: code for name, (code, _) in before.items() if code >= 0}
    other = next(iter(known))
    filled = frame.assign(bought=[truth[name] if name in known else "" for name in frame.customer])
    filled.loc[filled.customer == other, "bought"] = "no" if truth[other] == "yes" else "yes"
    filled.loc[~filled.customer.isin(before), "bought"] = ["yes"] * 3 + [""] * (len(frame) - len(before) - 3)
    filled.to_csv(path, index=False)
    task = read_task(read_table(path), "bought").resume(journal_of(path))
    assert any("1 row has another label in t.csv than the answer" in remark for remark in task.remarks)
    labeler = task.labeler(journal_of(path), refit_every=0)
    assert answers_of(labeler, frame) == before
    assert sum(labeler.counts.values()) == 20 + 3
    labeler.refresh()
    columns = label_columns(task, labeler).cells
    labeler.close()
    assert sum(cells[1] == "given" for cells in columns) == 3
    _, labeler = resumed(path)
    assert sum(labeler.counts.values()) == 23
    labeler.close()


def test_labels_at_random_are_counted_once(path):
    frame, truth = customers()
    frame.loc[:9, "bought"] = [truth[name] for name in frame.customer[:10]]
    frame.to_csv(path, index=False)
    task = read_task(read_table(path), "bought")
    labeler = task.labeler(journal_of(path), refit_every=0, sampling="random")
    label(labeler, frame, truth, 15)
    labeler.close()
    larger, _ = grown(frame)
    larger.to_csv(path, index=False)
    task, labeler = resumed(path, sampling="random")
    assert labeler.refresh().n_labels == 25
    labeler.close()
    assert restore(task, journal_of(path)).refresh().n_labels == 25


def test_another_table_is_refused(path):
    frame, truth = customers()
    start(path, frame, truth)
    other, _ = customers(seed=5, first=9)
    other.to_csv(path, index=False)
    with pytest.raises(JournalError, match="belongs to other rows: only 0 of the 41"):
        resumed(path)
    other[["customer", "bought"]].to_csv(path, index=False)
    with pytest.raises(JournalError, match="belongs to other rows: not all columns that it was begun"):
        resumed(path)
    table = read_table(path)
    with pytest.raises(JournalError, match="belongs to other rows: its label is 'bought'"):
        find_rows(table, "sold", ["no", "yes"], journal_of(path), [False] * table.n_rows)


def test_a_journal_of_other_classes_is_refused_by_an_export_too(path):
    frame, truth = customers()
    start(path, frame, truth)
    task = read_task(read_table(path), "bought", classes=["no", "perhaps", "yes"])
    with pytest.raises(JournalError, match=r"begun with the classes no,yes, .* --classes no,yes"):
        restore(task, journal_of(path))


def few_cells(first="c", numbers=range(100)):
    """Customers of whom several have the same cells, named by a letter and a number, or by a number."""
    return pd.DataFrame(
        {
            "cust": [f"{first}{k}" if first else 1000 + k for k in numbers],
            "colour": ["rgb"[k % 3] for k in numbers],
            "size": ["SML"[k // 3 % 3] for k in numbers],
            "y": "",
        }
    )


def label_few_cells(path, frame, n=20):
    """Answers by customer."""
    frame.to_csv(path, index=False)
    labeler = read_task(read_table(path), "y", classes=("no", "yes")).labeler(journal_of(path), refit_every=0)
    for k in range(n):
        labeler.next()
        labeler.answer("yes" if k % 2 else "no")
    labeler.close()
    return {frame.cust[draw.row]: code for draw, code in labeler.answers}


@pytest.mark.parametrize("first", ["c", ""])
def test_labels_never_move_to_a_row_with_the_same_cells_and_another_identifier(path, first):
    before = label_few_cells(path, few_cells(first))
    rows = few_cells(first).sample(frac=1, random_state=1)
    kept = rows[rows.cust.isin(list(before)[:14]) | ~rows.cust.isin(before)].reset_index(drop=True)
    kept.to_csv(path, index=False)
    task = read_task(read_table(path), "y", classes=("no", "yes")).resume(journal_of(path))
    assert "14 of 20 labelled rows were found again by their identifier" in " ".join(task.remarks)
    assert "6 labelled rows are not in the table any more" in " ".join(task.remarks)
    labeler = task.labeler(journal_of(path), refit_every=0)
    assert {kept.cust[draw.row]: code for draw, code in labeler.answers} == dict(list(before.items())[:14])
    labeler.close()


@pytest.mark.parametrize("first", ["c", ""])
@pytest.mark.parametrize("n_other", [9, 100])  # with 9 of them, cells are unique now, but they were not
def test_other_rows_with_the_same_cells_are_refused(path, first, n_other):
    label_few_cells(path, few_cells(first))
    few_cells("z" if first else "", range(900, 900 + n_other)).to_csv(path, index=False)
    with pytest.raises(JournalError, match="only 0 of the 20 labelled rows"):
        read_task(read_table(path), "y", classes=("no", "yes")).resume(journal_of(path))


def test_a_label_of_a_row_whose_cells_were_not_unique_needs_its_identifier(path):
    before = label_few_cells(path, few_cells(), n=4)
    marks = [json.loads(line) for line in journal_of(path).read_text().splitlines()]
    assert {event["unique"] for event in marks if event["event"] == "draw"} == {False}
    gone = next(iter(before))
    kept = few_cells()
    cells = kept[kept.cust == gone][["colour", "size"]].iloc[0]
    alike = kept[(kept.colour == cells.colour) & (kept["size"] == cells["size"]) & ~kept.cust.isin(before)].cust
    kept = kept[kept.cust.isin([*list(before)[1:], alike.iloc[0]])]
    kept.to_csv(path, index=False)
    task = read_task(read_table(path), "y", classes=("no", "yes")).resume(journal_of(path))
    assert "3 of 4 labelled rows were found again by their identifier" in " ".join(task.remarks)


def test_equal_rows_among_numbers_that_are_given_anew_are_left_out(path):
    frame, _ = customers()
    same = frame.index >= 90
    frame.loc[same] = frame.loc[0].to_list()
    frame.insert(0, "row", range(len(frame)))
    truth = {name: "no" if name == "c1000" else "yes" for name in frame.customer}
    before = start(path, frame, truth, n=60)
    unique = {name: found for name, found in before.items() if name != "c1000"}
    assert len(unique) < 60
    frame[~same | (frame.index < 100)][::-1].assign(row=range(500, 600)).to_csv(path, index=False)
    _, labeler = resumed(path)
    assert answers_of(labeler, pd.read_csv(path)) == unique
    labeler.close()
