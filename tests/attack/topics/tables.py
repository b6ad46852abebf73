"""Tables in every form and state: damaged, strange, or in order but unusual, for every command that reads one."""

from __future__ import annotations

import gzip
import io
import json
import os
import random
import struct
import warnings
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
from pyarrow import feather, parquet

from pnulearn import load
from pnulearn.streaming import fit_files, predict_files
from pnulearn.tables import read_table
from tests.attack.commands import NAMES, QUICK, RECORDS, as_csv, ask, workplace
from tests.attack.models import quick

CELL = 2  # the column that is spoilt


def spoilt(value: Any, row: int = 30, column: int = CELL) -> list[list[Any]]:
    records = [list(record) for record in RECORDS]
    records[row][column] = value
    return records


def labelled(change: Callable[[int, str], Any]) -> bytes:
    return as_csv([[*record[:-1], change(place, record[-1])] for place, record in enumerate(RECORDS)])


def frame() -> pd.DataFrame:
    table = pd.DataFrame(RECORDS, columns=NAMES)
    return table.assign(label=table["label"].replace("", None))


def as_parquet(**options: Any) -> bytes:
    sink = io.BytesIO()
    parquet.write_table(pa.Table.from_pandas(frame(), preserve_index=False), sink, **options)
    return sink.getvalue()


def as_feather() -> bytes:
    sink = io.BytesIO()
    feather.write_feather(pa.Table.from_pandas(frame(), preserve_index=False), sink)
    return sink.getvalue()


def as_excel() -> bytes:
    sink = io.BytesIO()
    frame().to_excel(sink, index=False)
    return sink.getvalue()


def flipped(raw: bytes, at: float) -> bytes:
    """One bit of the byte at that share of the file is another."""
    changed = bytearray(raw)
    changed[int(at * len(raw))] ^= 0x10
    return bytes(changed)


def _flipped_cell() -> bytes:
    """Another number in the first cell, under a checksum that no longer holds."""
    raw = as_parquet(write_page_checksum=True, compression="none", use_dictionary=False)
    return flipped(raw, (raw.index(struct.pack("<d", RECORDS[0][0])) + 2.5) / len(raw))


def packed_with(name: str, content: bytes) -> bytes:
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return sink.getvalue()


def records_as_json(lines: bool) -> bytes:
    rows = [{k: v for k, v in zip(NAMES, record, strict=True) if v != ""} for record in RECORDS]
    return "\n".join(map(json.dumps, rows)).encode() if lines else json.dumps(rows).encode()


