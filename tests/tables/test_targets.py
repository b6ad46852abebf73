"""The label column: markers, positive labels, types, and what looks like a mistake."""

import json

import pytest

from pnulearn.tables import TableError, read_table, read_targets


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
