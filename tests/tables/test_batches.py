"""Large files in batches: the same cells, the same predictions."""

import csv
import gzip
import io

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet as pq

from pnulearn._reader import batches as module
from pnulearn._reader.batches import Batches
from pnulearn._reader.columns import Reading
from pnulearn._reader.csv_lines import csv_bytes, shown_cells
from pnulearn._reader.errors import TableError
from pnulearn._reader.in_memory import read_table

ODD = ['say "a, b"', "two\nlines", "", None, "=1+1", " x ", "ä;ö"]


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    numbers = np.concatenate([[0.0, -0.0, 1e-5, 2.5e-7, 1e15, 123456789.123, 0.1 + 0.2, np.nan], rng.normal(size=41)])
    n = len(numbers)
    return pa.table(
        {
            "number": pa.array(numbers),
            "whole": pa.array(np.arange(n) * 1000 - 7),
            "text": pa.array([ODD[k % len(ODD)] for k in range(n)]),
            "flag": pa.array([None if k == 3 else k % 2 == 0 for k in range(n)]),
        }
    )


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    monkeypatch.setattr(module, "BATCH_ROWS", 10)
    monkeypatch.setattr(module, "BYTES_AT_ONCE", 400)


def write(folder, table, kind):
    path = folder / f"t.{kind}"
    if kind == "parquet":
        pq.write_table(table, path, row_group_size=17)
        return path
    whole = read_table(write(folder, table, "parquet"))
    text = ",".join(whole.names).encode() + b"\n" + bytes(csv_bytes([shown_cells(whole, n) for n in whole.names]))
    path.write_bytes(gzip.compress(text) if kind.endswith("gz") else text)
    return path


@pytest.mark.parametrize("kind", ["parquet", "csv", "csv.gz"])
def test_batches_hold_the_cells_of_the_whole_table(tmp_path, table, kind):
    path = write(tmp_path, table, kind)
    streamed = Batches.of(path, Reading(), large=0)
    assert streamed.is_streamed
    whole, parts = read_table(path), list(streamed)
    assert len(parts) > 2
    assert [part.start for part, _ in parts] == np.cumsum([0, *(part.n_rows for part, _ in parts)])[:-1].tolist()
    assert parts[-1][1] == pytest.approx(1.0) or kind == "csv.gz"
    assert [row for part, _ in parts for row in part.rows()] == list(whole.rows())
    (only, share), *rest = Batches.of(path, Reading())
    assert (share, rest, list(only.rows())) == (1.0, [], list(whole.rows()))


def test_lines_are_those_of_the_csv_module(tmp_path, table):
    for kind in ("parquet", "csv"):
        whole = read_table(write(tmp_path, table, kind))
        buffer = io.StringIO()
        csv.writer(buffer, lineterminator="\n").writerows(whole.rows())
        assert bytes(csv_bytes([shown_cells(whole, name) for name in whole.names])).decode() == buffer.getvalue()


def test_files_must_have_the_same_columns_and_may_have_them_in_any_order(tmp_path, table):
    pq.write_table(table, tmp_path / "a.parquet")
    pq.write_table(table.select(["text", "flag", "whole", "number"]), tmp_path / "b.parquet")
    pq.write_table(table.drop_columns(["flag"]), tmp_path / "c.parquet")
    both = list(Batches.of([tmp_path / "a.parquet", tmp_path / "b.parquet"], Reading(), large=0))
    assert all(part.names == table.column_names for part, _ in both)
    assert sum(part.n_rows for part, _ in both) == 2 * table.num_rows
    with pytest.raises(TableError, match=r"a\.parquet has a column 'flag', c\.parquet has none"):
        list(Batches.of([tmp_path / "a.parquet", tmp_path / "c.parquet"], Reading(), large=0))


def test_what_cannot_be_streamed_is_read_whole(tmp_path):
    (tmp_path / "t.jsonl").write_text('{"a": 1}\n{"a": 2}\n')
    read = Batches.of(tmp_path / "t.jsonl", Reading(), large=0)
    assert not read.is_streamed
    assert [part.n_rows for part, _ in read] == [2]


def test_a_file_that_changes_while_it_is_read_is_noticed(tmp_path, table):
    path = write(tmp_path, table, "csv")
    parts = iter(Batches.of(path, Reading(), large=0))
    next(parts)
    path.write_bytes(path.read_bytes() + b"1,2,x,true\n")
    with pytest.raises(TableError, match="changed while it was in use"):
        list(parts)


def test_a_stray_cell_is_named_by_its_row_in_the_whole_file(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n" + "1,2\n" * 300 + "x,2\n")
    *_, (last, _) = Batches.of(tmp_path / "t.csv", Reading(), large=0)
    with pytest.raises(TableError, match="row 301 holds 'x'"):
        last.numbers("a", "")
