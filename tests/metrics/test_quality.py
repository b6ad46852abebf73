"""Quality of decisions: against the single estimates, against simulation, and at the edges."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pnulearn.metrics import count_decisions, judge_decisions, pnu_precision, pnu_recall
from pnulearn.priors import PriorEstimate

TABLE = np.array([[27.0, 3.0], [4.0, 16.0], [150.0, 50.0]])


def rows_of(table):
    """Labels and scores with these counts."""
    y = np.repeat([0.0, 1.0, np.nan], table.sum(axis=1).astype(int))
    score = np.concatenate([np.repeat([-1.0, 1.0], row.astype(int)) for row in table])
    return y, score


@pytest.mark.parametrize("prior", [0.3, PriorEstimate.of_range(0.1, 0.4)], ids=["known", "range"])
def test_precision_and_recall_are_those_of_the_single_estimates(prior):
    belief = prior if isinstance(prior, PriorEstimate) else PriorEstimate.known(prior)
    found = judge_decisions(TABLE, belief)
    for ours, metric in ((found.precision[1], pnu_precision), (found.recall[1], pnu_recall)):
        other = metric(*rows_of(TABLE), prior=prior)
        assert_allclose([ours.value, ours.low, ours.high], [other.value, other.low, other.high])


def test_counts_are_those_of_a_loop():
    rng = np.random.default_rng(0)
    codes, called = rng.integers(-1, 3, 200), rng.integers(0, 3, 200)
    table = count_decisions([np.flatnonzero(codes == k) for k in (0, 1, 2, -1)], called, 3)
    for k in (0, 1, 2, -1):
        for j in range(3):
            assert table[k, j] == sum((codes == k) & (called == j))


def test_a_weight_of_two_in_every_row_changes_nothing():
    groups = [np.array([0, 1]), np.array([2, 3]), np.array([4])]
    called = np.array([0, 1, 1, 1, 0])
    assert_allclose(count_decisions(groups, called, 2, np.full(5, 2.0)), count_decisions(groups, called, 2))


def test_many_rows_give_the_population():
    """Error, yardstick, gain, precision and lift follow from the rates by arithmetic."""
    prior, fnr, fpr = 0.2, 0.3, 0.1
    called = prior * (1 - fnr) + (1 - prior) * fpr
    table = 1e6 * np.array([[1 - fpr, fpr], [fnr, 1 - fnr], [1 - called, called]])
    found = judge_decisions(table, PriorEstimate.known(prior))
    wrong = prior * fnr + (1 - prior) * fpr
    precision = prior * (1 - fnr) / called
    expected = [wrong, prior, prior - wrong, precision, 1 - fnr, precision / prior]
    measures = [found.error, found.yardstick, found.gain, found.precision[1], found.recall[1], found.lift[1]]
    assert_allclose([m.value for m in measures], expected, rtol=1e-4)
    assert_allclose([m.low for m in measures], expected, rtol=0.02)
    assert_allclose([m.high for m in measures], expected, rtol=0.02)
    assert found.larger == 0
    assert found.chance_better > 0.999
    assert_allclose(found.called, [1 - called, called])


def test_three_classes_follow_the_confusion_of_many_rows():
    shares = np.array([0.5, 0.3, 0.2])
    rates = np.array([[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.1, 0.3, 0.6]])
    prior = PriorEstimate.known(shares)
    found = judge_decisions(1e6 * np.vstack([rates, shares @ rates]), prior)
    right = shares * np.diag(rates)
    assert_allclose(found.error.value, 1 - right.sum())
    assert_allclose([p.value for p in found.precision], right / (shares @ rates))
    assert_allclose([r.value for r in found.recall], np.diag(rates))
    assert_allclose(found.gain.value, 0.5 - (1 - right.sum()))
    assert found.larger == 0


def test_intervals_of_three_classes_hold_the_truth():
    shares = np.array([0.5, 0.3, 0.2])
    rates = np.array([[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.1, 0.3, 0.6]])
    truth = 1 - (shares * np.diag(rates)).sum()
    rng = np.random.default_rng(0)
    held = 0
    for _ in range(100):
        counts = np.array([rng.multinomial(20, rate) for rate in rates] + [[0, 0, 0]], dtype=float)
        error = judge_decisions(counts, PriorEstimate.known(shares)).error
        held += error.low <= truth <= error.high
    assert held >= 90


def test_a_prior_that_is_not_known_widens_the_yardstick_and_lowers_the_chance():
    known = judge_decisions(TABLE, PriorEstimate.known(0.25))
    unknown = judge_decisions(TABLE, PriorEstimate.of_range(0.05, 0.6))
    assert known.yardstick.low == known.yardstick.high == 0.25
    assert unknown.yardstick.high - unknown.yardstick.low > 0.4
    assert unknown.chance_better < known.chance_better


ONE_OF_THREE_UNSEEN = [[5, 1, 0], [1, 5, 0], [0, 0, 0], [3, 3, 3]]


@pytest.mark.parametrize("table", [np.zeros((3, 2)), [[5, 1], [0, 0], [0, 0]], ONE_OF_THREE_UNSEEN])
def test_rows_of_one_group_tell_nothing(table):
    table = np.array(table, dtype=float)
    prior = PriorEstimate.known(0.3 if table.shape[1] == 2 else np.full(3, 1 / 3))
    assert judge_decisions(table, prior) is None


def test_equal_classes_have_one_baseline_whatever_the_last_bit_says():
    halves = [0.5, np.nextafter(0.5, 0), np.nextafter(0.5, 1)]
    assert {judge_decisions(TABLE, PriorEstimate.known(share)).larger for share in halves} == {0}
    assert judge_decisions(TABLE, PriorEstimate.known(0.5 + 1e-6)).larger == 1
