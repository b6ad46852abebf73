"""The class prior from rows that take few different values."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse

from pnulearn import estimate_prior
from pnulearn.priors import AutoPrior


def verdicts(rng, prior, n_per_class=50, n_unlabeled=1900, sensitivity=0.9, specificity=0.8):
    """One binary column: labels by class, and unlabelled rows of a population with this prior."""
    truth = np.concatenate([np.repeat([1, 0], n_per_class), rng.random(n_unlabeled) < prior]).astype(int)
    right = rng.random(len(truth)) < np.where(truth == 1, sensitivity, specificity)
    y = truth.copy()
    y[2 * n_per_class :] = -1
    return np.where(right, truth, 1 - truth)[:, None].astype(float), y


def test_one_binary_column_as_in_the_report_of_the_bug():
    """Sensitivity .9, specificity .8, prior .7: the interval was .006 to .994, with a warning."""
    X, y = verdicts(np.random.default_rng(0), 0.7)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = estimate_prior(X, y, unlabeled=-1)
    assert found.method == "cells"
    assert found.value == pytest.approx(0.7, abs=0.12)
    assert found.high - found.low < 0.35


@pytest.mark.parametrize("prior", [0.2, 0.5, 0.8])
def test_at_least_as_good_as_the_confusion_matrix_and_intervals_cover(prior):
    rng, errors, held = np.random.default_rng(1), [], []
    for _ in range(150):
        X, y = verdicts(rng, prior)
        found = estimate_prior(X, y, unlabeled=-1)
        tpr, fpr, called = (X[y == k].mean() for k in (1, 0, -1))
        confusion = np.clip((called - fpr) / max(tpr - fpr, 1e-3), 0, 1)
        errors.append([found.value - prior, confusion - prior])
        held.append(found.low <= prior <= found.high)
    ours, theirs = np.sqrt(np.mean(np.square(errors), axis=0))
    assert ours <= 1.05 * theirs
    assert 0.82 <= np.mean(held) <= 0.97  # of 90 %; three standard errors are 0.073


def test_several_columns_and_sparse_rows():
    rng = np.random.default_rng(2)
    X, y = verdicts(rng, 0.3)
    more = np.column_stack([X, rng.integers(2, size=len(X))])
    plain, joined = estimate_prior(X, y, unlabeled=-1), estimate_prior(more, y, unlabeled=-1)
    assert joined.method == "cells"
    assert joined.value == pytest.approx(plain.value, abs=0.05)
    assert estimate_prior(sparse.csr_matrix(more), y, unlabeled=-1) == joined


def test_the_order_of_rows_and_copies_do_not_matter():
    rng = np.random.default_rng(3)
    X, y = verdicts(rng, 0.4)
    order = rng.permutation(len(y))
    usual = estimate_prior(X, y, unlabeled=-1)
    np.testing.assert_allclose(estimate_prior(X[order], y[order], unlabeled=-1).mass, usual.mass, atol=1e-12)
    twice = estimate_prior(np.repeat(X, 2, axis=0), np.repeat(y, 2), unlabeled=-1)
    weighted = estimate_prior(X, y, unlabeled=-1, sample_weight=np.full(len(y), 2.0))
    np.testing.assert_allclose(twice.mass, weighted.mass, atol=1e-9)


def test_many_values_are_left_to_scores():
    rng = np.random.default_rng(4)
    X, y = verdicts(rng, 0.4, n_unlabeled=200)
    found = AutoPrior(unlabeled=-1, random_state=0).fit(3 * X + rng.normal(size=X.shape), y).estimate_
    assert found.method == "scores"


def test_a_column_that_knows_nothing_gives_a_wide_interval():
    rng = np.random.default_rng(5)
    X, y = verdicts(rng, 0.4, sensitivity=0.5, specificity=0.5)
    found = estimate_prior(X, y, unlabeled=-1)
    assert found.high - found.low > 0.6
