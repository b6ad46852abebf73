"""Any number of classes: scikit-learn's matrix if all rows are labelled, honest intervals if few are."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics import confusion_matrix

from pnulearn.metrics import pnu_confusion, pnu_precision, pnu_risk

SHARES = np.array([0.5, 0.3, 0.2])
RATES = np.array([[0.8, 0.15, 0.05], [0.1, 0.8, 0.1], [0.1, 0.2, 0.7]])
PRIOR = {0: 0.5, 1: 0.3, 2: 0.2}


def draw(rng, n_labels, n_unlabeled):
    truth = np.concatenate([np.repeat([0, 1, 2], n_labels), rng.choice(3, n_unlabeled, p=SHARES)])
    called = (rng.random(len(truth))[:, None] > RATES.cumsum(axis=1)[truth]).sum(axis=1)
    return np.where(np.arange(len(truth)) < 3 * n_labels, truth.astype(float), np.nan), called.astype(float)


def test_all_rows_labelled_in_the_right_shares_give_the_usual_matrix():
    rng = np.random.default_rng(0)
    y = rng.choice(3, 300, p=SHARES)
    called = np.where(rng.random(300) < 0.7, y, rng.choice(3, 300))
    prior = {k: float(np.mean(y == k)) for k in range(3)}
    found = pnu_confusion(y, called, prior=prior)
    assert_allclose(found.matrix, confusion_matrix(y, called) / 300, atol=1e-12)
    assert "recall" in str(found)


def test_intervals_hold_and_unlabelled_rows_narrow_them():
    rng, hits, widths = np.random.default_rng(1), [], []
    truth = 1 - SHARES @ np.diag(RATES)
    precision = SHARES[0] * RATES[0, 0] / (SHARES @ RATES[:, 0])
    for _ in range(60):
        y, called = draw(rng, 15, 600)
        found, alone = pnu_confusion(y, called, prior=PRIOR), pnu_confusion(y[:45], called[:45], prior=PRIOR)
        error, first = found.error, found.precision[0]
        inside = (found.low <= SHARES[:, None] * RATES) & (SHARES[:, None] * RATES <= found.high)
        hits.append((error.low <= truth <= error.high, first.low <= precision <= first.high, inside.mean()))
        widths.append((error.high - error.low, alone.error.high - alone.error.low))
    assert (np.mean(hits, axis=0) > 0.88).all()
    assert np.mean(widths, axis=0)[0] < np.mean(widths, axis=0)[1]


def test_two_classes_agree_with_the_other_metrics():
    rng = np.random.default_rng(2)
    y = np.append(np.repeat([1.0, 0.0], 40), np.full(500, np.nan))
    truth = np.append(np.repeat([1, 0], 40), rng.random(500) < 0.3).astype(int)
    called = np.where(rng.random(580) < 0.8, truth, 1 - truth)
    found = pnu_confusion(y, called.astype(float), prior=0.3)
    sign = np.where(called == 1, 1.0, -1.0)
    assert_allclose(found.error.value, pnu_risk(y, sign, prior=0.3).value, atol=0.01)
    assert_allclose(found.precision[1].value, pnu_precision(y, sign, prior=0.3).value, atol=0.02)
    vague = pnu_confusion(y, called.astype(float), prior=(0.1, 0.6))
    width = [one.precision[1].high - one.precision[1].low for one in (vague, found)]
    assert width[0] > width[1]


def test_labels_that_y_does_not_have_are_refused():
    with pytest.raises(ValueError, match="y_pred holds 'd'"):
        pnu_confusion(["a", "b", "c"], ["a", "b", "d"], prior={"a": 0.4, "b": 0.3, "c": 0.3})


@pytest.mark.parametrize(("n_labels", "error"), [(10, 0.1), (10, 0.005)])
def test_few_labels_do_not_make_the_error_look_small(n_labels, error):
    """Covariances of the observed counts pulled rates towards classes without errors: 2.4 points with ten labels."""
    rng, found = np.random.default_rng(3), []
    rates = np.array([np.roll([1 - error, 2 * error / 3, error / 3], k) for k in range(3)])
    for _ in range(80):
        y = np.append(np.repeat([0.0, 1.0, 2.0], n_labels), np.full(300, np.nan))
        truth = np.append(np.repeat([0, 1, 2], n_labels), rng.choice(3, 300, p=SHARES))
        called = (rng.random(len(truth))[:, None] > rates.cumsum(axis=1)[truth]).sum(axis=1)
        found.append(pnu_confusion(y, called.astype(float), prior=PRIOR).error)
    assert np.mean([one.low <= error <= one.high for one in found]) > 0.92
    assert abs(np.mean([one.value for one in found]) - error) < 0.015


def test_the_estimate_is_that_of_maximum_likelihood():
    """By EM: every unlabelled row is shared between the classes in proportion to their rates."""
    y, called = draw(np.random.default_rng(4), 60, 900)
    table = np.array([np.bincount(called[part].astype(int), minlength=3) for part in (y == 0, y == 1, y == 2, y != y)])
    rates = table[:-1] + 1.0
    for _ in range(500):
        rates = table[:-1] + SHARES[:, None] * rates * (table[-1] / (SHARES @ rates))
        rates = rates / rates.sum(axis=1, keepdims=True)
    assert_allclose(pnu_confusion(y, called, prior=PRIOR).matrix, SHARES[:, None] * rates, atol=0.004)
