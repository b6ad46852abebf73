"""Confidence sequences: all intervals of a sequence hold together."""

import numpy as np
import pytest

from pnulearn._intervals.confidence_sequences import confidence_sequence, labels_for_half_width, mixture_bound


@pytest.mark.parametrize("share", [0.02, 0.1, 0.5, 0.9])
def test_all_intervals_of_a_sequence_hold_together(share):
    """Rows drawn at random, looked at after each one from ten rows to six hundred."""
    rng = np.random.default_rng(0)
    numbers = np.arange(10, 601)
    limits = np.array([mixture_bound(n, 0.95) for n in numbers])
    counts = np.cumsum(rng.random((2000, 600)) < share, axis=1)[:, 9:]
    seen = counts / numbers
    with np.errstate(divide="ignore", invalid="ignore"):
        kl = np.where(seen > 0, seen * np.log(seen / share), 0) + np.where(
            seen < 1, (1 - seen) * np.log((1 - seen) / (1 - share)), 0
        )
    held = (numbers * kl <= limits).all(axis=1)
    assert 0.95 <= held.mean() < 0.995  # valid, and not by far


def test_the_ends_are_where_the_divergence_meets_the_bound():
    for end in confidence_sequence(0.2, 50, 80, 0.9):
        kl = 0.2 * np.log(0.2 / end) + 0.8 * np.log(0.8 / (1 - end))
        assert 50 * kl == pytest.approx(mixture_bound(80, 0.9))
    assert confidence_sequence(0.0, 50, 50, 0.95)[0] == 0
    assert confidence_sequence(1.0, 50, 50, 0.95)[1] == 1
    assert confidence_sequence(0.3, 0, 0, 0.95) == (0.0, 1.0)


def test_labels_for_a_half_width_are_the_first_number_that_is_enough():
    more = labels_for_half_width(0.1, 60, 50, 0.06, 0.95, 10_000)
    rate = 60 / 50
    ends = [confidence_sequence(0.1, rate * (50 + k), 50 + k, 0.95) for k in (more - 1, more)]
    widths = [(high - low) / 2 for low, high in ends]
    assert widths[0] > 0.06 >= widths[1]
    assert labels_for_half_width(0.1, 60, 50, 0.06, 0.95, more - 1) is None
    assert labels_for_half_width(0.1, 60, 50, 0.9, 0.95, 10) == 0
    assert labels_for_half_width(np.nan, 0, 0, 0.1, 0.95, 10) is None
