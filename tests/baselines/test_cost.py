"""The cost of a long fit is said before it starts."""

import warnings

import pytest

from pnulearn.baselines import cost


def test_seconds_are_flops_over_the_measured_speed(monkeypatch):
    monkeypatch.setattr(cost, "flops_per_second", lambda: 1e9)
    expected = cost.cost_of(2e9, n_matrices=4, n_rows=1000)
    assert expected.seconds == 2
    assert expected.bytes == 4 * 8e6


def test_the_machine_is_measured():
    assert 1e8 < cost.flops_per_second() < 1e13


@pytest.mark.parametrize("seconds, text", [(3.0, "3 s"), (300, "5 min"), (7200, "2 h")])
def test_lengths_are_told_in_fitting_units(seconds, text):
    assert str(cost.Cost(seconds, 0)).startswith(text)


def test_short_fits_are_told_to_the_listener_only():
    heard = []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cost.announce(cost.Cost(1.0, 1e9), 500, 48, heard.append, "Use less.")
    assert "500 rows" in heard[0]
    assert "48 candidates" in heard[0]


def test_long_fits_are_told_to_everybody():
    with pytest.warns(UserWarning, match=r"5000 rows will take about 5 min and 1 GB\. Use less\."):
        cost.announce(cost.Cost(300.0, 1e9), 5000, 1, lambda message: None, "Use less.")
