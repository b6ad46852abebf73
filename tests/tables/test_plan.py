"""What becomes of columns: used, encoded, left out or refused; and new tables are treated alike."""

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from pnulearn.tables import Table, TableError, learn_plan, read_table


def table(tmp_path, text, name="t.csv", **options):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return read_table(path, **options)


MIXED = "n,c,k,e,id,y\n1,red,7,,a1,p\n2,blue,7,,b2,\n,red,7,,c3,n\n6,,7,,d4,\n3,red,7,,e5,\n"


def test_every_column_has_its_fate(tmp_path):
    plan = learn_plan(table(tmp_path, MIXED), without={"y": "the label"})
    assert plan.feature_names == ["n", "c=blue", "c=red"]
    assert plan.left_out["k"] == "the same value in every row"
    assert plan.left_out["e"] == "empty"
    assert "identifier" in plan.left_out["id"]


def test_features_are_scaled_filled_and_encoded(tmp_path):
    source = table(tmp_path, MIXED)
    X, remarks = learn_plan(source, without={"y": "the label"}).features(source)
    filled = np.array([1, 2, 2.5, 6, 3])
    np.testing.assert_allclose(X[:, 0], (filled - filled.mean()) / filled.std())
    np.testing.assert_array_equal(X[:, 1:], [[0, 1], [1, 0], [0, 1], [0, 0], [0, 1]])
    assert remarks == []


@pytest.mark.parametrize("scaling, low, high", [("minmax", 0, 1), ("none", 1, 6)])
def test_other_scalings(tmp_path, scaling, low, high):
    source = table(tmp_path, MIXED)
    X, _ = learn_plan(source, without={"y": ""}, scaling=scaling).features(source)
    assert (X[:, 0].min(), X[:, 0].max()) == (low, high)


def test_new_rows_are_scaled_by_the_old_ones(tmp_path):
    plan = learn_plan(table(tmp_path, "x,z\n0,1\n10,2\n5,1\n"), scaling="minmax")
    X, _ = plan.features(table(tmp_path, "z,x,extra\n2,20,q\n", "new.csv"))
    np.testing.assert_array_equal(X, [[2.0, 1.0]])


def test_a_model_that_meets_other_columns_says_which(tmp_path):
    plan = learn_plan(table(tmp_path, "age,size\n0,1\n10,2\n5,1\n"))
    with pytest.raises(TableError, match=r"needs column 'age', which new.csv does not have. Did you mean 'Age'"):
        plan.features(table(tmp_path, "Age,size\n1,2\n", "new.csv"))
    with pytest.raises(TableError, match=r"Column 'age' of new.csv needs numbers; row 1 holds 'old'"):
        plan.features(table(tmp_path, "age,size\nold,2\n", "new.csv"))


def test_unknown_categories_count_as_missing_with_a_remark(tmp_path):
    plan = learn_plan(table(tmp_path, "c,x\nred,1\nblue,2\nred,3\nblue,4\n"))
    X, remarks = plan.features(table(tmp_path, "c,x\ngreen,1\n", "new.csv"))
    assert X[0, 1:].tolist() == [0, 0]
    assert "'green'" in remarks[0]


def test_number_codes_match_categories_that_were_text(tmp_path):
    plan = learn_plan(table(tmp_path, "c,x\n1,1\nb,2\n1,3\nb,4\n"))
    X, remarks = plan.features(table(tmp_path, "c,x\n1,1\n1,2\n", "new.csv"))
    np.testing.assert_array_equal(X[:, 1:], [[1, 0], [1, 0]])
    assert remarks == []


def test_the_model_decides_what_is_text(tmp_path):
    """A new table may hold only those codes that look like numbers."""
    plan = learn_plan(table(tmp_path, "c,x\n01,1\nA1,2\n02,3\n01,4\nA1,5\n02,6\n"))
    X, remarks = plan.features(table(tmp_path, "c,x\n02,1\n01,2\n", "new.csv"))
    assert plan.feature_names[1:] == ["c=01", "c=02", "c=A1"]
    np.testing.assert_array_equal(X[:, 1:], [[0, 1, 0], [1, 0, 0]])
    assert remarks == []


def test_batches_of_rows_give_the_features_of_the_whole(tmp_path):
    whole = table(tmp_path, MIXED)
    plan = learn_plan(whole, without={"y": "the label"})
    parts = [Table(batch, whole.source, whole.reading) for batch in whole.cells.to_batches(max_chunksize=2)]
    assert len(parts) > 2
    np.testing.assert_array_equal(np.concatenate([plan.features(part)[0] for part in parts]), plan.features(whole)[0])


def test_a_stray_cell_of_a_later_batch_is_named_by_its_row_in_the_file(tmp_path):
    plan = learn_plan(table(tmp_path, "a;b\n1,5;1\n2,5;2\n3,5;1\n"))
    new = table(tmp_path, "a;b\n1,5;2\nold;3\n", "new.csv")
    with pytest.raises(TableError, match=r"Column 'a' of new.csv needs numbers; row 12 holds 'old'"):
        plan.features(Table(new.cells, new.source, new.reading, start=10))


@pytest.mark.parametrize("cell", ["2024-01-31", "31.12.2024", "1/2/24", "2024-01-31T10:00:00", "10:30"])
def test_dates_are_refused_with_advice(tmp_path, cell):
    with pytest.raises(TableError, match=r"Column 'd' .* dates .*--drop 'd'"):
        learn_plan(table(tmp_path, f"d,x\n{cell},1\n{cell},2\n"))


def test_a_dropped_date_does_not_matter(tmp_path):
    plan = learn_plan(table(tmp_path, "d,x\n2024-01-31,1\n2024-02-01,2\n"), without={"d": "by request"})
    assert plan.feature_names == ["x"]


def test_nested_columns_are_refused_by_name_unless_dropped(tmp_path):
    parquet.write_table(pa.table({"x": [1, 2, 3], "deep": [[1], [2], []]}), tmp_path / "t.parquet")
    source = read_table(tmp_path / "t.parquet")
    with pytest.raises(TableError, match=r"t.parquet: Column 'deep' holds list.*Split it"):
        learn_plan(source)
    assert learn_plan(source, without={"deep": "by request"}).feature_names == ["x"]


def test_stray_words_among_numbers_are_named(tmp_path):
    text = "x,z\n" + "".join(f"{i},{i % 3}\n" for i in range(20)) + "?,1\n"
    with pytest.raises(TableError, match=r"except in 1 cells, first '\?' in row 21.*--missing '\?'"):
        learn_plan(table(tmp_path, text))
    assert learn_plan(table(tmp_path, text, missing=("?",))).feature_names == ["x", "z"]


def test_infinity_and_tables_without_use_are_refused(tmp_path):
    with pytest.raises(TableError, match="infinite in row 2"):
        learn_plan(table(tmp_path, "x\n1\ninf\n"))
    with pytest.raises(TableError, match="no column left"):
        learn_plan(table(tmp_path, "x,y\n1,a\n1,b\n"), without={"y": "the label"})


def test_row_counters_get_a_remark(tmp_path):
    assert "--drop 'id'" in learn_plan(table(tmp_path, "id,x\n1,5\n2,1\n3,4\n")).remarks[0]
