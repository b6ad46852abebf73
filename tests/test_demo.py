"""The demo's table is always the same, its truth is apart from it, and the demo goes from it to a report."""

import hashlib

import numpy as np
import pytest

from pnulearn import _demo
from pnulearn.cli import run
from pnulearn.tables import read_table


def test_the_table_is_the_one_that_the_tutorial_describes(tmp_path):
    _demo.write_table(tmp_path)
    found = [hashlib.sha256((tmp_path / name).read_bytes()).hexdigest()[:16] for name in (_demo.TABLE, _demo.TRUTH)]
    assert found == ["731ef44128b5b25a", "16fe14c40f473a8d"]


def test_a_hundred_customers_were_phoned_at_random(tmp_path):
    truth = _demo.write_table(tmp_path)
    said = read_table(tmp_path / _demo.TABLE).column("renews", "text").texts()
    known = np.array([label is not None for label in said])
    assert known.sum() == 100
    assert len(truth) == 1500
    assert all((label == "yes") == truth[row] for row, label in enumerate(said) if label is not None)
    assert truth[known].mean() == pytest.approx(truth.mean(), abs=0.15)
    assert (tmp_path / _demo.TRUTH).read_text().split() == np.where(truth, "yes", "no").tolist()


def test_table_only_writes_two_files_and_replaces_nothing_else(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for _ in range(2):
        assert run(["demo", "--table-only"]) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == [_demo.TRUTH, _demo.TABLE]
    (tmp_path / _demo.TABLE).write_text("my,own\n1,2\n")
    assert run(["demo", "--table-only"]) == 1
    assert "another folder" in capsys.readouterr().err
    assert (tmp_path / _demo.TABLE).read_text() == "my,own\n1,2\n"


@pytest.mark.parametrize("comparison", _demo.COMPARISONS, ids=lambda comparison: comparison.positive)
def test_comparisons_draw_what_they_say(comparison):
    _, positive = comparison.load()
    labeled, unlabeled, test = comparison.draw(positive, np.random.default_rng(0))
    assert [positive[labeled].sum(), (~positive[labeled]).sum()] == [comparison.n_positive, comparison.n_negative]
    assert len(unlabeled) == comparison.n_unlabeled
    for rows in (unlabeled, test):
        assert positive[rows].mean() == pytest.approx(comparison.prior, abs=0.01)
    assert len(set(labeled) | set(unlabeled) | set(test)) == len(labeled) + len(unlabeled) + len(test)


@pytest.mark.parametrize("comparison", _demo.COMPARISONS, ids=lambda comparison: comparison.positive)
def test_comparisons_say_which_labels_and_what_no_model_errs_on(comparison, monkeypatch, capsys):
    monkeypatch.setattr(_demo.Comparison, "errors", lambda self, seed: (0.5, 0.3, 0.2))
    comparison.show()
    words = capsys.readouterr().out
    assert f"{comparison.n_positive} labels '{comparison.positive}', {comparison.n_negative} '" in words
    assert "class ratio differs from the population's on purpose" in words
    assert f"always answering '{comparison.negative}' errs on {100 * comparison.prior:.0f} %" in words


@pytest.mark.thorough
def test_the_demo_ends_with_a_report_to_open(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(_demo, "SEEDS", range(1))
    _demo.run()
    words = capsys.readouterr().out
    assert "Useful: it errs on about" in words
    assert "The truth, which the model never saw" in words
    assert (tmp_path / _demo.REPORT).stat().st_size > 100_000


def test_a_folder_that_cannot_be_written_is_an_error(tmp_path, monkeypatch, capsys):
    def refuse(folder):
        raise PermissionError("shop.csv cannot be written here")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(_demo, "write_table", refuse)
    assert run(["demo"]) == 1
    found = capsys.readouterr()
    assert "shop.csv cannot be written here" in found.err
    assert found.out == ""
