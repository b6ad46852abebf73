"""Files as people have them: every trouble is named, every readable dialect is read."""

import gzip
import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose
from tests.problems import COLUMNS, mixture, table, write_parquet

from pnulearn import PNUClassifier
from pnulearn._reader.files import find_files
from pnulearn.streaming import TableError, collect_statistics, fit_files, make_design
from pnulearn.streaming._sources import open_source

X, Y, _ = mixture(600)
MODEL = {"centers": X[:8], "prior": 0.3, "mix": 0.2, "alpha": 0.1, "bandwidth": 2.0, "random_state": 0}


def fit(data, **settings):
    return fit_files(PNUClassifier(**MODEL | settings), data, target="label", dtype="float64")


def csv_text(delimiter=",", end="\n", header=True) -> str:
    lines = [delimiter.join([*COLUMNS, "label"])] if header else []
    lines += [
        delimiter.join([*(f"{v:.17g}" for v in row), "" if np.isnan(label) else f"{label:g}"])
        for row, label in zip(X, Y, strict=True)
    ]
    return end.join(lines) + end


DIALECTS = {
    "plain": csv_text().encode(),
    "BOM": csv_text().encode("utf-8-sig"),
    "CRLF": csv_text(end="\r\n").encode(),
    "semicolons": csv_text(";").encode(),
    "tabs": csv_text("\t").encode(),
    "decimal commas": csv_text(";").replace(".", ",").encode(),
    "UTF-16": csv_text().encode("utf-16"),
    "gzip without its ending": gzip.compress(csv_text().encode()),
    "no final newline": csv_text().rstrip().encode(),
    "quoted header": csv_text().replace("a,b,c,label", '"a","b","c","label"', 1).encode(),
}


@pytest.fixture(scope="module")
def wanted():
    return PNUClassifier(**MODEL).fit(X, Y)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_dialects_of_csv(dialect, tmp_path, wanted):
    (tmp_path / "t.csv").write_bytes(DIALECTS[dialect])
    model = fit(tmp_path / "t.csv")
    assert_allclose(model.coef_, wanted.coef_, atol=1e-9)
    assert model.classes_.tolist() == [0, 1]


def test_compressed_csv_and_cells_with_line_breaks(tmp_path, wanted):
    lines = csv_text().splitlines()
    noted = [lines[0] + ",note", *(line + ',"two\nlines, one comma"' for line in lines[1:])]
    with gzip.open(tmp_path / "t.csv.gz", "wt") as file:
        file.write("\n".join(noted) + "\n")
    model = fit_files(PNUClassifier(**MODEL), tmp_path, target="label", columns=COLUMNS, dtype="float64")
    assert_allclose(model.coef_, wanted.coef_, atol=1e-9)


def test_labels_of_a_csv_are_numbers_only_if_all_look_like_numbers(tmp_path):
    text = csv_text()
    (tmp_path / "n.csv").write_text(text.replace(",\n", ",?\n"))
    assert fit(tmp_path / "n.csv", unlabeled="?").classes_.tolist() == [0, 1]
    (tmp_path / "s.csv").write_text(text.replace(",1\n", ",one\n"))
    assert fit(tmp_path / "s.csv").classes_.tolist() == ["0", "one"]
    labels = [None if np.isnan(v) else f"{v:g}" for v in Y]
    pq.write_table(table(X, labels), tmp_path / "t.parquet")
    assert fit(tmp_path / "t.parquet").classes_.tolist() == ["0", "1"]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("t.csv", csv_text(header=False).encode(), "holds numbers .*, not column names"),
        (
            "t.csv",
            csv_text().encode() + b"1,2,3,1\n" * 140_000 + "1,2,3,Zürich\n".encode("latin-1"),
            "Save it as UTF-8",
        ),
        ("t.csv", csv_text().encode() + b"1,2,red,1\n", r"Column 'c' of .* row 601 holds 'red'.*columns="),
        ("t.csv", csv_text().encode() + b"1,2\n", "Row 601 .* has 2 cells, but the first line has 4"),
        ("t.csv", csv_text().encode() + b"1,,3,1\n", r"Row 600, column 'b' of .*t.csv.* holds a missing value"),
        ("t.csv", b"", "empty"),
        ("t.parquet", b"PAR1 this is not Parquet", "complete"),
    ],
)
def test_trouble_names_the_file(name, content, words, tmp_path):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=words) as caught:
        fit(tmp_path / name)
    assert name in str(caught.value)


