"""A shuffled column costs what the PNU risk of the shuffled rows says, and truly important columns come first."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from scipy.stats import t
from sklearn.compose import make_column_transformer
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from pnulearn import PNUClassifier, PNUStratifiedKFold
from pnulearn.inspection import column_importance
from pnulearn.metrics._comparison import compare_scores, shared_mix
from pnulearn.priors import PriorEstimate
from pnulearn.priors._resolve import read_prior


class Shuffled:
    """A model whose first column was shuffled by that seed before it is asked."""

    def __init__(self, model, seed):
        self.model, self.seed, self.classes_ = model, seed, model.classes_

    def decision_function(self, X):
        X = X.copy()
        X[:, 0] = X[np.random.RandomState(self.seed).permutation(len(X)), 0]
        return self.model.decision_function(X)


@pytest.fixture(scope="module")
def problem():
    """The first column tells most, the second a little, the third nothing."""
    rng = np.random.default_rng(0)
    positive = rng.random(600) < 0.3
    X = rng.normal(size=(600, 3)) + positive[:, None] * [2.5, 0.8, 0.0]
    y = np.where(np.arange(600) < 60, positive.astype(float), np.nan)
    return X, y, positive, PNUClassifier(prior=0.3, kernel="linear", cv=3, random_state=0).fit(X, y)


@pytest.mark.parametrize("prior", [0.3, (0.2, 0.45)])
def test_one_shuffle_is_a_comparison_of_two_models(problem, prior):
    X, y, _, model = problem
    found = column_importance(model, X, y, prior=prior, columns={"first": [0]}, n_repeats=1, random_state=5)
    groups = [np.flatnonzero(y == 1), np.flatnonzero(y == 0), np.flatnonzero(np.isnan(y))]
    scores = [[each.decision_function(X)[rows] for rows in groups] for each in (Shuffled(model, 5), model)]
    expected = compare_scores(*scores, prior, shared_mix(float(read_prior(prior).mean), *map(len, groups)))
    assert found[0].rise.value == pytest.approx(expected.difference)
    assert expected.stderr <= found[0].rise.stderr * (1 + 1e-9) <= 1.1 * expected.stderr
    # Welch's degrees of freedom lie between those of the smallest group and infinity.
    least, most = (t.ppf(0.975, freedom) * found[0].rise.stderr for freedom in (np.inf, min(map(len, groups)) - 1))
    assert least <= found[0].rise.value - found[0].rise.low <= most


def test_the_rise_is_that_of_the_true_error(problem):
    """scikit-learn's importance with all labels known lies within the interval, and the order is the same."""
    X, y, positive, model = problem
    truth = permutation_importance(model, X, positive.astype(float), n_repeats=20, random_state=0).importances_mean
    found = column_importance(model, X, y, prior=0.3, random_state=0)
    assert [one.column for one in found] == ["x0", "x1", "x2"]
    for one, rise in zip(found, truth, strict=True):
        assert one.rise.low - 0.01 <= rise <= one.rise.high + 0.01


def test_intervals_hold_the_truth_as_often_as_they_say():
    """100 draws of 40 labels: the rise of a fixed rule, whose truth is known from 200,000 rows."""
    rng = np.random.default_rng(1)

    def draw(n):
        positive = rng.random(n) < 0.3
        return rng.normal(size=(n, 2)) + positive[:, None] * [1.5, 0.7], positive

    X, positive = draw(200_000)
    model = LogisticRegression().fit(X[:5000], positive[:5000].astype(float))
    shuffled = np.column_stack([rng.permutation(X[:, 0]), X[:, 1]])
    truth = model.score(X, positive) - model.score(shuffled, positive)
    inside = 0
    for seed in range(100):
        X, positive = draw(440)
        y = np.where(np.arange(440) < 40, positive.astype(float), np.nan)
        rise = column_importance(model, X, y, prior=0.3, columns={"x0": [0]}, random_state=seed)[0].rise
        inside += rise.low <= truth <= rise.high
    assert 89 <= inside <= 99


