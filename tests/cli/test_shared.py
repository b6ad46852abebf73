"""Options that all commands share: how much is told, options in a file, and what the shell offers."""

import json
import os
import pty
import subprocess
import sys

import pytest
import typer
from tests.cli.conftest import write_customers

from pnulearn import load
from pnulearn.cli import app, run
from pnulearn.cli.shared import remember

COMMANDS = ["fit", "predict", "evaluate", "prior", "advise", "compare", "columns", "info"]
FAST = ["--kernel", "linear", "--folds", "2", "--prior", "0.3"]


def answer(capsys, *arguments):
    capsys.readouterr()
    code = run(list(map(str, arguments)))
    return code, *capsys.readouterr()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_the_same_options_for_its_output(name):
    command = typer.main.get_command(app).commands[name]
    options = {option for part in command.params for option in part.opts}
    assert {"--json", "--quiet", "-q", "--verbose", "-v", "--config"} <= options


def test_every_command_that_learns_takes_the_same_columns():
    commands = typer.main.get_command(app).commands
    for name in ("fit", "evaluate", "prior", "advise", "compare", "columns"):
        options = {option for part in commands[name].params for option in part.opts}
        assert {"--label", "--positive", "--unlabeled", "--as", "--drop", "--missing"} <= options, name


def test_no_two_options_differ_in_spelling_only():
    """--unlabelled N and --unlabeled MARK stood in one command once."""
    for name, command in typer.main.get_command(app).commands.items():
        options = [option for part in command.params for option in part.opts]
        plain = [option.replace("ll", "l").lower() for option in options if option.startswith("--")]
        assert len(plain) == len(set(plain)), name


def test_quiet_keeps_the_answer_and_drops_the_notes(capsys, customers):
    loud = answer(capsys, "columns", customers, "-l", "bought")
    quiet = answer(capsys, "columns", customers, "-l", "bought", "--quiet")
    assert "note:" in loud[2]
    assert quiet[1:] == (loud[1], "")


def test_quiet_keeps_warnings_and_errors(capsys, customers):
    assert "error:" in answer(capsys, "columns", customers, "-l", "nothing", "-q")[2]
    assert "warning: --prior 0.9" in answer(capsys, "fit", customers, "-l", "bought", *FAST, "--prior", "0.9", "-q")[2]


def test_verbose_tells_more_and_one_run_says_nothing_about_the_next(capsys, customers):
    _, out, messages = answer(capsys, "fit", customers, "-l", "bought", *FAST, "--verbose")
    assert "has 350 rows and 5 columns" in messages
    assert "alpha" in out
    _, out, messages = answer(capsys, "fit", customers, "-l", "bought", *FAST)
    assert "detail:" not in messages
    assert "alpha" not in out
    assert answer(capsys, "fit", customers, "-l", "bought", "-q", "-v")[0] == 2


def test_options_stand_in_a_file_and_what_is_typed_wins(capsys, customers, folder):
    (folder / "pnulearn.toml").write_text(
        'label = "bought"\nprior = 0.3\n'
        + '[fit]\nkernel = "linear"\nfolds = 2\ndrop = ["city"]\n[fit.as]\nage = "category"\n'
    )
    code, out, messages = answer(capsys, "fit", customers, "--json")
    facts = json.loads(out)
    assert code == 0
    assert (facts["prior"], facts["columns"]) == (0.3, {"category": ["age"], "number": ["income"]})
    assert "From pnulearn.toml: label = bought" in messages
    _, out, messages = answer(capsys, "fit", customers, "--json", "--prior", "0.25", "-q")
    assert json.loads(out)["prior"] == 0.25
    assert messages == ""
    code, out, _ = answer(capsys, "columns", customers, "--json")
    assert [json.loads(line)["treatment"] for line in out.splitlines()][-1] == "left out: the label"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("lable = 'y'", "Did you mean 'label'?"),
        ("[fit]\nkernal = 'rbf'", "Did you mean 'kernel'?"),
        ("fit = 3", "which is no option"),
        ("label = ", "cannot be read as TOML"),
        ("drop = [[1]]", "a list of them"),
    ],
)
def test_a_file_of_options_with_a_mistake_is_refused(capsys, customers, folder, text, words):
    path = folder / "mine.toml"
    path.write_text(text)
    code, _, messages = answer(capsys, "fit", customers, "-l", "bought", *FAST, "--config", path)
    assert code == 2
    assert words in " ".join(messages.split())


def test_a_file_of_options_that_is_not_there_is_refused(capsys, customers, folder):
    code, _, messages = answer(capsys, "fit", customers, "-l", "bought", "--config", "absent.toml")
    assert code == 2
    assert "there is no file" in messages


