"""Every kind of file that people have gives the same table, and what cannot be read is refused with a reason."""

import gzip
import io
import json

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import feather, parquet

from pnulearn._reader.batches import Batches
from pnulearn._reader.columns import Reading
from pnulearn._reader.delimited import Dialect
from pnulearn._reader.errors import Caution
from pnulearn.tables import Table, TableError, learn_plan, read_table

ROWS = [("3.5", "red", "yes"), ("", "blue", ""), ("-1e3", "red", "no")]
HEADER = ("size", "colour", "label")


def csv_text(delimiter=",", newline="\n"):
    return "".join(delimiter.join(row) + newline for row in (HEADER, *ROWS))


def written(tmp_path, content, name="table.csv"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def assert_is_the_table(table):
    np.testing.assert_array_equal(table.columns["size"].values, [3.5, np.nan, -1000])
    assert table.columns["colour"].values.tolist() == ["red", "blue", "red"]
    assert table.columns["label"].values.tolist() == ["yes", None, "no"]
    assert [c.kind for c in table.columns.values()] == ["number", "text", "text"]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_delimiter_newline_and_encoding_are_recognised(tmp_path, delimiter, newline, encoding):
    assert_is_the_table(read_table(written(tmp_path, csv_text(delimiter, newline).encode(encoding))))


def test_gzip_is_unpacked(tmp_path):
    assert_is_the_table(read_table(written(tmp_path, gzip.compress(csv_text().encode()))))


def test_json_lines(tmp_path):
    lines = [
        {"size": 3.5, "colour": "red", "label": "yes"},
        {"size": None, "colour": "blue"},
        {"size": -1e3, "colour": "red", "label": "no"},
    ]
    assert_is_the_table(read_table(written(tmp_path, "\n".join(map(json.dumps, lines)))))


def test_parquet_with_nullable_and_dictionary_columns(tmp_path):
    columns = {
        "size": pa.array([3.5, None, -1e3]),
        "colour": pa.array(["red", "blue", "red"]).dictionary_encode(),
        "label": pa.array(["yes", None, "no"]),
        "flag": pa.array([True, None, False]),
        "count": pa.array([1, None, 2**40]),
    }
    path = tmp_path / "table.parquet"
    writer = parquet.ParquetWriter(path, pa.table(columns).schema)
    writer.write_table(pa.table(columns).slice(0, 0))  # a row group without rows
    writer.write_table(pa.table(columns))
    writer.close()
    table = read_table(path)
    assert table.columns["flag"].kind == "flag"
    np.testing.assert_array_equal(table.columns["count"].values, [1, np.nan, 2**40])
    assert_is_the_table(Table(table.cells.drop_columns(["flag", "count"]), table.source))


def test_a_json_array(tmp_path):
    items = [dict(zip(HEADER, (float(size) if size else None, *rest), strict=True)) for size, *rest in ROWS]
    assert_is_the_table(read_table(written(tmp_path, json.dumps(items, indent=2))))


def test_feather_and_zstandard(tmp_path):
    columns = {"size": [3.5, None, -1e3], "colour": ["red", "blue", "red"], "label": ["yes", None, "no"]}
    feather.write_feather(pa.table(columns), tmp_path / "t.feather")
    assert_is_the_table(read_table(tmp_path / "t.feather"))
    packed = pa.compress(csv_text().encode(), codec="zstd", asbytes=True)
    assert_is_the_table(read_table(written(tmp_path, packed, "t.csv.zst")))


def test_numbers_are_those_of_python(tmp_path):
    """Correctly rounded, so equal to the last bit."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=3000) * 10.0 ** rng.integers(-300, 300, size=3000)
    cells = [*(repr(value) for value in values.tolist()), "+1", "5.", ".5", " 7 ", "1e400", "-0"]
    for delimiter, mark in [(",", "."), (";", ",")]:
        text = "a" + delimiter + "b\n" + "".join(f"{cell.replace('.', mark)}{delimiter}x\n" for cell in cells)
        assert read_table(written(tmp_path, text)).columns["a"].values.tolist() == [float(cell) for cell in cells]


def test_standard_input(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(csv_text(";").encode())))
    table = read_table("-")
    assert_is_the_table(table)
    assert table.source == "standard input"


def test_quoted_newlines_and_delimiters_stay_in_their_cell(tmp_path):
    table = read_table(written(tmp_path, 'a,b\n"x, y\nz",1\n"say ""hi""",2\n'))
    assert table.columns["a"].values.tolist() == ["x, y\nz", 'say "hi"']


def test_the_original_cells_come_back(tmp_path):
    table = read_table(written(tmp_path, "code,x\n007,1.50\n042,2\n"))
    assert [list(row) for row in table.rows()] == [["007", "1.50"], ["042", "2"]]


def test_decimal_commas_between_semicolons(tmp_path):
    table = read_table(written(tmp_path, "a;b\n1,5;x\n2,25;y\n"))
    assert table.columns["a"].values.tolist() == [1.5, 2.25]


def test_windows_text_is_read_with_a_remark(tmp_path):
    table = read_table(written(tmp_path, "ville,n\nOrléans,1\n".encode("cp1252")))
    assert table.columns["ville"].values.tolist() == ["Orléans"]
    assert "Windows-1252" in table.remarks[0]


def test_codes_with_underscores_are_text(tmp_path):
    assert read_table(written(tmp_path, "a,b\n1_000,1\n2_000,2\n")).columns["a"].kind == "text"


def test_a_column_is_text_if_one_cell_in_a_late_block_is(tmp_path):
    n = 200_000
    path = written(tmp_path, "a,b\n" + "".join(f"{i},{'x' if i == n - 1 else i}\n" for i in range(n)))
    assert path.stat().st_size > 2 << 20  # Arrow reads a megabyte at once
    table = read_table(path)
    assert table.columns["a"].values.tolist() == list(range(n))
    assert table.columns["b"].values.tolist() == [*map(str, range(n - 1)), "x"]


def test_a_cell_longer_than_a_block(tmp_path):
    table = read_table(written(tmp_path, f'a,b\n"{"x" * 3_000_000}",1\ny,2\n'))
    assert [len(text) for text in table.columns["a"].values] == [3_000_000, 1]


@pytest.mark.parametrize(
    "content, message",
    [
        (b"", "is empty"),
        (b"  \n \n", "is empty"),
        (b"a,b\n", "no rows"),
        (b"1,2\n3,4\n", "header=False"),
        (b"a,b\n1,2\n3\n", "Row 2 of bad.csv has 1 cells, but the first line has 2"),
        (b"a,b\n\x81\x8d,1\n", "encoding="),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "binary file"),
        (b"PK\x03\x04xx", "not a readable table or spreadsheet"),
        (b'{"a": 1}\n{"a": \n', "Line 2"),
        (b"PAR1 cut off", "not a complete Parquet file"),
        (b"ARROW1 cut off", "not a complete Feather file"),
        (gzip.compress(csv_text().encode(), mtime=0)[:-5], "incomplete"),
        (b"\x1f\x8bdamaged", "incomplete or damaged"),
        (b'{"a": 1' + b"0" * 400 + b"}", "too large for a float"),
        (b'{"a": ' * 10**5, "Line 1"),
        (b"[]", "no rows"),
        (b"[1, 2]\n", "no rows"),
    ],
)
def test_what_cannot_be_read_is_refused_with_a_reason(tmp_path, content, message):
    with pytest.raises(TableError, match=message):
        read_table(written(tmp_path, content, "bad.csv"))


