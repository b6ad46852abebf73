"""Estimates by group, and which groups differ."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pnulearn.metrics import Estimate, by_group, pnu_share


def shares(y):
    return lambda rows, level: pnu_share(y[rows], confidence=level)


def test_groups_are_estimated_alone_and_compared_with_all_others():
    y = np.concatenate([np.arange(80) < k for k in (60, 30, 31, 29)]).astype(float)
    by = np.repeat(["d", "a", "c", "b"], 80)
    found = by_group(shares(y), by)
    assert list(found.groups) == ["d", "a", "c", "b"]
    assert found.groups["a"] == pnu_share(y[80:160])
    assert_allclose(found.differences["d"].value, 60 / 80 - 90 / 240)
    assert found.different == ["d"]  # and not the others, which differ from rows that include d
    assert_allclose(found.differences["a"].value, 30 / 80 - 60 / 160, atol=1e-12)
    assert "d is higher than the others" in found.sentence()
    wide = [pnu_share(part, confidence=1 - 0.05 / 4) for part in (y[:80], y[80:])]
    gap = found.differences["d"]
    below = np.hypot(wide[0].value - wide[0].low, wide[1].high - wide[1].value)
    above = np.hypot(wide[0].high - wide[0].value, wide[1].value - wide[1].low)
    assert_allclose([gap.low, gap.high], [gap.value - below, gap.value + above])


def test_two_groups_need_one_comparison():
    y = np.concatenate([np.arange(50) < 30, np.arange(50) < 15]).astype(float)
    found = by_group(shares(y), np.repeat([1, 2], 50))
    assert found.differences[1].value == -found.differences[2].value
    one, other = found.groups.values()
    assert_allclose(
        found.differences[1].low, one.value - other.value - np.hypot(one.value - one.low, other.high - other.value)
    )


def test_a_group_without_labels_is_skipped_and_named():
    y = np.array([1.0, 0, 1, 0, np.nan, np.nan])
    found = by_group(shares(y), ["a", "a", "b", "b", "c", "c"])
    assert list(found.groups) == ["a", "b"]
    assert "no labelled row" in found.skipped["c"]
    assert "c: no estimate." in str(found)
    alone = by_group(lambda rows, level: Estimate(0.5, 0.1, 0.3, 0.7), ["a"] * 3)
    assert (alone.differences, alone.sentence()) == ({}, "There are not two groups to compare.")


def test_groups_of_the_wrong_length_are_refused():
    with pytest.raises(ValueError, match="missing in 1 rows"):
        by_group(shares(np.ones(3)), ["a", None, "b"])


@pytest.mark.thorough
def test_equal_groups_are_seldom_called_different():
    """5 % of tables with six equal groups at most; binomial bound with probability 1e-3."""
    rng, alarms = np.random.default_rng(0), 0
    by = np.repeat(np.arange(6), 60)
    for _ in range(200):
        y = (rng.random(360) < 0.7).astype(float)
        alarms += bool(by_group(shares(y), by).different)
    assert 0 < alarms <= 20
