"""The command as a process of its own: start-up time, Ctrl-C, pipes, two writers, and life without typer."""

import os
import resource
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace

import pytest

from pnulearn.cli import run
from pnulearn.tables.loading import load_table_model

COMMAND = [sys.executable, "-m", "pnulearn"]


def test_help_takes_less_than_half_a_second_of_work():
    """Processor time, as the machine may be busy with other tests; it would be 1 s and more with scikit-learn."""
    subprocess.run([*COMMAND, "--help"], check=True, capture_output=True)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([*COMMAND, "--help"], check=True, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert "Usage: pnulearn" in done.stdout
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 0.5


def test_help_imports_neither_scikit_learn_nor_matplotlib():
    code = "import sys; from pnulearn.cli import run; run(['fit', '--help']); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert not {"sklearn", "numpy", "matplotlib", "rich.console"} & set(done.stdout.split())


def test_interrupted_work_leaves_nothing_behind(customers, tmp_path):
    model = tmp_path / "m.pnu"
    slow = ["--label", "bought", "--folds", "40", "--model", str(model)]
    process = subprocess.Popen(
        [*COMMAND, "fit", str(customers), *slow], stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )
    _wait_until_working(process.pid)
    os.killpg(process.pid, signal.SIGINT)
    _, messages = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"Traceback" not in messages
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)


def _wait_until_working(pid):
    """Until the process has SciPy's linear algebra in memory, which comes with the first fit."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        with open(f"/proc/{pid}/maps") as maps:
            if "_flapack" in maps.read():
                time.sleep(0.5)
                return
        time.sleep(0.05)
    raise AssertionError("the command did not start working")


def test_a_reader_that_stops_early_gets_no_traceback(customers, fitted, monkeypatch, capfd):
    reading, writing = os.pipe()
    os.close(reading)
    with open(writing, "w", closefd=False) as closed_pipe:
        monkeypatch.setattr("sys.stdout", closed_pipe)
        assert run(["predict", str(customers), "-m", str(fitted[1])]) == 1
        monkeypatch.undo()
        nowhere = os.open(os.devnull, os.O_WRONLY)  # what is still buffered has to go somewhere
        os.dup2(nowhere, writing)
        os.close(nowhere)
    os.close(writing)
    assert capfd.readouterr().err == ""


def test_two_writers_of_one_model_leave_a_whole_one(fitted, tmp_path):
    """Whatever the order of the writes, a reader finds the one model or the other, never a mixture."""
    target = tmp_path / "m.pnu"
    model = load_table_model(fitted[1])
    model.save(target)
    writers = [
        threading.Thread(target=lambda k=k: [replace(model, label=str(k)).save(target) for _ in range(10)])
        for k in range(2)
    ]
    for writer in writers:
        writer.start()
    found = {load_table_model(target).label for _ in range(20)}
    for writer in writers:
        writer.join()
    assert found <= {"bought", "0", "1"}
    assert load_table_model(target).label in ("0", "1")
    assert [path.name for path in tmp_path.iterdir()] == ["m.pnu"]


def test_without_the_extra_the_install_line_is_printed():
    code = (
        "import sys; sys.modules['typer'] = None; sys.argv = ['pnulearn', 'fit']\n"
        "import importlib.util as u; real = u.find_spec\n"
        "u.find_spec = lambda name, *a: None if name == 'typer' else real(name, *a)\n"
        "from pnulearn.__main__ import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "pip install 'pnulearn[cli]'" in done.stderr