CSV = as_csv()
# name -> (ending, content)
FORMS: dict[str, tuple[str, Callable[[], bytes]]] = {
    "plain": (".csv", lambda: CSV),
    "byte_order_mark": (".csv", lambda: b"\xef\xbb\xbf" + CSV),
    "windows_lines": (".csv", lambda: CSV.replace(b"\n", b"\r\n")),
    "no_last_newline": (".csv", lambda: CSV.rstrip(b"\n")),
    "blank_last_lines": (".csv", lambda: CSV + b"\n\n\n"),
    "semicolons": (".csv", lambda: as_csv(delimiter=";")),
    "tabs": (".tsv", lambda: as_csv(delimiter="\t")),
    "all_quoted": (".csv", lambda: as_csv(quoting=1)),
    "utf_16": (".csv", lambda: CSV.decode().encode("utf-16")),
    "gzip": (".csv.gz", lambda: gzip.compress(CSV)),
    "decimal_commas": (".csv", lambda: as_csv(delimiter=";").replace(b".", b",")),
    "parquet": (".parquet", as_parquet),
    "parquet_dictionary": (".parquet", lambda: as_parquet(use_dictionary=True, row_group_size=7)),
    "feather": (".feather", as_feather),
    "excel": (".xlsx", as_excel),
    "json_list": (".json", lambda: records_as_json(lines=False)),
    "json_lines": (".jsonl", lambda: records_as_json(lines=True)),
    "label_spelt_freely": (".csv", lambda: labelled(lambda i, v: {"yes": "Yes ", "no": " NO"}.get(v, v))),
    "quoted_newline": (".csv", lambda: CSV.replace(b"said", b'"sa\nid"', 1)),
    "empty": (".csv", lambda: b""),
    "blank": (".csv", lambda: b"\n\n\n"),
    "only_mark": (".csv", lambda: b"\xef\xbb\xbf"),
    "header_only": (".csv", lambda: CSV.split(b"\n")[0] + b"\n"),
    "doubled_column": (".csv", lambda: CSV.replace(b"a,b,", b"a,a,", 1)),
    "nameless_column": (".csv", lambda: CSV.replace(b"a,b,", b",b,", 1)),
    "one_cell_more": (".csv", lambda: CSV.replace(b"\n", b"\n9,", 4).replace(b"\n9,", b"\n", 3)),
    "cells_missing_in_a_line": (".csv", lambda: CSV + b"1.0,2.0\n"),
    "nul_bytes": (".csv", lambda: CSV[:200] + bytes(50) + CSV[200:]),
    "noise": (".csv", lambda: random.Random(0).randbytes(4000)),
    "open_quote": (".csv", lambda: CSV[: CSV.index(b"\n", 300) + 1] + b'"' + CSV[CSV.index(b"\n", 300) + 1 :]),
    "wrong_bytes": (".csv", lambda: CSV.replace(b"said", b"sa\x81\x8dd")),
    "infinite_cell": (".csv", lambda: as_csv(spoilt("inf"))),
    "giant_cell": (".csv", lambda: as_csv(spoilt("1e200"))),
    "beyond_floats": (".csv", lambda: as_csv(spoilt("1e999"))),
    "word_cell": (".csv", lambda: as_csv(spoilt("what?"))),
    "nan_cell": (".csv", lambda: as_csv(spoilt("NaN"))),
    "empty_column": (".csv", lambda: as_csv([[r[0], r[1], "", *r[3:]] for r in RECORDS])),
    "no_feature": (".csv", lambda: as_csv([r[-1:] for r in RECORDS], ["label"])),
    "no_label_column": (".csv", lambda: as_csv([r[:-1] for r in RECORDS], NAMES[:-1])),
    "label_empty": (".csv", lambda: labelled(lambda i, v: "")),
    "label_continuous": (".csv", lambda: labelled(lambda i, v: v and f"{i / 7:.3f}")),
    "label_dates": (".csv", lambda: labelled(lambda i, v: v and f"2020-01-{i + 1:02d}")),
    "label_minus_zero_plus": (".csv", lambda: labelled(lambda i, v: {"yes": 1, "no": -1}.get(v, 0))),
    "label_one_class": (".csv", lambda: labelled(lambda i, v: "yes")),
    "label_lonely": (".csv", lambda: labelled(lambda i, v: "no" if v == "no" and i != 12 else "yes" if i == 0 else "")),
    "one_row": (".csv", lambda: b"\n".join(CSV.split(b"\n")[:2]) + b"\n"),
    "two_rows": (".csv", lambda: as_csv([RECORDS[0], RECORDS[12]])),
    "gzip_truncated": (".csv.gz", lambda: gzip.compress(CSV)[:-40]),
    "gzip_flipped": (".csv.gz", lambda: flipped(gzip.compress(CSV), 0.5)),
    "gzip_of_nothing": (".csv.gz", lambda: gzip.compress(b"")),
    "gzip_bomb": (".csv.gz", lambda: gzip.compress(CSV + b"0" * 300_000_000)),
    "parquet_truncated": (".parquet", lambda: as_parquet()[:-60]),
    "parquet_footer_flipped": (".parquet", lambda: flipped(as_parquet(), 0.97)),
    "parquet_page_flipped": (
        ".parquet",
        lambda: _flipped_cell(),
    ),
    "parquet_is_text": (".parquet", lambda: CSV),
    "csv_is_parquet": (".csv", as_parquet),
    "feather_truncated": (".feather", lambda: as_feather()[:-60]),
    "excel_truncated": (".xlsx", lambda: as_excel()[:-200]),
    "excel_is_text": (".xlsx", lambda: CSV),
    "zip_of_something": (".xlsx", lambda: packed_with("words.txt", b"hello")),
    "json_truncated": (".json", lambda: records_as_json(lines=False)[:-30]),
    "json_giant_number": (".jsonl", lambda: records_as_json(lines=True) + b'\n{"a": 1' + b"0" * 400 + b"}"),
    "json_deep": (".json", lambda: b"[" * 100_000),
    "json_of_numbers": (".json", lambda: b"[1, 2, 3]"),
    "json_object": (".json", lambda: b'{"a": 1}'),
    "json_nested": (".jsonl", lambda: b'{"a": {"b": 1}, "label": "yes"}\n{"a": [1], "label": "no"}\n'),
    "model_file": (".csv", lambda: (workplace() / "model.pnu").read_bytes()),
    "picture": (".csv", lambda: b"\x89PNG\r\n\x1a\n" + random.Random(1).randbytes(500)),
    "column_missing": (".csv", lambda: as_csv([r[1:] for r in RECORDS], NAMES[1:])),
    "column_more": (".csv", lambda: as_csv([["x", *r] for r in RECORDS], ["more", *NAMES])),
    "columns_turned": (".csv", lambda: as_csv([r[::-1] for r in RECORDS], NAMES[::-1])),
    "columns_capital": (".csv", lambda: as_csv(names=["A", "B", "C", "said", "label"])),
    "all_words": (".csv", lambda: as_csv([["w", "v", "u", *r[3:]] for r in RECORDS])),
}
# name -> a path that is no table
PLACES: dict[str, Callable[[], Any]] = {
    "absent": lambda: workplace() / "absent.csv",
    "folder": lambda: workplace() / "empty",
    "pattern_without_match": lambda: workplace() / "absent*.csv",
    "pipe": lambda: _pipe(),
    "endless": lambda: "/dev/zero",
    "device": lambda: "/dev/null",
    "no_name": lambda: "",
    "link_to_itself": lambda: _circle(),
    "nul_in_name": lambda: "a\0b.csv",
    "name_too_long": lambda: workplace() / ("x" * 300),
}


