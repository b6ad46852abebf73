"""The rows of Table 1 and what is read from them."""

import numpy as np

from experiments import table_1
from experiments.table_1 import (
    by_cell,
    compare_with_print,
    error_table,
    headline,
    overall,
    same_trials,
    write,
)
from experiments.trials import Settings


def _rows(errors, sets=("banana",), sizes=(10,)):
    """`errors`: method to list of errors by trial, the same in every cell."""
    return [
        {"set": name, "n_labeled": size, "trial": trial, "method": method, "error": error, "seconds": 0.1}
        for name in sets
        for size in sizes
        for method, values in errors.items()
        for trial, error in enumerate(values)
    ]


def test_a_trial_follows_the_protocol():
    trial = table_1.draw({"set": "two-gaussians", "n_labeled": 50, "trial": 0}, Settings())
    assert (np.nansum(trial.y == 1), np.nansum(trial.y == 0), np.isnan(trial.y).sum()) == (35, 15, 300)
    assert (len(trial.y_val), trial.y_val.sum()) == (20, 10)
    assert trial.prior == 0.5
    assert trial.X.min() >= 0
    assert trial.X.max() <= 1


def test_trials_come_set_by_set_before_they_repeat():
    cells = list(table_1.cells(["a", "b"], 2))
    assert [cell["trial"] for cell in cells] == [0, 0, 0, 0, 1, 1, 1, 1]


def test_the_table_shows_means_boldface_and_counts():
    rows = _rows({"pnu": [30.0, 32.0, 31.0], "pn": [40.0, 41.0, 42.0], "svm": [30.5, 32.5, 31.5]}, sizes=(10, 50))
    table = error_table(by_cell(rows))
    text = table.markdown()
    assert "| banana | 10 | **31.0 (0.6)** | 41.0 (0.6) | **31.5 (0.6)** |" in text
    assert "| best/comparable |  | 2 | 0 | 2 |" in text
    assert "| same, paired |  | 2 | 0 | 0 |" in text  # every trial is half a point worse
    assert r"\textbf{31.0 (0.6)}" in table.latex()


def test_distances_to_the_paper_are_in_joint_standard_errors():
    """30.1 (1.0) in the paper; 33.1 with a standard error of 1 here: 3 / √2."""
    rows = _rows({"pnu": [32.1, 34.1]})
    text = compare_with_print(by_cell(rows))
    assert "| banana | 10 | 33.1 (1.0) | 30.1 (1.0) | +2.1 |" in text
    assert "0 of the 1 cells" in text


def test_a_set_with_other_data_is_not_counted_but_shown():
    text = compare_with_print(by_cell(_rows({"pnu": [29.7, 29.9]}, sets=("banana", "image"))))
    assert "image" in text
    assert "1 of the 1 cells" in text


def test_the_headline_compares_over_the_same_cells():
    rows = _rows({"pnu": [30.0, 30.0], "pnu-average": [20.0, 22.0]}, sets=("banana", "mine"))
    assert headline(by_cell(rows)).endswith("PNU there 30.10, PNU here 30.00, PNU averaged here 21.00.")


def test_sets_the_paper_does_not_have_are_tabulated_too(tmp_path):
    paths = write(_rows({"pnu": [1.0, 2.0]}, sets=("mine",)), tmp_path, "table-1")
    assert "mine" in paths[0].read_text()


def test_methods_with_fewer_trials_are_compared_on_the_trials_all_ran(tmp_path):
    """The baseline's two trials were the hard ones: on them it is better, over all trials it looks worse."""
    rows = _rows({"pnu": [40.0, 42.0, 10.0, 12.0], "er": [39.0, 41.5], "svm": [50.0]})
    shared = same_trials(by_cell(rows))["banana", 10]
    assert shared == {"pnu": {0: 40.0, 1: 42.0}, "er": {0: 39.0, 1: 41.5}}
    text = write(rows, tmp_path, "table-1")[0].read_text()
    assert "| banana | 10 | **26.0 (8.7)** | **40.2 (1.2)** | 50.0 |" in text
    assert "## The same trials for all methods" in text
    assert "| banana | 10 | **41.0 (1.0)** | **40.2 (1.2)** |" in text


def test_the_overall_difference_is_taken_on_shared_trials_and_spread_over_cells():
    """Cell by cell er − pnu-average is +1 (two shared trials) and −2 (one): mean −0.5, s.e. 1.5."""
    rows = _rows({"pnu-average": [10.0, 20.0, 90.0], "er": [12.0, 20.0]})
    rows += _rows({"pnu-average": [30.0], "er": [28.0]}, sets=("magic",))
    assert "| ER | -0.50 (1.50) | 1 | 1 | 2 | 1 to 2 |" in overall(by_cell(rows))
