"""`python -m experiments`: commands, exit codes and messages."""

import pytest

from experiments.__main__ import main
from experiments.runner import EXPERIMENTS, read_rows

QUICK = ["--quick", "--trials", "1", "--sets", "generated-banana", "--methods", "finite"]


@pytest.fixture(autouse=True)
def no_data_folder(monkeypatch):
    monkeypatch.delenv("PNULEARN_DATA", raising=False)


def test_a_run_prints_the_files_and_a_second_run_finds_its_rows(tmp_path, capsys):
    path = tmp_path / "rows" / "figure-1-quick.jsonl"
    for seen in (0, 6):
        assert main(["figure-1", *QUICK, "--out", str(tmp_path)]) == 0
        out, messages = capsys.readouterr()
        names = [tmp_path / f"figure-1-quick{end}" for end in (".md", "-labeled.svg", "-population.svg")]
        assert out.split() == list(map(str, names))
        assert f"figure-1: {seen} of 6 trials" in messages
        assert len(read_rows(path)) == 6


def test_reproduce_runs_every_experiment(monkeypatch, tmp_path):
    asked = []
    monkeypatch.setattr("experiments.__main__.reproduce", lambda name, **options: asked.append((name, options)) or [])
    assert main(["reproduce", "--quick", "--sets", "a,b", "--jobs", "2", "--draw-only", "--out", str(tmp_path)]) == 0
    assert [name for name, _ in asked] == list(EXPERIMENTS)
    assert all(options["sets"] == ["a", "b"] and options["n_jobs"] == 2 for _, options in asked)
    assert all(options["quick"] and not options["run"] for _, options in asked)


def test_datasets_are_listed_with_how_to_get_those_that_are_missing(capsys):
    assert main(["datasets"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split() == ["banana", "5300", "2", "0.448", "no", "KEEL"]
    assert any(line.split()[0] == "digits-parity" and "yes" in line for line in lines)
    assert "--data FOLDER" in lines[-2]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--trials", "0"], "trials must be at least 1"),
        (["--jobs", "0"], "number of processes"),
        (["--methods", "nothing"], "'nothing'"),
        (["--plugin", "absent.py"], "absent.py"),
        (["--plugin", __file__ + ".csv"], "not a Python file"),
        (["--data", "absent"], "not a folder"),
        (["--out", __file__], "test_main.py"),
    ],
)
def test_what_cannot_be_run_is_refused_in_one_line(options, words, tmp_path, capsys):
    assert main(["figure-1", "--quick", "--trials", "1", "--out", str(tmp_path), *options]) == 1
    out, messages = capsys.readouterr()
    refusal = messages.splitlines()[-1]
    assert out == ""
    assert refusal.startswith("error: ")
    assert words in refusal


@pytest.mark.parametrize("arguments", [[], ["table-9"], ["table-1", "--trials", "x"], ["table-1", "--nonsense"]])
def test_wrong_usage_exits_with_two(arguments, capsys):
    with pytest.raises(SystemExit, match="2"):
        main(arguments)
    assert "usage: python -m experiments" in capsys.readouterr().err


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_explains_itself(name, capsys):
    with pytest.raises(SystemExit, match="0"):
        main([name, "--help"])
    assert " ".join(capsys.readouterr().out.split()).count(EXPERIMENTS[name].title) == 1
