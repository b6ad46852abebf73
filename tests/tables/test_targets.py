"""The label column: markers, positive labels, types, and what looks like a mistake."""

import json

import pytest

from pnulearn._reader.errors import Caution
from pnulearn.tables import TableError, read_table, read_targets
from pnulearn.tables._label_column import MOST_CLASSES, LabelCounter


def targets(tmp_path, cells, **options):
    path = tmp_path / "t.csv"
    path.write_text("x,y\n" + "".join(f"{i},{cell}\n" for i, cell in enumerate(cells)))
    return read_targets(read_table(path), "y", **options)


def test_empty_cells_are_unlabelled_and_whole_numbers_stay_whole(tmp_path):
    found = targets(tmp_path, ["1", "0", "", "NA", "1"], positive="1.0")
    assert found.y.tolist() == [1, 0, None, None, 1]
    assert found.positive == 1
    assert found.counts == {0: 1, 1: 2}
    assert found.n_unlabeled == 2


@pytest.mark.parametrize("marker, cells", [("-1", ["1", "-1", "0"]), ("?", ["yes", "?", "no"])])
def test_a_named_marker_is_unlabelled(tmp_path, marker, cells):
    found = targets(tmp_path, cells, unlabeled=marker)
    assert found.y.tolist()[1] is None
    assert len(found.counts) == 2


def test_flags_are_labels(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text("\n".join(json.dumps({"x": i, "y": y}) for i, y in enumerate([True, False, None])))
    found = read_targets(read_table(path), "y", positive="True")
    assert found.y.tolist() == [True, False, None]
    assert found.positive is True


@pytest.mark.parametrize(
    "cells, options, message",
    [
        (["a", "b", ""], {"positive": "c"}, r"label 'c', named as positive. Found 'a' \(1 rows\)"),
        (["a", "b", ""], {"unlabeled": "?"}, "No cell of column 'y' is"),
        (["", "", "NA"], {}, "no label at all in 3 rows"),
        ([str(i) for i in range(30)], {}, "30 different values"),
        (["a", "b", "?"], {}, r"unlabeled='\?'"),
    ],
)
def test_what_looks_like_a_mistake_is_refused(tmp_path, cells, options, message):
    with pytest.raises(TableError, match=message):
        targets(tmp_path, cells, **options)


def test_spellings_that_differ_in_case_or_blanks_are_one_label(tmp_path):
    found = targets(tmp_path, ["Yes", "yes ", " YES", "yes", "no", "No", ""])
    assert found.counts == {"No": 2, "yes": 4}
    assert found.y.tolist() == ["yes"] * 4 + ["No", "No", None]
    assert "'yes' (2), 'Yes' (1), 'YES' (1) are one label, 'yes'" in found.remarks[0]


def test_labels_are_spelt_as_a_model_knows_them(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,y\n1,YES\n2,NO\n3,YES\n")
    assert read_targets(read_table(path), "y", known=["no", "yes"]).y.tolist() == ["yes", "no", "yes"]


@pytest.mark.parametrize(
    "cells, positive",
    [
        (["Nein", "Ja", ""], "Ja"),
        (["wahr", "falsch"], "wahr"),
        (["TRUE", "FALSE"], "TRUE"),
        (["N", "J"], "J"),
        (["spam", "ham"], "spam"),
        (["a", "b", "c"], None),
        (["1", "0"], None),
    ],
)
def test_yes_is_positive_in_every_language_and_that_is_said(tmp_path, cells, positive):
    found = targets(tmp_path, cells)
    assert found.positive == positive
    assert any(f"is {positive!r}" in remark for remark in found.remarks) == (positive is not None)


@pytest.mark.parametrize(
    "cell, named, positive",
    [("no", None, "yes"), ("Nein", None, "Ja"), ("no", "yes", "yes"), ("spam", None, None), ("0", "1", 1)],
)
def test_a_column_of_nothing_but_no_has_no_positive_row(tmp_path, cell, named, positive):
    found = targets(tmp_path, [cell, cell, ""], positive=named)
    assert found.positive == positive
    assert type(found.positive) is type(positive)


SEVERITY = ["none", "mild", "severe", "", "none", ""]


@pytest.mark.parametrize(
    "cells, word, is_warning",
    [
        (SEVERITY, "none", True),
        (["NA", "EU", "EU", "US", "", "", ""], "NA", True),
        (["yes", "no", "NA", "NA"], "NA", False),
        (["1", "0", "NA", "", ""], "NA", False),
    ],
)
def test_words_that_mean_missing_are_counted_and_may_be_classes(tmp_path, cells, word, is_warning):
    remarks = targets(tmp_path, cells).remarks
    said = next(one for one in remarks if f"{cells.count(word)} cells of column 'y' say {word!r}" in one)
    assert isinstance(said, Caution) is is_warning
    assert ('pass unlabeled=""' in said) is is_warning
    kept = targets(tmp_path, cells, unlabeled="")
    assert kept.counts.get(word) == cells.count(word)
    assert kept.n_unlabeled == cells.count("")
    assert not any("say" in one for one in kept.remarks)


def test_the_same_words_in_batches(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,y\n" + "".join(f"{i},{cell}\n" for i, cell in enumerate(SEVERITY)))
    for unlabeled, counts in ((None, {"mild": 1, "severe": 1}), ("", {"mild": 1, "none": 2, "severe": 1})):
        counter = LabelCounter("y")
        counter.add(read_table(path))
        found = counter.read("t.csv", positive=None, unlabeled=unlabeled)
        assert found.meaning.counts == counts
        assert any(isinstance(one, Caution) for one in found.meaning.remarks) is (unlabeled is None)


def test_numbers_with_a_fraction_among_them_stay_as_they_are(tmp_path):
    assert targets(tmp_path, ["1", "2.5", "1", ""]).y.tolist() == [1.0, 2.5, 1.0, None]
    assert [type(value) for value in targets(tmp_path, ["1", "2.5"]).y] == [float, float]


def test_at_most_twenty_classes(tmp_path):
    assert len(targets(tmp_path, range(MOST_CLASSES)).counts) == 20
    with pytest.raises(TableError, match="21 different values"):
        targets(tmp_path, range(MOST_CLASSES + 1))
