"""What becomes of columns: used, encoded, left out or refused; and new tables are treated alike."""

import json

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from pnulearn.cli import run
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
    plan = learn_plan(table(tmp_path, "c,x\nred,1\nblue,2\nred,3\nblue,5\n"))
    X, remarks = plan.features(table(tmp_path, "c,x\ngreen,1\n", "new.csv"))
    assert X[0, :2].tolist() == [0, 0]
    assert "'green'" in remarks[0]


def test_number_codes_match_categories_that_were_text(tmp_path):
    plan = learn_plan(table(tmp_path, "c,x\n1,1\nb,2\n1,3\nb,4\n"))
    X, remarks = plan.features(table(tmp_path, "c,x\n1,1\n1,2\n", "new.csv"))
    np.testing.assert_array_equal(X[:, :2], [[1, 0], [1, 0]])
    assert remarks == []


def test_the_model_decides_what_is_text(tmp_path):
    """A new table may hold only those codes that look like numbers."""
    plan = learn_plan(table(tmp_path, "c,x\n01,1\nA1,2\n02,3\n01,4\nA1,5\n02,6\n"))
    X, remarks = plan.features(table(tmp_path, "c,x\n02,1\n01,2\n", "new.csv"))
    assert plan.feature_names[:3] == ["c=01", "c=02", "c=A1"]
    np.testing.assert_array_equal(X[:, :3], [[0, 1, 0], [1, 0, 0]])
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


def test_a_dropped_date_does_not_matter(tmp_path):
    plan = learn_plan(table(tmp_path, "d,x\n2024-01-31,1\n2024-02-01,2\n"), without={"d": "by request"})
    assert plan.feature_names == ["x"]


def test_nested_columns_are_refused_by_name_unless_dropped(tmp_path):
    parquet.write_table(pa.table({"x": [1, 2, 3], "deep": [[1], [2], []]}), tmp_path / "t.parquet")
    source = read_table(tmp_path / "t.parquet")
    with pytest.raises(TableError, match=r"t.parquet: Column 'deep' has type list.*Split it"):
        learn_plan(source)
    assert learn_plan(source, without={"deep": "by request"}).feature_names == ["x"]


def test_stray_words_among_numbers_are_named(tmp_path):
    text = "x,z\n" + "".join(f"{i % 9},{i % 3}\n" for i in range(20)) + "?,1\n"
    with pytest.raises(TableError, match=r"except in 1 cell, first '\?' in row 21.*missing=\['\?'\]"):
        learn_plan(table(tmp_path, text))
    assert learn_plan(table(tmp_path, text, missing=("?",))).feature_names == ["x", "z"]


def test_infinity_and_tables_without_use_are_refused(tmp_path):
    with pytest.raises(TableError, match="infinite in row 2"):
        learn_plan(table(tmp_path, "x\n1\ninf\n"))
    with pytest.raises(TableError, match="no column left"):
        learn_plan(table(tmp_path, "x,y\n1,a\n1,b\n"), without={"y": "the label"})


@pytest.mark.parametrize(
    "name, cells",
    [
        ("x", range(30)),
        ("x", [*range(30, 45), *range(15, 30)]),
        ("kunden_nr", [100 * i + i % 7 for i in range(30)]),
        ("x", [f"k{i}" for i in range(30)]),
        ("x", [f"Anna Nr{i}" for i in range(30)]),
    ],
)
def test_identifiers_and_counters_are_left_out_unless_somebody_wants_them(tmp_path, name, cells):
    text = f"{name},z\n" + "".join(f"{cell},{i % 3}\n" for i, cell in enumerate(cells))
    plan = learn_plan(table(tmp_path, text))
    assert plan.feature_names == ["z"]
    assert plan.left_out[name].startswith(("row numbers", "an identifier"))
    assert plan.fates[name].startswith("left out: ")
    assert learn_plan(table(tmp_path, text), kinds={name: "codes"}).kinds == {name: "codes", "z": "number"}


def test_the_same_column_again_is_left_out(tmp_path):
    plan = learn_plan(table(tmp_path, "a,b,c,d\n1,x,1,x\n2,y,2,y\n2,x,2,x\n4,y,4,y\n"))
    assert plan.left_out == {"c": "the same as column 'a'", "d": "the same as column 'b'"}


def test_somebody_may_know_better_what_a_column_is(tmp_path):
    source = table(tmp_path, "size,zip\n1,01067\n2,80331\n1,80331\n3,01067\n")
    assert learn_plan(source).kinds == {"size": "number", "zip": "category"}
    assert learn_plan(source, kinds={"size": "category", "zip": "number"}).kinds == {
        "size": "category",
        "zip": "number",
    }
    with pytest.raises(TableError, match="Kinds are number, flag, category, codes, date, text"):
        learn_plan(source, kinds={"zip": "town"})
    with pytest.raises(TableError, match=r"has no column 'zipp'. Did you mean 'zip'"):
        learn_plan(source, kinds={"zipp": "category"})


def test_categories_beyond_the_limit_share_features(tmp_path):
    source = table(tmp_path, "town,x\n" + "".join(f"town{i % 60},{i % 7}\n" for i in range(600)))
    assert learn_plan(source).kinds["town"] == "codes"
    assert learn_plan(source, most_categories=60).kinds["town"] == "category"


@pytest.mark.parametrize(
    ("distinct", "kinds"), [(95, {"host_id": "codes", "size": "number"}), (96, {"size": "number"})]
)
def test_numbers_of_which_more_than_95_in_100_differ_identify_rows(tmp_path, distinct, kinds):
    rows = "".join(f"{7 * (i % distinct) + 1000},{i % 9}.5\n" for i in range(100))
    assert learn_plan(table(tmp_path, "host_id,size\n" + rows)).kinds == kinds


def test_identifiers_of_rows_and_of_other_things(tmp_path):
    rng = np.random.default_rng(0)
    rows = [
        f"{10 * i + i % 3},{i // 2 * 37},{'x y z' if i == 3 else ''},{'?' if i % 3 else 'a'},{rng.normal():.3f}\n"
        for i in range(200)
    ]
    found = learn_plan(table(tmp_path, "Unnamed: 0,host_id,remark,work,size\n" + "".join(rows)))
    assert found.left_out == {
        "Unnamed: 0": "an identifier (200 different numbers)",
        "remark": "nearly empty (1 of 200 cells are filled)",
    }
    assert found.kinds == {"host_id": "codes", "work": "category", "size": "number"}
    assert "'?' is one of them, unless missing=['?'] is passed" in found.fates["work"]


def test_columns_say_how_many_rows_and_labels_there_are(tmp_path, capsys):
    path = tmp_path / "t.csv"
    path.write_text("x,y\n" + "".join(f"{i % 7},{'' if i % 2 else 'ab'[i % 4 // 2]}\n" for i in range(80)))
    assert run(["columns", str(path), "-l", "y", "--json"]) == 0
    out, said = capsys.readouterr()
    assert "t.csv has 80 rows, 40 of them labelled (20 'a', 20 'b')" in said
    assert json.loads(out.splitlines()[1])["missing"] == 40


def test_a_range_with_a_fraction_in_it_is_no_numbering(tmp_path):
    cells = [1, 2.5, *range(3, 31)]
    plan = learn_plan(table(tmp_path, "x,z\n" + "".join(f"{cell},{i % 3}\n" for i, cell in enumerate(cells))))
    assert plan.kinds == {"x": "number", "z": "number"}
