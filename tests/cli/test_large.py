"""Commands on files that are read in batches: the same answers, from all rows."""

import json

import pytest
from tests.cli.conftest import write_customers

from pnulearn._reader import batches as batches_module
from pnulearn.cli import run
from pnulearn.tables._row_sampling import RowSampler

FIT = ["--label", "bought", "--prior", "0.4", "--folds", "3", "--set", "bandwidth=3", "--set", "centers=40"]
STREAMED = ["--stream-above", "0"]


@pytest.fixture(scope="module")
def streamed(customers, tmp_path_factory):
    model = tmp_path_factory.mktemp("streamed") / "model.pnu"
    assert run(["fit", str(customers), *FIT, *STREAMED, "-q", "-m", str(model)]) == 0
    return model


def test_fit_says_how_many_rows_were_used(customers, capsys):
    assert run(["fit", str(customers), *FIT, *STREAMED]) == 0
    out, err = capsys.readouterr()
    assert "50 labelled rows (20 'no', 30 'yes' (positive)) and 300 unlabelled ones" in out
    assert "Learnt from all 350 rows, read in batches." in err


def test_the_model_serves_every_command(streamed, customers, tmp_path, capsys):
    assert run(["info", str(streamed), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["rows_used"] == 350
    assert run(["predict", str(customers), "-m", str(streamed), "-o", str(tmp_path / "p.csv")]) == 0
    assert len((tmp_path / "p.csv").read_text().splitlines()) == 351


def test_predictions_of_many_batches_have_one_header(streamed, customers, tmp_path, monkeypatch):
    monkeypatch.setattr(batches_module, "BYTES_AT_ONCE", 5_000)
    out = tmp_path / "p.csv"
    assert run(["predict", str(customers), "-m", str(streamed), *STREAMED, "-o", str(out), "-q"]) == 0
    lines = out.read_text().splitlines()
    assert len(lines) == 351
    assert lines.count(lines[0]) == 1


@pytest.mark.parametrize(
    ("more", "why"),
    [
        (["--loss", "logistic", "--kernel", "linear"], "--loss logistic needs all rows at once"),
        (["--most-unlabeled", "100"], "--most-unlabeled asks for some of the rows"),
        (["--weights", "age"], "row weights are not possible in one pass"),
    ],
)
def test_what_one_pass_cannot_do_is_done_in_memory_and_said(customers, capsys, more, why):
    assert run(["fit", str(customers), *FIT, *STREAMED, *more]) == 0
    out, err = capsys.readouterr()
    assert f"read into memory, because {why}" in err
    assert ("100 of 300 unlabelled" in out) == ("--most-unlabeled" in more)


@pytest.fixture(scope="module")
def fresh(streamed, tmp_path_factory):
    """Rows that no model was fitted to, with the scores of one."""
    folder = tmp_path_factory.mktemp("fresh")
    write_customers(folder / "fresh.csv", 40, 40, 400, seed=3)
    assert run(["predict", str(folder / "fresh.csv"), "-m", str(streamed), "-o", str(folder / "scored.csv"), "-q"]) == 0
    return folder / "scored.csv"


@pytest.mark.parametrize("prior", [["--prior", "0.3"], ["--prior", "energy"], []])
@pytest.mark.parametrize("subject", ["model", "score", "helper"])
def test_evaluate_says_the_same_of_batches_as_of_the_whole(streamed, fresh, capsys, monkeypatch, subject, prior):
    monkeypatch.setattr(batches_module, "BYTES_AT_ONCE", 5_000)
    what = ["-m", str(streamed)] if subject == "model" else ["--score", "probability_yes"]
    more = ["--helper", "income"] if subject == "helper" else []
    answers = []
    for above in (["--stream-above", "100"], STREAMED):
        assert run(["evaluate", str(fresh), "--label", "bought", *what, *more, *prior, *above, "--json"]) == 0
        answers.append(json.loads(capsys.readouterr().out))
    assert answers[0] == answers[1]


@pytest.mark.parametrize(
    "known",
    [["--score", "probability_yes", "--prior", "0.3"], ["--score", "probability_yes", "--labels", "random"]],
)
def test_evaluate_draws_no_rows_if_nobody_has_to_estimate_the_prior(fresh, capsys, monkeypatch, known):
    def refuse(*args):
        raise AssertionError("rows were drawn")

    monkeypatch.setattr(RowSampler, "add", refuse)
    assert run(["evaluate", str(fresh), "--label", "bought", *known, *STREAMED]) == 0
    assert run(["evaluate", str(fresh), "--label", "bought", *known[:2], *STREAMED]) != 0
    assert "rows were drawn" in capsys.readouterr().err
