"""The command as a process of its own: start-up time, Ctrl-C, pipes, two writers, and life without typer."""

import os
import resource
import signal
import subprocess
import sys
import threading
from dataclasses import replace

import pytest

from pnulearn.cli import app, run
from pnulearn.tables._loading import load_table_model

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


NO_TABLE, NO_MODEL = "There is no file 'no.csv'. There is here.csv.", "No model file at 'no.pnu'."
WRONG_NAMES = {
    "fit no.csv -l y": NO_TABLE,
    "fit here.csv no.csv -l y": NO_TABLE,
    "fit no-*.csv -l y": "Nothing matches 'no-*.csv'.",
    "fit . -l y": "'.' is a folder. Name one file in it.",
    "columns no.csv": NO_TABLE,
    "prior no.csv -l y": NO_TABLE,
    "advise no.csv -l y": NO_TABLE,
    "predict no.csv -m here.pnu": NO_TABLE,
    "predict here.csv -m no.pnu": NO_MODEL,
    "predict - -m no.pnu": NO_MODEL,
    "predict here.csv -m .": "'.' is a folder. Pass the path of a model file in it.",
    "evaluate no.csv -l y -s x": NO_TABLE,
    "evaluate here.csv -l y -m no.pnu": NO_MODEL,
    "compare no.csv -l y -s x -s z": NO_TABLE,
    "compare here.csv -l y -m here.pnu -m no.pnu": NO_MODEL,
    "judge no.csv --human h --judge v": NO_TABLE,
    "monitor here.pnu no.csv --by x": NO_TABLE,
    "monitor no.pnu here.csv --by x": NO_MODEL,
    "label no.csv -l y": NO_TABLE,
    "label here.csv -l y -m no.pnu": NO_MODEL,
    "info no.pnu": NO_MODEL,
    "export no.pnu --onnx m.onnx": NO_MODEL,
}


def test_a_wrong_file_name_is_told_before_anything_heavy_is_imported(tmp_path):
    for name in ("here.csv", "here.pnu"):
        (tmp_path / name).write_text("x,y\n1,a\n")
    code = (
        "import sys; from pnulearn.cli import run\n"
        "heavy = {'numpy', 'sklearn', 'scipy', 'pyarrow', 'pandas', 'matplotlib'}\n"
        "for line in sys.argv[1:]: print(run(line.split()), *heavy & set(sys.modules))"
    )
    command = [sys.executable, "-c", code, *WRONG_NAMES]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=tmp_path)
    assert done.stdout.splitlines() == ["1"] * len(WRONG_NAMES)
    assert done.stderr.splitlines() == [f"error: {message}" for message in WRONG_NAMES.values()]


def test_every_command_that_reads_files_is_among_the_wrong_names():
    commands = {command.callback.__name__ for command in app.registered_commands}
    assert {line.split()[0] for line in WRONG_NAMES} == commands - {"reproduce", "datasets", "demo"}


TELLS_WHEN_IT_LEARNS = """
import sys
from pnulearn.cli import run
from pnulearn.tables import _fitting
fit_table = _fitting._fit_table
def tell(*arguments, **options):
    print("learning", flush=True)
    return fit_table(*arguments, **options)
_fitting._fit_table = tell
sys.exit(run(sys.argv[1:]))
"""


def test_interrupted_work_leaves_nothing_behind(customers, tmp_path):
    """Not during imports: Python then may end by the signal itself, which a shell shows as 130 too."""
    slow = ["--label", "bought", "--folds", "40", "--model", str(tmp_path / "m.pnu")]
    command = [sys.executable, "-c", TELLS_WHEN_IT_LEARNS, "fit", str(customers), *slow]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    assert process.stdout.readline() == b"learning\n"
    os.killpg(process.pid, signal.SIGINT)
    _, messages = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"Traceback" not in messages
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)


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
