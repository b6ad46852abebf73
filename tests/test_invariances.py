"""What must not change an answer: row order, names of classes, copies for weights, containers, threads, batches."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse

from pnulearn import PNUClassifier, pnu_risk
from pnulearn.streaming import fit_files

FIXED = settings(derandomize=True, max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
SEEDS = st.integers(0, 10_000)
KERNELS = st.sampled_from(["linear", "rbf"])


def problem(seed, n_unlabeled=40):
    rng = np.random.default_rng(seed)
    truth = np.concatenate([np.ones(12), np.zeros(12), rng.random(n_unlabeled) < 0.4])
    X = rng.normal(size=(len(truth), 3)) + 1.2 * truth[:, None]
    return X, np.where(np.arange(len(truth)) < 24, truth, np.nan)


def classifier(kernel, **parameters):
    given = {"prior": 0.4, "mix": [-0.4, 0.0, 0.4], "alpha": [0.01, 0.1], "cv": 3, "random_state": 0} | parameters
    return PNUClassifier("pnu", kernel=kernel, **given)


@FIXED
@given(SEEDS, KERNELS)
def test_the_order_of_rows_is_irrelevant(seed, kernel):
    X, y = problem(seed)
    order = np.random.default_rng(seed).permutation(len(y))
    one, other = classifier(kernel).fit(X, y), classifier(kernel).fit(X[order], y[order])
    assert_allclose(other.decision_function(X), one.decision_function(X), atol=1e-8)
    assert_allclose(other.risk_.value, one.risk_.value, atol=1e-10)


@FIXED
@given(SEEDS, KERNELS)
def test_swapping_the_classes_turns_the_scores_round(seed, kernel):
    X, y = problem(seed)
    one, other = classifier(kernel).fit(X, y), classifier(kernel, prior=0.6).fit(X, 1 - y)
    assert_allclose(other.decision_function(X), -one.decision_function(X), atol=1e-8)


@FIXED
@given(SEEDS, KERNELS)
def test_a_weight_of_two_is_the_row_twice(seed, kernel):
    X, y = problem(seed)
    weight = np.random.default_rng(seed).integers(1, 3, len(y))
    twice = np.repeat(np.arange(len(y)), weight)
    one = classifier(kernel, centers=X[:9]).fit(X, y, sample_weight=weight)
    other = classifier(kernel, centers=X[:9]).fit(X[twice], y[twice])
    if kernel == "rbf":  # the median distance between rows knows no weights
        one, other = (
            classifier(kernel, centers=X[:9], bandwidth=1.5).fit(*rows)
            for rows in ((X, y, weight), (X[twice], y[twice]))
        )
    assert_allclose(other.decision_function(X), one.decision_function(X), atol=1e-8)


@FIXED
@given(SEEDS, KERNELS)
def test_the_container_is_irrelevant(seed, kernel):
    X, y = problem(seed)
    wanted = classifier(kernel).fit(X, y).decision_function(X)
    names = ["a", "b", "c"]
    forms = {
        "sparse": sparse.csr_matrix(X),
        "fortran": np.asfortranarray(X),
        "pandas": pd.DataFrame(X, columns=names),
        "polars": pl.DataFrame(X, schema=names),
        "arrow": pa.table({name: X[:, place] for place, name in enumerate(names)}),
    }
    for name, rows in forms.items():
        assert_allclose(classifier(kernel).fit(rows, y).decision_function(rows), wanted, atol=1e-8, err_msg=name)


@FIXED
@given(SEEDS)
def test_the_encoding_of_labels_is_irrelevant(seed):
    X, y = problem(seed)
    wanted = classifier("linear").fit(X, y).decision_function(X)
    words = np.array([None if np.isnan(v) else "spam" if v else "ham" for v in y], dtype=object)
    marked = np.where(np.isnan(y), -1, y).astype(int)
    for labels, options in (
        (words, {}),
        (marked, {"unlabeled": -1}),
        (2 * y - 1, {}),
        (pd.array(marked, dtype="Int64"), {"unlabeled": -1}),
    ):
        assert_allclose(classifier("linear", **options).fit(X, labels).decision_function(X), wanted, atol=1e-12)


@FIXED
@given(SEEDS, KERNELS)
def test_threads_change_no_bit(seed, kernel):
    X, y = problem(seed)
    one, two = (classifier(kernel, n_jobs=n).fit(X, y).decision_function(X) for n in (1, 2))
    assert np.array_equal(one, two)


@FIXED
@given(SEEDS)
def test_streaming_learns_what_memory_learns(seed):
    """With everything fixed there are no folds to differ in, so coefficients are those of all rows at once."""
    X, y = problem(seed)
    fixed = {"mix": 0.3, "alpha": 0.05, "centers": X[:10], "bandwidth": 1.5}
    wanted = classifier("rbf", **fixed).fit(X, y).coef_
    for part_rows in (7, 1000):
        streamed = fit_files(classifier("rbf", **fixed), (X, y), dtype="float64", part_rows=part_rows)
        assert_allclose(streamed.coef_, wanted, rtol=1e-6, atol=1e-9)


@FIXED
@given(SEEDS)
def test_the_judge_does_not_look_at_the_order_either(seed):
    X, y = problem(seed)
    scores = X.sum(axis=1) - 2
    order = np.random.default_rng(seed).permutation(len(y))
    one, other = pnu_risk(y, scores, prior=0.4), pnu_risk(y[order], scores[order], prior=0.4)
    swapped = pnu_risk(1 - y, -scores, prior=0.6)
    for found in (other, swapped):
        assert_allclose([found.value, found.low, found.high], [one.value, one.low, one.high], atol=1e-10)
