"""From a name to files: running, resuming, killing, extending."""

import os
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from experiments import table_1, table_2
from experiments.runner import EXPERIMENTS, append_row, pending, read_rows, reproduce, unique_rows
from experiments.trials import Settings

RESULTS = Path(__file__).parents[2] / "results"
FAST = {"sets": ["two-gaussians"], "methods": ["pn", "logistic"], "quick": True}
FIELDS = ["set", "n_labeled", "trial", "method"]


def _quiet(*_):
    pass


def test_a_resumed_run_gives_the_table_of_an_uninterrupted_one(tmp_path):
    reproduce("table-1", out=tmp_path / "once", trials=2, say=_quiet, **FAST)
    reproduce("table-1", out=tmp_path / "twice", trials=1, say=_quiet, **FAST)
    reproduce("table-1", out=tmp_path / "twice", trials=2, say=_quiet, **FAST)
    texts = [(tmp_path / run / "table-1-quick.md").read_text() for run in ("once", "twice")]
    assert texts[0] == texts[1]
    assert len(read_rows(tmp_path / "twice" / "rows" / "table-1-quick.jsonl")) == 2 * 2 * 2


@pytest.mark.parametrize("name", ["table-1", "table-2"])
def test_stored_rows_are_understood_and_give_the_stored_table(name, tmp_path):
    """Rows of full runs are never written anew, so every later version has to read them."""
    (tmp_path / "rows").mkdir()
    shutil.copy(RESULTS / "rows" / f"{name}.jsonl", tmp_path / "rows")
    for path in reproduce(name, out=tmp_path, run=False, say=_quiet):
        assert path.read_text() == (RESULTS / path.name).read_text()


def test_a_full_run_of_table_1_finds_all_of_its_trials_among_the_stored_rows():
    cells = list(table_1.TABLE_1.cells(table_1.TABLE_1.sets, table_1.TABLE_1.trials))
    assert len(cells) == 16 * 2 * 50
    assert pending(cells, table_1.TABLE_1.methods, RESULTS / "rows" / "table-1.jsonl") == []


@pytest.mark.thorough
def test_a_killed_run_loses_nothing_that_was_finished(tmp_path):
    """Killed with SIGKILL after its first rows, then run again: the same table as an undisturbed run."""
    options = ["--quick", "--trials", "3", "--sets", "two-gaussians", "--methods", "pn,logistic"]
    command = [sys.executable, "-m", "experiments", "table-1", *options, "--out", str(tmp_path / "killed")]
    path = tmp_path / "killed" / "rows" / "table-1-quick.jsonl"
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 120
    while len(read_rows(path)) < 2 and time.monotonic() < deadline and process.poll() is None:
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    before = read_rows(path)
    assert before
    for folder in ("killed", "undisturbed"):
        reproduce("table-1", out=tmp_path / folder, trials=3, say=_quiet, **FAST)
    assert read_rows(path)[: len(before)] == before
    texts = [(tmp_path / folder / "table-1-quick.md").read_text() for folder in ("killed", "undisturbed")]
    assert texts[0] == texts[1]


def test_a_missing_set_is_skipped_with_a_line_that_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.delenv("PNULEARN_DATA", raising=False)
    said = []
    reproduce("table-1", out=tmp_path, sets=["splice", "two-gaussians"], methods=["pn"], trials=1, say=said.append)
    (line,) = [text for text in said if text.startswith("skipped")]
    assert "splice.npz" in line
    assert "two-gaussians" in (tmp_path / "table-1.md").read_text()


def test_without_any_data_no_trial_is_said_to_be_done(tmp_path, monkeypatch, capsys):
    """It said "1600/1600 trials" and skipped all of them once."""
    monkeypatch.delenv("PNULEARN_DATA", raising=False)
    said = []
    reproduce("table-1", out=tmp_path, sets=["splice"], methods=["pn"], trials=3, say=said.append)
    assert "trials" not in capsys.readouterr().err
    assert said[-1] == "0 trials were run, 6 skipped because their data is missing"


def test_a_set_that_is_too_small_is_skipped_with_what_it_lacks(tmp_path):
    np.savez(tmp_path / "tiny.npz", X=np.random.default_rng(0).random((100, 2)), y=np.arange(100) % 2)
    said = []
    reproduce("table-1", out=tmp_path, data=tmp_path, sets=["tiny"], methods=["pn"], trials=1, say=said.append)
    assert any("tiny" in line and "needs 150 more" in line for line in said)


PLUGIN = """
import numpy as np
from experiments.datasets import DataSet, register
from experiments.methods import Method, register_method


class Coin:
    def predict(self, X):
        return np.arange(len(X)) % 2


def two_points():
    y = np.where(np.arange(1000) < 500, 1, -1)
    return y[:, None] + 0.01 * np.arange(1000)[:, None] / 1000, y


register_method(Method("coin", "Coin toss", lambda trial: Coin(), "scikit-learn"))
register(DataSet("two-points", 1000, 1, 0.5, "generated", two_points))
"""


