"""`monitor_table` and `pnulearn monitor`: tables, labels elsewhere, and the state in a file."""

import json
import os
import signal
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from pnulearn import TableClassifier
from pnulearn.cli import run
from pnulearn.metrics import monitor
from pnulearn.tables import TableError, monitor_table
from pnulearn.tables._loading import load_table_model

pytestmark = pytest.mark.filterwarnings("ignore:Column 'city' has values that the training table did not have")
MONTHS = ("2025-01", "2025-02", "2025-03", "2025-04")


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    rng = np.random.default_rng(0)
    truth = rng.random(300) < 0.4
    rows = pd.DataFrame({"x": 2.0 * truth + rng.normal(size=300), "city": rng.choice(["a", "b"], 300)})
    label = pd.Series(np.where(truth, "yes", "no"), name="bought").where(rng.random(300) < 0.5)
    found = TableClassifier(kernel="linear", sampling="random").fit(rows, label)
    path = tmp_path_factory.mktemp("model") / "model.pnu"
    found.save(path)
    return path


@pytest.fixture(scope="module")
def new():
    """Four months of 300 rows; in the last the positives are twice as many, and one column moves."""
    rng = np.random.default_rng(1)
    truth = rng.random(1200) < np.repeat([0.4, 0.4, 0.4, 0.8], 300)
    return pd.DataFrame(
        {
            "id": np.arange(1200),
            "date": [f"{month}-{day:02}" for month in MONTHS for day in rng.integers(1, 29, 300)],
            "x": 2.0 * truth + rng.normal(size=1200),
            "city": np.where(np.arange(1200) >= 900, "c", rng.choice(["a", "b"], 1200)),
            "bought": pd.Series(np.where(truth, "yes", "no")).where(rng.random(1200) < 0.2),
        }
    )


def test_a_table_gives_what_arrays_give(model, new):
    found = monitor_table(model, new, "month")
    scores = load_table_model(model).predict(new).scores
    same = monitor(new["bought"], scores, new["date"].str[:7], columns=new[["x", "city"]], horizon=12, pos_label="yes")
    assert found.found.windows == same.windows
    assert found.alarms == same.alarms
    assert found.alarms["predicted"] == "2025-04"
    assert "city" in found.remarks()[0]
    assert [row["rows"] for row in found.rows()] == ["300"] * 4


def test_labels_by_id_and_as_further_rows(model, new):
    rows, labels = new.drop(columns="bought"), new[new["bought"].notna()]
    inside = monitor_table(model, new, "month")
    by_id = monitor_table(model, rows, "date:month", labels=labels[["id", "bought"]], id="id")
    assert by_id.found.windows == inside.found.windows
    further = monitor_table(model, rows, "month", labels=labels)
    assert further.found.windows[0].n_rows == 300 + labels["date"].str.startswith("2025-01").sum()
    assert further.found.windows[0].n_labels == inside.found.windows[0].n_labels
    twice = pd.DataFrame({"id": [1, 1], "bought": ["yes", "no"]})
    with pytest.raises(TableError, match="gives id 1 two labels, 'yes' and 'no'"):
        monitor_table(model, rows, "month", labels=twice, id="id")
    with pytest.raises(TableError, match="no column 'x'"):
        monitor_table(model, rows, "month", labels=labels[["id", "date", "city", "bought"]])


def test_the_state_goes_on_where_it_was(model, new, tmp_path):
    state = tmp_path / "state.json"
    for month in MONTHS:
        part = monitor_table(model, new[new["date"].str[:7] == month], "month", state=state)
    whole = monitor_table(model, new, "month")
    assert part.alarms == whole.alarms
    assert part.found.state == whole.found.state
    before = state.read_bytes()
    monitor_table(model, new, "month", state=state)
    assert state.read_bytes() == before  # nothing is counted twice


def test_an_incomplete_window_is_shown_but_does_not_count(model, new, tmp_path):
    state = tmp_path / "state.json"
    early = new[new["date"] <= "2025-03-15"]
    found = monitor_table(model, early, "month", state=state)
    assert [one.name for one in found.found.windows] == list(MONTHS[:3])
    assert found.found.state.detectors["predicted"].seen == MONTHS[:2]
    assert monitor_table(model, new, "month", state=state).found.state == monitor_table(model, new, "month").found.state


