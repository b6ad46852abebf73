"""The order of rows hangs on what they hold: not on last digits, units, zero points or precision."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.datasets import load_breast_cancer

from pnulearn import PNUClassifier
from pnulearn._problem.folds import assign_folds
from pnulearn._problem.row_keys import merge_values, row_keys


def _noise(X):
    return X * (1 + 1e-15 * np.random.default_rng(9).normal(size=X.shape))


CHANGES = {
    "noise": _noise,
    "power of two": lambda X: X * 2.0 ** np.arange(-3, X.shape[1] - 3),
    "another unit": lambda X: X * 2.54,
    "another zero point": lambda X: X + 17.3,
    "single precision": lambda X: X.astype(np.float32),
}
TABLES = {
    "two columns": lambda rng: rng.normal(size=(200, 2)),
    "ten columns": lambda rng: rng.normal(size=(200, 10)),
    "whole numbers": lambda rng: rng.integers(5, size=(200, 8)).astype(float),
    "long tails": lambda rng: np.exp(2 * rng.normal(size=(200, 6))),
    "a constant column": lambda rng: np.column_stack([rng.normal(size=(200, 4)), np.full(200, 3.1)]),
    "real columns": lambda rng: load_breast_cancer().data[:200],
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("table", TABLES)
def test_folds_stay_where_they_are(table, change):
    """In twenty draws of borders hardly a row moves; most draws move none."""
    X = TABLES[table](np.random.default_rng(0))
    moved = []
    for seed in range(20):
        before, after = (
            assign_folds(np.zeros(len(X), dtype=int), 5, row_keys(Z, seed)) for Z in (X, CHANGES[change](X))
        )
        moved.append(np.mean(before != after))
    assert np.median(moved) == 0
    assert max(moved) < 0.05


def test_the_first_rows_of_one_column_lie_everywhere():
    """Rows that share a coarse cell are not neighbours in the order, or centres would be drawn from a few cells."""
    x = np.sort(np.random.default_rng(0).normal(size=900))[:, None]
    for seed in range(10):
        first = np.argsort(row_keys(x, seed))[:90]
        assert len(np.unique(first // 90)) >= 9


def test_rows_of_a_column_of_rounding_errors_are_ordered_by_the_others():
    X = np.random.default_rng(0).normal(size=(100, 4))
    dirt = np.column_stack([X, 1e-16 * np.random.default_rng(1).normal(size=100)])
    clean = np.column_stack([X, np.zeros(100)])
    np.testing.assert_array_equal(row_keys(dirt, 3), row_keys(clean, 3))


def test_finer_cells_and_at_last_all_bits_tell_rows_apart():
    """One value far out puts all others into one coarse cell; their order is random nevertheless."""
    x = np.append(np.arange(1000.0), 1e9)[:, None]
    keys = row_keys(x, 0)
    assert len(np.unique(keys)) == 1001
    assert abs(np.corrcoef(keys[:1000], np.arange(1000))[0, 1]) < 0.15


@pytest.mark.parametrize("seed", range(5))
def test_sparse_rows_and_heavy_rows_have_the_keys_of_dense_rows_and_copies(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 5)) * (rng.random((60, 5)) < 0.4)
    weight = rng.integers(1, 4, size=60)
    keys = row_keys(X, seed, weight)
    np.testing.assert_array_equal(keys, row_keys(sparse.csr_matrix(X), seed, weight))
    np.testing.assert_array_equal(np.repeat(keys, weight), row_keys(np.repeat(X, weight, axis=0), seed))


def test_a_row_of_hardly_any_weight_may_lie_far_out():
    X = np.append(np.random.default_rng(0).normal(size=20), 1e100)[:, None]
    keys = row_keys(X, 0, np.append(np.ones(20), 1e-290))
    assert len(np.unique(keys)) == 21


@pytest.mark.parametrize("seed", range(3))
def test_a_model_is_the_same_in_other_digits(seed):
    """Noise of 1e-15, single precision and a power of two leave a classifier's scores where they were."""
    X, y = load_breast_cancer(return_X_y=True)
    X, y = (X / X.max(axis=0))[:160], np.where(np.arange(160) < 40, y[:160], -1)
    model = PNUClassifier(prior=0.5, unlabeled=-1, bandwidth=1.0, random_state=seed)
    scores = model.fit(X, y).decision_function(X)
    for changed in (_noise(X), X.astype(np.float32).astype(float)):
        np.testing.assert_allclose(model.fit(changed, y).decision_function(changed), scores, atol=1e-4)
    halved = model.set_params(bandwidth=0.5).fit(X / 2, y).decision_function(X / 2)
    np.testing.assert_allclose(halved, scores, atol=1e-8)


@pytest.mark.parametrize(("noise", "constant"), [(1e-13, 1.0), (5e-324, 0.0)])
def test_rows_equal_but_for_rounding_are_twins(noise, constant):
    """Twins in two folds would judge each other, and the roughest model would win."""
    rng = np.random.default_rng(0)
    truth = np.concatenate([np.arange(30) % 2, rng.random(120) < 0.4])
    X = rng.normal(size=(150, 4)) + 1.2 * truth[:, None]
    X[:, 3] = constant
    near = X + noise * rng.normal(size=X.shape).round(3)
    keys = row_keys(np.vstack([X, near]), 0)
    assert_array_equal(keys[:150], keys[150:])
    y = np.tile(np.where(np.arange(150) < 30, truth, np.nan), 2)
    exact, twins = (PNUClassifier(prior=0.4, random_state=0).fit(np.vstack([X, Z]), y) for Z in (X, near))
    assert twins.risk_.value == pytest.approx(exact.risk_.value, abs=1e-9)
    assert_allclose(twins.decision_function(X), exact.decision_function(X), atol=1e-8)


def test_values_told_apart_by_rounding_alone_are_merged():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(3, size=50), rng.normal(size=50), rng.normal(size=50) + 1e6, np.zeros(50)])
    noisy = X * (1 + 1e-15 * rng.normal(size=X.shape)) + 1e-300 * rng.normal(size=X.shape)
    assert_allclose(merge_values(noisy), X, rtol=1e-11, atol=1e-290)
    assert [len(np.unique(column)) for column in merge_values(noisy).T] == [3, 50, 50, 1]
