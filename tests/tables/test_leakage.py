"""Columns that give the label away are named, strong columns are not."""

import numpy as np
import pyarrow as pa
import pytest

from pnulearn.tables import Table, learn_plan
from pnulearn.tables._leakage import find_leaks, separation

rng = np.random.default_rng(0)
Y = rng.random(300) < 0.4
CODES = np.where(np.arange(300) < 80, Y, -1)
STRONG = rng.normal(size=300) + 2 * Y


def named(**columns):
    table = Table(pa.table({"strong": STRONG, **columns}), "t")
    plan = learn_plan(table)
    return list(find_leaks(plan, plan.features(table)[0], CODES))


def test_strong_columns_are_no_giveaways():
    assert named(noise=rng.normal(size=300)) == []


@pytest.mark.parametrize(
    "column",
    [
        np.where(Y, 3.0, -1.0) + rng.normal(size=300) / 10,
        -1.0 * Y,
        np.where(Y, "cancelled", "active"),
        [f"{amount:.2f}" if y else None for y, amount in zip(Y, rng.random(300), strict=True)],
        np.where(Y, "yes", "no"),
    ],
)
def test_a_column_that_knows_the_label_is_named(column):
    assert named(leak=column) == ["leak"]


def test_few_labels_or_unrelated_classes_say_nothing():
    table = Table(pa.table({"leak": np.where(Y, 1.0, 0.0), "strong": STRONG}), "t")
    plan = learn_plan(table)
    X, _ = plan.features(table)
    assert find_leaks(plan, X, np.where(np.arange(300) < 15, Y, -1)) == {}
    assert find_leaks(plan, X, np.arange(300) % 3) == {}


def test_of_three_classes_all_must_be_told():
    """One class that stands apart is what petals of irises do; a column that knows all three knows the label."""
    kinds = np.arange(300) % 3
    columns = {"all": 10.0 * kinds + rng.normal(size=300), "one": 10.0 * (kinds == 2) + rng.normal(size=300)}
    table = Table(pa.table(columns), "t")
    plan = learn_plan(table)
    assert list(find_leaks(plan, plan.features(table)[0], kinds)) == ["all"]


def test_the_separation_by_many_pieces_is_that_of_new_rows():
    """A column of ids has a feature per row: in sample it separates all, out of fold nothing."""
    pieces = np.eye(60)
    assert separation(pieces, np.arange(60) % 2) == pytest.approx(0.5, abs=0.15)
