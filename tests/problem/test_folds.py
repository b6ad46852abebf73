"""Folds: even in every group, and decided by content."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from pnulearn._problem.folds import PNUStratifiedKFold, assign_folds, read_groups
from pnulearn._problem.row_keys import row_keys


@given(st.lists(st.integers(0, 40), min_size=3, max_size=3), st.integers(2, 6), st.integers(0, 99))
@settings(max_examples=60, deadline=None)
def test_every_group_is_spread_evenly(sizes, n_splits, seed):
    codes = np.repeat([1, 0, -1], sizes)
    if len(codes) < n_splits:
        return
    fold = assign_folds(codes, n_splits, np.random.default_rng(seed).permutation(len(codes)))
    for group in (1, 0, -1):
        per_fold = np.bincount(fold[codes == group], minlength=n_splits)
        assert per_fold.max() - per_fold.min() <= 1


def test_three_negatives_in_five_folds_are_kept_apart():
    codes = np.repeat([1, 0, -1], [7, 3, 30])
    fold = assign_folds(codes, 5, np.arange(40))
    assert len(set(fold[codes == 0])) == 3


def test_repeated_rows_stay_together_and_weigh_like_one_row_of_that_weight():
    X = np.random.default_rng(0).normal(size=(30, 2))
    weight = np.random.default_rng(1).integers(1, 4, size=30)
    repeated = np.repeat(X, weight, axis=0)
    codes, keys = np.zeros(30, dtype=int), row_keys(X, 3, weight)
    once = assign_folds(codes, 4, keys, weight.astype(float))
    many = assign_folds(np.zeros(len(repeated), dtype=int), 4, row_keys(repeated, 3))
    np.testing.assert_array_equal(np.repeat(once, weight), many)


def test_keys_depend_on_values_only():
    X = np.round(np.random.default_rng(0).normal(size=(50, 4)), 1)
    keys = row_keys(X, seed=5)
    order = np.random.default_rng(1).permutation(50)
    np.testing.assert_array_equal(keys[order], row_keys(X[order], seed=5))
    np.testing.assert_array_equal(keys, row_keys(sparse.csr_matrix(X), seed=5))
    assert len(np.unique(keys)) == len(np.unique(X, axis=0))
    assert (row_keys(X, seed=6) != keys).any()
    np.testing.assert_array_equal(row_keys(np.array([[0.0, 1.0]]), 0), row_keys(np.array([[-0.0, 1.0]]), 0))


def test_the_splitter_partitions_rows_and_repeats_itself():
    y = np.array([1.0] * 6 + [0.0] * 3 + [np.nan] * 20)
    splits = list(PNUStratifiedKFold(3, random_state=0).split(y=y))
    again = list(PNUStratifiedKFold(3, random_state=0).split(y=y))
    np.testing.assert_array_equal(np.sort(np.concatenate([test for _, test in splits])), np.arange(29))
    for (train, test), (_, test_again) in zip(splits, again, strict=True):
        assert not set(train) & set(test)
        np.testing.assert_array_equal(test, test_again)
        assert (y[test] == 1).sum() == 2
        assert (y[test] == 0).sum() == 1


@pytest.mark.parametrize("train_on_unlabeled", [False, True])
def test_unlabeled_rows_are_trained_on_only_if_asked_for(train_on_unlabeled):
    y = np.array([1.0] * 6 + [0.0] * 3 + [np.nan] * 20)
    for train, test in PNUStratifiedKFold(3, train_on_unlabeled=train_on_unlabeled).split(y=y):
        assert np.isnan(y[test]).any()
        expected = np.setdiff1d(np.arange(29 if train_on_unlabeled else 9), test)
        np.testing.assert_array_equal(train, expected)


@pytest.mark.parametrize("n_splits", [1, 30])
def test_impossible_numbers_of_folds_are_refused(n_splits):
    with pytest.raises(ValueError, match="cv must be between 2 and"):
        assign_folds(np.zeros(10, dtype=int), n_splits, np.arange(10))


def test_the_splitter_needs_y():
    with pytest.raises(ValueError, match="needs y"):
        next(PNUStratifiedKFold().split(np.zeros((5, 1))))


@pytest.mark.parametrize("groups", [["a", None, "b"], [1.0, np.nan, 2.0], np.array(["a", np.nan, "b"], dtype=object)])
def test_one_row_without_a_group_is_refused(groups):
    with pytest.raises(ValueError, match="groups has missing entries"):
        read_groups(groups, 3)


def test_a_row_of_hardly_any_weight_is_in_the_last_fold():
    fold = assign_folds(np.zeros(2, dtype=int), 2, np.arange(2), np.array([1.0, 1e-20]))
    assert fold.tolist() == [1, 1]
