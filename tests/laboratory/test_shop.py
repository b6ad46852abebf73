"""The table that ships is the one its generator writes, its truth is apart from it, and the demo tells its story."""

import numpy as np
import pytest

from pnulearn.laboratory import demo
from pnulearn.laboratory.exhibits import EXHIBITS
from pnulearn.laboratory.shop import shop_table, shop_truth, write_shop
from pnulearn.tables import read_table


def test_the_files_are_those_of_the_generator(tmp_path):
    write_shop(tmp_path)
    for path in (shop_table(), shop_table().with_name("shop-truth.txt")):
        assert path.read_bytes() == (tmp_path / path.name).read_bytes()
    assert shop_table().stat().st_size < 300_000


def test_a_hundred_customers_were_phoned_at_random():
    said = read_table(shop_table()).column("renews", "text").texts()
    known = np.array([label is not None for label in said])
    truth = shop_truth()
    assert known.sum() == 100
    assert len(truth) == 1500
    assert all((label == "yes") == truth[row] for row, label in enumerate(said) if label is not None)
    assert truth[known].mean() == pytest.approx(truth.mean(), abs=0.15)


@pytest.mark.parametrize("name", EXHIBITS)
def test_exhibits_draw_what_they_promise(name):
    exhibit = EXHIBITS[name]
    _, positive = exhibit.load()
    labeled, unlabeled, test = exhibit._draw(positive, np.random.default_rng(0))
    assert [positive[labeled].sum(), (~positive[labeled]).sum()] == [exhibit.n_positive, exhibit.n_negative]
    assert len(unlabeled) == exhibit.n_unlabeled
    for rows in (unlabeled, test):
        assert positive[rows].mean() == pytest.approx(exhibit.prior, abs=0.01)
    assert len(set(labeled) | set(unlabeled) | set(test)) == len(labeled) + len(unlabeled) + len(test)


@pytest.mark.thorough
def test_the_demo_ends_with_a_report_to_open(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(demo, "SEEDS", range(1))
    demo.run()
    words = capsys.readouterr().out
    assert "Useful: it errs on about" in words
    assert "The truth, which the model never saw" in words
    assert (tmp_path / demo.REPORT).stat().st_size > 100_000
