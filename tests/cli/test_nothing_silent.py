"""What was once lost or wrong without a word: digits in JSON, training rows, labels that look alike, added rows."""

import json
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.cli.conftest import write_customers

from pnulearn.cli import run

FIT = ["--prior", "0.4", "--folds", "2", "--kernel", "linear", "-q"]
IDS = [2**53 + k for k in range(80)]


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    side = rng.random(80) < 0.5
    label = np.where(np.arange(80) < 40, np.where(side, "yes", "no"), None)
    return pd.DataFrame({"x": rng.normal(size=80) + 2 * side, "z": rng.normal(size=80), "y": label})


@pytest.fixture(scope="module")
def model(frame, tmp_path_factory):
    place = tmp_path_factory.mktemp("model")
    frame.to_csv(place / "t.csv", index=False)
    assert run(["fit", str(place / "t.csv"), "--label", "y", *FIT, "-m", str(place / "m.pnu")]) == 0
    return place / "m.pnu"


def predicted(capsys, table, model):
    capsys.readouterr()
    assert run(["predict", str(table), "-m", str(model), "--json", "-q"]) == 0
    return [json.loads(line, parse_constant=_refuse) for line in capsys.readouterr().out.splitlines()]


def _refuse(name):
    raise AssertionError(f"{name} is no JSON")


@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl"])
def test_identifiers_above_2_to_the_53_keep_their_digits(frame, model, tmp_path, capsys, kind):
    table, path = frame.assign(id=IDS).drop(columns="y"), tmp_path / f"t.{kind}"
    if kind == "csv":
        table.to_csv(path, index=False)
    elif kind == "parquet":
        table.to_parquet(path)
    else:
        table.to_json(path, orient="records", lines=True)
    assert [row["id"] for row in predicted(capsys, path, model)] == IDS
    assert run(["predict", str(path), "-m", str(model), "-q", "--keep", "id"]) == 0
    assert [line.split(",")[0] for line in capsys.readouterr().out.splitlines()[1:]] == [str(one) for one in IDS]


def test_cells_in_json_are_those_of_the_table(frame, model, tmp_path, capsys):
    table = (
        frame.drop(columns="y")
        .astype(str)
        .assign(country=["NA", "", "DE", "FR"] * 20, size=["1.50", "NA", "inf", "2"] * 20)
    )
    table.to_csv(tmp_path / "t.csv", index=False)
    rows = predicted(capsys, tmp_path / "t.csv", model)
    assert [row["country"] for row in rows[:4]] == ["NA", None, "DE", "FR"]
    assert [row["size"] for row in rows[:4]] == [1.5, None, "inf", 2]


def test_decimals_keep_their_digits(frame, model, tmp_path, capsys):
    amounts = [Decimal("12345678901234567.89")] * 80
    cells = pa.Table.from_pandas(frame.drop(columns="y")).append_column("sum", pa.array(amounts))
    pq.write_table(cells, tmp_path / "t.parquet")
    assert run(["predict", str(tmp_path / "t.parquet"), "-m", str(model), "--json", "-q"]) == 0
    assert capsys.readouterr().out.count('"sum": 12345678901234567.89,') == 80


def test_rows_of_the_fit_are_recognised_in_another_file_and_order(frame, model, tmp_path, capsys):
    mixed = frame.sample(frac=1, random_state=1).assign(note="x")[["note", "z", "y", "x"]]
    mixed.to_parquet(tmp_path / "mixed.parquet")
    new = frame.assign(x=frame.x + 0.001)
    new.to_csv(tmp_path / "new.csv", index=False)
    for name, more in (("mixed.parquet", []), ("mixed.parquet", ["--stream-above", "0"])):
        assert run(["evaluate", str(tmp_path / name), "-m", str(model), "--label", "y", "--prior", "0.4", *more]) == 0
        told = " ".join(capsys.readouterr().err.split())
        assert "40 of the 40 labelled rows have the values of rows that the model was fitted to" in told
    assert run(["evaluate", str(tmp_path / "new.csv"), "-m", str(model), "--label", "y", "--prior", "0.4"]) == 0
    assert "fitted to" not in capsys.readouterr().err


def test_rows_of_few_distinct_values_are_not_taken_for_those_of_the_fit(tmp_path, capsys):
    rng = np.random.default_rng(0)
    for name in ("a.csv", "b.csv"):
        flags = pd.DataFrame({"p": rng.integers(2, size=100), "q": rng.integers(2, size=100)})
        flags.assign(y=np.where(np.arange(100) < 60, flags.p, np.nan)).to_csv(tmp_path / name, index=False)
    assert run(["fit", str(tmp_path / "a.csv"), "--label", "y", *FIT, "-m", str(tmp_path / "m.pnu")]) == 0
    capsys.readouterr()
    assert (
        run(["evaluate", str(tmp_path / "b.csv"), "-m", str(tmp_path / "m.pnu"), "--label", "y", "--prior", "0.4"]) == 0
    )
    assert "fitted to" not in capsys.readouterr().err


def test_labels_that_floats_cannot_tell_apart_are_refused(frame, tmp_path, capsys):
    table = frame.assign(y=[2**53 + k % 2 if k < 40 else None for k in range(80)])
    table.astype({"y": "Int64"}).to_csv(tmp_path / "t.csv", index=False)
    assert run(["fit", str(tmp_path / "t.csv"), "--label", "y"]) == 1
    assert "cannot be told apart" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("option", ["--at-random", "--weights"])
@pytest.mark.parametrize("command", ["fit", "prior"])
def test_the_label_is_neither_mark_nor_weight(tmp_path, capsys, command, option):
    write_customers(tmp_path / "t.csv", 60)
    assert run([command, str(tmp_path / "t.csv"), "--label", "bought", option, "bought"]) != 0
    told = " ".join(capsys.readouterr().err.split())
    assert "'bought' holds the labels" in told or "No such option" in told


@pytest.mark.parametrize(("labels", "said"), [((1, 2), True), ((3, 7), True), ((0, 1), False), ((-1, 1), False)])
def test_the_positive_of_two_numbers_is_announced_unless_it_is_plain(frame, tmp_path, capsys, labels, said):
    table = frame.assign(y=[labels[k % 2] if k < 40 else None for k in range(80)]).astype({"y": "Int64"})
    table.to_csv(tmp_path / "t.csv", index=False)
    fit = [word for word in FIT if word != "-q"]
    assert run(["fit", str(tmp_path / "t.csv"), "--label", "y", *fit]) == 0
    told = " ".join(capsys.readouterr().err.split())
    assert (f"positive label of column 'y' is {labels[1]}" in told) == said


def test_an_error_from_positives_alone_is_never_below_zero(frame, tmp_path, capsys):
    positives = frame.assign(y=frame.y.where(frame.y == "yes"), s=frame.x - 1)
    positives.to_csv(tmp_path / "t.csv", index=False)
    command = ["evaluate", str(tmp_path / "t.csv"), "--label", "y", "-s", "s", "--threshold", "0", "--positive", "yes"]
    assert run([*command, "--prior", "0.9", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["error_rate"] == found["interval"][0] == 0
    assert 0 < found["interval"][1] <= 1