def test_columns_that_belong_together_are_shuffled_together(problem):
    X, y, _, model = problem
    alone = column_importance(model, X, y, prior=0.3, columns={"both": [0, 1], "rest": [2]}, random_state=0)
    assert [one.column for one in alone] == ["both", "rest"]
    single = column_importance(model, X, y, prior=0.3, columns={"first": [0]}, random_state=0)
    assert alone[0].changed > single[0].changed


@pytest.mark.parametrize("make", [sparse.csr_array, lambda X: pd.DataFrame(X, columns=["x0", "x1", "x2"])])
def test_sparse_rows_and_data_frames_give_the_same(problem, make):
    X, y, _, _ = problem
    model = LogisticRegression().fit(X[:60], y[:60])
    other = LogisticRegression().fit(make(X)[:60], y[:60])
    ours, theirs = (
        column_importance(m, rows, y, prior=0.3, random_state=0) for m, rows in ((model, X), (other, make(X)))
    )
    assert [str(one) for one in ours] == [str(one) for one in theirs]


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_a_pipeline_is_asked_about_columns_as_the_user_knows_them(frame):
    rng = np.random.default_rng(0)
    good = rng.random(300) < 0.5
    table = frame({"city": np.where(good, "Graz", rng.choice(["Bern", "Rom"], 300)), "noise": rng.normal(size=300)})
    y = np.where(np.arange(300) < 60, good.astype(float), np.nan)
    encode = make_column_transformer((OneHotEncoder(sparse_output=False), ["city"]), remainder="passthrough")
    model = make_pipeline(encode, PNUClassifier(prior=0.5, cv=3, random_state=0)).fit(table, y)
    found = column_importance(model, table, y, prior=0.5, random_state=0)
    assert [one.column for one in found] == ["city", "noise"]
    assert found[0].rise.low > 0.2
    with pytest.raises(ValueError, match=r"no column 'town' in X. Its columns are city, noise"):
        column_importance(model, table, y, prior=0.5, columns={"town": ["town"]})


def test_folds_keep_rows_from_judging_the_model_that_saw_them(problem):
    """A model that learns its rows by heart is shown for it out of fold only."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 2)), np.where(np.arange(300) < 60, rng.random(300) < 0.5, np.nan).astype(float)
    model = PNUClassifier(prior=0.5, bandwidth=0.05, alpha=1e-5, mix=0.0, cv=2, random_state=0).fit(X, y)
    options = {"prior": 0.5, "columns": {"first": [0]}, "random_state": 0}
    folds = PNUStratifiedKFold(5, train_on_unlabeled=True, random_state=0)
    assert column_importance(model, X, y, **options)[0].rise.low > 0.2
    out_of_fold = column_importance(model, X, y, cv=folds, **options)[0].rise
    assert out_of_fold.low < 0 < out_of_fold.high


def test_more_than_two_classes_count_by_their_shares():
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 3, 400)
    X = rng.normal(size=(400, 2)) + np.column_stack([3.0 * kind, 0 * kind])
    y = np.where(np.arange(400) < 90, kind.astype(float), np.nan)
    model = LogisticRegression().fit(X[:90], y[:90])
    prior = {0.0: 0.5, 1.0: 0.3, 2.0: 0.2}
    found = column_importance(model, X, y, prior=prior, random_state=3, n_repeats=1)
    state = np.random.RandomState(3)
    shuffled = X.copy()
    shuffled[:, 0] = X[state.permutation(400), 0]
    worse, usual = (np.asarray(model.predict(rows)[:90] != y[:90], dtype=float) for rows in (shuffled, X))
    expected = sum(share * (worse - usual)[y[:90] == name].mean() for name, share in prior.items())
    assert found[0].column == "x0"
    assert found[0].rise.value == pytest.approx(expected)


def test_an_unknown_prior_widens_the_interval(problem):
    X, y, _, model = problem
    narrow, wide = (
        column_importance(model, X, y, prior=prior, random_state=0)[0].rise
        for prior in (0.3, PriorEstimate.of_range(0.05, 0.7))
    )
    assert wide.high - wide.low > narrow.high - narrow.low


def test_repeats_must_be_a_number(problem):
    X, y, _, model = problem
    with pytest.raises(ValueError, match="n_repeats must be a whole number, at least 1, got 0"):
        column_importance(model, X, y, prior=0.3, n_repeats=0)
