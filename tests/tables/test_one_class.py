"""Tables with labels of one class: the rest of one table, or two tables."""

import numpy as np
import pytest

from pnulearn import TableClassifier
from pnulearn._reader.in_memory import read_table
from pnulearn.report._findings import investigate
from pnulearn.tables._comparison import compare_table
from pnulearn.tables._evaluation import evaluate_table, table_labels
from pnulearn.tables._options import TableOptions
from pnulearn.tables._prior import check_table_labels

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    """Two tables of 700 rows, 30 % of which bought; half of these are marked, nobody else."""
    folder = tmp_path_factory.mktemp("tables")
    for seed in (0, 1):
        rng = np.random.default_rng(seed)
        truth = rng.random(700) < 0.3
        X = rng.normal(size=(700, 3)) + 1.6 * truth[:, None]
        marked = np.where(truth & (rng.random(700) < 0.5), "yes", "")
        lines = [",".join([*(f"{v:.4f}" for v in x), mark]) for x, mark in zip(X, marked, strict=True)]
        (folder / f"{seed}.csv").write_text("\n".join(["a,b,c,bought", *lines]) + "\n")
    return folder


@pytest.fixture(scope="module")
def model(rows):
    return TableClassifier(sampling="random", random_state=0).fit(str(rows / "0.csv"), "bought")


def test_the_prior_is_that_of_the_table(model):
    assert 0.15 < model.model_.classifier.prior_interval_[0] < 0.3 < model.model_.classifier.prior_interval_[1] < 0.5


def test_left_out_rows_do_not_raise_the_labelled_share(rows, model):
    few = TableClassifier(sampling="random", most_unlabeled=150, random_state=0).fit(str(rows / "0.csv"), "bought")
    assert few.model_.classifier.prior_interval_[0] < 0.3 < few.model_.classifier.prior_interval_[1] < 0.55


def test_evaluation(rows, model):
    table = read_table(rows / "1.csv")
    found = evaluate_table(table, "bought", TableOptions(sampling="random"), model=model.model_)
    assert 0 <= found.error.low <= found.error.value <= found.error.high < 0.3
    assert found.prior.value < 0.5


def test_comparison(rows, model):
    other = TableClassifier(sampling="random", drop=["a", "b"], random_state=0).fit(str(rows / "0.csv"), "bought")
    table = read_table(rows / "1.csv")
    found = compare_table(
        table, "bought", TableOptions(sampling="random"), models=[("all", model.model_), ("c", other.model_)]
    )
    assert found.found.difference < 0.02
    assert found.prior.value < 0.5


def test_sampling_is_asked_for(rows):
    found = TableClassifier(prior=0.3, kernel="linear", random_state=0).fit(str(rows / "0.csv"), "bought")
    assert any("All labelled rows are 'yes'" in str(remark) for remark in found.remarks_)


def test_the_report_and_advice_test_the_labels_at_a_given_prior(rows):
    fitted = TableClassifier(sampling="random", prior=0.3, kernel="linear", random_state=0).fit(
        str(rows / "0.csv"), "bought"
    )
    assert "fair sample" in str(investigate(fitted.fitted_).scar)
    table = read_table(rows / "0.csv")
    labels = table_labels(table, "bought", None, None)
    assert check_table_labels(table, "bought", labels, TableOptions(sampling="random", prior=0.3)).p_value > 0.01
    assert check_table_labels(table, "bought", labels, TableOptions(sampling="random")) is None