def test_nested_values_of_json_can_be_ignored_but_not_used(tmp_path):
    table = read_table(
        written(tmp_path, b'{"a": {"b": 1}, "c": 2}\n{"a": [1], "c": 3}\n{"a": null, "c": 4}\n', "t.jsonl")
    )
    assert table.column("c").values.tolist() == [2, 3, 4]
    with pytest.raises(TableError, match=r"t.jsonl: Column 'a' has type list.*Split it"):
        table.column("a")


def test_missing_file_folder_and_unknown_encoding(tmp_path):
    path = written(tmp_path, csv_text())
    with pytest.raises(TableError, match=r"no file .*There is table.csv"):
        read_table(tmp_path / "tabel.csv")
    with pytest.raises(TableError, match="is a folder"):
        read_table(tmp_path)
    with pytest.raises(TableError, match="no encoding called 'utf-9'"):
        read_table(path, encoding="utf-9")


def test_a_named_encoding_is_used(tmp_path):
    table = read_table(written(tmp_path, "名,n\n猫,1\n".encode("shift_jis")), encoding="shift_jis")
    assert list(table.columns) == ["名", "n"]


def test_unknown_column_gets_a_suggestion(tmp_path):
    table = read_table(written(tmp_path, csv_text()))
    with pytest.raises(TableError, match="Did you mean 'label'"):
        table.column("Lable")


