"""Every method of the tables on one small, easy problem."""

import numpy as np
import pytest

from experiments.datasets import load_data
from experiments.methods import Method, find_method, load_plugins, method_names, register_method
from experiments.table_1 import BASELINES, METHODS
from experiments.trials import draw_trial


@pytest.fixture(scope="module")
def trial():
    X, y = load_data("two-gaussians")
    return draw_trial(
        X, y == 1, labeled=(7, 5), unlabeled=(20, 20), validation=(10, 10), prior=0.5, key=("test_methods",)
    )


@pytest.mark.parametrize("name", method_names())
def test_every_method_learns_something_from_every_trial(name, trial):
    predicted = find_method(name).learn(trial).predict(trial.X_test)
    assert set(np.unique(predicted)) <= {0, 1}
    assert trial.error(predicted) < 0.35  # the best possible is 0.16


def test_the_full_table_has_every_baseline_in_both_modes():
    assert set(METHODS) <= set(method_names())
    for name in BASELINES:
        assert find_method(name).group == "baseline"
        assert f"{name}-labeled" in METHODS


def test_columns_of_a_table_are_ordered_by_group_then_registration():
    assert method_names({"svm", "er", "pn", "pnu"}) == ["pnu", "pn", "er", "svm"]


def test_a_group_that_no_table_has_is_refused():
    with pytest.raises(ValueError, match="pnulearn, baseline, scikit-learn, got 'mine'"):
        register_method(Method("mine", "Mine", lambda trial: trial, "mine"))


def test_a_plugin_that_is_no_file_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="not a Python file"):
        load_plugins([str(tmp_path / "none.py")])


def test_an_unknown_method_is_named_with_the_known_ones():
    with pytest.raises(KeyError, match="pnu-average"):
        find_method("magic")