@pytest.mark.thorough
def test_one_file_adds_a_method_and_a_data_set_for_one_process_or_two(tmp_path):
    plugin = tmp_path / "mine.py"
    plugin.write_text(PLUGIN)
    options = {"sets": ["two-points"], "methods": ["pn", "coin"], "trials": 2, "plugins": [str(plugin)]}
    found = []
    for jobs in (1, 2):
        out = tmp_path / str(jobs)
        reproduce("table-1", out=out, n_jobs=jobs, say=_quiet, **options)
        some = unique_rows(read_rows(out / "rows" / "table-1.jsonl"), FIELDS)
        found.append([(row["method"], row["error"]) for row in some])
        assert "Coin toss" in (out / "table-1.md").read_text()
    assert found[0] == found[1]
    assert all(error == 0 for name, error in found[0] if name == "pn")
    assert all(40 < error < 60 for name, error in found[0] if name == "coin")


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_runs_and_writes(name, tmp_path):
    experiment = EXPERIMENTS[name]
    sets = experiment.quick_sets[:1]
    methods = ["pn", "logistic"] if "pn" in experiment.methods else experiment.methods[:2]
    written = reproduce(name, out=tmp_path, sets=sets, methods=methods, trials=2, quick=True, say=_quiet)
    assert written
    assert all(path.stat().st_size > 100 for path in written)


def test_drawings_do_not_change_from_run_to_run(tmp_path):
    for _ in range(2):
        written = reproduce(
            "figure-2", out=tmp_path, sets=["generated-banana"], trials=2, quick=True, methods=["finite"], say=_quiet
        )
    pictures = [path for path in written if path.suffix == ".svg"]
    before = [path.read_bytes() for path in pictures]
    reproduce("figure-2", out=tmp_path, quick=True, run=False, say=_quiet)
    assert before == [path.read_bytes() for path in pictures]


def test_unknown_names_are_refused_with_the_known_ones(tmp_path):
    with pytest.raises(ValueError, match="table-1, figure-1"):
        reproduce("table-7", out=tmp_path)
    with pytest.raises(ValueError, match="'magic'"):
        reproduce("table-1", methods=["magic"], out=tmp_path)


def test_no_trial_runs_twice(tmp_path):
    path = tmp_path / "a.jsonl"
    cells = list(table_1.cells(["a", "b"], 2))
    append_row(path, {**cells[0], "method": "pn", "error": 1.0})
    jobs = pending(cells, ["pn", "pu"], path)
    assert jobs[0].methods == ("pu",)
    assert len(jobs) == len(cells) == 8


def test_real_places_features_are_used_where_there_are_any(tmp_path):
    rng = np.random.default_rng(0)
    y = np.arange(3000) % 2
    np.savez(tmp_path / "places_arts.npz", X=(rng.random((3000, 4)) + y[:, None]).astype(np.float32), y=y)
    cell = {"set": "arts", "n_unlabeled": 1000, "trial": 0}
    (row,) = table_2.run(cell, ["linear-pnu-average"], Settings(data=str(tmp_path)))
    assert row["data"] == "places_arts"
    assert row["error"] < 10
    assert abs(row["prior_used"] - 0.5) < 0.1


@pytest.mark.parametrize(("options", "message"), [({"trials": 0}, "trials"), ({"n_jobs": 0}, "n_jobs")])
def test_no_trials_or_processes_is_an_error(options, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        reproduce("table-1", out=tmp_path, quick=True, **options)


def test_a_task_that_table_2_does_not_have_is_skipped_with_those_it_has(tmp_path):
    said = []
    reproduce("table-2", out=tmp_path, sets=["oceans"], trials=1, say=said.append)
    assert any("oceans" in line and "deserts" in line for line in said)


def test_a_line_cut_short_is_dropped_and_does_no_harm_to_the_next(tmp_path):
    path = tmp_path / "rows" / "a.jsonl"
    append_row(path, {"trial": 0})
    with path.open("a") as file:
        file.write('{"trial": 1, "err')
    append_row(path, {"trial": 2})
    assert [row["trial"] for row in read_rows(path)] == [0, 2]


def test_a_missing_file_has_no_rows(tmp_path):
    assert read_rows(tmp_path / "none.jsonl") == []


def test_unique_rows_do_not_depend_on_the_order_they_came_in():
    some = [{"set": s, "trial": t, "value": i} for i, (s, t) in enumerate([("b", 10), ("a", 9), ("b", 2), ("a", 9)])]
    kept = unique_rows(some, ["set", "trial"])
    assert [(row["set"], row["trial"]) for row in kept] == [("a", 9), ("b", 2), ("b", 10)]
    assert kept[0]["value"] == 1


def _write_many(path, writer):
    for number in range(200):
        append_row(path, {"writer": writer, "number": number, "padding": "x" * 50})


def test_several_writers_may_write_at_once(tmp_path):
    """Every row opens the file anew, so that threads meet there as processes would."""
    path = tmp_path / "a.jsonl"
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(_write_many, [path] * 3, range(3)))
    assert len(unique_rows(read_rows(path), ["writer", "number"])) == 600
    assert len(path.read_text().splitlines()) == 600
