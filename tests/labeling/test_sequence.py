"""Intervals that hold at all times together."""

import numpy as np
import pytest

from pnulearn.labeling.sequence import Share, bound, labels_needed, state_share


@pytest.mark.parametrize("share", [0.02, 0.1, 0.5, 0.9])
def test_all_intervals_of_a_sequence_hold_together(share):
    """Plain draws at random: from ten rows to six hundred, looked at after each one."""
    rng = np.random.default_rng(0)
    numbers = np.arange(10, 601)
    limits = np.array([bound(n, 0.95) for n in numbers])
    counts = np.cumsum(rng.random((2000, 600)) < share, axis=1)[:, 9:]
    seen = counts / numbers
    with np.errstate(divide="ignore", invalid="ignore"):
        kl = np.where(seen > 0, seen * np.log(seen / share), 0) + np.where(
            seen < 1, (1 - seen) * np.log((1 - seen) / (1 - share)), 0
        )
    held = (numbers * kl <= limits).all(axis=1)
    assert 0.95 <= held.mean() < 0.995  # valid, and not by far


def test_the_interval_is_where_the_distance_meets_the_bound():
    share = state_share(0.2, 50, 80, 0.9)
    for end in (share.low, share.high):
        kl = 0.2 * np.log(0.2 / end) + 0.8 * np.log(0.8 / (1 - end))
        assert 50 * kl == pytest.approx(bound(80, 0.9))
    assert state_share(0.0, 50, 50, 0.95).low == 0
    assert state_share(1.0, 50, 50, 0.95).high == 1
    assert state_share(0.3, 0, 0, 0.95) == Share(0.3, 0.0, 1.0, 0.0)


def test_labels_needed_is_the_first_number_that_is_enough():
    now = state_share(0.1, 60, 50, 0.95)
    more = labels_needed(now, 50, 0.06, 0.95, 10_000)
    rate = 60 / 50
    widths = [state_share(0.1, rate * (50 + k), 50 + k, 0.95).half_width for k in (more - 1, more)]
    assert widths[0] > 0.06 >= widths[1]
    assert labels_needed(now, 50, 0.06, 0.95, more - 1) is None
    assert labels_needed(now, 50, 0.9, 0.95, 10) == 0
    assert labels_needed(Share(np.nan, 0, 1, 0), 0, 0.1, 0.95, 10) is None
