"""What used to end in a traceback or in a command to the terminal says what is wrong."""

import os
import signal
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from pnulearn import LabeledOnly, PNUClassifier, TableClassifier
from pnulearn.cli import run
from pnulearn.cli.console import visible
from pnulearn.tables import TableError

ESCAPE = "\x1b]0;title\x07\x1b[31mred"


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=120)
    rows = pd.DataFrame({"a": rng.normal(size=120) + 2 * truth, "b": rng.integers(0, 90, size=120)})
    return rows.assign(label=np.where(np.arange(120) < 50, np.where(truth == 1, "yes", "no"), None))


@pytest.fixture(scope="module")
def model(rows, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "m.pnu"
    TableClassifier(prior=0.5, kernel="linear", random_state=0).fit(rows, "label").save(path)
    return path


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        (["４２", "１３"], r"Column 'b' of .* needs numbers; row 1 holds '４２'"),
        (["٤٢", "13"], r"row 1 holds '٤٢'"),
        (["3 €", "4 $"], r"numbers in different units or with different decimal marks, such as '3 €', '4 \$'"),
    ],
)
def test_digits_of_other_scripts_and_mixed_units_are_named(model, cells, words):
    with pytest.raises(TableError, match=words):
        TableClassifier.load(model).predict(pd.DataFrame({"a": [1.0, 2.0], "b": cells}))


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_streams_that_the_shell_closed(model, rows, tmp_path, closed):
    rows.drop(columns="label").to_csv(tmp_path / "rows.csv", index=False)
    command = f'"{sys.executable}" -m pnulearn predict "{tmp_path}/rows.csv" -m "{model}" {closed}'
    done = subprocess.run(["/bin/sh", "-c", command], check=False, capture_output=True, text=True)
    assert "Traceback" not in done.stderr
    assert "should not happen" not in done.stderr
    if ">&-" in closed.split():
        assert done.returncode == 1
        assert closed != ">&-" or "Standard output is closed" in done.stderr
    else:
        assert done.returncode == 0
        assert len(done.stdout.splitlines()) == 121


# A site's own start-up module, which presses Ctrl-C when a module begins to be imported, or at the end of the process.
PRESSES_CTRL_C = """
import atexit, os, signal, sys
def press():
    open(os.environ["PRESSED"], "w").close()
    os.kill(os.getpid(), signal.SIGINT)
def watch(event, details):
    if event == "import" and details[0] == os.environ["AT"] and not os.path.exists(os.environ["PRESSED"]):
        press()
atexit.register(press) if os.environ["AT"] == "exit" else sys.addaudithook(watch)
"""
SHELL_SHOWS_130 = (130, -signal.SIGINT)


@pytest.mark.parametrize("at", ["typer", "pnulearn.cli.fit", "numpy", "scipy.linalg", "sklearn.linear_model", "exit"])
def test_ctrl_c_at_any_moment(rows, tmp_path, at):
    rows.to_csv(tmp_path / "rows.csv", index=False)
    done = _fit_with_ctrl_c(tmp_path, at)
    assert (tmp_path / "pressed").exists()
    assert done.returncode in SHELL_SHOWS_130
    assert "Traceback" not in done.stderr
    assert "error" not in done.stderr
    assert (tmp_path / "m.pnu").exists() == (at == "exit")


def test_a_background_job_still_ignores_ctrl_c(rows, tmp_path):
    rows.to_csv(tmp_path / "rows.csv", index=False)
    done = _fit_with_ctrl_c(tmp_path, "numpy", preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
    assert (tmp_path / "pressed").exists()
    assert done.returncode == 0
    assert (tmp_path / "m.pnu").exists()


def _fit_with_ctrl_c(folder, at, **options):
    (folder / "site").mkdir()
    (folder / "site" / "sitecustomize.py").write_text(PRESSES_CTRL_C)
    ours = {"PYTHONPATH": str(folder / "site"), "AT": at, "PRESSED": str(folder / "pressed")}
    fit = ["fit", "rows.csv", "--label", "label", "--prior", "0.5", "--kernel", "linear", "--model", "m.pnu"]
    return subprocess.run(
        [sys.executable, "-m", "pnulearn", *fit],
        check=False,
        capture_output=True,
        text=True,
        cwd=folder,
        env=os.environ | ours,
        **options,
    )


def test_two_columns_of_one_name(rows):
    X = rows[["a", "b"]].set_axis(["a", "a"], axis=1)
    for estimator in (PNUClassifier(prior=0.5), LabeledOnly(PNUClassifier(prior=0.5)), TableClassifier(prior=0.5)):
        with pytest.raises(ValueError, match="more than one column 'a'"):
            estimator.fit(X, rows["label"])


def test_commands_to_the_terminal_are_spelled_out(rows, tmp_path, capsys):
    rows.rename(columns={"b": ESCAPE}).to_csv(tmp_path / "rows.csv", index=False)
    for command in (
        ["columns"],
        ["fit", "--prior", "0.5", "--kernel", "linear"],
        ["advise"],
        ["fit", "--drop", "x\x1b[2J"],
    ):
        run([command[0], str(tmp_path / "rows.csv"), "--label", "label", *command[1:]])
        told = capsys.readouterr()
        assert "\x1b" not in told.out + told.err
        assert "\x07" not in told.out + told.err
    assert visible("a\tb\nc\u202ed\x9b") == "a\tb\nc\\u202ed\\x9b"
    assert visible("naïve 👩‍🔬 日本") == "naïve 👩‍🔬 日本"


def test_columns_of_bytes_that_the_model_does_not_use_are_left_out(model, rows, tmp_path, capsys):
    table = rows.drop(columns="label").assign(blob=[b"\xff\x00"] * 120, pair=[[1, 2]] * 120)
    table.to_parquet(tmp_path / "rows.parquet")
    assert run(["predict", str(tmp_path / "rows.parquet"), "-m", str(model), "-o", str(tmp_path / "out.csv")]) == 0
    assert "Column 'blob' holds binary, which is not written" in capsys.readouterr().err
    out = pd.read_csv(tmp_path / "out.csv")
    assert list(out.columns[:2]) == ["a", "b"]
    assert not {"blob", "pair"} & set(out.columns)
    assert len(out) == 120