def test_a_truncated_parquet_file_is_named(tmp_path):
    path = write_parquet(tmp_path / "whole.parquet", X, Y)
    content = path.read_bytes()
    (tmp_path / "half.parquet").write_bytes(content[: len(content) // 2])
    with pytest.raises(TableError, match=r"half\.parquet cannot be read.*Is it complete"):
        fit(tmp_path)


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (pa.array(["red"] * 600).dictionary_encode(), "OneHotEncoder"),
        (pa.array(["red"] * 600), "OneHotEncoder"),
        (pa.array(np.zeros(600, "datetime64[s]")), "days since"),
        (pa.array([[1.0]] * 600), "Convert it to a number"),
    ],
)
def test_columns_that_are_no_numbers_are_refused_with_advice(column, words, tmp_path):
    write_parquet(tmp_path / "t.parquet", X, Y, colour=column)
    with pytest.raises(TableError, match=rf"Column 'colour' of .*{words}"):
        fit(tmp_path)
    fit_files(PNUClassifier(**MODEL), tmp_path, target="label", columns=COLUMNS)


def test_parquet_as_people_write_it(tmp_path, wanted):
    """Other column orders, narrow types, empty row groups, empty files and dictionary labels."""
    write_parquet(tmp_path / "1.parquet", X[:300], Y[:300])
    labels = pa.array([None if np.isnan(v) else v for v in Y[300:]]).dictionary_encode()
    second = table(X[300:], Y[300:]).drop(["label"]).append_column("label", labels).select(["label", "c", "a", "b"])
    schema = second.schema
    with pq.ParquetWriter(tmp_path / "2.parquet", schema) as writer:
        writer.write_table(second.slice(0, 100))
        writer.write_table(second.slice(0, 0))
        writer.write_table(second.slice(100))
    pq.write_table(second.slice(0, 0), tmp_path / "3.parquet")
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / ".hidden.parquet").write_bytes(b"x")
    assert_allclose(fit(tmp_path).coef_, wanted.coef_, atol=1e-9)


def test_integers_and_booleans_are_numbers_and_nulls_among_them_are_not(tmp_path):
    good = pa.table({"a": pa.array([1, 2, 3, 4], "int8"), "b": [True, False, True, True], "label": [0, 1, 0, 1]})
    pq.write_table(good, tmp_path / "good.parquet")
    design = make_design(PNUClassifier(kernel="linear"), np.zeros((2, 2)), [0, 1], columns=("a", "b"), dtype="float64")
    statistics = collect_statistics(tmp_path / "good.parquet", design, target="label")
    assert_allclose(statistics.moments(1).total, [6, 1])
    for name in ("a", "b"):
        column = pa.array([None, *good[name].to_pylist()[1:]], good.schema.field(name).type)
        pq.write_table(good.set_column(good.schema.names.index(name), name, column), tmp_path / "bad.parquet")
        with pytest.raises(ValueError, match=rf"Row 0, column '{name}' of .*bad.parquet.* holds a missing value"):
            collect_statistics(tmp_path / "bad.parquet", design, target="label")


def test_schemas_that_differ_are_named(tmp_path):
    write_parquet(tmp_path / "1.parquet", X, Y)
    pq.write_table(table(X, Y).drop(["b"]), tmp_path / "2.parquet")
    with pytest.raises(TableError, match=r"2\.parquet has no column 'b'"):
        fit(tmp_path)
    with pytest.raises(TableError, match=r"1\.parquet has no column 'klass'. Its columns are 'a', 'b', 'c', 'label'"):
        fit_files(PNUClassifier(), tmp_path, target="klass")


@pytest.mark.parametrize("order", [1, -1])
def test_a_column_that_one_file_lacks_is_refused_in_either_order(tmp_path, order):
    poor = write_parquet(tmp_path / "poor.parquet", X, Y)
    rich = write_parquet(tmp_path / "rich.parquet", X, Y, d=pa.array(X[:, 0]))
    with pytest.raises(TableError, match=r"poor\.parquet has no column 'd', which .*rich\.parquet has.*columns="):
        fit([poor, rich][::order])
    fit_files(PNUClassifier(**MODEL), [poor, rich][::order], target="label", columns=COLUMNS)