def _pipe() -> Path:
    path = workplace() / "pipe.csv"
    if not path.exists():
        os.mkfifo(path)
    return path


def _circle() -> Path:
    path = workplace() / "circle.csv"
    if not path.is_symlink():
        path.symlink_to(path)
    return path


def _make(name: str) -> Any:
    if name in PLACES:
        return PLACES[name]()
    ending, content = FORMS[name]
    path = workplace() / f"{name}{ending}"
    path.write_bytes(content())
    return path


def _fit(path: Any) -> Any:
    model = workplace() / "fitted.pnu"
    ask("fit", path, "-l", "label", "--drop", "said", *QUICK, "-m", model)
    return ask("predict", workplace() / "clean.csv", "-m", model, "--json")


def _predict_files(path: Any) -> Any:
    out = workplace() / "predicted.csv"
    out.unlink(missing_ok=True)
    return pd.read_csv(predict_files(_classifier(), path, out))["score"]


@cache
def _classifier() -> Any:
    table = pd.DataFrame(RECORDS, columns=NAMES)
    y = table["label"].map({"yes": 1.0, "no": 0.0}).astype(float).to_numpy()
    return quick().fit(table[["a", "b", "c"]], y)


MODEL = lambda: ("-m", workplace() / "model.pnu")  # noqa: E731
LEARN: dict[str, Callable[[Any], Any]] = {
    "fit": _fit,
    "prior": lambda path: ask("prior", path, "-l", "label", "--drop", "said", "--json"),
    "evaluate": lambda path: ask("evaluate", path, "-l", "label", *MODEL(), "--prior", "0.4", "--json"),
    "evaluate_scores": lambda path: ask("evaluate", path, "-l", "label", "-s", "said", "--prior", "0.4", "--json"),
    "compare": lambda path: ask("compare", path, "-l", "label", *MODEL(), "-s", "said", "--prior", "0.4", "--json"),
    "advise": lambda path: ask("advise", path, "-l", "label", "--prior", "0.4", "--json"),
    "columns": lambda path: ask("columns", path, "-l", "label", "--json"),
}
ANSWER: dict[str, Callable[[Any], Any]] = {"predict": lambda path: ask("predict", path, *MODEL(), "--json")}
STREAM: dict[str, Callable[[Any], Any]] = {
    "fit_files": lambda path: fit_files(quick(), path, target="label", columns=["a", "b", "c"], dtype="float64").coef_,
    "predict_files": _predict_files,
}
MODELS: dict[str, Callable[[Any], Any]] = {
    "info": lambda path: ask("info", path, "--json"),
    "load": lambda path: load(path).classes_.shape,
}
OPEN: dict[str, Callable[[Any], Any]] = {"read_table": lambda path: read_table(path).n_rows}
GROUPS: dict[str, Any] = {"LEARN": LEARN, "ANSWER": ANSWER, "STREAM": STREAM, "MODELS": MODELS, "OPEN": OPEN}
ENTRIES = LEARN | ANSWER | STREAM | MODELS | OPEN


def answer(input: str, entry: str) -> Any:
    """What a command says of that table."""
    return ENTRIES[entry](_make(input))


@cache
def expected(entry: str) -> Any:
    """The same of the clean table."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ENTRIES[entry](workplace() / "clean.csv")
