"""Which row is which: identifiers and cells in outputs, indexes of data frames, rows of the fit in other tables."""

from __future__ import annotations

import csv
import io
import json
import warnings
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

from pnulearn import PriorAdjusted, estimate_prior, pnu_risk
from pnulearn.cli import run
from tests.attack.commands import NAMES, RECORDS, ask, workplace
from tests.attack.models import quick
from tests.attack.rows import SCORES, X, Y

FIRST = 2**53 + 1
IDS = [FIRST + number for number in range(len(RECORDS))]
CELLS: dict[str, list[str]] = {
    "text_na": ["NA", "DE", "FR"],
    "text_null": ["null", "none", "x"],
    "leading_zeros": ["007", "0815", "x1"],
    "formulas": ["a=1", "x+y", "b"],
}


def _frame() -> pd.DataFrame:
    return pd.DataFrame(RECORDS, columns=NAMES).drop(columns="label")


def _path(name: str) -> Path:
    place, table = workplace() / f"identity-{name}", _frame().assign(id=IDS)
    if name == "json_lines":
        table.to_json(place, orient="records", lines=True)
    elif name in ("parquet", "unsigned"):
        place = place.with_suffix(".parquet")
        table.astype({"id": "uint64" if name == "unsigned" else "int64"}).to_parquet(place)
    elif name in CELLS:
        _frame().assign(id=[CELLS[name][k % 3] for k in range(len(RECORDS))]).to_csv(place, index=False)
    else:
        table.to_csv(place, index=False)
    return place


def _written(name: str, *options: str) -> str:
    out, said = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO()
    batches = ("--stream-above", "0") if name == "batches" else ()
    command = ["predict", str(_path(name)), "-m", str(workplace() / "model.pnu"), "--keep", "id", *options, *batches]
    with redirect_stdout(out), redirect_stderr(said):
        code = run(command)
    out.flush()
    if code:
        raise ValueError(said.getvalue())
    raw = out.buffer
    assert isinstance(raw, io.BytesIO)
    return raw.getvalue().decode()


def _as_csv(name: str) -> list[Any]:
    return [row["id"] for row in csv.DictReader(io.StringIO(_written(name)))]


def _as_json(name: str) -> list[Any]:
    return [json.loads(line)["id"] for line in _written(name, "--json").splitlines()]


def _compared(name: str, found: list[Any]) -> list[float]:
    """Distances of identifiers from the right ones, and 0 or 1 for cells; zeros are right."""
    if name in CELLS:
        return [float(str(cell) != CELLS[name][k % 3]) for k, cell in enumerate(found)]
    return [float(int(cell) - right) for cell, right in zip(found, IDS, strict=True)]


def _indexed(name: str) -> tuple[Any, Any]:
    """Rows and labels whose indexes agree or do not."""
    n = len(Y)
    rows, index = pd.DataFrame(X, columns=list("abc")), np.arange(n)
    other = {
        "index_shifted": index + 1,
        "index_reversed": index[::-1],
        "index_permuted": np.random.default_rng(0).permutation(n),
        "index_of_other_type": index.astype(str),
    }
    if name == "index_of_text":
        words = [f"row {number}" for number in index]
        return rows.set_index(pd.Index(words)), words
    if name == "index_shorter":
        return rows, index[: n - 5]
    return rows, other.get(name, index)


def _series(values: Any, name: str) -> Any:
    index = _indexed(name)[1]
    return values if name == "no_index" else pd.Series(values[: len(index)], index=index)


WRITE: dict[str, Callable[[str], Any]] = {
    "csv_output": lambda name: _compared(name, _as_csv(name)),
    "json_output": lambda name: _compared(name, _as_json(name)),
}
ALIGN: dict[str, Callable[[str], Any]] = {
    "fit": lambda name: quick().fit(_indexed(name)[0], _series(Y, name)).decision_function(_indexed(name)[0]),
    "adjusted": lambda name: (
        PriorAdjusted(LogisticRegression(), 0.4, random_state=0)
        .fit(_indexed(name)[0], _series(Y, name))
        .decision_function(_indexed(name)[0])
    ),
    "prior": lambda name: estimate_prior(_indexed(name)[0], _series(Y, name), n_bootstrap=0).value,
    "risk": lambda name: pnu_risk(pd.Series(Y, index=_indexed(name)[0].index), _series(SCORES, name), prior=0.4).value,
}
GROUPS: dict[str, Any] = {"WRITE": WRITE, "CELLS": list(WRITE), "ALIGN": ALIGN}


def _evaluate(name: str) -> list[float]:
    """Rows of the fit in another order, or others, judged with the model."""
    table = pd.DataFrame(RECORDS, columns=NAMES).iloc[::-1]
    if name == "other_rows":
        table = table.assign(a=table["a"] + 0.01)
    path = workplace() / f"identity-{name}.csv"
    table.to_csv(path, index=False)
    return ask("evaluate", path, "-l", "label", "-m", workplace() / "model.pnu", "--prior", "0.4", "--json")


def answer(input: str, entry: str) -> Any:
    """What an entry point makes of these rows."""
    return _evaluate(input) if entry == "evaluate_rows" else (WRITE | ALIGN)[entry](input)


@cache
def expected(entry: str) -> Any:
    """Zeros for what is written, and the answer for equal indexes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [0.0] * len(RECORDS) if entry in WRITE else ALIGN[entry]("index_equal")