def test_further_parameters_of_the_classifier_can_be_set(capsys, customers):
    code, out, _ = answer(capsys, "fit", customers, "-l", "bought", *FAST, "--set", "alpha=0.5", "--json")
    assert (code, json.loads(out)["alpha"]) == (0, 0.5)
    code, _, messages = answer(capsys, "fit", customers, "-l", "bought", "--set", "n_jobs=2")
    assert code == 2
    assert "tie_break" in messages


def test_other_spellings_of_a_label_are_joined_aloud_by_every_command(capsys, customers, tmp_path):
    path = tmp_path / "spelt.csv"
    path.write_text(customers.read_text(encoding="utf-8").replace(",yes\n", ",YES\n", 3), encoding="utf-8")
    for command in (["prior"], ["advise", "--prior", "0.3"], ["evaluate", "--prior", "0.3", "--score", "income"]):
        messages = answer(capsys, command[0], path, "-l", "bought", *command[1:])[2]
        assert "'YES' (3) are one label, 'yes'" in messages


def complete(shell, folder, *words):
    """What bash would offer after these words, through the script that the command itself prints."""
    show = f"'{sys.executable}' -m pnulearn --show-completion; exit $?"  # it looks at the shell that runs it
    script = subprocess.run([shell, "-c", show], capture_output=True, text=True, check=True).stdout
    binary = folder / "pnulearn"
    binary.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m pnulearn "$@"\n')
    binary.chmod(0o755)
    listed = " ".join(f"'{word}'" for word in words)
    ask = f"\nCOMP_WORDS=(pnulearn {listed}); COMP_CWORD={len(words)}; _pnulearn_completion pnulearn\n"
    environment = os.environ | {"PATH": f"{folder}:{os.environ['PATH']}"}
    printed = 'printf "%s\\n" "${COMPREPLY[@]}"'
    done = subprocess.run(["bash", "-c", script + ask + printed], capture_output=True, text=True, env=environment)
    return done.stdout.split("\n")[:-1]


def test_bash_completes_commands_options_and_columns(customers, tmp_path):
    assert complete("bash", tmp_path, "co") == ["columns", "compare"]
    assert complete("bash", tmp_path, "fit", str(customers), "--label", "bo") == ["bought"]
    assert complete("bash", tmp_path, "fit", str(customers), "--as", "ci") == ["city="]


# How labels were drawn: asked once on a terminal, said in the first line elsewhere.


def fit_on_terminal(folder, answer):
    """What `fit` shows on a terminal of its own, where a question is answered."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(folder)
        code = "import sys; from pnulearn.cli import run; sys.exit(run(sys.argv[1:]))"
        options = ["fit", "t.csv", "-l", "bought", "--kernel", "linear", "--folds", "2", "-m", "m.pnu"]
        os.execv(sys.executable, [sys.executable, "-c", code, *options])
    shown, asked = b"", False
    while True:
        try:
            piece = os.read(terminal, 4096)
        except OSError:
            break
        shown += piece
        if not piece:
            break
        if b"do not know" in shown and not asked:
            asked = True
            os.write(terminal, answer + b"\n")
    assert os.waitpid(pid, 0)[1] == 0
    return asked, " ".join(shown.decode().split())


@pytest.mark.thorough
def test_a_terminal_is_asked_once_how_labels_were_drawn(tmp_path):
    write_customers(tmp_path / "t.csv")
    asked, shown = fit_on_terminal(tmp_path, b"random")
    assert asked
    assert "Assumed" not in shown
    assert (tmp_path / "pnulearn.toml").read_text() == '[fit]\nsampling = "random"\n'
    assert load(tmp_path / "m.pnu").record.sampling == "random"
    asked, shown = fit_on_terminal(tmp_path, b"random")
    assert not asked
    assert "From pnulearn.toml: sampling = random" in shown


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, '[fit]\nsampling = "random"\n'),
        ('prior = "0.2"', 'prior = "0.2"\n[fit]\nsampling = "random"\n'),
        ("[fit] # mine\nfolds = 3\n", '[fit] # mine\nsampling = "random"\nfolds = 3\n\n'),
    ],
)
def test_an_answer_is_written_to_the_file_of_options(tmp_path, monkeypatch, before, after):
    monkeypatch.chdir(tmp_path)
    if before is not None:
        (tmp_path / "pnulearn.toml").write_text(before)
    remember("fit", "sampling", "random")
    assert (tmp_path / "pnulearn.toml").read_text() == after


def test_without_a_terminal_the_first_line_says_what_was_assumed(customers, capsys):
    command = ["fit", str(customers), "-l", "bought", "--kernel", "linear", "--folds", "2", "-q"]
    assert run(command) == 0
    first = capsys.readouterr().out.splitlines()[0]
    assert first.startswith("Assumed: labelled rows were drawn by class, which gives a prior of ")
    assert "pass --sampling random: it would be" in first
    assert run([*command, "--sampling", "by-class"]) == 0
    assert "Assumed" not in capsys.readouterr().out
