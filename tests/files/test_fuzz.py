"""A sample of `make fuzz`: damaged files give one class of error or an answer."""

import gzip
import re
import warnings

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sklearn
from packaging.version import Version
from tests.files.damage import MODEL_DAMAGE, STORED, damaged_models, damaged_tables, whole_tables
from tests.files.fuzz import try_model, try_table
from tests.files.stored.write import REFUSED

from pnulearn.tables import TableError, read_table


@pytest.mark.parametrize("path", sorted(STORED.glob("*.pnu")), ids=lambda path: path.stem)
def test_whole_models_are_answered(path):
    with np.load(path) as archive:
        saved_with = re.findall(rb'"scikit-learn": "([\d.]+)"', archive["header"].tobytes())
    wanted = {"refused"} if path.name in REFUSED else {"answered"}
    if any(Version(text.decode()) > Version(sklearn.__version__) for text in saved_with):
        wanted.add("refused")  # an older scikit-learn need not read models of a newer one
    assert try_model(path) in wanted


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet", "feather", "jsonl", "json"])
def test_whole_tables_are_answered(ending, tmp_path):
    (tmp_path / f"t.{ending}").write_bytes(whole_tables()[ending])
    assert try_table(tmp_path / f"t.{ending}") == "answered"


def test_damaged_models_are_refused_or_answered(tmp_path):
    ways = {}
    for seed in range(20_000, 20_120):  # seeds that `make fuzz` does not use
        _, way, raw = damaged_models(seed)
        (tmp_path / "m.pnu").write_bytes(raw)
        ways.setdefault(way, []).append((seed, try_model(tmp_path / "m.pnu")))
    found = {outcome for outcomes in ways.values() for _, outcome in outcomes}
    assert found == {"refused", "answered"}
    assert set(ways) >= set(MODEL_DAMAGE) - {"bomb"}


def test_damaged_tables_are_refused_or_answered(tmp_path):
    whole = whole_tables()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in range(20_000, 20_120):
            ending, way, raw = damaged_tables(seed, whole)
            (tmp_path / f"t.{ending}").write_bytes(raw)
            assert try_table(tmp_path / f"t.{ending}") in ("refused", "answered"), (seed, ending, way)


def test_tables_that_unpack_to_far_too_much_are_refused(tmp_path):
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * 10**7))
    with pytest.raises(TableError, match="unpacks to more than 200 times"):
        read_table(tmp_path / "t.csv.gz")
    column = pa.DictionaryArray.from_arrays(pa.array(np.zeros(10**6, np.int8)), pa.array(["x"]))
    pq.write_table(pa.table({f"c{i}": column for i in range(20)}), tmp_path / "t.parquet")
    with pytest.raises(TableError, match="20000000 cells"):
        read_table(tmp_path / "t.parquet")


def test_offsets_beyond_a_feather_file_do_not_end_the_process(tmp_path):
    _, _, raw = damaged_tables(96, whole_tables())
    (tmp_path / "t.feather").write_bytes(raw)
    with pytest.raises(TableError, match="not a complete Feather file"):
        read_table(tmp_path / "t.feather")