KILLED = """
import os, signal, sys
from pnulearn.cli import run
os.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
run(sys.argv[1:])
"""


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGKILL")
def test_a_kill_just_before_the_state_is_replaced_loses_nothing(model, new, tmp_path):
    state = tmp_path / "state.json"
    monitor_table(model, new[new["date"] < "2025-02"], "month", state=state)
    before = state.read_bytes()
    new.to_csv(tmp_path / "new.csv", index=False)
    arguments = ["monitor", str(model), str(tmp_path / "new.csv"), "--by", "month", "--state", str(state)]
    done = subprocess.run([sys.executable, "-c", KILLED, *arguments], check=False, capture_output=True)
    assert done.returncode == -signal.SIGKILL
    assert state.read_bytes() == before
    assert len(list(tmp_path.glob(".state.json.*.tmp"))) == 1  # what the killed run left
    again = monitor_table(model, new, "month", state=state)
    assert again.found.state == monitor_table(model, new, "month").found.state
    assert list(tmp_path.glob(".state.json.*.tmp")) == []


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"a,b\n1,2\n", "contains something else"),
        (b'{"pnulearn_monitor": 1, "model"', "is damaged"),
        (b'{"pnulearn_monitor": 1, "model": "x", "by": "month", "state": {}}', "for another model"),
        (b'{"pnulearn_monitor": 1}', "is damaged"),
    ],
)
def test_other_files_are_no_state(model, new, tmp_path, content, words):
    state = tmp_path / "state.json"
    state.write_bytes(content)
    with pytest.raises((ValueError, OSError), match=words):
        monitor_table(model, new, "month", state=state)
    assert state.read_bytes() == content


def test_a_state_of_other_windows_is_refused(model, new, tmp_path):
    monitor_table(model, new, "month", state=tmp_path / "state.json")
    with pytest.raises(TableError, match="has windows by month, not by date:week"):
        monitor_table(model, new, "date:week", state=tmp_path / "state.json")


def test_the_command_exits_with_3_if_there_is_an_alarm(model, new, tmp_path, capsys):
    new.drop(columns="bought").to_parquet(tmp_path / "new.parquet")
    new[["id", "bought"]].dropna().to_csv(tmp_path / "few.csv", index=False)
    given = [str(model), str(tmp_path / "new.parquet"), "--labels", str(tmp_path / "few.csv"), "--id", "id"]
    state = ["--by", "month", "--state", str(tmp_path / "state.json")]
    assert run(["monitor", *given, *state]) == 3
    out = capsys.readouterr().out
    assert out.startswith("Alarm: ")
    assert "2025-04" in out
    assert run(["monitor", *given, *state, "--json"]) == 3
    facts = json.loads(capsys.readouterr().out)
    assert facts["alarms"]["predicted"] == "2025-04"
    assert facts["windows"][3]["moved"]["city"] == 1.0
    new[new["date"] < "2025-04"].to_csv(tmp_path / "early.csv", index=False)
    assert run(["monitor", str(model), str(tmp_path / "early.csv"), "--by", "month"]) == 0
    assert capsys.readouterr().out.startswith("No alarm.")


def test_rows_without_a_date_or_labels(model, new, capsys):
    some = new.drop(columns="bought").assign(date=new["date"].where(new["id"] % 10 > 0))
    found = monitor_table(model, some, "month")
    assert sum(one.n_rows for one in found.found.windows) == 1080
    assert found.found.windows[0].error is None
    assert found.rows()[0]["error"] == ""


def test_a_window_in_which_nothing_is_predicted_positive_has_no_precision(model, new):
    some = new[:900]
    low = some.assign(x=np.where(some["date"].str[:7] == MONTHS[1], -9.0, some["x"]))
    found = monitor_table(model, low, "month")
    assert found.found.windows[1].predicted == 0
    assert found.rows()[1]["precision"] == "–"
    assert found.facts()["windows"][1]["precision"] is None
    assert "%" in found.rows()[0]["precision"]
