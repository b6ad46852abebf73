"""Splits, held-out labels and pooled risks."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import ShuffleSplit

from pnulearn._learning.selection import validation_mix
from pnulearn.baselines._base import pooled_risks, split_folds, tabulate
from pnulearn.risks import empirical_risk, pnu

rng = np.random.default_rng(0)
CODES = np.repeat([1, 0, -1], [12, 7, 40])
X = rng.normal(size=(len(CODES), 2))


def test_folds_cover_every_row_once_and_spread_every_group():
    splits = split_folds(X, CODES, 5, seed=0)
    assert_array_equal(np.sort(np.concatenate([s.codes_test for s in splits])), np.sort(CODES))
    for split in splits:
        assert np.isin([1, 0, -1], split.codes_test).all()
        assert len(split.train) + len(split.codes_test) == len(CODES)


def test_a_class_with_one_row_is_never_taken_from_training():
    codes = np.array([1, 1, 1, 0, -1, -1, -1])
    for split in split_folds(X[:7], codes, 3, seed=0):
        assert 0 in codes[split.train]
        assert 0 not in split.codes_test


def test_splitters_and_lists_of_splits_are_taken_as_they_are():
    assert len(split_folds(X, CODES, ShuffleSplit(3, random_state=0), seed=0)) == 3
    pairs = [(np.arange(30), np.arange(30, 59))]
    assert_array_equal(split_folds(X, CODES, pairs, seed=0)[0].train[:30], np.arange(30))


def test_the_risk_of_candidates_is_the_pooled_pnu_risk():
    scores = rng.normal(size=(3, len(CODES)))
    shares = np.array([0.6, 0.4])
    mix = validation_mix(shares, np.array([7, 12]), 40)
    assert mix != 0
    losses = (("zero_one", scores), ("squared", scores.clip(-1, 1)))
    for found, (loss, cut) in zip(pooled_risks(list(scores), CODES, shares), losses, strict=True):
        expected = [empirical_risk(pnu(0.4, mix), loss, [s[c == CODES] for c in (1, 0, -1)]) for s in cut]
        assert_allclose(found, expected)


def test_three_classes_without_unlabelled_rows_are_judged_by_the_share_weighted_error():
    codes = np.array([0, 0, 1, 1, 2, 2])
    scores = np.eye(3)[[0, 1, 1, 1, 2, 0]]  # errors: half of class 0, none of class 1, half of class 2
    zero_one, _ = pooled_risks([scores], codes, np.array([0.5, 0.3, 0.2]))
    assert_allclose(zero_one, 0.5 * 0.5 + 0.2 * 0.5)


def test_ties_go_to_the_lesser_squared_risk():
    table = tabulate({"alpha": [1, 2, 3]}, np.array([0.2, 0.1, 0.1 + 1e-15]), np.array([0.0, 0.5, 0.4]))
    assert table.best == (2,)


def test_rounding_breaks_no_tie():
    table = tabulate({"alpha": [1, 2, 3]}, np.array([0.2, 0.1, 0.1 - 1e-15]), np.array([0.0, 0.5, 0.5 - 1e-15]))
    assert table.best == (1,)