def test_files_need_the_name_of_the_label_column(tmp_path):
    path = write_parquet(tmp_path / "t.parquet", X, Y)
    with pytest.raises(TableError, match="target='label'"):
        fit_files(PNUClassifier(**MODEL), path)


def test_a_marker_that_was_not_named_is_no_third_class(tmp_path):
    (tmp_path / "t.csv").write_text(csv_text().replace(",\n", ",?\n"))
    with pytest.raises(TableError, match=r"holds '\?' in \d+ rows, in addition to 2 other labels.*unlabeled='\?'"):
        fit(tmp_path / "t.csv")


def test_windows_text_is_read_with_a_warning(tmp_path):
    (tmp_path / "t.csv").write_bytes(csv_text().replace(",1\n", ",größer\n").encode("cp1252"))
    with pytest.warns(UserWarning, match="read as Windows-1252"):
        model = fit(tmp_path / "t.csv")
    assert model.classes_.tolist() == ["0", "größer"]


def test_paths_that_lead_nowhere(tmp_path):
    for data, words in [
        (tmp_path / "no.parquet", "There is no file or folder"),
        (str(tmp_path / "*.parquet"), "Nothing matches"),
        (tmp_path, "holds no Parquet or CSV"),
    ]:
        with pytest.raises(FileNotFoundError, match=words):
            fit(data)
    pq.write_table(table(X[:0], Y[:0]), tmp_path / "empty.parquet")
    with pytest.raises(ValueError, match="hold no rows"):
        fit(tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_named(tmp_path):
    path = write_parquet(tmp_path / "t.parquet", X, Y)
    path.chmod(0)
    with pytest.raises(PermissionError, match=r"t\.parquet"):
        fit(path)


def test_files_are_found_in_one_order_and_counted_once(tmp_path):
    for name in ("b.parquet", "a.csv", "sub/c.pq"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    names = [path.name for path in find_files([tmp_path, tmp_path / "b.parquet"])]
    assert names == ["a.csv", "b.parquet", "c.pq"]


def test_a_file_that_changes_between_passes_is_noticed(tmp_path, monkeypatch):
    path = write_parquet(tmp_path / "t.parquet", X, Y)
    source = open_source(path, "label")
    write_parquet(path, X + 1, Y)
    os.utime(path, ns=(1, 1))
    with pytest.raises(TableError, match=r"t\.parquet changed while it was in use"):
        list(source.parts[0].batches(source.names))


def test_a_read_that_fails_once_is_tried_again_and_one_that_keeps_failing_is_named(tmp_path, monkeypatch, wanted):
    monkeypatch.setattr("pnulearn.streaming._threads.PAUSE", 0.0)
    path = write_parquet(tmp_path / "t.parquet", X, Y)
    from pnulearn._reader.batches import BatchPart

    honest, failures = BatchPart.open_parquet, [1, 3, 5]  # numbers of the calls that fail

    def shaky(part):
        failures[:] = [n - 1 for n in failures]
        if 0 in failures:
            raise OSError("Input/output error")
        return honest(part)

    source = open_source(path, "label")
    monkeypatch.setattr(BatchPart, "open_parquet", shaky)
    from pnulearn.streaming._design import part_labels
    from pnulearn.streaming._threads import run_on

    counts = run_on(lambda part: part_labels(part, source), source.parts[0])
    assert sum(counts.values()) == 600
    failures[:] = range(1, 100)
    with pytest.raises(OSError, match=r"t\.parquet cannot be read: Input/output error"):
        run_on(lambda part: part_labels(part, source), source.parts[0])
    assert failures[0] <= -2  # three attempts


def test_labels_are_text_if_one_of_the_files_is(tmp_path):
    (tmp_path / "a.csv").write_text(csv_text())
    write_parquet(tmp_path / "b.parquet", X, Y)
    assert open_source([tmp_path / "a.csv", tmp_path / "b.parquet"], "label").is_untyped
    assert not open_source([tmp_path / "b.parquet"], "label").is_untyped