def test_the_second_of_two_equal_names_gets_a_number(tmp_path):
    table = read_table(written(tmp_path, 'a,"b\nc",a,a 2,a\n1,x,2,3,4\n5,y,6,7,8\n'))
    assert table.names == ["a", "b\nc", "a 3", "a 2", "a 4"]
    assert [column.values.tolist() for column in table.columns.values()] == [[1, 5], ["x", "y"], [2, 6], [3, 7], [4, 8]]
    assert table.remarks[0] == "table.csv has more than one column 'a'; a further one is called 'a 3'."


def test_line_ends_may_be_mixed(tmp_path):
    table = read_table(written(tmp_path, b"\xef\xbb\xbfa,b\r\n1,x\n2,y\r\n3,z\r\n"))
    assert table.names == ["a", "b"]
    assert [column.values.tolist() for column in table.columns.values()] == [[1, 2, 3], ["x", "y", "z"]]


@pytest.mark.parametrize("name", ["t.xlsx", "t.ods"])
def test_spreadsheets(tmp_path, name):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("python_calamine")
    frame = pd.DataFrame([[float(s) if s else None, *rest] for s, *rest in ROWS], columns=HEADER)
    frame["when"] = pd.to_datetime(["2024-01-31 10:30", None, "2024-02-01 00:00"])
    frame["flag"] = [True, False, True]
    frame["mixed"] = [1.0, "two", 3.5]
    with pd.ExcelWriter(tmp_path / name) as writer:
        frame.to_excel(writer, sheet_name="data", index=False)
        frame.to_excel(writer, sheet_name="copy", index=False)
    table = read_table(tmp_path / name)
    assert_is_the_table(Table(table.cells.select(list(HEADER)), table.source))
    kinds = [table.column(name).kind for name in ("when", "flag", "mixed")]
    assert kinds == ["date", "flag", "text"]
    assert table.column("mixed").values.tolist() == ["1", "two", "3.5"]
    assert table.column("when").values.tolist() == ["2024-01-31 10:30:00", None, "2024-02-01 00:00:00"]
    assert table.remarks == [f"{name} has 2 sheets; 'data' is read."]


def test_several_files_are_one_table(tmp_path):
    written(tmp_path, "x,y\n1,a\n2,b\n", "part1.csv")
    written(tmp_path, "y;x\nc;3,5\n", "part2.csv")
    for paths in (tmp_path / "part*.csv", [tmp_path / "part1.csv", str(tmp_path / "part2.csv")]):
        table = read_table(paths)
        assert table.columns["x"].values.tolist() == [1, 2, 3.5]
        assert table.columns["y"].values.tolist() == ["a", "b", "c"]
        assert table.source == "part1.csv and 1 more"
    written(tmp_path, "x,z\n1,a\n", "part3.csv")
    with pytest.raises(TableError, match=r"part1.csv has a column 'y', part3.csv has none"):
        read_table([tmp_path / "part1.csv", tmp_path / "part3.csv"])
    with pytest.raises(TableError, match="Nothing matches"):
        read_table(tmp_path / "*.parquet")


