"""The cost of a long fit is said before it starts."""

import warnings

import pytest

from pnulearn.baselines import _base as cost


def test_the_machine_is_measured():
    assert 1e8 < cost.flops_per_second() < 1e13


@pytest.mark.parametrize("seconds, text", [(3.0, "3 s"), (300, "5 min"), (7200, "2 h")])
def test_lengths_are_told_in_fitting_units(seconds, text):
    assert str(cost.Cost(seconds, 0)).startswith(text)


def test_short_fits_are_told_to_a_listener_only(monkeypatch):
    monkeypatch.setattr(cost, "flops_per_second", lambda: 1e9)
    heard = []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cost.announce(2e9, 500, 48, advice="Use less.", say=heard.append)
    assert heard == [
        "One fit on 500 rows will take about 2 s and 0.01 GB. The search fits 48 candidates on every split before that."
    ]


def test_a_machine_is_not_measured_for_nothing(monkeypatch):
    monkeypatch.setattr(cost, "flops_per_second", lambda: pytest.fail("nobody listens"))
    cost.announce(2e9, 500, 48, advice="Use less.")


def test_long_fits_are_told_to_everybody(monkeypatch):
    monkeypatch.setattr(cost, "flops_per_second", lambda: 1e9)
    with pytest.warns(UserWarning, match=r"5000 rows will take about 5 min and 1 GB\. Use less\."):
        cost.announce(3e11, 5000, 1, advice="Use less.")
