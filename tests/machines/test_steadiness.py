"""A few of the checks of `make test-machines`, and that they notice an answer that hangs on the last bit."""

import numpy as np
import pytest

from pnulearn import PNUClassifier

from .problems import PROBLEMS
from .steadiness import LOSSES, METHODS, TOLERANCE, disturbances, movement, scores


def _movements(method, name):
    problem = PROBLEMS[name]()
    before = scores(method, problem)
    return {kind: movement(before, scores(method, problem, X, y)) for kind, X, y in disturbances(problem)}


@pytest.mark.parametrize("name", ["one_binary_column", "discrete_and_continuous_columns", "near_repeated_rows"])
@pytest.mark.parametrize("method", ["default", "given"])
def test_scores_do_not_hang_on_the_last_bit(method, name):
    assert all(far <= TOLERANCE for far in _movements(method, name).values())


@pytest.mark.parametrize("name", ["classes_without_overlap", "one_hot_columns", "repeated_rows"])
@pytest.mark.parametrize("loss", LOSSES)
def test_minimisers_of_every_loss_do_not_hang_on_the_last_bit(loss, name):
    assert all(far <= TOLERANCE for far in _movements(f"{loss}, linear", name).values())


class _FirstRow(PNUClassifier):
    """A classifier that takes its last digits from the first row."""

    def fit(self, X, y):
        super().fit(X, y)
        self.first_ = 1e-7 * np.asarray(X)[0].sum()
        return self

    def decision_function(self, X):
        return super().decision_function(X) + self.first_


def test_what_hangs_on_the_order_of_rows_is_noticed(monkeypatch):
    monkeypatch.setitem(METHODS, "default", _FirstRow)
    found = _movements("default", "gaussians")
    assert found["rows in another order"] > TOLERANCE
    assert found["last bits"] <= TOLERANCE


def test_there_are_twenty_problems_and_more():
    assert len(PROBLEMS) >= 20