def test_a_file_whose_name_looks_like_a_pattern(tmp_path):
    assert read_table(written(tmp_path, csv_text(), "a[1].csv")).n_rows == 3


# Spreadsheets whose cells are not what they show.


def workbook(tmp_path, change, rows=((1, "yes"), (2, "no"), (3, "yes"), (4, "no"))):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.title = "other"
    sheet = book.create_sheet("data & more")
    for row in [("size", "label"), *rows]:
        sheet.append(row)
    change(sheet)
    book.save(tmp_path / "t.xlsx")
    return read_table(tmp_path / "t.xlsx")


def _errors(sheet):
    sheet["A2"], sheet["A3"], sheet["A4"] = "#DIV/0!", "#DIV/0!", "#N/A"


def _formulas(sheet):
    sheet["A3"] = "=1+2"


def _hidden(sheet):
    sheet.row_dimensions[1].hidden = True
    sheet.row_dimensions[4].hidden = True


def _merged(sheet):
    sheet.merge_cells("B2:B3")
    sheet.merge_cells("A4:B5")


@pytest.mark.parametrize(
    "change, words",
    [
        (lambda sheet: None, []),
        (_errors, ["Column 'size' of t.xlsx holds error cells such as #DIV/0! (2 in all)"]),
        (_formulas, ["Column 'size' of t.xlsx holds formulas without a stored value (1 in all)"]),
        (_hidden, ["t.xlsx has hidden rows (1 in all)"]),
        (_merged, ["'label' of t.xlsx has merged cells: 3 of them", "'size' of t.xlsx has merged cells: 1 of them"]),
    ],
)
def test_what_a_spreadsheet_hides_is_a_warning(tmp_path, change, words):
    remarks = workbook(tmp_path, change).remarks
    warned = [one for one in remarks if isinstance(one, Caution)]
    assert len(warned) == len(words)
    assert all(any(word in one for one in warned) for word in words)


def test_names_in_two_lines(tmp_path):
    def change(sheet):
        sheet.insert_rows(1)
        sheet["A1"], sheet["B1"] = "Group", None

    columns = workbook(tmp_path, change)
    assert columns.names == ["Group", "column 2"]
    two = read_table(tmp_path / "t.xlsx", header_rows=2)
    assert two.names == ["Group size", "Group label"]
    assert two.n_rows == 4
    path = tmp_path / "t.csv"
    path.write_text('a,,b\n"x,\n1",y,z\n1,2,3\n4,5,6\n')
    read = read_table(path, header_rows=2)
    assert read.names == ["a x,\n1", "a y", "b z"]
    assert [column.values.tolist() for column in read.columns.values()] == [[1, 4], [2, 5], [3, 6]]
    (batch, _), *_ = Batches.of(path, Reading(header_rows=2), large=0)
    assert batch.names == read.names
    assert batch.n_rows == 2
    path.write_text("a,b\nc\n1,2\n")
    with pytest.raises(TableError, match=r"first 2 lines of t\.csv hold names, but not the same number"):
        read_table(path, header_rows=2)


def test_a_second_line_of_names_is_suspected(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("X1,y\nINCOME,BAD\n" + "".join(f"{k},{k % 2}\n" for k in range(30)))
    with pytest.raises(TableError, match="two lines of names, pass header_rows=2"):
        learn_plan(read_table(path))


@pytest.mark.parametrize("decimal, value", [(None, 1234), (".", 1.234), (",", 1234)])
def test_the_decimal_mark_can_be_named(tmp_path, decimal, value):
    path = tmp_path / "t.csv"
    path.write_text("x;z\n1.234;a\n12;b\n")
    assert read_table(path, decimal=decimal).column("x").values[0] == value


def test_no_thread_of_arrow_holds_python_objects_when_the_process_ends():
    """With threads about one `pnulearn fit` in fifteen that ended early was aborted (exit code 134)."""
    dialect = Dialect("utf-8", ",", True, ("a",), ("a",))
    assert not dialect.options(["a"], 1 << 20, None)["read_options"].use_threads
