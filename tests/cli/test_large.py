"""Commands on files that are read in batches: the same answers, from all rows."""

import json

import pytest

from pnulearn.cli import run

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
    assert "50 labelled rows (20 'no', 30 'yes') and 300 unlabelled ones" in out
    assert "Learnt from all 350 rows, read in batches." in err


def test_the_model_serves_every_command(streamed, customers, tmp_path, capsys):
    assert run(["info", str(streamed), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["rows_used"] == 350
    assert run(["predict", str(customers), "-m", str(streamed), "-o", str(tmp_path / "p.csv")]) == 0
    assert len((tmp_path / "p.csv").read_text().splitlines()) == 351


def test_the_report_shows_row_numbers_of_the_file(customers, tmp_path):
    pytest.importorskip("matplotlib")
    report = tmp_path / "r.html"
    assert run(["fit", str(customers), *FIT, *STREAMED, "-r", str(report)]) == 0
    assert "350 rows" in report.read_text()


@pytest.mark.parametrize(
    ("more", "why"),
    [
        (["--loss", "logistic", "--kernel", "linear"], "--loss logistic needs all rows at once"),
        (["--most-unlabeled", "100"], "--most-unlabeled asks for some of the rows"),
        (["--weights", "age"], "one pass cannot weigh rows"),
    ],
)
def test_what_one_pass_cannot_do_is_done_in_memory_and_said(customers, capsys, more, why):
    assert run(["fit", str(customers), *FIT, *STREAMED, *more]) == 0
    out, err = capsys.readouterr()
    assert f"read into memory, since {why}" in err
    assert ("100 of 300 unlabelled" in out) == ("--most-unlabeled" in more)
