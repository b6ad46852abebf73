"""Candidates judged by leaving one row out after the other."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pnulearn import PNUClassifier
from pnulearn._solvers import leave_one_out as left_out


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    truth = np.concatenate([np.arange(30) % 2, rng.random(150) < 0.4])
    X = rng.normal(size=(180, 3)) + truth[:, None]
    return X, np.where(np.arange(180) < 30, truth, np.nan)


def fitted(rows, **options):
    return PNUClassifier(**{"prior": 0.4} | options).fit(*rows)


def test_the_seed_has_no_part_in_the_model(rows):
    one, other = (fitted(rows, random_state=seed) for seed in (0, 1))
    assert_allclose(one.decision_function(rows[0]), other.decision_function(rows[0]), atol=1e-9)
    assert_allclose(one.search_.weight, other.search_.weight, atol=1e-9)
    folds = [fitted(rows, cv=5, random_state=seed).decision_function(rows[0]) for seed in (0, 1)]
    assert np.abs(folds[0] - folds[1]).max() > 1e-3


def test_the_order_of_many_unlabelled_rows_has_no_part_in_it_either():
    rng = np.random.default_rng(1)
    truth = np.concatenate([np.arange(20) % 2, rng.random(280) < 0.4])
    X, y = rng.normal(size=(300, 3)) + truth[:, None], np.where(np.arange(300) < 20, truth, np.nan)
    order, options = rng.permutation(300), {"alpha": [0.001, 0.1], "random_state": 0}
    one, other = fitted((X, y), **options), fitted((X[order], y[order]), **options)
    assert_allclose(one.search_.squared, other.search_.squared, atol=1e-9)
    assert_allclose(one.decision_function(X), other.decision_function(X), atol=1e-9)


def test_validation_scores_are_those_of_models_fitted_without_the_row(rows):
    X, y = rows
    fixed = {"mix": 0.4, "alpha": 0.01, "bandwidth": 1.5, "centers": X[:40]}
    found = fitted(rows, **fixed).validation_scores_
    for row in (0, 3, 29):
        others = np.arange(180) != row
        assert found[row] == pytest.approx(
            fitted((X[others], y[others]), **fixed).decision_function(X[row : row + 1])[0], abs=1e-9
        )


@pytest.mark.parametrize(
    "options",
    [{"kernel": "linear"}, {"loss": "logistic", "mix": 0.3, "alpha": [0.01, 0.1], "bandwidth": 1.5}, {"alpha": 1e-8}],
    ids=["an intercept", "no closed form", "hardly a penalty"],
)
def test_elsewhere_there_are_five_folds(rows, options):
    auto, five = (fitted(rows, cv=cv, random_state=0, **options).decision_function(rows[0]) for cv in ("auto", 5))
    assert_allclose(auto, five, rtol=0, atol=0)


def test_many_labels_are_dealt_into_folds(rows, monkeypatch):
    monkeypatch.setattr(left_out, "MOST_LABELED", 29)
    auto, five = (fitted(rows, cv=cv, random_state=0).decision_function(rows[0]) for cv in ("auto", 5))
    assert_allclose(auto, five, rtol=0, atol=0)


def test_groups_are_dealt_into_folds(rows):
    groups = np.arange(180) // 3
    models = [PNUClassifier(prior=0.4, cv=cv, random_state=0).fit(*rows, groups=groups) for cv in ("auto", 5)]
    assert_allclose(*(model.decision_function(rows[0]) for model in models), rtol=0, atol=0)


def test_another_word_is_refused(rows):
    with pytest.raises(TypeError, match="cv must be 'auto', a number of folds"):
        fitted(rows, cv="all")
