"""Columns as normal ranks: the formula, what it does not depend on, and models that read them."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_matrix
from scipy.stats import norm, rankdata
from sklearn.base import clone

import pnulearn
from pnulearn import PNUClassifier
from pnulearn._kernels.ranks import MOST_KNOTS, NormalRanks
from pnulearn._kernels.registry import KERNELS
from pnulearn._solvers.moments import Moments
from pnulearn.streaming import PNUStatistics

RNG = np.random.default_rng(0)
AROUND_CENTERS = [name for name, kernel in KERNELS.items() if kernel.has_bandwidth]
TRUTH = np.concatenate([np.arange(40) % 2, RNG.random(160) < 0.4]).astype(int)
Y = np.where(np.arange(200) < 40, TRUTH, np.nan)
X = np.exp(2 * (RNG.normal(size=(200, 4)) + TRUTH[:, None]))  # long tails
QUICK = {"prior": 0.4, "cv": 3, "alpha": [1e-2, 1.0], "mix": [-0.5, 0.0, 0.5], "random_state": 0}


def test_ranks_are_normal_quantiles_of_middle_ranks():
    rows = np.column_stack([RNG.exponential(size=90), RNG.integers(5, size=90), np.arange(90) < 3, np.ones(90)])
    expected = norm.ppf((rankdata(rows, axis=0) - 0.5) / 90)
    assert_allclose(NormalRanks.learn(rows, np.ones(90)).apply(rows), expected, atol=1e-12)


def test_knots_of_many_rows_are_near_the_ranks_of_all_rows():
    rows = RNG.standard_t(2, size=(5000, 1))
    ranks = NormalRanks.learn(rows, np.ones(5000))
    assert ranks.values.shape[1] <= MOST_KNOTS
    assert_allclose(ranks.apply(rows), norm.ppf((rankdata(rows, axis=0) - 0.5) / 5000), atol=0.04)


def test_weights_are_repetitions_order_and_sparsity_are_irrelevant_and_noise_parts_no_ties():
    rows = RNG.poisson(1.0, size=(60, 3)).astype(float)
    weight = RNG.integers(1, 4, size=60)
    expected = NormalRanks.learn(np.repeat(rows, weight, axis=0), np.ones(weight.sum())).apply(rows)
    assert_allclose(NormalRanks.learn(rows, weight.astype(float)).apply(rows), expected, atol=1e-12)
    order = RNG.permutation(60)
    assert_allclose(NormalRanks.learn(rows[order], weight[order].astype(float)).apply(rows), expected, atol=1e-12)
    rare = NormalRanks.learn(csr_matrix(rows), weight.astype(float)).apply(csr_matrix(rows))
    assert_allclose(rare, expected, atol=1e-12)
    noisy = rows + 1e-15 * RNG.normal(size=rows.shape)
    assert_allclose(NormalRanks.learn(noisy, weight.astype(float)).apply(rows), expected, atol=1e-12)


def test_a_wild_value_moves_no_other_rank():
    rows = RNG.normal(size=(50, 1))
    wild = np.where(np.arange(50)[:, None] == rows.argmax(), 1e200, rows)
    plain, ones = NormalRanks.learn(rows, np.ones(50)), np.ones(50)
    assert_array_equal(NormalRanks.learn(wild, ones).apply(wild), plain.apply(rows))


@pytest.mark.parametrize("kernel", AROUND_CENTERS)
def test_ranks_do_not_see_units_or_logarithms(kernel):
    model = PNUClassifier(kernel=kernel, columns="ranks", centers=X[:20], **QUICK).fit(X, Y)
    logs = clone(model).set_params(centers=np.log(X[:20]), cv=model.cv)
    folds = [(np.flatnonzero(np.arange(200) % 3 != k), np.flatnonzero(np.arange(200) % 3 == k)) for k in range(3)]
    scores = [one.set_params(cv=folds).fit(rows, Y) for one, rows in ((clone(model), X), (logs, np.log(X)))]
    assert_allclose(
        scores[0].decision_function(X[:40]), scores[1].decision_function(np.log(X[:40])), rtol=1e-6, atol=1e-8
    )


def test_a_model_of_ranks_is_a_model_of_transformed_columns():
    ranks = NormalRanks.learn(X, np.ones(200))
    seen = ranks.apply(X)
    folds = [(np.flatnonzero(np.arange(200) % 3 != k), np.flatnonzero(np.arange(200) % 3 == k)) for k in range(3)]
    settings = QUICK | {"cv": folds}
    ranked = PNUClassifier(columns="ranks", centers=X[:20], **settings).fit(X, Y)
    by_hand = PNUClassifier(columns="given", centers=seen[:20], **settings).fit(seen, Y)
    assert_allclose(ranked.decision_function(X), by_hand.decision_function(seen), atol=1e-8)
    assert_allclose(ranked.search_.zero_one, by_hand.search_.zero_one, atol=1e-12)
    assert ranked.columns_ == "ranks"
    assert by_hand.columns_ == "given"


@pytest.mark.parametrize("kernel", AROUND_CENTERS)
def test_both_searches_what_either_searches_and_skewed_columns_gain(kernel):
    given, ranks, both = (
        PNUClassifier(kernel=kernel, columns=columns, centers=30, **QUICK).fit(X, Y)
        for columns in ("given", "ranks", "both")
    )
    assert_array_equal(both.search_.bandwidths, np.append(given.search_.bandwidths, ranks.search_.bandwidths))
    assert_allclose(both.search_.squared, np.concatenate([given.search_.squared, ranks.search_.squared]), atol=1e-9)
    assert both.search_.rows()[0]["columns"] == both.columns_ == "ranks"
    errors = [np.mean(model.predict(X[40:]) != TRUTH[40:]) for model in (given, both)]
    assert errors[1] < errors[0]


@pytest.mark.parametrize("kind", ["dense", "sparse", "in blocks", "held out"])
def test_every_road_gives_the_same_answer(kind, monkeypatch):
    model = PNUClassifier(columns="both", centers=20, **QUICK)
    expected = clone(model).fit(X, Y).decision_function(X)
    if kind == "held out":
        apart = clone(model).fit(X, Y, X_val=X[:60], y_val=Y[:60])
        assert np.mean(apart.predict(X) == TRUTH) > 0.8
        return
    if kind == "in blocks":
        monkeypatch.setattr("pnulearn._learning.from_rows.KEPT_AT_MOST", 100)
    rows = csr_matrix(X) if kind == "sparse" else X
    assert_allclose(clone(model).fit(rows, Y).decision_function(rows), expected, atol=1e-8)


def test_a_saved_model_of_both_answers_the_same_and_a_damaged_one_is_refused(tmp_path):
    model = PNUClassifier(columns="both", centers=20, **QUICK).fit(X, Y)
    model.save(tmp_path / "model.pnu")
    again = pnulearn.load(tmp_path / "model.pnu")
    assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert again.search_.columns == model.search_.columns
    assert again.columns == "both"
    for name, value in (
        ("rank_values_", model.rank_values_[:, ::-1]),
        ("rank_scores_", model.rank_scores_[:, :-1]),
        ("ranked_", model.ranked_[:-1]),
        ("ranked_", model.ranked_.astype(float)),
    ):
        broken = PNUClassifier(columns="both")
        vars(broken).update(vars(model) | {name: value})
        with pytest.raises(ValueError, match=name):
            broken.save(tmp_path / "broken.pnu")


@pytest.mark.filterwarnings(
    "ignore:overflow encountered in exp", "ignore:invalid value encountered in divide"
)  # of ONNX
@pytest.mark.parametrize("kernel", AROUND_CENTERS)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_the_onnx_export_ranks_too(kernel, dtype):
    pytest.importorskip("onnx")
    from tests.test_onnx import run_graph

    rows = np.column_stack([np.log(X[:, :2]), TRUTH, np.full(200, 3.0)])  # a flag and a constant column
    model = PNUClassifier(kernel=kernel, columns="both", centers=20, **QUICK).fit(rows, Y)
    asked = np.vstack([rows, rows + 0.01, rows - 100, rows + 100]).astype(dtype)
    label, score, _ = run_graph(pnulearn.onnx.to_onnx(model, dtype=dtype), asked)
    expected = model.decision_function(asked.astype(float))
    close = 1e-8 if dtype == "float64" else 2e-3 * np.abs(expected).max()
    assert_allclose(score, expected, atol=close)
    assert np.mean(label == model.predict(asked.astype(float))) > (0.999 if dtype == "float64" else 0.99)


@pytest.mark.parametrize("kernel", AROUND_CENTERS)
def test_by_default_columns_are_seen_as_given_and_as_ranks(kernel):
    model = PNUClassifier(kernel=kernel, centers=20, **QUICK)
    both, auto = clone(model).set_params(columns="both").fit(X, Y), clone(model).fit(X, Y)
    assert_array_equal(auto.decision_function(X), both.decision_function(X))
    assert set(auto.search_.columns) == {"given", "ranks"}
    batches = clone(model).partial_fit(X, Y, classes=[0, 1])
    assert (
        batches.search_.columns == auto.search_.columns == pnulearn.streaming.fit_files(model, (X, Y)).search_.columns
    )


def test_a_bandwidth_the_linear_kernel_and_large_sparse_rows_leave_out_the_ranks(monkeypatch):
    for options in ({"bandwidth": 1.0, "centers": 20}, {"kernel": "linear"}):
        assert PNUClassifier(**options, **QUICK).fit(X, Y).search_.columns is None
    sparse = PNUClassifier(centers=20, **QUICK)
    assert sparse.fit(csr_matrix(X), Y).search_.columns is not None
    monkeypatch.setattr("pnulearn._kernels.basis.DENSE_AT_MOST", X.size - 1)
    assert sparse.fit(csr_matrix(X), Y).search_.columns is None
    assert sparse.fit(X, Y).search_.columns is not None


@pytest.mark.parametrize(
    "parameters, message",
    [
        ({"columns": "rank"}, "columns must be one of 'auto', 'given', 'ranks', 'both', got 'rank'"),
        ({"columns": "both", "kernel": "linear"}, "columns='both' is for kernels around centres.*QuantileTransformer"),
    ],
)
def test_what_cannot_be_ranked_is_refused_with_what_can_be_done(parameters, message):
    with pytest.raises(ValueError, match=message):
        PNUClassifier(**parameters).fit(X, Y)


def test_batches_learn_from_ranks_as_from_rows_that_were_ranked_before():
    """Ranks are those of the first batch, which also fixes the centres."""
    ranks, settings = NormalRanks.learn(X[:120], np.ones(120)), QUICK | {"bandwidth": [1.0, 3.0]}
    model = PNUClassifier(columns="ranks", centers=X[:20], **settings)
    ranked = PNUClassifier(columns="given", centers=ranks.apply(X[:20]), **settings)
    for rows in (slice(0, 120), slice(120, 200)):
        model.partial_fit(X[rows], Y[rows], classes=[0, 1])
        ranked.partial_fit(ranks.apply(X[rows]), Y[rows], classes=[0, 1])
    assert_allclose(model.decision_function(X), ranked.decision_function(ranks.apply(X)), atol=1e-6)
    assert_allclose(model.rank_values_, ranks.values)
    assert_allclose(model.search_.squared, ranked.search_.squared, atol=1e-6)


def test_one_pass_over_parts_equals_the_model_in_memory(tmp_path):
    model = PNUClassifier(columns="both", centers=X[:20], **QUICK)
    passed = pnulearn.streaming.fit_files(clone(model), (X, Y))
    assert passed.search_.columns == clone(model).fit(X, Y).search_.columns
    frame = pd.DataFrame(X, columns=list("abcd")).assign(y=Y)
    frame.to_parquet(tmp_path / "rows.parquet")
    from_file = pnulearn.streaming.fit_files(clone(model), tmp_path / "rows.parquet", target="y")
    rows = pd.DataFrame(X, columns=list("abcd"))
    assert np.mean((from_file.decision_function(rows) > 0) == (passed.decision_function(X) > 0)) > 0.97
    design = pnulearn.streaming.make_design(model, X, Y)
    assert design.dtype == "float64"
    first = PNUStatistics.of(design, X[:90], Y[:90], name="a")
    second = PNUStatistics.of(design, X[90:], Y[90:], name="b")
    PNUStatistics.save(first + second, tmp_path / "sums.pnu")
    again = PNUStatistics.load(tmp_path / "sums.pnu")
    assert again.design.fingerprint == design.fingerprint
    assert_array_equal(again.sums, (first + second).sums)
    other = pnulearn.streaming.make_design(clone(model).set_params(columns="ranks"), X, Y)
    assert other.fingerprint != design.fingerprint


@pytest.mark.parametrize("kernel", AROUND_CENTERS)
def test_sums_of_ranks_are_the_moments_of_every_fold_and_group(kernel):
    model = PNUClassifier(kernel=kernel, columns="both", centers=X[:9], bandwidth=[0.7, 2.0], **QUICK)
    design = pnulearn.streaming.make_design(model, X + 50, np.where(np.arange(200) < 40, TRUTH, np.nan))
    statistics = PNUStatistics.of(design, X + 50, Y, name="here")
    folds, prepared = design.folds("here", 0, 200), design.basis.prepare(X + 50)
    assert len(design.basis.bandwidths) == 4
    for group, members in enumerate([Y == 0, Y == 1, np.isnan(Y)]):
        for bandwidth in range(4):
            rows = design.basis.features(prepared, bandwidth)
            wanted = Moments.of(rows[members & (folds == 1)])
            found = statistics.moments(group, bandwidth, 1)
            assert found.weight == wanted.weight
            assert_allclose(found.outer, wanted.outer, rtol=1e-9, atol=1e-9 * max(1.0, np.abs(wanted.outer).max()))


def test_the_notebook_says_which_columns_won():
    model = PNUClassifier(columns="both", centers=20, **QUICK).fit(X, Y)
    assert "columns as ranks" in model._repr_html_()
    assert "<td>ranks</td>" in model.search_._repr_html_()
